"""Runs that were judged again, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bughunt.rejudging import Outcome, Rejudged, tally
from bughunt.reports.texts import clean, one_line
from bughunt.verdict.judgement import Judgement
from bughunt.verdict.rules import RULES_VERSION

__all__ = ["rejudged_json", "rejudged_lines"]

JsonObject = dict[str, Any]
"""A JSON object. Any: what is in it differs from key to key."""

_TOLD = (Outcome.CHANGED, Outcome.LOAD_AGAIN, Outcome.UNREADABLE)


def rejudged_json(found: Sequence[Rejudged]) -> JsonObject:
    """What `bughunt rejudge --json` prints, but for its exit code."""
    counted = {str(outcome): number for outcome, number in tally(found).items()}
    runs = [_run_json(one) for one in found if one.outcome in _TOLD]
    return {"rules_version": RULES_VERSION, "counts": counted, "runs": runs}


def rejudged_lines(found: Sequence[Rejudged]) -> Iterator[str]:
    """Each run of which there is something to say, in two lines, then how many there are of each kind."""
    for one in found:
        if one.outcome in _TOLD:
            yield f"RUN-{one.run} of Q-{one.question} {_about(one)}: {_turn(one)}"
            yield f"    {one_line(one.new.sentence if one.new else one.why, 300)}"
    yield _summary(found)


def _about(one: Rejudged) -> str:
    return " ".join(filter(None, (one_line(one.charter, 120), f"({one.agent})")))


def _turn(one: Rejudged) -> str:
    if one.outcome is Outcome.UNREADABLE:
        return f"{_word(one.old)} cannot be judged again"
    new = _word(one.new) if one.new else "another load would be needed"
    return f"{_word(one.old)} → {new}, rules {one.old.rules_version if one.old else '?'} → {RULES_VERSION}"


def _word(judgement: Judgement | None) -> str:
    """`BUG (mismatch, healthy network)`."""
    if judgement is None:
        return "its verdict"
    claim = "claims " if judgement.rule == "claim" else ""
    return f"{claim}{judgement.verdict or judgement.reason} ({judgement.rule})"


def _summary(found: Sequence[Rejudged]) -> str:
    words = {
        Outcome.SAME: "the same",
        Outcome.CHANGED: "would change",
        Outcome.LOAD_AGAIN: "would need another load",
        Outcome.UNREADABLE: "cannot be read",
        Outcome.NOT_JUDGED: "not judged",
    }
    counted = ", ".join(f"{number} {words[outcome]}" for outcome, number in tally(found).items() if number)
    return f"{len(found)} runs, rules {RULES_VERSION}: {counted or 'nothing to judge'}. Nothing was changed."


def _run_json(one: Rejudged) -> JsonObject:
    return {
        "run": f"RUN-{one.run}",
        "q": f"Q-{one.question}",
        "charter": clean(one.charter),
        "agent": one.agent,
        "outcome": str(one.outcome),
        "old": _judgement_json(one.old),
        "new": _judgement_json(one.new),
        "why": clean(one.why),
    }


def _judgement_json(judgement: Judgement | None) -> JsonObject | None:
    if judgement is None:
        return None
    return {
        "rules_version": judgement.rules_version,
        "state": str(judgement.state),
        "verdict": None if judgement.verdict is None else str(judgement.verdict),
        "reason": None if judgement.reason is None else str(judgement.reason),
        "rule": judgement.rule,
        "sentence": clean(judgement.sentence),
    }
