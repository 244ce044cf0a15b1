"""Charters that must hold despite the planned faults, and writes that the page says have arrived."""

from __future__ import annotations

from typing import Any

import pytest

from bughunt.verdict.endings import judge_load
from bughunt.verdict.judgement import CauseKind, Ending, Judgement, Verdict
from bughunt.verdict.record import Acknowledgement, Exchange, FaultEffect, LoadRecord
from bughunt.verdict.rules import LoadAgain, decide
from tests.verdict.making import aborted, document, exchange, failed, held, load, unanswered

PLANNED: dict[str, Any] = {"status": 503, "fault": "503@**/api/cart", "fault_effect": FaultEffect.ANSWER}


def broken(number: int, **given: Any) -> LoadRecord:
    """A load of a resilient charter that did not hold, its fault fired."""
    return load(exchange(**PLANNED), number=number, **({"resilient": True} | given))


def judged(*loads: LoadRecord) -> Judgement:
    judgement = decide(loads)
    assert isinstance(judgement, Judgement)
    return judgement


def test_a_planned_fault_is_no_cause_under_a_resilient_charter() -> None:
    assert judge_load(broken(1)).ending is Ending.MISMATCH
    assert judge_load(broken(1, resilient=False)).ending is Ending.BLOCKED


def test_its_mismatch_needs_a_load_with_the_faults_off() -> None:
    again = decide([broken(1), broken(2)])
    assert isinstance(again, LoadAgain)
    assert again.control


def test_it_is_a_bug_if_it_holds_without_them() -> None:
    judgement = judged(broken(1), broken(2), held(exchange(), number=3, control=True))
    assert (judgement.verdict, judgement.rule) == (Verdict.BUG, "not resilient")
    assert "With the faults off it held (load 3)" in judgement.sentence


def test_what_fails_without_them_too_is_judged_without_them() -> None:
    control = [load(exchange(), number=number, control=True) for number in (3, 4)]
    again = decide([broken(1), broken(2), control[0]])
    assert isinstance(again, LoadAgain)
    assert again.control
    judgement = judged(broken(1), broken(2), *control)
    assert (judgement.verdict, judgement.rule) == (Verdict.BUG, "mismatch, healthy network")
    assert len(judgement.endings) == 4


def test_an_environment_that_breaks_without_them_is_one() -> None:
    control = [load(exchange(status=500), number=number, control=True) for number in (3, 4)]
    assert judged(broken(1), broken(2), *control).verdict is Verdict.ENV_ERROR


def test_a_fault_that_never_fired_leaves_it_like_any_other() -> None:
    loads = [load(exchange(), number=number, resilient=True) for number in (1, 2)]
    assert judged(*loads).rule == "mismatch, healthy network"


def test_what_nobody_planned_is_still_a_cause() -> None:
    lost = failed("net::ERR_CONNECTION_RESET", id=0, resource_type="document", main_document=True)
    assert judge_load(load(lost, resilient=True)).ending is Ending.BLOCKED


# Contradictions

ORDER: dict[str, Any] = {"method": "POST", "id": 1}


def claim(write: int | None = 1, **given: Any) -> Acknowledgement:
    """`net.acknowledged("**/api/cart")`, over at 3 s."""
    return Acknowledgement(
        **({"pattern": "**/api/cart", "began": 0.5, "ended": 3.0, "exchange": write} | given)
    )


def ending(*writes: Exchange, claims: tuple[Acknowledgement, ...] = (claim(),), **given: Any) -> Ending:
    return judge_load(held(document(), *writes, acknowledgements=claims, **given)).ending


@pytest.mark.parametrize(
    "write",
    [
        exchange(status=500, **ORDER),
        exchange(status=409, **ORDER),
        failed("net::ERR_CONNECTION_RESET", **ORDER),
        exchange(healthy=False, **ORDER),
    ],
)
def test_a_page_that_says_saved_over_a_write_that_failed_contradicts_itself(write: Exchange) -> None:
    assert ending(write) is Ending.MISMATCH


def test_a_write_that_never_left_contradicts_too() -> None:
    assert ending(claims=(claim(None),)) is Ending.MISMATCH


@pytest.mark.parametrize("status", [200, 201, 202, 204, 302])
def test_a_write_that_was_answered_well_does_not(status: int) -> None:
    assert ending(exchange(status=status, **ORDER)) is Ending.HELD


def test_a_write_that_is_tried_again_and_arrives_does_not() -> None:
    second = exchange(method="POST", id=2, started=4.0, responded=4.1, ended=4.2, status=201)
    assert ending(exchange(status=503, **ORDER), second) is Ending.HELD
    assert ending(failed("net::ERR_CONNECTION_RESET", **ORDER), second) is Ending.HELD


def test_a_write_that_fails_each_time_does() -> None:
    second = exchange(method="POST", id=2, started=4.0, responded=4.1, ended=4.2, status=503)
    assert ending(exchange(status=503, **ORDER), second) is Ending.MISMATCH


def test_a_write_that_is_under_way_again_is_the_environments() -> None:
    second = unanswered(method="POST", id=2, started=9.5)
    assert ending(exchange(status=503, **ORDER), second) is Ending.BLOCKED


def test_a_write_that_left_late_is_none_that_never_left() -> None:
    late = exchange(method="POST", id=2, started=4.0, responded=4.1, ended=4.2)
    assert ending(late, claims=(claim(None),)) is Ending.HELD
    assert ending(late, claims=(claim(None, operation="Save"),)) is Ending.MISMATCH


def test_what_one_claim_waited_for_is_not_taken_for_another_ones() -> None:
    first, second = exchange(status=503, **ORDER), exchange(method="POST", id=2, started=4.0)
    claims = (claim(1), claim(2, began=3.5, ended=5.0))
    assert ending(first, second, claims=claims) is Ending.MISMATCH


def test_an_unsettled_write_is_the_environments() -> None:
    pending = unanswered(method="POST", id=1, started=9.8)
    ended = judge_load(held(document(), pending, acknowledgements=(claim(),)))
    assert [cause.kind for cause in ended.causes] == [CauseKind.NO_ANSWER]


def test_a_page_that_moved_on_with_its_write_under_way_says_nothing() -> None:
    assert ending(aborted(0.05, **ORDER)) is not Ending.BLOCKED


def test_a_charter_that_failed_contradicts_nothing() -> None:
    record = load(exchange(status=503, **ORDER), acknowledgements=(claim(),))
    assert judge_load(record).ending is Ending.BLOCKED
