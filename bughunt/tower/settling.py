"""The second transaction of a message: what intake knows of the tower, and what its decision changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import TypeAlias

import msgspec
from msgspec import Struct, structs
from sqlalchemy import Connection, func, insert, or_, select, union, update

from bughunt.exceptions import BrokenInvariant, NoSuchRecord
from bughunt.tower import tables, writing
from bughunt.tower.intake import Decision, Incoming, OpenQuestion, Part, Relation
from bughunt.tower.legible import is_readable
from bughunt.tower.receiving import relations_of
from bughunt.tower.rows import receipt_from
from bughunt.tower.states import SETTLED, QuestionState, ReceiptState
from bughunt.tower.transitions import Change, move
from bughunt.tower.values import NewQuestion, Receipt, Related

__all__ = [
    "Context",
    "Intake",
    "applied",
    "context_of",
    "failed",
    "get_receipt",
    "one_at_a_time",
    "pending_beside",
]

QUESTIONS_LIMIT = 1000
"""Open questions that a message is compared with: those that changed last, and those that it names."""

BESIDE_LIMIT = 20
"""Waiting messages of the same thread that are looked at again when one of it was understood."""

QUESTION_LIMIT = 1000
"""Signs of a message's text that become the text of its Q."""

FAILURES_LIMIT = 8
"""Failures of intake, one after the other, after which a person must look."""

BACKOFF = timedelta(seconds=30)
"""Until the second attempt; each further one waits twice as long, an hour at most."""

_NAMED = re.compile(r"(Q|RUN|R)-(\d{1,18})", re.ASCII | re.IGNORECASE)

Intake: TypeAlias = Callable[[Incoming, Sequence[OpenQuestion]], Decision]
"""What decides how a message relates to the open questions; may raise whatever it wants."""

UNNAMED_TARGET = "unnamed"
"""The target of a Q whose message named none."""


class Context(Struct, frozen=True, kw_only=True):
    """What intake knows when it looks at a receipt."""

    receipt: Receipt
    message: Incoming
    questions: tuple[OpenQuestion, ...]
    digest: str
    """Of all that could change the decision: unsure once is unsure again while it stays the same."""


def get_receipt(connection: Connection, receipt_id: int, *, lock: bool = False) -> Receipt:
    """The receipt with this number; with `lock`, nobody else changes it until the transaction's end."""
    statement = select(tables.receipt).where(tables.receipt.c.id == receipt_id)
    row = connection.execute(statement.with_for_update() if lock else statement).mappings().first()
    if row is None:
        raise NoSuchRecord(f"there is no R-{receipt_id} in this tower: look at `bughunt tower waiting`")
    return receipt_from(row, relations_of(connection, receipt_id))


def context_of(connection: Connection, receipt: Receipt) -> Context:
    """What intake is to know of this receipt and of its project's open questions."""
    runs = _runs_named(connection, receipt)
    thread = tuple(sorted(_thread(connection, receipt)))
    numbers = [int(n) for kind, n in _NAMED.findall(receipt.text) if kind.upper() == "Q"]
    questions = _open_questions(connection, receipt.project, {*numbers[:100], *runs.values(), *thread})
    message = Incoming(
        text=receipt.text,
        source=receipt.source,
        thread=thread,
        attachments=_attachments(connection, receipt.id),
        runs=runs,
    )
    known = [(question.id, question.text, question.target) for question in questions]
    digest = sha256(msgspec.json.encode([known, thread, sorted(runs.items())])).hexdigest()
    return Context(receipt=receipt, message=message, questions=questions, digest=digest)


def _open_questions(connection: Connection, project: str, named: Collection[int]) -> tuple[OpenQuestion, ...]:
    """What somebody wants to know: no drills, nothing that is CLOSED."""
    table = tables.question
    wanted = select(table).where(
        table.c.project == project, table.c.drill == 0, table.c.state != QuestionState.CLOSED
    )
    latest = wanted.order_by(table.c.moved_at.desc(), table.c.id.desc()).limit(QUESTIONS_LIMIT)
    found = list(connection.execute(latest).mappings())
    missing = set(named) - {row["id"] for row in found}
    if missing and len(found) == QUESTIONS_LIMIT:
        found += connection.execute(wanted.where(table.c.id.in_(missing))).mappings()
    return tuple(
        OpenQuestion(
            id=row["id"],
            text=row["text"],
            charter=row["charter"],
            target=row["target"],
            last_touched=row["moved_at"] or row["created_at"],
        )
        for row in sorted(found, key=lambda row: int(row["id"]))
    )


