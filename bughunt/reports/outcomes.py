"""What became of each investigation, in the words that all formats share. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC
from enum import StrEnum

from bughunt.reports.texts import counted
from bughunt.tower.values import InvestigationView
from bughunt.verdict.judgement import Cause, LoadJudgement, Reason, State, Verdict
from bughunt.verdict.wording import causes_sentence

__all__ = [
    "Outcome",
    "causes_in_words",
    "causes_of",
    "charter_of",
    "duration_of",
    "ending_of",
    "headline",
    "is_claim",
    "is_known_bug",
    "lead",
    "loads_in_words",
    "outcome_of",
    "sentence_of",
    "summary_line",
    "tally",
    "ticket_in_words",
    "unfired_faults",
]


class Outcome(StrEnum):
    """What is said of a run to people, the more urgent first. A claim never looks like a verdict."""

    BUG = "BUG"
    HARNESS_ERROR = "HARNESS_ERROR"
    CHECK_ERROR = "CHECK_ERROR"
    ENV_ERROR = "ENV_ERROR"
    KNOWN_BUG = "known BUG"
    PASS = "PASS"  # noqa: S105 - a verdict, no password
    CLAIMS_BUG = "claims BUG"
    CLAIMS_ENV_ERROR = "claims ENV_ERROR"
    CLAIMS_PASS = "claims PASS"  # noqa: S105 - a claim, no password
    UNFINISHED = "not finished"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


_CLAIMS = {
    Verdict.PASS: Outcome.CLAIMS_PASS,
    Verdict.BUG: Outcome.CLAIMS_BUG,
    Verdict.ENV_ERROR: Outcome.CLAIMS_ENV_ERROR,
}
_VERDICTS = {Verdict.PASS: Outcome.PASS, Verdict.BUG: Outcome.BUG, Verdict.ENV_ERROR: Outcome.ENV_ERROR}
_WITHOUT_VERDICT = {State.CANCELLED: Outcome.CANCELLED, State.SUPERSEDED: Outcome.SUPERSEDED}


def outcome_of(view: InvestigationView) -> Outcome:
    """What became of this run, by its stored state: a judgement that passed no gate counts for nothing."""
    run, verdict = view.run, view.run.verdict
    if run.state is State.DONE:
        if is_known_bug(view):
            return Outcome.KNOWN_BUG
        return Outcome.HARNESS_ERROR if verdict is None else _VERDICTS[verdict]
    if run.state is not State.FAILED:
        return _WITHOUT_VERDICT.get(run.state, Outcome.UNFINISHED)
    if run.reason in (Reason.UNVERIFIED, Reason.CLAIM_UNREVIEWED):
        return Outcome.HARNESS_ERROR if verdict is None else _CLAIMS[verdict]
    if run.reason is Reason.ENV_ERROR:
        return Outcome.ENV_ERROR
    return Outcome.CHECK_ERROR if run.reason is Reason.CHECK_ERROR else Outcome.HARNESS_ERROR


def is_known_bug(view: InvestigationView) -> bool:
    """Whether this BUG has a ticket, and its last day was not over when the run ended (UTC).

    By the run's own time: a report of an old run says the same whenever it is made. A claim of a BUG is none:
    nobody has verified that it is the one that is known.
    """
    run, known = view.run, view.known_bug
    if known is None or run.state is not State.DONE or run.verdict is not Verdict.BUG:
        return False
    return run.terminal_at is not None and run.terminal_at.astimezone(UTC).date() <= known.until


def ticket_in_words(view: InvestigationView) -> str:
    """What is to be said about the charter's ticket, one sentence; empty where there is nothing."""
    known, verdict = view.known_bug, view.run.verdict
    if known is None or view.run.state is not State.DONE:
        return ""
    if verdict is Verdict.PASS:
        return "" if view.drill else f"The bug was not seen: {known.ticket} may be closed."
    if is_known_bug(view):
        return f"The bug is known as {known.ticket} and fails no run until {known.until} is over."
    return f"The bug is known as {known.ticket}, and was to be mended by {known.until}."


def is_claim(outcome: Outcome) -> bool:
    """Whether an agent says so, and nothing was verified."""
    return outcome in _CLAIMS.values()


def tally(views: Iterable[InvestigationView]) -> dict[Outcome, int]:
    """How many runs came to each outcome, in the order of `Outcome`; what did not occur is left out."""
    found = [outcome_of(view) for view in views]
    return {outcome: found.count(outcome) for outcome in Outcome if outcome in found}


