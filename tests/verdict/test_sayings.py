"""What a causal exchange says: the environment, the product, or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from bughunt.verdict.causality import Causality
from bughunt.verdict.endings import judge_load
from bughunt.verdict.judgement import CauseKind, Ending
from bughunt.verdict.record import UNKNOWN_FAILURE, FailureKind, FaultEffect
from bughunt.verdict.sayings import PRODUCT, Testimony
from tests.verdict.making import (
    APP,
    CART,
    END,
    PLAIN_ASSERT,
    aborted,
    declaration,
    document,
    exchange,
    failed,
    failure,
    load,
    open_body,
    says,
    step,
    unanswered,
)

A_WHILE = 1e-3


def test_a_good_answer_says_nothing() -> None:
    assert says(exchange()) is None


# network


@pytest.mark.parametrize(
    "error",
    [
        *("net::ERR_CONNECTION_RESET", "net::ERR_EMPTY_RESPONSE", "net::ERR_NAME_NOT_RESOLVED"),
        *("net::ERR_CONTENT_DECODING_FAILED", "net::ERR_TOO_MANY_REDIRECTS", "net::ERR_FAILED"),
    ],
)
def test_a_network_error_is_the_environments(error: str) -> None:
    assert says(failed(error)) is CauseKind.NETWORK


@pytest.mark.parametrize(
    "error", ["net::ERR_CONTENT_LENGTH_MISMATCH", "net::ERR_INCOMPLETE_CHUNKED_ENCODING"]
)
def test_a_body_cut_short_is_a_network_error_in_spite_of_its_status(error: str) -> None:
    assert says(exchange(failure=error, finished=False)) is CauseKind.NETWORK


def test_the_browsers_own_refusal_is_the_products() -> None:
    assert says(failed("csp")) is PRODUCT


BARE = {"response_headers": {}, "announced": None, "received": 0}


def test_a_200_without_a_byte_that_announced_no_length_is_a_network_error() -> None:
    """Headers cut in the middle look so: no error anywhere."""
    assert says(exchange(**BARE)) is CauseKind.NETWORK


@pytest.mark.parametrize(
    "given",
    [
        BARE | {"response_headers": {"Content-Length": "0"}, "announced": 0},
        BARE | {"response_headers": {"Transfer-Encoding": "chunked"}},
        BARE | {"status": 204},
        BARE | {"method": "HEAD"},
        BARE | {"protocol": "h2"},
        BARE | {"protocol": None, "url": "https://shop.test/api/cart"},
        BARE | {"received": None},
    ],
    ids=["length 0", "chunked", "204", "HEAD", "h2", "unknown protocol", "unknown bytes"],
)
def test_an_empty_answer_that_may_well_be_meant_says_nothing(given: dict[str, Any]) -> None:
    assert says(exchange(**given)) is None


def test_a_workers_script_that_was_reset_looks_aborted_and_is_a_network_error() -> None:
    assert says(aborted(0.01, f"{APP}/worker.js", resource_type="script")) is CauseKind.NETWORK


def test_a_script_that_was_dropped_after_its_answer_says_nothing() -> None:
    assert says(aborted(0.5, f"{APP}/app.js", resource_type="script", status=200, responded=1.1)) is None


# no answer


@pytest.mark.parametrize(
    ("age", "said"), [(1.0, CauseKind.NO_ANSWER), (1.0 + A_WHILE, CauseKind.NO_ANSWER), (1.0 - A_WHILE, None)]
)
def test_silence_speaks_from_one_second_after_the_request_where_the_charter_held(
    age: float, said: CauseKind | None
) -> None:
    assert says(unanswered(started=END - age), failure=None) is said


def test_headers_that_came_after_the_step_gave_up_are_no_answer() -> None:
    assert says(exchange(responded=END + 0.05, ended=END + 0.1)) is CauseKind.NO_ANSWER


@pytest.mark.parametrize("status", [404, 400])
def test_a_refusal_that_came_after_the_step_gave_up_is_no_answer(status: int) -> None:
    """An exchange is judged as it stood when the charter failed."""
    late = exchange(status=status, responded=END + 0.05, ended=END + 0.1)
    assert says(late) is CauseKind.NO_ANSWER


def test_an_error_that_came_after_the_charter_had_returned_says_nothing() -> None:
    """Asked half a second before the end: at the end it was well on its way."""
    late = failed("net::ERR_CONNECTION_RESET", started=END - 0.5, ended=END + 0.05)
    assert says(late, failure=None) is None


def test_an_earlier_good_answer_does_not_excuse_silence() -> None:
    assert says(unanswered(id=2, started=3.0), exchange()) is CauseKind.NO_ANSWER


def test_an_event_stream_that_never_opened_is_no_answer() -> None:
    assert says(unanswered(resource_type="eventsource")) is CauseKind.NO_ANSWER


@pytest.mark.parametrize("age", [1.0, 5.0])
def test_silence_of_a_second_and_more_explains_a_failure(age: float) -> None:
    assert says(unanswered(started=END - age)) is CauseKind.NO_ANSWER


def test_an_answered_polls_next_round_explains_no_failure_before_a_second_is_over() -> None:
    assert says(unanswered(id=2, started=END - 0.9), exchange()) is None


# stalled


@pytest.mark.parametrize(("age", "said"), [(1.0, CauseKind.STALLED), (1.0 - A_WHILE, None)])
def test_an_open_body_speaks_from_one_second_after_the_request_where_the_charter_held(
    age: float, said: CauseKind | None
) -> None:
    assert says(open_body(started=END - age, responded=END - age + 0.1), failure=None) is said


def test_a_body_that_ended_after_the_step_gave_up_was_open() -> None:
    assert says(exchange(ended=END + 0.05, received=3)) is CauseKind.STALLED


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"announced": 20, "received": 19}, CauseKind.STALLED),
        ({"announced": 20, "received": 20}, None),
        ({"announced": 20, "received": None}, None),
        ({"announced": None, "received": 5}, CauseKind.STALLED),
        ({"announced": None, "received": None, "method": "POST"}, None),
        ({"announced": None, "received": None, "method": "POST", "resource_type": "xhr"}, CauseKind.STALLED),
        ({"method": "HEAD"}, None),
        ({"status": 204}, None),
        ({"status": 304}, None),
    ],
)
def test_an_open_body_is_missed_where_bytes_are(given: dict[str, Any], said: CauseKind | None) -> None:
    """A fetch whose body the app never reads looks open for ever, and is healthy."""
    assert says(open_body(**given)) is said


def test_an_open_body_is_missed_where_the_charter_waits_for_it() -> None:
    write = open_body(method="POST", announced=None, received=None)
    assert says(write, declarations=(declaration(method="POST"),)) is CauseKind.STALLED


def test_an_open_script_is_missed() -> None:
    script = open_body(f"{APP}/app.js", resource_type="script", announced=20, received=20)
    assert says(script) is CauseKind.STALLED


@pytest.mark.parametrize(
    "content_type",
    ["text/event-stream", "Application/X-NDJSON", "multipart/mixed; boundary=x", "application/grpc-web"],
)
def test_a_stream_that_is_open_is_how_it_should_be(content_type: str) -> None:
    headers = {"Content-Type": content_type}
    assert says(open_body(response_headers=headers, announced=None, received=9)) is None


def test_an_event_source_that_is_open_is_how_it_should_be() -> None:
    assert says(open_body(resource_type="eventsource", announced=None)) is None


# status and access


@pytest.mark.parametrize("status", [500, 502, 503, 504, 599, 408, 425, 429])
def test_a_status_of_the_servers_trouble_is_the_environments(status: int) -> None:
    assert says(exchange(status=status)) is CauseKind.STATUS


@pytest.mark.parametrize("status", [401, 403, 407])
def test_a_status_of_access_is_the_environments(status: int) -> None:
    assert says(exchange(status=status)) is CauseKind.ACCESS


@pytest.mark.parametrize("status", [400, 402, 404, 405, 409, 410, 422, 451])
def test_any_other_refusal_is_the_products(status: int) -> None:
    assert says(exchange(status=status)) is PRODUCT


@pytest.mark.parametrize("status", [201, 204, 206, 302, 304])
def test_any_other_status_says_nothing(status: int) -> None:
    assert says(exchange(status=status)) is None


def test_a_script_that_was_answered_503_and_then_aborted_says_its_status() -> None:
    script = aborted(0.2, f"{APP}/app.js", resource_type="script", status=503, responded=1.1)
    assert says(script) is CauseKind.STATUS


def test_a_status_speaks_though_its_body_never_came() -> None:
    assert says(open_body(status=503)) is CauseKind.STATUS


# gave up


@pytest.mark.parametrize("resource_type", ["fetch", "xhr"])
@pytest.mark.parametrize(
    ("age", "said"), [(0.1 + A_WHILE, CauseKind.GAVE_UP), (0.1 - A_WHILE, PRODUCT), (5.0, CauseKind.GAVE_UP)]
)
def test_a_page_that_drops_its_request_had_waited_from_100_ms_on(
    resource_type: str, age: float, said: object
) -> None:
    assert says(aborted(age, resource_type=resource_type)) is said


def test_a_page_that_gave_up_after_the_headers_had_waited_too() -> None:
    assert says(aborted(1.0, status=200, responded=1.1)) is CauseKind.GAVE_UP


def test_a_request_that_a_healthy_one_superseded_was_not_given_up() -> None:
    assert says(aborted(0.5), exchange(id=2, started=1.4)) is None


def test_a_request_that_an_earlier_one_had_answered_was_given_up() -> None:
    assert says(aborted(0.5, id=2, started=3.0), exchange()) is CauseKind.GAVE_UP


def test_a_request_that_one_of_another_operation_followed_was_given_up() -> None:
    query = aborted(0.5, method="POST", operation="Cart")
    other = exchange(id=2, started=2.0, method="POST", operation="Rates")
    assert says(query, other) is CauseKind.GAVE_UP


@pytest.mark.parametrize(("after", "said"), [(0.29, None), (0.31, CauseKind.GAVE_UP)])
def test_a_request_that_was_dropped_as_the_charter_moved_on_says_nothing(
    after: float, said: CauseKind | None
) -> None:
    """Within 0.3 s of a navigation that a step of the charter's caused."""
    x = aborted(0.5)
    next_page = document(f"{APP}/next", id=2, started=1.5 + after, navigation_of=1)
    click = step("Locator.click", index=1, began=1.4, ended=1.5 + after, acts=True)
    assert says(x, document(), next_page, steps=(step(), click)) is said