def _runs_named(connection: Connection, receipt: Receipt) -> dict[int, int]:
    """The RUNs of this project that the text names, with their Qs."""
    numbers = {int(n) for kind, n in _NAMED.findall(receipt.text) if kind.upper() == "RUN"}
    run = tables.run
    statement = select(run.c.id, run.c.question_id).where(
        run.c.id.in_(sorted(numbers)[:100]), run.c.project == receipt.project
    )
    return {row.id: row.question_id for row in connection.execute(statement)}


def _thread(connection: Connection, receipt: Receipt) -> set[int]:
    """The Qs of the thread in which it was written: named by it, or those of the thread's other messages."""
    if receipt.thread is None:
        return set()
    if named := _NAMED.fullmatch(receipt.thread):
        return _named_question(connection, receipt.project, named[1].upper(), int(named[2]))
    table, relation = tables.receipt, tables.relation
    names = (table.c.reference, table.c.idempotency_key, table.c.thread)  # one index each
    others = union(
        *(
            select(table.c.id).where(table.c.project == receipt.project, name == receipt.thread)
            for name in names
        )
    )
    statement = select(relation.c.question_id).where(
        relation.c.receipt_id.in_(others), relation.c.receipt_id != receipt.id
    )
    return set(connection.execute(statement).scalars())


def _named_question(connection: Connection, project: str, kind: str, number: int) -> set[int]:
    question, run, relation, receipt = tables.question, tables.run, tables.relation, tables.receipt
    statement = {
        "Q": select(question.c.id).where(question.c.id == number, question.c.project == project),
        "RUN": select(run.c.question_id).where(run.c.id == number, run.c.project == project),
        "R": select(relation.c.question_id)
        .join(receipt, receipt.c.id == relation.c.receipt_id)
        .where(receipt.c.id == number, receipt.c.project == project),
    }[kind]
    return set(connection.execute(statement).scalars())


def _attachments(connection: Connection, receipt_id: int) -> tuple[str, ...]:
    table = tables.attachment
    statement = select(table.c.name).where(table.c.receipt_id == receipt_id).order_by(table.c.seq)
    return tuple(connection.execute(statement).scalars())


def pending_beside(connection: Connection, receipt: Receipt) -> list[int]:
    """The messages that wait for context and may have got it: those of the same thread as this one."""
    table = tables.receipt
    names = {name for name in (receipt.reference, receipt.key, receipt.thread) if name}
    names |= {f"Q-{related.question}" for related in receipt.relations}
    same = or_(
        table.c.thread.in_(names),
        table.c.reference.in_([receipt.thread] if receipt.thread else []),
        table.c.idempotency_key.in_([receipt.thread] if receipt.thread else []),
    )
    waits = (ReceiptState.PENDING_CONTEXT, ReceiptState.PARTIAL)
    statement = (
        select(table.c.id)
        .where(table.c.project == receipt.project, tables.UNSETTLED, table.c.state.in_(waits), same)
        .order_by(table.c.id)
        .limit(BESIDE_LIMIT)
    )
    return list(connection.execute(statement).scalars())


def applied(connection: Connection, context: Context, decision: Decision, change: Change) -> Receipt | None:
    """The receipt after this decision; None: somebody else looked at it meanwhile, or the context changed.

    Raises BrokenInvariant where the decision names a Q that the context does not have.
    """
    if not _is_current(connection, context):
        return None
    tied = _tied(connection, context, decision, change)
    state, parts = _state_after(context.receipt, decision, tied)
    values = {
        "attempts": context.receipt.attempts + 1,
        "failures": 0,
        "next_attempt_at": None,
        "error": None,
        "settled_at": change.at if state in SETTLED else None,
        "relation": decision.relation,
        "confidence": decision.confidence,
        "reason": decision.reason,
        "step": decision.step,
        "parts": parts,
        "context": None if state in SETTLED else context.digest,
    }
    return _brought(connection, context.receipt, state, change, values)


def _is_current(connection: Connection, context: Context) -> bool:
    """Whether the receipt is as it was seen, and no Q of its project was made since.

    Decisions of one project are taken one after the other: of two messages with the same wish, the second
    must see the Q that the first one made.
    """
    one_at_a_time(connection, context.receipt.project)
    seen, now = context.receipt, get_receipt(connection, context.receipt.id, lock=True)
    if (now.state, now.attempts) != (seen.state, seen.attempts):
        return False
    return context_of(connection, now).digest == context.digest


def one_at_a_time(connection: Connection, project: str) -> None:
    """Let nobody else decide about a message of this project until the transaction's end."""
    if connection.dialect.name == "postgresql":  # SQLite has one writer at a time
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(project))))


