"""After a write that may have arrived, the next load meets another world."""

from __future__ import annotations

from typing import Any

import pytest

from bughunt.verdict.judgement import CauseKind, Ending, Judgement, Verdict
from bughunt.verdict.record import Exchange, FaultEffect, LoadRecord
from bughunt.verdict.rules import decide
from tests.verdict.making import ELSEWHERE, exchange, failed, load, mismatch, unanswered

WRITE: dict[str, Any] = {"method": "POST"}


def kinds(first: LoadRecord, *further: LoadRecord) -> set[CauseKind]:
    judgement = decide([first, *further])
    assert isinstance(judgement, Judgement)
    return {cause.kind for cause in judgement.causes}


@pytest.mark.parametrize(
    "write",
    [
        failed("net::ERR_CONNECTION_RESET", **WRITE),
        unanswered(**WRITE),
        *(exchange(status=status, **WRITE) for status in (500, 502, 504)),
        failed("net::ERR_CONNECTION_RESET", fault="lost_answer", fault_effect=FaultEffect.LOSE, **WRITE),
        exchange(status=503, fault="empty", fault_effect=FaultEffect.LOSE, **WRITE),
    ],
)
def test_a_mismatch_after_a_write_of_unknown_fate_says_nothing(write: Exchange) -> None:
    assert CauseKind.STATE_UNKNOWN in kinds(load(write), mismatch(2))


@pytest.mark.parametrize(
    "write",
    [
        exchange(status=503, **WRITE),
        exchange(status=429, **WRITE),
        failed("net::ERR_CONNECTION_RESET"),
        failed("net::ERR_CONNECTION_RESET", fault="reset", fault_effect=FaultEffect.ABORT, **WRITE),
        exchange(status=500, fault="500", fault_effect=FaultEffect.ANSWER, **WRITE),
    ],
)
def test_what_certainly_wrote_nothing_leaves_the_world_alone(write: Exchange) -> None:
    judgement = decide([load(write), mismatch(2), mismatch(3)])
    assert isinstance(judgement, Judgement)
    assert judgement.verdict is Verdict.BUG


def test_somebody_elses_write_is_none_of_the_apps() -> None:
    beside = failed("net::ERR_CONNECTION_RESET", f"{ELSEWHERE}/beat", id=2, **WRITE)
    judgement = decide([load(exchange(status=503), beside), mismatch(2), mismatch(3)])
    assert isinstance(judgement, Judgement)
    assert judgement.verdict is Verdict.BUG


def test_a_charter_that_meets_no_trace_of_earlier_loads_goes_on() -> None:
    lost = load(failed("net::ERR_CONNECTION_RESET", **WRITE), fresh=True)
    judgement = decide([lost, mismatch(2, fresh=True), mismatch(3, fresh=True)])
    assert isinstance(judgement, Judgement)
    assert judgement.verdict is Verdict.BUG


def test_the_cause_says_what_the_charter_saw_and_what_to_do() -> None:
    judgement = decide([load(failed("net::ERR_CONNECTION_RESET", **WRITE)), mismatch(2)])
    assert isinstance(judgement, Judgement)
    (cause,) = (c for c in judgement.causes if c.kind is CauseKind.STATE_UNKNOWN)
    assert (cause.load, cause.method) == (2, "POST")
    assert "load.unique" in (cause.hint or "")
    assert "288.00" in (cause.hint or "")


def test_a_write_in_a_load_that_showed_something_else_in_health_changes_nothing() -> None:
    """Only a blocked load leaves the world unknown."""
    first = mismatch(1)
    judgement = decide([first, mismatch(2)])
    assert isinstance(judgement, Judgement)
    assert [ended.ending for ended in judgement.endings] == [Ending.MISMATCH, Ending.MISMATCH]
