"""What a fault does to the request that it meets.

Effects are plain values: `routes.py` carries them out.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from fault_routes.spelling import hint

ABORT_CODES: tuple[str, ...] = (
    "aborted",
    "accessdenied",
    "addressunreachable",
    "blockedbyclient",
    "blockedbyresponse",
    "connectionaborted",
    "connectionclosed",
    "connectionfailed",
    "connectionrefused",
    "connectionreset",
    "failed",
    "internetdisconnected",
    "namenotresolved",
    "timedout",
)
"""The error codes that Playwright's `route.abort` knows; an unknown one would leave the request hanging."""

Options: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values, in the order in which a spec writes them."""

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"([!-~]([ -~]*[!-~])?)?")


class FaultError(ValueError):
    """A fault that cannot be. The message says what to write instead."""


@dataclass(frozen=True, kw_only=True)
class Abort:
    """The request fails in the network, at once, and no server hears of it.

    Raises FaultError for a code that Playwright does not know.
    """

    code: str
    """One of `ABORT_CODES`; `connectionreset` becomes `net::ERR_CONNECTION_RESET`."""

    def __post_init__(self) -> None:
        if self.code not in ABORT_CODES:
            raise FaultError(f"unknown abort code {self.code!r}: {hint(self.code, ABORT_CODES)}")

    @property
    def kind(self) -> str:
        return "reset" if self.code == "connectionreset" else self.code

    @property
    def options(self) -> Options:
        return ()


@dataclass(frozen=True, kw_only=True)
class Respond:
    """An answer that no server gave. Raises FaultError for what no HTTP answer can have."""

    status: int
    """From 200 to 599."""
    body: str = ""
    """The whole body, sent as UTF-8."""
    headers: Options = ()
    """Names and values; the names may repeat."""
    content_type: str | None = None
    """None: `text/plain` for a body, nothing for none."""

    def __post_init__(self) -> None:
        if not 200 <= self.status <= 599:
            raise FaultError(f"there is no answer with status {self.status}: take one from 200 to 599")
        if not _is_unicode(self.body):
            raise FaultError("the body is no Unicode text: write its signs URL-encoded")
        for name, value in self.headers:
            _check_header(name, value)
        _check_header("content-type", self.content_type or "")

    @property
    def kind(self) -> str:
        return f"status={self.status}"

    @property
    def options(self) -> Options:
        body = (("body", self.body),) if self.body else ()
        content_type = (("content_type", self.content_type),) if self.content_type is not None else ()
        return body + content_type + tuple(("header", f"{name}:{value}") for name, value in self.headers)


@dataclass(frozen=True, kw_only=True)
class Delay:
    """The request waits, then goes on to the server. Raises FaultError for a time that is none."""

    seconds: float
    """More than 0."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.seconds) and self.seconds > 0):
            raise FaultError(
                f"a delay of {self.seconds} s is none: write for example delay=2s or delay=250ms"
            )

    @property
    def kind(self) -> str:
        return f"delay={number(self.seconds)}s"

    @property
    def options(self) -> Options:
        return ()


@dataclass(frozen=True, kw_only=True)
class _Plain:
    """An effect of which there is only one."""

    kind: ClassVar[str]
    options: ClassVar[Options] = ()


@dataclass(frozen=True, kw_only=True)
class NoAnswer(_Plain):
    """The request stays pending until the routes are closed, and no server hears of it."""

    kind = "no_answer"


@dataclass(frozen=True, kw_only=True)
class LostAnswer(_Plain):
    """The server takes the request and answers; the page gets a reset connection instead."""

    kind = "lost_answer"


@dataclass(frozen=True, kw_only=True)
class HtmlInsteadOfJson(_Plain):
    """200 and an HTML page, as a proxy in between would answer. No server hears of the request."""

    kind = "html"
    page: ClassVar[str] = (
        "<!DOCTYPE html>\n<html><head><title>Service unavailable</title></head>\n"
        "<body><h1>Service unavailable</h1><p>The proxy could not reach the application.</p></body></html>\n"
    )


@dataclass(frozen=True, kw_only=True)
class TruncatedJson(_Plain):
    """The server's own JSON, cut in the middle, with its own status."""

    kind = "truncated_json"

    def spoil(self, text: str) -> str | None:
        """The first half of `text`, shortened until it is no JSON; None if `text` is no JSON itself."""
        if not _is_json(text):
            return None
        cut = text.strip()[: len(text.strip()) // 2]
        while _is_json(cut):
            cut = cut[:-1]
        return cut


@dataclass(frozen=True, kw_only=True)
class MalformedJson(_Plain):
    """The server's own JSON with a wrong sign in it, as long as before, with its own status."""

    kind = "malformed_json"

    def spoil(self, text: str) -> str | None:
        """`text` with a start that no JSON has; None if `text` is no JSON itself."""
        return f"{{,{text.strip()[1:]}" if _is_json(text) else None


@dataclass(frozen=True, kw_only=True)
class EmptyBody(_Plain):
    """The server's own status and headers, without the body."""

    kind = "empty"

    def spoil(self, text: str) -> str | None:
        """An empty text; None if `text` was empty already."""
        return "" if text else None


Spoiler: TypeAlias = TruncatedJson | MalformedJson | EmptyBody
"""Effects that take the server's real answer and spoil it. Where there is nothing to spoil
(`spoil` gives None), the fault does not fire."""

Effect: TypeAlias = Abort | Respond | Delay | NoAnswer | LostAnswer | HtmlInsteadOfJson | Spoiler
"""Anything that a fault can do."""


def number(value: float) -> str:
    """The shortest text that reads back as `value`: `2`, `0.25`."""
    return repr(float(value)).removesuffix(".0")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_unicode(text: str) -> bool:
    """False for the lone surrogates with which Python keeps undecodable bytes of a command line."""
    return text.encode(errors="ignore").decode() == text


def _check_header(name: str, value: str) -> None:
    if not _HEADER_NAME.fullmatch(name):
        raise FaultError(f"{name!r} is no header name: write for example header=Retry-After:5")
    if not _HEADER_VALUE.fullmatch(value):
        raise FaultError(
            f"the header {name} cannot be {value!r}: take printable ASCII signs, and no blank at either end"
        )
