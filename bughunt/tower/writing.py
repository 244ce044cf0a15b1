"""The statements that change a tower, each within a transaction that the caller holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, and_, bindparam, func, insert, select, update

from bughunt.exceptions import NoSuchRecord, RunKeyIsUnique, RunTaken
from bughunt.tower import tables
from bughunt.tower.rows import key_columns, question_from, run_from
from bughunt.tower.values import EvidenceKind, NewEvidence, NewQuestion, Question, Run, RunRequest
from bughunt.verdict.judgement import Cause, LoadJudgement, State
from bughunt.verdict.record import to_json

__all__ = [
    "GATE_VERSION",
    "Prepared",
    "add",
    "evidence_of_cause",
    "evidence_of_load",
    "get_question",
    "get_run",
    "held",
    "move",
    "note",
    "put_question",
    "reserve",
]

# Built once: making a statement costs more than running it.
_QUESTION = select(tables.question).where(tables.question.c.id == bindparam("question_id"))
_RUN = select(tables.run).where(tables.run.c.id == bindparam("run_id"))
_MOVE = (
    update(tables.run)
    .where(
        tables.run.c.id == bindparam("seen_id"),
        tables.run.c.state == bindparam("seen_state"),
        tables.run.c.owner == bindparam("seen_owner"),
    )
    .returning(tables.run)
)
_LAST_SEQ = select(func.max(tables.evidence.c.seq)).where(tables.evidence.c.run_id == bindparam("run_id"))

GATE_VERSION = 1
"""Of `guards/*/run.sql`: what a RUN must have to be DONE. It rises when that asks for more."""


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


def get_question(connection: Connection, question_id: int) -> Question:
    """The Q with this number."""
    row = connection.execute(_QUESTION, {"question_id": question_id}).mappings().first()
    if row is None:
        raise NoSuchRecord(f"there is no Q-{question_id} in this tower: look at `bughunt report`, or at --db")
    return question_from(row)


def get_run(connection: Connection, run_id: int) -> Run:
    """The RUN with this number."""
    row = connection.execute(_RUN, {"run_id": run_id}).mappings().first()
    if row is None:
        raise NoSuchRecord(f"there is no RUN-{run_id} in this tower: look at `bughunt report`, or at --db")
    return run_from(row)


def put_question(connection: Connection, key: NewQuestion, now: datetime) -> Question:
    """The Q of this key, made where there is none; its text is what was asked last."""
    columns = key_columns(key)
    table = tables.question
    where = and_(*(table.c[name] == value for name, value in columns.items()))
    row = connection.execute(select(table).where(where)).mappings().first()
    if row is None:
        plan = msgspec.json.encode(key.plan).decode()
        values = {"plan": plan, "drill": int(bool(key.plan)), "text": key.question, "state": "OPEN"}
        connection.execute(insert(table).values(**columns, **values, created_at=now))
    elif row["text"] != key.question:
        connection.execute(update(table).where(where).values(text=key.question))
    else:
        return question_from(row)
    return question_from(connection.execute(select(table).where(where)).mappings().one())


def reserve(connection: Connection, request: RunRequest, now: datetime, lease_until: datetime) -> Run:
    """A RUN for this attempt: the one with its key, a waiting one that fits, or a new one."""
    project = get_question(connection, request.question).key.project
    known = _with_key(connection, request, project)
    if known is not None:
        return known
    run_id = _waiting(connection, request, now)
    if run_id is None:
        run_id = _new_run(connection, request, project, now, lease_until)
    else:
        changes = {"owner": request.owner, "lease_until": lease_until}
        connection.execute(update(tables.run).where(tables.run.c.id == run_id).values(**changes))
    _supersede(connection, request.question, run_id, now)
    return get_run(connection, run_id)


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


def _waiting(connection: Connection, request: RunRequest, now: datetime) -> int | None:
    """A RUN of the same Q, build, agent and rules that has not begun and that nobody holds any more.

    One that its own owner holds is not taken: that process may be about to start it.
    """
    run = tables.run
    statement = select(run.c.id).where(
        run.c.question_id == request.question,
        run.c.state == State.QUEUED,
        run.c.build.is_not_distinct_from(request.build),
        run.c.agent == request.agent,
        run.c.rules_version == request.rules_version,
        run.c.idempotency_key.is_not_distinct_from(request.idempotency_key),
        run.c.lease_until <= now,
    )
    return connection.execute(statement.order_by(run.c.id).limit(1)).scalar()


def _new_run(
    connection: Connection, request: RunRequest, project: str, now: datetime, lease_until: datetime
) -> int:
    values = {
        "question_id": request.question,
        "project": project,
        "idempotency_key": request.idempotency_key,
        "agent": request.agent,
        "rules_version": request.rules_version,
        "build": request.build,
        "owner": request.owner,
    }
    statement = insert(tables.run).values(
        **values, created_at=now, state=State.QUEUED, lease_until=lease_until
    )
    return int(connection.execute(statement.returning(tables.run.c.id)).scalar_one())


def _supersede(connection: Connection, question_id: int, by: int, now: datetime) -> None:
    run = tables.run
    connection.execute(
        update(run)
        .where(run.c.question_id == question_id, run.c.state == State.STALE, run.c.id < by)
        .values(state=State.SUPERSEDED, superseded_by=by, terminal_at=now)
    )


def held(connection: Connection, run_id: int, owner: str, states: Iterable[State]) -> Run:
    """The RUN, if this owner holds it in one of these states."""
    run = get_run(connection, run_id)
    if run.owner != owner or run.state not in states:
        holder = "" if run.owner == owner else f" and held by {run.owner}"
        raise RunTaken(f"RUN-{run_id} is {run.state}{holder}: stop working on it")
    return run


def move(connection: Connection, run: Run, to: State, **values: object) -> Run:
    """One transition, from the state in which the caller saw the RUN."""
    seen = {"seen_id": run.id, "seen_state": run.state, "seen_owner": run.owner}
    moved = connection.execute(_MOVE, {**seen, "state": to, **values}).mappings().first()
    if moved is None:
        raise RunTaken(f"RUN-{run.id} is no longer {run.state} and {run.owner}'s: stop working on it")
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
