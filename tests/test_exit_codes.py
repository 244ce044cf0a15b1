"""The exit codes, and which of several goes first."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec import structs

from bughunt.exceptions import UsageError
from bughunt.exit_codes import Allowance, ExitCode, exit_code
from bughunt.tower import InvestigationView
from bughunt.tower.values import KnownBug
from bughunt.verdict.judgement import Reason, State
from tests.reports.samples import (
    NOW,
    blocked,
    bug,
    claimed,
    env_error,
    held,
    passed,
    without_judgement,
)

HARNESS = without_judgement(State.FAILED)
CHECK = structs.replace(HARNESS, run=structs.replace(HARNESS.run, reason=Reason.CHECK_ERROR))
YESTERDAY = NOW.date() - timedelta(days=1)
KNOWN = KnownBug(ticket="SHOP-12", until=NOW.date())
UNFIRED = passed(unfired=("reset@**/nothing",))

CASES: dict[str, tuple[list[InvestigationView], ExitCode]] = {
    "all PASS": ([passed(), passed()], ExitCode.PASSED),
    "nothing was run": ([], ExitCode.USAGE),
    "an ENV_ERROR": ([passed(), env_error()], ExitCode.ENV_ERROR),
    "a check error before an ENV_ERROR": ([env_error(), CHECK], ExitCode.USAGE),
    "a fault that never fired before an ENV_ERROR": ([env_error(), UNFIRED], ExitCode.USAGE),
    "our own failure before a check error": ([CHECK, HARNESS, env_error()], ExitCode.HARNESS),
    "a run that did not end is our failure": ([without_judgement(State.RUNNING)], ExitCode.HARNESS),
    "a BUG before our own failure": ([HARNESS, CHECK, env_error(), bug()], ExitCode.BUG),
    "a claim of a BUG is one": ([claimed(blocked())], ExitCode.BUG),
    "a known BUG fails nothing": ([passed(), bug(known_bug=KNOWN)], ExitCode.PASSED),
    "until its last day is over": ([bug(known_bug=structs.replace(KNOWN, until=YESTERDAY))], ExitCode.BUG),
    "an ENV_ERROR beside a known BUG": ([bug(known_bug=KNOWN), env_error()], ExitCode.ENV_ERROR),
    "a claim of a known BUG is a claim of one": (
        [claimed(blocked(), known_bug=KNOWN)],
        ExitCode.BUG,
    ),
    "a claim of a PASS is one": ([claimed(held())], ExitCode.PASSED),
}


@pytest.mark.parametrize(("views", "code"), CASES.values(), ids=CASES.keys())
def test_the_exit_code(views: list[InvestigationView], code: ExitCode) -> None:
    assert exit_code(views) is code


def test_a_failure_of_ours_without_a_run_counts() -> None:
    assert exit_code([passed()], failures=1) is ExitCode.HARNESS


@pytest.mark.parametrize(
    ("text", "env_errors", "exceeded"),
    [("0", 1, True), ("1", 1, False), ("1", 2, True), ("10%", 1, False), ("10%", 2, True), ("0%", 1, True)],
)
def test_an_allowance_is_a_number_or_a_share_of_ten(text: str, env_errors: int, exceeded: bool) -> None:
    assert Allowance.parse(text).exceeded(env_errors, 10) is exceeded


@pytest.mark.parametrize("text", ["", "%", "x", "-1", "101%", "1.5", "nan%"])
def test_an_allowance_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--max-env-errors"):
        Allowance.parse(text)
