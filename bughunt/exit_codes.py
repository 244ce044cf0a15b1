"""The exit codes of `bughunt run`, and which of several goes first.

    0    all PASS, or a BUG that is known by its charter's ticket until a day that is not over
    1    any other BUG, an unverified claim of one too
    2    usage or charter error, nothing was run, a planned fault that fired in no run
    3    no BUG, but more ENV_ERRORs than allowed
    4    our own failure
    130  interrupted

Several at once: 1 before 4 before 2 before 3 before 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from msgspec import Struct

from bughunt.exceptions import UsageError
from bughunt.reports import unfired_faults
from bughunt.reports.outcomes import is_known_bug
from bughunt.tower import InvestigationView
from bughunt.verdict.judgement import Reason, State, Verdict

__all__ = ["Allowance", "ExitCode", "exit_code"]


class ExitCode(IntEnum):
    """What the process tells its caller."""

    PASSED = 0
    BUG = 1
    USAGE = 2
    ENV_ERROR = 3
    HARNESS = 4
    INTERRUPTED = 130


class Allowance(Struct, frozen=True, kw_only=True):
    """How many ENV_ERRORs are put up with."""

    limit: float = 0
    percent: bool = False

    @classmethod
    def parse(cls, text: str) -> Allowance:
        """`3` or `10%`. Raises UsageError."""
        number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
        try:
            limit = float(number) if percent else int(number)
        except ValueError:
            raise UsageError(f"--max-env-errors {text}: give a number, 3, or a share, 10%.") from None
        if not 0 <= limit <= (100 if percent else float("inf")):
            raise UsageError(f"--max-env-errors {text}: from 0, and at most 100%.")
        return cls(limit=limit, percent=percent)

    def exceeded(self, env_errors: int, total: int) -> bool:
        """Whether that many out of `total` are too many."""
        return env_errors > (self.limit * total / 100 if self.percent else self.limit)


def exit_code(
    views: Sequence[InvestigationView], *, failures: int = 0, allowance: Allowance | None = None
) -> ExitCode:
    """The exit code for these runs; `failures` counts those that our own failure stopped. Pure."""
    if any(view.run.verdict is Verdict.BUG and not is_known_bug(view) for view in views):
        return ExitCode.BUG
    if failures or any(view.run.reason is Reason.HARNESS_ERROR or not _over(view) for view in views):
        return ExitCode.HARNESS
    if not views or any(view.run.reason is Reason.CHECK_ERROR for view in views):
        return ExitCode.USAGE
    if unfired_faults(views):
        return ExitCode.USAGE
    env_errors = sum(view.run.verdict is Verdict.ENV_ERROR for view in views)
    if (allowance or Allowance()).exceeded(env_errors, len(views)):
        return ExitCode.ENV_ERROR
    return ExitCode.PASSED


def _over(view: InvestigationView) -> bool:
    return view.run.state in {State.DONE, State.FAILED}
