"""Every exchange of a context, as the browser saw it; and the page sees nothing of it."""

from __future__ import annotations

import asyncio
import gzip
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from bughunt import Network
from bughunt.browser.recorder import Recorder
from bughunt.verdict.record import Exchange
from tests.browser.making import asks, found, load, only, record, watched
from tests.servers import (
    After,
    Answer,
    CloseWithoutByte,
    CutChunked,
    Html,
    Json,
    MisbehavingServer,
    NeverAnswer,
    Redirect,
    Reply,
    Request,
    Reset,
    ShortBody,
    StallMidBody,
)
from tests.servers.pages import page as html_page


async def asked(browser: Browser, answer: Answer, path: str = "/api/a", **given: Any) -> Exchange:
    """The exchange of a fetch that was answered so."""

    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await expect(page.locator("p")).to_have_text("done")

    async with MisbehavingServer({"/": asks(path), path: answer}) as server:
        return only((await record(browser, server.url, looks, **given)).exchanges, path)


async def test_a_good_answer_is_recorded_from_its_request_to_its_end(browser: Browser) -> None:
    x = await asked(browser, Json({"items": []}))
    assert (x.method, x.resource_type, x.status, x.failure, x.finished) == ("GET", "fetch", 200, None, True)
    assert x.responded is not None
    assert x.ended is not None
    assert x.started <= x.responded <= x.ended
    assert (x.announced, x.received) == (13, 13)
    assert x.protocol == "http/1.1"
    assert x.digest is not None
    assert x.body is None  # nobody declared it
    assert x.frame_url.endswith("/")
    assert not x.main_document


async def test_an_error_status_is_no_failure(browser: Browser) -> None:
    x = await asked(browser, Json({}, status=503))
    assert (x.status, x.failure, x.finished) == (503, None, True)


@pytest.mark.parametrize(
    ("answer", "failure", "status"),
    [
        (Reset(), "net::ERR_CONNECTION_RESET", None),
        (CloseWithoutByte(), "net::ERR_EMPTY_RESPONSE", None),
        (ShortBody(), "net::ERR_CONTENT_LENGTH_MISMATCH", 200),
        (CutChunked(), "net::ERR_INCOMPLETE_CHUNKED_ENCODING", 200),
    ],
    ids=["reset", "no byte", "short", "cut"],
)
async def test_a_failure_is_recorded_beside_the_status_that_came(
    browser: Browser, answer: Answer, failure: str, status: int | None
) -> None:
    x = await asked(browser, answer)
    assert (x.failure, x.status, x.finished) == (failure, status, False)
    assert x.ended is not None


async def test_a_request_that_is_never_answered_stays_open(browser: Browser) -> None:
    async with MisbehavingServer({"/": asks("/api/a"), "/api/a": NeverAnswer()}) as server:

        async def looks(page: Page, net: Network) -> None:
            await page.goto("/")
            await server.arrived("/api/a")

        x = only((await record(browser, server.url, looks)).exchanges, "/api/a")
    assert (x.status, x.failure, x.ended, x.responded, x.finished) == (None, None, None, None, False)


@pytest.mark.parametrize(("missing", "announced"), [(100, 109), (None, None)])
async def test_a_body_that_stalls_is_recorded_with_what_came_of_it(
    browser: Browser, missing: int | None, announced: int | None
) -> None:
    async with watched_part(browser, StallMidBody(missing=missing)) as recorder:
        x = only(recorder.freeze(), "/api/a")
    assert (x.status, x.announced, x.received, x.finished) == (200, announced, 9, False)


_READS_BIT_BY_BIT = """(async () => {
  const reader = (await fetch("/api/a")).body.getReader();
  await reader.read();
  document.querySelector("p").textContent = "begun";
  await reader.read();
})();"""


@asynccontextmanager
async def watched_part(browser: Browser, answer: Answer) -> AsyncIterator[Recorder]:
    """What records a page that has got the first bit of its fetch's body."""
    routes = {"/": Html(html_page("<p>…</p>", script=_READS_BIT_BY_BIT)), "/api/a": answer}
    async with (
        MisbehavingServer(routes) as server,
        watched(browser, server.url) as (page, recorder),
    ):
        await page.goto("/")
        await expect(page.locator("p")).to_have_text("begun")
        yield recorder


