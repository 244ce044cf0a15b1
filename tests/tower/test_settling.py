"""What intake's decision changes in a tower, and what becomes of a message while it cannot be decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

import pytest

from bughunt.exceptions import NoSuchRecord, TowerUnavailable, UsageError
from bughunt.tower import Attached, Decision, Part, Receipt, Relation, Tower
from bughunt.tower.intake import Incoming, OpenQuestion
from bughunt.tower.settling import FAILURES_LIMIT
from bughunt.tower.states import ReceiptState
from tests.tower.making import Clock, a_drill, a_message, a_question

UNSURE = Decision(relation=None, reason="it could be either", step="likeness")
FILLER = Decision(relation=Relation.IGNORE, reason="thanks", step="filler", confidence=0.9)


def link(*questions: int, relation: Relation = Relation.LINK_EXISTING_Q) -> Decision:
    return Decision(relation=relation, links=questions, reason="it says so", step="exact", confidence=1.0)


def new(target: str | None = "https://shop.test") -> Decision:
    return Decision(relation=Relation.NEW_Q, target=target, reason="asks", step="likeness", confidence=0.8)


def split(*parts: Part) -> Decision:
    return Decision(relation=Relation.SPLIT_TO_N_Q, parts=parts, reason="a list", step="lists")


class Intake:
    """Decides as it is told, and keeps what it was asked."""

    def __init__(self) -> None:
        self.says: Decision | Exception | Callable[[Incoming], Decision] = UNSURE
        self.asked: list[tuple[Incoming, Sequence[OpenQuestion]]] = []

    def __call__(self, message: Incoming, questions: Sequence[OpenQuestion]) -> Decision:
        self.asked.append((message, questions))
        if isinstance(self.says, Exception):
            raise self.says
        return self.says if isinstance(self.says, Decision) else self.says(message)


@pytest.fixture
def intake() -> Intake:
    return Intake()


@pytest.fixture
def tower(url: str, clock: Clock, intake: Intake) -> Iterator[Tower]:
    opened = Tower.open(url, clock=clock, intake=intake)
    yield opened
    opened.close()


def tied(receipt: Receipt) -> list[tuple[int, int, str]]:
    return [(related.part, related.question, related.relation) for related in receipt.relations]


class TestDecided:
    def test_filler_is_ignored_for_good(self, tower: Tower, intake: Intake, clock: Clock) -> None:
        intake.says = FILLER
        receipt = tower.receive(a_message("thanks!"))
        assert (receipt.state, receipt.relation, receipt.step) == (ReceiptState.IGNORED, "IGNORE", "filler")
        assert (receipt.confidence, receipt.reason, receipt.settled_at) == (0.9, "thanks", clock.now)
        assert receipt.attempts == 1
        assert tied(receipt) == []

    @pytest.mark.parametrize("relation", [Relation.LINK_EXISTING_Q, Relation.EVIDENCE_OR_ACCEPTANCE])
    def test_a_message_may_belong_to_two_questions(
        self, tower: Tower, intake: Intake, relation: Relation
    ) -> None:
        one, two = tower.ask(a_question("a.py::a")), tower.ask(a_question("b.py::b"))
        intake.says = link(two.id, one.id, two.id, relation=relation)
        receipt = tower.receive(a_message("Both, please"))
        assert receipt.state == ReceiptState.APPLIED
        assert tied(receipt) == [(1, two.id, relation), (1, one.id, relation)]

    def test_a_new_wish_is_a_new_question(self, tower: Tower, intake: Intake) -> None:
        intake.says = new()
        receipt = tower.receive(a_message("Does the cart empty itself?"))
        [(part, number, relation)] = tied(receipt)
        question = tower.question(number)
        assert (part, relation, receipt.state) == (1, Relation.NEW_Q, ReceiptState.APPLIED)
        assert question.key.question == "Does the cart empty itself?"
        assert (question.key.charter, question.key.target) == ("message::R-1", "https://shop.test")

    def test_a_question_without_target_says_so(self, tower: Tower, intake: Intake) -> None:
        intake.says = new(None)
        [related] = tower.receive(a_message()).relations
        assert tower.question(related.question).key.target == "unnamed"

    def test_a_long_wish_is_cut_in_its_question_and_whole_in_its_receipt(
        self, tower: Tower, intake: Intake
    ) -> None:
        intake.says = new()
        receipt = tower.receive(a_message("why " * 1000))
        assert len(tower.question(receipt.relations[0].question).key.question) == 1000
        assert receipt.text == "why " * 1000

    def test_a_split_asks_each_of_its_parts(self, tower: Tower, intake: Intake) -> None:
        known = tower.ask(a_question())
        intake.says = split(
            Part(text="Is A so?", relation=Relation.NEW_Q, target="staging"),
            Part(text="and the total", relation=Relation.LINK_EXISTING_Q, links=(known.id,)),
            Part(text="Is B so?", relation=Relation.NEW_Q, target="production"),
        )
        receipt = tower.receive(a_message("A? The total? B?"))
        asked = [tower.question(related.question) for related in receipt.relations]
        assert (receipt.state, receipt.parts) == (ReceiptState.APPLIED, 3)
        assert [q.key.question for q in asked] == ["Is A so?", known.key.question, "Is B so?"]
        assert [q.key.charter for q in asked] == ["message::R-1/1", known.key.charter, "message::R-1/3"]
        assert [q.key.target for q in asked] == ["staging", known.key.target, "production"]

    def test_a_split_whose_parts_are_not_all_understood_is_partial(
        self, tower: Tower, intake: Intake
    ) -> None:
        known = tower.ask(a_question())
        clear = Part(text="the total", relation=Relation.LINK_EXISTING_Q, links=(known.id,))
        intake.says = split(clear, Part(text="and that other thing"))
        receipt = tower.receive(a_message("Two things"))
        assert (receipt.state, receipt.parts, len(receipt.relations)) == (ReceiptState.PARTIAL, 2, 1)
        intake.says = split(clear, Part(text="that thing", relation=Relation.NEW_Q))
        settled = tower.settle(receipt.id)
        assert (settled.state, len(settled.relations)) == (ReceiptState.APPLIED, 2)

    def test_a_split_that_reads_otherwise_later_keeps_what_was_tied(
        self, tower: Tower, intake: Intake
    ) -> None:
        known = tower.ask(a_question())
        clear = Part(text="the total", relation=Relation.LINK_EXISTING_Q, links=(known.id,))
        intake.says = split(clear, Part(text="and that other thing"))
        before = tower.receive(a_message("Two things"))
        intake.says = split(clear, clear, clear)
        after = tower.settle(before.id)
        assert (after.state, after.relations, after.parts) == (ReceiptState.PARTIAL, before.relations, 2)


class TestContext:
    def test_intake_sees_what_somebody_wants_to_know(self, tower: Tower, intake: Intake) -> None:
        """Of its project; no drill, and nothing that is closed."""
        known = tower.ask(a_question())
        tower.ask(a_drill())
        tower.ask(a_question(project="bank"))
        closed = tower.ask(a_question("old.py::old"))
        tower.close_question(closed.id, "anna", "we sold it")
        tower.receive(a_message("RUN-1?", attachments=(Attached(name="a.log", data=b"x"),)))
        [(message, questions)] = intake.asked
        assert [(q.id, q.text, q.charter, q.target) for q in questions] == [
            (known.id, known.key.question, known.key.charter, known.key.target)
        ]
        assert (message.text, message.source, message.attachments) == ("RUN-1?", "chat", ("a.log",))

    @pytest.mark.parametrize("thread", ["Q-1", "q-1", "R-1", "chat/7", "k-1"])
    def test_a_thread_is_known_by_its_question_or_by_another_message_of_it(
        self, tower: Tower, intake: Intake, thread: str
    ) -> None:
        intake.says = new()
        tower.receive(a_message(reference="chat/7"))
        tower.receive(a_message("and?", key="k-2", thread=thread))
        assert intake.asked[-1][0].thread == (1,)

    def test_a_thread_of_another_project_is_none(self, tower: Tower, intake: Intake) -> None:
        intake.says = new()
        tower.receive(a_message(reference="chat/7"))
        for thread in ("Q-1", "R-1", "chat/7"):
            tower.receive(a_message("and?", project="bank", key=thread, thread=thread))
            assert intake.asked[-1][0].thread == ()

    def test_of_two_messages_with_one_wish_the_second_sees_the_question_of_the_first(
        self, tower: Tower, intake: Intake
    ) -> None:
        """Even where both are decided at the same moment."""

        def slowly(message: Incoming) -> Decision:
            intake.says = new()
            tower.receive(a_message("Is it so?", key="k-2"))  # comes while the first is decided
            intake.says = lambda _: link(1) if intake.asked[-1][1] else new()
            return new()

        intake.says = slowly
        first = tower.receive(a_message("Is it so?"))
        assert tied(first) == [(1, 1, Relation.LINK_EXISTING_Q)]


class TestUnsure:
    def test_it_waits_and_says_why(self, tower: Tower) -> None:
        receipt = tower.receive(a_message("any news?"))
        assert (receipt.state, receipt.relation) == (ReceiptState.PENDING_CONTEXT, None)
        [waiting] = tower.waiting()
        assert (waiting.name, waiting.reason, waiting.needs_person) == ("R-1", "it could be either", True)

    def test_a_later_message_of_its_thread_brings_the_context(self, tower: Tower, intake: Intake) -> None:
        waits = tower.receive(a_message("any news?", thread="chat/7"))
        intake.says = lambda message: link(*message.thread) if message.thread else new()
        tower.receive(a_message("Is the total right?", key="k-2", reference="chat/7"))
        assert tied(tower.receipt(waits.id)) == [(1, 1, Relation.LINK_EXISTING_Q)]

    def test_an_earlier_message_that_is_understood_later_settles_its_answers(
        self, tower: Tower, intake: Intake
    ) -> None:
        question = tower.ask(a_question())
        first = tower.receive(a_message("that one", reference="chat/7"))
        answer = tower.receive(a_message("yes, please", key="k-2", thread="chat/7"))
        intake.says = lambda message: link(*message.thread) if message.thread else UNSURE
        tower.resolve(first.id, "anna", link(question.id))
        assert tied(tower.receipt(answer.id)) == [(1, question.id, Relation.LINK_EXISTING_Q)]

    def test_reconciling_looks_again_only_where_something_is_known_more(
        self, tower: Tower, intake: Intake
    ) -> None:
        tower.receive(a_message("any news?"))
        assert [waiting.name for waiting in tower.reconcile()] == ["R-1"]
        assert len(intake.asked) == 1
        question = tower.ask(a_question())
        intake.says = link(question.id)
        assert tower.reconcile() == []
        assert tied(tower.receipt(1)) == [(1, question.id, Relation.LINK_EXISTING_Q)]


class TestFailing:
    def test_a_failure_is_stored_and_tried_again_later(
        self, tower: Tower, intake: Intake, clock: Clock
    ) -> None:
        intake.says = ValueError("no such model")
        receipt = tower.receive(a_message())
        assert (receipt.state, receipt.attempts) == (ReceiptState.FAILED_RETRYABLE, 1)
        assert receipt.error == "ValueError: no such model"
        assert receipt.next_attempt_at is not None
        wait = receipt.next_attempt_at - clock.now
        assert timedelta(seconds=15) <= wait <= timedelta(seconds=45)

        intake.says = new()
        assert [waiting.needs_person for waiting in tower.reconcile()] == [False]  # too early
        clock.passes(45)
        assert tower.reconcile() == []
        settled = tower.receipt(receipt.id)
        assert (settled.state, settled.attempts, settled.error) == (ReceiptState.APPLIED, 2, None)

    def test_its_changes_roll_back(self, tower: Tower, intake: Intake) -> None:
        """The first part was new, the second names a Q that nobody knows."""
        stranger = Part(text="that", relation=Relation.LINK_EXISTING_Q, links=(99,))
        intake.says = split(Part(text="Is it so?", relation=Relation.NEW_Q), stranger)
        receipt = tower.receive(a_message())
        assert (receipt.state, receipt.relations) == (ReceiptState.FAILED_RETRYABLE, ())
        with pytest.raises(NoSuchRecord):
            tower.question(1)

    def test_it_waits_longer_each_time_and_in_the_end_for_a_person(
        self, tower: Tower, intake: Intake, clock: Clock
    ) -> None:
        intake.says = ValueError("broken")
        tower.receive(a_message())
        waits = []
        for _ in range(FAILURES_LIMIT - 1):
            due = tower.receipt(1).next_attempt_at
            assert due is not None
            waits.append(due - clock.now)
            clock.now = due
            tower.reconcile()
        assert waits[-1] > 8 * waits[0]
        [waiting] = tower.reconcile()
        assert (waiting.needs_person, len(intake.asked)) == (True, FAILURES_LIMIT)
        assert "a person must look" in waiting.reason
        tower.ask(a_question())
        tower.reconcile()
        assert len(intake.asked) == FAILURES_LIMIT

    def test_where_not_even_that_can_be_written_the_receipt_stands(
        self, tower: Tower, intake: Intake, clock: Clock
    ) -> None:
        intake.says = TowerUnavailable("the disk is full")
        receipt, _ = tower.record(a_message())
        clock.passes(119)
        assert [w.state for w in tower.reconcile()] == ["RECEIVED"]  # whoever received it may be at it
        intake.says = FILLER
        clock.passes(1)
        assert tower.reconcile() == []
        assert tower.receipt(receipt.id).state == ReceiptState.IGNORED


class TestResolving:
    @pytest.mark.parametrize(
        ("says", "state"),
        [(link(1), "APPLIED"), (new(), "APPLIED"), (Decision(relation=Relation.IGNORE), "IGNORED")],
        ids=["link", "new", "ignore"],
    )
    def test_a_person_says_what_it_means(self, tower: Tower, says: Decision, state: str) -> None:
        tower.ask(a_question())
        tower.receive(a_message("hm?"))
        settled = tower.resolve(1, "anna", says)
        assert (settled.state, settled.step, settled.confidence) == (state, "person", 1.0)

    def test_what_is_settled_stays_settled(self, tower: Tower, intake: Intake) -> None:
        intake.says = FILLER
        tower.receive(a_message("thanks"))
        with pytest.raises(UsageError, match="R-1 is IGNORED already"):
            tower.resolve(1, "anna", new())

    def test_a_question_of_another_project_is_refused(self, tower: Tower) -> None:
        tower.ask(a_question(project="bank"))
        tower.receive(a_message("hm?"))
        with pytest.raises(UsageError, match="Q-1 is no open question of the project shop"):
            tower.resolve(1, "anna", link(1))

    def test_what_waits_of_a_split_is_said_and_the_rest_stays(self, tower: Tower, intake: Intake) -> None:
        one, two = tower.ask(a_question("a.py::a")), tower.ask(a_question("b.py::b"))
        clear = Part(text="a", relation=Relation.LINK_EXISTING_Q, links=(one.id,))
        intake.says = split(Part(text="?"), clear, Part(text="?"))
        tower.receive(a_message("three things"))
        settled = tower.resolve(1, "anna", link(two.id))
        assert (settled.state, settled.relation) == (ReceiptState.APPLIED, Relation.SPLIT_TO_N_Q)
        assert sorted(tied(settled)) == [
            (1, two.id, "LINK_EXISTING_Q"),
            (2, one.id, "LINK_EXISTING_Q"),
            (3, two.id, "LINK_EXISTING_Q"),
        ]
        assert tower.waiting() == []

    def test_what_waits_of_a_split_may_mean_nothing(self, tower: Tower, intake: Intake) -> None:
        one = tower.ask(a_question())
        intake.says = split(
            Part(text="a", relation=Relation.LINK_EXISTING_Q, links=(one.id,)), Part(text="?")
        )
        tower.receive(a_message("two things"))
        settled = tower.resolve(1, "anna", Decision(relation=Relation.IGNORE))
        assert (settled.state, settled.parts, len(settled.relations)) == (ReceiptState.APPLIED, 1, 1)
