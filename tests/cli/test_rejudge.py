"""`bughunt rejudge` and `bughunt bench rejudge`: what is printed, and the exit code."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from msgspec.structs import replace

from bughunt.bench.demo import SCENARIOS
from bughunt.rejudging import Outcome, Rejudged, rejudge
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
        (["RUN-99999999999999999999999"], "write Q-12 or RUN-34"),
        (["Q-" + "9" * 5000], "write Q-12 or RUN-34"),
        (["RUN-999999999999999999"], "no RUN-999999999999999999"),
        (["--since", "yesterday"], "give a date"),
        (["--since", "0001-01-01T00:00+14:00"], "give a date"),
        (["--db", "sqlite:///nowhere.db"], "There is no tower"),
    ],
)
def test_what_cannot_be_done_is_exit_code_2_and_one_line(
    filled: Shell, arguments: list[str], told: str
) -> None:
    done = filled("rejudge", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.error


def test_a_number_that_no_record_has_is_told_by_show_too(filled: Shell) -> None:
    done = filled("show", "RUN-99999999999999999999999")
    assert (done.code, done.out) == (2, "")
    assert "write Q-12 or RUN-34" in done.error


def damage(shell: Shell, run: int) -> None:
    """Change a run's record past the guards."""
    with closing(sqlite3.connect(shell.folder / ".bughunt/tower.db")) as raw, raw:
        raw.execute("DROP TRIGGER evidence_update")
        changed = "UPDATE evidence SET body = zeroblob(size) WHERE run_id = ? AND kind = 'network'"
        raw.execute(changed, (run,))


def test_where_a_verdict_cannot_be_judged_again_nothing_is_proved(filled: Shell) -> None:
    """Exit code 3, and 1 where another would change."""
    damage(filled, run=1)
    done = filled("rejudge", "RUN-1")
    assert done.code == 3
    assert "RUN-1 of Q-1 (careful): its verdict cannot be judged again" in done.out
    done = filled("rejudge", "--json")
    assert (done.code, done.json["exit_code"]) == (1, 1)
    assert (done.json["counts"]["unreadable"], done.json["counts"]["changed"]) == (1, 1)


#: A PASS, a BUG, an ENV_ERROR and a PASS on the second load.
A_FEW = tuple(
    one for one in SCENARIOS if one.name in {"healthy", "product bug", "reset, always", "reset, once"}
)


def test_what_the_bench_stores_of_real_runs_is_judged_the_same_again(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is stored of a run is enough to come to its verdict once more, whoever looked."""
    found: list[Rejudged] = []
    monkeypatch.setattr("bughunt.bench.demo.SCENARIOS", A_FEW)
    monkeypatch.setattr("bughunt.bench.rejudging.ROUNDS", 1)
    monkeypatch.setattr("bughunt.bench.rejudging.rejudge", lambda tower: found.extend(rejudge(tower)))
    told = shell("bench", "rejudge", "--runs", 8, "--json").json
    assert (told["runs"], told["loads"]) == (8, 11)
    assert told["reading_seconds"] > 0
    assert told["reading_ratio"] > 0
    assert Counter(one.agent for one in found if one.outcome is Outcome.SAME) == {"careful": 4, "naive": 4}
