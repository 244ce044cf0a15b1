"""One load: its deadline, its surroundings, and what it leaves behind."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import APIRequestContext, Browser, BrowserContext, Page, expect

from bughunt import Load, Network, Verdict, charter
from bughunt.browser.pool import BrowserPool
from bughunt.browser.recorder import Recorder
from bughunt.settings import Credentials, Keep
from bughunt.verdict.endings import judge_load
from bughunt.verdict.judgement import Ending, Judgement
from bughunt.verdict.record import Exchange, FailureKind
from bughunt.verdict.rules import decide
from tests.browser.making import SOON, asks, load, only, record
from tests.servers import (
    Answer,
    Html,
    Json,
    MisbehavingServer,
    NeverAnswer,
    Reply,
    Request,
    refusing_url,
    sequence,
)
from tests.servers.pages import page as html_page

PAGE = Html(html_page("<h1>Shop</h1><p>one</p>", head='<meta name="build" content="b-7">'))


async def looks(page: Page, net: Network) -> None:
    await page.goto("/")


async def fails(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.locator("p")).to_have_text("two", timeout=SOON)


# How it ends


async def test_a_charter_that_returns_has_held(browser: Browser) -> None:
    async with MisbehavingServer({"/": PAGE}) as server:
        loaded = await record(browser, server.url, looks, number=3)
    assert (loaded.failure, loaded.crash, loaded.number) == (None, None, 3)
    assert loaded.page_url == f"{server.url}/"
    assert loaded.browser.startswith("chromium ")
    assert loaded.scope.base_url == server.url


@pytest.mark.parametrize("own", [0.2, None], ids=["the charter's", "the setting"])
async def test_the_deadline_ends_a_load(browser: Browser, own: float | None) -> None:
    ended = asyncio.Event()

    @charter("Does it end?", timeout=own)
    async def never_ends(page: Page, net: Network) -> None:
        try:
            await page.goto("/")
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with MisbehavingServer({"/": PAGE}) as server:
        loaded = await record(browser, server.url, never_ends, deadline=60.0 if own else 0.2)
    assert loaded.failure is not None
    assert (loaded.failure.kind, loaded.failure.message) == (FailureKind.DEADLINE, "not done after 0.2 s")
    assert ended.is_set()


async def test_a_charter_failed_when_its_step_did_whatever_it_does_in_a_finally(browser: Browser) -> None:
    async def tidies_up(page: Page, net: Network) -> None:
        try:
            await fails(page, net)
        finally:
            await page.evaluate("() => document.title")

    async with MisbehavingServer({"/": PAGE}) as server:
        loaded = await record(browser, server.url, tidies_up)
    assert loaded.failure is not None
    assert loaded.failure.step is not None
    failed, tidied = loaded.steps[loaded.failure.step], loaded.steps[-1]
    assert tidied.name == "Page.evaluate"
    assert failed.ended == loaded.failure.at < tidied.began <= loaded.ended


async def test_each_answer_of_what_the_charter_reads_is_asked_for_its_health(browser: Browser) -> None:
    """Not only the one that it was given: the page goes by the latest."""

    @charter("Is it well?", healthy=lambda answer: answer.json["n"] == 1)
    async def reads(page: Page, net: Network) -> None:
        await page.goto("/")
        await net.json("**/api/a")
        await page.evaluate("fetch('/api/a').then(answer => answer.text())")

    answers = sequence(Json({"n": 1}), Json({"n": 2}))
    async with MisbehavingServer({"/": asks("/api/a"), "/api/a": answers}) as server:
        loaded = await record(browser, server.url, reads)
    assert [x.healthy for x in loaded.exchanges if x.url.endswith("/api/a")] == [True, False]


async def test_a_page_that_says_what_a_wrong_selector_looks_like_makes_none(browser: Browser) -> None:
    """Page text cannot talk an agent out of a mismatch."""
    spoken = Html(html_page("<p>Error: strict mode violation: Unknown engine</p>"))
    async with MisbehavingServer({"/": spoken}) as server:
        loaded = await record(browser, server.url, fails)
    assert loaded.failure is not None
    assert loaded.failure.kind is FailureKind.ASSERTION
    assert judge_load(loaded).ending is Ending.MISMATCH


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (AssertionError("no"), FailureKind.ASSERTION),
        (KeyError("items"), FailureKind.EXCEPTION),
        (Exception(), FailureKind.EXCEPTION),
        (asyncio.CancelledError(), FailureKind.EXCEPTION),
        (SystemError("x" * 10_000), FailureKind.EXCEPTION),
    ],
    ids=["assert", "KeyError", "without a message", "cancelled", "a long message"],
)
async def test_whatever_a_charter_raises_is_recorded(
    browser: Browser, raised: BaseException, kind: FailureKind
) -> None:
    async def raises(page: Page, net: Network) -> None:
        raise raised

    failure = (await record(browser, "http://127.0.0.1:9", raises)).failure
    assert failure is not None
    assert failure.kind is kind
    assert 0 < len(failure.message) <= 4000


async def test_what_was_open_when_the_step_failed_is_in_the_record(browser: Browser) -> None:
    async with MisbehavingServer({"/": asks("/api/a"), "/api/a": NeverAnswer()}) as server:
        loaded = await record(browser, server.url, fails)
    assert loaded.failure is not None
    x = only(loaded.exchanges, "/api/a")
    assert x.ended is None
    assert x.started < loaded.failure.at <= loaded.ended


async def test_a_target_that_refuses_connections_is_recorded_as_such(browser: Browser) -> None:
    with refusing_url() as url:
        loaded = await record(browser, url, looks)
    assert [x.failure for x in loaded.exchanges] == ["net::ERR_CONNECTION_REFUSED"]
    assert judge_load(loaded).ending is Ending.BLOCKED


async def test_a_browser_that_is_gone_is_a_crash_of_the_browser() -> None:
    async with BrowserPool.open() as pool:
        browser = await pool.browser()
        await browser.close()
        loaded = await record(browser, "http://127.0.0.1:9", looks)
    assert loaded.crash is not None
    assert (loaded.crash.what, judge_load(loaded).ending) == ("browser", Ending.BLOCKED)


# What it leaves behind


async def test_a_load_that_held_leaves_no_artifacts(browser: Browser) -> None:
    async with MisbehavingServer({"/": PAGE}) as server:
        assert (await load(browser, server.url, looks)).artifacts is None
        assert (await load(browser, server.url, looks, number=2)).artifacts is None


@pytest.mark.parametrize("keep", [Keep.ALL, Keep.PICTURES])
async def test_a_load_that_did_not_hold_leaves_what_a_person_looks_at(browser: Browser, keep: Keep) -> None:
    async with MisbehavingServer({"/": PAGE}) as server:
        artifacts = (await load(browser, server.url, fails, keep=keep)).artifacts
    assert artifacts is not None
    assert (artifacts.screenshot or b"").startswith(b"\x89PNG")
    assert 'heading "Shop"' in (artifacts.aria or "")
    assert (artifacts.trace or b"").startswith(b"PK") is (keep is Keep.ALL)


async def test_a_charter_that_held_over_a_declared_failure_leaves_artifacts_too(browser: Browser) -> None:
    @charter("Does it?", depends_on=["**/api/a"])
    async def reads(page: Page, net: Network) -> None:
        await page.goto("/")
        await expect(page.locator("p")).to_have_text("done")

    async with MisbehavingServer({"/": asks("/api/a"), "/api/a": Json({}, status=503)}) as server:
        outcome = await load(browser, server.url, reads)
    assert outcome.record.failure is None
    assert outcome.artifacts is not None


@pytest.mark.parametrize(
    "fill",
    [
        lambda page: page.fill("#secret", "hunter2"),
        lambda page: page.fill(selector="#secret", value="hunter2"),
        lambda page: page.locator("#secret").fill("hunter2"),
    ],
    ids=["by selector", "by name", "by locator"],
)
async def test_what_was_typed_into_a_password_field_is_a_secret_and_its_selector_is_none(
    browser: Browser, fill: Callable[[Page], Awaitable[None]]
) -> None:
    async def signs_in(page: Page, net: Network) -> None:
        await page.goto("/")
        await fill(page)

    fields = Html(html_page("<input id=name><input id=secret type=password>"))
    async with MisbehavingServer({"/": fields}) as server:
        assert (await load(browser, server.url, signs_in)).secrets == ("hunter2",)


async def test_what_stood_in_password_fields_is_told_as_a_secret(browser: Browser) -> None:
    async def signs_in(page: Page, net: Network) -> None:
        await page.goto("/")
        await page.locator("input").fill("hunter2")
        raise AssertionError

    async with MisbehavingServer({"/": Html(html_page("<input type=password>"))}) as server:
        artifacts = (await load(browser, server.url, signs_in)).artifacts
    assert artifacts is not None
    assert artifacts.secrets == ("hunter2",)


async def test_no_context_is_left_open(browser: Browser) -> None:
    before = len(browser.contexts)
    async with MisbehavingServer({"/": PAGE}) as server:
        await load(browser, server.url, looks)
        await load(browser, server.url, fails, number=2)
    assert len(browser.contexts) == before


async def test_a_load_that_is_over_is_forgotten(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser outlives hundreds of loads and must not hold on to what they recorded."""
    made: list[weakref.ref[Recorder]] = []

    class Watched(Recorder):
        def __init__(self, context: BrowserContext, *args: Any, **given: Any) -> None:
            super().__init__(context, *args, **given)
            made.append(weakref.ref(self))

    monkeypatch.setattr("bughunt.browser.load.Recorder", Watched)
    async with MisbehavingServer({"/": PAGE}) as server:
        for _ in range(3):
            await load(browser, server.url, looks)
    await asyncio.sleep(0)
    gc.collect()
    assert [ref() for ref in made[:-1]] == [None, None]  # the last one may still be in some event's hands


