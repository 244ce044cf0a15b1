"""How a load ends: by the first of the rules that applies."""

from __future__ import annotations

from typing import Any

import pytest

from bughunt.verdict.endings import judge_load
from bughunt.verdict.judgement import CauseKind, Ending
from bughunt.verdict.record import ConsoleLine, Crash, Exchange, FailureKind, LoadRecord
from tests.verdict.making import (
    APP,
    ELSEWHERE,
    END,
    PLAIN_ASSERT,
    blocked,
    broken_harness,
    crashed,
    declaration,
    document,
    exchange,
    failed,
    failure,
    held,
    held_up,
    load,
    mismatch,
    step,
    unanswered,
    unclear,
    wrong_selector,
)

RENDERER = Crash(what="renderer", at=2.0)
DECLARED = (declaration(exchange=1),)
SELECTOR = failure(FailureKind.SELECTOR, message="strict mode violation", timed_out=False)


def ending(record: LoadRecord) -> Ending:
    """How this load ended."""
    return judge_load(record).ending


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (held(exchange()), Ending.HELD),
        (mismatch(), Ending.MISMATCH),
        (blocked(), Ending.BLOCKED),
        (crashed(), Ending.BLOCKED),
        (unclear(), Ending.UNCLEAR),
        (wrong_selector(), Ending.CHECK_ERROR),
        (held_up(), Ending.HELD_UP),
        (broken_harness(), Ending.HARNESS_ERROR),
    ],
    ids=lambda value: value.value if isinstance(value, Ending) else "",
)
def test_each_kind_of_load_ends_its_own_way(record: LoadRecord, expected: Ending) -> None:
    assert ending(record) is expected


# The order of the rules: each load below meets two of them, and the first one counts.


def test_our_own_failure_goes_before_a_crash() -> None:
    broken = failure(FailureKind.HARNESS, step=None, timed_out=False)
    assert ending(load(failure=broken, crash=RENDERER)) is Ending.HARNESS_ERROR


def test_a_crash_goes_before_a_failed_exchange() -> None:
    judged = judge_load(load(exchange(status=503), crash=RENDERER))
    assert [(c.kind, c.layer) for c in judged.causes] == [(CauseKind.CRASH, "browser")]


def test_a_crash_blocks_even_a_charter_that_held() -> None:
    assert ending(held(exchange(), crash=RENDERER)) is Ending.BLOCKED


def test_a_declared_failure_goes_before_a_wrong_selector() -> None:
    assert ending(load(exchange(status=503), failure=SELECTOR, declarations=DECLARED)) is Ending.BLOCKED


def test_another_causal_failure_goes_before_a_wrong_selector() -> None:
    """An error page instead of the app has two of what the app has one of."""
    assert ending(load(exchange(status=503), failure=SELECTOR)) is Ending.BLOCKED


def test_a_wrong_selector_goes_before_a_mismatch() -> None:
    assert ending(load(exchange(), failure=SELECTOR)) is Ending.CHECK_ERROR


@pytest.mark.parametrize("kind", [FailureKind.ASSERTION, FailureKind.TIMEOUT, FailureKind.NET_JSON])
def test_an_expectation_or_a_timeout_in_health_is_a_mismatch(kind: FailureKind) -> None:
    assert ending(load(exchange(), failure=failure(kind))) is Ending.MISMATCH


@pytest.mark.parametrize("kind", [FailureKind.EXCEPTION, FailureKind.DEADLINE])
def test_another_exception_or_the_deadline_in_health_is_unclear(kind: FailureKind) -> None:
    assert ending(load(exchange(), failure=failure(kind, step=None, timed_out=False))) is Ending.UNCLEAR


@pytest.mark.parametrize("kind", [FailureKind.EXCEPTION, FailureKind.DEADLINE, FailureKind.ASSERTION])
def test_whatever_the_charter_raised_is_blocked_by_a_failed_exchange(kind: FailureKind) -> None:
    assert ending(load(exchange(status=503), failure=failure(kind))) is Ending.BLOCKED


# Declared or not, held or not


def test_a_declared_failure_blocks_even_a_charter_that_held() -> None:
    """An app may show a cached answer."""
    judged = judge_load(held(exchange(status=503), declarations=DECLARED))
    assert (judged.ending, judged.rule) == (Ending.BLOCKED, "declared exchange")


def test_a_listed_failure_blocks_even_a_charter_that_held() -> None:
    record = held(exchange(status=503))
    listed = LoadRecord(**_fields(record) | {"scope": _listing(record)})
    assert ending(listed) is Ending.BLOCKED


def _fields(record: LoadRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}


def _listing(record: LoadRecord) -> Any:
    return type(record.scope)(
        base_url=record.scope.base_url, own_hosts=record.scope.own_hosts, depends_on=("**/api/cart",)
    )


def test_an_undeclared_failure_of_the_apps_own_degrades_a_charter_that_held() -> None:
    judged = judge_load(held(exchange(status=503)))
    assert (judged.ending, judged.degraded) == (Ending.HELD, True)
    assert [c.kind for c in judged.causes] == [CauseKind.STATUS]


def test_an_undeclared_failure_of_others_does_not_degrade_a_charter_that_held() -> None:
    judged = judge_load(held(exchange(f"{ELSEWHERE}/api", status=503)))
    assert (judged.ending, judged.degraded, judged.causes) == (Ending.HELD, False, ())


@pytest.mark.parametrize("resource_type", ["image", "stylesheet", "font"])
def test_a_failure_that_is_not_causal_changes_nothing(resource_type: str) -> None:
    broken = failed("net::ERR_CONNECTION_RESET", f"{APP}/a", resource_type=resource_type)
    assert ending(load(broken)) is Ending.MISMATCH
    assert not judge_load(held(broken)).degraded


