"""What can be brought on without a person, and what cannot: messages, and RUNs that nobody holds any more."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, and_, func, or_, select, text

from bughunt.tower import settling, tables, writing
from bughunt.tower.rows import receipt_from, run_from
from bughunt.tower.states import ReceiptState
from bughunt.tower.values import Receipt, Run, RunRequest, Waiting
from bughunt.verdict.judgement import State

__all__ = ["GRACE", "REQUEUES_A_DAY", "receipts_due", "requeued", "runs_due", "waiting"]

GRACE = timedelta(minutes=2)
"""How long a new message is left to the process that received it."""

REQUEUES_A_DAY = 3
"""Lost RUNs of one Q that are replaced within 24 hours; then a person must look why they are lost."""

_DAY = timedelta(days=1)
_STALE = text("state = 'STALE'")


def receipts_due(connection: Connection, now: datetime) -> list[int]:
    """Receipts at which intake should look again: cut off, failed and due, or with another context."""
    table = tables.receipt
    state = table.c.state
    cut_off = and_(state == ReceiptState.RECEIVED, table.c.received_at <= now - GRACE)
    retry = table.c.next_attempt_at <= now
    unsure = and_(table.c.next_attempt_at.is_(None), table.c.context.is_not(None))
    statement = select(table).where(tables.UNSETTLED, or_(cut_off, retry, unsure)).order_by(table.c.id)
    rows = connection.execute(statement).mappings().all()
    return [row["id"] for row in rows if _may_go_on(connection, row)]


def _may_go_on(connection: Connection, row: Any) -> bool:  # Any: a row
    if row["state"] == ReceiptState.RECEIVED or row["next_attempt_at"] is not None:
        return True
    if row["state"] == ReceiptState.FAILED_RETRYABLE or row["failures"] > 0:
        return False  # too often
    receipt = receipt_from(row)
    return settling.context_of(connection, receipt).digest != receipt.context


def runs_due(connection: Connection, now: datetime) -> list[int]:
    """RUNs whose lease has run out, and STALE ones; not those that wait for a worker already."""
    run = tables.run
    lapsed = select(run.c.id).where(tables.LIVE, run.c.lease_until <= now, run.c.owner != writing.TOWER)
    stale = select(run.c.id).where(_STALE)
    return sorted({*connection.execute(lapsed).scalars(), *connection.execute(stale).scalars()})


def requeued(connection: Connection, run_id: int, now: datetime) -> Run | None:
    """The RUN that takes the place of a lost one; None: it is not lost any more, or was lost too often."""
    question = writing.get_question(connection, writing.get_run(connection, run_id).question, lock=True)
    run = writing.get_run(connection, run_id)
    if run.owner != writing.TOWER:
        run = writing.lapse(connection, run, now)
    if run.state is not State.STALE or _lost_lately(connection, question.id, now) >= REQUEUES_A_DAY:
        return None
    request = RunRequest(
        question=run.question,
        agent=run.agent,
        rules_version=run.rules_version,
        owner=writing.TOWER,
        build=run.build,
        cites=run.cites,
        why=f"RUN-{run.id} was lost",
    )
    return writing.reserve(connection, request, now, now)


def _lost_lately(connection: Connection, question_id: int, now: datetime) -> int:
    run = tables.run
    lost = select(func.count()).where(
        run.c.question_id == question_id, run.c.state == State.SUPERSEDED, run.c.terminal_at > now - _DAY
    )
    return connection.execute(lost).scalar_one()


def waiting(connection: Connection, now: datetime) -> list[Waiting]:
    """What is not settled, the oldest first."""
    table, run = tables.receipt, tables.run
    receipts = select(table).where(tables.UNSETTLED).order_by(table.c.id)
    found = [_receipt_waits(receipt_from(row), now) for row in connection.execute(receipts).mappings()]
    lapsed = select(run).where(tables.LIVE, run.c.lease_until <= now)
    for statement in (lapsed, select(run).where(_STALE)):
        found += [_run_waits(run_from(row)) for row in connection.execute(statement).mappings()]
    return sorted(found, key=lambda item: (item.since, item.name))


def _receipt_waits(receipt: Receipt, now: datetime) -> Waiting:
    person, reason = {
        ReceiptState.RECEIVED: (False, "intake has not looked at it yet"),
        ReceiptState.PENDING_CONTEXT: (True, receipt.reason or "it cannot be told what it is about"),
        ReceiptState.PARTIAL: (True, receipt.reason or "some of its parts belong to no Q yet"),
        ReceiptState.FAILED_RETRYABLE: (False, "intake failed"),
    }[receipt.state]
    if receipt.failures:
        person = receipt.next_attempt_at is None
        then = "a person must look" if person else f"again at {receipt.next_attempt_at:%Y-%m-%d %H:%M:%S} UTC"
        reason = f"intake failed {receipt.failures} times, {then}: {receipt.error}"
    return Waiting(
        name=receipt.name, state=receipt.state, since=receipt.received_at, reason=reason, needs_person=person
    )


def _run_waits(run: Run) -> Waiting:
    person, reason = False, "its lease ran out: the next reconciling replaces it"
    if run.state is State.QUEUED and run.owner == writing.TOWER:
        reason = "it waits for a worker: run its charter again"
    if run.state is State.STALE:
        person, reason = True, f"RUNs of Q-{run.question} were lost too often today: look why"
    return Waiting(
        name=f"RUN-{run.id}", state=run.state, since=run.created_at, reason=reason, needs_person=person
    )