async def test_a_long_load_tells_of_its_exchanges_as_it_goes(browser: Browser) -> None:
    told: list[tuple[Exchange, ...]] = []
    heard = asyncio.Event()

    async def tell(exchanges: tuple[Exchange, ...]) -> None:
        told.append(exchanges)
        heard.set()

    async def waits(page: Page, net: Network) -> None:
        await page.goto("/")
        await heard.wait()

    async with MisbehavingServer({"/": PAGE}) as server:
        await load(browser, server.url, waits, on_exchanges=tell)
    assert [x.url for x in told[0]] == [f"{server.url}/"]


# Resetting, and data of its own


async def test_the_world_is_put_back_before_further_loads_only(browser: Browser) -> None:
    called: list[str] = []

    async def bare() -> None:
        called.append("bare")

    async def asking(request: APIRequestContext) -> None:
        called.append(f"{(await request.post('/reset')).status}")

    async with MisbehavingServer({"/": PAGE, "/reset": Reply(204)}) as server:
        for reset in (bare, asking):
            wanted = charter("Does it?", reset=reset)(looks)
            for number in (1, 2):
                await load(browser, server.url, wanted, number=number)
        assert [r.method for r in server.seen("/reset")] == ["POST"]
    assert called == ["bare", "204"]


async def test_each_load_has_a_number_and_a_token_of_its_own(browser: Browser) -> None:
    known: list[Load] = []

    async def notes(page: Page, net: Network, load: Load) -> None:
        known.append(load)

    for number in (1, 2, 3):
        await load(browser, "http://127.0.0.1:9", notes, number=number)
    assert [one.number for one in known] == [1, 2, 3]
    assert len({one.unique for one in known}) == 3


