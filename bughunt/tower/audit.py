"""How a tower is: what it holds, what waits, and whether what may never happen has happened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from msgspec import Struct
from sqlalchemy import Connection, text

from bughunt.tower import reconciling, tables
from bughunt.tower.queries import query
from bughunt.tower.values import Waiting
from bughunt.tower.writing import GATE_VERSION

__all__ = ["Audit", "Metrics", "audit"]

K = TypeVar("K")

RETRIED_DAYS = 7

LISTED = 20
"""How many of what waits are listed; all are counted."""


class Metrics(Struct, frozen=True, kw_only=True):
    """The five ratios by which control towers are compared; None: there is nothing to divide by."""

    m1_duplicates: float | None
    """Duplicate keys of receipts, Qs and RUNs, of all of those."""
    m2_orphans: float | None
    """References to a Q or RUN that is not there, of all references."""
    m3_unsettled: float | None
    """Receipts that are not settled, of all."""
    m4_recovery: float | None
    """Receipts that were settled after a retry, of those that needed one, in the last 7 days."""
    m5_false_finality: float | None
    """DONE under the present gate without what it asks for, of all DONE under it."""


class Audit(Struct, frozen=True, kw_only=True):
    """A tower at one moment."""

    at: datetime
    totals: Mapping[str, int]
    """Rows of each kind."""
    run_states: Mapping[str, int]
    question_states: Mapping[str, int]
    receipt_states: Mapping[str, int]
    done_by_level: Mapping[str, int]
    """`PASS E4` and so on."""
    duplicates: Mapping[str, int]
    """Rows beyond the first of each key, by kind."""
    orphans: Mapping[str, int]
    """References that lead nowhere, and states that lack what they stand on, by kind."""
    terminal_without_time: int
    idle_questions: int
    """Qs that nobody has tried to answer yet: no fault of the tower."""
    unsettled: int
    oldest_unsettled: datetime | None
    waiting: tuple[Waiting, ...]
    """What is not settled, the oldest first, at most 20 of it."""
    waiting_for_person: int
    settled_after_retries: int
    """In the last 7 days."""
    false_finality: int
    """DONE under the present gate whose evidence rows do not bear it."""
    legacy_debt: Mapping[str, int]
    """DONE under an older gate that the present one would refuse, by the gate's version."""
    done_by_gate: Mapping[str, int]
    metrics: Metrics

    @property
    def sound(self) -> bool:
        """Whether nothing has happened that may never happen. What waits, and old debt, may."""
        wrong = (*self.duplicates.values(), *self.orphans.values())
        return not (any(wrong) or self.terminal_without_time or self.false_finality)


def audit(connection: Connection, now: datetime) -> Audit:
    """Look at the whole tower."""
    if connection.dialect.name == "postgresql":  # compiling these statements takes as long as running them
        connection.execute(text("SET LOCAL jit = off"))
    totals, duplicates = _counts(connection, "totals"), _counts(connection, "duplicates")
    orphans = _counts(connection, "orphans")
    unbacked = {row["gate_version"]: int(row["rows"]) for row in _rows(connection, "unbacked")}
    runs = _rows(connection, "runs")
    over = [row for row in runs if row["state"] == "DONE"]
    done = _summed((row["gate_version"], row["rows"]) for row in over)
    false = unbacked.get(GATE_VERSION, 0)
    [unsettled] = _rows(connection, "unsettled")
    [retried] = _rows(connection, "retried", since=tables.time_text(now - timedelta(days=RETRIED_DAYS)))
    waiting = reconciling.waiting(connection, now)
    identities = totals["receipts"] + totals["questions"] + totals["runs"]
    lost = orphans["run_without_question"] + orphans["relation_without_question"]
    return Audit(
        at=now,
        totals=totals,
        run_states=_summed((row["state"], row["rows"]) for row in runs),
        **_states(connection),
        done_by_level=_summed((f"{row['verdict']} {row['level']}", row["rows"]) for row in over),
        duplicates=duplicates,
        orphans=orphans,
        terminal_without_time=_count(connection, "settled_without_time")
        + sum(int(row["timeless"]) for row in runs),
        idle_questions=_count(connection, "idle_questions"),
        unsettled=unsettled["rows"],
        oldest_unsettled=None if unsettled["oldest"] is None else datetime.fromisoformat(unsettled["oldest"]),
        waiting=tuple(waiting[:LISTED]),
        waiting_for_person=sum(item.needs_person for item in waiting),
        settled_after_retries=int(retried["settled"]),
        false_finality=false,
        legacy_debt={_gate(gate): rows for gate, rows in unbacked.items() if gate != GATE_VERSION},
        done_by_gate={_gate(gate): rows for gate, rows in done.items()},
        metrics=Metrics(
            m1_duplicates=_ratio(sum(duplicates.values()), identities),
            m2_orphans=_ratio(lost, _count(connection, "references")),
            m3_unsettled=_ratio(unsettled["rows"], totals["receipts"]),
            m4_recovery=_ratio(int(retried["settled"]), int(retried["needed"])),
            m5_false_finality=_ratio(false, done.get(GATE_VERSION, 0)),
        ),
    )


def _rows(
    connection: Connection, name: str, **values: object
) -> list[Mapping[str, Any]]:  # Any: of several types
    return [dict(row) for row in connection.execute(query("audit", name), values).mappings()]


def _counts(connection: Connection, name: str) -> dict[str, int]:
    return {row["name"]: int(row["rows"]) for row in _rows(connection, name)}


def _count(connection: Connection, name: str) -> int:
    [row] = _rows(connection, name)
    return int(row["rows"])


def _states(connection: Connection) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {"question": {}, "receipt": {}}
    for row in _rows(connection, "states"):
        found[row["kind"]][row["state"]] = row["rows"]
    return {f"{kind}_states": states for kind, states in found.items()}


def _summed(counted: Iterable[tuple[K, int]]) -> dict[K, int]:
    found: dict[K, int] = {}
    for key, rows in counted:
        found[key] = found.get(key, 0) + int(rows)
    return found


def _gate(version: int | None) -> str:
    return "none" if version is None else str(version)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
