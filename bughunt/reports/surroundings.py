"""What a load knew besides its exchanges, in lines: WebSockets, writes claimed, the probe, known noise."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from bughunt.reports.texts import counted, one_line, place, seconds
from bughunt.verdict.record import Acknowledgement, LoadRecord, Noise, Probe, Socket

__all__ = ["Surrounding", "surroundings_of"]

#: Lines of one kind that are shown at most; the record holds all.
_LINES = 30


class Surrounding(Struct, frozen=True, kw_only=True):
    """All that a load knew of one kind."""

    title: str
    lines: tuple[str, ...]
    left_out: int
    """How many further lines there are."""


def surroundings_of(load: LoadRecord) -> tuple[Surrounding, ...]:
    """What there is to tell, the kinds without anything left out. Pure."""
    base = load.scope.base_url
    told = {
        "WebSockets": [_socket(socket, base) for socket in load.sockets],
        "Writes that were to be acknowledged": [_acknowledgement(a, load) for a in load.acknowledgements],
        "Asked from outside the page": [_probe(probe, base) for probe in load.probes],
        "Known noise, never a cause": [_noise(noise, base) for noise in load.scope.noise],
    }
    return tuple(
        Surrounding(title=title, lines=tuple(lines[:_LINES]), left_out=max(len(lines) - _LINES, 0))
        for title, lines in told.items()
        if lines
    )


def _socket(socket: Socket, base_url: str) -> str:
    opened = "never answered" if socket.answered is False else "opened"
    frames = f"{counted(socket.received, 'frame')} received, {socket.sent} sent"
    parts = (f"{opened} at {seconds(socket.opened_at)}", frames, *_end(socket))
    return one_line(f"{place(socket.url, base_url)}: {', '.join(parts)}")


def _end(socket: Socket) -> Iterator[str]:
    if socket.failure is not None:
        yield f"failed: {socket.failure}"
    if socket.left:
        yield "its page was left"
    elif socket.closed is None:
        yield "still open"
    else:
        code = f" with code {socket.code}" if socket.code is not None else ""
        by_whom = " by the page" if socket.closed_by_page else ""
        yield f"closed{by_whom}{code} at {seconds(socket.closed)}"


def _acknowledgement(claimed: Acknowledgement, load: LoadRecord) -> str:
    what = " ".join(part for part in (claimed.method, claimed.pattern, claimed.operation) if part)
    met = next((x for x in load.exchanges if x.id == claimed.exchange), None)
    if met is None:
        fate = "no such request was sent"
    else:
        ended = met.status if met.status is not None else met.failure or "no answer"
        fate = f"{met.method} {place(met.url, load.scope.base_url)} → {ended}"
    return one_line(f"{what} (line {claimed.line}): {fate}")


def _probe(probe: Probe, base_url: str) -> str:
    parts = [
        str(probe.status) if probe.status is not None else probe.failure or "no answer",
        str(probe.content) if probe.content is not None else "",
        "its body is damaged" if probe.damaged else "",
        "its CORS headers allow the page" if probe.shared else "",
        f"led to {place(probe.final_url, base_url)}" if probe.final_url else "",
    ]
    return one_line(f"{probe.method} {place(probe.url, base_url)}: {', '.join(p for p in parts if p)}")


def _noise(noise: Noise, base_url: str) -> str:
    operation = f" ({noise.operation})" if noise.operation else ""
    runs = counted(noise.runs, "passing run")
    return one_line(f"{noise.method} {place(noise.url, base_url)}{operation}: {noise.fate}, in {runs}")
