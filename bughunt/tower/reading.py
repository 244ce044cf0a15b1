"""From what is stored to the views that reports are made of: a few queries, however many runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime

import msgspec
from sqlalchemy import Connection, Select, func, select

from bughunt.exceptions import EvidenceDamaged, NoSuchRecord
from bughunt.tower import tables
from bughunt.tower.rows import evidence_from, question_from, run_from
from bughunt.tower.values import Evidence, EvidenceKind, InvestigationView, KnownBug, Question, Run
from bughunt.verdict.judgement import Judgement, State, Verdict
from bughunt.verdict.record import LoadRecord, load_from_json

__all__ = ["BytesOf", "body_of", "passing_loads", "selected", "views_of"]

BytesOf = Callable[[Evidence, bytes | None], bytes]
"""The bytes of a piece of evidence, given its row's body."""

_READ = (
    *(EvidenceKind.NETWORK, EvidenceKind.JUDGEMENT, EvidenceKind.NOTE, EvidenceKind.FIRING),
    *(EvidenceKind.LOAD, EvidenceKind.CAUSE, EvidenceKind.CONDITIONS),
)
"""What a view is made from, and what its verdict stands on: read, and held to its digest, each time.

The bytes of other kinds are read when somebody asks for them.
"""

_CHUNK = 500
"""Numbers in one IN: SQLite takes 32,766 parameters, other databases fewer."""


def selected(
    *, run_ids: Collection[int] | None, question: int | None, latest: bool, since: datetime | None
) -> Select[int]:
    """Which runs are meant. `latest`: of each Q and agent only the last RUN that fits the rest."""
    run = tables.run
    last = select(func.max(run.c.id)).group_by(run.c.question_id, run.c.agent)
    statement = last if latest else select(run.c.id)
    if run_ids is not None:
        statement = statement.where(run.c.id.in_(run_ids))
    if question is not None:
        statement = statement.where(run.c.question_id == question)
    if since is not None:
        statement = statement.where(run.c.created_at >= since)
    return statement


def views_of(
    connection: Connection, run_ids: Collection[int], bytes_of: BytesOf
) -> Iterator[InvestigationView]:
    """The views of these runs, by number."""
    ordered = sorted(run_ids)
    for at in range(0, len(ordered), _CHUNK):
        chunk = ordered[at : at + _CHUNK]
        runs = _runs(connection, chunk)
        questions = _questions(connection, {run.question for run in runs})
        evidence = _evidence(connection, chunk)
        contents = _contents(connection, evidence, bytes_of)
        for run in runs:
            yield _view(questions[run.question], run, evidence[run.id], contents)


def _runs(connection: Connection, run_ids: Sequence[int]) -> list[Run]:
    statement = select(tables.run).where(tables.run.c.id.in_(run_ids)).order_by(tables.run.c.id)
    return [run_from(row) for row in connection.execute(statement).mappings()]


def _questions(connection: Connection, ids: Collection[int]) -> dict[int, Question]:
    statement = select(tables.question).where(tables.question.c.id.in_(ids))
    rows = connection.execute(statement).mappings()
    return {row["id"]: question_from(row) for row in rows}


def _evidence(connection: Connection, run_ids: Sequence[int]) -> dict[int, list[Evidence]]:
    table, tombstone = tables.evidence, tables.tombstone
    columns = [column for column in table.c if column.name != "body"]
    statement = (
        select(*columns, tombstone.c.why, tombstone.c.at.label("removed_at"))
        .outerjoin(tombstone, tombstone.c.evidence_id == table.c.id)
        .where(table.c.run_id.in_(run_ids))
        .order_by(table.c.run_id, table.c.seq)
    )
    found: dict[int, list[Evidence]] = defaultdict(list)
    for row in connection.execute(statement).mappings():
        found[row["run_id"]].append(evidence_from(row))
    return found


def _contents(
    connection: Connection, evidence: dict[int, list[Evidence]], bytes_of: BytesOf
) -> dict[int, bytes]:
    table = tables.evidence
    statement = select(table.c.id, table.c.body).where(
        table.c.run_id.in_(list(evidence)), table.c.kind.in_(_READ)
    )
    bodies = {row.id: row.body for row in connection.execute(statement)}
    wanted = [item for items in evidence.values() for item in items if item.kind in _READ]
    return {item.id: bytes_of(item, bodies[item.id]) for item in wanted if item.tombstone is None}


