"""The pages that verdicts are tested on behave as their parameters say, in a real browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import BrowserContext, Error, Page, expect

from bughunt.browser.pool import BrowserPool
from tests.servers import (
    After,
    Answer,
    EventStream,
    Html,
    Json,
    MisbehavingServer,
    NeverAnswer,
    Reply,
    Request,
    Reset,
    sequence,
)
from tests.servers.pages import (
    CART,
    RATES,
    RIGHT_TOTAL,
    SAYS_ENV_ERROR,
    TOTAL_WITHOUT_RATES,
    WRONG_TOTAL,
    cart_page,
    cart_script,
    console_error,
    iframe_page,
    incidentals,
    prose,
    second_total,
    type_ahead_page,
)


@pytest.fixture(scope="module")
async def context(browser_pool: BrowserPool) -> AsyncIterator[BrowserContext]:
    context = await (await browser_pool.browser()).new_context()
    yield context
    await context.close()


@pytest.fixture
async def page(context: BrowserContext) -> AsyncIterator[Page]:
    page = await context.new_page()
    yield page
    await page.close()


@pytest.fixture(scope="module")
async def used_page(context: BrowserContext) -> Page:
    """For tests that do no more than look: a page costs more than what they do with it."""
    return await context.new_page()


def test_the_cart_has_the_totals_that_it_is_known_for() -> None:
    assert f"{sum(item['price'] * item['qty'] for item in CART['items']):.2f}" == RIGHT_TOTAL
    assert f"{sum(item['price'] for item in CART['items']):.2f}" == WRONG_TOTAL


TOTALS = {
    "right": (cart_page(), {}, RIGHT_TOTAL),
    "wrong sum": (cart_page(wrong_sum=True), {}, WRONG_TOTAL),
    "retries": (cart_page(retries=1), {"/api/cart": sequence(Json({}, 503), Json(CART))}, RIGHT_TOTAL),
    "shown later": (cart_page(show_delay_ms=50), {}, RIGHT_TOTAL),
    "configuration first": (cart_page(config_api="/api/config"), {"/api/config": Json({})}, RIGHT_TOTAL),
    "with rates": (cart_page(rates_api="/api/rates"), {"/api/rates": Json(RATES)}, RIGHT_TOTAL),
    "rates fail": (cart_page(rates_api="/api/rates"), {"/api/rates": Json({}, 503)}, TOTAL_WITHOUT_RATES),
    "another API fails": (cart_page(also_fetch=["/api/other"]), {"/api/other": Reset()}, RIGHT_TOTAL),
    "stylesheet fails": (cart_page(stylesheet="/app.css"), {"/app.css": Reset()}, RIGHT_TOTAL),
    "own script": (cart_page(script_src="/app.js"), {"/app.js": Reply(body=cart_script())}, RIGHT_TOTAL),
    "incidentals fail": (
        cart_page(extra_html=incidentals(image="/i.png", font="/f.woff2", beacon="/b", script="/a.js")),
        {path: Reset() for path in ("/i.png", "/f.woff2", "/b", "/a.js")},
        RIGHT_TOTAL,
    ),
    "prose": (
        cart_page(extra_html=prose(SAYS_ENV_ERROR) + console_error("net::ERR_FAILED")),
        {},
        RIGHT_TOTAL,
    ),
}


@pytest.mark.parametrize(("html", "routes", "total"), TOTALS.values(), ids=TOTALS)
async def test_the_cart_shows_its_total(
    used_page: Page, html: str, routes: dict[str, Answer], total: str
) -> None:
    async with MisbehavingServer({"/": Html(html), "/api/cart": Json(CART), **routes}) as server:
        await used_page.goto(server.url)
        await expect(used_page.get_by_test_id("status")).to_have_text("loaded")
        await expect(used_page.get_by_test_id("total")).to_have_text(total)
        await asyncio.gather(*(server.arrived(path) for path in routes))


FAILURES = {
    "status": (cart_page(), {"/api/cart": Json({}, 503)}, "Loading failed: 503 from /api/cart"),
    "other address": (cart_page(api="/api/carts"), {}, "Loading failed: 404 from /api/carts"),
    "reset": (cart_page(), {"/api/cart": Reset()}, "Loading failed: Failed to fetch"),
    "own timeout": (
        cart_page(timeout_ms=50),
        {"/api/cart": NeverAnswer()},
        "Loading failed: signal timed out",
    ),
    "configuration": (
        cart_page(config_api="/api/config"),
        {"/api/config": Json({}, 503)},
        "Loading failed: 503 from /api/config",
    ),
    "retries": (cart_page(retries=2), {"/api/cart": Json({}, 503)}, "Loading failed: 503 from /api/cart"),
}


@pytest.mark.parametrize(("html", "routes", "status"), FAILURES.values(), ids=FAILURES)
async def test_the_cart_says_why_loading_failed(
    used_page: Page, html: str, routes: dict[str, Answer], status: str
) -> None:
    async with MisbehavingServer({"/": Html(html), **routes}) as server:
        await used_page.goto(server.url)
        await expect(used_page.get_by_test_id("status")).to_have_text(status)
        await expect(used_page.get_by_test_id("total")).to_have_text("–")


async def test_a_retrying_cart_asks_as_often_as_it_may(page: Page) -> None:
    async with MisbehavingServer({"/": Html(cart_page(retries=2)), "/api/cart": Reset()}) as server:
        await page.goto(server.url)
        await expect(page.get_by_test_id("status")).to_contain_text("Loading failed")
        assert len(server.seen("/api/cart")) == 3


async def test_a_cart_whose_configuration_fails_never_asks_for_its_items(page: Page) -> None:
    async with MisbehavingServer({"/": Html(cart_page(config_api="/api/config"))}) as server:
        await page.goto(server.url)
        await expect(page.get_by_test_id("status")).to_contain_text("Loading failed")
        assert server.seen("/api/cart") == []


@pytest.mark.parametrize(
    "html", [cart_page(throws=True), cart_page(script_src="/app.js")], ids=["throws", "missing"]
)
async def test_a_cart_without_its_script_stays_as_it_was(page: Page, html: str) -> None:
    errors: list[Error] = []
    page.on("pageerror", lambda error: errors.append(error))
    async with MisbehavingServer({"/": Html(html), "/api/cart": Json(CART)}) as server:
        await page.goto(server.url)
        await expect(page.get_by_test_id("status")).to_have_text("loading…")
        assert server.seen("/api/cart") == []
    assert [error.message for error in errors] == ["the cart's own script is broken"] * html.count(
        '"throws": true'
    )


async def test_a_cart_that_waits_for_ever_keeps_loading_after_its_button_was_pressed(page: Page) -> None:
    html = cart_page(timeout_ms=None, reload_button=True)
    routes = {"/": Html(html), "/api/cart": sequence(Json(CART), NeverAnswer())}
    async with MisbehavingServer(routes) as server:
        await page.goto(server.url)
        await expect(page.get_by_test_id("total")).to_have_text(RIGHT_TOTAL)
        await page.get_by_role("button", name="Reload").click()
        await server.arrived("/api/cart", 2)
        await expect(page.get_by_test_id("status")).to_have_text("loading…")
        await expect(page.get_by_test_id("total")).to_have_text("–")


async def test_a_polling_cart_shows_each_new_value_and_keeps_its_stream(page: Page) -> None:
    changed = {"items": [{"name": "Desk mat", "price": 1.0, "qty": 3}]}
    routes = {
        "/": Html(cart_page(poll_ms=20, stream="/events")),
        "/events": EventStream(("hello",)),
        "/api/cart": sequence(Json(CART), Json(CART), Json(changed)),
    }
    async with MisbehavingServer(routes) as server:
        await page.goto(server.url)
        await expect(page.get_by_test_id("total")).to_have_text("3.00")
        await server.arrived("/api/cart", 5)
        assert len(await server.arrived("/events")) == 1


async def test_a_cart_can_be_in_a_frame(page: Page) -> None:
    routes = {"/": Html(iframe_page("/frame")), "/frame": Html(cart_page()), "/api/cart": Json(CART)}
    async with MisbehavingServer(routes) as server:
        await page.goto(server.url)
        await expect(page.frame_locator("[title=Cart]").get_by_test_id("total")).to_have_text(RIGHT_TOTAL)


async def test_a_second_total_makes_the_locator_ambiguous(page: Page) -> None:
    routes = {"/": Html(cart_page(extra_html=second_total())), "/api/cart": Json(CART)}
    async with MisbehavingServer(routes) as server:
        await page.goto(server.url)
        await expect(page.get_by_test_id("total")).to_have_count(2)


@pytest.mark.parametrize(("wrong", "result"), [(False, "Desk mat, Desk lamp"), (True, "Desk lamp")])
async def test_a_type_ahead_aborts_what_is_superseded_and_shows_the_last_result(
    page: Page, wrong: bool, result: str
) -> None:
    never = asyncio.Event()

    def search(request: Request) -> Answer:
        found = Json({"results": ["Desk mat", "Desk lamp"]})
        return found if request.parameter("q") == "desk" else After(never, found)

    failures: list[str | None] = []
    page.on("requestfailed", lambda request: failures.append(request.failure))
    routes = {"/": Html(type_ahead_page(wrong_result=wrong)), "/api/search": search}
    async with MisbehavingServer(routes) as server:
        await page.goto(server.url)
        await page.get_by_label("Product").press_sequentially("desk")
        await expect(page.get_by_test_id("status")).to_have_text("loaded")
        await expect(page.get_by_test_id("result")).to_have_text(result)
    assert failures == ["net::ERR_ABORTED"] * 3
