"""What a load knew besides its exchanges stands in the report, and nothing where there was nothing."""

from __future__ import annotations

from bughunt.reports.surroundings import surroundings_of
from bughunt.verdict.record import Acknowledgement, Content, Noise, Probe, Scope, Socket
from tests.verdict.making import APP, exchange, load


def lines_of(title: str, **given: object) -> tuple[str, ...]:
    """What is told under this title."""
    return {s.title: s.lines for s in surroundings_of(load(exchange(), **given))}[title]


def test_a_load_of_exchanges_alone_has_nothing_beside() -> None:
    assert surroundings_of(load(exchange())) == ()


def test_a_socket_is_told_with_its_frames_and_its_end() -> None:
    broken = Socket(id=0, url="ws://127.0.0.1/live", opened_at=0.2, received=1, closed=0.9, code=1006)
    silent = Socket(id=1, url="ws://127.0.0.1/quiet", opened_at=0.2, answered=False, sent=2)
    assert lines_of("WebSockets", sockets=(broken, silent)) == (
        "127.0.0.1/live: opened at 200 ms, 1 frame received, 0 sent, closed with code 1006 at 900 ms",
        "127.0.0.1/quiet: never answered at 200 ms, 0 frames received, 2 sent, still open",
    )


def test_a_write_that_never_left_is_told_as_that() -> None:
    claimed = Acknowledgement(pattern="**/api/orders", method="POST", line=7, began=1.0, ended=2.0)
    told = lines_of("Writes that were to be acknowledged", acknowledgements=(claimed,))
    assert told == ("POST **/api/orders (line 7): no such request was sent",)


def test_what_the_probe_was_answered_is_told() -> None:
    probe = Probe(exchange=0, url=f"{APP}/api/cart", status=200, content=Content.JSON, damaged=True)
    assert lines_of("Asked from outside the page", probes=(probe,)) == (
        "GET /api/cart: 200, json, its body is damaged",
    )


def test_the_noise_that_was_applied_is_told() -> None:
    noise = Noise(method="POST", url="https://telemetry.example/v1", fate="503", runs=6)
    told = lines_of("Known noise, never a cause", scope=Scope(base_url=APP, own_hosts=(), noise=(noise,)))
    assert told == ("POST telemetry.example/v1: 503, in 6 passing runs",)


def test_of_very_many_the_first_are_shown_and_the_others_counted() -> None:
    sockets = tuple(Socket(id=n, url=f"ws://127.0.0.1/{n}", opened_at=0.1) for n in range(34))
    (told,) = surroundings_of(load(exchange(), sockets=sockets))
    assert (len(told.lines), told.left_out) == (30, 4)
