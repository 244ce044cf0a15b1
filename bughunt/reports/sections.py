"""An investigation as the HTML report shows it: every word and number that the template needs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bughunt.reports.attachments import Attachments, Picture, Told
from bughunt.reports.outcomes import (
    Outcome,
    causes_in_words,
    causes_of,
    charter_of,
    duration_of,
    ending_of,
    is_claim,
    loads_in_words,
    outcome_of,
    sentence_of,
    ticket_in_words,
)
from bughunt.reports.surroundings import Surrounding, surroundings_of
from bughunt.reports.texts import clip, counted, one_line, seconds, size, when
from bughunt.reports.timeline import Axis, Timeline, axis_of, timeline_of
from bughunt.reports.wording import ENDING_WORDS, KIND_WORDS, LEVEL_WORDS, on_loads
from bughunt.tower.values import Evidence, EvidenceKind, InvestigationView
from bughunt.verdict.judgement import Cause
from bughunt.verdict.record import ConsoleLine, LoadRecord

__all__ = ["Badge", "CauseCard", "EvidenceRow", "FaultLine", "LoadCard", "Section", "badge_of", "section_of"]

_MESSAGE = 4_000
"""Characters of a failure's message and of a console line at most."""
_CONSOLE_LINES = 200
_QUIET = frozenset({Outcome.PASS, Outcome.CLAIMS_PASS, Outcome.SUPERSEDED, Outcome.KNOWN_BUG})

_LOOKS: dict[Outcome, str] = {
    Outcome.BUG: "bug",
    Outcome.HARNESS_ERROR: "harness",
    Outcome.CHECK_ERROR: "check",
    Outcome.ENV_ERROR: "env",
    Outcome.PASS: "pass",
    Outcome.CLAIMS_BUG: "bug",
    Outcome.CLAIMS_ENV_ERROR: "env",
    Outcome.CLAIMS_PASS: "pass",
}


class Badge(Struct, frozen=True, kw_only=True):
    """An outcome as a label."""

    word: str
    look: str
    """`pass`, `bug`, `env`, `check`, `harness` or `open`: icon and colour."""
    claim: bool
    rank: int
    """Its place in the order of outcomes."""


class FaultLine(Struct, frozen=True, kw_only=True):
    """A planned fault and what became of it."""

    spec: str
    word: str
    fired: bool | None
    """None: not known, the run is not over."""


class CauseCard(Struct, frozen=True, kw_only=True):
    """A cause, the same one on several loads told once."""

    kind: str
    reason: str
    loads: str
    exchanges: tuple[str, ...]
    """`load 1: GET http://shop.test/api/cart, net::ERR_CONNECTION_RESET`"""
    fault: str | None
    hint: str | None
    declared: bool


class LoadCard(Struct, frozen=True, kw_only=True):
    """One load."""

    number: int
    ending: str
    look: str
    rule: str | None
    reason: str | None
    facts: str
    timeline: Timeline
    failure: str | None
    surroundings: tuple[Surrounding, ...]
    console: tuple[ConsoleLine, ...]
    console_left_out: int
    console_errors: int
    picture: Picture | None
    aria: str | None
    trace: Told | None


class EvidenceRow(Struct, frozen=True, kw_only=True):
    """A piece of evidence in the list of all."""

    seq: int
    kind: str
    load: str
    name: str
    size: str
    digest: str
    note: str


class Section(Struct, frozen=True, kw_only=True):
    """One investigation."""

    anchor: str
    badge: Badge
    question: str
    charter: str
    charter_name: str
    target: str
    agent: str
    loads_words: str
    causes_words: str
    q: str
    run: str
    drill: bool
    sentence: str
    facts: tuple[tuple[str, str], ...]
    faults: tuple[FaultLine, ...]
    causes: tuple[CauseCard, ...]
    axis: Axis
    loads: tuple[LoadCard, ...]
    evidence: tuple[EvidenceRow, ...]
    notes: tuple[str, ...]
    opened: bool
    """Whether its loads are shown without being asked for."""


def badge_of(outcome: Outcome) -> Badge:
    """The label of an outcome."""
    rank = list(Outcome).index(outcome)
    return Badge(word=str(outcome), look=_LOOKS.get(outcome, "open"), claim=is_claim(outcome), rank=rank)


def section_of(view: InvestigationView, attachments: Attachments) -> Section:
    """All that is shown of one investigation."""
    key, axis, outcome = view.question.key, axis_of(view.loads), outcome_of(view)
    return Section(
        anchor=f"run-{view.run.id}",
        badge=badge_of(outcome),
        question=one_line(key.question, 500),
        charter=one_line(key.charter, 300),
        charter_name=one_line(charter_of(view)[1], 200),
        target=one_line(key.target, 200),
        agent=one_line(view.run.agent, 80),
        loads_words=loads_in_words(view),
        causes_words=one_line(causes_in_words(view), 400),
        q=view.q,
        run=view.name,
        drill=view.drill,
        sentence=clip(sentence_of(view), _MESSAGE),
        facts=_facts(view),
        faults=tuple(_fault(spec, view) for spec in key.plan),
        causes=_cause_cards(causes_of(view)),
        axis=axis,
        loads=tuple(_load_card(load, view, axis, attachments) for load in view.loads),
        evidence=tuple(_evidence_row(item) for item in view.evidence),
        notes=(*(clip(note, _MESSAGE) for note in _further_notes(view)), *_unrecorded(view)),
        opened=outcome not in _QUIET or len(view.loads) > 1 or bool(view.unfired),
    )


