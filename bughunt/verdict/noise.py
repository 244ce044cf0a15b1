"""Known noise: what a charter's passing runs have shown to end badly without any harm."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bughunt.verdict.causality import Causality
from bughunt.verdict.record import Exchange, LoadRecord, Noise, Socket
from bughunt.verdict.sockets import unheard_since

__all__ = ["OPEN", "PENDING", "fate", "is_noise", "is_socket_noise", "learn", "socket_fate"]

#: Passing runs in which an exchange must have ended in the same failure.
ENOUGH_RUNS = 5

PENDING = "pending"
"""The fate of what had no answer when the load was over: a charter that held needs none."""

OPEN = "open"
"""The fate of what was answered, and whose body did not end: perhaps because the page never reads it."""


class _Kind(NamedTuple):
    """Exchanges that are noise, or none, together."""

    method: str
    url: str
    operation: str | None


def fate(x: Exchange, cut: float) -> str | None:
    """How an exchange ended badly, as seen at the instant `cut`; None: it did not."""
    if x.status is not None and x.status >= 400:
        return str(x.status)
    if x.failure is not None:
        return x.failure
    if x.resource_type == "eventsource" and x.status is not None:
        return PENDING if x.messages == 0 else None
    if x.finished and x.ended is not None and x.ended <= cut:
        return None
    return PENDING if x.responded is None or x.responded > cut else OPEN


def socket_fate(socket: Socket) -> str | None:
    """The same of a WebSocket: `PENDING` is one that is open and silent."""
    if socket.closed is not None:
        return None if socket.closed_by_page else socket.failure or str(socket.code)
    if socket.answered is False:
        return "unanswered"
    return None if unheard_since(socket) is None else PENDING


def learn(passing: Sequence[LoadRecord]) -> tuple[Noise, ...]:
    """What is noise by these loads that held, one of each passing run. Pure.

    A failure must have been seen in 5 runs, a poll that is pending in one; and neither may ever have been
    answered well in any of them, nor what is pending have been answered at all.
    """
    seen: defaultdict[_Kind, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    well: set[_Kind] = set()
    for load in passing:
        for kind, fates in _fates(load).items():
            if None in fates:
                well.add(kind)
            for known in fates - {None}:
                seen[kind][str(known)] += 1
    return tuple(
        Noise(method=kind.method, url=kind.url, operation=kind.operation, fate=known, runs=runs)
        for kind, fates in sorted(seen.items(), key=lambda item: tuple(map(str, item[0])))
        if kind not in well
        for known, runs in sorted(fates.items())
        if runs >= (1 if known in {PENDING, OPEN} else ENOUGH_RUNS)
        if known != PENDING or OPEN not in fates
    )


def _fates(load: LoadRecord) -> dict[_Kind, set[str | None]]:
    causality = Causality(load)
    found: defaultdict[_Kind, set[str | None]] = defaultdict(set)
    for x in load.exchanges:
        if x.fault is None and causality.counts(x) and not causality.declared(x) and not x.main_document:
            found[_kind(x)].add(fate(x, load.ended))
    for socket in load.sockets:
        if not socket.left and not causality.declares_url(socket.url):
            found[_kind_of_socket(socket)].add(socket_fate(socket))
    return found


def is_noise(x: Exchange, cut: float, known: Iterable[Noise]) -> bool:
    """Whether an exchange ended as it does in passing runs too."""
    return _is_known(_kind(x), fate(x, cut), known)


def is_socket_noise(socket: Socket, known: Iterable[Noise]) -> bool:
    """Whether a WebSocket ended, or is silent, as it is in passing runs too."""
    return _is_known(_kind_of_socket(socket), socket_fate(socket), known)


def _is_known(kind: _Kind, ended: str | None, known: Iterable[Noise]) -> bool:
    return ended is not None and any(
        (noise.method, noise.url, noise.operation) == kind and noise.fate == ended for noise in known
    )


def _kind(x: Exchange) -> _Kind:
    return _Kind(x.method, x.url.partition("?")[0], x.operation)


def _kind_of_socket(socket: Socket) -> _Kind:
    return _Kind("GET", socket.url.partition("?")[0], None)
