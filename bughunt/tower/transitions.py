"""The one way from a state to the next: from the state that was seen, by somebody, for a reason.

The database makes an event of each change (`guards/`), so that who, when, from, to and why are told by the
same row that changed, and the events replay to what is.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct
from sqlalchemy import Connection, RowMapping, Table, bindparam, update

from bughunt.tower import tables

__all__ = ["Change", "first", "move"]


class Change(Struct, frozen=True, kw_only=True):
    """Who brings a row into another state, when, and why."""

    at: datetime
    who: str
    why: str

    @property
    def columns(self) -> dict[str, object]:
        """As the row keeps them."""
        return {"moved_at": self.at, "moved_by": self.who, "moved_why": self.why}


def first(state: StrEnum, change: Change) -> dict[str, object]:
    """The columns of a new row in its first state."""
    return {"state": state, "moves": 1, **change.columns}


# Built once: making a statement costs more than running it.
_MOVES = {
    table.name: update(table)
    .where(table.c.id == bindparam("seen_id"), table.c.state == bindparam("seen_state"))
    .values(moves=table.c.moves + 1)
    .returning(table)
    for table in (tables.run, tables.question, tables.receipt)
}


def move(
    connection: Connection,
    table: Table,
    seen: tuple[int, StrEnum],
    to: StrEnum,
    change: Change,
    **values: object,
) -> RowMapping | None:
    """One transition of the row that was seen in that state; None: it is in another one by now.

    `values` are what else changes with the state. Raises what the guards refuse.
    """
    at = {"seen_id": seen[0], "seen_state": seen[1]}
    changed = connection.execute(_MOVES[table.name], {**at, "state": to, **change.columns, **values})
    return changed.mappings().first()