def test_a_navigation_of_the_pages_own_does_not_excuse_giving_up() -> None:
    own = document(f"{APP}/next", id=2, started=1.6, navigation_of=None)
    assert says(aborted(0.5), document(), own) is CauseKind.GAVE_UP


def test_the_navigation_that_brought_the_page_does_not_excuse_its_giving_up() -> None:
    """The page of this very document asked, and its own short timeout dropped the request."""
    assert says(aborted(0.2, started=0.05), document()) is CauseKind.GAVE_UP


def test_a_request_that_a_navigation_dropped_at_once_is_nobodys_fault() -> None:
    own = document(f"{APP}/next", id=2, started=1.1, navigation_of=None)
    assert says(aborted(0.05), document(), own) is None


@pytest.mark.parametrize("given", [{"main_document": True}, {"frame_document": True}])
def test_a_document_that_was_dropped_says_nothing(given: dict[str, bool]) -> None:
    """A single-page app's navigation on top of a `goto` looks so."""
    assert says(aborted(0.5, f"{APP}/", resource_type="document", **given), document()) is None


@pytest.mark.parametrize(("given", "said"), [({"failure": None}, None), ({}, CauseKind.GAVE_UP)])
def test_a_request_that_was_dropped_right_after_an_action_says_nothing_where_the_charter_held(
    given: dict[str, Any], said: CauseKind | None
) -> None:
    """A click leaves a view; a page that gives up on a slow network may do so at any moment."""
    click = step("Locator.click", began=1.3, ended=1.4, acts=True)
    assert says(aborted(0.5), steps=(click,), **given) is said


