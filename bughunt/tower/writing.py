"""The statements that change a tower, each within a transaction that the caller holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, and_, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from bughunt.exceptions import NoSuchRecord, RunKeyIsUnique, RunTaken
from bughunt.tower import tables
from bughunt.tower.refusals import code_of
from bughunt.tower.rows import key_columns, question_from, run_from
from bughunt.tower.states import LIVE, QuestionState
from bughunt.tower.transitions import Change, first
from bughunt.tower.transitions import move as move_row
from bughunt.tower.values import EvidenceKind, NewEvidence, NewQuestion, Question, Run, RunRequest
from bughunt.verdict.judgement import Cause, LoadJudgement, Reason, State
from bughunt.verdict.record import to_json

__all__ = [
    "GATE_VERSION",
    "TOWER",
    "Prepared",
    "add",
    "answer",
    "close_stale",
    "evidence_of_cause",
    "evidence_of_load",
    "get_question",
    "get_run",
    "held",
    "lapse",
    "move",
    "move_question",
    "note",
    "put_question",
    "reserve",
]

# Built once: making a statement costs more than running it.
_QUESTION = select(tables.question).where(tables.question.c.id == bindparam("question_id"))
# SQLite has one writer at a time, and ignores this. Elsewhere: a Q before its RUNs, RUNs by their numbers.
_QUESTION_LOCKED = _QUESTION.with_for_update(key_share=True)
_RUN = select(tables.run).where(tables.run.c.id == bindparam("run_id"))
_RUN_LOCKED = _RUN.with_for_update(key_share=True)
_LAST_SEQ = select(func.max(tables.evidence.c.seq)).where(tables.evidence.c.run_id == bindparam("run_id"))

GATE_VERSION = 2
"""Of `guards/*/run.sql`: what a RUN must have to be DONE. It rises when that asks for more.

1: a landing, and the evidence of the verdict. 2: an E5 names its second load, worker or person.
"""


TOWER = "tower"
"""Who made a change that follows from what is stored."""


class Prepared(Struct, frozen=True, kw_only=True):
    """Evidence as it will be stored: redacted, and in the blob store where it is large."""

    item: NewEvidence
    digest: str
    size: int
    body: bytes | None
    """None: the bytes are a blob."""


def note(text: str) -> Prepared:
    """What happened to a run itself, as evidence."""
    data = text.encode()
    item = NewEvidence(kind=EvidenceKind.NOTE, data=data, media_type="text/plain")
    return Prepared(item=item, digest=sha256(data).hexdigest(), size=len(data), body=data)


def evidence_of_load(ended: LoadJudgement) -> NewEvidence:
    """How a load ended, as the row that the gates look for."""
    return NewEvidence(
        kind=EvidenceKind.LOAD,
        data=to_json(ended),
        load=ended.load,
        ending=ended.ending,
        signature=ended.signature,
    )


def evidence_of_cause(cause: Cause) -> NewEvidence:
    """A cause, as the row that the gate of ENV_ERROR looks for."""
    return NewEvidence(
        kind=EvidenceKind.CAUSE, data=to_json(cause), load=cause.load, cause=cause.kind, layer=cause.layer
    )


def get_question(connection: Connection, question_id: int, *, lock: bool = False) -> Question:
    """The Q with this number; with `lock`, nobody else reserves a RUN of it until the transaction's end."""
    statement = _QUESTION_LOCKED if lock else _QUESTION
    row = connection.execute(statement, {"question_id": question_id}).mappings().first()
    if row is None:
        raise NoSuchRecord(f"there is no Q-{question_id} in this tower: look at `bughunt report`, or at --db")
    return question_from(row)


def get_run(connection: Connection, run_id: int, *, lock: bool = False) -> Run:
    """The RUN with this number; with `lock`, nobody else changes it until the transaction's end."""
    row = connection.execute(_RUN_LOCKED if lock else _RUN, {"run_id": run_id}).mappings().first()
    if row is None:
        raise NoSuchRecord(f"there is no RUN-{run_id} in this tower: look at `bughunt report`, or at --db")
    return run_from(row)


