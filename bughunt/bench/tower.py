"""What a tower costs beside a bare loop of durable inserts in the same database, small and large."""

from __future__ import annotations

import os
import re
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib import resources
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, create_engine, func, select, text

from bughunt.tower import (
    EvidenceKind,
    Message,
    NewEvidence,
    NewQuestion,
    RunRequest,
    Tower,
    evidence_of_load,
    guards,
    tables,
)
from bughunt.tower.opening import engine_url
from bughunt.verdict.judgement import Ending, Judgement, Level, LoadJudgement, State, Verdict
from bughunt.verdict.record import LoadRecord, Scope, to_json
from bughunt.verdict.rules import RULES_VERSION

__all__ = ["Cost", "measure"]

SMALL = 1000
"""RUNs of the small tower: what the large one is compared with, and copied from."""

QUESTIONS = 100

ROUNDS = 7
"""Measurements of each kind, taken in turns; the median counts."""

RECEIPTS = 150
RUNS = 25

TEXT = "On staging the cart shows 487.00 for three items with the code, and I think that is not right. " * 3

Progress = Callable[[str], None]


class Cost(Struct, frozen=True, kw_only=True):
    """What a tower costs on one database."""

    runs: int
    """RUNs of the large tower."""
    bare_per_s: float
    """Rows of the size of a receipt, each in a durable transaction of its own, past all our code."""
    receipts_per_s: float
    receipts_ratio: float
    """Durable receipts beside bare rows."""
    runs_per_s: float
    """Whole lives of a RUN: reserved, started, 10 pieces of evidence, verified, DONE."""
    growth_ratio: float
    """The dearer of a receipt and a RUN in the large tower, beside the same in the small one."""
    audit_s: float
    """An audit of the large tower."""


def measure(runs: int, url: str | None, told: Progress) -> Cost:
    """On a file of its own, or in this empty PostgreSQL database, which is filled."""
    with tempfile.TemporaryDirectory(prefix="bughunt-bench-") as folder:
        place = url or f"sqlite:///{Path(folder) / 'tower.db'}"
        with closing(Tower.open(place)) as tower, _bare(place) as bare:
            return _measured(tower, bare, place, runs, told)


def _measured(tower: Tower, bare: Callable[[], None], url: str, runs: int, told: Progress) -> Cost:
    told(f"{SMALL:,} runs through the gates")
    numbers = count()
    for _ in range(SMALL):
        _life(tower, next(numbers), notes=0)
    small = _round(tower, bare, numbers, told)
    _fill(url, runs, told)
    large = _round(tower, bare, numbers, told)
    told(f"auditing {runs:,} runs")
    began = time.perf_counter()
    tower.audit()
    audit = time.perf_counter() - began
    growth = max(large[kind] / small[kind] for kind in ("receipt", "run"))
    return Cost(
        runs=runs,
        bare_per_s=1 / small["bare"],
        receipts_per_s=1 / small["receipt"],
        receipts_ratio=small["bare"] / small["receipt"],
        runs_per_s=1 / small["run"],
        growth_ratio=growth,
        audit_s=audit,
    )


def _round(
    tower: Tower, bare: Callable[[], None], numbers: Iterator[int], told: Progress
) -> dict[str, float]:
    """The median seconds of one bare row, one receipt and one RUN, taken in turns."""
    told("measuring")
    taken: dict[str, list[float]] = {"bare": [], "receipt": [], "run": []}
    for _ in range(ROUNDS):
        taken["bare"].append(_seconds(bare, RECEIPTS))
        taken["receipt"].append(_seconds(lambda: _receive(tower, next(numbers)), RECEIPTS))
        taken["run"].append(_seconds(lambda: _life(tower, next(numbers), notes=10), RUNS))
    return {kind: statistics.median(found) for kind, found in taken.items()}


