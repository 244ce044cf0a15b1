"""A tower on a file of its own for each test, and the same file seen by raw SQL."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bughunt.tower import Tower
from tests.tower.making import Clock
from tests.tower.raw import Raw


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


@pytest.fixture
def url(place: Path) -> str:
    return f"sqlite:///{place}"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tower(url: str, clock: Clock) -> Iterator[Tower]:
    opened = Tower.open(url, clock=clock)
    yield opened
    opened.close()


@pytest.fixture(scope="session", params=["foreign keys on", "no checks"])
def raw_database(fresh_file: Path, request: pytest.FixtureRequest) -> Iterator[sqlite3.Connection]:
    """A tower seen by raw SQL, past all our code: with all that SQLite can check, and with nothing of it.

    It checks no foreign keys unless asked to, and no CHECK where asked not to.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with closing(sqlite3.connect(fresh_file)) as fresh:
        fresh.backup(connection)
    if request.param == "foreign keys on":
        connection.execute("PRAGMA foreign_keys = ON")
    else:
        connection.execute("PRAGMA ignore_check_constraints = ON")
    yield connection
    connection.close()


@pytest.fixture
def raw(raw_database: sqlite3.Connection) -> Iterator[Raw]:
    """Each test has an empty tower: what it wrote is rolled back."""
    raw_database.execute("BEGIN")
    yield Raw(raw_database)
    raw_database.execute("ROLLBACK")
