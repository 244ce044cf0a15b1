"""What goes over the wire, as the apps see it: requests, and the answers to them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from http import HTTPStatus
from http.cookies import SimpleCookie
from importlib.resources import files
from typing import Any

from target_apps.websocket import WebSocket

__all__ = [
    "Endpoint",
    "Reply",
    "Request",
    "Response",
    "Upgrade",
    "as_json",
    "html",
    "page",
    "plain",
    "script",
]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What an app is asked. A HEAD arrives as the GET that it stands for."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    parameters: Mapping[str, str] = field(default_factory=dict)
    """What stands in the path where the route has `{name}`."""

    def asked(self, name: str) -> str:
        """A query parameter, the first of that name; empty without one."""
        return self.query.get(name, [""])[0]

    @cached_property
    def cookies(self) -> Mapping[str, str]:
        return {name: morsel.value for name, morsel in SimpleCookie(self.headers.get("cookie", "")).items()}

    @cached_property
    def sent(self) -> Mapping[str, Any]:  # Any: whatever JSON the client sent
        """The JSON object in the body; an empty one where there is none."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, kw_only=True)
class Response:
    """What an app answers; Content-Length is added on the way."""

    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: Iterator[bytes] | None = None
    """Instead of `body`: its parts as they come, to the end of the connection."""


@dataclass(frozen=True, kw_only=True)
class Upgrade:
    """The connection becomes a WebSocket, and is closed when `talk` returns."""

    talk: Callable[[WebSocket], None]


Reply = Response | Upgrade
Endpoint = Callable[[Request], Reply]


def html(text: str, *, status: int = HTTPStatus.OK) -> Response:
    return Response(body=text.encode(), content_type="text/html; charset=utf-8", status=status)


def as_json(value: object, *, status: int = HTTPStatus.OK) -> Response:
    return Response(
        body=json.dumps(value).encode(), content_type="application/json; charset=utf-8", status=status
    )


def plain(text: str, *, status: int) -> Response:
    return Response(body=text.encode(), status=status)


def page(package: str, name: str = "page.html", **data: str | None) -> Response:
    """An HTML file of a package; its script finds `data` in `document.documentElement.dataset`."""
    text = files(package).joinpath(name).read_text(encoding="utf-8")
    attributes = "".join(f' data-{key}="{escape(value)}"' for key, value in data.items() if value)
    return html(text.replace('<html lang="en"', f'<html lang="en"{attributes}', 1))


def script(package: str, name: str = "app.js") -> Response:
    """A JavaScript file of a package."""
    body = files(package).joinpath(name).read_bytes()
    return Response(body=body, content_type="text/javascript; charset=utf-8")


def stylesheet() -> Response:
    """How all apps but the cart look."""
    body = files("target_apps").joinpath("looks.css").read_bytes()
    return Response(body=body, content_type="text/css; charset=utf-8")


def redirect(path: str) -> Response:
    return Response(status=HTTPStatus.SEE_OTHER, headers={"Location": path})
