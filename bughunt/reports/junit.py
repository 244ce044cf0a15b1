"""JUnit XML, one result for each testcase, by the precedence of exit codes.

| outcome | element |
|---|---|
| PASS, and a claim of one | none |
| BUG, and a claim of one | `<failure type="BUG">` |
| HARNESS_ERROR | `<error type="HARNESS_ERROR">` |
| CHECK_ERROR, or a planned fault never fired | `<error type="CHECK_ERROR">` |
| ENV_ERROR, and a claim of one | `<error type="ENV_ERROR">` |
| not finished, cancelled | `<error type="HARNESS_ERROR">`: an interrupted run must not look like a pass |
| a known BUG, until its last day is over | `<skipped>`: the message names its ticket |
| superseded | `<skipped>`: its successor tells |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from junitparser import Error, Failure, JUnitXml, Properties, Property, Skipped, TestCase, TestSuite

from bughunt.reports.outcomes import (
    Outcome,
    causes_of,
    charter_of,
    duration_of,
    is_claim,
    loads_in_words,
    outcome_of,
    sentence_of,
    ticket_in_words,
    unfired_faults,
)
from bughunt.reports.texts import clean, clip, one_line
from bughunt.tower.values import InvestigationView

__all__ = ["render_junit"]

USUAL_AGENT = "careful"
"""The agent that goes without saying."""

_MESSAGE = 1_000
"""Characters of a result's message at most."""
_TEXT = 20_000
"""Characters of a result's text at most."""
_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'
_TYPES = {
    Outcome.HARNESS_ERROR: "HARNESS_ERROR",
    Outcome.CHECK_ERROR: "CHECK_ERROR",
    Outcome.ENV_ERROR: "ENV_ERROR",
    Outcome.CLAIMS_ENV_ERROR: "ENV_ERROR",
    Outcome.UNFINISHED: "HARNESS_ERROR",
    Outcome.CANCELLED: "HARNESS_ERROR",
}


def render_junit(views: Sequence[InvestigationView], failures: Sequence[str] = ()) -> str:
    """One `<testsuite>` for each target, one `<testcase>` for each run, and one for each failure of ours."""
    document = JUnitXml("bughunt")
    names = _unique_names(views)
    never_fired = unfired_faults(views)
    targets = dict.fromkeys(view.question.key.target for view in views)
    for target in targets:
        there = [view for view in views if view.question.key.target == target]
        document.add_testsuite(_suite(target, there, names, never_fired))
    if failures:
        document.add_testsuite(_suite_of_failures(failures))
    document.update_statistics()  # type: ignore[no-untyped-call]  # junitparser types but in part
    body: bytes = document.tostring()  # type: ignore[no-untyped-call]
    return body.decode() if body.startswith(b"<?xml") else f"{_DECLARATION}\n{body.decode()}"


def _suite(
    target: str, views: Sequence[InvestigationView], names: dict[int, str], never_fired: Collection[str]
) -> TestSuite:
    suite = TestSuite(clean(target))
    suite.timestamp = min(view.run.created_at for view in views).isoformat(timespec="seconds")
    suite.add_testcases([_case(view, names[view.run.id], never_fired) for view in views])
    return suite


def _suite_of_failures(failures: Sequence[str]) -> TestSuite:
    """What could not be carried out must not look as if it had never been asked for."""
    suite = TestSuite("bughunt")
    for number, failure in enumerate(failures, start=1):
        case = TestCase(name=f"failure {number}", classname="bughunt")
        case.result = Error(one_line(failure, _MESSAGE), "HARNESS_ERROR")
        suite.add_testcase(case)
    return suite


def _case(view: InvestigationView, name: str, never_fired: Collection[str]) -> TestCase:
    file, _ = charter_of(view)
    case = TestCase(name=clean(name), classname=clean(file), time=round(duration_of(view) or 0.0, 3))
    case.append(_properties(view))  # type: ignore[no-untyped-call]
    result = _result(view, never_fired)
    if result is not None:
        result.text = clip(clean("\n".join(_details(view))), _TEXT)
        case.result = result
    elif ticket_in_words(view):
        case.system_out = clean(ticket_in_words(view))
    elif is_claim(outcome_of(view)):
        case.system_out = clean(sentence_of(view))
    return case


