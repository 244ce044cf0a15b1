"""What the probe asks, and what it answered. Source: "The probe" in docs/explanation/verdicts.md.

Where the page cannot tell what it met, the same URL is asked from outside: a refusal by CORS hides the
status, JSON may be malformed on the way only, and a 5xx may be everybody's.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from bughunt.verdict.causality import Causality
from bughunt.verdict.record import Content, Exchange, LoadRecord, Probe

__all__ = ["MOST_PROBES", "Doubt", "Probes", "doubts"]

#: Questions that one load may raise.
MOST_PROBES = 12

_UNPACKABLE = frozenset({"gzip", "x-gzip", "deflate"})


class Doubt(Struct, frozen=True, kw_only=True):
    """A question for the probe."""

    exchange: int
    """Which exchange raised it."""
    method: str
    """GET or HEAD."""
    url: str


class Probes:
    """The answers of one load's probes."""

    def __init__(self, load: LoadRecord) -> None:
        self._by_request = {(probe.method, probe.url): probe for probe in load.probes}

    def of(self, x: Exchange) -> Probe | None:
        """What the same request was answered from outside; None: it was not asked."""
        return self._by_request.get((x.method, x.url))

    def at(self, url: str) -> Probe | None:
        """What this URL was answered from outside."""
        return self._by_request.get(("GET", url))


def doubts(load: LoadRecord) -> tuple[Doubt, ...]:
    """What to ask about a load, the most telling first, each request once. Pure.

    Nothing about a load that held while everything declared was well, and nothing about an exchange that a
    fault of ours met, or that another method than GET or HEAD made.
    """
    causality = Causality(load)
    asked = [x for x in load.exchanges if load.failure is not None or causality.declared(x)]
    may_be_asked = [x for x in asked if causality.causal(x) and _can_be_asked(x)]
    found: dict[tuple[str, str], Doubt] = {}
    for is_doubtful in (_hidden, _unreadable, _refused, _aborted_script, _packed):
        for x in filter(is_doubtful, may_be_asked):
            found.setdefault((x.method, x.url), Doubt(exchange=x.id, method=x.method, url=x.url))
    for doubt in _deployment(load, may_be_asked, causality):
        found.setdefault((doubt.method, doubt.url), doubt)
    return tuple(found.values())[:MOST_PROBES]


def _can_be_asked(x: Exchange) -> bool:
    from_page = x.fault is None and not x.service_worker and x.resource_type != "eventsource"
    return from_page and x.method in {"GET", "HEAD"} and x.url.startswith(("http:", "https:"))


def _hidden(x: Exchange) -> bool:
    """The browser keeps from the page, and from us, what came."""
    return x.status is None and x.hidden_status is None and x.failure == "net::ERR_FAILED"


def _unreadable(x: Exchange) -> bool:
    return (x.status or 400) < 400 and x.content in {
        Content.MALFORMED,
        Content.EMPTY,
        Content.HTML,
        Content.OTHER,
    }


def _refused(x: Exchange) -> bool:
    return (x.status or x.hidden_status or 0) >= 500


def _aborted_script(x: Exchange) -> bool:
    return x.resource_type == "script" and x.status is None and x.failure == "net::ERR_ABORTED"


def _packed(x: Exchange) -> bool:
    """Browsers take what was packed and cut short for the whole; what was read as data is whole."""
    encodings = x.response_headers.get("content-encoding", "").lower().split(",")
    return x.finished and x.content is None and any(name.strip() in _UNPACKABLE for name in encodings)


def _deployment(load: LoadRecord, asked: list[Exchange], causality: Causality) -> Iterator[Doubt]:
    for x in asked:
        if causality.document(x) and x.status == 404:
            yield Doubt(exchange=x.id, method="GET", url=load.scope.base_url)
