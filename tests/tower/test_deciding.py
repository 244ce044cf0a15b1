"""A person's decision about a RUN, and another worker's repetition: second parties, told apart."""

from __future__ import annotations

import pytest

from bughunt.exceptions import NoSuchRecord, UsageError
from bughunt.tower import Run, SecondParty, Tower
from bughunt.verdict.judgement import Level, State, Verdict
from tests.tower.making import ME, OTHER, begun, bug, env_error, finished


@pytest.fixture
def unclear(tower: Tower) -> Run:
    """A RUN that ended as ENV_ERROR, with network records, and no load that held."""
    return finished(tower, begun(tower), env_error(), landed_at=None, landing_note=None)


class TestAPersonsDecision:
    def test_is_a_run_of_its_own_that_cites_what_it_decides(self, tower: Tower, unclear: Run) -> None:
        decided = tower.decide(unclear.id, "anna", Verdict.BUG, "The total is wrong in the recording.")
        assert (decided.id != unclear.id, decided.cites, decided.agent) == (True, unclear.id, "person")
        assert (decided.state, decided.verdict, decided.level) == (State.DONE, Verdict.BUG, Level.E5)
        assert (decided.second_party, decided.owner) == (SecondParty.PERSON, "person:anna")
        assert "The total is wrong in the recording." in (decided.landing_note or "")
        assert tower.question(unclear.question).state == "ANSWERED"
        assert tower.run(unclear.id) == unclear

    def test_its_view_says_who_and_what(self, tower: Tower, unclear: Run) -> None:
        view = tower.view(tower.decide(unclear.id, "anna", Verdict.BUG, "It is wrong.").id)
        assert view.judgement is not None
        assert view.judgement.sentence == "anna: It is wrong."

    def test_said_again_in_the_same_words_is_the_same_run(self, tower: Tower, unclear: Run) -> None:
        first = tower.decide(unclear.id, "anna", Verdict.BUG, "It is wrong.")
        assert tower.decide(unclear.id, "anna", Verdict.BUG, "It is wrong.") == first
        assert tower.decide(unclear.id, "ben", Verdict.BUG, "It is wrong.").id != first.id

    def test_a_pass_needs_a_load_that_held(self, tower: Tower, unclear: Run) -> None:
        with pytest.raises(UsageError, match=rf"RUN-{unclear.id} has no load that held"):
            tower.decide(unclear.id, "anna", Verdict.PASS, "Looks well.")
        held = finished(tower, begun(tower))
        assert tower.decide(held.id, "anna", Verdict.PASS, "Looks well.").level is Level.E5

    def test_a_bug_needs_a_network_record(self, tower: Tower) -> None:
        run = begun(tower)
        cancelled = tower.cancel(run.id, ME, "interrupted")
        with pytest.raises(UsageError, match="has no network record"):
            tower.decide(cancelled.id, "anna", Verdict.BUG, "It is wrong.")
        assert [run.id for run in (view.run for view in tower.views())] == [cancelled.id]

    def test_waits_for_the_end_of_what_it_decides(self, tower: Tower) -> None:
        run = begun(tower)
        with pytest.raises(UsageError, match=f"RUN-{run.id} is RUNNING"):
            tower.decide(run.id, "anna", Verdict.BUG, "It is wrong.")

    @pytest.mark.parametrize(
        ("who", "verdict", "statement"),
        [
            ("", Verdict.BUG, "wrong"),
            ("anna", Verdict.BUG, " \n"),
            ("anna", Verdict.ENV_ERROR, "the network was down"),
        ],
    )
    def test_says_something(
        self, tower: Tower, unclear: Run, who: str, verdict: Verdict, statement: str
    ) -> None:
        with pytest.raises(UsageError):
            tower.decide(unclear.id, who, verdict, statement)

    def test_of_a_run_that_there_is(self, tower: Tower) -> None:
        with pytest.raises(NoSuchRecord):
            tower.decide(7, "anna", Verdict.BUG, "wrong")


class TestAnotherWorker:
    def test_repeats_a_pass(self, tower: Tower) -> None:
        first = finished(tower, begun(tower))
        again = finished(tower, begun(tower, owner=OTHER, cites=first.id))
        assert (again.level, again.second_party, again.cites) == (Level.E5, SecondParty.WORKER, first.id)

    def test_who_repeats_its_own_pass_is_no_second_party(self, tower: Tower) -> None:
        first = finished(tower, begun(tower))
        again = finished(tower, begun(tower, cites=first.id))
        assert (again.level, again.second_party) == (Level.E4, None)

    def test_what_did_not_pass_is_not_repeated(self, tower: Tower) -> None:
        first = finished(tower, begun(tower), bug())
        again = finished(tower, begun(tower, owner=OTHER, cites=first.id))
        assert (again.level, again.second_party) == (Level.E4, None)