@pytest.mark.parametrize("poll", [unanswered(id=2, started=3.0), open_body(id=2, started=3.0)])
def test_a_poll_under_way_when_the_charter_had_seen_enough_says_nothing(poll: Any) -> None:
    assert says(poll, exchange(), failure=None) is None


@pytest.mark.parametrize("error", ["net::ERR_UNSAFE_PORT", "net::ERR_UNKNOWN_URL_SCHEME"])
def test_a_url_that_no_browser_asks_is_the_products(error: str) -> None:
    assert says(failed(error)) is PRODUCT


@pytest.mark.parametrize("resource_type", ["image", "eventsource"])
def test_only_fetches_are_given_up(resource_type: str) -> None:
    assert says(aborted(5.0, resource_type=resource_type)) is None


def test_a_stream_that_delivered_and_was_then_cancelled_says_nothing() -> None:
    stream = aborted(
        5.0, status=200, responded=1.1, received=7, response_headers={"content-type": "text/event-stream"}
    )
    assert says(stream) is None


def test_a_stream_that_delivered_nothing_was_given_up() -> None:
    stream = aborted(
        5.0, status=200, responded=1.1, received=0, response_headers={"content-type": "text/event-stream"}
    )
    assert says(stream) is CauseKind.GAVE_UP


# late: the failing step waits from 5 s to 10 s


