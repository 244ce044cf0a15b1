"""`bughunt rejudge` and `bughunt bench rejudge`: what is printed, and the exit code."""

from __future__ import annotations

from contextlib import closing

import pytest
from msgspec.structs import replace

from bughunt.tower import Tower
from bughunt.verdict.judgement import Verdict
from tests.cli.conftest import Shell
from tests.corpus.storing import a_case, as_judged, store

HELD = a_case(Verdict.PASS, rule="held")
BLOCKED = a_case(Verdict.ENV_ERROR, rule="blocked twice")


@pytest.fixture
def filled(shell: Shell) -> Shell:
    """RUN-1 of Q-1 was judged by the present rules, RUN-2 of Q-2 by others."""
    (shell.folder / ".bughunt").mkdir()
    with closing(Tower.open(f"sqlite:///{shell.folder}/.bughunt/tower.db")) as tower:
        store(tower, HELD.loads, as_judged(HELD))
        store(tower, BLOCKED.loads, replace(as_judged(BLOCKED), rules_version=0, rule="once"))
    return shell


def test_a_verdict_that_would_change_is_exit_code_1(filled: Shell) -> None:
    done = filled("rejudge")
    assert done.code == 1, done.err
    assert (
        "RUN-2 of Q-2 cart.py::ENV_ERROR (careful): ENV_ERROR (once) → ENV_ERROR (blocked twice)" in done.out
    )
    assert as_judged(BLOCKED).sentence[:300] in done.out
    assert "1 the same, 1 would change. Nothing was changed." in done.out


@pytest.mark.parametrize("named", ["RUN-1", "q-1"])
def test_where_nothing_would_change_the_exit_code_is_0(filled: Shell, named: str) -> None:
    done = filled("rejudge", named)
    assert (done.code, done.out.count("\n")) == (0, 1)
    assert "1 runs" in done.out


def test_json_is_all_that_is_printed(filled: Shell) -> None:
    done = filled("rejudge", "--json", "--since", "7d")
    assert (done.code, done.json["exit_code"], done.err) == (1, 1, "")
    assert [run["run"] for run in done.json["runs"]] == ["RUN-2"]
    assert done.json["counts"] == {"same": 1, "changed": 1, "load_again": 0, "unreadable": 0, "not_judged": 0}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["RUN-9"], "RUN-9"),
        (["cart"], "write Q-12 or RUN-34"),
        (["--since", "yesterday"], "give a date"),
        (["--db", "sqlite:///nowhere.db"], "There is no tower"),
    ],
)
def test_what_cannot_be_done_is_exit_code_2_and_one_line(
    filled: Shell, arguments: list[str], told: str
) -> None:
    done = filled("rejudge", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.error


def test_a_real_run_is_judged_the_same_again(shell: Shell, cart: str) -> None:
    """What is stored of a run is enough to come to its verdict once more."""
    fault = ("--fault", "reset_once@**/api/cart")
    for arguments in ((), fault, (*fault, "--agent", "naive")):
        shell("run", "charters.py", "--base-url", cart, "--workers", 3, *arguments)
    counts = shell("rejudge", "--json").json["counts"]
    assert counts == {"same": 9, "changed": 0, "load_again": 0, "unreadable": 0, "not_judged": 0}


def test_the_bench_tells_what_it_measured(shell: Shell) -> None:
    told = shell("bench", "rejudge", "--runs", 14, "--json").json
    assert (told["runs"], told["loads"]) == (14, 21)
    assert told["reading_seconds"] > 0
    assert told["reading_ratio"] > 0