ASKS_TWICE_THEN_AGAIN = html_page(
    "<p></p>",
    script="""
const ask = () => fetch("/api/a");
const both = Promise.all([ask(), ask()]);
both.then(ask).then(() => { document.querySelector("p").textContent = "done"; });
""",
)


async def test_the_browsers_clock_orders_what_was_known_and_what_was_asked(browser: Browser) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await expect(page.locator("p")).to_have_text("done")

    async with MisbehavingServer(
        {"/": Html(ASKS_TWICE_THEN_AGAIN), "/api/a": Json({}, status=503)}
    ) as server:
        seen = (await record(browser, server.url, looks)).exchanges
    first, twin, again = ((x.asked_mark, x.known_mark) for x in seen if x.url.endswith("/api/a"))
    assert None not in {*first, *twin, *again}
    assert first[0] <= twin[0] <= first[1]
    assert max(first[1], twin[1]) <= again[0]


async def test_an_encoded_body_announces_no_length_of_its_own(browser: Browser) -> None:
    """Content-Length counts what is sent, the browser what it unpacked."""
    packed = Reply(body=gzip.compress(b"{}" * 500), headers={"Content-Encoding": "gzip"})
    x = await asked(browser, packed)
    assert (x.status, x.finished, x.announced) == (200, True, None)


# Redirects


async def test_redirects_are_hops_of_one_exchange(browser: Browser) -> None:
    routes = {
        "/": asks("/api/old"),
        "/api/old": Redirect("/api/older", 307),
        "/api/older": Redirect("/api/new"),
        "/api/new": Json({}),
    }

    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await expect(page.locator("p")).to_have_text("done")

    async with MisbehavingServer(routes) as server:
        loaded = await record(browser, server.url, looks)
    x = only(loaded.exchanges, "/api/old")
    assert not found(loaded.exchanges, "/api/new")
    assert [(hop.url.removeprefix(server.url), hop.status) for hop in x.hops] == [
        ("/api/old", 307),
        ("/api/older", 302),
    ]
    assert x.final_url == f"{server.url}/api/new"
    assert (x.status, x.finished, x.received) == (200, True, 2)


async def test_a_redirect_into_a_failure_is_a_failed_exchange(browser: Browser) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await expect(page.locator("p")).to_have_text("done")

    routes = {"/": asks("/api/old"), "/api/old": Redirect("/api/new"), "/api/new": Reset()}
    async with MisbehavingServer(routes) as server:
        x = only((await record(browser, server.url, looks)).exchanges, "/api/old")
    assert (x.status, x.failure, len(x.hops)) == (None, "net::ERR_CONNECTION_RESET", 1)


async def test_a_redirect_that_the_page_does_not_follow_has_ended(browser: Browser) -> None:
    """`fetch(url, {redirect: "manual"})`: a further request is told of that is never sent."""
    script = 'fetch("/api/a", {redirect: "manual"});'
    routes = {"/": Html(html_page("", script=script)), "/api/a": Redirect("/api/b")}
    async with (
        MisbehavingServer(routes) as server,
        watched(browser, server.url) as (page, recorder),
    ):
        async with page.expect_event("requestfailed"):
            await page.goto("/")
        x = only(recorder.freeze(), "/api/a")
        assert server.seen("/api/b") == []
    assert ([hop.status for hop in x.hops], x.failure) == ([302], "net::ERR_ABORTED")
    assert x.ended is not None


async def test_a_redirected_document_is_the_document(browser: Browser) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")

    async with MisbehavingServer({"/": Redirect("/home"), "/home": Html(html_page("hello"))}) as server:
        (x,) = (await record(browser, server.url, looks)).exchanges
    assert (x.main_document, x.final_url, x.navigation_of) == (True, f"{server.url}/home", 0)


# Pages, frames, workers


async def test_a_frames_document_is_not_the_pages(browser: Browser) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")

    routes = {"/": Html(html_page('<iframe src="/frame"></iframe>')), "/frame": Html(html_page("in it"))}
    async with MisbehavingServer(routes) as server:
        loaded = await record(browser, server.url, looks)
    main, frame = only(loaded.exchanges, f"{server.url}/"), only(loaded.exchanges, "/frame")
    assert (main.main_document, main.frame_document) == (True, False)
    assert (frame.main_document, frame.frame_document) == (False, True)


