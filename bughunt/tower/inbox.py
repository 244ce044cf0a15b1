"""What arrives at a tower: committed first, then understood."""

from __future__ import annotations

import logging
from hashlib import sha256

from msgspec import structs

from bughunt.exceptions import ReceiptKeyIsUnique, TowerUnavailable
from bughunt.tower import deciding, receiving, settling
from bughunt.tower.intake import Decision
from bughunt.tower.refusals import translated
from bughunt.tower.states import SETTLED
from bughunt.tower.store import INLINE_LIMIT, Store
from bughunt.tower.transitions import Change
from bughunt.tower.values import Attached, Attachment, Message, Receipt

__all__ = ["Inbox"]

ERROR_LIMIT = 2000
"""Signs of an error's text that are kept with a receipt."""

LOOKS = 50
"""How often intake decides anew because the context changed while it decided."""

log = logging.getLogger(__name__)


class Inbox(Store):
    """The messages of a tower."""

    def record(self, message: Message) -> tuple[Receipt, bool]:
        """Commit that this message arrived; the receipt, and whether it is new.

        Raises MessageRefused where it cannot be received as it is, and ReceiptKeyReused where its key came
        with another text: then nothing was stored.
        """
        as_it_came = receiving.checked(message)
        digest = receiving.digest_of(message.text)
        kept = self._redacted(as_it_came)
        files = [self._kept(file) for file in kept.attachments]
        try:
            with translated(self.name):
                return self._arrivals.put(kept, digest, files, self._clock()), True
        except ReceiptKeyIsUnique:
            with self._read() as connection:
                return receiving.known(connection, kept, digest), False

    def receive(self, message: Message) -> Receipt:
        """Record a message, then understand it: what the same key brought before is only repeated.

        Once it is recorded nothing is raised: where intake fails, the receipt says so, and `reconcile` tries
        again. Raises what `record` does.
        """
        receipt, new = self.record(message)
        if not new:
            return receipt
        settled = self._settle(receipt)
        if settled.state in SETTLED:
            self._settle_beside(settled)
        return settled

    def settle(self, receipt_id: int) -> Receipt:
        """Let intake look at a receipt that is not settled. A failure of intake is stored, not raised."""
        return self._settle(self.receipt(receipt_id))

    def _settle(self, receipt: Receipt) -> Receipt:
        if receipt.state in SETTLED:
            return receipt
        try:
            return self._understood(receipt)
        # A boundary of its own: neither a model nor a bug of ours may take the receipt from who has it.
        except Exception as error:
            log.warning("intake failed", exc_info=error, extra={"action": "intake_failed"})
            return self._failed(receipt, error)

    def resolve(self, receipt_id: int, who: str, decision: Decision) -> Receipt:
        """Settle a waiting receipt as this person says.

        Raises UsageError where it is settled already, or a Q is named that is none of its project's.
        """
        with self._write() as connection:
            now = self._clock()
            receipt = deciding.resolved(
                connection, receipt_id, decision, Change(at=now, who=who, why="said so")
            )
        self._settle_beside(receipt)
        return receipt

    def receipt(self, receipt_id: int) -> Receipt:
        """R-`receipt_id`."""
        with self._read() as connection:
            return settling.get_receipt(connection, receipt_id)

    def attachments(self, receipt_id: int) -> list[Attachment]:
        """The files that came with this message."""
        with self._read() as connection:
            settling.get_receipt(connection, receipt_id)
            return receiving.attachments(connection, receipt_id)

    def attachment_bytes(self, file: Attachment) -> bytes:
        """The stored bytes of a file, if they are still what was written."""
        with self._read() as connection:
            body = receiving.attachment_body(connection, file)
        return self._bytes(file.digest, body, f"file {file.seq} of R-{file.receipt}")

    def _redacted(self, message: Message) -> Message:
        """The message without secrets, in its text and wherever else it is kept."""
        plain = self.redactor.redact_text
        without = structs.replace(
            message,
            text=plain(message.text),
            summary=plain(message.summary or ""),
            reference=message.reference and plain(message.reference),
            thread=message.thread and plain(message.thread),
        )
        return structs.replace(without, summary=receiving.summary_of(without))

    def _kept(self, file: Attached) -> receiving.Kept:
        data = self.redactor.redact(file.data, file.media_type)
        small = len(data) <= INLINE_LIMIT
        digest = sha256(data).hexdigest() if small else self.blobs.write(data)
        body = data if small else None
        return receiving.Kept(
            name=file.name, media_type=file.media_type, digest=digest, size=len(data), body=body
        )

    def _understood(self, receipt: Receipt) -> Receipt:
        """The receipt as intake decided; decided anew where something changed while it did."""
        for _ in range(LOOKS):
            with self._read() as connection:
                context = settling.context_of(connection, receipt)
            decision = self._intake(context.message, context.questions)
            with self._write() as connection:
                change = Change(at=self._clock(), who="intake", why=decision.reason or decision.step)
                after = settling.applied(connection, context, decision, change)
            if after is not None:
                return after
            seen, receipt = receipt, self.receipt(receipt.id)
            if (receipt.state, receipt.attempts) != (seen.state, seen.attempts):
                return receipt  # somebody else has looked at it
        return receipt  # Qs are made faster than it is decided: `reconcile` brings it on

    def _failed(self, receipt: Receipt, error: Exception) -> Receipt:
        told = self.redactor.redact_text(f"{type(error).__name__}: {error}")[:ERROR_LIMIT]
        try:
            with self._write() as connection:
                change = Change(at=self._clock(), who="intake", why=f"it failed: {told}")
                after = settling.failed(connection, receipt, told, change, self._jitter())
            return after or self.receipt(receipt.id)
        except TowerUnavailable:  # then it stays as it was committed, and `reconcile` finds it
            return receipt

    def _settle_beside(self, receipt: Receipt) -> None:
        """Messages of the same thread that waited may be understood now."""
        try:
            with self._read() as connection:
                pending = settling.pending_beside(connection, receipt)
            for receipt_id in pending:
                self.settle(receipt_id)
        except TowerUnavailable:  # `reconcile` finds them
            log.warning("messages beside were not looked at", extra={"action": "settle_beside_failed"})
