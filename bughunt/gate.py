"""The gate: a healthy run, then every charter under every fault that applies, and which answers are wrong.

What is planned and how it is judged is `gating`'s business; here it is carried out.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from msgspec import Struct, structs
from rich.console import Console

from bughunt.bundled import BUNDLED, BundledApp
from bughunt.charters import Charter, load_charters
from bughunt.exceptions import BughuntError
from bughunt.exit_codes import ExitCode
from bughunt.gating.judging import is_to_be_asked_again, judge
from bughunt.gating.planning import plan_of
from bughunt.gating.values import Combination, GateResult, Mistake, Subject, Unproved
from bughunt.investigation import Investigation
from bughunt.reports.outcomes import sentence_of, ticket_in_words
from bughunt.session import Session, carry_out
from bughunt.settings import LoadSettings, Target
from bughunt.tower import InvestigationView, Tower, now_utc
from bughunt.verdict.judgement import Reason, Verdict
from fault_routes import parse_plan

__all__ = [
    "NAIVE",
    "Case",
    "GateRun",
    "Wanted",
    "bundled_cases",
    "cases_of",
    "gate",
    "gate_exit_code",
    "without_an_answer",
]

NAIVE = "naive"


class Case(Struct, frozen=True, kw_only=True):
    """A charter against a target, and what is true of it."""

    subject: Subject
    charter: Charter
    target: Target


class Wanted(Struct, frozen=True, kw_only=True):
    """How the gate is to be carried out."""

    agent: str = "careful"
    compare: bool = False
    """Ask the naive agent too, and show what it says beside."""
    drills: int | None = None
    """A representative choice of that many; None: all of them."""
    workers: int = 1
    max_false_bugs: int = 0
    project: str = "default"
    build: str | None = None
    loading: LoadSettings = LoadSettings()


class Answers(Struct, frozen=True, kw_only=True):
    """What became of runs of which the disturbed ones were asked again."""

    views: tuple[InvestigationView, ...]
    """The last run of each, in the order in which they were asked for."""
    disturbed: tuple[InvestigationView, ...]
    """The runs that were asked again."""
    failures: tuple[str, ...]


class GateRun(Struct, frozen=True, kw_only=True):
    """What the gate found, and the runs that it found it in."""

    result: GateResult
    views: tuple[InvestigationView, ...]


def cases_of(charters: Sequence[Charter], target: Target, known_bugs: Sequence[str]) -> list[Case]:
    """The charters of a user, of which `known_bugs` (ids) and those with a ticket must say BUG."""
    today = now_utc().date()
    return [
        Case(
            charter=charter,
            target=target,
            subject=Subject(
                target=target.name,
                charter=charter.id,
                known_bug=charter.id in known_bugs
                or (charter.known_until is not None and today <= charter.known_until),
                resilient=charter.resilient,
            ),
        )
        for charter in charters
    ]


@contextmanager
def bundled_cases(*, quick: bool = False) -> Iterator[list[Case]]:
    """The bundled apps, served within the block: each as it should be, and with each of its bugs.

    As it should be, an app has all its charters, with a bug those that see it. `quick`: two charters, and one
    for every third bug.
    """
    with ExitStack() as servers:
        yield [
            case
            for app in BUNDLED
            for bug in (None, *tuple(app.bugs)[:: 3 if quick else 1], *(b.bug for b in app.bugs_under_fault))
            for case in _cases_with(app, bug, servers, quick=quick)
        ]


def _cases_with(app: BundledApp, bug: str | None, servers: ExitStack, *, quick: bool) -> list[Case]:
    server = servers.enter_context(app.app(bug=bug))
    target = Target(
        name=f"{app.name} with {bug}" if bug else app.name, base_url=server.url, origins=app.origins
    )
    charters = load_charters([str(app.charters)], root=app.charters.parent)
    cases = [_bundled_case(app, bug, charter, target) for charter in charters]
    if bug is None:
        return cases[:2] if quick else cases
    seeing = [case for case in cases if case.subject.known_bug or case.subject.bug_under]
    if not quick:
        return seeing
    return [seeing[sum(map(ord, bug)) % len(seeing)]]  # another charter for another bug


def _bundled_case(app: BundledApp, bug: str | None, charter: Charter, target: Target) -> Case:
    under = [one for one in app.bugs_under_fault if one.bug == bug and one.charter == charter.name]
    subject = Subject(
        target=target.name,
        charter=charter.id,
        known_bug=bug is not None and charter.name in app.bugs.get(bug, ()),
        resilient=charter.resilient,
        bug_under=tuple(fault.spec for fault in parse_plan([one.fault for one in under]).faults),
    )
    return Case(charter=charter, target=target, subject=subject)


Ask = Callable[[Sequence[Investigation], Callable[[int, InvestigationView], bool]], Awaitable[Answers]]
"""Carry out, and ask again where the second says so of the index and the run."""


async def gate(
    cases: Sequence[Case], wanted: Wanted, *, tower: Tower, console: Console, quiet: bool = False
) -> GateRun:
    """Carry out the healthy run, and where it proves something, the drills.

    Raises UsageError, BrowserMissing, TowerUnavailable.
    """
    began = time.monotonic()
    ask = partial(_answers, wanted=wanted, tower=tower, console=console, quiet=quiet)
    healthy = await ask(
        [_investigation(case, wanted, wanted.agent) for case in cases],
        lambda index, view: view.run.verdict is Verdict.ENV_ERROR,
    )
    result = GateResult(
        agent=wanted.agent,
        unproved=tuple(_unproved(cases, healthy.views)),
        check_errors=tuple(_check_errors(healthy.views)),
        failures=(*healthy.failures, *without_an_answer(healthy.views, healthy.failures)),
        healthy_runs=len(healthy.views),
        asked_again=len(healthy.disturbed),
        max_false_bugs=wanted.max_false_bugs,
    )
    views = (*healthy.disturbed, *healthy.views)
    if not (result.unproved or result.failures):
        result, drilled = await _drilled(cases, healthy.views, wanted, result, ask)
        views += drilled
    return GateRun(result=structs.replace(result, seconds=time.monotonic() - began), views=views)


async def _drilled(
    cases: Sequence[Case],
    healthy: Sequence[InvestigationView],
    wanted: Wanted,
    result: GateResult,
    ask: Ask,
) -> tuple[GateResult, tuple[InvestigationView, ...]]:
    subjects = [case.subject for case in cases]
    loads = [view.loads for view in healthy]
    plan = plan_of(list(zip(subjects, loads, strict=True)), wanted.drills)
    result = structs.replace(result, left_out=plan.left_out, planned=plan.planned)
    if not plan.drills:
        return result, ()
    found = await _drill(cases, plan.drills, wanted, wanted.agent, ask)
    result = structs.replace(
        result,
        judged=tuple(map(judge, plan.drills, found.views)),
        check_errors=tuple(_check_errors(found.views)),
        failures=(*found.failures, *without_an_answer(found.views, found.failures)),
        asked_again=result.asked_again + len(found.disturbed),
    )
    if not wanted.compare:
        return result, (*found.disturbed, *found.views)
    naive = await _drill(cases, plan.drills, wanted, NAIVE, ask)
    result = structs.replace(
        result,
        compared=tuple(map(judge, plan.drills, naive.views)),
        compared_failures=(*naive.failures, *without_an_answer(naive.views, naive.failures)),
    )
    return result, (*found.disturbed, *found.views, *naive.disturbed, *naive.views)


async def _drill(
    cases: Sequence[Case], drills: Sequence[Combination], wanted: Wanted, agent: str, ask: Ask
) -> Answers:
    by_subject = {case.subject: case for case in cases}
    asked = [_investigation(by_subject[drill.subject], wanted, agent, drill.spec) for drill in drills]
    return await ask(asked, lambda index, view: is_to_be_asked_again(drills[index], view))


async def _answers(
    asked: Sequence[Investigation],
    is_to_be_asked_again: Callable[[int, InvestigationView], bool],
    *,
    wanted: Wanted,
    tower: Tower,
    console: Console,
    quiet: bool,
) -> Answers:
    """Carry them out, and those that were disturbed once more: an ENV_ERROR leaves its question open."""
    first = await _carry_out(asked, wanted, tower, console, quiet=quiet)
    again = [index for index, view in enumerate(first.views) if is_to_be_asked_again(index, view)]
    if not again:
        return Answers(views=first.views, disturbed=(), failures=first.failures)
    second = await _carry_out([asked[index] for index in again], wanted, tower, console, quiet=quiet)
    settled = dict(zip(again, second.views, strict=True))
    return Answers(
        views=tuple(settled.get(index, view) for index, view in enumerate(first.views)),
        disturbed=tuple(first.views[index] for index in again),
        failures=(*first.failures, *second.failures),
    )


async def _carry_out(
    asked: Sequence[Investigation], wanted: Wanted, tower: Tower, console: Console, *, quiet: bool
) -> Session:
    session = await carry_out(asked, tower=tower, workers=wanted.workers, console=console, quiet=quiet)
    if len(session.views) != len(asked):
        raise BughuntError(session.failures[0])  # one could not even be reserved
    return session


def _investigation(case: Case, wanted: Wanted, agent: str, *faults: str) -> Investigation:
    return Investigation(
        charter=case.charter,
        target=case.target,
        agent=agent,
        plan=parse_plan(faults),
        build=wanted.build,
        project=wanted.project,
        loading=wanted.loading,
    )


def _unproved(cases: Sequence[Case], views: Sequence[InvestigationView]) -> Iterator[Unproved]:
    for case, view in zip(cases, views, strict=True):
        expected = Verdict.BUG if case.subject.known_bug else Verdict.PASS
        if view.run.verdict is not expected:
            yield Unproved(
                subject=case.subject,
                expected=expected,
                said=view.run.verdict,
                run=view.name,
                sentence=" ".join(part for part in (sentence_of(view), ticket_in_words(view)) if part),
            )


def without_an_answer(views: Sequence[InvestigationView], failures: Sequence[str]) -> Iterator[str]:
    """A line for each run without a verdict that its charter is not to blame for, and no failure tells of."""
    for view in views:
        told = any(re.search(rf"\b{view.name}\b", failure) for failure in failures)
        if view.run.verdict is None and view.run.reason is not Reason.CHECK_ERROR and not told:
            yield f"{view.name}, {view.question.key.charter}: {sentence_of(view)}"


def _check_errors(views: Sequence[InvestigationView]) -> Iterator[str]:
    for view in views:
        if view.run.reason is Reason.CHECK_ERROR:
            yield f"{view.name}, {view.question.key.charter}: {sentence_of(view)}"


def gate_exit_code(result: GateResult) -> ExitCode:
    """1 for a wrong answer or a fault that never fired, else 4, 2, 3 and 0 as in `bughunt run`. Pure."""
    false = len(result.wrong(Mistake.FALSE_BUG))
    others = [one for one in result.wrong() if one.mistake is not Mistake.FALSE_BUG]
    if false > result.max_false_bugs or others or result.unfired:
        return ExitCode.BUG
    if result.failures:
        return ExitCode.HARNESS
    if result.check_errors:
        return ExitCode.USAGE
    if result.unproved or result.disturbed or not result.judged:
        return ExitCode.ENV_ERROR
    return ExitCode.PASSED