def put_question(connection: Connection, key: NewQuestion, change: Change) -> Question:
    """The Q of this key, made where there is none; its text is what was asked last."""
    columns = key_columns(key)
    table = tables.question
    where = and_(*(table.c[name] == value for name, value in columns.items()))
    row = connection.execute(select(table).where(where)).mappings().first()
    if row is None:
        plan = msgspec.json.encode(key.plan).decode()
        values = {"plan": plan, "drill": int(bool(key.plan)), "text": key.question, "created_at": change.at}
        _insert_once(connection, {**columns, **values, **first(QuestionState.OPEN, change)})
        row = connection.execute(select(table).where(where)).mappings().one()
    if row["state"] == QuestionState.CLOSED:
        move_question(connection, question_from(row), QuestionState.OPEN, change)
    if row["text"] != key.question:
        connection.execute(update(table).where(where).values(text=key.question))
    return question_from(connection.execute(select(table).where(where)).mappings().one())


def _insert_once(connection: Connection, values: dict[str, object]) -> None:
    """A new Q, unless another transaction was faster by a moment."""
    try:
        with connection.begin_nested():
            connection.execute(insert(tables.question).values(**values))
    except IntegrityError as error:
        if error.orig is None or code_of(error.orig) != "QUESTION_KEY_IS_UNIQUE":
            raise


def answer(connection: Connection, done: Run, now: datetime) -> None:
    """An OPEN Q is ANSWERED by a RUN that is DONE."""
    question = get_question(connection, done.question)
    if question.state == QuestionState.OPEN:
        change = Change(at=now, who=done.owner, why=f"RUN-{done.id}: {done.verdict}")
        move_question(connection, question, QuestionState.ANSWERED, change)


def move_question(connection: Connection, question: Question, to: QuestionState, change: Change) -> None:
    """One transition of a Q, unless somebody else moved it meanwhile."""
    move_row(connection, tables.question, (question.id, QuestionState(question.state)), to, change)


def reserve(connection: Connection, request: RunRequest, now: datetime, lease_until: datetime) -> Run:
    """A RUN for this attempt: the one with its key, one that fits and is not over, or a new one.

    Who may carry it out is decided by `start`: its owner, once.
    """
    project = get_question(connection, request.question, lock=True).key.project
    known = _with_key(connection, request, project)
    if known is not None:
        return known
    run = _fitting(connection, request)
    if run is not None and run.lease_until <= now:
        if run.state is State.QUEUED:
            run = _taken_over(connection, run, request.owner, lease_until)
        else:
            lapsed = lapse(connection, run, now)
            run = None if lapsed.state is State.STALE else lapsed
    if run is None:
        run = _new_run(connection, request, project, now, lease_until)
    _supersede(connection, run, now)
    return run


def _with_key(connection: Connection, request: RunRequest, project: str) -> Run | None:
    if request.idempotency_key is None:
        return None
    run = tables.run
    statement = select(run).where(run.c.project == project, run.c.idempotency_key == request.idempotency_key)
    row = connection.execute(statement).mappings().first()
    if row is None:
        return None
    if row["question_id"] != request.question:
        key, taken = request.idempotency_key, row["id"]
        raise RunKeyIsUnique(f"the key {key!r} belongs to RUN-{taken} of another Q: use a key of its own")
    return run_from(row)


def _fitting(connection: Connection, request: RunRequest) -> Run | None:
    """The first RUN of the same Q, build, agent and rules that is QUEUED, RUNNING or VERIFYING."""
    run = tables.run
    statement = select(run).where(
        run.c.question_id == request.question,
        tables.LIVE,
        run.c.build.is_not_distinct_from(request.build),
        run.c.agent == request.agent,
        run.c.rules_version == request.rules_version,
        run.c.idempotency_key.is_not_distinct_from(request.idempotency_key),
        run.c.cites.is_not_distinct_from(request.cites),
    )
    row = connection.execute(statement.order_by(run.c.id).limit(1)).mappings().first()
    return None if row is None else run_from(row)


def _taken_over(connection: Connection, run: Run, owner: str, lease_until: datetime) -> Run:
    """A RUN that waits and that nobody holds any more, held by this owner, unless it was held on."""
    seen = get_run(connection, run.id, lock=True)
    if (seen.state, seen.lease_until) != (run.state, run.lease_until):
        return seen
    changes = {"owner": owner, "lease_until": lease_until}
    connection.execute(update(tables.run).where(tables.run.c.id == run.id).values(**changes))
    return get_run(connection, run.id)


