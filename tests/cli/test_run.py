"""`bughunt run`: verdicts, exit codes and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

from junitparser import JUnitXml

from tests.cli.conftest import Shell


def test_all_pass_is_exit_code_0(shell: Shell, cart: str) -> None:
    done = shell("run", "charters.py::right", "--base-url", cart, "--json", "--build", "b7")
    assert done.code == 0, done.err
    (found,) = done.json["investigations"]
    assert found["charter"] == "charters.py::right"
    assert (found["state"], found["verdict"], found["level"], found["reason"]) == ("DONE", "PASS", "E4", None)
    assert (found["q"], found["run"], found["loads"], found["confirmations"]) == ("Q-1", "RUN-1", 1, 0)
    assert (done.json["unfired_faults"], done.json["exit_code"]) == ([], 0)


def test_a_bug_is_exit_code_1_before_all_others(shell: Shell, cart: str) -> None:
    done = shell("run", "charters.py", "--base-url", cart, "--json", "--workers", 3)
    said = {found["charter"]: (found["verdict"], found["reason"]) for found in done.json["investigations"]}
    assert said == {
        "charters.py::right": ("PASS", None),
        "charters.py::wrong": ("BUG", None),
        "charters.py::broken": (None, "CHECK_ERROR"),
    }
    assert (done.code, done.json["exit_code"]) == (1, 1)


def test_a_check_error_is_exit_code_2(shell: Shell, cart: str) -> None:
    assert shell("run", "charters.py::broken", "--base-url", cart).code == 2


def test_an_env_error_is_exit_code_3_with_its_causes(shell: Shell, cart: str) -> None:
    done = shell("run", "charters.py::right", "--base-url", cart, "--fault", "reset@**/api/cart", "--json")
    assert done.code == 3
    (found,) = done.json["investigations"]
    assert (found["state"], found["verdict"], found["reason"]) == ("FAILED", "ENV_ERROR", "ENV_ERROR")
    for load, cause in enumerate(found["causes"], start=1):
        assert cause["url"] == f"{cart}/api/cart"
        named = {name: cause[name] for name in ("kind", "method", "status", "failure", "fault", "load")}
        assert named == {
            "kind": "network",
            "method": "GET",
            "status": None,
            "failure": "net::ERR_CONNECTION_RESET",
            "fault": "reset@**/api/cart",
            "load": load,
        }
    assert len(found["causes"]) == 2


def test_env_errors_can_be_put_up_with(shell: Shell, cart: str) -> None:
    fault = ("--fault", "503@**/api/cart")
    done = shell("run", "charters.py::right", "--base-url", cart, *fault, "--max-env-errors", "1")
    assert done.code == 0


def test_a_fault_that_never_fired_is_reported_and_the_verdict_kept(shell: Shell, cart: str) -> None:
    done = shell("run", "charters.py::right", "--base-url", cart, "--fault", "reset@**/nothing", "--json")
    assert done.code == 2
    assert done.json["investigations"][0]["verdict"] == "PASS"
    assert done.json["unfired_faults"] == ["reset@**/nothing"]
    assert "reset@**/nothing never fired" in done.error


def test_a_naive_claim_of_a_bug_is_exit_code_1_and_unverified(shell: Shell, cart: str) -> None:
    fault = ("--fault", "reset@**/api/cart")
    done = shell("run", "charters.py::right", "--base-url", cart, *fault, "--agent", "naive", "--json")
    (found,) = done.json["investigations"]
    assert (done.code, found["state"], found["verdict"], found["reason"]) == (
        1,
        "FAILED",
        "BUG",
        "UNVERIFIED",
    )


def test_the_same_question_is_the_same_q_and_a_drill_is_another(shell: Shell, cart: str) -> None:
    arguments = ("run", "charters.py::right", "--base-url", cart, "--json")
    plain = [shell(*arguments).json["investigations"][0] for _ in range(2)]
    drill = shell(*arguments, "--fault", "reset_once@**/api/cart").json["investigations"][0]
    assert [(found["q"], found["run"]) for found in (*plain, drill)] == [
        ("Q-1", "RUN-1"),
        ("Q-1", "RUN-2"),
        ("Q-2", "RUN-3"),
    ]


def test_all_report_formats_are_written(shell: Shell, cart: str) -> None:
    shell("run", "charters.py::wrong", "--base-url", cart, "--report", "out")
    folder = shell.folder / "out"
    suites = JUnitXml.fromfile(str(folder / "junit.xml"))
    assert (suites.tests, suites.failures, suites.errors) == (1, 1, 0)
    assert json.loads((folder / "report.json").read_text())["investigations"][0]["verdict"] == "BUG"
    assert "BUG" in (folder / "summary.md").read_text()
    assert [file.name for file in (folder / "traces").iterdir()] == ["RUN-1-load-2.trace.zip"]


def test_tags_and_shards_choose_what_is_investigated(shell: Shell) -> None:
    def listed(*arguments: object) -> list[str]:
        found = shell("run", "charters.py", "--list", "--json", *arguments).json
        return [one["charter"].partition("::")[2] for one in found]

    assert listed("--tag", "cart") == ["right", "wrong"]
    assert listed("--tag", "smoke", "--tag", "broken") == ["right", "broken"]
    assert [listed("--shard", f"{i}/2") for i in (1, 2)] == [["right", "broken"], ["wrong"]]


def test_a_target_of_the_settings_is_looked_at(shell: Shell, cart: str) -> None:
    with (shell.folder / "bughunt.toml").open("a") as settings:
        settings.write(f'[targets.staging]\nbase_url = "{cart}"\n')
    done = shell("run", "charters.py::right", "--target", "staging", "--json")
    assert (done.code, done.json["investigations"][0]["target"]) == (0, "staging")


def test_show_and_report_tell_what_is_stored(shell: Shell, cart: str, tmp_path: Path) -> None:
    shell("run", "charters.py::wrong", "--base-url", cart)
    shown = shell("show", "RUN-1", "--save", "evidence")
    assert "BUG" in shown.out
    assert "288.00" in shown.out
    assert any(file.suffix == ".png" for file in (tmp_path / "evidence").iterdir())
    assert shell("show", "q-1", "--json").json["investigations"][0]["verdict"] == "BUG"
    assert json.loads(shell("report", "--format", "json").out)["investigations"][0]["run"] == "RUN-1"
    assert shell("report", "--format", "md", "-o", "summary.md").code == 0


def test_the_chapters_table(shell: Shell) -> None:
    """The seven scenarios, naive beside careful, as the chapter has them."""
    done = shell("demo", "--json", "--report", "out")
    assert done.code == 0, done.err
    rows = [
        (r["scenario"], r["truth"], r["naive"], r["careful"], r["loads"], r["confirmations"])
        for r in done.json["rows"]
    ]
    assert rows == [
        ("healthy", "PASS", "PASS", "PASS", 1, 0),
        ("product bug", "BUG", "BUG", "BUG", 1, 1),
        ("reset, always", "ENV_ERROR", "BUG", "ENV_ERROR", 2, 0),
        ("503, always", "ENV_ERROR", "BUG", "ENV_ERROR", 2, 0),
        ("slow 2 s, always", "ENV_ERROR", "BUG", "ENV_ERROR", 2, 0),
        ("reset, once", "PASS", "BUG", "PASS", 2, 0),
        ("product bug + reset once", "BUG", "BUG", "BUG", 2, 1),
    ]
    assert done.json["false_bugs"] == {"naive": 4, "careful": 0}
    assert done.json["missed_bugs"] == {"naive": 0, "careful": 0}
    for row in done.json["rows"]:
        if row["careful"] == "ENV_ERROR":
            assert [cause["load"] for cause in row["causes"]] == [1, 2]


def test_a_fault_that_concerns_some_charters_only_has_fired(shell: Shell, cart: str) -> None:
    (shell.folder / "two.py").write_text(
        "from bughunt import charter\n"
        "@charter(question='Does it open?')\n"
        "async def opens(page, net):\n"
        "    await page.goto('/gone')\n"
    )
    fault = ("--fault", "503@**/api/cart")
    done = shell("run", "charters.py::right", "two.py", "--base-url", cart, *fault, "--json")
    assert (done.code, done.json["unfired_faults"]) == (3, [])


def test_what_a_charter_prints_is_not_in_the_json(shell: Shell, cart: str) -> None:
    (shell.folder / "talks.py").write_text(
        "from bughunt import charter\n"
        "print('imported')\n"
        "@charter(question='Does it open?')\n"
        "async def opens(page, net):\n"
        "    print('opened')\n"
        "    await page.goto('/')\n"
    )
    done = shell("run", "talks.py", "--base-url", cart, "--json")
    assert done.json["exit_code"] == 0
    assert "imported" in done.err
    assert "opened" in done.err


def test_a_report_that_cannot_be_written_is_told_before_anything_is_run(shell: Shell, cart: str) -> None:
    (shell.folder / "file").touch()
    done = shell("run", "charters.py::right", "--base-url", cart, "--report", "file/out")
    assert (done.code, done.out) == (4, "")
    assert "file/out" in done.error
    assert not (shell.folder / ".bughunt").exists()