@pytest.mark.parametrize(
    ("ended", "said"),
    [(END - 1.0, None), (END - 1.0 + A_WHILE, CauseKind.LATE), (END, CauseKind.LATE)],
)
def test_an_answer_is_late_less_than_a_second_before_the_step_gave_up(
    ended: float, said: CauseKind | None
) -> None:
    assert says(exchange(responded=8.0, ended=ended)) is said


@pytest.mark.parametrize(("ended", "said"), [(9.8, CauseKind.LATE), (9.8 - A_WHILE, None)])
def test_an_answer_is_late_in_the_second_half_of_the_steps_time_only(
    ended: float, said: CauseKind | None
) -> None:
    """The step waits for 0.4 s here."""
    assert says(exchange(responded=8.0, ended=ended), steps=(step(began=9.6),)) is said


LATE = {"responded": 9.8, "ended": 9.9}


@pytest.mark.parametrize(
    "given",
    [
        {"failure": PLAIN_ASSERT},
        {"failure": failure(FailureKind.EXCEPTION, timed_out=False)},
        {"steps": (step("Locator.count", waits=False),)},
        {"failure": None},
    ],
    ids=["plain assert", "another exception", "a step that does not wait", "held"],
)
def test_no_answer_is_late_for_what_does_not_wait(given: dict[str, Any]) -> None:
    assert says(exchange(**LATE), **given) is None


def test_a_quick_answer_is_late_only_where_it_stands_in_for_one_that_failed() -> None:
    quick = {"id": 2, "started": 9.86, "responded": 9.88, "ended": 9.9}
    assert says(exchange(**quick)) is None
    assert says(exchange(**quick), exchange(id=1, status=503)) is CauseKind.LATE


def test_a_retry_whose_answer_is_not_whole_yet_heals_nothing() -> None:
    headers_only = open_body(id=2, started=9.9, responded=9.97)
    assert says(exchange(id=1, status=503), headers_only) is CauseKind.STATUS


def test_a_page_that_is_closed_excuses_what_it_left_unless_the_charter_had_failed_before() -> None:
    assert says(unanswered(page_closed=True, page_closed_at=END - 0.1)) is None
    assert says(unanswered(page_closed=True, page_closed_at=END + 0.1)) is CauseKind.NO_ANSWER


def test_a_failure_without_a_name_is_no_refusal_of_the_browsers_own() -> None:
    assert says(failed("csp")) is PRODUCT
    assert says(failed(UNKNOWN_FAILURE)) is CauseKind.NETWORK


def test_a_declared_stream_of_which_nothing_comes_is_missed() -> None:
    stream = open_body(response_headers={"content-type": "text/event-stream"}, received=0)
    assert says(stream, declarations=(declaration(),)) is CauseKind.STALLED
    assert says(stream) is None


