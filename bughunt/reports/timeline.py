"""Where things lie on the time axis that the loads of an investigation share. Pure geometry, in percent."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bughunt.reports.texts import clip, one_line, place, seconds, size
from bughunt.reports.wording import KIND_WORDS
from bughunt.verdict.causality import Causality
from bughunt.verdict.judgement import Cause
from bughunt.verdict.record import Exchange, FaultEffect, LoadRecord, Step

__all__ = ["Axis", "Bar", "Mark", "StepBar", "Tick", "Timeline", "axis_of", "timeline_of"]

#: What a planned fault that broke an exchange did to it.
_BROKEN: dict[FaultEffect | None, str] = {
    FaultEffect.ABORT: "made it fail",
    FaultEffect.ANSWER: "took the place of the answer",
    FaultEffect.LOSE: "let the server have it, and lost or spoilt the answer",
}

_URL = 2_000
"""Characters of a URL that are shown at most."""
_MANY = 40
"""Exchanges of a load up to which none is collapsed."""
_MOST = 400
"""Exchanges of a load that are drawn at most."""
_TICK_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)


class Tick(Struct, frozen=True, kw_only=True):
    """A labelled instant of the axis."""

    at: float
    label: str


class Axis(Struct, frozen=True, kw_only=True):
    """The time axis: from the beginning of each load to the last thing that happened in the longest."""

    span: float
    """Seconds."""
    ticks: tuple[Tick, ...]

    def at(self, instant: float) -> float:
        """Where an instant lies, in percent."""
        return round(min(max(instant / self.span, 0.0), 1.0) * 100, 2)


class Mark(Struct, frozen=True, kw_only=True):
    """The moment at which a charter failed."""

    at: float
    label: str
    leftwards: bool
    """Whether its label has room only on its left."""


class StepBar(Struct, frozen=True, kw_only=True):
    """A step of the charter."""

    number: int
    """From 1."""
    name: str
    target: str
    line: int
    left: float
    width: float
    took: str
    failed: bool


class Bar(Struct, frozen=True, kw_only=True):
    """An exchange as it is drawn and told."""

    method: str
    place: str
    """The URL without the target's own origin."""
    url: str
    result: str
    """`200`, `302 → 200`, `ERR_CONNECTION_RESET`, `no answer`."""
    took: str
    started: str
    left: float
    width: float
    waited: float
    """The part of the bar, in percent of it, before the answer's headers came."""
    open: bool
    """Whether it was still open when the record was closed."""
    failed: bool
    cause: str | None
    """The cause's kind in words, where it is one."""
    fault: str | None
    quiet: bool
    """Whether nobody needs to look at it: answered, no cause, no fault, neither declared nor the document."""
    details: tuple[tuple[str, str], ...]
    """Label and text; empty for an exchange that nobody needs to look into."""


class Timeline(Struct, frozen=True, kw_only=True):
    """One load on the axis."""

    bars: tuple[Bar, ...]
    collapsed: tuple[Bar, ...]
    """Quiet exchanges, where there are many."""
    left_out: int
    """Exchanges that are not drawn at all."""
    steps: tuple[StepBar, ...]
    end: float
    """Where the load ended."""
    mark: Mark | None


def axis_of(loads: Sequence[LoadRecord]) -> Axis:
    """The axis on which all these loads fit."""
    longest = max((_last_instant(load) for load in loads), default=0.0)
    span = max(longest * 1.02, 0.05)
    step = next((step for step in _TICK_STEPS if span / step <= 5), span)
    ticks = (index * step for index in range(int(span / step) + 1))
    return Axis(span=span, ticks=tuple(Tick(at=round(t / span * 100, 2), label=_tick(t)) for t in ticks))


def _tick(instant: float) -> str:
    return f"{instant:g} s" if instant >= 1 or instant == 0 else f"{instant * 1000:g} ms"


def _last_instant(load: LoadRecord) -> float:
    ends = [x.ended if x.ended is not None else x.started for x in load.exchanges]
    return max([load.ended, load.failure.at if load.failure else 0.0, *ends])


def timeline_of(load: LoadRecord, axis: Axis, causes: Sequence[Cause]) -> Timeline:
    """A load on its axis; `causes` are those that were found in it."""
    drawing = _Drawing(load, axis, causes)
    bars = tuple(drawing.bar(x) for x in load.exchanges[:_MOST])
    many = len(load.exchanges) > _MANY
    return Timeline(
        bars=tuple(bar for bar in bars if not (many and bar.quiet)),
        collapsed=tuple(bar for bar in bars if many and bar.quiet),
        left_out=max(len(load.exchanges) - _MOST, 0),
        steps=tuple(_step(step, load, axis) for step in load.steps[:_MOST]),
        end=axis.at(load.ended),
        mark=_mark(load, axis),
    )


