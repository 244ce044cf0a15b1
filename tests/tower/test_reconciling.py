"""RUNs that nobody holds any more: replaced, not too often, and never twice."""

from __future__ import annotations

import pytest

from bughunt.tower import Question, Tower
from bughunt.tower.reconciling import REQUEUES_A_DAY
from bughunt.verdict.judgement import State
from tests.tower.making import ME, OTHER, Clock, a_question, a_request, begun, finished

DAY = 24 * 3600


def lose(tower: Tower, clock: Clock, question: Question) -> int:
    """The RUN that whoever comes next began, and died at."""
    run = tower.reserve(a_request(question))
    tower.start(run.id, ME)
    clock.passes(31)
    return run.id


@pytest.fixture
def question(tower: Tower) -> Question:
    return tower.ask(a_question())


def test_a_lost_run_is_replaced_by_one_that_waits_for_a_worker(
    tower: Tower, clock: Clock, question: Question
) -> None:
    lost = lose(tower, clock, question)
    [waiting] = tower.reconcile()
    replaced, successor = tower.run(lost), tower.run(lost + 1)
    assert (replaced.state, replaced.superseded_by) == (State.SUPERSEDED, successor.id)
    assert (successor.state, successor.question) == (State.QUEUED, question.id)
    assert (waiting.name, waiting.needs_person) == (f"RUN-{successor.id}", False)
    assert "waits for a worker" in waiting.reason


def test_whoever_comes_next_carries_out_the_one_that_waits(
    tower: Tower, clock: Clock, question: Question
) -> None:
    lost = lose(tower, clock, question)
    tower.reconcile()
    run = tower.reserve(a_request(question, owner=OTHER))
    assert (run.id, run.owner) == (lost + 1, OTHER)
    finished(tower, tower.start(run.id, OTHER))
    assert tower.waiting() == []


def test_doing_it_again_changes_nothing(tower: Tower, clock: Clock, question: Question) -> None:
    lose(tower, clock, question)
    first = tower.reconcile()
    runs = [view.run for view in tower.views()]
    assert tower.reconcile() == first
    assert [view.run for view in tower.views()] == runs


def test_what_is_held_is_left_alone(tower: Tower, clock: Clock, question: Question) -> None:
    run = begun(tower)
    clock.passes(29)
    assert tower.reconcile() == []
    assert tower.run(run.id).state is State.RUNNING


def test_what_is_lost_again_and_again_waits_for_a_person(
    tower: Tower, clock: Clock, question: Question
) -> None:
    for _ in range(REQUEUES_A_DAY):
        lose(tower, clock, question)
        assert [waiting.needs_person for waiting in tower.reconcile()] == [False]
    last = lose(tower, clock, question)
    [waiting] = tower.reconcile()
    assert (waiting.name, waiting.state, waiting.needs_person) == (f"RUN-{last}", "STALE", True)
    assert tower.reconcile() == [waiting]
    clock.passes(DAY)
    assert [waiting.needs_person for waiting in tower.reconcile()] == [False]


def test_the_next_start_closes_only_what_was_lost(tower: Tower, clock: Clock, question: Question) -> None:
    """A RUN that waits for a worker is nobody's to close."""
    lose(tower, clock, question)
    tower.reconcile()
    assert tower.sweep() == []
    assert [waiting.state for waiting in tower.waiting()] == ["QUEUED"]


def test_a_late_callback_bounces_off(tower: Tower, clock: Clock, question: Question) -> None:
    from bughunt.exceptions import RunTaken

    lost = lose(tower, clock, question)
    tower.reconcile()
    with pytest.raises(RunTaken):
        finished(tower, tower.run(lost))
    assert tower.run(lost).state is State.SUPERSEDED
