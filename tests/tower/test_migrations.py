"""Towers of earlier versions, with data inside, are brought up to date: nothing is lost, history is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from bughunt.tower import Tower
from bughunt.tower.states import TRANSITIONS
from bughunt.verdict.judgement import State
from tests.postgres import Server
from tests.tower.making import a_question, a_request, finished
from tests.tower.raw import AT, LATER, Raw, connect, opened

ENDS: dict[str, dict[str, object]] = {
    "QUEUED": {},
    "RUNNING": {"started_at": AT},
    "VERIFYING": {"started_at": AT},
    "STALE": {"started_at": AT},
    "DONE": {
        "started_at": AT,
        "terminal_at": LATER,
        "verdict": "PASS",
        "level": "E4",
        "landed_at": AT,
        "landing_note": "seen",
        "gate_version": 1,
    },
    "FAILED": {"started_at": AT, "terminal_at": LATER, "reason": "HARNESS_ERROR"},
    "CANCELLED": {"terminal_at": LATER},
    "SUPERSEDED": {"started_at": AT, "terminal_at": LATER, "superseded_by": 1},
}


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A tower of the first schema, which holds a RUN in each state, with evidence."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'old.db'}"
        _fill(url, url)
        yield url
        return
    server: Server = request.getfixturevalue("postgres")
    with server.database("template0") as url:
        _fill(url, url.replace("postgresql://", "postgresql+psycopg://"))
        yield url


def _fill(url: str, engine_url: str) -> None:
    config = Config()
    config.set_main_option("script_location", "bughunt.tower:migrations")
    engine = create_engine(engine_url)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    engine.dispose()
    with closing(connect(url)) as connection:
        raw = Raw(connection)
        for number, (state, columns) in enumerate(ENDS.items(), start=1):
            _insert(raw, number, state, columns)


def _insert(raw: Raw, number: int, state: str, columns: dict[str, object]) -> None:
    question = {
        "project": "shop",
        "charter": f"cart.py::{state}",
        "target": "https://shop.test",
        "plan_fingerprint": "",
        "plan": "[]",
        "drill": 0,
        "text": "Is it right?",
        "state": "ANSWERED" if state == "DONE" else "OPEN",
        "created_at": AT,
    }
    asked = raw.insert("question", question)
    run = {
        "question_id": asked,
        "project": "shop",
        "agent": "careful",
        "rules_version": 1,
        "created_at": AT,
        "state": state,
        "owner": "me",
        "lease_until": LATER,
    }
    reserved = raw.insert("run", run | columns)
    raw.evidence(reserved, 1, body=b"abc")


def test_nothing_is_lost_and_each_state_has_its_history(old: str) -> None:
    with closing(Tower.open(old)) as tower:
        for number, state in enumerate(ENDS, start=1):
            run = tower.run(number)
            assert (run.state, run.owner, tower.question(number).key.charter) == (
                state,
                "me",
                f"cart.py::{state}",
            )
    with opened(old) as raw:
        assert raw.rows("SELECT count(*) FROM evidence") == [(len(ENDS),)]
        for number, state in enumerate(ENDS, start=1):
            _check_history(raw, number, state)


def _check_history(raw: Raw, number: int, state: str) -> None:
    told = raw.rows(
        "SELECT seq, from_state, to_state FROM event WHERE kind = 'run' AND run_id = :run ORDER BY seq",
        {"run": number},
    )
    [(moves,)] = raw.rows("SELECT moves FROM run WHERE id = :run", {"run": number})
    assert [row[0] for row in told] == list(range(1, len(told) + 1))
    assert (moves, told[-1][2]) == (len(told), state)
    before: State | None = None
    for _, came_from, went_to in told:
        assert came_from == before
        assert (before, State(str(went_to))) in TRANSITIONS
        before = State(str(went_to))


def test_what_was_under_way_goes_on(old: str) -> None:
    with closing(Tower.open(old)) as tower:
        tower.reconcile()
        question = tower.question(2)
        run = tower.reserve(a_request(question))
        assert run.id != 2
        finished(tower, tower.start(run.id, run.owner))
        assert tower.question(2).state == "ANSWERED"
        assert tower.ask(a_question("new.py::it")).id == len(ENDS) + 1


def test_what_is_over_stays_over(old: str) -> None:
    Tower.open(old).close()
    with opened(old) as raw:
        for number, state in enumerate(ENDS, start=1):
            if state in ("DONE", "FAILED", "CANCELLED", "SUPERSEDED"):
                code = raw.refusal_outside(lambda n=number: raw.update("run", n, {"owner": "another"}))
                assert code == "RUN_IS_TERMINAL"