async def test_a_mismatch_about_the_loads_own_data_comes_again(browser: Browser) -> None:
    """Two loads with their own tokens fail in the same place: the token is a value like any other."""

    async def finds_its_own(page: Page, net: Network, load: Load) -> None:
        await page.goto(f"/?note={load.unique}")
        await expect(page.get_by_text(load.unique)).to_be_visible(timeout=SOON)

    async with MisbehavingServer({"/": PAGE}) as server:
        loads = [await record(browser, server.url, finds_its_own, number=n) for n in (1, 2)]
    decision = decide(loads)
    assert isinstance(decision, Judgement)
    assert decision.verdict is Verdict.BUG


# Its surroundings


async def headers_seen(browser: Browser, **target: Any) -> dict[str, str]:
    """What the server was sent with the document of such a target."""
    async with MisbehavingServer({"/": PAGE}) as server:
        await load(browser, server.url, looks, target=target)
        return dict(server.seen("/")[-1].headers)


async def test_extra_headers_are_sent(browser: Browser) -> None:
    assert (await headers_seen(browser, extra_headers={"X-Tester": "yes"}))["x-tester"] == "yes"


async def test_the_locale_is_the_targets(browser: Browser) -> None:
    assert (await headers_seen(browser, locale="de-DE"))["accept-language"].startswith("de-DE")