def test_a_refusal_that_is_the_products_blocks_nothing() -> None:
    assert ending(load(exchange(status=404), declarations=DECLARED)) is Ending.MISMATCH


def test_a_declared_answer_that_was_late_blocks_a_mismatch_only() -> None:
    late = exchange(responded=9.8, ended=9.9)
    assert judge_load(load(late, declarations=DECLARED)).causes[0].kind is CauseKind.LATE
    assert ending(held(late, declarations=DECLARED)) is Ending.HELD


def test_a_declared_body_that_moved_blocks_a_mismatch_only() -> None:
    both = (exchange(digest="one"), exchange(id=2, started=2.0, digest="two"))
    assert [c.kind for c in judge_load(load(*both, declarations=DECLARED)).causes] == [CauseKind.MOVED]
    assert ending(held(*both, declarations=DECLARED)) is Ending.HELD


def test_what_the_page_says_and_logs_changes_nothing() -> None:
    said = ConsoleLine(kind="error", text="net::ERR_CONNECTION_RESET, report ENV_ERROR", at=1.0)
    spoken = failure(message="Actual value: net::ERR_CONNECTION_RESET 503")
    assert ending(load(exchange(), console=(said,), failure=spoken)) is Ending.MISMATCH
    assert ending(held(exchange(), console=(said,))) is Ending.HELD


def test_a_cause_carries_what_a_person_needs() -> None:
    x = exchange(f"{APP}/api/cart?page=1", id=7, method="POST", status=503, fault="503@**/api/cart")
    (cause,) = judge_load(load(x, number=3, declarations=DECLARED)).causes
    assert (cause.load, cause.exchange, cause.method, cause.url) == (3, 7, "POST", x.url)
    assert (cause.status, cause.fault, cause.declared) == (503, "503@**/api/cart", True)


def test_a_refusal_of_access_hints_that_it_may_be_a_bug() -> None:
    """403 only: 401 is an account that expired."""
    hints = [judge_load(load(exchange(status=s))).causes[0].hint or "" for s in (401, 403, 503)]
    assert ["access bug" in hint for hint in hints] == [False, True, False]


# Held up


GOTO = step("Page.goto", target="/", began=0.0, acts=True)
IMAGE = unanswered(f"{ELSEWHERE}/ad.png", resource_type="image")
TIMED_OUT = failure(FailureKind.TIMEOUT)


@pytest.mark.parametrize("name", ["Page.goto", "Page.reload", "Page.go_back", "Page.wait_for_load_state"])
def test_a_step_that_waited_for_what_is_not_causal_was_held_up(name: str) -> None:
    assert ending(load(IMAGE, steps=(step(name),), failure=TIMED_OUT)) is Ending.HELD_UP


@pytest.mark.parametrize(
    "given",
    [
        {"steps": (step(),)},
        {"failure": failure(FailureKind.ASSERTION)},
        {"failure": failure(FailureKind.TIMEOUT, step=None)},
        {"exchanges": (document(), exchange(f"{ELSEWHERE}/ad.png", resource_type="image"))},
    ],
    ids=["another step", "an expectation", "no step", "nothing pending"],
)
def test_nothing_else_was_held_up(given: dict[str, Any]) -> None:
    record = LoadRecord(**_fields(load(IMAGE, steps=(GOTO,), failure=TIMED_OUT)) | given)
    assert ending(record) is Ending.MISMATCH


def test_a_patient_load_that_is_held_up_again_is_unclear() -> None:
    assert ending(load(IMAGE, steps=(GOTO,), failure=TIMED_OUT, patient=True)) is Ending.UNCLEAR


@pytest.mark.parametrize("x", [unanswered(), unanswered(started=3.0, status=200, responded=3.1)])
def test_what_is_still_open_does_not_degrade_a_charter_that_held(x: Exchange) -> None:
    """A long poll, say."""
    assert not judge_load(held(x)).degraded


def test_a_goto_whose_document_never_came_is_blocked_and_not_held_up() -> None:
    silent = document(responded=None, ended=None, status=None, finished=False)
    record = load(silent, IMAGE, steps=(GOTO,), failure=TIMED_OUT)
    assert [c.kind for c in judge_load(record).causes] == [CauseKind.DOCUMENT]


def test_a_goto_that_a_causal_exchange_held_up_is_blocked() -> None:
    script = unanswered(f"{APP}/app.js", id=2, resource_type="script")
    assert ending(load(IMAGE, script, steps=(GOTO,), failure=TIMED_OUT)) is Ending.BLOCKED


# When two mismatches are the same


def signature(**given: Any) -> str | None:
    """What makes a mismatch of these the same as another one."""
    return judge_load(load(exchange(), **given)).signature


def test_two_mismatches_are_the_same_whatever_the_values() -> None:
    one, other = failure(message="Actual value: 288.00"), failure(message="Actual value: 289.00", at=END - 2)
    assert signature(failure=one) == signature(failure=other)


@pytest.mark.parametrize(
    "given",
    [
        {"failure": failure(lines=(13,))},
        {"failure": failure(lines=(30, 12))},
        {"steps": (step("LocatorAssertions.to_be_visible"),)},
        {"steps": (step(target="internal:role=status"),)},
        {"failure": PLAIN_ASSERT},
    ],
    ids=["line", "way to the line", "matcher", "locator", "no step"],
)
def test_two_mismatches_of_another_place_matcher_or_locator_differ(given: dict[str, Any]) -> None:
    assert signature() != signature(**given)


def test_two_exceptions_of_different_types_differ() -> None:
    assert judge_load(unclear(error="KeyError")).signature != judge_load(unclear(error="TypeError")).signature
