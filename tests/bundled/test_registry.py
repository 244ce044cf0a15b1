"""The registry of bundled apps agrees with the apps, with the charters and with the documentation."""

from __future__ import annotations

import re

import pytest

from bughunt.bundled import BUNDLED, BundledApp
from fault_routes import parse_fault
from target_apps import APPS
from tests.bundled.loading import charters_of
from tests.docs.pages import table

PAGE = "reference/target-apps.md"
CODE = re.compile(r"`([^`]+)`")


@pytest.fixture(params=BUNDLED, ids=lambda bundled: bundled.name)
def bundled(request: pytest.FixtureRequest) -> BundledApp:
    found: BundledApp = request.param
    return found


def test_every_app_is_bundled() -> None:
    assert {bundled.name: bundled.app for bundled in BUNDLED} == APPS


def test_every_bug_is_either_plain_or_shows_only_under_a_fault(bundled: BundledApp) -> None:
    under_fault = [one.bug for one in bundled.bugs_under_fault]
    assert sorted([*bundled.bugs, *under_fault]) == sorted(bundled.app.BUGS)


def test_every_plain_bug_is_seen_by_a_charter_that_there_is(bundled: BundledApp) -> None:
    names = charters_of(bundled)
    for bug, seen_by in bundled.bugs.items():
        assert seen_by, bug
        assert set(seen_by) <= set(names), bug
        assert len(set(seen_by)) == len(seen_by), bug


def test_a_bug_under_a_fault_is_seen_by_a_resilient_charter_that_depends_on_it(bundled: BundledApp) -> None:
    for one in bundled.bugs_under_fault:
        charter = charters_of(bundled)[one.charter]
        assert charter.resilient
        assert charter.depends_on is not None
        assert parse_fault(one.fault).where.pattern in charter.depends_on


def test_an_app_has_three_to_five_charters_and_each_asks_something_else(bundled: BundledApp) -> None:
    charters = charters_of(bundled).values()
    assert 3 <= len(charters) <= 5
    assert len({charter.question for charter in charters}) == len(charters)


def test_each_app_that_is_written_to_has_a_charter_that_waits_for_the_acknowledgement() -> None:
    waiting = {b.name for b in BUNDLED if "net.acknowledged(" in b.charters.read_text(encoding="utf-8")}
    assert waiting == {"todo", "login", "shop"}


def test_the_documentation_has_each_bug_with_its_verdict_and_its_charters() -> None:
    shown = [[*CODE.findall(app), *CODE.findall(bug), wrong] for app, bug, wrong, *_ in table(PAGE, "Bugs")]
    assert shown == [[b.name, bug, wrong] for b in BUNDLED for bug, wrong in b.app.BUGS.items()]
    for app, bug, _, verdict, charters in table(PAGE, "Bugs"):
        (bundled,) = (b for b in BUNDLED if f"`{b.name}`" == app)
        (name,) = CODE.findall(bug)
        under_fault = [one for one in bundled.bugs_under_fault if one.bug == name]
        assert CODE.findall(verdict) == [one.fault for one in under_fault], name
        assert verdict.startswith("PASS; BUG under" if under_fault else "BUG"), name
        seen_by = bundled.bugs.get(name) or tuple(one.charter for one in under_fault)
        assert tuple(CODE.findall(charters)) == seen_by, name


def test_the_documentation_has_each_charter_with_its_question() -> None:
    shown = [[*CODE.findall(app), *CODE.findall(name), *rest] for app, name, *rest in table(PAGE, "Charters")]
    assert shown == [
        [bundled.name, charter.name, charter.question, "yes" if charter.resilient else ""]
        for bundled in BUNDLED
        for charter in charters_of(bundled).values()
    ]
