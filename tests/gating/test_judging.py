"""Which answers to a drill are right, and what they amount to."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec import structs

from bughunt.gating.judging import (
    confusion,
    false_bugs,
    is_to_be_asked_again,
    judge,
    matrix,
    missed_bugs,
    right_answers,
)
from bughunt.gating.values import Combination, Judged, Mistake
from bughunt.tower import InvestigationView
from bughunt.verdict.judgement import CauseKind, Verdict
from tests.gating.drills import (
    DISTURBED,
    HIDDEN_BY_THE_FAULT,
    KNOWN,
    LASTING,
    ONCE,
    SUBJECT,
    cause,
    drill,
    with_causes,
)
from tests.reports import samples

PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR
RESILIENT = structs.replace(SUBJECT, resilient=True)
HIDDEN = structs.replace(RESILIENT, bug_under=("status=503@**/api/cart",))

RIGHT: dict[str, tuple[Combination, tuple[Verdict, ...]]] = {
    "a one-time fault hides nothing": (drill(once=True), (PASS,)),
    "a lasting fault hides the answer": (drill(), (ENV_ERROR,)),
    "an app may have the patience for a delay": (drill("slow"), (PASS, ENV_ERROR)),
    "a bug is seen once the fault is over": (drill(once=True, subject=KNOWN), (BUG,)),
    "a lasting fault may hide a bug": (drill(subject=KNOWN), (BUG, ENV_ERROR)),
    "a resilient charter holds": (drill(subject=RESILIENT), (PASS,)),
    "a resilient charter may not get as far as its bug": (
        drill(subject=structs.replace(RESILIENT, known_bug=True)),
        (BUG, PASS),
    ),
    "a bug that a fault brings out is seen under it": (drill("503", subject=HIDDEN), (BUG,)),
    "and perhaps under others": (drill("reset", subject=HIDDEN), (BUG, PASS)),
}


@pytest.mark.parametrize(("asked", "right"), RIGHT.values(), ids=RIGHT.keys())
def test_what_is_right(asked: Combination, right: tuple[Verdict, ...]) -> None:
    assert right_answers(asked) == right


HIDDEN_BY_ANOTHER = with_causes(cause(CauseKind.NETWORK, by="503@**/api/other"), cause(CauseKind.DOCUMENT))
PLANNED_TROUBLE = with_causes(cause(CauseKind.NETWORK, by=ONCE))
NO_SECOND_LOOK = with_causes(cause(CauseKind.NETWORK, by=ONCE), cause(CauseKind.STATE_UNKNOWN))
LOST = with_causes(cause(CauseKind.NETWORK, by=ONCE), cause(CauseKind.UNREPRODUCED))
FRESH_SECOND_LOOK = with_causes(cause(CauseKind.NETWORK, by=ONCE), cause(CauseKind.STATE_UNKNOWN), fresh=True)
STILL_MOVING = with_causes(cause(CauseKind.NETWORK, by=ONCE), cause(CauseKind.MOVED))

MISTAKES: dict[str, tuple[Combination, InvestigationView, Mistake | None]] = {
    "a BUG that is none": (drill(), samples.bug(), Mistake.FALSE_BUG),
    "a BUG of a resilient charter that is right": (
        drill(subject=RESILIENT),
        samples.bug(),
        Mistake.FALSE_BUG,
    ),
    "a bug that is missed": (drill(once=True, subject=KNOWN), samples.passed(), Mistake.MISSED_BUG),
    "a bug that is missed under a lasting fault": (
        drill(subject=KNOWN),
        samples.passed(),
        Mistake.MISSED_BUG,
    ),
    "a fault that was not noticed": (drill(), samples.passed(), Mistake.UNNOTICED),
    "a resilient charter that saw no answer": (
        drill(subject=RESILIENT),
        PLANNED_TROUBLE,
        Mistake.UNSETTLED,
    ),
    "a bug that was not seen, though it could be": (
        drill(once=True, subject=KNOWN),
        LOST,
        Mistake.UNSETTLED,
    ),
    "a bug whose second look was not to be trusted": (
        drill(once=True, subject=KNOWN),
        NO_SECOND_LOOK,
        None,
    ),
    "the same where there is no bug": (drill(once=True), NO_SECOND_LOOK, None),
    "the same with fresh data, which could be trusted": (
        drill(once=True, subject=KNOWN),
        FRESH_SECOND_LOOK,
        Mistake.UNSETTLED,
    ),
    "a bug that the page's pace hid": (drill(once=True, subject=KNOWN), STILL_MOVING, Mistake.UNSETTLED),
    "the same after a write that may have arrived": (
        drill(once=True, subject=KNOWN),
        with_causes(cause(CauseKind.LATE), cause(CauseKind.STATE_UNKNOWN)),
        None,
    ),
    "a right answer that the page's pace hid": (drill(once=True), STILL_MOVING, None),
    "a PASS where the lasting fault never fired": (
        drill(),
        samples.passed(plan=(LASTING,), unfired=(LASTING,)),
        None,
    ),
    "an answer that was not seen, though it could be": (
        drill(once=True),
        PLANNED_TROUBLE,
        Mistake.UNSETTLED,
    ),
    "a bug that unplanned trouble hid": (drill(once=True, subject=KNOWN), DISTURBED, None),
    "a right answer": (drill(), HIDDEN_BY_THE_FAULT, None),
    "no verdict": (drill(), samples.view(None, []), None),
    "a claim is an answer too": (drill(), samples.claimed(samples.mismatch()), Mistake.FALSE_BUG),
}


@pytest.mark.parametrize(("asked", "view", "mistake"), MISTAKES.values(), ids=MISTAKES.keys())
def test_what_is_wrong(asked: Combination, view: InvestigationView, mistake: Mistake | None) -> None:
    assert judge(asked, view).mistake is mistake


DISTURBANCES: dict[str, tuple[Combination, InvestigationView, bool]] = {
    "trouble that nobody planned": (drill(once=True), DISTURBED, True),
    "the same for a resilient charter": (drill(subject=RESILIENT), DISTURBED, True),
    "a world that may have changed": (drill(once=True), NO_SECOND_LOOK, False),
    "what did not come again": (drill(once=True), LOST, False),
    "a page that was still moving": (drill(once=True), STILL_MOVING, True),
    "the same where a bug is lost by it": (drill(once=True, subject=KNOWN), STILL_MOVING, False),
    "that, and trouble that nobody planned": (
        drill(once=True, subject=KNOWN),
        with_causes(cause(CauseKind.MOVED), cause(CauseKind.NO_ANSWER)),
        True,
    ),
    "the lasting fault itself, whatever else": (drill(), HIDDEN_BY_THE_FAULT, False),
    "everything but the lasting fault": (drill(), HIDDEN_BY_ANOTHER, True),
    "a PASS in spite of it": (drill(once=True), samples.passed(), False),
}


@pytest.mark.parametrize(("asked", "view", "disturbed"), DISTURBANCES.values(), ids=DISTURBANCES.keys())
def test_what_proves_nothing(asked: Combination, view: InvestigationView, disturbed: bool) -> None:
    assert judge(asked, view).disturbed is disturbed


def test_a_bug_that_the_pages_pace_hid_is_asked_for_once_more() -> None:
    assert is_to_be_asked_again(drill(once=True, subject=KNOWN), STILL_MOVING)
    assert is_to_be_asked_again(drill(once=True), DISTURBED)
    assert not is_to_be_asked_again(drill(once=True, subject=KNOWN), NO_SECOND_LOOK)
    assert not is_to_be_asked_again(drill(once=True), PLANNED_TROUBLE)


def test_only_what_a_write_may_have_changed_is_left_open() -> None:
    others = (FRESH_SECOND_LOOK, DISTURBED, LOST, STILL_MOVING, PLANNED_TROUBLE, samples.passed())
    assert judge(drill(once=True), NO_SECOND_LOOK).left_open
    assert not any(judge(drill(once=True), view).left_open for view in others)
    assert not judge(drill(), NO_SECOND_LOOK).left_open


def answers(*given: tuple[Combination, InvestigationView]) -> list[Judged]:
    return [judge(asked, view) for asked, view in given]


def test_the_confusion_matrix_has_a_row_for_each_truth() -> None:
    judged = answers(
        (drill(), HIDDEN_BY_THE_FAULT),
        (drill("503"), samples.bug()),
        (drill(once=True), samples.passed()),
        (drill(), samples.view(None, [])),
        (drill(once=True), DISTURBED),
    )
    assert confusion(judged) == {
        (PASS,): Counter({PASS: 1, ENV_ERROR: 1}),
        (ENV_ERROR,): Counter({ENV_ERROR: 1, BUG: 1, None: 1}),
    }
    assert false_bugs(judged) == (1, 3), "of those whose answer counts"
    assert missed_bugs(judged) == (0, 0)


def test_a_fault_that_never_fired_counts_as_nothing_else_in_the_matrix() -> None:
    unfired = samples.passed(plan=("reset@**/api/cart",), unfired=("reset@**/api/cart",))
    (cell,) = matrix(answers((drill(once=True), unfired), (drill(once=True), samples.passed())))
    assert (cell.endpoint, cell.fault, cell.often) == ("**/api/cart", "reset", "once")
    assert (cell.passed, cell.never_fired, cell.bug, cell.env) == (1, 1, 0, 0)
