"""Opening a tower's database: where it is, how SQLite is to behave, and which schema it has."""

from __future__ import annotations

import time
from pathlib import Path
from sqlite3 import Connection as DriverConnection

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from bughunt.exceptions import NewerSchema, TowerUnavailable, UsageError
from bughunt.tower import guards
from bughunt.tower.migrations import HEAD, KNOWN
from bughunt.tower.refusals import translated

__all__ = ["open_engine", "place_of"]

BUSY_SECONDS = 15.0
"""How long a write waits for another process's transaction; ours take milliseconds."""


def place_of(url: str) -> Path:
    """The file that a database URL names."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise UsageError(f"{url!r} is no database URL: write sqlite:///path/to/tower.db") from error
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        raise UsageError(f"{url!r}: a tower is a file: write sqlite:///path/to/tower.db")
    return Path(str(parsed.database))


def open_engine(place: Path) -> Engine:
    """The engine of a database of the present schema, made or migrated where needed."""
    with translated(str(place)):
        place.parent.mkdir(parents=True, exist_ok=True)
        engine = _engine(place)
        try:
            _use_wal(engine)
            if _revision_of(engine, place) != HEAD:
                _migrate(engine, place)
        except BaseException:
            engine.dispose()
            raise
    return engine


def _engine(place: Path) -> Engine:
    engine = create_engine(f"sqlite:///{place}", connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(driver: DriverConnection, entry: ConnectionPoolEntry) -> None:
    driver.isolation_level = None  # the driver would begin by itself, and not before DDL
    driver.execute("PRAGMA foreign_keys = ON")
    driver.execute("PRAGMA recursive_triggers = ON")
    driver.execute("PRAGMA synchronous = FULL")


def _begin(connection: Connection) -> None:
    """Writers take the lock at once: a reader that turns writer can fail where it should wait."""
    how = connection.get_execution_options().get("begin", "BEGIN")
    if how:
        connection.exec_driver_sql(how)


def _use_wal(engine: Engine) -> None:
    """Switch a fresh file to WAL. SQLite does not wait for the lock that this needs, so we do."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            _switch(engine)
        except OperationalError as error:
            if "locked" not in str(error.orig) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _switch(engine: Engine) -> None:
    with engine.connect().execution_options(begin="") as connection:
        if connection.exec_driver_sql("PRAGMA journal_mode").scalar() != "wal":
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")


def _revision_of(engine: Engine, place: Path) -> str | None:
    with engine.connect() as connection:
        return _revision(connection, place)


def _revision(connection: Connection, place: Path) -> str | None:
    """The schema's revision; None: the database is empty."""
    rows = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
    tables = {str(row[0]) for row in rows}
    if not tables:
        return None
    revision = None
    if {"alembic_version", "question", "run", "evidence"} <= tables:
        revision = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if revision is None:
        raise TowerUnavailable(f"{place}: this is another program's database: name another with --db")
    if revision not in KNOWN:
        raise NewerSchema(f"{place}: written by a newer bughunt (schema {revision}): upgrade bughunt")
    return str(revision)


def _migrate(engine: Engine, place: Path) -> None:
    """Bring the schema up to date, under the write lock: of two processes, the second finds it done."""
    with engine.connect().execution_options(begin="BEGIN IMMEDIATE") as connection, connection.begin():
        if _revision(connection, place) != HEAD:
            _upgrade(connection)


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "bughunt.tower:migrations")
    config.attributes["connection"] = connection
    guards.remove(
        connection
    )  # what they hold is not broken by a migration, but its statements are theirs to judge
    command.upgrade(config, "head")
    guards.install(connection)
