"""What was seen of a RUN's work: events that say so, and change nothing."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, TextClause, insert, literal, select

from bughunt.exceptions import UsageError
from bughunt.tower import tables
from bughunt.tower.transitions import Change
from bughunt.tower.values import EventKind

__all__ = ["ACTIVITIES", "heartbeats", "record"]

ACTIVITIES = frozenset({EventKind.HEARTBEAT, EventKind.LOG, EventKind.PAGE})


def record(connection: Connection, run_id: int, kind: EventKind, change: Change) -> None:
    """One activity of this RUN. Raises UsageError where the kind is a state's, which only a change makes."""
    if kind not in ACTIVITIES:
        raise UsageError(f"{kind} is no activity: choose {', '.join(sorted(ACTIVITIES))}")
    values = {"kind": kind, "run_id": run_id, "at": change.at, "who": change.who, "why": change.why}
    connection.execute(insert(tables.event).values(**values))


def heartbeats(
    connection: Connection, held: tuple[ColumnElement[bool], TextClause], at: datetime, owner: str
) -> None:
    """One heartbeat of each RUN that is held."""
    event, run = tables.event, tables.run
    told = (
        literal(EventKind.HEARTBEAT.value),
        run.c.id,
        literal(at, tables.UtcDateTime()),
        literal(owner),
        literal("alive"),
    )
    columns = ["kind", "run_id", "at", "who", "why"]
    connection.execute(insert(event).from_select(columns, select(*told).where(*held)))
