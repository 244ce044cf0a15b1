"""Raw SQL against a tower. The statements are portable; this file knows which database it is."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy.engine import make_url

from bughunt.tower.refusals import code_of

AT = "2026-03-01T12:00:00.000000Z"
LATER = "2026-03-01T12:00:30.000000Z"
DIGEST = "ab" * 32

LANDED = {
    "state": "DONE",
    "verdict": "PASS",
    "level": "E4",
    "landed_at": AT,
    "landing_note": "seen in the target",
    "terminal_at": LATER,
    "gate_version": 2,
}
BUG = LANDED | {"verdict": "BUG", "level": "E5"}
ENV_ERROR = {
    "state": "FAILED",
    "reason": "ENV_ERROR",
    "verdict": "ENV_ERROR",
    "level": "E3",
    "terminal_at": LATER,
}


MOVED = {"moves": 1, "moved_at": AT, "moved_by": "me", "moved_why": "because"}
"""What a row in its first state says of that."""


REFUSED = (sqlite3.IntegrityError, psycopg.IntegrityError)

MISTYPED = (psycopg.DataError, psycopg.errors.DatatypeMismatch)
"""A type that refuses a value before any guard sees it; SQLite's STRICT says the same with our code."""


class Raw:
    """One raw connection, to either database."""

    def __init__(self, connection: sqlite3.Connection | psycopg.Connection[tuple[object, ...]]) -> None:
        self._connection = connection
        self.sqlite = isinstance(connection, sqlite3.Connection)

    def _run(self, sql: str, values: dict[str, object] | None) -> Any:  # Any: a cursor of either driver
        if isinstance(self._connection, sqlite3.Connection):
            return self._connection.execute(sql, values or {})
        plain = re.sub(r"(INSERT|UPDATE) OR (REPLACE|IGNORE|FAIL)", r"\1", sql)  # there are no such words
        return self._connection.execute(re.sub(r"(?<!:):(\w+)", r"%(\1)s", plain), values or {})

    def execute(self, sql: str, values: dict[str, object] | None = None) -> int:
        """Run one statement; the number of the row that it inserted."""
        if self.sqlite or not sql.startswith("INSERT"):
            return getattr(self._run(sql, values), "lastrowid", None) or 0
        [(number,)] = self._run(f"{sql} RETURNING id", values)
        assert isinstance(number, int)
        return number

    def rows(self, sql: str, values: dict[str, object] | None = None) -> list[tuple[object, ...]]:
        return list(self._run(sql, values).fetchall())

    @contextmanager
    def refuses(self, code: str) -> Iterator[None]:
        """The statement within is refused with this code; what went before it stands."""
        self.execute("SAVEPOINT refused")
        with pytest.raises((*REFUSED, *MISTYPED) if code.endswith("_MALFORMED") else REFUSED) as refusal:
            yield
        self.execute("ROLLBACK TO SAVEPOINT refused")
        if not isinstance(refusal.value, MISTYPED):
            assert code_of(refusal.value) == code, str(refusal.value)

    def refusal(self, statement: Callable[[], object]) -> str | None:
        """The code with which a statement is refused; None: it is not, and stands."""
        self.execute("SAVEPOINT tried")
        code = self.refusal_outside(statement)
        if code is not None:
            self.execute("ROLLBACK TO SAVEPOINT tried")
        return code

    def refusal_outside(self, statement: Callable[[], object]) -> str | None:
        """The same outside a transaction."""
        try:
            statement()
        except REFUSED as refusal:
            return code_of(refusal)
        return None

    def is_readable(self, sign: str) -> bool:
        """Whether the guards take this sign for one that a person could see."""
        asked = "char(:sign) GLOB readable FROM form" if self.sqlite else "is_readable(chr(:sign))"
        return bool(self.rows(f"SELECT {asked}", {"sign": ord(sign)})[0][0])

    def without_guard(self, table: str, name: str, *, missing_ok: bool = False) -> None:
        """Take one trigger away, as somebody could who may change the schema."""
        maybe = "IF EXISTS " if missing_ok else ""
        self.execute(f"DROP TRIGGER {maybe}{name}" + ("" if self.sqlite else f" ON {table}"))

    def without_constraints(self) -> None:
        """Let nothing but triggers hold this connection back."""
        if self.sqlite:
            self.execute("PRAGMA foreign_keys = OFF")
            self.execute("PRAGMA ignore_check_constraints = ON")
            return
        for table, name in self.rows(
            "SELECT conrelid::regclass::text, conname FROM pg_constraint"
            " WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace"
        ):
            self.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')

    def without_unique(self, table: str, name: str) -> None:
        """Let a key come twice."""
        if not self.sqlite:
            self.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
            return
        [(sql,)] = self.rows("SELECT sql FROM sqlite_master WHERE name = :table", {"table": table})
        self.execute("PRAGMA writable_schema = ON")
        plain = re.sub(rf'CONSTRAINT "{name}" UNIQUE \([^)]*\),?', "", str(sql))
        self.execute(
            "UPDATE sqlite_master SET sql = :sql WHERE name = :table", {"sql": plain, "table": table}
        )
        index = f"sqlite_autoindex_{table}_1"
        self.execute("DELETE FROM sqlite_master WHERE name = :index", {"index": index})
        self.execute("PRAGMA writable_schema = RESET")

    def insert(self, table: str, values: dict[str, object], verb: str = "INSERT") -> int:
        columns, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
        return self.execute(f"{verb} INTO {table} ({columns}) VALUES ({marks})", values)

    def update(self, table: str, row: int, values: dict[str, object], verb: str = "UPDATE") -> None:
        told = {**self._attributed(table, row, values), **values}
        changes = ", ".join(f"{name} = :{name}" for name in told)
        self.execute(f"{verb} {table} SET {changes} WHERE id = :row", {**told, "row": row})

    def _attributed(self, table: str, row: int, values: dict[str, object]) -> dict[str, object]:
        """Who changes a state, when and why, where that is what happens."""
        if "state" not in values:
            return {}
        [(state, moves)] = self.rows(f"SELECT state, moves FROM {table} WHERE id = :row", {"row": row})
        if state == values["state"]:
            return {}
        assert isinstance(moves, int)
        return MOVED | {"moves": moves + 1}

    def receipt(self, key: str = "k-1", verb: str = "INSERT", **values: object) -> int:
        defaults: dict[str, object] = {
            "project": "shop",
            "source": "chat",
            "idempotency_key": key,
            "occurred_at": AT,
            "received_at": AT,
            "summary": "Is it right?",
            "text": "Is it right?",
            "text_digest": DIGEST,
            "digest": DIGEST,
            "state": "RECEIVED",
            "attempts": 0,
            "failures": 0,
            **MOVED,
        }
        return self.insert("receipt", defaults | values, verb)

    def relation(self, receipt: int, question: int, verb: str = "INSERT", **values: object) -> int:
        defaults: dict[str, object] = {
            "receipt_id": receipt,
            "part": 1,
            "question_id": question,
            "relation": "LINK_EXISTING_Q",
            "at": AT,
            "who": "intake",
        }
        return self.insert("relation", defaults | values, verb)

    def attachment(self, receipt: int, verb: str = "INSERT", **values: object) -> int:
        defaults: dict[str, object] = {
            "receipt_id": receipt,
            "seq": 1,
            "name": "a.har",
            "media_type": "application/json",
            "digest": DIGEST,
            "size": 3,
            "body": b"abc",
        }
        return self.insert("attachment", defaults | values, verb)

    def event(self, verb: str = "INSERT", **values: object) -> int:
        """An activity, unless the values say otherwise."""
        defaults: dict[str, object] = {"kind": "log", "at": AT, "who": "me", "why": "seen"}
        return self.insert("event", defaults | values, verb)

    def receipt_in(self, state: str, question: int | None = None) -> int:
        """A receipt that was brought to this state by the allowed way."""
        number = len(self.rows("SELECT id FROM receipt"))
        receipt = self.receipt(f"for {state} {number}")
        asked = question or self.question(charter=f"of {state} {number}")
        if state in ("PARTIAL", "APPLIED"):
            self.relation(receipt, asked)
        if state != "RECEIVED":
            self.update("receipt", receipt, self.settling(state))
        return receipt

    def settling(self, state: str) -> dict[str, object]:
        """What a receipt needs besides its relations to come into this state."""
        ends: dict[str, dict[str, object]] = {
            "PARTIAL": {"relation": "SPLIT_TO_N_Q", "parts": 2},
            "APPLIED": {"relation": "LINK_EXISTING_Q", "parts": 1, "settled_at": LATER},
            "IGNORED": {"relation": "IGNORE", "settled_at": LATER},
        }
        return {"state": state, **ends.get(state, {})}

    def question(self, charter: str = "cart.py::total", verb: str = "INSERT", **values: object) -> int:
        defaults: dict[str, object] = {
            "project": "shop",
            "charter": charter,
            "target": "https://shop.test",
            "plan_fingerprint": "",
            "plan": "[]",
            "drill": 0,
            "text": "Is it right?",
            "state": "OPEN",
            "created_at": AT,
            **MOVED,
        }
        return self.insert("question", defaults | values, verb)

    def run(self, question: int, verb: str = "INSERT", **values: object) -> int:
        defaults: dict[str, object] = {
            "question_id": question,
            "project": "shop",
            "agent": "careful",
            "rules_version": 1,
            "created_at": AT,
            "state": "QUEUED",
            "owner": "me",
            "lease_until": LATER,
            **MOVED,
        }
        return self.insert("run", defaults | values, verb)

    def evidence(
        self, run: int, seq: int = 1, kind: str = "note", verb: str = "INSERT", **values: object
    ) -> int:
        defaults: dict[str, object] = {
            "run_id": run,
            "seq": seq,
            "kind": kind,
            "media_type": "text/plain",
            "digest": DIGEST,
            "size": 3,
            "at": AT,
            "body": b"abc",
        }
        return self.insert("evidence", defaults | values, verb)

    def tombstone(self, evidence: int, verb: str = "INSERT", **values: object) -> int:
        defaults: dict[str, object] = {
            "evidence_id": evidence,
            "why": "older than 90 days",
            "at": AT,
            "digest": DIGEST,
            "size": 3,
        }
        return self.insert("tombstone", defaults | values, verb)

    def run_in(self, state: str, question: int | None = None) -> int:
        """A RUN that was brought to this state by the allowed way."""
        asked = question or self.question(charter=f"for {state} {len(self.rows('SELECT id FROM question'))}")
        run = self.run(asked)
        if state in ("RUNNING", "VERIFYING", "DONE"):
            self.update("run", run, {"state": "RUNNING"})
        if state in ("VERIFYING", "DONE"):
            self.update("run", run, {"state": "VERIFYING"})
        if state in ("STALE", "SUPERSEDED"):
            self.update("run", run, {"state": "STALE"})
        if state == "DONE":
            self.proof_of_pass(run)
        ends = self.ending(state, asked)
        if ends:
            self.update("run", run, ends)
        return run

    def ending(self, state: str, question: int) -> dict[str, object]:
        """What a RUN needs besides to end in this state; nothing for states that are no end."""
        if state == "SUPERSEDED":
            return {"state": state, "terminal_at": LATER, "superseded_by": self.run(question)}
        return {
            "DONE": LANDED,
            "FAILED": {"state": "FAILED", "reason": "HARNESS_ERROR", "terminal_at": LATER},
            "CANCELLED": {"state": "CANCELLED", "terminal_at": LATER},
        }.get(state, {})

    def proof_of_pass(self, run: int) -> None:
        self.evidence(run, 1, "network", load=1)
        self.evidence(run, 2, "load", load=1, ending="held")
        self.evidence(run, 3, "judgement")

    def proof_of_bug(self, run: int, **second: object) -> None:
        """Two loads with the same mismatch; `second` changes the second's row."""
        self.evidence(run, 1, "network", load=1)
        self.evidence(run, 2, "load", load=1, ending="mismatch", signature="line 9")
        self.evidence(run, 3, "network", load=2)
        again: dict[str, object] = {"load": 2, "ending": "mismatch", "signature": "line 9"}
        self.evidence(run, 4, "load", **(again | second))
        self.evidence(run, 5, "judgement")

    def proof_of_env_error(self, run: int, *, loads: int = 2, layer: str = "network") -> None:
        for number in range(1, loads + 1):
            self.evidence(run, number, "load", load=number, ending="blocked")
        self.evidence(run, loads + 1, "cause", load=1, cause="network", layer=layer)


@contextmanager
def opened(url: str) -> Iterator[Raw]:
    """Raw SQL beside an open tower, on the same database."""
    with closing(connect(url)) as connection:
        yield Raw(connection)


def connect(url: str) -> sqlite3.Connection | psycopg.Connection[tuple[object, ...]]:
    """A connection past all our code."""
    if url.startswith("sqlite"):
        return sqlite3.connect(str(make_url(url).database), isolation_level=None)
    return psycopg.connect(url, autocommit=True)
