"""Raw SQL cannot lose a message, change what arrived, or settle what belongs to nothing."""

from __future__ import annotations

import pytest

from tests.tower.raw import LATER, Raw

REPLACE = "INSERT OR REPLACE"


UNSETTLED = ("RECEIVED", "PENDING_CONTEXT", "FAILED_RETRYABLE", "PARTIAL")


class TestReceipts:
    """I1, I2: what arrived stays, and settles once."""

    def test_one_receipt_for_one_key(self, raw: Raw) -> None:
        receipt = raw.receipt("k")
        raw.receipt("k", project="bank")
        with raw.refuses("RECEIPT_KEY_IS_UNIQUE"):
            raw.receipt("k")
        with raw.refuses("RECEIPT_KEY_IS_UNIQUE"):
            raw.receipt("k", REPLACE)
        with raw.refuses("RECEIPT_IS_NEVER_DELETED"):
            raw.receipt("another", REPLACE, id=receipt)
        with raw.refuses("RECEIPT_IS_NEVER_DELETED"):
            raw.execute("DELETE FROM receipt")

    @pytest.mark.parametrize(
        "change",
        [
            *({name: "another"} for name in ("project", "source", "idempotency_key", "summary", "text")),
            *({name: "cd" * 32} for name in ("text_digest", "digest")),
            *({name: LATER} for name in ("occurred_at", "received_at")),
            *({name: "another"} for name in ("reference", "thread")),
            {"id": 500},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("verb", ["UPDATE", "UPDATE OR REPLACE"])
    def test_what_arrived_cannot_change(self, raw: Raw, change: dict[str, object], verb: str) -> None:
        receipt = raw.receipt()
        with raw.refuses("RECEIPT_IDENTITY_IS_FIXED"):
            raw.update("receipt", receipt, change, verb)

    @pytest.mark.parametrize("state", ["APPLIED", "IGNORED"])
    @pytest.mark.parametrize(
        "change", [{"attempts": 9}, {"state": "RECEIVED"}, {"reason": "another"}], ids=str
    )
    def test_what_is_settled_stays(self, raw: Raw, state: str, change: dict[str, object]) -> None:
        receipt = raw.receipt_in(state)
        with raw.refuses("RECEIPT_IS_SETTLED"):
            raw.update("receipt", receipt, change)

    @pytest.mark.parametrize("state", UNSETTLED)
    def test_applied_needs_a_question_for_each_part(self, raw: Raw, state: str) -> None:
        receipt, question = raw.receipt_in(state), raw.question("another")
        end = {"state": "APPLIED", "relation": "SPLIT_TO_N_Q", "parts": 2, "settled_at": LATER}
        if state != "PARTIAL":
            raw.relation(receipt, question)
        with raw.refuses("RECEIPT_SETTLED_REQUIRES_RELATION"):
            raw.update("receipt", receipt, end)
        raw.relation(receipt, question, part=2)
        raw.update("receipt", receipt, end)

    @pytest.mark.parametrize("wrong", [{"relation": None}, {"relation": "IGNORE"}, {"parts": None}], ids=str)
    def test_applied_says_as_what(self, raw: Raw, wrong: dict[str, object]) -> None:
        receipt = raw.receipt()
        raw.relation(receipt, raw.question())
        with raw.refuses("RECEIPT_SETTLED_REQUIRES_RELATION"):
            raw.update("receipt", receipt, raw.settling("APPLIED") | wrong)

    def test_what_is_ignored_belongs_to_nothing(self, raw: Raw) -> None:
        receipt = raw.receipt()
        with raw.refuses("RECEIPT_SETTLED_REQUIRES_RELATION"):
            raw.update("receipt", receipt, raw.settling("IGNORED") | {"relation": None})
        raw.relation(receipt, raw.question())
        with raw.refuses("RECEIPT_SETTLED_REQUIRES_RELATION"):
            raw.update("receipt", receipt, raw.settling("IGNORED"))

    def test_partial_has_a_part(self, raw: Raw) -> None:
        receipt = raw.receipt()
        with raw.refuses("RECEIPT_SETTLED_REQUIRES_RELATION"):
            raw.update("receipt", receipt, raw.settling("PARTIAL"))

    @pytest.mark.parametrize(
        "wrong",
        [
            *({name: ""} for name in ("text", "idempotency_key", "source")),
            *({name: "ab"} for name in ("text_digest", "digest")),
            *({name: "now"} for name in ("occurred_at", "received_at")),
            {"attempts": 1},
            {"project": None},
            {"relation": "IGNORE"},
            {"settled_at": LATER},
            {"id": 0},
        ],
        ids=str,
    )
    def test_malformed(self, raw: Raw, wrong: dict[str, object]) -> None:
        with raw.refuses("RECEIPT_IS_MALFORMED"):
            raw.receipt(**wrong)

    @pytest.mark.parametrize(
        "wrong",
        [{"confidence": 1.5}, {"relation": "GUESS"}, {"settled_at": LATER}, {"next_attempt_at": "soon"}],
        ids=str,
    )
    def test_change_of_a_receipt(self, raw: Raw, wrong: dict[str, object]) -> None:
        receipt = raw.receipt()
        with raw.refuses("RECEIPT_IS_MALFORMED"):
            raw.update("receipt", receipt, wrong)


class TestRelations:
    """I3: what a message belongs to is there, and stays."""

    def test_needs_its_message_and_a_question_of_its_project(self, raw: Raw) -> None:
        receipt, elsewhere = raw.receipt(), raw.question(project="bank")
        with raw.refuses("RELATION_WITHOUT_RECEIPT"):
            raw.relation(99, elsewhere)
        for question in (99, elsewhere):
            with raw.refuses("RELATION_WITHOUT_QUESTION"):
                raw.relation(receipt, question)

    def test_append_only(self, raw: Raw) -> None:
        receipt, question = raw.receipt(), raw.question()
        relation = raw.relation(receipt, question)
        with raw.refuses("RELATION_IS_IMMUTABLE"):
            raw.relation(receipt, question, REPLACE)
        with raw.refuses("RELATION_IS_IMMUTABLE"):
            raw.relation(receipt, question, REPLACE, part=2, id=relation)
        with raw.refuses("RELATION_IS_IMMUTABLE"):
            raw.update("relation", relation, {"relation": "NEW_Q"})
        with raw.refuses("RELATION_IS_IMMUTABLE"):
            raw.execute("DELETE FROM relation")

    @pytest.mark.parametrize("state", ["APPLIED", "IGNORED"])
    def test_not_of_a_settled_message(self, raw: Raw, state: str) -> None:
        receipt, question = raw.receipt_in(state), raw.question("another")
        with raw.refuses("RECEIPT_IS_SETTLED"):
            raw.relation(receipt, question)

    @pytest.mark.parametrize(
        "wrong",
        [{"part": 0}, {"relation": "IGNORE"}, {"relation": "GUESS"}, {"at": "now"}, {"who": ""}, {"id": 0}],
        ids=str,
    )
    def test_malformed(self, raw: Raw, wrong: dict[str, object]) -> None:
        receipt, question = raw.receipt(), raw.question()
        with raw.refuses("RELATION_IS_MALFORMED"):
            raw.relation(receipt, question, **wrong)


class TestAttachments:
    """I3: a file comes with its message."""

    def test_needs_its_message_before_anybody_looked_at_it(self, raw: Raw) -> None:
        with raw.refuses("ATTACHMENT_WITHOUT_RECEIPT"):
            raw.attachment(99)
        receipt = raw.receipt_in("PENDING_CONTEXT")
        with raw.refuses("ATTACHMENT_IS_IMMUTABLE"):
            raw.attachment(receipt)

    def test_append_only(self, raw: Raw) -> None:
        receipt = raw.receipt()
        attachment = raw.attachment(receipt)
        with raw.refuses("ATTACHMENT_IS_IMMUTABLE"):
            raw.attachment(receipt, REPLACE)
        with raw.refuses("ATTACHMENT_IS_IMMUTABLE"):
            raw.attachment(receipt, REPLACE, seq=2, id=attachment)
        with raw.refuses("ATTACHMENT_IS_IMMUTABLE"):
            raw.update("attachment", attachment, {"body": b"cba"})
        with raw.refuses("ATTACHMENT_IS_IMMUTABLE"):
            raw.execute("DELETE FROM attachment")

    @pytest.mark.parametrize(
        "wrong", [{"seq": 0}, {"name": ""}, {"digest": "ab"}, {"size": 4}, {"size": -1}, {"id": 0}], ids=str
    )
    def test_malformed(self, raw: Raw, wrong: dict[str, object]) -> None:
        receipt = raw.receipt()
        with raw.refuses("ATTACHMENT_IS_MALFORMED"):
            raw.attachment(receipt, **wrong)