def _tied(
    connection: Connection, context: Context, decision: Decision, change: Change
) -> tuple[Related, ...]:
    """The relations after this decision: those that were, and those that it adds."""
    receipt = context.receipt
    told = _parts_of(decision)
    before = {related.part for related in receipt.relations}
    if receipt.parts is not None and len(told) != receipt.parts:
        return receipt.relations  # it reads otherwise now than when the first of its parts was tied
    added = [
        related
        for number, part in enumerate(told, start=1)
        if number not in before
        for related in _related(connection, context, (number, len(told)), part, change)
    ]
    rows = [
        {"receipt_id": receipt.id, "at": change.at, "who": change.who, "part": x.part}
        | {"question_id": x.question, "relation": x.relation}
        for x in added
    ]
    if rows:
        connection.execute(insert(tables.relation), rows)
    return (*receipt.relations, *added)


def _parts_of(decision: Decision) -> tuple[Part, ...]:
    if decision.relation is None or decision.relation is Relation.IGNORE:
        return ()
    if decision.relation is Relation.SPLIT_TO_N_Q:
        return decision.parts
    whole = Part(text="", links=decision.links, relation=decision.relation, target=decision.target)
    return (whole,)


def _related(
    connection: Connection, context: Context, place: tuple[int, int], part: Part, change: Change
) -> list[Related]:
    number, _ = place
    if part.relation is None or part.relation is Relation.IGNORE:
        return []
    if part.relation is Relation.NEW_Q:
        question = _new_question(connection, context, place, part, change)
        return [Related(part=number, question=question, relation=Relation.NEW_Q)]
    strangers = set(part.links) - {question.id for question in context.questions}
    if strangers or not part.links:
        raise BrokenInvariant(
            f"intake tied {context.receipt.name} to no open question ({part.links}); please report it"
        )
    return [Related(part=number, question=link, relation=part.relation) for link in dict.fromkeys(part.links)]


def _new_question(
    connection: Connection, context: Context, place: tuple[int, int], part: Part, change: Change
) -> int:
    receipt = context.receipt
    words = part.text if is_readable(part.text) else receipt.text
    charter = f"message::{receipt.name}" if place[1] == 1 else f"message::{receipt.name}/{place[0]}"
    key = NewQuestion(
        project=receipt.project,
        charter=charter,
        question=words if len(words) <= QUESTION_LIMIT else words[: QUESTION_LIMIT - 1] + "…",
        target=part.target or UNNAMED_TARGET,
    )
    asked = structs.replace(change, why=f"asked by {receipt.name}")
    return writing.put_question(connection, key, asked).id


def _state_after(
    receipt: Receipt, decision: Decision, tied: Sequence[Related]
) -> tuple[ReceiptState, int | None]:
    """The state, and of how many parts the message consists."""
    if decision.relation is Relation.IGNORE and not tied:
        return ReceiptState.IGNORED, None
    if not tied:
        return ReceiptState.PENDING_CONTEXT, None
    told, having = _parts_of(decision), {related.part for related in tied}
    parts = receipt.parts or len(told)
    if len(told) == parts:  # those that mean nothing are none
        parts -= sum(part.relation is Relation.IGNORE for part in told)
    whole = len(having) == parts
    return (ReceiptState.APPLIED if whole else ReceiptState.PARTIAL), parts


def _brought(
    connection: Connection, seen: Receipt, state: ReceiptState, change: Change, values: Mapping[str, object]
) -> Receipt | None:
    table = tables.receipt
    if state is seen.state:
        same = (table.c.id == seen.id, table.c.state == seen.state, table.c.attempts == seen.attempts)
        row = connection.execute(update(table).where(*same).values(**values).returning(table))
        changed = row.mappings().first()
    else:
        changed = move(connection, table, (seen.id, seen.state), state, change, **values)
    return None if changed is None else receipt_from(changed, relations_of(connection, seen.id))


def failed(
    connection: Connection, seen: Receipt, error: str, change: Change, jitter: float
) -> Receipt | None:
    """The receipt after a failure of its intake; None: somebody else has looked at it meanwhile."""
    failures = seen.failures + 1
    wait = min(BACKOFF * 2 ** (failures - 1), timedelta(hours=1)) * (0.5 + jitter)
    values = {
        "attempts": seen.attempts + 1,
        "failures": failures,
        "next_attempt_at": change.at + wait if failures < FAILURES_LIMIT else None,
        "error": error,
    }
    now = get_receipt(connection, seen.id, lock=True)
    if (now.state, now.attempts) != (seen.state, seen.attempts):
        return None
    partial = seen.state is ReceiptState.PARTIAL  # some of it is tied already, and stays so
    state = ReceiptState.PARTIAL if partial else ReceiptState.FAILED_RETRYABLE
    return _brought(connection, seen, state, change, values)
