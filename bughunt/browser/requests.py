"""What a request tells of itself: its key on the wire, its frame, the operation and what was sent."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urldefrag, urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Request

from bughunt.browser.bodies import parsed_json
from bughunt.browser.wire import RequestKey

__all__ = ["READ_TYPES", "chain_of", "frame_of", "key_of", "operation_of", "what_was_sent"]

#: Types whose bodies are read: what an app computes with.
READ_TYPES = frozenset({"fetch", "xhr", "other"})

_GRAPHQL_NAME = re.compile(r"\b(?:query|mutation|subscription)\s+(\w+)")


def chain_of(request: Request) -> Iterator[Request]:
    """A request and those that redirected to it, the first one first."""
    if request.redirected_from is not None:
        yield from chain_of(request.redirected_from)
    yield request


def key_of(request: Request) -> RequestKey:
    """What the browser's protocol knows the request by: method and URL without fragment."""
    return request.method, urldefrag(request.url).url


def frame_of(request: Request) -> tuple[str, bool]:
    """The URL of the frame that asks, and whether it is a page's main frame."""
    try:
        frame = request.frame
    except PlaywrightError:  # a new page's first request, or a service worker's
        return "", request.is_navigation_request()
    return frame.url, frame.parent_frame is None


def operation_of(request: Request) -> str | None:
    """The operation that a GraphQL or JSON-RPC request names."""
    named = parse_qs(urlsplit(request.url).query).get("operationName")
    if named:
        return named[0]
    sent = _sent_json(request)
    calls = sent if isinstance(sent, list) else [sent]
    names = [name for call in calls if isinstance(call, dict) for name in (_name_of(call),) if name]
    return ",".join(names) or None


def _name_of(call: dict[str, Any]) -> str | None:  # Any: the app's own JSON
    query = call.get("query")
    found = _GRAPHQL_NAME.search(query) if isinstance(query, str) else None
    named = call.get("operationName") or (call.get("method") if "jsonrpc" in call else None)
    if isinstance(named, str):
        return named
    return found[1] if found else None


def what_was_sent(request: Request) -> str | None:
    """A digest of what was sent; a JSON-RPC call's running id aside, which differs when it is repeated."""
    if request.resource_type not in READ_TYPES or not request.post_data_buffer:
        return None
    sent = _sent_json(request)
    if isinstance(sent, dict) and "jsonrpc" in sent:
        kept = {name: value for name, value in sent.items() if name != "id"}
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
    return hashlib.sha256(request.post_data_buffer).hexdigest()


def _sent_json(request: Request) -> Any:  # Any: the app's own JSON
    if request.resource_type not in READ_TYPES or not request.post_data_buffer:
        return None
    try:
        return parsed_json(request.post_data_buffer)
    except ValueError:
        return None
