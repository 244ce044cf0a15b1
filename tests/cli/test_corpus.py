"""`bughunt corpus add`: a stored run becomes a test."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from bughunt.corpus import file_name, load_corpus
from bughunt.tower import Tower
from bughunt.verdict.judgement import Verdict
from tests.cli.conftest import Shell
from tests.corpus.storing import a_case, as_judged, store

WRONG = a_case(Verdict.BUG, loads=2)
WHY = ("--why", "The total is wrong.")


@pytest.fixture
def filled(shell: Shell) -> Shell:
    """RUN-1 is a BUG."""
    (shell.folder / ".bughunt").mkdir()
    with closing(Tower.open(f"sqlite:///{shell.folder}/.bughunt/tower.db")) as tower:
        store(tower, WRONG.loads, as_judged(WRONG))
    return shell


def test_a_run_is_added_and_its_file_named(filled: Shell) -> None:
    done = filled("corpus", "add", "run-1", "--verdict", "bug", *WHY)
    assert (done.code, done.err) == (0, "")
    file = Path(done.out.strip())
    assert file.parent == Path("tests/corpus")
    (case,) = load_corpus(filled.folder / "tests/corpus").values()
    assert (case.verdict, case.why, case.loads) == ("BUG", "The total is wrong.", WRONG.loads)
    assert file.name == file_name(case)


def test_added_again_it_is_the_same_file(filled: Shell) -> None:
    add = ("corpus", "add", "RUN-1", "--verdict", "BUG", *WHY, "--to", "mine")
    names = {filled(*add).out for _ in range(2)}
    assert len(names) == len(list((filled.folder / "mine").iterdir())) == 1


@pytest.mark.parametrize("right", ["ENV_ERROR", "PASS", "NONE"])
def test_a_correction_is_told_to_fail_until_the_rules_are_mended(filled: Shell, right: str) -> None:
    done = filled("corpus", "add", "RUN-1", "--verdict", right, *WHY)
    assert done.code == 0
    assert f"The rules say BUG, not {right}" in done.error


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["RUN-1", "--verdict", "MAYBE", *WHY], 2, "There is no verdict MAYBE"),
        (["RUN-1", "--verdict", "BUG", "--why", "  "], 2, "--why is empty"),
        (["Q-1", "--verdict", "BUG", *WHY], 2, "name one of its runs"),
        (["RUN-9", "--verdict", "BUG", *WHY], 2, "RUN-9"),
        (["RUN-" + "9" * 5000, "--verdict", "BUG", *WHY], 2, "write Q-12 or RUN-34"),
        (["RUN-1", "--verdict", "BUG", *WHY, "--to", "charters.py"], 4, "charters.py"),
    ],
)
def test_what_cannot_be_added_is_told_in_one_line(
    filled: Shell, arguments: list[str], code: int, told: str
) -> None:
    done = filled("corpus", "add", *arguments)
    assert (done.code, done.out) == (code, "")
    assert told in done.error
    assert not (filled.folder / "tests").exists()
