"""Whether what is stored is what was written: every hash again, and every state from its events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any, TypeAlias

from msgspec import Struct
from sqlalchemy import Connection, Select, Table, select

from bughunt.exceptions import EvidenceDamaged
from bughunt.tower import tables
from bughunt.tower.blobs import Blobs
from bughunt.tower.receiving import digest_of
from bughunt.tower.states import RECEIPT_TRANSITIONS, TRANSITIONS

__all__ = ["Verified", "Wrong", "verified"]

AnyRow: TypeAlias = Any  # a row: of several columns

CHUNK = 500
"""Rows that are in memory at once."""

Told = Callable[[int], None]
"""Is told of each chunk how many rows it had."""


class Wrong(Struct, frozen=True, kw_only=True):
    """One row or blob that is not what was written."""

    what: str
    """`evidence 3 of RUN-12`, `R-4`, `RUN-7`."""
    why: str


class Verified(Struct, frozen=True, kw_only=True):
    """What was looked at, and what of it is wrong."""

    evidence: int
    removed: int
    """Of those, how many are gone by retention, with a tombstone."""
    receipts: int
    attachments: int
    replayed: int
    """Qs, RUNs and receipts whose events were replayed."""
    wrong: tuple[Wrong, ...]


def verified(connection: Connection, blobs: Blobs, told: Told = lambda rows: None) -> Verified:
    """Look at everything, a chunk at a time."""
    wrong: list[Wrong] = []
    counts: dict[str, int] = defaultdict(int)
    for check in (_evidence, _receipts, _attachments):
        for name, found in check(connection, blobs, told):
            counts[name] += 1
            wrong += [found] if found else []
    for table in (tables.question, tables.run, tables.receipt):
        for found in _replayed(connection, table, told):
            counts["replayed"] += 1
            wrong += [found] if found else []
    return Verified(
        evidence=counts["evidence"] + counts["removed"],
        removed=counts["removed"],
        receipts=counts["receipts"],
        attachments=counts["attachments"],
        replayed=counts["replayed"],
        wrong=tuple(wrong),
    )


Found = Iterator[tuple[str, Wrong | None]]


def _evidence(connection: Connection, blobs: Blobs, told: Told) -> Found:
    table, tombstone = tables.evidence, tables.tombstone
    removed = tombstone.c.id.label("removed")
    joined = table.outerjoin(tombstone, tombstone.c.evidence_id == table.c.id)
    columns = (table.c.id, table.c.run_id, table.c.seq, table.c.digest, table.c.size, table.c.body, removed)
    statement = select(*columns).select_from(joined)
    for row in _chunks(connection, statement, table, told):
        if row.removed is not None:
            yield "removed", None
            continue
        yield "evidence", _bytes(row, f"evidence {row.seq} of RUN-{row.run_id}", blobs)


def _attachments(connection: Connection, blobs: Blobs, told: Told) -> Found:
    for row in _chunks(connection, select(tables.attachment), tables.attachment, told):
        yield "attachments", _bytes(row, f"file {row.seq} of R-{row.receipt_id}", blobs)


def _bytes(row: AnyRow, what: str, blobs: Blobs) -> Wrong | None:
    if row.body is None:
        try:
            size = len(blobs.read(row.digest))
        except EvidenceDamaged as damaged:
            return Wrong(what=what, why=str(damaged))
    else:
        size = len(row.body)
        if sha256(row.body).hexdigest() != row.digest:
            return Wrong(what=what, why="its bytes are not those of its SHA-256")
    return None if size == row.size else Wrong(what=what, why=f"it has {size} bytes, and says {row.size}")


def _receipts(connection: Connection, blobs: Blobs, told: Told) -> Found:
    table = tables.receipt
    for row in _chunks(connection, select(table.c.id, table.c.text, table.c.digest), table, told):
        same = digest_of(row.text) == row.digest
        yield (
            "receipts",
            None if same else Wrong(what=f"R-{row.id}", why="its text is not that of its SHA-256"),
        )


def _chunks(connection: Connection, statement: Select[Any], table: Table, told: Told) -> Iterator[AnyRow]:
    last = 0
    while rows := connection.execute(
        statement.where(table.c.id > last).order_by(table.c.id).limit(CHUNK)
    ).all():
        last = rows[-1].id
        told(len(rows))
        yield from rows


_NAMES = {"question": "Q", "run": "RUN", "receipt": "R"}
_ALLOWED = {"run": TRANSITIONS, "receipt": RECEIPT_TRANSITIONS}


def _replayed(connection: Connection, table: Table, told: Told) -> Iterator[Wrong | None]:
    """What each row's events come to, beside its present state."""
    kind, event = table.name, tables.event
    of = event.c[f"{kind}_id"]
    for chunk in _ids(connection, table):
        events = select(of.label("of"), event.c.seq, event.c.from_state, event.c.to_state).where(
            event.c.kind == kind, of.in_([row.id for row in chunk])
        )
        by_row: dict[int, list[AnyRow]] = defaultdict(list)
        for row in connection.execute(events.order_by(of, event.c.seq)):
            by_row[row.of].append(row)
        told(len(chunk))
        for row in chunk:
            why = _contradiction(kind, row.state, row.moves, by_row[row.id])
            yield Wrong(what=f"{_NAMES[kind]}-{row.id}", why=why) if why else None


def _ids(connection: Connection, table: Table) -> Iterator[Sequence[AnyRow]]:
    last = 0
    columns = (table.c.id, table.c.state, table.c.moves)
    while rows := connection.execute(
        select(*columns).where(table.c.id > last).order_by(table.c.id).limit(CHUNK)
    ).all():
        last = rows[-1].id
        yield rows


def _contradiction(kind: str, state: str, moves: int, events: Sequence[AnyRow]) -> str | None:
    """Where the events do not lead to the present state; None: they do."""
    if [event.seq for event in events] != list(range(1, moves + 1)):
        return f"it moved {moves} times, and its events are {[event.seq for event in events]}"
    before = None
    for event in events:
        if event.from_state != before:
            return f"event {event.seq} comes from {event.from_state}, and it was {before}"
        allowed = _ALLOWED.get(kind)
        if allowed is not None and (before, event.to_state) not in allowed:
            return f"event {event.seq} leads from {before} to {event.to_state}, which is no way"
        before = event.to_state
    return None if before == state else f"its events lead to {before}, and it is {state}"
