"""Whether a response is healthy whatever its status says: GraphQL answers 200 with `errors` in it."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bughunt.exceptions import SettingsError

__all__ = ["Answer", "Healthy", "find_predicate", "graphql"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A response, as `healthy=` is asked about it."""

    method: str
    url: str
    status: int
    """Below 400: what is above needs no predicate."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    operation: str | None = None
    """The operation that the request named (GraphQL, JSON-RPC)."""

    @cached_property
    def json(self) -> Any:  # Any: whatever JSON the app speaks
        """The body as JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


Healthy = Callable[[Answer], bool]
"""Whether a response counts as healthy."""


def graphql(answer: Answer) -> bool:
    """Healthy iff no result in it has `errors` (GraphQL specification, 7.1.2); no JSON is not refused."""
    results = answer.json if isinstance(answer.json, list) else [answer.json]
    return not any(isinstance(result, dict) and result.get("errors") for result in results)


#: The predicates that a setting may name without a module.
_NAMED: dict[str, Healthy] = {"graphql": graphql}


def find_predicate(name: str, folder: Path | None = None) -> Healthy:
    """The predicate that a setting names: `graphql`, or `module:function` with the module in `folder`.

    Raises SettingsError where there is none.
    """
    if name in _NAMED:
        return _NAMED[name]
    module, colon, function = name.partition(":")
    if not colon or not module or not function:
        raise SettingsError(f"healthy = {name!r} names no predicate: write {_choices()}.")
    if folder is not None and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as wrong:
        raise SettingsError(f"healthy = {name!r} cannot be had: {wrong}.") from wrong
    if not callable(found):
        raise SettingsError(f"healthy = {name!r} is no function: write {_choices()}.")
    return found  # type: ignore[no-any-return]  # what a user's module holds has no type here


def _choices() -> str:
    return f'{" or ".join(_NAMED)} or "module:function"'
