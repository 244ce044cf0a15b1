"""Bad input: one clear line that says what to do, the right exit code, no traceback."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Shell

URL = ("--base-url", "http://127.0.0.1:9")

BAD_INPUT = {
    "an unknown fault kind": (["charters.py", *URL, "--fault", "resett@**/x"], "did you mean 'reset'"),
    "a fault without a pattern": (["charters.py", *URL, "--fault", "reset"], "reset"),
    "a pattern that is none": (["charters.py", *URL, "--fault", "reset@**/{a"], "{a"),
    "a base URL without scheme": (["charters.py", "--base-url", "localhost:80"], "http://localhost:80"),
    "no target at all": (["charters.py"], "--base-url"),
    "an unknown target": (["charters.py", "--target", "nowhere"], "nowhere"),
    "a file that is not there": (["gone.py", *URL], "gone.py"),
    "a name that is not there": (["charters.py::rihgt", *URL], "Did you mean right?"),
    "an unknown agent": (["charters.py", *URL, "--agent", "lucky"], "careful or naive"),
    "an unknown tag": (["charters.py", *URL, "--tag", "none"], "broken, cart, smoke"),
    "a shard that is none": (["charters.py", *URL, "--shard", "3/2"], "2/4"),
    "an allowance that is none": (["charters.py", *URL, "--max-env-errors", "some"], "10%"),
    "a database that is none": (["charters.py", *URL, "--db", "mysql://x"], "sqlite:///"),
}


@pytest.mark.parametrize(("arguments", "told"), BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_a_wrong_option_is_told_in_one_line(shell: Shell, arguments: list[str], told: str) -> None:
    done = shell("run", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.error


BAD_FILES = {
    "does not import": ("import no_such_module_of_anybody", "does not import"),
    "is no Python": ("def (", "does not import"),
    "holds no charter": ("x = 1", "@charter"),
    "has a charter that is no coroutine": (
        "from bughunt import charter\n@charter(question='?')\ndef look(page, net): ...",
        "async def look",
    ),
    "has a charter without a question": (
        "from bughunt import charter\n@charter(question=' ')\nasync def look(page, net): ...",
        "question",
    ),
}


@pytest.mark.parametrize(("text", "told"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_broken_charter_file_is_told_in_one_line(shell: Shell, text: str, told: str) -> None:
    (shell.folder / "bad.py").write_text(text)
    done = shell("run", "bad.py", *URL)
    assert done.code == 2
    assert told in done.error
    assert "bad.py" in done.error or "look" in done.error


def test_a_missing_storage_state_is_told(shell: Shell) -> None:
    with (shell.folder / "bughunt.toml").open("a") as settings:
        settings.write('[targets.t]\nbase_url = "http://127.0.0.1:9"\nstorage_state = "auth.json"\n')
    done = shell("run", "charters.py", "--target", "t")
    assert done.code == 2
    assert "auth.json is missing" in done.error


def test_an_unknown_setting_is_told(shell: Shell) -> None:
    (shell.folder / "bughunt.toml").write_text("wrokers = 3")
    done = shell("run", "charters.py", *URL)
    assert done.code == 2
    assert "wrokers" in done.error


def test_a_secret_in_the_settings_is_refused(shell: Shell) -> None:
    with (shell.folder / "bughunt.toml").open("a") as settings:
        settings.write('[targets.t]\nbase_url = "http://h"\nextra_headers = { Authorization = "hunter2" }\n')
    done = shell("run", "charters.py", "--target", "t")
    assert done.code == 2
    assert "${NAME}" in done.error
    assert "hunter2" not in done.error


def test_a_database_of_a_newer_schema_is_left_alone(shell: Shell) -> None:
    shell("doctor", BUGHUNT_DB="sqlite:///tower.db")
    with sqlite3.connect(shell.folder / "tower.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    done = shell("run", "charters.py", *URL, "--db", "sqlite:///tower.db")
    assert done.code == 4
    assert "newer" in done.error


def test_a_file_that_is_no_database_is_left_alone(shell: Shell) -> None:
    (shell.folder / "notes.txt").write_text("not a database, " * 100)
    done = shell("run", "charters.py", *URL, "--db", "sqlite:///notes.txt")
    assert done.code == 4
    assert "notes.txt" in done.error


def test_a_place_that_cannot_be_written_is_told(shell: Shell) -> None:
    """A folder below a file can be made by nobody, root included."""
    (shell.folder / "file").touch()
    done = shell("run", "charters.py", *URL, "--db", "sqlite:///file/tower.db")
    assert done.code == 4
    assert "file" in done.error


def test_no_browser_is_told_with_what_to_do(shell: Shell) -> None:
    done = shell("run", "charters.py", *URL, BUGHUNT_BROWSER="/no/such/browser")
    assert done.code == 4
    assert "BUGHUNT_BROWSER" in done.error


def test_the_doctor_says_what_is_missing(shell: Shell) -> None:
    done = shell("doctor", "--json", BUGHUNT_BROWSER="/no/such/browser")
    checks = {check["what"]: check for check in done.json["checks"]}
    assert done.code == 4
    assert not checks["browser"]["ok"]
    assert "BUGHUNT_BROWSER" in checks["browser"]["told"]
    assert checks["database"]["ok"]
    assert checks["writable folder"]["ok"]
    assert checks["model key"]["required"] is False


def test_a_record_that_is_not_there_is_told(shell: Shell) -> None:
    assert "There is no tower at" in shell("show", "RUN-7").error
    assert not (shell.folder / ".bughunt").exists()
    shell("doctor")
    assert "RUN-7" in shell("show", "RUN-7").error
    assert "Q-12 or RUN-34" in shell("show", "X-7").error


def test_the_tests_see_the_package_of_this_checkout() -> None:
    """Otherwise all of the above would be about another one."""
    import bughunt

    assert Path(bughunt.__file__).is_relative_to(Path(__file__).parents[2])
    assert os.environ.get("BUGHUNT_DB") is None