def _result(view: InvestigationView, never_fired: Collection[str]) -> Failure | Error | Skipped | None:
    """The one element that says what is wrong, if anything is."""
    outcome = outcome_of(view)
    message = one_line(sentence_of(view), _MESSAGE)
    if outcome in (Outcome.BUG, Outcome.CLAIMS_BUG):
        return Failure(message, "BUG")
    if outcome is Outcome.SUPERSEDED:
        return Skipped(message)
    unfired = [spec for spec in view.unfired if spec in never_fired]
    if unfired and outcome not in (Outcome.HARNESS_ERROR, Outcome.CHECK_ERROR):
        never = f"A planned fault never fired: {', '.join(unfired)}."
        return Error(one_line(f"{never} {outcome}: {message}", _MESSAGE), "CHECK_ERROR")
    if outcome is Outcome.KNOWN_BUG:
        return Skipped(one_line(f"{ticket_in_words(view)} {message}", _MESSAGE))
    return Error(message, _TYPES[outcome]) if outcome in _TYPES else None


def _details(view: InvestigationView) -> Iterator[str]:
    """What a person who reads the CI log needs to go on."""
    yield f"{outcome_of(view)}: {clip(sentence_of(view), 4 * _MESSAGE)}"
    yield f"Question: {view.question.key.question}"
    yield f"{view.q}, {view.name}, agent {view.run.agent}, target {view.question.key.target}"
    for spec in view.question.key.plan:
        yield f"Planned fault: {spec}" + (" (never fired)" if spec in view.unfired else "")
    for ending in view.judgement.endings if view.judgement else ():
        yield f"Load {ending.load} {ending.ending}: {clip(ending.reason, _MESSAGE)}"
    for cause in causes_of(view):
        yield f"Cause on load {cause.load}: {cause.kind}, {cause.reason}" + (
            f" ({cause.hint})" if cause.hint else ""
        )
        yield f"  {cause.method} {clip(cause.url, _MESSAGE)}" if cause.url else f"  layer {cause.layer}"
    yield from view.notes
    yield f"All of it: bughunt show {view.name}"


def _properties(view: InvestigationView) -> Properties:
    judgement, run = view.judgement, view.run
    properties = Properties()  # type: ignore[no-untyped-call]
    for name, value in {
        "q": view.q,
        "run": view.name,
        "outcome": outcome_of(view),
        "agent": run.agent,
        "level": run.level or "",
        "rule": judgement.rule if judgement else "",
        "loads": loads_in_words(view),
        "build": view.build or "",
        "drill": "true" if view.drill else "false",
        "plan": " ".join(view.question.key.plan),
        **_ticket(view),
    }.items():
        properties.append(Property(name, clean(str(value))))  # type: ignore[no-untyped-call]
    return properties


def _ticket(view: InvestigationView) -> dict[str, str]:
    known = view.known_bug
    return {} if known is None else {"ticket": known.ticket, "known_until": known.until.isoformat()}


def _unique_names(views: Sequence[InvestigationView]) -> dict[int, str]:
    """By run id, the charter's name with its plan and agent: the same in every report, for a CI's history.

    A suite holds one target. Several runs of the same in one report are told apart by their numbers.
    """
    named = {view.run.id: _name(view) for view in views}
    often = Counter((view.question.key.target, charter_of(view), named[view.run.id]) for view in views)
    return {
        view.run.id: text
        if often[view.question.key.target, charter_of(view), text] == 1
        else f"{text} [{view.name}]"
        for view in views
        for text in (named[view.run.id],)
    }


def _name(view: InvestigationView) -> str:
    _, name = charter_of(view)
    agent = [] if view.run.agent == USUAL_AGENT else [view.run.agent]
    suffix = ", ".join([*view.question.key.plan, *agent])
    return f"{name} [{suffix}]" if suffix else name
