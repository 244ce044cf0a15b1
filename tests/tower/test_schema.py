"""What the migrations make, what the code expects, and what the exceptions name are one thing."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from bughunt import exceptions
from bughunt.tower import guards, tables
from bughunt.tower.migrations import HEAD, KNOWN
from bughunt.tower.refusals import REFUSALS, refusal_code
from tests.postgres import Server
from tests.tower.raw import opened

SPARE = {"QUESTION_PROJECT"}
"""Not a rule: what a foreign key refers to."""


def _schema(path: Path, kind: str) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = ? AND sql IS NOT NULL", (kind,)
        )
        return {name: re.sub(r"\s*([(),])\s*", r"\1", " ".join(sql.split())) for name, sql in rows}


def _described(path: Path) -> dict[str, set[str]]:
    """Of each table its columns and what it holds them to, in whatever order and words."""
    return {table: _parts(sql) for table, sql in _schema(path, "table").items()}


def _parts(sql: str) -> set[str]:
    """What stands between the commas of CREATE TABLE; a column's own reference as the table's."""
    inside, after = sql[sql.index("(") + 1 :].rsplit(")", 1)
    parts, depth = [""], 0
    for sign in inside:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    found = {f"ends: {after.strip()}"}
    for part in parts:
        own = re.fullmatch(r"(\w+) (\w+) CONSTRAINT (\w+) (REFERENCES .*)", part.strip())
        if own:
            found |= {f"{own[1]} {own[2]}", f"CONSTRAINT {own[3]} FOREIGN KEY({own[1]}){own[4]}"}
        else:
            found.add(part.strip())
    return found


def test_migrations_make_the_tables_that_the_code_expects(fresh_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "expected.db"
    engine = create_engine(f"sqlite:///{path}")
    tables.metadata.create_all(engine)
    engine.dispose()
    made = _described(fresh_file)
    del made["alembic_version"]
    assert made == _described(path)
    assert _schema(fresh_file, "index") == _schema(path, "index")


def test_known_revisions_are_those_of_the_migrations() -> None:
    config = Config()
    config.set_main_option("script_location", "bughunt.tower:migrations")
    script = ScriptDirectory.from_config(config)
    assert script.get_current_head() == HEAD
    assert [revision.revision for revision in script.walk_revisions()][::-1] == list(KNOWN)


def test_guards_can_be_installed_again(place: Path) -> None:
    before = _schema(place, "trigger")
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        for statement in guards.statements("sqlite"):
            connection.execute(statement)
    assert before
    assert _schema(place, "trigger") == before


def test_every_code_has_its_exception(fresh_file: Path) -> None:
    raised = re.findall(r"RAISE\(ABORT,'(\w+)'\)", " ".join(_schema(fresh_file, "trigger").values()))
    named = re.findall(r"\b([A-Z]+_[A-Z_]+)\b", " ".join(_schema(fresh_file, "index")))
    constraints = re.findall(r'CONSTRAINT "?([A-Z_]{6,})"?', " ".join(_schema(fresh_file, "table").values()))
    codes = {*raised, *named, *constraints} - SPARE - {"TOMBSTONE_IS_UNIQUE"}
    assert codes == set(REFUSALS)


def test_every_exception_is_in_the_tree_and_exported() -> None:
    for kind in REFUSALS.values():
        assert kind.__name__ in exceptions.__all__
        assert re.search(rf"\b{kind.__name__}\b", exceptions.__doc__ or ""), kind
        assert kind.__doc__


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("RUN_IS_TERMINAL", "RUN_IS_TERMINAL"),
        ("CHECK constraint failed: RUN_IS_MALFORMED", "RUN_IS_MALFORMED"),
        ("NOT NULL constraint failed: evidence.digest", "EVIDENCE_IS_MALFORMED"),
        ("cannot store BLOB value in TEXT column question.project", "QUESTION_IS_MALFORMED"),
        ("UNIQUE constraint failed: run.project, run.idempotency_key", "RUN_KEY_IS_UNIQUE"),
        ("UNIQUE constraint failed: evidence.run_id, evidence.seq", "EVIDENCE_SEQ_IS_UNIQUE"),
        (
            "UNIQUE constraint failed: evidence.run_id, evidence.kind, evidence.load",
            "EVIDENCE_LOAD_IS_UNIQUE",
        ),
        ("UNIQUE constraint failed: tombstone.evidence_id", "TOMBSTONE_IS_IMMUTABLE"),
        ("FOREIGN KEY constraint failed", None),
        ("UNIQUE constraint failed: other.thing", None),
        ("NOT NULL constraint failed: other.thing", None),
        ("no such table: run", None),
    ],
)
def test_codes_in_the_words_of_sqlite(message: str, code: str | None) -> None:
    assert refusal_code(message) == code


def test_migrations_make_the_same_on_postgresql(postgres: Server) -> None:
    with postgres.database() as migrated, postgres.database("template0") as expected:
        engine = create_engine(_psycopg(expected))
        tables.metadata.create_all(engine)
        engine.dispose()
        made = _on_server(migrated)
        made = {row for row in made if row[0] != "alembic_version"}
        assert made
        assert made == _on_server(expected)


def test_guards_are_the_same_on_both(fresh_file: Path, postgres: Server) -> None:
    """By their names; what they do is tried by the same tests."""
    with postgres.database() as url, opened(url) as raw:
        rows = raw.rows("SELECT DISTINCT tgname FROM pg_trigger WHERE NOT tgisinternal")
    there = {str(row[0]) for row in rows}
    here = set(_schema(fresh_file, "trigger"))
    assert {name for name in there if not name.endswith("_truncate")} == here
    assert len(there) - len(here) == len(tables.metadata.tables)


def _psycopg(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://")


def _on_server(url: str) -> set[tuple[object, ...]]:
    """Columns, constraints and indexes, as the server tells of them."""
    with opened(url) as raw:
        columns = raw.rows(
            "SELECT table_name, column_name, data_type, is_nullable,"
            " regexp_replace(coalesce(column_default, ''), '::.*', '')"
            " FROM information_schema.columns WHERE table_schema = 'public'"
            " AND table_name NOT IN ('proof', 'held', 'mismatched')"
        )
        constraints = raw.rows(
            "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE connamespace = 'public'::regnamespace"
        )
        indexes = raw.rows(
            "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
        )
    return {*columns, *constraints, *indexes}