def passing_loads(
    connection: Connection, question: Question, runs: int, bytes_of: BytesOf
) -> Iterator[LoadRecord]:
    """The load that held, of the last PASS runs of this charter and target without faults; newest first."""
    run, asked, key = tables.run, tables.question, question.key
    passed = (
        select(run.c.id)
        .join(asked, asked.c.id == run.c.question_id)
        .where(
            asked.c.project == key.project,
            asked.c.charter == key.charter,
            asked.c.target == key.target,
            asked.c.drill == 0,
            run.c.verdict == Verdict.PASS,
            run.c.state == State.DONE,
        )
        .order_by(run.c.id.desc())
        .limit(runs)
    )
    for run_id in connection.execute(passed).scalars():
        records = [e for e in _evidence(connection, [run_id])[run_id] if e.kind is EvidenceKind.NETWORK]
        held = max(records, key=lambda record: record.load or 0, default=None)
        if held is None or held.tombstone is not None:
            continue
        with suppress(msgspec.DecodeError, EvidenceDamaged, NoSuchRecord):
            yield load_from_json(bytes_of(held, body_of(connection, held)))


def body_of(connection: Connection, evidence: Evidence) -> bytes | None:
    """The body in this evidence's row; None: its bytes are a blob."""
    table = tables.evidence
    known = (table.c.id == evidence.id, table.c.run_id == evidence.run, table.c.digest == evidence.digest)
    row = connection.execute(select(table.c.body).where(*known)).first()
    if row is None:
        raise NoSuchRecord(f"this tower holds no evidence {evidence.seq} of RUN-{evidence.run} like that")
    return None if row.body is None else bytes(row.body)


def _view(
    question: Question, run: Run, evidence: Sequence[Evidence], contents: dict[int, bytes]
) -> InvestigationView:
    def of(kind: EvidenceKind) -> list[tuple[Evidence, bytes]]:
        return [(item, contents[item.id]) for item in evidence if item.kind == kind and item.id in contents]

    notes = [data.decode(errors="replace") for _, data in of(EvidenceKind.NOTE)]
    loads, unreadable = _loads(of(EvidenceKind.NETWORK))
    judgements = of(EvidenceKind.JUDGEMENT)
    return InvestigationView(
        question=question,
        run=run,
        judgement=msgspec.json.decode(judgements[-1][1], type=Judgement) if judgements else None,
        loads=tuple(loads),
        evidence=tuple(evidence),
        unfired=_unfired(question, run, [data for _, data in of(EvidenceKind.FIRING)]),
        notes=(*notes, *unreadable),
        known_bug=_known_bug([data for _, data in of(EvidenceKind.CONDITIONS)]),
    )


def _loads(records: Sequence[tuple[Evidence, bytes]]) -> tuple[list[LoadRecord], list[str]]:
    loads, unreadable = [], []
    for item, data in records:
        try:
            loads.append(load_from_json(data))
        except msgspec.DecodeError as error:  # of another version, or redacted beyond recognition
            unreadable.append(f"The record of load {item.load} cannot be read: {error}.")
    return sorted(loads, key=lambda load: load.number), unreadable


class _Conditions(msgspec.Struct):
    """What is read here of the CONDITIONS; older versions wrote neither.

    The ticket is not written as `ticket`: a field of that name is a secret (it signs in), and taken out.
    """

    known_as: str | None = None
    known_until: date | None = None


def _known_bug(conditions: Sequence[bytes]) -> KnownBug | None:
    for data in conditions:
        with suppress(msgspec.DecodeError):  # redacted beyond recognition
            told = msgspec.json.decode(data, type=_Conditions)
            if told.known_as is not None and told.known_until is not None:
                return KnownBug(ticket=told.known_as, until=told.known_until)
    return None


class _Firing(msgspec.Struct):
    """What is read here of a FIRING: which fault of the plan fired."""

    position: int | None = None


def _unfired(question: Question, run: Run, firings: Sequence[bytes]) -> tuple[str, ...]:
    """The planned faults of which no firing was recorded; of a RUN that is not over, nothing is said."""
    if run.terminal_at is None:
        return ()
    fired = {msgspec.json.decode(data, type=_Firing).position for data in firings}
    return tuple(spec for position, spec in enumerate(question.key.plan) if position not in fired)
