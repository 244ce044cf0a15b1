"""What is seen of a RUN's work is an event; it neither makes nor ends a RUN."""

from __future__ import annotations

import pytest

from bughunt.exceptions import NoSuchRecord, UsageError
from bughunt.tower import Tower
from bughunt.tower.values import EventKind
from tests.tower.making import ME, a_question, a_request, begun, finished
from tests.tower.raw import opened

SEEN = "SELECT kind, who, why FROM event WHERE seq IS NULL ORDER BY id"


@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("kind", [EventKind.LOG, EventKind.PAGE])
def test_an_activity_is_an_event_and_no_more(tower: Tower, url: str, kind: EventKind, over: bool) -> None:
    run = begun(tower)
    before = finished(tower, run) if over else run
    tower.observe(run.id, kind, "agent", "the cart was opened")
    assert tower.run(run.id) == before
    with opened(url) as raw:
        assert raw.rows(SEEN) == [(kind, "agent", "the cart was opened")]
        assert raw.rows("SELECT count(*) FROM run") == [(1,)]


def test_a_heartbeat_is_an_event_of_each_run_that_is_held(tower: Tower, url: str) -> None:
    begun(tower)
    tower.reserve(a_request(tower.ask(a_question("b.py::b"))))
    finished(tower, begun(tower, a_question("c.py::c")))
    assert tower.heartbeat(ME) == 2
    with opened(url) as raw:
        assert raw.rows(SEEN) == [("heartbeat", ME, "alive")] * 2


@pytest.mark.parametrize("kind", [EventKind.RUN, EventKind.QUESTION, EventKind.RECEIPT])
def test_a_change_of_state_is_no_activity(tower: Tower, kind: EventKind) -> None:
    run = begun(tower)
    with pytest.raises(UsageError, match="no activity"):
        tower.observe(run.id, kind, "agent", "done")


def test_of_a_run_that_there_is(tower: Tower) -> None:
    with pytest.raises(NoSuchRecord):
        tower.observe(7, EventKind.LOG, "agent", "hello")
