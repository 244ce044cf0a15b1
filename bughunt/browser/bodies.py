"""What a body turned out to be: JSON, HTML, nothing. The same for what a page received and for the probe."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

from msgspec import Struct

from bughunt.verdict.record import Content

__all__ = ["Body", "json_text", "parsed_json", "read_body"]

_JSON_TYPE = re.compile(r"^(?:application|text)/(?:[\w.-]+\+)?json\b", re.IGNORECASE)
#: What is put before JSON so that no script tag can read it.
_JSON_GUARD = re.compile(r"^(?:\)\]\}',?|while\s*\(1\);|for\s*\(;;\);)\s*")
_HTML_START = re.compile(
    r"^(?:<!--.*?-->|<\?xml[^>]*>|\s)*<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)


class Body(Struct, frozen=True, kw_only=True):
    """What is remembered of a body."""

    content: Content
    html_mark: str | None = None
    """For a whole HTML document: a digest of its title and scripts, equal for two copies of one page."""
    sign_in: bool = False
    """True iff it is an HTML document with a field for a password."""


def read_body(data: bytes, content_type: str) -> Body:
    """What this body is, by itself first and by what its `Content-Type` says second."""
    text = _decoded(data)
    if not text.strip():
        return Body(content=Content.EMPTY)
    if _HTML_START.match(text[:4096]):
        page = _Page.of(text)
        return Body(content=Content.HTML, html_mark=page.mark(text), sign_in=page.asks_for_a_password)
    said_json = bool(_JSON_TYPE.match(content_type.strip()))
    if not said_json and text.lstrip()[:1] not in "{[":
        return Body(content=Content.OTHER)
    try:
        parsed_json(data)
    except ValueError:
        return Body(content=Content.MALFORMED if said_json else Content.OTHER)
    return Body(content=Content.JSON)


def json_text(data: bytes) -> str:
    """The body as text, without a byte order mark and what guards JSON against script tags."""
    return _JSON_GUARD.sub("", _decoded(data), count=1)


def parsed_json(data: bytes) -> Any:  # Any: the app's own JSON
    """What the body holds. Raises ValueError where it is no JSON, or nested too deeply to be read."""
    try:
        return json.loads(json_text(data))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", errors="replace")


class _Page(HTMLParser):
    """Reads of an HTML document what tells it from other pages, whatever nonces and tokens it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.asks_for_a_password = False
        self._title = ""
        self._scripts: list[str] = []
        self._in_title = False

    @classmethod
    def of(cls, text: str) -> _Page:
        """The page, as far as it can be parsed."""
        page = cls()
        with contextlib.suppress(AssertionError):  # the parser's, of declarations that it does not know
            page.feed(text)
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._in_title = tag == "title"
        if tag == "script" and given.get("src"):
            self._scripts.append((given["src"] or "").partition("?")[0])
        if tag == "input" and (given.get("type") or "").lower() == "password":
            self.asks_for_a_password = True

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title += data

    def mark(self, text: str) -> str:
        """A page without scripts of its own is only like itself."""
        known = [self._title.strip(), *self._scripts] if self._scripts else [text]
        return hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]
