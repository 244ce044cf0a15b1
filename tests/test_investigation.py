"""Whose attempt it is: one process carries a RUN out, and all who ask the very same get its answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bughunt import investigation
from bughunt.exceptions import RunTaken
from bughunt.investigation import _held
from bughunt.tower import Run, RunRequest, Tower
from bughunt.verdict.judgement import State, Verdict
from tests.tower.making import ME, OTHER, a_question, begun, env_error, finished


class Watched(Tower):
    """A tower that says when somebody was told that a RUN is another's."""

    def start(self, run_id: int, owner: str) -> Run:
        try:
            return super().start(run_id, owner)
        except RunTaken:
            self.refused.set()
            raise

    refused = threading.Event()


@pytest.fixture
def tower(tmp_path: Path) -> Iterator[Watched]:
    with closing(Watched.open(f"sqlite:///{tmp_path / 'tower.db'}")) as opened:
        opened.refused = threading.Event()
        yield opened


async def second(tower: Watched, first: Run) -> asyncio.Task[Run]:
    """Somebody who asks the very same, and waits by now."""
    request = RunRequest(
        question=first.question, agent=first.agent, rules_version=first.rules_version, owner=ME
    )
    waiting = asyncio.create_task(_held(tower, request))
    assert await asyncio.to_thread(tower.refused.wait, 30)
    return waiting


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(investigation, "_LOOK_AGAIN", 0.01)


async def test_what_nobody_is_at_is_started(tower: Watched) -> None:
    question = tower.ask(a_question())
    run = await _held(tower, RunRequest(question=question.id, agent="careful", rules_version=1, owner=ME))
    assert (run.state, run.owner) == (State.RUNNING, ME)


async def test_who_comes_second_gets_the_answer_of_the_first(tower: Watched) -> None:
    first = begun(tower, owner=OTHER)
    waiting = await second(tower, first)
    done = finished(tower, first)
    assert await waiting == done


async def test_an_env_error_is_an_answer_too(tower: Watched) -> None:
    first = begun(tower, owner=OTHER)
    waiting = await second(tower, first)
    finished(tower, first, env_error(), landed_at=None, landing_note=None)
    assert (await waiting).verdict is Verdict.ENV_ERROR


async def test_what_the_first_gave_up_the_second_carries_out(tower: Watched) -> None:
    first = begun(tower, owner=OTHER)
    waiting = await second(tower, first)
    tower.cancel(first.id, OTHER, "interrupted")
    run = await waiting
    assert (run.id != first.id, run.state, run.owner) == (True, State.RUNNING, ME)


async def test_who_is_interrupted_while_waiting_ends_nobody_elses_run(tower: Watched) -> None:
    first = begun(tower, owner=OTHER)
    waiting = await second(tower, first)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert tower.run(first.id).state is State.RUNNING
