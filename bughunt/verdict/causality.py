"""Which exchanges of a load could be the cause of what it showed.

Source of the rules: "Which exchanges could be the cause" in docs/explanation/verdicts.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from bughunt.verdict.record import SAFE_METHODS, Acknowledgement, Exchange, LoadRecord
from fault_routes.patterns import matches

__all__ = ["Causality", "RequestKey", "ResourceKey", "is_claimed", "is_own", "request_key", "resource_key"]

ResourceKey = tuple[str, str, str, str | None]
"""Method, host, path without the query, and the operation if the request named one."""

RequestKey = tuple[ResourceKey, str, str | None]
"""A resource, the query without what only defeats caches, and what was sent."""

#: Parameters that differ between a request and its repetition, by name: which attempt it is; and, where their
#: value is a number, what defeats a cache.
_ATTEMPT = frozenset({"_", "cb", "cachebuster", "nocache", "nonce", "attempt", "retry", "try"})
_ATTEMPT |= {"requestid", "request_id", "traceid", "trace_id"}
_CLOCK = frozenset({"t", "ts", "time", "timestamp", "rand", "random"})
#: A time stamp since 2020 in seconds or milliseconds, or a random fraction, whatever it is called.
_VOLATILE_VALUE = re.compile(r"1[6-9]\d{8}(\d{3})?|0\.\d{6,}")

#: Files that browsers fetch for themselves, though the browser's protocol calls them `other`.
_DECORATION = re.compile(r"\.(ico|png|svg|gif|jpe?g|webp|webmanifest)$|/manifest\.json$", re.IGNORECASE)

#: What a load never hangs on unless the charter declares it: decoration, and messages that nobody reads.
INCIDENTAL_TYPES = frozenset(
    {"image", "font", "media", "stylesheet", "ping", "manifest", "texttrack", "cspviolationreport"}
)


def is_own(url: str, own_hosts: Iterable[str]) -> bool:
    """Whether a URL belongs to the app: its host, a subdomain of it, or an exact `host:port`."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    return bool(host) and any(
        parts.netloc.lower() == own or host == own or host.endswith("." + own) for own in own_hosts
    )


def resource_key(exchange: Exchange) -> ResourceKey:
    """Equal for two exchanges iff they ask the same of the server, whatever the query and the body say."""
    parts = urlsplit(exchange.url)
    return exchange.method, parts.netloc, parts.path, exchange.operation


def request_key(exchange: Exchange) -> RequestKey:
    """Equal for two exchanges iff one repeats the other."""
    query = parse_qsl(urlsplit(exchange.url).query, keep_blank_values=True)
    kept = [(name, value) for name, value in query if not _volatile(name.lower(), value)]
    return resource_key(exchange), urlencode(kept), exchange.asked


def _volatile(name: str, value: str) -> bool:
    number = value.replace(".", "", 1).isdecimal()
    return name in _ATTEMPT or (name in _CLOCK and number) or bool(_VOLATILE_VALUE.fullmatch(value))


def _incidental(exchange: Exchange) -> bool:
    if exchange.resource_type != "other":  # preloaded data and a worker's imports are `other` as well
        return exchange.resource_type in INCIDENTAL_TYPES
    ahead = any(name.lower() == "sec-purpose" for name in exchange.request_headers)
    return ahead or bool(_DECORATION.search(urlsplit(exchange.url).path))


class _Named(NamedTuple):
    """What a declaration names."""

    pattern: str
    method: str | None = None
    operation: str | None = None

    def names(self, x: Exchange) -> bool:
        return (
            self.method in (None, x.method)
            and self.operation in (None, x.operation)
            and matches(self.pattern, x.url)
        )


def is_claimed(x: Exchange, claim: Acknowledgement) -> bool:
    """Whether `net.acknowledged` means an exchange of this kind: a write, unless it names a method."""
    is_write = claim.method is not None or x.method not in SAFE_METHODS
    return is_write and _Named(claim.pattern, claim.method, claim.operation).names(x)