def _new_run(
    connection: Connection, request: RunRequest, project: str, now: datetime, lease_until: datetime
) -> Run:
    values = {
        "question_id": request.question,
        "project": project,
        "idempotency_key": request.idempotency_key,
        "agent": request.agent,
        "rules_version": request.rules_version,
        "build": request.build,
        "owner": request.owner,
        "cites": request.cites,
        "created_at": now,
        "lease_until": lease_until,
    }
    reserved = first(State.QUEUED, Change(at=now, who=request.owner, why=request.why))
    statement = insert(tables.run).values(**values, **reserved).returning(tables.run)
    return run_from(connection.execute(statement).mappings().one())


def _supersede(connection: Connection, by: Run, now: datetime) -> None:
    run = tables.run
    stale = select(run).where(run.c.question_id == by.question, run.c.state == State.STALE, run.c.id < by.id)
    for row in connection.execute(stale.order_by(run.c.id)).mappings().all():
        change = Change(at=now, who=by.owner, why=f"RUN-{by.id} takes its place")
        move(connection, run_from(row), State.SUPERSEDED, change, superseded_by=by.id, terminal_at=now)


def lapse(connection: Connection, run: Run, now: datetime) -> Run:
    """To STALE, with a note: nobody holds it any more. As it is, where its owner has shown up again."""
    run = get_run(connection, run.id, lock=True)
    if run.state not in LIVE or run.lease_until > now:
        return run
    words = f"STALE: the lease of {run.owner} {_ran_out(run)} while it was {run.state}."
    add(connection, run.id, [note(words)], now)
    return move(connection, run, State.STALE, Change(at=now, who=TOWER, why=words))


def _ran_out(run: Run) -> str:
    return f"ran out at {run.lease_until:%Y-%m-%d %H:%M:%S} UTC"


def close_stale(connection: Connection, run: Run, now: datetime) -> Run:
    """To FAILED, with a note: its process is gone, and no other RUN takes its place."""
    words = (
        f"Its process ended without finishing; the lease of {run.owner} {_ran_out(run)}. "
        "What it had recorded is kept."
    )
    add(connection, run.id, [note(words)], now)
    change = Change(at=now, who=TOWER, why=words)
    return move(connection, run, State.FAILED, change, reason=Reason.HARNESS_ERROR, terminal_at=now)


def held(connection: Connection, run_id: int, owner: str, states: Iterable[State]) -> Run:
    """The RUN, if this owner holds it in one of these states."""
    run = get_run(connection, run_id, lock=True)
    if run.owner != owner or run.state not in states:
        holder = "" if run.owner == owner else f" and held by {run.owner}"
        raise RunTaken(f"RUN-{run_id} is {run.state}{holder}: stop working on it")
    return run


def move(connection: Connection, run: Run, to: State, change: Change, **values: object) -> Run:
    """One transition of a RUN, from the state in which the caller saw it."""
    moved = move_row(connection, tables.run, (run.id, run.state), to, change, **values)
    if moved is None:
        raise RunTaken(f"RUN-{run.id} is no longer {run.state}: stop working on it")
    return run_from(moved)


def add(connection: Connection, run_id: int, items: Sequence[Prepared], at: datetime) -> None:
    """Append evidence, numbered in the order given."""
    if not items:
        return
    table = tables.evidence
    last = connection.execute(_LAST_SEQ, {"run_id": run_id}).scalar() or 0
    rows = [
        {"run_id": run_id, "seq": seq, "at": at, **_columns(item)}
        for seq, item in enumerate(items, start=last + 1)
    ]
    connection.execute(insert(table), rows)


def _columns(prepared: Prepared) -> dict[str, object]:
    item = prepared.item
    return {
        "kind": item.kind,
        "load": item.load,
        "ending": item.ending,
        "signature": item.signature,
        "cause": item.cause,
        "layer": item.layer,
        "name": item.name,
        "media_type": item.media_type,
        "digest": prepared.digest,
        "size": prepared.size,
        "body": prepared.body,
    }
