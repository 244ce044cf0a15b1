"""The charter's steps: what it awaited, when, and where that is written."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from playwright.async_api import TimeoutError as PlaywrightTimeout

from bughunt import Network
from bughunt.browser.steps import StepLog
from bughunt.browser.wrapping import recording
from bughunt.verdict.record import FailureKind, LoadRecord
from tests.browser.making import SOON, asks, record
from tests.servers import Html, MisbehavingServer, NeverAnswer
from tests.servers.pages import page as html_page

FORM = html_page("<h1>Shop</h1><input><button onclick=\"fetch('/api/click')\">Buy</button><p>one</p>")


@pytest.fixture(scope="module")
async def shop() -> AsyncIterator[str]:
    """A page with a heading, a field and a button that sends a request."""
    async with MisbehavingServer({"/": Html(FORM), "/ask": asks("/api/a")}) as server:
        yield server.url


def line_of(function: Any, text: str) -> int:
    """The line of this file on which a charter does that."""
    lines, first = inspect.getsourcelines(function)
    return first + next(n for n, line in enumerate(lines) if text in line)


def names(of: LoadRecord) -> list[str]:
    """What was recorded, in order."""
    return [step.name for step in of.steps]


async def test_each_awaited_call_is_a_step_with_its_line_and_what_it_is_about(
    browser: Browser, shop: str
) -> None:
    async def buys(page: Page, net: Network) -> None:
        await page.goto("/")
        await page.locator("input").fill("sock")
        await page.get_by_role("button").click()
        await page.keyboard.press("Tab")
        await expect(page.locator("h1")).to_have_text("Shop")
        await expect(page).to_have_title("App under test")

    steps = (await record(browser, shop, buys)).steps
    assert [(s.name, s.target) for s in steps] == [
        ("Page.goto", "/"),
        ("Locator.fill", "input"),
        ("Locator.click", "internal:role=button"),
        ("Keyboard.press", ""),  # what is typed may be a password
        ("LocatorAssertions.to_have_text", "h1"),
        ("PageAssertions.to_have_title", ":root"),
    ]
    first = line_of(buys, "page.goto")
    assert [s.line for s in steps] == list(range(first, first + 6))
    assert [s.index for s in steps] == list(range(6))


async def test_steps_know_whether_they_wait_and_whether_they_act(browser: Browser, shop: str) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await page.locator("h1").count()
        await page.locator("h1").is_visible()
        await page.locator("h1").inner_text()
        await page.get_by_role("button").click()
        await expect(page.locator("h1")).to_be_visible()
        await net.json("**/never", timeout=0.01)

    steps = (await record(browser, shop, looks)).steps
    assert [(s.name.split(".")[1], s.waits, s.acts) for s in steps] == [
        ("goto", True, True),
        ("count", False, False),
        ("is_visible", False, False),
        ("inner_text", True, False),
        ("click", True, True),
        ("to_be_visible", True, False),
        ("json", True, False),
    ]


async def test_a_step_begins_and_ends_by_the_clock_of_the_load(browser: Browser, shop: str) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await page.locator("h1").inner_text()

    loaded = await record(browser, shop, looks)
    times = [t for s in loaded.steps for t in (s.began, s.ended or -1.0)]
    assert times == sorted(times)
    assert 0.0 <= times[0] <= times[-1] <= loaded.ended


async def test_nothing_is_recorded_outside_a_charter(browser: Browser, shop: str) -> None:
    log = StepLog(Path(__file__))
    context = await browser.new_context(base_url=shop)
    with recording(log):
        pass
    page = await context.new_page()
    await page.goto("/")
    await context.close()
    assert log.steps == ()


async def test_a_call_that_playwright_makes_within_a_call_is_one_step(browser: Browser, shop: str) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await page.locator("p").all()
        await page.wait_for_selector("p")
        await expect(page.locator("p")).to_have_count(1)

    assert names(await record(browser, shop, looks)) == [
        "Page.goto",
        "Locator.all",
        "Page.wait_for_selector",
        "LocatorAssertions.to_have_count",
    ]


async def test_steps_at_the_same_time_are_each_recorded(browser: Browser, shop: str) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await asyncio.gather(page.locator("h1").inner_text(), page.locator("p").inner_text())

    steps = (await record(browser, shop, looks)).steps
    assert [(s.name, s.target) for s in steps[1:]] == [
        ("Locator.inner_text", "h1"),
        ("Locator.inner_text", "p"),
    ]


async def test_a_step_in_a_helper_of_another_file_has_the_charters_line(browser: Browser, shop: str) -> None:
    async def looks(page: Page, net: Network) -> None:
        await elsewhere(page)

    scope: dict[str, Any] = {}
    exec(compile("async def elsewhere(page):\n    await page.goto('/')\n", "elsewhere.py", "exec"), scope)
    elsewhere = scope["elsewhere"]
    (step,) = (await record(browser, shop, looks)).steps
    assert step.line == line_of(looks, "await elsewhere")


async def test_what_is_expected_while_something_is_done_is_a_step_around_it(
    browser: Browser, shop: str
) -> None:
    async def buys(page: Page, net: Network) -> None:
        await page.goto("/")
        async with page.expect_response("**/api/click") as answer:
            await page.get_by_role("button").click()
        assert (await answer.value).status == 404

    loaded = await record(browser, shop, buys)
    assert loaded.failure is None
    _, expected, click = loaded.steps
    assert (expected.name, expected.target) == ("Page.expect_response", "**/api/click")
    assert expected.line == line_of(buys, "page.expect_response")
    assert expected.ended is not None
    assert click.ended is not None
    assert expected.began <= click.began <= click.ended <= expected.ended


async def test_an_expected_response_that_never_comes_is_the_step_that_failed(
    browser: Browser, shop: str
) -> None:
    async def buys(page: Page, net: Network) -> None:
        await page.goto("/")
        async with page.expect_response("**/api/never", timeout=SOON):
            await page.get_by_role("button").click()

    loaded = await record(browser, shop, buys)
    assert loaded.failure is not None
    assert (loaded.failure.kind, loaded.failure.step) == (FailureKind.TIMEOUT, 1)
    assert loaded.failure.timed_out


async def test_what_fails_while_something_is_expected_is_the_step_that_failed(
    browser: Browser, shop: str
) -> None:
    async def buys(page: Page, net: Network) -> None:
        await page.goto("/")
        async with page.expect_response("**/api/never"):
            await page.locator("#gone").click(timeout=SOON)

    loaded = await record(browser, shop, buys)
    assert loaded.failure is not None
    assert loaded.failure.step == 2
    assert loaded.steps[2].target == "#gone"


async def test_the_failing_step_and_the_lines_that_led_to_it_are_known(browser: Browser, shop: str) -> None:
    async def the_total(page: Page) -> None:
        await expect(page.locator("p")).to_have_text("two", timeout=SOON)

    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await the_total(page)

    failure = (await record(browser, shop, looks)).failure
    assert failure is not None
    assert (failure.kind, failure.step, failure.timed_out) == (FailureKind.ASSERTION, 1, True)
    assert failure.lines == (line_of(looks, "await the_total"), line_of(the_total, "expect(page"))


async def test_a_plain_assert_is_no_steps_failure(browser: Browser, shop: str) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        assert await page.locator("p").inner_text() == "two"

    failure = (await record(browser, shop, looks)).failure
    assert failure is not None
    assert (failure.kind, failure.step, failure.timed_out) == (FailureKind.ASSERTION, None, False)
    assert failure.lines == (line_of(looks, "assert"),)


async def test_an_error_that_the_charter_caught_is_not_the_failure_of_a_later_one(
    browser: Browser, shop: str
) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        with contextlib.suppress(PlaywrightTimeout):
            await page.locator("#gone").click(timeout=SOON)
        raise KeyError("items")

    failure = (await record(browser, shop, looks)).failure
    assert failure is not None
    assert (failure.kind, failure.type, failure.step) == (FailureKind.EXCEPTION, "KeyError", None)


async def test_an_expectation_that_does_not_wait_has_not_timed_out(browser: Browser, shop: str) -> None:
    async def asks_for_it(page: Page, net: Network) -> None:
        await expect(await page.request.get("/gone")).to_be_ok()

    failure = (await record(browser, shop, asks_for_it)).failure
    assert failure is not None
    assert (failure.kind, failure.timed_out) == (FailureKind.ASSERTION, False)


HELD_UP = html_page('<h1>Shop</h1><img src="/never.png" alt="">')

PATIENT_WAYS = {
    "goto": lambda page: page.goto("/", timeout=SOON * 5),
    "goto that says load": lambda page: page.goto("/", wait_until="load", timeout=SOON * 5),
    "reload": lambda page: page.reload(timeout=SOON * 5),
    "go_back": lambda page: page.go_back(timeout=SOON * 5),
    "wait_for_load_state": lambda page: page.wait_for_load_state(timeout=SOON * 5),
}


@pytest.mark.parametrize("way", PATIENT_WAYS)
async def test_a_patient_load_waits_for_the_document_only(browser: Browser, way: str) -> None:
    """Every step that the rules may call held up must get through on the next load."""

    async def looks(page: Page, net: Network) -> None:
        await page.goto("/", wait_until="domcontentloaded")
        await page.goto("/#there", wait_until="domcontentloaded")
        await page.goto("/other", wait_until="domcontentloaded")
        await PATIENT_WAYS[way](page)

    routes = {"/": Html(HELD_UP), "/other": Html(HELD_UP), "/never.png": NeverAnswer()}
    async with MisbehavingServer(routes) as server:
        loaded = await record(browser, server.url, looks, patient=True)
    assert loaded.failure is None


async def test_a_load_that_is_not_patient_waits_as_the_charter_says(browser: Browser) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/", timeout=SOON * 2)

    async with MisbehavingServer({"/": Html(HELD_UP), "/never.png": NeverAnswer()}) as server:
        failure = (await record(browser, server.url, looks)).failure
    assert failure is not None
    assert failure.kind is FailureKind.TIMEOUT


class Clock:
    """Says what time it is told."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.mark.parametrize(("later", "acting"), [(0.29, 0), (0.31, None)])
def test_what_the_page_does_shortly_after_an_action_is_the_actions_doing(
    later: float, acting: int | None
) -> None:
    clock = Clock()
    log = StepLog(Path(__file__), clock)
    with log.step("Locator.click", "button", acts=True):
        assert log.acting() == 0
    with log.step("Locator.count", "p"):
        clock.time += later
        assert log.acting() == acting


def test_the_last_action_is_when_one_ended() -> None:
    clock = Clock()
    log = StepLog(Path(__file__), clock)
    assert log.last_action() == 0.0
    with log.step("Locator.click", "button", acts=True):
        clock.time += 2.0
    with log.step("Locator.count", "p"):
        clock.time += 3.0
    assert (log.last_action(), log.now()) == (2.0, 5.0)