def headline(views: Sequence[InvestigationView]) -> str:
    """All outcomes in one line: `1 BUG, 2 ENV_ERROR, 4 PASS; unverified: 1 claims BUG`."""
    counts = tally(views)
    verified = ", ".join(f"{n} {outcome}" for outcome, n in counts.items() if not is_claim(outcome))
    claims = ", ".join(f"{n} {outcome}" for outcome, n in counts.items() if is_claim(outcome))
    if not counts:
        return "no investigation"
    return "; ".join(part for part in (verified, f"unverified: {claims}" if claims else "") if part)


def lead(views: Sequence[InvestigationView]) -> str:
    """What a person wants to know first: `2 bugs · 1 hidden by the environment · 4 passed`."""
    counts = tally(views)
    claims = sum(n for outcome, n in counts.items() if is_claim(outcome))
    said = {Outcome.BUG, Outcome.KNOWN_BUG, Outcome.ENV_ERROR, Outcome.PASS}
    others = len(views) - claims - sum(counts.get(outcome, 0) for outcome in said)
    parts = {
        counted(counts.get(Outcome.BUG, 0), "bug"): counts.get(Outcome.BUG, 0),
        counted(counts.get(Outcome.KNOWN_BUG, 0), "known bug"): counts.get(Outcome.KNOWN_BUG, 0),
        f"{counts.get(Outcome.ENV_ERROR, 0)} hidden by the environment": counts.get(Outcome.ENV_ERROR, 0),
        f"{counts.get(Outcome.PASS, 0)} passed": counts.get(Outcome.PASS, 0),
        f"{others} without a verdict": others,
        counted(claims, "unverified claim"): claims,
    }
    # No line ends in a number or begins with a separator.
    return (
        "\u00a0· ".join(words.replace(" ", "\u00a0", 1) for words, n in parts.items() if n)
        or "No investigation"
    )


def sentence_of(view: InvestigationView) -> str:
    """The verdict in one sentence; without a judgement, what is known instead."""
    if view.judgement is not None:
        return view.judgement.sentence
    state = view.run.state
    if state is State.SUPERSEDED:
        successor = view.run.superseded_by
        return f"Superseded by {f'RUN-{successor}' if successor else 'a later run'} of the same question."
    lead_in = {State.FAILED: "Ended without a judgement", State.CANCELLED: "Cancelled"}.get(
        state, f"No verdict: the run is {state}"
    )
    return f"{lead_in}: {view.notes[-1]}" if view.notes else f"{lead_in}."


def causes_of(view: InvestigationView) -> tuple[Cause, ...]:
    """The causes that the judgement names; none without a judgement."""
    return view.judgement.causes if view.judgement is not None else ()


def causes_in_words(view: InvestigationView) -> str:
    """The causes in one clause, planned faults that never fired included; empty where there is none."""
    words = causes_sentence(causes_of(view))
    unfired = f"never fired: {', '.join(view.unfired)}" if view.unfired else ""
    return "; ".join(part for part in (words, unfired) if part)


def ending_of(view: InvestigationView, load: int) -> LoadJudgement | None:
    """How a load of this run was judged; None: it was not."""
    endings = view.judgement.endings if view.judgement is not None else ()
    return next((ending for ending in endings if ending.load == load), None)


def loads_in_words(view: InvestigationView) -> str:
    """`2`, or `1 (+1)` with confirmations."""
    if view.judgement is None:
        return str(len(view.loads))
    confirmations = view.judgement.confirmations
    return f"{view.judgement.loads}" + (f" (+{confirmations})" if confirmations else "")


def duration_of(view: InvestigationView) -> float | None:
    """Seconds from the start of the run to its end; None while there is no end."""
    run = view.run
    if run.started_at is None or run.terminal_at is None:
        return None
    return max((run.terminal_at - run.started_at).total_seconds(), 0.0)


def charter_of(view: InvestigationView) -> tuple[str, str]:
    """The charter's file and name."""
    file, separator, name = view.question.key.charter.rpartition("::")
    return (file, name) if separator else ("", view.question.key.charter)


def unfired_faults(views: Iterable[InvestigationView]) -> tuple[str, ...]:
    """Planned faults, as specs, that fired in none of the runs they were planned for.

    One that concerns some charters only has done its work if it fired in one of them.
    """
    over = [view for view in views if view.run.terminal_at is not None]
    fired = {spec for view in over for spec in view.question.key.plan if spec not in view.unfired}
    return tuple(dict.fromkeys(spec for view in over for spec in view.unfired if spec not in fired))


def summary_line(views: Sequence[InvestigationView]) -> str:
    """How many investigations there are, and how many of them are drills."""
    drills = sum(view.drill for view in views)
    return counted(len(views), "investigation") + (
        f", {counted(drills, 'drill')} among them" if drills else ""
    )
