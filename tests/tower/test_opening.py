"""A tower opens where it can, and says in one line what to do where it cannot."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bughunt.exceptions import NewerSchema, TowerUnavailable, UsageError
from bughunt.tower import Tower
from tests.tower.making import a_question, begun
from tests.tower.processes import output
from tests.tower.raw import opened


@pytest.fixture
def url(place: Path) -> str:
    """Of a file: here it is about files."""
    return f"sqlite:///{place}"


def _one_line(error: Exception, *words: str) -> None:
    text = str(error)
    assert "\n" not in text
    for word in words:
        assert word in text


def test_makes_folder_and_database(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "tower.db"
    with closing(Tower.open(f"sqlite:///{path}")) as tower:
        assert tower.ask(a_question()).id == 1
    assert path.is_file()


@pytest.mark.parametrize("content", ["no file", "empty file", "empty database"])
def test_upgrades_what_is_empty(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tower.db"
    if content == "empty file":
        path.touch()
    if content == "empty database":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("VACUUM")
    with closing(Tower.open(f"sqlite:///{path}")) as tower:
        assert begun(tower).id == 1


def test_how_sqlite_is_set_up(tower: Tower) -> None:
    with tower._read() as connection:
        pragmas = ("journal_mode", "synchronous", "foreign_keys", "recursive_triggers", "busy_timeout")
        values = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas]
    assert values == ["wal", 2, 1, 1, 15_000]


def test_opening_again_does_not_import_alembic(place: Path) -> None:
    code = (
        "import sys; from bughunt.tower import Tower; Tower.open(f'sqlite:///{sys.argv[1]}').close();"
        "print('alembic' in sys.modules)"
    )
    assert output(code, place) == "False"


def test_opening_again_keeps_what_is_there(url: str, tower: Tower) -> None:
    run = begun(tower)
    with closing(Tower.open(url)) as again:
        assert again.run(run.id) == run


def test_a_newer_schema(place: Path, url: str) -> None:
    with opened(url) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '0999'")
    with pytest.raises(NewerSchema) as refusal:
        Tower.open(url)
    _one_line(refusal.value, str(place), "0999", "upgrade bughunt")


@pytest.mark.parametrize("foreign", ["CREATE TABLE song (id)", "CREATE TABLE alembic_version (version_num)"])
def test_the_database_of_another_program(tmp_path: Path, foreign: str) -> None:
    path = tmp_path / "songs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(foreign)
    with pytest.raises(TowerUnavailable) as refusal:
        Tower.open(f"sqlite:///{path}")
    _one_line(refusal.value, "another program's database", "--db")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Remember the milk. " * 100)
    with pytest.raises(TowerUnavailable) as refusal:
        Tower.open(f"sqlite:///{path}")
    _one_line(refusal.value, str(path), "no SQLite database", "--db")
    assert path.read_text() == "Remember the milk. " * 100


def test_a_damaged_database(place: Path, url: str) -> None:
    content = bytearray(place.read_bytes())
    content[100:] = b"\xff" * (len(content) - 100)
    place.write_bytes(content)
    with pytest.raises(TowerUnavailable) as refusal:
        Tower.open(url)
    _one_line(refusal.value, str(place))


def test_a_path_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TowerUnavailable) as refusal:
        Tower.open(f"sqlite:///{tmp_path}/file/below/tower.db")
    _one_line(refusal.value, "--db")


def test_a_folder_as_the_database(tmp_path: Path) -> None:
    with pytest.raises(TowerUnavailable) as refusal:
        Tower.open(f"sqlite:///{tmp_path}")
    _one_line(refusal.value, "cannot be opened", "--db")


@pytest.mark.parametrize("url", ["", "tower.db", "sqlite://", "sqlite:///:memory:", "mysql:///x"])
def test_what_is_no_tower_url(url: str) -> None:
    with pytest.raises(UsageError) as refusal:
        Tower.open(url)
    _one_line(refusal.value, "sqlite:///path/to/tower.db")


# Root may write everywhere: then another user tries.
AS_NOBODY = """
import os, sys
from bughunt.exceptions import TowerUnavailable
from bughunt.tower import NewQuestion, Tower
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    tower = Tower.open(f"sqlite:///{sys.argv[1]}")
    tower.ask(NewQuestion(project="p", charter="c", question="?", target="t"))
except TowerUnavailable as error:
    print(type(error).__name__, error)
"""


@pytest.fixture
def locked() -> Iterator[Path]:
    """A folder that everybody can reach and in which nobody may write."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


def test_a_folder_in_which_nothing_may_be_written(locked: Path) -> None:
    said = output(AS_NOBODY, locked / "tower.db")
    assert said.startswith("TowerUnavailable")
    assert "\n" not in said
    assert "--db" in said


def test_a_database_that_may_only_be_read(locked: Path, fresh_file: Path) -> None:
    path = locked / "tower.db"
    locked.chmod(0o755)
    path.write_bytes(fresh_file.read_bytes())
    path.chmod(0o444)
    locked.chmod(0o555)
    said = output(AS_NOBODY, path)
    assert said.startswith(("TowerUnavailable", "EvidenceNotWritten"))
    assert "\n" not in said
    assert "--db" in said
