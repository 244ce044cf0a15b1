"""Opening a tower's database: where it is, how SQLite is to behave, and which schema it has."""

from __future__ import annotations

import time
from pathlib import Path
from sqlite3 import Connection as DriverConnection

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from bughunt.exceptions import NewerSchema, TowerUnavailable, UsageError
from bughunt.tower import guards
from bughunt.tower.migrations import HEAD, KNOWN
from bughunt.tower.refusals import translated

__all__ = ["connected", "engine_url", "name_of", "open_engine", "place_of"]

BUSY_SECONDS = 15.0
"""How long a write waits for another process's transaction; ours take milliseconds."""

CACHE_KIB = 32 * 1024
"""What a connection to a file keeps of it: a large tower's indexes outgrow SQLite's own 2 MiB."""

CONNECT_SECONDS = 10
"""How long a server may take to answer."""

RETURN_SECONDS = 20
"""How long a server that was there is waited for."""

OLDEST_SERVER = 14
"""The oldest PostgreSQL that is tried."""

_CONNECT = {"connect_timeout": CONNECT_SECONDS, "client_encoding": "utf8"}

_MIGRATING = 0x62756768756E74
"""The advisory lock under which a schema is made: `bughunt`, as a number."""


def place_of(url: str) -> Path | None:
    """The file that a database URL names; None: it is on a server."""
    parsed = engine_url(url)
    return Path(str(parsed.database)) if parsed.get_backend_name() == "sqlite" else None


def name_of(url: str) -> str:
    """What a database is called in messages: its file, or its URL without the password."""
    shown = engine_url(url).set(drivername="postgresql").render_as_string(hide_password=True)
    return str(place_of(url) or shown)


def engine_url(url: str) -> URL:
    """A database URL with the driver that is used. Raises UsageError where it is none for a tower."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise UsageError(f"{url!r} is no database URL: {_FORMS}") from error
    backend = parsed.get_backend_name()
    if backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
        return parsed
    if backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    told = parsed.render_as_string(hide_password=True)
    raise UsageError(f"{told!r}: a tower is a file or a PostgreSQL database: {_FORMS}")


_FORMS = "write sqlite:///path/to/tower.db, or postgresql://user@host/database"


def open_engine(url: str) -> Engine:
    """The engine of a database of the present schema, made or migrated where needed."""
    place, name = place_of(url), name_of(url)
    with translated(name):
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
        engine = _engine(place) if place is not None else _server_engine(engine_url(url))
        try:
            if place is not None:
                _use_wal(engine)
            else:
                _check_server(engine, name)
            if _revision_of(engine, name) != HEAD:
                _migrate(engine, name)
        except BaseException:
            engine.dispose()
            raise
    return engine


def connected(engine: Engine) -> Connection:
    """A connection; where a server that was there is not there just now, it is waited for.

    So of a server that starts anew, a caller notices only that a transaction was broken off.
    """
    deadline = time.monotonic() + RETURN_SECONDS
    while True:
        try:
            return engine.connect()
        except OperationalError as error:
            state = getattr(error.orig, "sqlstate", None)
            away = engine.dialect.name == "postgresql" and state in (None, *_AWAY)
            if not away or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


_AWAY = ("57P01", "57P02", "57P03")  # it is stopped, has crashed, is starting


def _server_engine(url: URL) -> Engine:
    try:
        import psycopg  # noqa: F401  # an extra: asked for before SQLAlchemy does
    except ImportError as error:
        raise UsageError(
            "A tower on PostgreSQL needs an extra: pip install 'bughunt[postgres]', then again."
        ) from error
    return create_engine(url, pool_pre_ping=True, connect_args=_CONNECT)


def _check_server(engine: Engine, name: str) -> None:
    with engine.connect() as connection:
        version = connection.exec_driver_sql("SHOW server_version_num").scalar_one()
        encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if int(version) < OLDEST_SERVER * 10_000:
        raise UsageError(
            f"{name}: PostgreSQL {int(version) // 10_000} is too old: use {OLDEST_SERVER} or newer."
        )
    if encoding != "UTF8":
        raise UsageError(f"{name}: its encoding is {encoding}: make the database with ENCODING 'UTF8'.")


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
    driver.execute(f"PRAGMA cache_size = -{CACHE_KIB}")


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


def _revision_of(engine: Engine, name: str) -> str | None:
    with engine.connect() as connection:
        return _revision(connection, name)


def _revision(connection: Connection, name: str) -> str | None:
    """The schema's revision; None: the database is empty."""
    tables = set(inspect(connection).get_table_names())
    if not tables:
        return None
    revision = None
    if {"alembic_version", "question", "run", "evidence"} <= tables:
        revision = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if revision is None:
        raise TowerUnavailable(f"{name}: this is another program's database: name another with --db")
    if revision not in KNOWN:
        raise NewerSchema(f"{name}: written by a newer bughunt (schema {revision}): upgrade bughunt")
    return str(revision)


def _migrate(engine: Engine, name: str) -> None:
    """Bring the schema up to date, under a lock: of two processes, the second finds it done."""
    with engine.connect().execution_options(begin="BEGIN IMMEDIATE") as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATING})")
        if _revision(connection, name) != HEAD:
            _upgrade(connection)


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "bughunt.tower:migrations")
    config.attributes["connection"] = connection
    guards.remove(connection)  # no migration breaks what they hold, but its statements look as if
    command.upgrade(config, "head")
    guards.install(connection)
