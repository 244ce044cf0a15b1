"""A bug that is known is told of, and fails nothing until its last day is over."""

from __future__ import annotations

import io
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from junitparser import Failure, JUnitXml, Properties, Skipped, TestCase
from msgspec import structs
from rich.console import Console

from bughunt.reports import (
    Outcome,
    details,
    headline,
    investigation_json,
    outcome_of,
    render_html,
    render_junit,
    render_markdown,
)
from bughunt.reports.outcomes import lead, ticket_in_words
from bughunt.tower import InvestigationView
from bughunt.tower.values import KnownBug
from tests.reports import samples

THE_DAY = samples.NOW.date()
SHOP_12 = KnownBug(ticket="SHOP-12", until=THE_DAY)
MENDED = KnownBug(ticket="SHOP-12", until=date(2025, 3, 3))

KNOWN = samples.bug(known_bug=SHOP_12)
OVERDUE = samples.bug(known_bug=MENDED)
GONE = samples.passed(known_bug=SHOP_12)


def at(moment: datetime) -> InvestigationView:
    return structs.replace(KNOWN, run=structs.replace(KNOWN.run, terminal_at=moment))


def case_of(view: InvestigationView) -> TestCase:
    (case,) = [case for suite in JUnitXml.fromstring(render_junit([view]).encode()) for case in suite]
    return case


def printed(view: InvestigationView) -> str:
    stream = io.StringIO()
    Console(file=stream, width=400, force_terminal=False).print(details(view))
    return stream.getvalue()


def page(view: InvestigationView) -> str:
    return render_html([view], evidence_bytes=lambda evidence: b"", now=samples.NOW)


def test_a_bug_with_a_ticket_is_a_known_bug() -> None:
    assert outcome_of(KNOWN) is Outcome.KNOWN_BUG
    assert headline([KNOWN, samples.bug(2)]) == "1 BUG, 1 known BUG"
    assert lead([KNOWN, samples.bug(2)]).replace("\u00a0", " ") == "1 bug · 1 known bug"


@pytest.mark.parametrize(
    ("moment", "outcome"),
    [
        (datetime(2025, 3, 4, 23, 59, 59, tzinfo=UTC), Outcome.KNOWN_BUG),
        (datetime(2025, 3, 5, tzinfo=UTC), Outcome.BUG),
        (datetime(2025, 3, 4, 23, tzinfo=timezone(-timedelta(hours=2))), Outcome.BUG),
    ],
)
def test_it_is_known_until_its_last_day_is_over_by_the_time_of_the_run(
    moment: datetime, outcome: Outcome
) -> None:
    assert outcome_of(at(moment)) is outcome


def test_a_claim_of_a_bug_is_none_that_is_known() -> None:
    assert outcome_of(samples.claimed(samples.mismatch(), known_bug=SHOP_12)) is Outcome.CLAIMS_BUG


def test_an_env_error_says_nothing_about_the_ticket() -> None:
    assert ticket_in_words(samples.env_error(known_bug=SHOP_12)) == ""


def test_a_pass_says_that_the_ticket_may_be_closed() -> None:
    told = "The bug was not seen: SHOP-12 may be closed."
    assert outcome_of(GONE) is Outcome.PASS
    assert told in printed(GONE)
    assert told in render_markdown([GONE])
    assert told in page(GONE)
    assert case_of(GONE).system_out == told


def test_a_pass_of_a_drill_does_not() -> None:
    assert ticket_in_words(samples.passed(known_bug=SHOP_12, plan=("reset@/x",))) == ""


@pytest.mark.parametrize(
    ("view", "told"),
    [
        (KNOWN, "The bug is known as SHOP-12 and fails no run until 2025-03-04 is over."),
        (OVERDUE, "The bug is known as SHOP-12, and was to be mended by 2025-03-03."),
    ],
)
def test_each_format_for_people_names_the_ticket(view: InvestigationView, told: str) -> None:
    assert told in printed(view)
    assert told in render_markdown([view])
    assert told in page(view)


def test_junit_skips_a_known_bug_and_fails_an_overdue_one() -> None:
    (known,), (overdue,) = case_of(KNOWN).result, case_of(OVERDUE).result
    assert isinstance(known, Skipped)
    assert known.message.startswith("The bug is known as SHOP-12")
    assert isinstance(overdue, Failure)
    properties = {item.name: item.value for item in case_of(KNOWN).child(Properties)}
    assert properties.items() >= {"ticket": "SHOP-12", "known_until": "2025-03-04"}.items()


def test_junit_names_a_fault_that_never_fired_before_the_ticket() -> None:
    drill = samples.bug(known_bug=SHOP_12, plan=("reset@/x",), unfired=("reset@/x",))
    (result,) = case_of(drill).result
    assert result.type == "CHECK_ERROR"


def test_json_has_the_ticket_whatever_the_verdict() -> None:
    told = {"ticket": "SHOP-12", "until": "2025-03-04"}
    assert [investigation_json(view)["known_bug"] for view in (KNOWN, GONE, samples.bug())] == [
        told,
        told,
        None,
    ]
    assert investigation_json(KNOWN)["outcome"] == "known BUG"
    assert investigation_json(KNOWN)["verdict"] == "BUG"