def _mark(load: LoadRecord, axis: Axis) -> Mark | None:
    if load.failure is not None:
        words = "gave up" if load.failure.timed_out else "failed"
        instant = load.failure.at
    elif load.crash is not None:
        words, instant = f"{load.crash.what} crashed", load.crash.at
    else:
        return None
    at = axis.at(instant)
    return Mark(at=at, label=f"{words} at {seconds(instant)}", leftwards=at > 50)


def _step(step: Step, load: LoadRecord, axis: Axis) -> StepBar:
    ended = step.ended if step.ended is not None else load.ended
    left = axis.at(step.began)
    return StepBar(
        number=step.index + 1,
        name=one_line(step.name, 120),
        target=one_line(step.target, 300),
        line=step.line,
        left=left,
        width=round(axis.at(ended) - left, 2),
        took=seconds(ended - step.began),
        failed=load.failure is not None and load.failure.step == step.index,
    )


class _Drawing:
    """Draws the exchanges of one load."""

    def __init__(self, load: LoadRecord, axis: Axis, causes: Sequence[Cause]) -> None:
        self._load = load
        self._axis = axis
        self._causes = {cause.exchange: cause for cause in causes if cause.exchange is not None}
        self._causality = Causality(load)

    def bar(self, x: Exchange) -> Bar:
        end = x.ended if x.ended is not None else max(self._load.ended, x.started)
        left, cause = self._axis.at(x.started), self._causes.get(x.id)
        notable = cause is not None or x.fault is not None or x.ended is None or _failed(x)
        return Bar(
            method=one_line(x.method, 20),
            place=one_line(place(x.url, self._load.scope.base_url), 300),
            url=clip(x.url, _URL),
            result=_result(x),
            took=f"open after {seconds(end - x.started)}" if x.ended is None else seconds(end - x.started),
            started=seconds(x.started),
            left=left,
            width=round(self._axis.at(end) - left, 2),
            waited=_waited(x, end),
            open=x.ended is None,
            failed=_failed(x),
            cause=KIND_WORDS[cause.kind] if cause is not None else None,
            fault=x.fault,
            quiet=not notable and not self._wanted(x),
            details=_details(x, self._load, cause) if notable else (),
        )

    def _wanted(self, x: Exchange) -> bool:
        try:
            return x.main_document or self._causality.declared(x)
        except ValueError:  # a URL or a pattern that is none
            return True


def _failed(x: Exchange) -> bool:
    return x.failure is not None or (x.status is not None and x.status >= 400) or x.fault_effect in _BROKEN


def _result(x: Exchange) -> str:
    hops = "".join(f"{hop.status} → " for hop in x.hops)
    if x.failure is not None:
        status = f" after {x.status}" if x.status is not None else ""
        return hops + one_line(x.failure, 120).removeprefix("net::") + status
    if x.status is None:
        return hops + "no answer"
    return f"{hops}{x.status}" + ("" if x.ended is not None else ", body incomplete")


def _waited(x: Exchange, end: float) -> float:
    """The share of the time until the headers came; all of it where none came."""
    if x.responded is None or end <= x.started:
        return 100.0
    return round(min(max((x.responded - x.started) / (end - x.started), 0.0), 1.0) * 100, 1)


def _details(x: Exchange, load: LoadRecord, cause: Cause | None) -> tuple[tuple[str, str], ...]:
    answered = f"headers at {seconds(x.responded)}" if x.responded is not None else "no headers"
    ended = f"ended at {seconds(x.ended)}" if x.ended is not None else "still open when the load ended"
    of_announced = f" of {size(x.announced)} announced" if x.announced is not None else ""
    told = {
        "Cause": f"{cause.reason}" + (f" ({cause.hint})" if cause.hint else "") if cause else None,
        "Planned fault": _fault_words(x),
        "URL": clip(x.url, _URL),
        "Redirected": " → ".join(f"{hop.status} {clip(hop.url, 300)}" for hop in x.hops),
        "Final URL": clip(x.final_url, _URL) if x.final_url not in (None, x.url) and x.final_url else None,
        "Times": f"asked at {seconds(x.started)}, {answered}, {ended}",
        "Failure": x.failure,
        "Body": f"{size(x.received)} received{of_announced}" if x.received is not None else None,
        "Asked by": place(x.frame_url, load.scope.base_url) if x.frame_url else None,
        "Kind": " · ".join(part for part in (x.resource_type, x.protocol, x.operation) if part),
    }
    return tuple((label, clip(text, _URL)) for label, text in told.items() if text)


def _fault_words(x: Exchange) -> str | None:
    if x.fault is None:
        return None
    return f"{x.fault} {_BROKEN.get(x.fault_effect, 'held it back')}"
