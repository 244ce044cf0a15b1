"""A tower on a file of its own for each test, and the same file seen by raw SQL."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bughunt.tower import Tower
from tests.postgres import Server
from tests.tower.making import Clock
from tests.tower.raw import Raw, connect


@pytest.fixture(scope="session")
def fresh_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tower that holds nothing, to be copied: migrating takes longer than most tests."""
    path = tmp_path_factory.mktemp("fresh") / "tower.db"
    Tower.open(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def place(tmp_path: Path, fresh_file: Path) -> Path:
    """Where this test's tower is."""
    return Path(shutil.copy(fresh_file, tmp_path / "tower.db"))


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """An empty tower, on each of the databases. A test of files alone has a `url` of its own."""
    if request.param == "sqlite":
        yield f"sqlite:///{request.getfixturevalue('place')}"
        return
    server: Server = request.getfixturevalue("postgres")
    with server.database() as database:
        yield database


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tower(url: str, clock: Clock) -> Iterator[Tower]:
    opened = Tower.open(url, clock=clock)
    yield opened
    opened.close()


@pytest.fixture(scope="session", params=["sqlite", "sqlite without checks", "postgresql"])
def raw_database(request: pytest.FixtureRequest) -> Iterator[Raw]:
    """A tower seen by raw SQL, past all our code: with all that the database can check, and without.

    SQLite checks no foreign keys unless asked to, and no CHECK where asked not to.
    """
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("postgres")
        with server.database() as database, closing(connect(database)) as connection:
            yield Raw(connection)
        return
    memory = sqlite3.connect(":memory:", isolation_level=None)
    with closing(sqlite3.connect(request.getfixturevalue("fresh_file"))) as fresh:
        fresh.backup(memory)
    checks = request.param == "sqlite"
    memory.execute("PRAGMA foreign_keys = ON" if checks else "PRAGMA ignore_check_constraints = ON")
    yield Raw(memory)
    memory.close()


@pytest.fixture
def raw(raw_database: Raw) -> Iterator[Raw]:
    """Each test has an empty tower: what it wrote is rolled back."""
    raw_database.execute("BEGIN")
    yield raw_database
    raw_database.execute("ROLLBACK")