async def test_a_popups_document_is_a_main_document_of_another_page(browser: Browser) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        async with page.expect_popup() as opened:
            await page.get_by_role("link").click()
        popup = await opened.value
        await expect(popup.locator("p")).to_have_text("done")

    routes = {
        "/": Html(html_page('<a href="/popup" target="_blank">open</a>')),
        "/popup": asks("/api/a"),
        "/api/a": Json({}),
    }
    async with MisbehavingServer(routes) as server:
        loaded = await record(browser, server.url, looks)
    popup, fetched = only(loaded.exchanges, "/popup"), only(loaded.exchanges, "/api/a")
    assert loaded.failure is None
    assert (popup.main_document, popup.status) == (True, 200)
    assert fetched.page == 1
    assert popup.page == 1


async def test_a_workers_fetch_is_recorded(browser: Browser) -> None:
    script = """const worker = new Worker("/worker.js");
      worker.onmessage = () => { document.querySelector("p").textContent = "done"; };"""
    body = 'fetch("/api/a").then(r => r.text()).then(() => postMessage("done"));'
    routes = {
        "/": Html(html_page("<p>…</p>", script=script)),
        "/worker.js": Reply(body=body, content_type="text/javascript"),
        "/api/a": Json({}),
    }

    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await expect(page.locator("p")).to_have_text("done")

    async with MisbehavingServer(routes) as server:
        x = only((await record(browser, server.url, looks)).exchanges, "/api/a")
    assert (x.status, x.finished) == (200, True)


async def test_a_navigation_is_known_by_the_step_that_caused_it(browser: Browser) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await page.get_by_role("link").click()
        await page.wait_for_url("**/next")

    async with MisbehavingServer(
        {"/": Html(html_page('<a href="/next">on</a>')), "/next": Html(html_page("there"))}
    ) as server:
        loaded = await record(browser, server.url, looks)
    assert [x.navigation_of for x in loaded.exchanges if x.main_document] == [0, 1]


async def test_a_navigation_of_the_pages_own_has_no_step(browser: Browser) -> None:
    script = 'addEventListener("message", () => { location.href = "/next"; });'
    gate = "fetch('/gate').then(() => postMessage('go'));"
    opened = asyncio.Event()
    routes = {
        "/": Html(html_page("here", script=script + gate)),
        "/gate": After(opened, Json({})),
        "/next": Html(html_page("there")),
    }

    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await page.wait_for_timeout(400)  # longer than what the page does is the goto's doing
        opened.set()
        await page.wait_for_url("**/next")

    async with MisbehavingServer(routes) as server:
        loaded = await record(browser, server.url, looks)
    assert [x.navigation_of for x in loaded.exchanges if x.main_document] == [0, None]


# What else is kept


async def test_console_lines_and_page_errors_are_kept(browser: Browser) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await expect(page.locator("p")).to_have_text("done")

    script = """console.log("hello"); console.error("no");
      setTimeout(() => { document.querySelector("p").textContent = "done"; }); throw new Error("thrown");"""
    async with MisbehavingServer({"/": Html(html_page("<p>…</p>", script=script))}) as server:
        console = (await record(browser, server.url, looks)).console
    assert [(line.kind, line.text) for line in console] == [
        ("log", "hello"),
        ("error", "no"),
        ("pageerror", "thrown"),
    ]


async def test_a_page_that_logs_for_ever_is_cut_off(browser: Browser) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await page.evaluate("for (let i = 0; i < 300; i++) console.log('x'.repeat(5000))")

    async with MisbehavingServer({"/": Html(html_page(""))}) as server:
        console = (await record(browser, server.url, looks)).console
    assert len(console) == 200
    assert {len(line.text) for line in console} == {2000}


async def test_a_renderers_crash_is_noted_and_ends_the_load(browser: Browser) -> None:
    async def crashes(page: Page, net: Network) -> None:
        await page.goto("/")
        await page.goto("chrome://crash")

    async with MisbehavingServer({"/": Html(html_page(""))}) as server:
        outcome = await load(browser, server.url, crashes)
    assert outcome.record.crash is not None
    assert outcome.record.crash.what == "renderer"
    assert outcome.artifacts is None


async def test_a_json_body_is_kept_where_the_charter_declared_it(browser: Browser) -> None:
    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")
        await net.json("**/api/a")

    async with MisbehavingServer({"/": asks("/api/a", "/api/b"), "/api/a": Json({"n": 1})}) as server:
        exchanges = (await record(browser, server.url, looks)).exchanges
    assert only(exchanges, "/api/a").body == '{"n": 1}'