def _facts(view: InvestigationView) -> tuple[tuple[str, str], ...]:
    run, judgement, took = view.run, view.judgement, duration_of(view)
    level = run.level or (judgement.level if judgement else None)
    traits = ("intermittent", "recovered", "degraded")
    landing = f"{when(run.landed_at)}: {run.landing_note}" if run.landed_at else "none"
    told = {
        "Ticket": ticket_in_words(view),
        "Rule": f"{judgement.rule} (rules {run.rules_version})" if judgement else None,
        "Evidence": f"{level}, {LEVEL_WORDS[level]}" if level else None,
        "Nature": ", ".join(t for t in traits if judgement is not None and getattr(judgement, t)),
        "Loads": loads_in_words(view)
        + (" with confirmations" if judgement and judgement.confirmations else ""),
        "Build": view.build or "not told",
        "Landing": landing,
        "Started": when(run.started_at) + (f", took {seconds(took)}" if took is not None else ""),
        "State": f"{run.state}" + (f", {run.reason}" if run.reason else ""),
    }
    return tuple((label, one_line(text, 500)) for label, text in told.items() if text)


def _fault(spec: str, view: InvestigationView) -> FaultLine:
    if spec in view.unfired:
        return FaultLine(spec=spec, word="never fired", fired=False)
    touched = [load.number for load in view.loads for x in load.exchanges if x.fault == spec]
    if touched:
        word = f"fired on {counted(len(touched), 'exchange')}, {on_loads(touched)}"
        return FaultLine(spec=spec, word=word, fired=True)
    if view.run.terminal_at is None:
        return FaultLine(spec=spec, word="not known yet", fired=None)
    return FaultLine(spec=spec, word="fired", fired=True)


def _cause_cards(causes: Sequence[Cause]) -> tuple[CauseCard, ...]:
    alike: dict[tuple[str, str], list[Cause]] = {}
    for cause in causes:
        alike.setdefault((cause.kind, cause.reason), []).append(cause)
    return tuple(_cause_card(group) for group in alike.values())


def _cause_card(group: Sequence[Cause]) -> CauseCard:
    first = group[0]
    return CauseCard(
        kind=KIND_WORDS[first.kind],
        reason=clip(first.reason, _MESSAGE),
        loads=on_loads([cause.load for cause in group]),
        exchanges=tuple(_exchange_words(cause) for cause in group if cause.url),
        fault=next((cause.fault for cause in group if cause.fault), None),
        hint=next((cause.hint for cause in group if cause.hint), None),
        declared=any(cause.declared for cause in group),
    )


def _exchange_words(cause: Cause) -> str:
    status = str(cause.status) if cause.status is not None else None
    ended = ", ".join(part for part in (status, cause.failure) if part) or "neither status nor failure"
    return f"load {cause.load}: {cause.method or ''} {clip(cause.url or '', 500)} → {ended}"


def _load_card(load: LoadRecord, view: InvestigationView, axis: Axis, attachments: Attachments) -> LoadCard:
    judged = ending_of(view, load.number)
    lines = load.console[:_CONSOLE_LINES]
    return LoadCard(
        number=load.number,
        ending=ENDING_WORDS[judged.ending] if judged else "not judged",
        look=str(judged.ending).replace("_", "-") if judged else "open",
        rule=judged.rule if judged else None,
        reason=clip(judged.reason, _MESSAGE) if judged else None,
        facts=_load_facts(load),
        timeline=timeline_of(load, axis, _found_in(load, view)),
        failure=_failure(load),
        surroundings=surroundings_of(load),
        console=tuple(ConsoleLine(kind=c.kind, text=clip(c.text, _MESSAGE), at=c.at) for c in lines),
        console_left_out=len(load.console) - len(lines),
        console_errors=sum(c.kind in ("error", "pageerror") for c in load.console),
        picture=attachments.picture(view, load.number),
        aria=attachments.aria(view, load.number),
        trace=attachments.trace(view, load.number),
    )


def _load_facts(load: LoadRecord) -> str:
    told = (
        seconds(load.ended),
        counted(len(load.exchanges), "exchange"),
        "routed" if load.routed else "",
        "control load, without the planned faults" if load.control else "",
        "waited for the document only" if load.patient else "",
        one_line(load.browser, 60),
    )
    return " · ".join(part for part in told if part)


def _found_in(load: LoadRecord, view: InvestigationView) -> list[Cause]:
    judged = ending_of(view, load.number)
    return [*(c for c in causes_of(view) if c.load == load.number), *(judged.causes if judged else ())]


def _failure(load: LoadRecord) -> str | None:
    if load.failure is None:
        return None
    lines = f" (line {' > '.join(str(n) for n in load.failure.lines)})" if load.failure.lines else ""
    return clip(f"{load.failure.type}{lines}: {load.failure.message}", _MESSAGE)


def _evidence_row(item: Evidence) -> EvidenceRow:
    return EvidenceRow(
        seq=item.seq,
        kind=item.kind.replace("_", " "),
        load=str(item.load) if item.load is not None else "–",
        name=one_line(item.name or item.ending or item.cause or "", 120),
        size=size(item.size),
        digest=item.digest,
        note=one_line(item.tombstone or ""),
    )


def _further_notes(view: InvestigationView) -> tuple[str, ...]:
    """The notes that the sentence does not hold already."""
    told = view.judgement is None and view.notes and view.notes[-1] in sentence_of(view)
    return view.notes[:-1] if told else view.notes


def _unrecorded(view: InvestigationView) -> tuple[str, ...]:
    """Loads that began, and of which no whole record was written."""
    began = {e.load for e in view.evidence if e.kind is EvidenceKind.LOAD_STARTED and e.load is not None}
    lost = sorted(began - {load.number for load in view.loads})
    return (f"Began, and no complete record was written: {on_loads(lost)}.",) if lost else ()
