"""The gate: what it carries out, what it proves, and how it ends. No browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from msgspec import structs
from rich.console import Console

from bughunt.bundled import BUNDLED
from bughunt.charters import Charter
from bughunt.exit_codes import ExitCode
from bughunt.gate import NAIVE, Case, Wanted, bundled_cases, gate, gate_exit_code, without_an_answer
from bughunt.gating.judging import judge
from bughunt.gating.values import GateResult, Judged, Unproved
from bughunt.investigation import Investigation
from bughunt.session import Session
from bughunt.settings import target_at
from bughunt.tower import InvestigationView, Tower
from bughunt.tower.values import KnownBug
from bughunt.verdict.judgement import CauseKind, State, Verdict
from tests.gating.drills import (
    DISTURBED,
    HIDDEN_BY_THE_FAULT,
    KNOWN,
    SUBJECT,
    cause,
    drill,
    with_causes,
)
from tests.reports import samples

PASS, BUG = Verdict.PASS, Verdict.BUG


@pytest.mark.parametrize(("quick", "every"), [(True, 3), (False, 1)])
def test_the_bundled_gate_has_every_app_with_and_without_bugs(quick: bool, every: int) -> None:
    with bundled_cases(quick=quick) as cases:
        builds = {case.subject.target for case in cases}
        buggy = {c.subject.target for c in cases if c.subject.known_bug or c.subject.bug_under}
    bugs = [f"{app.name} with {bug}" for app in BUNDLED for bug in tuple(app.bugs)[::every]]
    hidden = [f"{app.name} with {one.bug}" for app in BUNDLED for one in app.bugs_under_fault]
    assert buggy == {*bugs, *hidden}
    assert builds == buggy | {app.name for app in BUNDLED}


def test_a_run_that_ended_without_an_answer_is_a_failure_of_ours_and_told_once() -> None:
    lost = samples.view(None, [], number=3)
    assert lost.run.verdict is None
    (told,) = without_an_answer([samples.passed(), samples.bug(), lost], ["RUN-31: the disk is full"])
    assert told.startswith(f"{lost.name}, {lost.question.key.charter}: ")
    assert not list(without_an_answer([lost], [f"The disk is full. ({lost.name}: HARNESS_ERROR)"]))


def result(*judged: Judged, **more: object) -> GateResult:
    return GateResult(agent="careful", judged=judged, **more)  # type: ignore[arg-type]


# Carrying it out


Say = Callable[[Investigation], InvestigationView]


class Runs:
    """Stands for a session: every investigation comes to what `say` says of it."""

    def __init__(self, tower: Tower, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tower = tower
        self.say: Say = right
        self.asked: list[str] = []
        """The faults that were asked for, in order; empty for a healthy run."""
        monkeypatch.setattr("bughunt.gate.carry_out", self._carry_out)

    async def _carry_out(self, investigations: Sequence[Investigation], **_: object) -> Session:
        views = []
        for what in investigations:
            self.asked.append(fault_of(what))
            view = self.say(what)
            views.append(structs.replace(view, run=structs.replace(view.run, id=len(self.asked))))
        return Session(views=tuple(views))

    async def gate(self, *cases: Case, compare: bool = False) -> GateResult:
        wanted = Wanted(compare=compare)
        ran = await gate(cases, wanted, tower=self.tower, console=Console(quiet=True), quiet=True)
        return ran.result


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    with closing(Tower.open(f"sqlite:///{tmp_path}/tower.db")) as tower:
        yield Runs(tower, monkeypatch)


def fault_of(what: Investigation) -> str:
    return what.plan.faults[0].spec if what.plan.faults else ""


def right(what: Investigation) -> InvestigationView:
    """A verified PASS where nothing is broken for good, else what the fault does."""
    spec = fault_of(what)
    if not spec or "times=1" in spec:
        return samples.passed()
    return with_causes(cause(CauseKind.NETWORK, by=spec))


async def nothing() -> None:
    """What a charter would do, were there a browser."""


def case(*, known_bug: bool = False) -> Case:
    charter = Charter(function=nothing, question="?", name="cart_total", file=Path("cart.py"))
    subject = structs.replace(SUBJECT, known_bug=known_bug)
    return Case(subject=subject, charter=charter, target=target_at(samples.BASE))


async def test_right_answers_prove_something(runs: Runs) -> None:
    found = await runs.gate(case())
    assert gate_exit_code(found) is ExitCode.PASSED
    assert (found.planned, len(found.judged), found.healthy_runs, found.asked_again) == (8, 8, 1, 0)


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED, State.SUPERSEDED])
@pytest.mark.parametrize("healthy", [True, False])
async def test_a_run_without_an_answer_is_our_own_failure(runs: Runs, state: State, healthy: bool) -> None:
    lost = "" if healthy else "reset@**/api/cart"
    runs.say = lambda what: samples.without_judgement(state) if fault_of(what) == lost else right(what)
    found = await runs.gate(case())
    (told,) = found.failures
    assert told.startswith(f"RUN-{runs.asked.index(lost) + 1}, {samples.CHARTER}: ")
    assert gate_exit_code(found) is ExitCode.HARNESS


async def test_what_the_naive_agent_fails_at_is_told_apart_and_changes_no_exit_code(runs: Runs) -> None:
    runs.say = lambda what: samples.without_judgement(State.FAILED) if what.agent == NAIVE else right(what)
    found = await runs.gate(case(), compare=True)
    assert found.failures == ()
    assert len(found.compared_failures) == len(found.judged)
    assert gate_exit_code(found) is ExitCode.PASSED


async def test_a_drill_that_is_disturbed_is_asked_again_once(runs: Runs) -> None:
    disturbed = "reset:times=1@**/api/cart"
    runs.say = lambda what: DISTURBED if fault_of(what) == disturbed else right(what)
    found = await runs.gate(case())
    assert runs.asked.count(disturbed) == 2
    assert (found.asked_again, len(found.disturbed)) == (1, 1)
    assert gate_exit_code(found) is ExitCode.ENV_ERROR


async def test_a_bug_that_the_pages_pace_hides_twice_is_lost(runs: Runs) -> None:
    hidden = "reset:times=1@**/api/cart"
    runs.say = lambda what: with_causes(cause(CauseKind.LATE)) if fault_of(what) == hidden else samples.bug()
    found = await runs.gate(case(known_bug=True))
    assert runs.asked.count(hidden) == 2
    assert [one.combination.spec for one in found.wrong()] == [hidden]
    assert gate_exit_code(found) is ExitCode.BUG


async def test_a_ticket_whose_day_is_over_is_told_of_in_the_healthy_run(runs: Runs) -> None:
    over = KnownBug(ticket="SHOP-12", until=date(2025, 1, 31))
    runs.say = lambda what: samples.bug(known_bug=over)
    found = await runs.gate(case())
    (lost,) = found.unproved
    assert lost.sentence.endswith("The bug is known as SHOP-12, and was to be mended by 2025-01-31.")
    assert gate_exit_code(found) is ExitCode.ENV_ERROR


# What it amounts to


GOOD, FALSE, MISSED, UNNOTICED, UNFIRED, HIDDEN_BY_OTHERS = (
    judge(drill(), HIDDEN_BY_THE_FAULT),
    judge(drill(), samples.bug()),
    judge(drill(once=True, subject=KNOWN), samples.passed()),
    judge(drill(), samples.passed()),
    judge(drill(once=True), samples.passed(plan=("reset@/x",), unfired=("reset@/x",))),
    judge(drill(once=True), DISTURBED),
)
UNPROVED = Unproved(subject=SUBJECT, expected=PASS, said=BUG, run="RUN-1", sentence="It is wrong.")

CODES: dict[str, tuple[GateResult, ExitCode]] = {
    "all is right": (result(GOOD), ExitCode.PASSED),
    "a false BUG": (result(GOOD, FALSE), ExitCode.BUG),
    "as many as are put up with": (result(GOOD, FALSE, max_false_bugs=1), ExitCode.PASSED),
    "one more": (result(FALSE, FALSE, max_false_bugs=1), ExitCode.BUG),
    "a missed bug": (result(MISSED, max_false_bugs=9), ExitCode.BUG),
    "a fault not noticed": (result(UNNOTICED), ExitCode.BUG),
    "a fault that never fired": (result(UNFIRED), ExitCode.BUG),
    "a wrong answer before our own failure": (result(FALSE, failures=("full",)), ExitCode.BUG),
    "our own failure before a check error": (result(failures=("f",), check_errors=("c",)), ExitCode.HARNESS),
    "a check error before a healthy run that failed": (
        result(check_errors=("c",), unproved=(UNPROVED,)),
        ExitCode.USAGE,
    ),
    "a healthy run that failed": (result(unproved=(UNPROVED,)), ExitCode.ENV_ERROR),
    "a drill that proves nothing": (result(GOOD, HIDDEN_BY_OTHERS), ExitCode.ENV_ERROR),
    "nothing to break": (result(), ExitCode.ENV_ERROR),
}


@pytest.mark.parametrize(("found", "code"), CODES.values(), ids=CODES.keys())
def test_the_exit_code(found: GateResult, code: ExitCode) -> None:
    assert gate_exit_code(found) is code
