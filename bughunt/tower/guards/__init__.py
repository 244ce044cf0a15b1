"""The triggers that hold the invariants, in SQL, one folder per database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from importlib import resources

from sqlalchemy import Connection

from bughunt.tower.legible import READABLE_FORM, TIME_FORM

__all__ = ["install", "remove", "statements"]

_MADE = {
    "sqlite": "SELECT upper(type), '\"' || name || '\"' FROM sqlite_master WHERE type IN ('trigger', 'view')",
    # A trigger goes with its function.
    "postgresql": "SELECT 'VIEW', quote_ident(viewname) FROM pg_views WHERE schemaname = current_schema()"
    " UNION ALL SELECT 'FUNCTION', quote_ident(proname) || '()' FROM pg_proc"
    " WHERE pronamespace = current_schema()::regnamespace AND prorettype = 'trigger'::regtype",
}


def remove(connection: Connection) -> None:
    """Take all guards out, within a migration's transaction: it installs the present ones at its end."""
    dialect = connection.dialect.name
    cascade = " CASCADE" if dialect == "postgresql" else ""
    for kind, name in connection.exec_driver_sql(_MADE[dialect]).all():
        connection.exec_driver_sql(f"DROP {kind} IF EXISTS {name}{cascade}")


def install(connection: Connection) -> None:
    """Put the present guards into the database: the last step of every migration."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_KEEP_SCHEMA)
    for statement in statements(connection.dialect.name):
        connection.exec_driver_sql(statement)


_KEEP_SCHEMA = "SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)"
"""What the functions say `FROM CURRENT` of: else the temporary tables of a session would be seen first."""


def statements(dialect: str) -> Iterator[str]:
    """The guards' SQL statements, in the order in which they are to be executed."""
    folder = resources.files(__name__) / dialect
    whole = sqlite3.complete_statement if dialect == "sqlite" else _outside_a_body
    for file in sorted(folder.iterdir(), key=lambda file: (file.name != "form.sql", file.name)):
        if file.name.endswith(".sql"):
            script = file.read_text(encoding="utf-8")
            for statement in _split(script, whole):
                yield _with_forms(statement) if dialect == "sqlite" else statement


def _with_forms(statement: str) -> str:
    """What is said of `form` said in place: a subquery in each condition costs more than all the rest."""
    for column, form in (("time", TIME_FORM), ("readable", READABLE_FORM)):
        asked = f"(SELECT {column} FROM form)"  # noqa: S608  # it is looked for, not run
        statement = statement.replace(asked, "'" + form.replace("'", "''") + "'")
    return statement


def _outside_a_body(statement: str) -> bool:
    return statement.count("$$") % 2 == 0


def _split(script: str, whole: Callable[[str], bool]) -> Iterator[str]:
    """One statement at a time: `executescript` would commit the migration half-way."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if line.rstrip().endswith(";") and whole(statement):
            yield statement.strip()
            statement = ""
    if statement.strip():
        raise ValueError(f"a guard ends without a semicolon: {statement.strip()[:60]!r}")
