"""From loads to a verdict: the table, row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from bughunt.verdict.judgement import CauseKind, Judgement, Level, Reason, State, Verdict
from bughunt.verdict.record import FailureKind, LoadRecord
from bughunt.verdict.rules import MAX_LOADS, RULES_VERSION, LoadAgain, claim, decide
from tests.verdict.making import (
    blocked,
    broken_harness,
    crashed,
    declaration,
    exchange,
    failure,
    held,
    held_up,
    load,
    mismatch,
    unclear,
    wrong_selector,
)

#: One letter for each kind of load.
KINDS: dict[str, Callable[[int], LoadRecord]] = {
    "H": lambda number: held(exchange(), number=number),
    "M": mismatch,
    "N": lambda number: mismatch(number, line=40),  # another mismatch
    "B": blocked,
    "X": crashed,
    "U": unclear,
    "V": lambda number: unclear(number, error="TypeError"),  # another exception
    "C": wrong_selector,
    "W": held_up,
    "E": broken_harness,
}


def loads(letters: str) -> list[LoadRecord]:
    """Loads of these kinds, numbered from 1."""
    return [KINDS[letter](number) for number, letter in enumerate(letters, start=1)]


def judged(letters: str) -> Judgement:
    """The judgement on these loads; each beginning of them must ask for another load."""
    for count in range(1, len(letters)):
        assert isinstance(decide(loads(letters[:count])), LoadAgain), f"no verdict before {letters[:count]}"
    decision = decide(loads(letters))
    assert isinstance(decision, Judgement), f"{letters}: {decision}"
    return decision


def test_without_a_load_there_is_nothing_to_decide() -> None:
    with pytest.raises(ValueError, match="before the first load"):
        decide([])


def test_a_first_load_that_held_is_a_pass() -> None:
    judgement = judged("H")
    assert (judgement.state, judgement.verdict, judgement.level) == (State.DONE, Verdict.PASS, Level.E4)
    assert (judgement.loads, judgement.confirmations, judgement.recovered) == (1, 0, False)
    assert judgement.rules_version == RULES_VERSION


@pytest.mark.parametrize(
    ("letters", "counts", "intermittent"),
    [
        ("MM", (1, 1), False),
        ("BMM", (2, 1), False),
        ("MBM", (1, 2), False),
        ("UMM", (2, 1), False),
        ("MHM", (1, 2), True),
        ("MBBM", (1, 3), False),
        ("MHHHM", (1, 4), True),
        ("MNM", (1, 2), False),
        ("NMBM", (2, 2), False),
        ("MWM", (1, 1), False),
        ("XMM", (2, 1), False),
    ],
)
def test_the_same_mismatch_twice_is_a_bug(letters: str, counts: tuple[int, int], intermittent: bool) -> None:
    judgement = judged(letters)
    assert (judgement.state, judgement.verdict, judgement.level) == (State.DONE, Verdict.BUG, Level.E5)
    assert (judgement.loads, judgement.confirmations) == counts
    assert judgement.intermittent is intermittent


@pytest.mark.parametrize("letters", ["BH", "XH", "UH", "BUH", "BWH", "UVH"])
def test_a_load_that_held_after_blocked_ones_is_a_pass_that_recovered(letters: str) -> None:
    judgement = judged(letters)
    assert (judgement.state, judgement.verdict, judgement.recovered) == (State.DONE, Verdict.PASS, True)


def test_a_pass_that_recovered_keeps_the_causes_of_before() -> None:
    assert [(c.kind, c.load) for c in judged("BH").causes] == [(CauseKind.STATUS, 1)]


@pytest.mark.parametrize("letters", ["BB", "BX", "XX", "BUB", "UBB", "BWB"])
def test_two_blocked_loads_without_a_mismatch_are_an_env_error(letters: str) -> None:
    judgement = judged(letters)
    assert (judgement.state, judgement.reason) == (State.FAILED, Reason.ENV_ERROR)
    assert (judgement.verdict, judgement.rule) == (Verdict.ENV_ERROR, "blocked twice")


def test_an_env_error_carries_the_causes_of_every_load() -> None:
    assert [(c.kind, c.load) for c in judged("BX").causes] == [(CauseKind.STATUS, 1), (CauseKind.CRASH, 2)]


@pytest.mark.parametrize("letters", ["MHHHH", "MBBBB", "BMBBB", "MHBUH", "MNHHH", "MUVHB"])
def test_a_mismatch_that_did_not_come_again_in_five_loads_is_unreproduced(letters: str) -> None:
    judgement = judged(letters)
    assert (judgement.verdict, judgement.rule) == (Verdict.ENV_ERROR, "unreproduced")
    assert judgement.loads == MAX_LOADS


def test_an_unreproduced_mismatch_carries_the_causes_of_blocked_loads_too() -> None:
    causes = judged("BMHHH").causes
    assert [(c.kind, c.load, c.layer) for c in causes] == [
        (CauseKind.STATUS, 1, "network"),
        (CauseKind.UNREPRODUCED, 2, "product"),
    ]


def test_each_of_two_lone_mismatches_is_named_as_unreproduced() -> None:
    causes = judged("MNHHH").causes
    assert [(c.kind, c.load) for c in causes] == [(CauseKind.UNREPRODUCED, 1), (CauseKind.UNREPRODUCED, 2)]


@pytest.mark.parametrize("letters", ["C", "BC", "MC", "UC", "WC"])
def test_a_check_error_is_no_verdict(letters: str) -> None:
    judgement = judged(letters)
    assert (judgement.state, judgement.reason) == (State.FAILED, Reason.CHECK_ERROR)
    assert judgement.verdict is None


@pytest.mark.parametrize("letters", ["UU", "BUU", "UVU", "MUU"])
def test_the_same_exception_twice_in_health_is_a_check_error(letters: str) -> None:
    judgement = judged(letters)
    assert (judgement.verdict, judgement.reason) == (None, Reason.CHECK_ERROR)


def test_the_deadline_twice_in_health_is_a_check_error() -> None:
    deadline = failure(FailureKind.DEADLINE, type="Deadline", step=None, timed_out=False)
    decision = decide([load(exchange(), number=n, failure=deadline) for n in (1, 2)])
    assert isinstance(decision, Judgement)
    assert decision.reason is Reason.CHECK_ERROR


@pytest.mark.parametrize("letters", ["E", "ME", "BE", "UE"])
def test_our_own_failure_is_no_verdict(letters: str) -> None:
    judgement = judged(letters)
    assert (judgement.verdict, judgement.reason) == (None, Reason.HARNESS_ERROR)


def test_five_loads_of_which_no_two_are_alike_are_no_env_error() -> None:
    """ENV_ERROR is never the "else" branch."""
    different = [unclear(n, error=f"Error{n}") for n in range(1, 5)]
    decision = decide([blocked(5), *different])
    assert isinstance(decision, Judgement)
    assert (decision.verdict, decision.reason) == (None, Reason.CHECK_ERROR)


def test_a_load_that_was_held_up_does_not_count_and_is_told_of() -> None:
    judgement = judged("WH")
    assert (judgement.verdict, judgement.loads, judgement.recovered) == (Verdict.PASS, 1, False)
    assert "Load 1 was not counted" in judgement.sentence
    assert len(judgement.endings) == 2


@pytest.mark.parametrize(("letters", "patient"), [("W", True), ("WB", True), ("B", False), ("M", False)])
def test_loads_after_one_that_was_held_up_are_patient(letters: str, patient: bool) -> None:
    again = decide(loads(letters))
    assert isinstance(again, LoadAgain)
    assert again.patient is patient


def test_a_degraded_load_that_held_is_a_degraded_pass() -> None:
    decision = decide([held(exchange(status=503))])
    assert isinstance(decision, Judgement)
    assert (decision.verdict, decision.degraded) == (Verdict.PASS, True)
    assert "Degraded" in decision.sentence


def test_a_declared_failure_under_a_charter_that_held_is_an_env_error() -> None:
    """R29: the app silently shows the last known total."""
    cached = [held(exchange(status=503), number=n, declarations=(declaration(),)) for n in (1, 2)]
    decision = decide(cached)
    assert isinstance(decision, Judgement)
    assert decision.verdict is Verdict.ENV_ERROR


def test_fewer_loads_may_be_allowed() -> None:
    decision = decide(loads("MHH"), max_loads=3)
    assert isinstance(decision, Judgement)
    assert decision.rule == "unreproduced"


# Retry-After


def asked_for(*values: str, name: str = "retry-after") -> float:
    """How long the next load is to wait where failed answers said this."""
    answers = (
        exchange(f"http://shop.test/api/{n}", id=n + 1, status=503, response_headers={name: value})
        for n, value in enumerate(values)
    )
    again = decide([load(*answers)])
    assert isinstance(again, LoadAgain)
    return again.retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), (" 7 ", 7.0), ("30", 30.0), ("31", 30.0), ("9" * 400, 30.0), ("0", 0.0)],
)
def test_a_retry_after_in_seconds_is_obeyed_up_to_30(value: str, seconds: float) -> None:
    assert asked_for(value) == seconds


@pytest.mark.parametrize(
    "value",
    ["", "soon", "-5", "1.5", "²", "Wed, 99 Foo 2026 07:28:00 GMT", f"Mon, 01 Jan {'9' * 20} 07:28:00 GMT"],
)
def test_a_retry_after_that_is_neither_a_number_nor_a_date_asks_for_nothing(value: str) -> None:
    assert asked_for(value) == 0.0


@pytest.mark.parametrize(
    ("until", "seconds"),
    [("00:00:12", 12.0), ("00:05:00", 30.0), ("00:00:00", 0.0)],
)
def test_a_retry_after_that_is_a_date_counts_from_the_load(until: str, seconds: float) -> None:
    assert asked_for(f"Thu, 01 Jan 2026 {until} GMT") == seconds


def test_a_retry_after_that_is_a_date_counts_from_the_answers_own_date() -> None:
    headers = {"Retry-After": "Thu, 01 Jan 2026 10:00:07 GMT", "Date": "Thu, 01 Jan 2026 10:00:00 GMT"}
    again = decide([blocked(response_headers=headers)])
    assert isinstance(again, LoadAgain)
    assert again.retry_after == 7.0


@pytest.mark.parametrize("date", ["yesterday", "", "Thu, 01 Jan 2026 10:00:00 GMT"])
def test_a_retry_after_beside_any_date_is_decided(date: str) -> None:
    headers = {"retry-after": "Thu, 01 Jan 2026 09:00:00 GMT", "date": date}
    again = decide([blocked(response_headers=headers)])
    assert isinstance(again, LoadAgain)
    assert again.retry_after == 0.0


def test_the_longest_retry_after_counts() -> None:
    assert asked_for("3", "12", "5") == 12.0


def test_a_retry_after_is_found_whatever_its_letters() -> None:
    assert asked_for("4", name="Retry-After") == 4.0


def test_a_retry_after_of_a_good_answer_asks_for_nothing() -> None:
    again = decide([load(exchange(response_headers={"retry-after": "9"}))])
    assert isinstance(again, LoadAgain)
    assert again.retry_after == 0.0


# The naive agent's claim


@pytest.mark.parametrize(
    ("record", "verdict"),
    [
        (held(exchange()), Verdict.PASS),
        (mismatch(), Verdict.BUG),
        (blocked(), Verdict.BUG),
        (crashed(), Verdict.BUG),
        (wrong_selector(), Verdict.BUG),
        (load(failure=failure(message="")), Verdict.BUG),
    ],
    ids=["held", "mismatch", "blocked", "crashed", "selector", "no message"],
)
def test_a_claim_calls_whatever_failed_a_bug_and_is_never_done(record: LoadRecord, verdict: Verdict) -> None:
    claimed = claim(record)
    assert (claimed.state, claimed.reason) == (State.FAILED, Reason.UNVERIFIED)
    assert (claimed.verdict, claimed.loads) == (verdict, 1)


def test_a_claim_on_a_load_that_we_broke_is_none() -> None:
    assert (claim(broken_harness()).verdict, claim(broken_harness()).reason) == (None, Reason.HARNESS_ERROR)


def test_the_same_loads_get_the_same_judgement() -> None:
    given: Sequence[LoadRecord] = loads("BMM")
    assert decide(given) == decide(given)
