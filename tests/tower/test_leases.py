"""Who holds a RUN, and what becomes of one that nobody holds any more."""

from __future__ import annotations

import pytest

from bughunt.exceptions import RunTaken
from bughunt.tower import EvidenceKind, Tower
from bughunt.verdict.judgement import Reason, State
from tests.tower.making import ME, OTHER, Clock, a_question, a_request, begun, finished, network


class TestHeartbeat:
    def test_keeps_all_runs_of_its_owner(self, tower: Tower, clock: Clock) -> None:
        runs = [begun(tower, a_question(f"c{n}.py::it")) for n in range(3)]
        for _ in range(5):
            clock.passes(20)
            assert tower.heartbeat(ME) == 3
        assert tower.sweep() == []
        assert {tower.run(run.id).state for run in runs} == {State.RUNNING}

    def test_of_others_and_of_what_is_over_keeps_nothing(self, tower: Tower) -> None:
        finished(tower, begun(tower))
        begun(tower)
        assert tower.heartbeat(OTHER) == 0
        assert tower.heartbeat(ME) == 1

    def test_does_not_bring_back_what_is_stale(self, tower: Tower, clock: Clock) -> None:
        run = begun(tower)
        clock.passes(31)
        tower.sweep(returning=[run.question])
        assert tower.heartbeat(ME) == 0


class TestSweep:
    @pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.VERIFYING])
    def test_closes_what_nobody_holds(self, tower: Tower, clock: Clock, state: State) -> None:
        run = tower.reserve(a_request(tower.ask(a_question())))
        if state is not State.QUEUED:
            tower.start(run.id, ME)
        if state is State.VERIFYING:
            tower.verify(run.id, ME)
        clock.passes(31)
        (swept,) = tower.sweep()
        assert (swept.id, swept.state, swept.reason) == (run.id, State.FAILED, Reason.HARNESS_ERROR)
        assert swept.verdict is None
        first, second = tower.view(run.id).notes
        assert first == f"STALE: the lease of {ME} ran out at 2026-03-01 12:00:30 UTC while it was {state}."
        assert "ended without finishing" in second

    def test_keeps_the_evidence(self, tower: Tower, clock: Clock) -> None:
        run = begun(tower)
        tower.add_evidence(run.id, ME, [network()])
        clock.passes(31)
        tower.sweep()
        view = tower.view(run.id)
        assert [item.kind for item in view.evidence] == [
            EvidenceKind.NETWORK,
            EvidenceKind.NOTE,
            EvidenceKind.NOTE,
        ]
        assert len(view.loads) == 1

    def test_leaves_a_live_run_alone(self, tower: Tower, clock: Clock) -> None:
        dead = begun(tower)
        clock.passes(20)
        alive = begun(tower, a_question("other.py::it"), owner=OTHER)
        clock.passes(15)
        assert [run.id for run in tower.sweep()] == [dead.id]
        assert tower.run(alive.id) == alive

    def test_again_does_nothing(self, tower: Tower, clock: Clock) -> None:
        begun(tower)
        clock.passes(31)
        assert len(tower.sweep()) == 1
        assert tower.sweep() == []

    def test_what_returns_waits_as_stale_and_is_superseded(self, tower: Tower, clock: Clock) -> None:
        run = begun(tower)
        clock.passes(31)
        (stale,) = tower.sweep(returning={run.question})
        assert stale.state is State.STALE
        assert tower.sweep(returning={run.question}) == []
        successor = tower.reserve(a_request(tower.question(run.question), owner=OTHER))
        old = tower.run(run.id)
        assert (old.state, old.superseded_by, old.terminal_at) == (State.SUPERSEDED, successor.id, clock.now)

    def test_what_did_not_return_after_all_is_closed(self, tower: Tower, clock: Clock) -> None:
        run = begun(tower)
        clock.passes(31)
        tower.sweep(returning=[run.question])
        (closed,) = tower.sweep()
        assert closed.state is State.FAILED

    def test_a_late_callback_bounces_off(self, tower: Tower, clock: Clock) -> None:
        run = begun(tower)
        clock.passes(31)
        tower.sweep(returning=[run.question])
        with pytest.raises(RunTaken, match="STALE: stop"):
            finished(tower, run)
        tower.sweep()
        with pytest.raises(RunTaken, match="FAILED: stop"):
            tower.add_evidence(run.id, ME, [network()])

    def test_an_owner_that_is_late_but_unswept_may_finish(self, tower: Tower, clock: Clock) -> None:
        run = begun(tower)
        clock.passes(31)
        assert finished(tower, run).state is State.DONE

    def test_two_at_once_close_each_run_once(self, url: str, tower: Tower, clock: Clock) -> None:
        runs = [begun(tower, a_question(f"c{n}.py::it")) for n in range(4)]
        clock.passes(31)
        other = Tower.open(url, clock=clock)
        swept = [*tower.sweep(), *other.sweep()]
        other.close()
        assert sorted(run.id for run in swept) == [run.id for run in runs]
        assert all(len(tower.view(run.id).notes) == 2 for run in runs)