def _seconds(act: Callable[[], object], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        act()
    return (time.perf_counter() - began) / times


def _receive(tower: Tower, number: int) -> None:
    at = datetime.now(UTC)
    message = Message(project="bench", source="bench", key=f"bench-{number}", text=TEXT, occurred_at=at)
    tower.record(message)


def _life(tower: Tower, number: int, *, notes: int) -> None:
    asked = NewQuestion(
        project="bench", charter=f"cart.py::{number % QUESTIONS}", question="Is it right?", target="staging"
    )
    question = tower.ask(asked)
    request = RunRequest(question=question.id, agent="careful", rules_version=RULES_VERSION, owner="bench")
    run = tower.reserve(request)
    tower.start(run.id, "bench")
    note = NewEvidence(kind=EvidenceKind.NOTE, data=TEXT.encode(), media_type="text/plain")
    if notes:
        tower.add_evidence(run.id, "bench", [note] * notes)
    tower.verify(run.id, "bench")
    record = NewEvidence(kind=EvidenceKind.NETWORK, data=to_json(_LOAD), load=1)
    proof = [record, *map(evidence_of_load, _PASSED.endings)]
    tower.finish(
        run.id,
        "bench",
        _PASSED,
        evidence=proof,
        landed_at=datetime.now(UTC),
        landing_note="staging shows 487.00",
    )


_LOAD = LoadRecord(
    number=1,
    began_at="2026-03-01T12:00:00Z",
    scope=Scope(base_url="https://shop.test", own_hosts=("shop.test",)),
    ended=1.25,
)
_PASSED = Judgement(
    rules_version=RULES_VERSION,
    state=State.DONE,
    verdict=Verdict.PASS,
    reason=None,
    level=Level.E4,
    rule="first_held",
    sentence="The first load held.",
    loads=1,
    endings=(LoadJudgement(load=1, ending=Ending.HELD, rule="held", reason="The charter held."),),
)


@contextmanager
def _bare(url: str) -> Iterator[Callable[[], None]]:
    """Inserts a durable row of a receipt's size in a transaction of its own, by the driver alone."""
    body = TEXT + "x" * 500  # the keys, digests and times of a receipt
    if url.startswith("sqlite"):
        path = str(engine_url(url).database) + ".bare"
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("CREATE TABLE bare (id INTEGER PRIMARY KEY, body TEXT)")
            yield lambda: _insert_bare(connection, "INSERT INTO bare (body) VALUES (?)", body)
        return
    import psycopg

    with psycopg.connect(url, autocommit=True) as server:
        server.execute("CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text)")
        yield lambda: _insert_bare(server, "INSERT INTO bare (body) VALUES (%s)", body)


def _insert_bare(connection: Any, statement: str, body: str) -> None:  # Any: either driver's
    connection.execute("BEGIN")
    connection.execute(statement, (body,))
    connection.execute("COMMIT")


STEPS = 10


def _fill(url: str, runs: int, told: Progress) -> None:
    """Store the small tower's RUNs as often as it takes, past the guards, which are put in again."""
    engine = create_engine(engine_url(url))
    copies = max(0, runs // SMALL - 1)
    with engine.begin() as connection:
        numbers = {
            table.name: connection.execute(select(func.max(table.c.id))).scalar_one() for table in _COPIED
        }
        guards.remove(connection)
    for step in range(STEPS):
        first, last = copies * step // STEPS + 1, copies * (step + 1) // STEPS
        if first <= last:
            told(f"filling: {last * SMALL:,} of {runs:,} runs")
            with engine.begin() as connection:
                _copy(connection, numbers, first, last)
    with engine.begin() as connection:
        guards.install(connection)
        if engine.dialect.name == "postgresql":
            for table in _COPIED:
                last_id = select(func.max(table.c.id)).scalar_subquery()
                connection.execute(select(func.setval(f"{table.name}_id_seq", last_id)))
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
    else:
        with engine.connect() as connection:  # else the first commits of the large tower would pay for it
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    engine.dispose()
    os.sync()  # as would what the system still has to write of it


_COPIED = (tables.run, tables.evidence, tables.event)


def _copy(connection: Connection, numbers: dict[str, int], first: int, last: int) -> None:
    script = (resources.files("bughunt.bench") / "copies.sql").read_text(encoding="utf-8")
    values = {"first": first, "last": last}
    values |= {"runs": numbers["run"], "evidence": numbers["evidence"], "events": numbers["event"]}
    for statement in re.split(r"^-- name: \w+$", script, flags=re.MULTILINE)[1:]:
        used = {name: value for name, value in values.items() if f":{name}" in statement}
        connection.execute(text(statement.strip().rstrip(";")), used)