def test_no_answer_is_late_where_an_earlier_one_was_well() -> None:
    assert says(exchange(id=2, started=9.5, **LATE), exchange(id=1)) is None


@pytest.mark.parametrize(
    "earlier",
    [exchange(status=503), exchange(CART, method="POST"), exchange(f"{APP}/api/rates")],
    ids=["failed", "another method", "another path"],
)
def test_an_answer_is_late_where_no_earlier_one_to_the_same_was_well(earlier: Any) -> None:
    assert says(exchange(id=2, started=9.5, **LATE), earlier) is CauseKind.LATE


# moved


def moved(*exchanges: Any, declared: Any = None, **given: Any) -> int | None:
    """The id of the exchange by which the declared body moved, if one did."""
    declared = declared or declaration(exchange=1)
    record = load(*exchanges, declarations=(declared,), **given)
    found = Testimony(record, Causality(record)).moved(declared)
    return None if found is None else found.id


READ = exchange(digest="one")


def test_a_declared_body_that_changed_after_it_was_read_has_moved() -> None:
    assert moved(READ, exchange(id=2, started=2.0, ended=2.2, digest="two")) == 2


@pytest.mark.parametrize(
    "given",
    [
        {"digest": "one"},
        {"digest": None},
        {"digest": "two", "url": f"{APP}/api/rates"},
        {"digest": "two", "method": "POST"},
        {"digest": "two", "ended": END + 0.05},
        {"digest": "two", "finished": False, "ended": None},
        {"digest": "two", "started": 0.5},
    ],
    ids=["the same", "unread", "another path", "another method", "after the end", "unfinished", "before it"],
)
def test_a_declared_body_has_not_moved_by_anything_else(given: dict[str, Any]) -> None:
    assert moved(READ, exchange(**({"url": CART, "id": 2, "started": 2.0} | given))) is None


@pytest.mark.parametrize("declared", [declaration(), declaration(exchange=99), declaration(exchange=1)])
def test_a_declaration_that_was_given_no_body_has_not_moved(declared: Any) -> None:
    changed = exchange(id=2, started=2.0, digest="two")
    assert moved(exchange(digest=None), changed, declared=declared) is None


# healed, and our own faults


@pytest.mark.parametrize(
    "broken",
    [
        failed("net::ERR_CONNECTION_RESET"),
        exchange(status=503),
        exchange(status=401),
        unanswered(),
        open_body(),
    ],
    ids=["network", "status", "access", "no answer", "stalled"],
)
def test_what_failed_says_nothing_once_the_same_request_succeeded(broken: Any) -> None:
    assert says(broken, exchange(f"{CART}?t=2", id=2, started=2.0)) is None


@pytest.mark.parametrize(
    "other",
    [
        exchange(id=2, started=2.0, status=503),
        exchange(id=2, started=2.0, failure="net::ERR_CONNECTION_RESET", finished=False),
        exchange(id=2, started=9.9, responded=END + 0.01, ended=END + 0.02),
        open_body(id=2, started=2.0),
        exchange(id=2, started=2.0, fault_effect=FaultEffect.ANSWER),
        exchange(id=2, started=2.0, method="HEAD"),
        exchange(id=0, started=0.5, main_document=False),
    ],
    ids=["failed too", "cut", "came too late", "stalled", "spoilt by us", "another method", "came before"],
)
def test_what_failed_still_speaks_where_no_later_answer_was_well(other: Any) -> None:
    assert says(exchange(status=503), other) is CauseKind.STATUS


def test_a_later_answer_whose_body_nobody_reads_heals_as_well() -> None:
    unread = open_body(id=2, started=2.0, method="POST", announced=None, received=None)
    assert says(exchange(status=503, method="POST"), unread) is None


