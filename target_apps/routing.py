"""Which endpoint answers a request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import unquote

from target_apps.messages import Endpoint, Reply, Request, Response, plain

__all__ = ["Router", "Routes"]

Routes = Mapping[tuple[str, str], Endpoint]
"""Endpoints by method and path; `{name}` in a path stands for one segment."""


class Router:
    """Answers from a table of routes; the first that fits counts."""

    def __init__(self, routes: Routes) -> None:
        self._routes = [(method, _compiled(path), endpoint) for (method, path), endpoint in routes.items()]

    def answer(self, request: Request) -> Reply:
        """What the endpoint says; 404 without one, and 405 where the path takes other methods."""
        allowed = set()
        for method, pattern, endpoint in self._routes:
            if found := pattern.fullmatch(request.path):
                if method == request.method:
                    return endpoint(replace(request, parameters=_unquoted(found)))
                allowed.add(method)
        if not allowed:
            return plain(f"Nothing is at {request.path}.", status=HTTPStatus.NOT_FOUND)
        names = ", ".join(sorted(allowed))
        text = f"{request.path} takes {names}."
        return Response(body=text.encode(), status=HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": names})


def _compiled(path: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", path)
    return re.compile("".join(f"(?P<{p}>[^/]+)" if n % 2 else re.escape(p) for n, p in enumerate(parts)))


def _unquoted(found: re.Match[str]) -> dict[str, str]:
    return {name: unquote(value) for name, value in found.groupdict().items()}
