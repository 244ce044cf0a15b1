"""From a question to finality, and every way in which that is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import pytest
from msgspec import structs

from bughunt.exceptions import (
    EvidenceAfterTerminal,
    EvidenceIsMalformed,
    EvidenceLoadIsUnique,
    NoSuchRecord,
    QuestionIsMalformed,
    RunDoneRequiresVerifiedLanding,
    RunEnvErrorRequiresCause,
    RunKeyIsUnique,
    RunTaken,
    UsageError,
)
from bughunt.tower import EvidenceKind, NewEvidence, Tower
from bughunt.verdict.judgement import Judgement, Level, Reason, State, Verdict
from tests.tower.making import (
    BEGAN,
    ME,
    OTHER,
    Clock,
    a_drill,
    a_question,
    a_request,
    begun,
    bug,
    env_error,
    finished,
    network,
    passed,
    proof_of,
)


class TestQuestions:
    def test_the_same_key_is_the_same_question(self, tower: Tower) -> None:
        first = tower.ask(a_question())
        assert tower.ask(a_question()) == first
        assert first.state == "OPEN"

    @pytest.mark.parametrize("part", ["project", "charter", "target"])
    def test_another_key_is_another_question(self, tower: Tower, part: str) -> None:
        other = a_question(**{part: "another"})
        assert tower.ask(other).id != tower.ask(a_question()).id

    def test_a_drill_is_never_the_real_question(self, tower: Tower) -> None:
        drill = tower.ask(a_drill())
        assert drill.id != tower.ask(a_question()).id
        assert drill.key.plan == a_drill().plan

    def test_its_text_is_what_was_asked_last(self, tower: Tower) -> None:
        first = tower.ask(a_question())
        again = tower.ask(a_question(question="Does it add up?"))
        assert (again.id, again.key.question) == (first.id, "Does it add up?")

    @pytest.mark.parametrize("blank", ["", " \n", "\u200b\u2063"], ids=ascii)
    def test_a_question_that_asks_nothing(self, tower: Tower, blank: str) -> None:
        with pytest.raises(QuestionIsMalformed):
            tower.ask(a_question(question=blank))
        first = tower.ask(a_question())
        with pytest.raises(QuestionIsMalformed):
            tower.ask(a_question(question=blank))
        assert tower.question(first.id) == first


class TestReserving:
    def test_a_new_run_waits(self, tower: Tower, clock: Clock) -> None:
        run = tower.reserve(a_request(tower.ask(a_question()), build="41"))
        assert (run.state, run.owner, run.build, run.created_at) == (State.QUEUED, ME, "41", clock.now)
        assert (run.lease_until - clock.now).total_seconds() == 30

    @pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.VERIFYING])
    def test_a_run_that_is_held_is_used_by_all_who_ask_the_same(self, tower: Tower, state: State) -> None:
        """And stays its owner's: who asks later waits for its answer."""
        request = a_request(tower.ask(a_question()))
        run = tower.reserve(request)
        if state is not State.QUEUED:
            run = tower.start(run.id, ME)
        if state is State.VERIFYING:
            run = tower.verify(run.id, ME)
        assert tower.reserve(request) == run
        assert tower.reserve(a_request(tower.question(run.question), owner=OTHER)) == run
        with pytest.raises(RunTaken):
            tower.start(run.id, OTHER)

    @pytest.mark.parametrize("other", [{"build": "42"}, {"agent": "naive"}, {"rules_version": 2}], ids=str)
    def test_another_attempt_is_another_run(
        self, tower: Tower, clock: Clock, other: dict[str, object]
    ) -> None:
        question = tower.ask(a_question())
        first = tower.reserve(a_request(question))
        clock.passes(31)
        assert tower.reserve(a_request(question, **other)).id != first.id

    def test_a_waiting_run_whose_owner_is_gone_is_taken_over(self, tower: Tower, clock: Clock) -> None:
        question = tower.ask(a_question())
        run = tower.reserve(a_request(question))
        clock.passes(31)
        taken = tower.reserve(a_request(question, owner=OTHER))
        assert (taken.id, taken.owner) == (run.id, OTHER)

    def test_a_run_that_is_over_is_not_used_again(self, tower: Tower) -> None:
        run = finished(tower, begun(tower))
        assert tower.reserve(a_request(tower.question(run.question))).id != run.id

    def test_a_run_that_began_and_that_nobody_holds_is_replaced(self, tower: Tower, clock: Clock) -> None:
        run = begun(tower)
        clock.passes(31)
        successor = tower.reserve(a_request(tower.question(run.question), owner=OTHER))
        replaced = tower.run(run.id)
        assert (successor.id != run.id, successor.owner) == (True, OTHER)
        assert (replaced.state, replaced.superseded_by) == (State.SUPERSEDED, successor.id)

    def test_the_same_idempotency_key_is_the_same_run(self, tower: Tower) -> None:
        run = begun(tower, idempotency_key="nightly 7")
        ended = finished(tower, run)
        again = tower.reserve(
            a_request(tower.question(run.question), idempotency_key="nightly 7", owner=OTHER)
        )
        assert again == ended

    def test_but_not_of_another_question(self, tower: Tower) -> None:
        begun(tower, idempotency_key="nightly 7")
        other = tower.ask(a_question("other.py::it"))
        with pytest.raises(RunKeyIsUnique, match="RUN-1 of another Q"):
            tower.reserve(a_request(other, idempotency_key="nightly 7"))

    def test_an_unknown_question(self, tower: Tower) -> None:
        request = a_request(tower.ask(a_question()))
        with pytest.raises(NoSuchRecord, match=r"no Q-99\b"):
            tower.reserve(type(request)(question=99, agent="careful", rules_version=1, owner=ME))


