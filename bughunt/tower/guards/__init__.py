"""The triggers that hold the invariants, in SQL, one folder per database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib import resources

from sqlalchemy import Connection

__all__ = ["install", "remove", "statements"]


def remove(connection: Connection) -> None:
    """Take all guards out, within a migration's transaction: it installs the present ones at its end."""
    for kind in ("TRIGGER", "VIEW"):
        names = connection.exec_driver_sql(
            f"SELECT name FROM sqlite_master WHERE type = '{kind.lower()}'"  # noqa: S608  # one of two words
        ).scalars()
        for name in names.all():
            connection.exec_driver_sql(f'DROP {kind} "{name}"')


def install(connection: Connection) -> None:
    """Put the present guards into the database: the last step of every migration."""
    for statement in statements(connection.dialect.name):
        connection.exec_driver_sql(statement)


def statements(dialect: str) -> Iterator[str]:
    """The guards' SQL statements, in the order in which they are to be executed."""
    folder = resources.files(__name__) / dialect
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            yield from _split(file.read_text(encoding="utf-8"))


def _split(script: str) -> Iterator[str]:
    """One statement at a time: `executescript` would commit the migration half-way."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if line.rstrip().endswith(";") and sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
    if statement.strip():
        raise ValueError(f"a guard ends without a semicolon: {statement.strip()[:60]!r}")