@pytest.mark.parametrize(
    ("sent", "operation"),
    [
        ('{"operationName": "Cart", "query": "{}"}', "Cart"),
        ('{"jsonrpc": "2.0", "method": "cart.get"}', "cart.get"),
        ('{"method": "cart.get"}', None),
        ('{"operationName": 7}', None),
        ("[1]", None),
        ("no json", None),
        ("", None),
    ],
)
async def test_the_operation_that_a_write_names_is_kept(
    browser: Browser, sent: str, operation: str | None
) -> None:
    async with (
        MisbehavingServer({"/": Html(html_page("")), "/rpc": Json({})}) as server,
        watched(browser, server.url) as (page, recorder),
    ):
        await page.goto("/")
        await page.evaluate("body => fetch('/rpc', {method: 'POST', body}).then(r => r.text())", sent)
        assert only(recorder.freeze(), "/rpc").operation == operation


# Nothing changes


CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "x-shop",
    "Access-Control-Allow-Methods": "*",
}


def _cached(request: Request) -> Answer:
    return Reply(body="1", headers={"Cache-Control": "max-age=600", **CORS})


async def _journal(browser: Browser, *, recorded: bool) -> tuple[Counter[str], Counter[str]]:
    """What two servers saw of one visit: methods, paths and headers."""
    async with MisbehavingServer(
        {("OPTIONS", "/api/far"): Reply(204, headers=CORS), "/api/far": Json({}, headers=CORS)}
    ) as far:
        script = f"""(async () => {{
          await fetch("/api/a").then(r => r.text());
          await fetch("/cached").then(r => r.text());
          await fetch("/cached").then(r => r.text());
          await fetch("{far.url}/api/far", {{method: "PUT", headers: {{"x-shop": "1"}}}}).then(r => r.text());
          await fetch("/unread");
          document.querySelector("p").textContent = "done";
        }})();"""
        routes = {
            "/": Html(html_page("<p>…</p>", script=script)),
            "/api/a": Redirect("/api/b"),
            "/api/b": Json({}),
            "/cached": _cached,
            "/unread": Json({"x": "y" * 1000}),
        }
        async with MisbehavingServer(routes) as server:

            async def visits(page: Page, net: Network | None = None) -> None:
                await page.goto("/")
                await expect(page.locator("p")).to_have_text("done")

            if recorded:
                assert (await record(browser, server.url, visits)).failure is None
            else:
                context = await browser.new_context(base_url=server.url)
                await visits(await context.new_page())
                await context.close()
    return tuple(  # type: ignore[return-value]
        Counter(f"{r.method} {r.path} {sorted(set(r.headers) - {'content-length'})}" for r in s.requests)
        for s in (server, far)
    )


async def test_a_server_sees_the_same_requests_with_and_without_the_recorder(browser: Browser) -> None:
    """Redirects, the HTTP cache and CORS preflights included."""
    recorded = await _journal(browser, recorded=True)
    bare = await _journal(browser, recorded=False)
    assert recorded == bare
    assert any(line.startswith("OPTIONS /api/far") for line in bare[1])
    assert sum(n for line, n in bare[0].items() if " /cached " in line) == 1


@pytest.mark.parametrize(("faults", "routed"), [((), False), (("reset@**/nothing",), True)])
async def test_a_route_is_registered_only_where_faults_are_planned(
    browser: Browser, faults: tuple[str, ...], routed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    routes: list[object] = []
    original = BrowserContext.route

    async def spied(self: BrowserContext, url: object, *args: object, **kwargs: object) -> None:
        routes.append(url)
        await original(self, url, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(BrowserContext, "route", spied)

    async def looks(page: Page, net: Network) -> None:
        await page.goto("/")

    async with MisbehavingServer({"/": Html(html_page(""))}) as server:
        loaded = await record(browser, server.url, looks, faults=faults)
    assert (len(routes), loaded.routed) == (int(routed), routed)


async def test_an_exchange_that_a_fault_met_says_so(browser: Browser) -> None:
    broken = await asked(browser, Json({}), faults=["reset@**/api/a"])
    slow = await asked(browser, Json({}), faults=["delay=0.01s@**/api/a"])
    assert (broken.fault, broken.fault_effect) == ("reset@**/api/a", "abort")
    assert (slow.fault is not None, slow.fault_effect, slow.status) == (True, "wait", 200)