class TestFinality:
    def test_pass(self, tower: Tower) -> None:
        run = begun(tower)
        tower.verify(run.id, ME)
        done = finished(tower, run)
        assert (done.state, done.verdict, done.level) == (State.DONE, Verdict.PASS, Level.E4)
        assert done.landed_at == BEGAN
        assert tower.question(run.question).state == "ANSWERED"

    def test_bug(self, tower: Tower) -> None:
        done = finished(tower, begun(tower), bug())
        assert (done.state, done.verdict, done.level) == (State.DONE, Verdict.BUG, Level.E5)

    def test_env_error_leaves_the_question_open(self, tower: Tower) -> None:
        ended = finished(tower, begun(tower), env_error())
        assert (ended.state, ended.reason, ended.verdict) == (
            State.FAILED,
            Reason.ENV_ERROR,
            Verdict.ENV_ERROR,
        )
        assert (ended.landed_at, ended.landing_note) == (None, None)
        assert tower.question(ended.question).state == "OPEN"

    def test_env_error_of_the_browser_after_one_load(self, tower: Tower) -> None:
        assert finished(tower, begun(tower), env_error(loads=1, layer="browser")).reason is Reason.ENV_ERROR

    def test_a_claim_stays_a_claim(self, tower: Tower) -> None:
        claim = Judgement(
            rules_version=1,
            state=State.FAILED,
            verdict=Verdict.BUG,
            reason=Reason.UNVERIFIED,
            level=Level.E2,
            rule="naive",
            sentence="It looked wrong.",
            loads=1,
        )
        run = begun(tower)
        assert tower.finish(run.id, ME, claim).reason is Reason.UNVERIFIED

    @pytest.mark.parametrize(
        "landing", [{"landed_at": None}, {"landing_note": None}, {"landing_note": " \t"}], ids=str
    )
    def test_no_done_without_landing(self, tower: Tower, landing: dict[str, object]) -> None:
        run = begun(tower)
        with pytest.raises(RunDoneRequiresVerifiedLanding, match="RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            finished(tower, run, **landing)
        assert tower.run(run.id).state is State.RUNNING

    def test_no_done_without_evidence(self, tower: Tower) -> None:
        run = begun(tower)
        with pytest.raises(RunDoneRequiresVerifiedLanding):
            tower.finish(run.id, ME, passed(), landed_at=BEGAN, landing_note="seen")
        assert tower.view(run.id).evidence == ()

    def test_no_bug_from_two_different_mismatches(self, tower: Tower) -> None:
        run = begun(tower)
        with pytest.raises(RunDoneRequiresVerifiedLanding):
            finished(tower, run, bug("line 9", "line 10"))

    def test_no_env_error_without_a_cause(self, tower: Tower) -> None:
        run = begun(tower)
        with pytest.raises(RunEnvErrorRequiresCause):
            finished(tower, run, env_error(causes=False))

    def test_a_long_judgement_still_proves(self, tower: Tower) -> None:
        """It lies in its row however long it is: the gate takes no blob for it."""
        long = structs.replace(passed(), sentence="It held. " * 9000)
        assert finished(tower, begun(tower), long).state is State.DONE

    def test_the_judgement_is_added_to_the_evidence(self, tower: Tower) -> None:
        done = finished(tower, begun(tower))
        kinds = [item.kind for item in tower.view(done.id).evidence]
        assert kinds == [EvidenceKind.NETWORK, EvidenceKind.LOAD, EvidenceKind.JUDGEMENT]

    def test_evidence_may_be_written_as_it_comes(self, tower: Tower) -> None:
        run = begun(tower)
        tower.add_evidence(run.id, ME, [network()])
        tower.verify(run.id, ME)
        tower.add_evidence(run.id, ME, proof_of(passed()))
        assert tower.finish(run.id, ME, passed(), landed_at=BEGAN, landing_note="seen").state is State.DONE

    def test_a_later_pass_keeps_the_question_answered(self, tower: Tower) -> None:
        finished(tower, begun(tower))
        question = tower.question(finished(tower, begun(tower), bug()).question)
        assert question.state == "ANSWERED"


class TestOtherEnds:
    @pytest.mark.parametrize("reason", [Reason.HARNESS_ERROR, Reason.CHECK_ERROR])
    def test_fail(self, tower: Tower, reason: Reason) -> None:
        run = begun(tower)
        ended = tower.fail(run.id, ME, reason, "the disk is full")
        assert (ended.state, ended.reason, ended.verdict) == (State.FAILED, reason, None)
        assert tower.view(run.id).notes == ("the disk is full",)

    def test_other_reasons_need_a_judgement(self, tower: Tower) -> None:
        run = begun(tower)
        with pytest.raises(UsageError, match=r"finish\(\)"):
            tower.fail(run.id, ME, Reason.ENV_ERROR, "it seemed so")

    def test_cancel(self, tower: Tower, clock: Clock) -> None:
        run = begun(tower)
        ended = tower.cancel(run.id, ME, "interrupted")
        assert (ended.state, ended.terminal_at) == (State.CANCELLED, clock.now)
        assert tower.view(run.id).notes == ("interrupted",)


class TestTaken:
    """Whoever holds the RUN no more is told to stop, and has written nothing."""

    def test_another_owner(self, tower: Tower) -> None:
        run = begun(tower)
        for write in (
            lambda: tower.verify(run.id, OTHER),
            lambda: tower.add_evidence(run.id, OTHER, [network()]),
            lambda: tower.finish(run.id, OTHER, passed(), landed_at=BEGAN, landing_note="seen"),
            lambda: tower.cancel(run.id, OTHER, "no"),
            lambda: tower.fail(run.id, OTHER, Reason.HARNESS_ERROR, "no"),
        ):
            with pytest.raises(RunTaken, match=f"RUN-{run.id} is RUNNING and held by {ME}: stop"):
                write()
        assert tower.run(run.id) == run
        assert tower.view(run.id).evidence == ()

    def test_a_run_that_is_over(self, tower: Tower) -> None:
        done = finished(tower, begun(tower))
        with pytest.raises(RunTaken, match=f"RUN-{done.id} is DONE: stop"):
            tower.add_evidence(done.id, ME, [network(2)])
        with pytest.raises(RunTaken):
            tower.start(done.id, ME)

    def test_starting_twice(self, tower: Tower) -> None:
        run = begun(tower)
        with pytest.raises(RunTaken):
            tower.start(run.id, ME)

    @pytest.mark.parametrize("method", ["run", "view"])
    def test_an_unknown_run(self, tower: Tower, method: str) -> None:
        with pytest.raises(NoSuchRecord, match=r"no RUN-7\b"):
            getattr(tower, method)(7)

    def test_is_a_lookup_error_too(self, tower: Tower) -> None:
        with pytest.raises(LookupError):
            tower.start(7, ME)


class TestEvidence:
    def test_all_or_nothing(self, tower: Tower) -> None:
        run = begun(tower)
        with pytest.raises(EvidenceLoadIsUnique):
            tower.add_evidence(run.id, ME, [network(1), network(2), network(1)])
        assert tower.view(run.id).evidence == ()

    def test_numbered_in_the_order_given(self, tower: Tower) -> None:
        run = begun(tower)
        tower.add_evidence(run.id, ME, [network(1), network(2)])
        tower.add_evidence(run.id, ME, [])
        tower.add_evidence(run.id, ME, [network(3)])
        assert [(item.seq, item.load) for item in tower.view(run.id).evidence] == [(1, 1), (2, 2), (3, 3)]

    @pytest.mark.parametrize("size", [3, 100_000], ids=["in its row", "in a blob"])
    def test_bytes_come_back(self, tower: Tower, size: int) -> None:
        run = begun(tower)
        data = b"x" * size
        tower.add_evidence(
            run.id,
            ME,
            [NewEvidence(kind=EvidenceKind.ARIA, data=data, media_type="text/plain", name="a.txt")],
        )
        (item,) = tower.view(run.id).evidence
        assert tower.evidence_bytes(item) == data
        assert (item.digest, item.size, item.name) == (sha256(data).hexdigest(), size, "a.txt")

    def test_a_value_that_no_evidence_has(self, tower: Tower) -> None:
        run = begun(tower)
        cause = NewEvidence(kind=EvidenceKind.CAUSE, data=b"{}", cause="network", layer="weather")
        with pytest.raises(EvidenceIsMalformed, match="EVIDENCE_IS_MALFORMED"):
            tower.add_evidence(run.id, ME, [cause])

    def test_refusals_keep_the_database_error(self, tower: Tower) -> None:
        run = begun(tower)
        with pytest.raises(EvidenceLoadIsUnique) as refusal:
            tower.add_evidence(run.id, ME, [network(), network()])
        assert refusal.value.__cause__ is not None
        assert not issubclass(EvidenceLoadIsUnique, EvidenceAfterTerminal)

    def test_from_many_threads(self, tower: Tower) -> None:
        run = begun(tower)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda load: tower.add_evidence(run.id, ME, [network(load)]), range(1, 25)))
        assert [item.seq for item in tower.view(run.id).evidence] == list(range(1, 25))
