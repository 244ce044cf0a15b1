"""What WebSockets and event streams say."""

from __future__ import annotations

from typing import Any

import pytest

from bughunt.verdict.causality import Causality
from bughunt.verdict.judgement import CauseKind
from bughunt.verdict.record import Exchange, LoadRecord, Socket
from bughunt.verdict.sayings import Testimony
from tests.verdict.making import APP, ELSEWHERE, END, aborted, exchange, failed, held, load, scope, unanswered

LIVE = "ws://shop.test/live"
STREAM = f"{APP}/events"
SILENT, SOCKET = CauseKind.SILENT, CauseKind.SOCKET

DECLARED = {"scope": scope(depends_on=("**/live",))}


def socket(**given: Any) -> Socket:
    """One that is open, and delivered something right after it was opened."""
    usual: dict[str, Any] = {"id": 0, "url": LIVE, "opened_at": 1.0, "received": 1, "last_received": 1.1}
    return Socket(**(usual | given))


def silent(**given: Any) -> Socket:
    return socket(**({"received": 0, "last_received": None} | given))


def says(of: Socket, *exchanges: Exchange, others: tuple[Socket, ...] = (), **given: Any) -> CauseKind | None:
    record: LoadRecord = load(*exchanges, sockets=(of, *others), **given)
    return Testimony(record, Causality(record)).socket_says(of)


@pytest.mark.parametrize("code", [1001, 1006, 1011, 1012, 1013, 1014, 1015, None])
def test_codes_of_what_broke_and_an_unknown_one_are_the_environments(code: int | None) -> None:
    assert says(socket(closed=2.0, code=code)) is SOCKET


@pytest.mark.parametrize("code", [1000, 1003, 1008, 4001])
def test_other_close_codes_say_nothing_unless_it_is_declared(code: int) -> None:
    assert says(socket(closed=2.0, code=code)) is None
    assert says(socket(closed=2.0, code=code), **DECLARED) is SOCKET


def test_one_that_could_not_be_opened_is_the_environments() -> None:
    refused = silent(closed=1.1, failure="net::ERR_CONNECTION_REFUSED")
    assert says(refused) is SOCKET


@pytest.mark.parametrize("how", [{"closed_by_page": True}, {"left": True}])
def test_what_the_page_closed_or_left_says_nothing(how: dict[str, bool]) -> None:
    assert says(silent(closed=2.0, code=1006, **how), **DECLARED) is None


def test_one_that_broke_only_after_the_charter_had_failed_says_nothing() -> None:
    assert says(socket(closed=END + 1, code=1006)) is None


@pytest.mark.parametrize(
    ("again", "said"),
    [
        ({}, None),
        ({"received": 0, "last_received": None}, SOCKET),
        ({"received": 0, "last_received": None, "answered": True}, None),
        ({"received": 0, "last_received": None, "answered": True, "opened_at": END - 0.05}, SOCKET),
        ({"closed": 4.0, "code": 1006}, SOCKET),
        ({"url": "ws://shop.test/other"}, SOCKET),
    ],
)
def test_one_that_was_opened_again_and_delivers_is_well(
    again: dict[str, Any], said: CauseKind | None
) -> None:
    second = socket(**({"id": 1, "opened_at": 3.0, "last_received": 3.1} | again))
    assert says(socket(closed=2.0, code=1006), others=(second,)) is said


def test_a_closed_list_and_ignore_leave_it_out() -> None:
    broken = socket(closed=2.0, code=1006)
    assert says(broken, exchange(), scope=scope(depends_on=("**/api/cart",))) is None
    assert says(broken, scope=scope(ignore=("**/live",))) is None


def test_the_only_source_of_data_that_is_silent_is_missed() -> None:
    assert says(silent()) is SILENT


def test_a_silent_one_beside_another_source_says_nothing_unless_it_is_declared() -> None:
    assert says(silent(), exchange()) is None
    assert says(silent(), others=(socket(id=1, url="ws://shop.test/other"),)) is None
    assert says(silent(), exchange(), **DECLARED) is SILENT


def test_one_that_has_just_been_opened_is_not_silent_yet() -> None:
    assert says(silent(opened_at=END - 0.05)) is None


def test_one_that_has_not_answered_the_pages_last_frame_is_silent() -> None:
    asked = socket(sent=1, last_sent=5.0)
    assert says(asked, **DECLARED) is SILENT
    assert says(socket(sent=1, last_sent=5.0, last_received=5.1), **DECLARED) is None


def test_where_the_charter_held_nothing_was_missed() -> None:
    record = held(exchange(), sockets=(silent(),), **DECLARED)
    assert Testimony(record, Causality(record)).socket_says(record.sockets[0]) is None


# Event streams


def stream(**given: Any) -> Exchange:
    """One that is open, and delivered a message."""
    usual: dict[str, Any] = {
        "resource_type": "eventsource",
        "response_headers": {"content-type": "text/event-stream"},
        "announced": None,
        "ended": None,
        "finished": False,
        "messages": 1,
    }
    return exchange(STREAM, **(usual | given))


STREAM_DECLARED = {"scope": scope(depends_on=("**/events",))}


def stream_says(of: Exchange, *others: Exchange, **given: Any) -> object:
    record = load(of, *others, **given)
    return Testimony(record, Causality(record)).says(of)


def test_a_stream_that_delivers_says_nothing() -> None:
    assert stream_says(stream(), **STREAM_DECLARED) is None


def test_a_stream_that_failed_is_the_environments() -> None:
    cut = stream(failure="net::ERR_CONNECTION_RESET", ended=2.0)
    assert stream_says(cut) is SOCKET


def test_a_stream_that_the_page_closed_says_nothing() -> None:
    closed = aborted(3.0, STREAM, resource_type="eventsource", status=200)
    assert stream_says(closed, **STREAM_DECLARED) is None


def test_a_stream_that_came_to_its_end_says_something_only_where_it_is_declared() -> None:
    over = stream(finished=True, ended=2.0)
    assert stream_says(over) is None
    assert stream_says(over, **STREAM_DECLARED) is SOCKET


def test_a_stream_that_was_opened_again_is_well() -> None:
    cut = stream(failure="net::ERR_CONNECTION_RESET", ended=2.0)
    assert stream_says(cut, stream(id=2, started=4.0, responded=4.1)) is None


def test_a_silent_stream_is_missed_where_it_is_declared_or_the_only_source() -> None:
    quiet = stream(messages=0)
    assert stream_says(quiet) is SILENT
    assert stream_says(quiet, exchange(id=2)) is None
    assert stream_says(quiet, exchange(id=2), **STREAM_DECLARED) is SILENT


def test_a_stream_of_which_nobody_counts_the_messages_is_not_called_silent() -> None:
    assert stream_says(stream(messages=None), **STREAM_DECLARED) is None


def test_a_page_in_place_of_a_stream_is_wrong_content() -> None:
    html = {"content-type": "text/html; charset=utf-8"}
    page = aborted(0.2, STREAM, resource_type="eventsource", status=200, response_headers=html)
    assert stream_says(page) is CauseKind.WRONG_CONTENT


def test_a_stream_that_is_never_answered_is_missed() -> None:
    assert stream_says(unanswered(STREAM, resource_type="eventsource")) is CauseKind.NO_ANSWER


def test_a_third_partys_frame_has_streams_that_do_not_count() -> None:
    foreign = failed("net::ERR_CONNECTION_RESET", resource_type="eventsource", frame_url=f"{ELSEWHERE}/")
    assert not Causality(load(foreign)).causal(foreign)
