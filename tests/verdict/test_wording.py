"""The words: one line each, in which a tester finds the request."""

from __future__ import annotations

from typing import Any

import pytest

from bughunt.verdict.endings import judge_load
from bughunt.verdict.judgement import Cause, CauseKind
from bughunt.verdict.record import Exchange
from bughunt.verdict.wording import cause_reason, causes_sentence, failure_sentence, request_name
from tests.verdict.making import (
    CART,
    aborted,
    document,
    exchange,
    failed,
    failure,
    held,
    load,
    open_body,
    unanswered,
)

#: The kinds that an exchange can have.
OF_EXCHANGES = [k for k in CauseKind if k not in {CauseKind.CRASH, CauseKind.UNREPRODUCED}]

ODD: dict[str, Exchange] = {
    "nothing known": unanswered(),
    "no end": open_body(),
    "failed": failed("net::ERR_CONNECTION_RESET"),
    "a strange failure": failed("unknown failure"),
    "an empty failure": failed(""),
    "a long URL": exchange("http://shop.test/" + "a" * 100_000 + "?" + "b" * 100_000),
    "no URL": exchange(""),
    "a data URL": exchange("data:text/plain,hello"),
    "status 0": exchange(status=0),
    "ended before it began": exchange(started=5.0, ended=1.0),
    "an odd method": exchange(method="PROPFIND"),
}


@pytest.mark.parametrize("kind", OF_EXCHANGES)
@pytest.mark.parametrize("odd", ODD)
def test_a_reason_is_one_line_whatever_the_exchange(kind: CauseKind, odd: str) -> None:
    for record in (load(), held()):
        reason = cause_reason(kind, ODD[odd], record)
        assert reason
        assert len(reason.splitlines()) == 1


@pytest.mark.parametrize("kind", OF_EXCHANGES)
def test_a_reason_names_method_and_path(kind: CauseKind) -> None:
    x = exchange(f"{CART}?secret=1", method="PUT", status=503)
    reason = cause_reason(kind, x, load())
    assert "PUT /api/cart" in reason
    assert "secret" not in reason


def test_a_reason_of_a_very_long_path_stays_readable() -> None:
    reason = cause_reason(CauseKind.STATUS, exchange("http://shop.test/" + "a" * 100_000, status=503), load())
    assert len(reason) < 1000


@pytest.mark.parametrize(
    ("method", "url", "name"),
    [
        ("GET", "http://shop.test/api/cart?page=2#top", "GET /api/cart"),
        ("GET", "http://shop.test", "GET /"),
        ("POST", "http://[::1]:8000/x", "POST /x"),
        ("GET", "blob:http://shop.test/1", "GET blob:http://shop.test/1"),
        ("GET", "**/api/cart", "GET **/api/cart"),
    ],
)
def test_a_request_is_called_by_its_method_and_path(method: str, url: str, name: str) -> None:
    assert request_name(method, url) == name


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        (failed("net::ERR_CONNECTION_RESET"), "network error (net::ERR_CONNECTION_RESET) for GET /api/cart"),
        (unanswered(started=5.0), "no answer from GET /api/cart within 5 s"),
        (
            open_body(started=5.0),
            "the answer of GET /api/cart began and then stalled: its body did not come within 5 s",
        ),
        (exchange(status=503), "the server answered 503 to GET /api/cart"),
        (exchange(status=403), "access was refused (403) for GET /api/cart"),
        (aborted(0.25), "the page gave up waiting for GET /api/cart after 0.2 s"),
        (
            exchange(responded=9.8, ended=9.92),
            "the answer of GET /api/cart came only 80 ms before the step gave up",
        ),
    ],
    ids=["network", "no_answer", "stalled", "status", "access", "gave_up", "late"],
)
def test_a_load_says_what_became_of_the_exchange(x: Exchange, reason: str) -> None:
    assert judge_load(load(x)).causes[0].reason == reason


@pytest.mark.parametrize(
    ("x", "what"),
    [
        (document(status=503), "status 503"),
        (document(status=None, responded=None, ended=None, finished=False), "no answer within 10 s"),
        (document(ended=None, finished=False), "a body that did not come to its end"),
        (
            document(status=None, failure="net::ERR_CONNECTION_REFUSED", finished=False),
            "net::ERR_CONNECTION_REFUSED",
        ),
    ],
    ids=["status", "silence", "stalled", "failure"],
)
def test_a_document_that_could_not_be_had_says_why(x: Exchange, what: str) -> None:
    assert judge_load(load(x)).causes[0].reason == f"the page itself could not be had: {what} for GET /"


def test_a_document_that_was_late_and_whole_is_not_called_unfinished() -> None:
    (cause,) = judge_load(load(document(responded=9.8, ended=9.9))).causes
    assert "did not come to its end" not in cause.reason


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("one", "one (line 12)"),
        ("one\n\n  two\r\nthree\nfour", "one, two, three (line 12)"),
        ("", "AssertionError (line 12)"),
        ("\n \n", "AssertionError (line 12)"),
    ],
)
def test_a_failure_is_told_on_one_line(message: str, told: str) -> None:
    assert failure_sentence(failure(message=message)) == told


def test_a_failure_is_told_by_the_line_that_raised() -> None:
    assert failure_sentence(failure(message="no", lines=(30, 12))) == "no (line 12)"
    assert failure_sentence(failure(message="no", lines=())) == "no"


def test_a_long_failure_is_cut() -> None:
    assert len(failure_sentence(failure(message="x" * 100_000))) < 400


def cause(number: int, **given: Any) -> Cause:
    """A 503 on a load."""
    usual = {"kind": CauseKind.STATUS, "reason": "503", "method": "GET", "url": CART, "status": 503}
    return Cause(load=number, **(usual | given))


@pytest.mark.parametrize(
    ("causes", "sentence"),
    [
        ([], ""),
        ([cause(1)], "503, on load 1"),
        ([cause(2)], "503, on load 2"),
        ([cause(1), cause(2)], "503, on both loads"),
        ([cause(2), cause(3)], "503, on loads 2 and 3"),
        ([cause(1), cause(2), cause(4)], "503, on loads 1, 2 and 4"),
        ([cause(1), cause(1)], "503, on load 1"),
        ([cause(1), cause(2, reason="reset", status=None)], "503, on load 1; reset, on load 2"),
    ],
)
def test_the_same_cause_on_several_loads_is_named_once(causes: list[Cause], sentence: str) -> None:
    assert causes_sentence(causes) == sentence