class Causality:
    """Answers, for one load, which of its exchanges are causal."""

    def __init__(self, load: LoadRecord) -> None:
        self._load = load
        self._scope = load.scope

    def declared(self, exchange: Exchange) -> bool:
        """Whether the charter says that what it looks at rests on this exchange."""
        return any(wanted.names(exchange) for wanted in self._declarations)

    def read_as_json(self, exchange: Exchange) -> bool:
        """Whether the charter reads this exchange by `net.json`."""
        return any(wanted.names(exchange) for wanted in self._read)

    def acknowledged(self, exchange: Exchange) -> bool:
        """Whether this is the write that a `net.acknowledged` waited for."""
        return exchange.id in self._acknowledged

    def declares_url(self, url: str) -> bool:
        """Whether `depends_on` names this URL, a WebSocket's say."""
        return any(matches(pattern, url) for pattern in self._scope.depends_on or ())

    @property
    def is_open(self) -> bool:
        """Whether what nobody declared may be a cause too."""
        return self._open

    def causal(self, exchange: Exchange) -> bool:
        """Whether this exchange could explain what the load showed."""
        if not exchange.url.startswith(("http:", "https:")):
            return False  # a blob: or data: URL has no environment
        if self.declared(exchange) or self.acknowledged(exchange) or self.document(exchange):
            return True
        if exchange.resource_type == "api":
            return not self._ignored(exchange)  # the charter asked it itself, and so rests on it
        return self._open and self.counts(exchange)

    def counts(self, exchange: Exchange) -> bool:
        """Whether the page may rest on this exchange, as far as one can tell without a declaration."""
        if self._ignored(exchange) or _incidental(exchange):
            return False
        if exchange.service_worker or not self._asked_by_own_frame(exchange):
            return False  # what a worker could not fetch for the page fails in the page as well
        if exchange.resource_type == "script":
            return self.own(exchange) or exchange.script_async is not True
        return True

    def document(self, exchange: Exchange) -> bool:
        """Whether this is the page under test itself (or one that it opened)."""
        return exchange.main_document and (exchange.page == 0 or self.own(exchange))

    def own(self, exchange: Exchange) -> bool:
        """Whether the exchange went to the app's own origins."""
        return is_own(exchange.url, self._scope.own_hosts)

    @cached_property
    def _read(self) -> tuple[_Named, ...]:
        return tuple(_Named(d.pattern, d.method, d.operation) for d in self._load.declarations)

    @cached_property
    def _declarations(self) -> tuple[_Named, ...]:
        return (*self._read, *(_Named(pattern) for pattern in self._scope.depends_on or ()))

    @cached_property
    def _acknowledged(self) -> frozenset[int | None]:
        return frozenset(a.exchange for a in self._load.acknowledgements)

    @cached_property
    def _open(self) -> bool:
        """The list is open unless `depends_on` closed it and everything on it was at least asked for:
        an app that never asks may have stumbled over something else before."""
        return self._scope.depends_on is None or not all(map(self._was_asked_for, self._declarations))

    def _was_asked_for(self, wanted: _Named) -> bool:
        asked = any(wanted.names(x) for x in self._load.exchanges)
        return asked or any(matches(wanted.pattern, socket.url) for socket in self._load.sockets)

    def ignored(self, url: str) -> bool:
        """Whether the charter or the target says that this URL is never a cause."""
        return any(matches(pattern, url) for pattern in self._scope.ignore)

    def _ignored(self, exchange: Exchange) -> bool:
        return self.ignored(exchange.url)

    def _asked_by_own_frame(self, exchange: Exchange) -> bool:
        """A third party's frame (an advertisement) is not the app; a blank frame is its parent's."""
        if exchange.frame_document:
            return self.own(exchange)
        is_web_page = exchange.frame_url.startswith(("http:", "https:"))
        return not is_web_page or self._is_page_under_test(exchange.frame_url)

    def _is_page_under_test(self, url: str) -> bool:
        return is_own(url, self._scope.own_hosts) or urlsplit(url).netloc in self._visited

    @cached_property
    def _visited(self) -> frozenset[str]:
        """The hosts that the charter's own page has been on."""
        documents = (x for x in self._load.exchanges if x.main_document and x.page == 0)
        return frozenset(urlsplit(x.final_url or x.url).netloc for x in documents)
