"""`net.json`: what the page itself received, and what is said where it received nothing."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Browser, Page, expect

from bughunt import Network, NetworkError
from tests.browser.making import asks, networked, only, record
from tests.servers import (
    After,
    Html,
    Json,
    MisbehavingServer,
    NeverAnswer,
    Redirect,
    Reply,
    Reset,
    Route,
    StallMidBody,
    sequence,
)
from tests.servers.misbehaving import Routes
from tests.servers.pages import page as html_page

ONE, TWO = Json({"n": 1}), Json({"n": 2})

#: A page that fetches `/api/a` at each click.
CLICKS = Html(html_page("<button onclick=\"fetch('/api/a').then(r => r.text())\">ask</button>"))


async def wrong(browser: Browser, routes: Routes, pattern: str = "**/api/a", *, timeout: float = 5.0) -> str:
    """What `net.json` says against this server, where it has nothing to give."""
    async with (
        MisbehavingServer(routes) as server,
        networked(browser, server.url) as (page, net),
    ):
        await page.goto("/")
        with pytest.raises(NetworkError) as raised:
            await net.json(pattern, timeout=timeout)
    message = str(raised.value)
    assert len(message.splitlines()) == 1
    return message


async def test_it_gives_what_the_page_received(browser: Browser) -> None:
    """It asks for nothing by itself."""
    async with (
        MisbehavingServer({"/": asks("/api/a"), "/api/a": sequence(ONE, TWO)}) as server,
        networked(browser, server.url) as (page, net),
    ):
        await page.goto("/")
        assert await net.json("**/api/a") == {"n": 1}
        assert len(server.seen("/api/a")) == 1


async def test_it_declares_what_it_gives(browser: Browser) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await net.json("**/api/a", method="GET")

    async with MisbehavingServer({"/": asks("/api/a"), "/api/a": ONE}) as server:
        loaded = await record(browser, server.url, looks)
    (declared,) = loaded.declarations
    assert (declared.pattern, declared.method) == ("**/api/a", "GET")
    assert declared.exchange == only(loaded.exchanges, "/api/a").id
    assert declared.began <= (declared.ended or 0.0)


async def test_it_declares_what_it_could_not_give(browser: Browser) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await net.json("**/never", timeout=0.05)

    async with MisbehavingServer({"/": Html(html_page(""))}) as server:
        loaded = await record(browser, server.url, looks)
    assert [(d.pattern, d.exchange) for d in loaded.declarations] == [("**/never", None)]
    assert [s.name for s in loaded.steps] == ["Page.goto", "Network.json"]


async def test_it_waits_for_an_answer_that_is_on_its_way(browser: Browser) -> None:
    gate = asyncio.Event()
    async with (
        MisbehavingServer({"/": asks("/api/a"), "/api/a": After(gate, ONE)}) as server,
        networked(browser, server.url) as (page, net),
    ):
        await page.goto("/")
        await server.arrived("/api/a")
        reading = asyncio.ensure_future(net.json("**/api/a"))
        await asyncio.sleep(0)
        assert not reading.done()
        gate.set()
        assert await reading == {"n": 1}


async def test_it_waits_for_a_request_that_is_yet_to_come(browser: Browser) -> None:
    async with (
        MisbehavingServer({"/": CLICKS, "/api/a": ONE}) as server,
        networked(browser, server.url) as (page, net),
    ):
        await page.goto("/")
        reading = asyncio.ensure_future(net.json("**/api/a"))
        await page.get_by_role("button").click()
        assert await reading == {"n": 1}


async def test_a_newer_request_within_the_quiet_time_takes_over(browser: Browser) -> None:
    """The second is asked for right after the first was answered, and is the one that the page goes by."""
    gate = asyncio.Event()
    routes: dict[str, Route] = {"/": asks("/api/a", "/api/a"), "/api/a": sequence(ONE, After(gate, TWO))}
    async with (
        MisbehavingServer(routes) as server,
        networked(browser, server.url) as (page, net),
    ):
        await page.goto("/")
        reading = asyncio.ensure_future(net.json("**/api/a"))
        await server.arrived("/api/a", 2)
        gate.set()
        assert await reading == {"n": 2}


async def test_a_second_reading_after_a_click_waits_for_the_new_answer(browser: Browser) -> None:
    gate = asyncio.Event()
    async with MisbehavingServer({"/": CLICKS, "/api/a": sequence(ONE, After(gate, TWO))}) as server:

        async def looks(page: Page, net: Network) -> None:
            await page.goto("/")
            await page.get_by_role("button").click()
            assert (await net.json("**/api/a"))["n"] == 1
            await page.get_by_role("button").click()
            reading = asyncio.ensure_future(net.json("**/api/a"))
            await server.arrived("/api/a", 2)
            gate.set()
            assert (await reading)["n"] == 2

        assert (await record(browser, server.url, looks)).failure is None


async def test_a_second_reading_whose_answer_never_comes_does_not_give_the_old_one(browser: Browser) -> None:
    """An earlier healthy answer excuses nothing."""
    async with MisbehavingServer({"/": CLICKS, "/api/a": sequence(ONE, NeverAnswer())}) as server:

        async def looks(page: Page, net: Network) -> None:
            await page.goto("/")
            await page.get_by_role("button").click()
            await net.json("**/api/a")
            await page.get_by_role("button").click()
            await net.json("**/api/a", timeout=0.4)

        failure = (await record(browser, server.url, looks)).failure
    assert failure is not None
    assert "was not answered when the time ran out" in failure.message


async def test_a_second_reading_without_anything_new_gives_the_same(browser: Browser) -> None:
    async with (
        MisbehavingServer({"/": asks("/api/a"), "/api/a": sequence(ONE, TWO)}) as server,
        networked(browser, server.url) as (page, net),
    ):
        await page.goto("/")
        assert await net.json("**/api/a") == await net.json("**/api/a") == {"n": 1}


@pytest.mark.parametrize(
    "broken", [Json({}, status=503), Json({}, status=401), Reset()], ids=["503", "401", "reset"]
)
async def test_an_app_that_asks_again_after_a_failure_gets_its_second_chance(
    browser: Browser, broken: Route
) -> None:
    async with (
        MisbehavingServer({"/": CLICKS, "/api/a": sequence(broken, TWO)}) as server,
        networked(browser, server.url) as (page, net),
    ):
        await page.goto("/")
        reading = asyncio.ensure_future(net.json("**/api/a"))
        await page.get_by_role("button").click()
        await server.arrived("/api/a", 1)
        await page.get_by_role("button").click()
        assert await reading == {"n": 2}


async def test_the_method_tells_requests_of_one_url_apart(browser: Browser) -> None:
    script = """(async () => {
      await fetch("/api/a").then(r => r.text());
      await fetch("/api/a", {method: "POST"}).then(r => r.text());
    })();"""
    routes: Routes = {
        "/": Html(html_page("", script=script)),
        ("GET", "/api/a"): ONE,
        ("POST", "/api/a"): TWO,
    }
    async with (
        MisbehavingServer(routes) as server,
        networked(browser, server.url) as (page, net),
    ):
        await page.goto("/")
        await server.arrived("/api/a", 2)
        assert await net.json("**/api/a", method="GET") == {"n": 1}
        assert await net.json("**/api/a", method="POST") == {"n": 2}
        assert await net.json("**/api/a") == {"n": 2}


async def test_a_redirected_answer_is_found_by_the_url_first_asked_for(browser: Browser) -> None:
    routes: Routes = {"/": asks("/api/a"), "/api/a": Redirect("/api/b"), "/api/b": TWO}
    async with (
        MisbehavingServer(routes) as server,
        networked(browser, server.url) as (page, net),
    ):
        await page.goto("/")
        assert await net.json("**/api/a") == {"n": 2}


async def test_an_answer_is_still_given_after_the_page_has_moved_on(browser: Browser) -> None:
    async with (
        MisbehavingServer({"/": asks("/api/a"), "/api/a": ONE, "/next": Html(html_page(""))}) as server,
        networked(browser, server.url) as (page, net),
    ):
        await page.goto("/")
        await expect(page.locator("p")).to_have_text("done")
        assert await net.json("**/api/a") == {"n": 1}
        await page.goto("/next")
        assert await net.json("**/api/a") == {"n": 1}


async def test_a_page_that_asks_all_the_time_gives_its_latest_answer(browser: Browser) -> None:
    """It polls faster than the quiet time, and is healthy."""
    script = "setInterval(() => fetch('/api/a').then(r => r.text()), 100);"
    async with (
        MisbehavingServer({"/": Html(html_page("", script=script)), "/api/a": ONE}) as server,
        networked(browser, server.url) as (page, net),
    ):
        await page.goto("/")
        assert await net.json("**/api/a", timeout=0.6) == {"n": 1}


async def test_what_was_never_asked_for_is_said_with_what_was(browser: Browser) -> None:
    routes: Routes = {"/": asks("/api/b", "/api/c"), "/api/b": ONE, "/api/c": Json({}, status=404)}
    async with (
        MisbehavingServer(routes) as server,
        networked(browser, server.url) as (page, net),
    ):
        await page.goto("/")
        await expect(page.locator("p")).to_have_text("done")
        with pytest.raises(NetworkError) as raised:
            await net.json("**/api/a", timeout=0.05)
    assert str(raised.value) == (
        "The page never asked for **/api/a. It asked for: GET /api/b was answered 200, "
        "GET /api/c was answered 404."
    )
    assert raised.value.out_of_time


async def test_a_page_that_asked_for_nothing_is_said_so(browser: Browser) -> None:
    message = await wrong(browser, {"/": Html(html_page(""))}, timeout=0.05)
    assert message == "The page never asked for **/api/a."


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Json({}, status=404), "was answered 404"),
        (Json({}, status=503), "was answered 503"),
        (Reset(), "failed with net::ERR_CONNECTION_RESET"),
        (NeverAnswer(), "was not answered when the time ran out"),
        (StallMidBody(), "was answered in part when the time ran out"),
    ],
    ids=["404", "503", "reset", "never", "in part"],
)
async def test_what_became_of_the_request_is_said(browser: Browser, answer: Route, told: str) -> None:
    message = await wrong(browser, {"/": asks("/api/a"), "/api/a": answer}, timeout=0.4)
    assert f"GET /api/a {told}" in message


@pytest.mark.parametrize("body", ["<!doctype html><p>Sign in</p>", '{"items": [', ""])
async def test_an_answer_that_is_no_json_is_said_so(browser: Browser, body: str) -> None:
    message = await wrong(browser, {"/": asks("/api/a"), "/api/a": Reply(body=body)})
    assert message.startswith("The answer of GET /api/a (status 200) is no JSON: ")


@pytest.mark.parametrize(
    ("answer", "timed_out"),
    [(Json({}, status=404), False), (Reply(body="no json"), False), (NeverAnswer(), True)],
    ids=["404", "no JSON", "never"],
)
async def test_only_a_reading_whose_time_ran_out_has_timed_out(
    browser: Browser, answer: Route, timed_out: bool
) -> None:
    """Nothing else can have come too late for a bad answer."""

    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await net.json("**/api/a", timeout=0.5 if timed_out else 5.0)

    async with MisbehavingServer({"/": asks("/api/a"), "/api/a": answer}) as server:
        failure = (await record(browser, server.url, looks)).failure
    assert failure is not None
    assert (failure.kind, failure.timed_out) == ("net_json", timed_out)


@pytest.mark.parametrize("pattern", ["", "**/{api", "localhost:8000/api"])
async def test_a_pattern_that_is_none_is_the_charters_mistake_and_still_recorded(
    browser: Browser, pattern: str
) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await net.json(pattern, timeout=0.05)

    async with MisbehavingServer({"/": asks("/api/a"), "/api/a": ONE}) as server:
        failure = (await record(browser, server.url, looks)).failure
    assert failure is not None
    assert "pattern" in failure.message
