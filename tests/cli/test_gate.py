"""`bughunt gate`: what is proved, what fails it, and what is printed and written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bughunt.bundled import BUNDLED
from bughunt.gating.planning import KINDS
from tests.cli.conftest import Done, Shell
from tests.docs.pages import terms

BOTH = ("charters.py::right", "charters.py::wrong", "--known-bug", "wrong")


def gate(shell: Shell, *arguments: object) -> Done:
    return shell("gate", *arguments, "--workers", 8)


@pytest.mark.parametrize(
    "charters", [("charters.py::right",), pytest.param(BOTH, marks=pytest.mark.thorough)], ids=["one", "both"]
)
def test_right_answers_pass_the_gate(shell: Shell, cart: str, charters: tuple[str, ...]) -> None:
    done = gate(shell, *charters, "--base-url", cart, "--compare", "--report", "out", "--json")
    found = done.json
    assert done.code == found["exit_code"] == 0, (found["wrong"], found["unproved"], done.err)
    kinds = len([kind for kind in KINDS if not kind.of_writes])
    drills = 2 * kinds * sum("::" in charter for charter in charters)
    assert found["combinations"] == found["planned"] == len(found["matrix"]) == drills
    assert set(found) == set(terms("how-to/gate.md", "What it tells"))
    assert (found["false_bugs"], found["missed_bugs"], found["unfired_faults"]) == (0, 0, [])
    assert sum(cell["env"] + cell["passed"] + cell["bug"] for cell in found["matrix"]) == drills
    _has_intervals(found)
    _has_the_naive_agent_beside(found)
    assert found["seconds"] > 0
    assert json.loads((shell.folder / "out" / "gate.json").read_text()) == found
    page = (shell.folder / "out" / "gate.html").read_text()
    assert f"{drills} drills in" in page
    assert (shell.folder / "out" / "report.html").is_file()


def _has_intervals(found: dict[str, Any]) -> None:
    told = found["intervals"]["false_bugs"]
    assert (told["count"], told["total"], told["low"]) == (0, 14, 0.0)
    assert 0.1 < told["high"] < 0.3


def _has_the_naive_agent_beside(found: dict[str, Any]) -> None:
    naive = found["compared"]
    assert (naive["agent"], naive["combinations"]) == ("naive", found["combinations"])
    assert naive["false_bugs"] > 0


@pytest.mark.thorough
def test_an_agent_that_takes_faults_for_bugs_fails_it(shell: Shell, cart: str) -> None:
    done = gate(shell, "charters.py::right", "--base-url", cart, "--agent", "naive")
    assert done.code == 1
    assert "false BUG: right (" in done.err
    assert "✗" in done.out


def test_a_bug_that_nobody_knew_of_proves_nothing(shell: Shell, cart: str) -> None:
    done = gate(shell, "charters.py::right", "charters.py::wrong", "--base-url", cart, "--json")
    assert (done.code, done.json["combinations"]) == (3, 0)
    (lost,) = done.json["unproved"]
    assert (lost["charter"], lost["expected"], lost["said"]) == ("charters.py::wrong", "PASS", "BUG")


def test_a_known_bug_that_is_not_there_proves_nothing(shell: Shell, cart: str) -> None:
    done = gate(shell, "charters.py::right", "--known-bug", "charters.py::right", "--base-url", cart)
    assert done.code == 3
    assert "should have been BUG in the healthy run, and was PASS" in done.err


def test_a_broken_charter_is_exit_code_2(shell: Shell, cart: str) -> None:
    done = gate(shell, "charters.py::right", "charters.py::broken", "--base-url", cart)
    assert done.code == 2
    assert "charters.py::broken: The check itself is broken" in done.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["charters.py"], "one of --base-url URL and --target NAME"),
        (["--base-url", "http://127.0.0.1:9"], "Name the charters"),
        (["charters.py", "--bundled"], "--bundled brings its own apps"),
        (
            ["charters.py", "--base-url", "http://127.0.0.1:9", "--known-bug", "rigth"],
            "Did you mean right?",
        ),
        (["charters.py", "--base-url", "http://127.0.0.1:9", "--agent", "lucky"], "no agent lucky"),
        (
            ["charters.py", "--base-url", "http://127.0.0.1:9", "--agent", "naive", "--compare"],
            "leave --agent naive away",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(shell: Shell, arguments: list[str], told: str) -> None:
    done = shell("gate", *arguments)
    assert done.code == 2
    assert told in done.error


@pytest.mark.thorough
@pytest.mark.timeout(1200)  # some four hundred investigations, beside whatever else is tested
def test_the_bundled_apps_pass_the_whole_gate(shell: Shell) -> None:
    done = shell("gate", "--bundled", "--json")
    found = done.json
    assert done.code == 0, (found["wrong"], found["unproved"], found["unfired_faults"], done.err)
    assert 300 <= found["combinations"] <= found["planned"]
    assert (found["false_bugs"], found["missed_bugs"], found["unfired_faults"]) == (0, 0, [])
    assert (found["wrong"], found["disturbed"], found["unproved"], found["failures"]) == ([], [], [], [])


@pytest.mark.timeout(600)  # some hundred investigations, beside whatever else is tested
def test_the_bundled_apps_pass_a_quick_gate(shell: Shell) -> None:
    done = shell("gate", "--bundled", "--quick", "--json")
    found = done.json
    assert done.code == 0, (found["wrong"], found["unproved"], found["unfired_faults"], done.err)
    assert found["combinations"] >= 60
    assert {cell["target"].partition(" with ")[0] for cell in found["matrix"]} == {a.name for a in BUNDLED}
    assert {cell["fault"] for cell in found["matrix"]} == {kind.name for kind in KINDS}