async def test_the_browser_is_signed_in_by_the_storage_state(browser: Browser, tmp_path: Path) -> None:
    cookie = {"name": "sid", "value": "s3", "domain": "127.0.0.1", "path": "/", "expires": -1}
    cookie |= {"httpOnly": False, "secure": False, "sameSite": "Lax"}
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"cookies": [cookie], "origins": []}))
    assert (await headers_seen(browser, storage_state=str(state)))["cookie"] == "sid=s3"


async def test_http_credentials_answer_a_challenge(browser: Browser) -> None:
    def asks_who(request: Request) -> Answer:
        if "authorization" in request.headers:
            return PAGE
        return Reply(401, headers={"WWW-Authenticate": 'Basic realm="shop"'})

    signed_in = {"http_credentials": Credentials(username="ann", password="secret")}
    async with MisbehavingServer({"/": asks_who}) as server:
        loaded = await record(browser, server.url, looks, target=signed_in)
    assert loaded.exchanges[-1].status == 200


async def built(browser: Browser, answer: Answer, **target: Any) -> str | None:
    """The build that a document of such a target names."""
    async with MisbehavingServer({"/": answer}) as server:
        return (await record(browser, server.url, looks, target=target)).build


async def test_the_build_is_what_the_documents_header_says(browser: Browser) -> None:
    named = Reply(body="<p>one</p>", headers={"X-Build": "h-9"}, content_type="text/html")
    assert await built(browser, named, build_header="X-Build") == "h-9"
    assert await built(browser, PAGE, build_header="X-Build") is None


async def test_the_build_is_what_the_documents_meta_says(browser: Browser) -> None:
    assert await built(browser, PAGE, build_meta="build") == "b-7"


async def test_no_build_is_looked_for_where_the_target_names_no_place(browser: Browser) -> None:
    assert await built(browser, PAGE) is None


async def test_what_counts_is_in_the_record(browser: Browser) -> None:
    wanted = charter("Does it?", depends_on=["**/api/a"], ignore=["**/x"])(looks)
    target = {"ignore": ("**/y",), "origins": ("https://api.example.org",)}
    async with MisbehavingServer({"/": PAGE}) as server:
        scope = (await record(browser, server.url, wanted, target=target)).scope
    assert (scope.depends_on, scope.ignore) == (("**/api/a",), ("**/x", "**/y"))
    assert scope.own_hosts == ("127.0.0.1", "api.example.org")


async def test_only_the_dom_knows_which_foreign_scripts_were_async(browser: Browser) -> None:
    far = "http://127.0.0.2:9"
    head = f'<script async src="{far}/async.js"></script><script src="{far}/sync.js"></script>'
    async with MisbehavingServer({"/": Html(html_page("<p>one</p>", head=head))}) as server:
        loaded = await record(browser, server.url, fails)
    assert only(loaded.exchanges, "/async.js").script_async is True
    assert only(loaded.exchanges, "/sync.js").script_async is False
