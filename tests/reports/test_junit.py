"""JUnit XML keeps to the contract, whatever a page says."""

from __future__ import annotations

import pytest
from junitparser import Error, Failure, JUnitXml, Properties, Skipped, TestCase

from bughunt.reports import render_junit
from bughunt.tower.values import InvestigationView
from bughunt.verdict.judgement import State
from bughunt.verdict.record import FailureKind
from tests.reports import samples


def parsed(*views: InvestigationView) -> list[TestCase]:
    """The testcases as another program reads them."""
    text = render_junit(views)
    assert text.startswith("<?xml")
    text.encode()
    return [case for suite in JUnitXml.fromstring(text.encode()) for case in suite]


def only(view: InvestigationView) -> tuple[type, str]:
    """Class and type of the one result of a run."""
    (result,) = parsed(view)[0].result
    return type(result), result.type


def check_error() -> InvestigationView:
    """A charter whose selector is wrong."""
    record = samples.load(1, samples.document(), failure=samples.failure(0.2, kind=FailureKind.SELECTOR))
    return samples.view(samples.judged(record), [record])


def test_a_pass_is_a_testcase_with_its_place_name_and_time() -> None:
    (case,) = parsed(samples.passed())
    assert (case.classname, case.name, case.time) == ("charters/cart.py", "cart_total", 12.5)
    assert case.is_passed


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (samples.bug(), (Failure, "BUG")),
        (samples.claimed(samples.mismatch()), (Failure, "BUG")),
        (samples.env_error(), (Error, "ENV_ERROR")),
        (check_error(), (Error, "CHECK_ERROR")),
        (samples.without_judgement(State.FAILED), (Error, "HARNESS_ERROR")),
        (samples.without_judgement(State.RUNNING), (Error, "HARNESS_ERROR")),
        (samples.without_judgement(State.CANCELLED), (Error, "HARNESS_ERROR")),
        (samples.without_judgement(State.SUPERSEDED), (Skipped, None)),
        (samples.passed(plan=("reset@/x",), unfired=("reset@/x",)), (Error, "CHECK_ERROR")),
        (samples.bug(plan=("reset@/x",), unfired=("reset@/x",)), (Failure, "BUG")),
    ],
)
def test_each_outcome_has_its_element(view: InvestigationView, expected: tuple[type, str]) -> None:
    assert only(view) == expected


def test_a_claim_of_a_pass_says_that_it_is_one() -> None:
    (case,) = parsed(samples.claimed(samples.held()))
    assert case.is_passed
    assert "not verified" in case.system_out


def test_the_message_is_the_sentence_and_the_text_has_the_exchange() -> None:
    (case,) = parsed(samples.env_error(fault="reset@**/api/cart"))
    assert case.result[0].message.startswith("The answer could not be seen")
    assert "GET http://shop.test/api/cart" in case.result[0].text
    assert "Planned fault: reset@**/api/cart" in case.result[0].text


def test_properties_name_run_and_rule() -> None:
    (case,) = parsed(samples.bug(7))
    found = {item.name: item.value for item in case.child(Properties)}
    assert found.items() >= {
        "q": "Q-7", "run": "RUN-7", "level": "E5", "rule": "mismatch, healthy network",
        "loads": "1 (+1)", "build": "", "drill": "false",
    }.items()  # fmt: skip


def test_there_is_a_suite_for_each_target_with_its_counts() -> None:
    views = [samples.passed(1), samples.bug(2, key={"target": "production"}), samples.env_error(3)]
    document = JUnitXml.fromstring(render_junit(views).encode())
    counts = [(suite.name, suite.tests, suite.failures, suite.errors) for suite in document]
    assert counts == [("staging", 2, 0, 1), ("production", 1, 1, 0)]
    assert (document.tests, document.failures, document.errors) == (3, 1, 1)


def test_namesakes_are_told_apart() -> None:
    views = [
        samples.passed(1),
        samples.env_error(2, "reset@**/api/cart"),
        samples.claimed(samples.held(), 3),
        samples.passed(4),
        samples.passed(5, key={"charter": "charters/cart.py::other"}),
    ]
    names = [case.name for case in parsed(*views)]
    assert names == [
        "cart_total [RUN-1]",
        "cart_total [reset@**/api/cart]",
        "cart_total [naive]",
        "cart_total [RUN-4]",
        "other",
    ]


def test_signs_that_xml_forbids_are_replaced() -> None:
    nasty = "]]></failure><x a=\"'\x00\x0b\ud800\ufffe\x1b[31m"
    named = {"charter": f"{nasty}.py::{nasty}", "target": nasty, "question": nasty}
    (case,) = parsed(samples.bug(1, nasty, key=named, notes=(nasty,)))
    assert case.result[0].type == "BUG"
    assert "</failure><x" in case.result[0].text
    assert "\ufffd" in case.name


def test_no_investigation_is_an_empty_document() -> None:
    document = JUnitXml.fromstring(render_junit([]).encode())
    assert (document.tests, list(document)) == (0, [])


def test_a_failure_of_ours_is_an_error_of_its_own() -> None:
    document = JUnitXml.fromstring(render_junit([samples.passed()], ["the disk is full"]).encode())
    assert (document.tests, document.errors) == (2, 1)