@pytest.mark.parametrize(
    ("asked", "said"),
    [(7.09, CauseKind.STATUS), (7.11, None)],
    ids=["before the refusal was known", "after it"],
)
def test_the_browsers_clock_says_which_came_first_however_late_the_events(asked: float, said: Any) -> None:
    refused = exchange(status=503, started=1.0, responded=1.001, ended=1.002, asked_mark=7.0, known_mark=7.1)
    twin = exchange(id=2, started=1.0009, asked_mark=asked, known_mark=7.3)
    assert says(refused, twin) is said


def test_without_that_clock_a_twin_that_was_told_first_heals_nothing() -> None:
    refused = exchange(status=503, started=1.0, responded=1.001, ended=1.002)
    assert says(refused, exchange(id=2, started=1.0009)) is CauseKind.STATUS


BY_ANSWER, BY_ABORT = {"fault_effect": FaultEffect.ANSWER}, {"fault_effect": FaultEffect.ABORT}
BY_WAIT = {"fault_effect": FaultEffect.WAIT, "fault": "timeout@**/api/cart"}


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (exchange(status=404, **BY_ANSWER), CauseKind.STATUS),
        (exchange(status=403, **BY_ANSWER), CauseKind.STATUS),
        (exchange(**BY_ANSWER), CauseKind.MALFORMED),
        (aborted(0.01, **BY_ABORT), CauseKind.NETWORK),
        (failed("net::ERR_FAILED", ended=5.0, **BY_ABORT), CauseKind.NETWORK),
        (aborted(0.01, **BY_WAIT), CauseKind.GAVE_UP),
        (unanswered(**BY_WAIT), CauseKind.NO_ANSWER),
        (unanswered(started=END - 0.1, **BY_WAIT), CauseKind.NO_ANSWER),
    ],
    ids=[
        *("status", "access", "spoilt", "dropped at once", "failed later"),
        *("held back and given up", "held back", "held back for a short while"),
    ],
)
def test_what_we_broke_ourselves_is_never_the_products(x: Any, said: CauseKind) -> None:
    assert says(x) is said


def test_a_delay_of_ours_does_not_make_a_good_answer_bad() -> None:
    assert says(exchange(**BY_WAIT)) is None


# the document


@pytest.mark.parametrize(
    "given",
    [
        {"status": 503},
        {"failure": "net::ERR_CONNECTION_REFUSED", "finished": False, "status": None, "responded": None},
        {"finished": False, "ended": None, "status": None, "responded": None},
        {"finished": False, "ended": None},
    ],
    ids=["status", "network", "no answer", "stalled"],
)
def test_whatever_befalls_the_document_is_called_document(given: dict[str, Any]) -> None:
    assert says(document(**given)) is CauseKind.DOCUMENT


def test_a_document_that_refuses_access_is_called_access() -> None:
    assert says(document(status=401)) is CauseKind.ACCESS


def test_a_document_that_is_not_there_is_the_products() -> None:
    assert says(document(status=404)) is PRODUCT


def test_a_body_that_the_charter_read_again_after_it_changed_has_not_moved() -> None:
    """It clicked, read the new answer, and expects by that."""
    first, second = declaration(exchange=1), declaration(began=3.0, ended=4.0, exchange=2)
    record = load(READ, exchange(id=2, started=3.0, ended=3.2, digest="two"), declarations=(first, second))
    testimony = Testimony(record, Causality(record))
    assert [testimony.moved(d) for d in record.declarations] == [None, None]


def test_many_stalled_repetitions_of_one_request_are_judged_at_once() -> None:
    """Each one's fate rests on the earlier ones': without a memory of it the work would double with each."""
    stalled = [
        exchange(id=n, started=n / 100, responded=n / 100, finished=False, ended=None, announced=None)
        for n in range(200)
    ]
    assert judge_load(load(*stalled)).ending is Ending.BLOCKED


def test_a_page_that_leaves_by_itself_gave_up_although_a_goto_is_still_waiting() -> None:
    """A `goto` explains its first document only."""
    goto = step("Page.goto", index=1, began=0.0, ended=2.0, acts=True)
    first = document(navigation_of=1)
    left = document(f"{APP}/sorry", id=2, started=1.55, navigation_of=1)
    assert says(aborted(0.5), first, left, steps=(step(), goto)) is CauseKind.GAVE_UP
