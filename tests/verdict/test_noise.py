"""Known noise: what a charter's passing runs have shown to end badly without any harm."""

from __future__ import annotations

import pytest

from bughunt.verdict.judgement import CauseKind
from bughunt.verdict.noise import learn
from bughunt.verdict.record import Exchange, LoadRecord, Socket
from tests.verdict.making import (
    APP,
    declaration,
    document,
    exchange,
    failed,
    held,
    open_body,
    says,
    scope,
    unanswered,
)

NEWS = f"{APP}/api/news"


def passing(*exchanges: Exchange, runs: int = 5, sockets: tuple[Socket, ...] = ()) -> list[LoadRecord]:
    return [held(*exchanges, sockets=sockets) for _ in range(runs)]


def fates(loads: list[LoadRecord]) -> list[tuple[str, str, int]]:
    return [(noise.url, noise.fate, noise.runs) for noise in learn(loads)]


@pytest.mark.parametrize(
    ("broken", "fate"),
    [
        (exchange(NEWS, status=503), "503"),
        (failed("net::ERR_NAME_NOT_RESOLVED", NEWS), "net::ERR_NAME_NOT_RESOLVED"),
    ],
)
def test_the_same_failure_in_five_passing_runs_is_noise(broken: Exchange, fate: str) -> None:
    assert fates(passing(broken, runs=4)) == []
    assert fates(passing(broken)) == [(NEWS, fate, 5)]


def test_what_was_answered_well_in_any_of_them_is_none() -> None:
    assert fates([*passing(exchange(NEWS, status=503), runs=9), *passing(exchange(NEWS), runs=1)]) == []


def test_what_was_answered_well_in_the_same_load_is_none() -> None:
    assert fates(passing(exchange(NEWS, status=503), exchange(NEWS, id=2, started=2.0))) == []


def test_what_was_pending_in_one_is_noise() -> None:
    assert fates(passing(unanswered(NEWS), runs=1)) == [(NEWS, "pending", 1)]


def test_a_body_that_the_page_never_reads_does_not_make_silence_noise() -> None:
    """It was answered, and so its silence says something, whatever other runs saw."""
    unread = open_body(NEWS)
    assert fates(passing(unread, runs=1)) == [(NEWS, "open", 1)]
    assert fates([*passing(unread, runs=1), *passing(unanswered(NEWS), runs=1)]) == [(NEWS, "open", 1)]
    said = says(unanswered(NEWS), scope=scope(noise=learn(passing(unread))))
    assert said is CauseKind.NO_ANSWER


def test_the_query_does_not_count() -> None:
    loads = [held(exchange(f"{NEWS}?t={n}", status=503)) for n in range(5)]
    assert fates(loads) == [(NEWS, "503", 5)]


def test_operations_of_one_url_are_told_apart() -> None:
    well, broken = exchange(NEWS, operation="Cart"), exchange(NEWS, id=2, operation="News", status=503)
    assert [noise.operation for noise in learn(passing(well, broken))] == ["News"]


def test_the_document_what_is_declared_and_what_we_broke_are_never_learnt() -> None:
    declared = [held(exchange(status=503), declarations=(declaration(),)) for _ in range(5)]
    ours = passing(exchange(NEWS, status=503, fault="503@**/api/news"))
    assert fates([*declared, *ours, *passing(document(status=503))]) == []


def test_noise_is_no_cause_and_another_failure_of_it_is() -> None:
    noise = learn(passing(exchange(NEWS, status=503)))
    assert says(exchange(NEWS, status=503), scope=scope(noise=noise)) is None
    assert says(exchange(NEWS, status=500), scope=scope(noise=noise)) is CauseKind.STATUS
    assert says(exchange(NEWS, method="POST", status=503), scope=scope(noise=noise)) is CauseKind.STATUS


def test_what_the_charter_declares_is_a_cause_though_it_is_noise_to_others() -> None:
    noise = learn(passing(exchange(status=503)))
    said = says(exchange(status=503), scope=scope(noise=noise), declarations=(declaration(),))
    assert said is CauseKind.STATUS


def test_sockets_and_streams_that_are_silent_in_passing_runs_are_noise() -> None:
    socket = Socket(id=0, url="ws://shop.test/live?token=1", opened_at=1.0)
    stream = exchange(NEWS, resource_type="eventsource", messages=0, ended=None, finished=False)
    loads = passing(stream, runs=1, sockets=(socket,))
    assert fates(loads) == [(NEWS, "pending", 1), ("ws://shop.test/live", "pending", 1)]


@pytest.mark.parametrize(
    "how",
    [
        {"received": 1, "last_received": 1.1},
        {"left": True},
        {"closed": 2.0, "code": 1000, "closed_by_page": True},
    ],
)
def test_a_socket_that_was_well_is_none(how: dict[str, object]) -> None:
    socket = Socket(id=0, url="ws://shop.test/live", opened_at=1.0, **how)  # type: ignore[arg-type]
    assert fates(passing(exchange(), sockets=(socket,))) == []


def test_a_socket_that_breaks_in_five_passing_runs_is_noise() -> None:
    broken = Socket(id=0, url="ws://shop.test/live", opened_at=1.0, closed=1.5, code=1006)
    assert fates(passing(exchange(), sockets=(broken,), runs=4)) == []
    assert fates(passing(exchange(), sockets=(broken,))) == [("ws://shop.test/live", "1006", 5)]
