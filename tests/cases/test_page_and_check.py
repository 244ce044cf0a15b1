"""The page and its parts, where nothing is declared (rows P), and the check itself (rows C)."""

from __future__ import annotations

import itertools

import pytest
from playwright.async_api import Page, expect

from bughunt import Network, Reason, Verdict, charter
from bughunt.browser.pool import BrowserPool
from bughunt.tower import Tower
from tests.cases.looking import (
    PATIENCE,
    Looking,
    declares_nothing,
    looks_into_the_frame,
    reads_the_cart,
    varied,
)
from tests.servers.answers import (
    After,
    Answer,
    CutChunked,
    Html,
    Json,
    NeverAnswer,
    Reply,
    Request,
    Reset,
    Route,
    sequence,
)
from tests.servers.misbehaving import MisbehavingServer, Routes, refusing_url
from tests.servers.pages import (
    CART,
    SAYS_ENV_ERROR,
    SAYS_PASS,
    cart_page,
    cart_script,
    console_error,
    iframe_page,
    prose,
    second_total,
)

PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR
WELL = Json(CART)


async def test_a_target_that_refuses_connections_is_an_env_error(look: Looking) -> None:
    """P1."""
    with refusing_url() as url:
        looked = await look(url, declares_nothing)
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"document"})


@pytest.mark.parametrize(
    "document",
    varied(
        {
            "503": Reply(status=503, body="down"),
            "never answers": NeverAnswer(),
            "reset": Reset(),
            "cut": CutChunked(),
        }
    ),
)
async def test_a_document_that_cannot_be_had_is_an_env_error(look: Looking, document: Answer) -> None:
    """P2, and its siblings."""
    async with MisbehavingServer({"/": document}) as server:
        looked = await look(server.url, declares_nothing)
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"document"})


def _app(script: Route) -> Routes:
    return {"/": Html(cart_page(script_src="/app.js")), "/app.js": script, "/api/cart": WELL}


SCRIPT = Reply(body=cart_script(), content_type="text/javascript")
BROKEN = Reply(status=503, body="")


async def test_an_own_script_that_fails_once_heals(look: Looking) -> None:
    """P3, once."""
    async with MisbehavingServer(_app(sequence(BROKEN, SCRIPT))) as server:
        looked = await look(server.url, declares_nothing)
    assert (looked.judgement.verdict, looked.judgement.recovered) == (PASS, True)


@pytest.mark.parametrize("broken", varied({"503": BROKEN, "reset": Reset(), "never answers": NeverAnswer()}))
async def test_an_own_script_that_always_fails_is_an_env_error(look: Looking, broken: Answer) -> None:
    """P3, both."""
    async with MisbehavingServer(_app(broken)) as server:
        looked = await look(server.url, declares_nothing)
    assert looked.judgement.verdict is ENV_ERROR


async def test_an_own_script_that_is_missing_is_a_bug(look: Looking) -> None:
    """P4."""
    async with MisbehavingServer({"/": Html(cart_page(script_src="/gone.js")), "/api/cart": WELL}) as server:
        looked = await look(server.url, declares_nothing)
    assert (looked.judgement.verdict, looked.kinds) == (BUG, set())


SAYS_IT_IS_THE_NETWORK = prose(SAYS_ENV_ERROR) + console_error("net::ERR_CONNECTION_RESET")

#: Pages whose words, or console, are no evidence; each with the right verdict.
PAGES = {
    "P5 own script throws": (cart_page(throws=True), BUG),
    "P6 stylesheet fails": (cart_page(stylesheet="/style.css"), PASS),
    "P13 bug, claims PASS": (cart_page(wrong_sum=True, extra_html=prose(SAYS_PASS)), BUG),
    "P14 right, claims ENV_ERROR": (
        cart_page(extra_html=SAYS_IT_IS_THE_NETWORK),
        PASS,
    ),
    "P15 bug, claims ENV_ERROR": (
        cart_page(wrong_sum=True, extra_html=SAYS_IT_IS_THE_NETWORK),
        BUG,
    ),
}


@pytest.mark.parametrize(("page", "verdict"), PAGES.values(), ids=PAGES.keys())
async def test_what_a_page_says_of_itself_changes_nothing(look: Looking, page: str, verdict: Verdict) -> None:
    """P5, P6, P13-P15."""
    routes = {"/": Html(page), "/style.css": Reset(), "/api/cart": WELL}
    async with MisbehavingServer(routes) as server:
        looked = await look(server.url, declares_nothing)
    assert (looked.judgement.verdict, looked.kinds) == (verdict, set())


async def test_the_api_of_an_own_frame_counts_like_the_pages(look: Looking) -> None:
    """P7."""
    routes = {"/": Html(iframe_page("/cart")), "/cart": Html(cart_page()), "/api/cart": Json({}, status=503)}
    async with MisbehavingServer(routes) as server:
        looked = await look(server.url, looks_into_the_frame)
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"status"})


@charter(question="Does the page survive?")
async def crashes(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.goto("chrome://crash")


async def test_a_renderer_that_crashes_is_an_env_error_of_the_browser(look: Looking) -> None:
    """P11."""
    async with MisbehavingServer({"/": Html(cart_page()), "/api/cart": WELL}) as server:
        looked = await look(server.url, crashes)
    assert looked.judgement.verdict is ENV_ERROR
    assert [(c.kind, c.layer, c.load) for c in looked.judgement.causes] == [
        ("crash", "browser", 1),
        ("crash", "browser", 2),
    ]


async def test_a_browser_that_dies_is_an_env_error_and_the_next_load_has_a_new_one(tower: Tower) -> None:
    """P11, the whole browser."""

    @charter(question="Does the page survive?")
    async def kills_the_browser(page: Page, net: Network) -> None:
        browser = page.context.browser
        assert browser is not None
        session = await browser.new_browser_cdp_session()
        await session.send("Browser.crash")

    async with BrowserPool.open() as pool:
        looked = await Looking(tower, pool)("http://127.0.0.1:9/", kills_the_browser)
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"crash"})
    assert len(looked.records) == 2


async def test_a_cold_start_is_never_a_bug(look: Looking) -> None:
    """P16: the first answers take longer than anybody waits, later ones are quick."""
    count = itertools.count()

    def sleepy(request: Request) -> Answer:
        return After(PATIENCE / 1000 + 0.5, WELL) if next(count) == 0 else WELL

    async with MisbehavingServer({"/": Html(cart_page(timeout_ms=None)), "/api/cart": sleepy}) as server:
        looked = await look(server.url, reads_the_cart)
    assert (looked.judgement.verdict, looked.judgement.recovered) == (PASS, True)


@charter(question="?")
async def raises_key_error(page: Page, net: Network) -> None:
    await page.goto("/")
    cart = await net.json("**/api/cart")
    assert cart["no such key"]


@charter(question="?")
async def is_ambiguous(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)


@charter(question="?")
async def has_a_broken_selector(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.locator("div[")).to_have_text("487.00", timeout=PATIENCE)


@charter(question="?")
async def clicks_what_is_ambiguous(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.get_by_test_id("total").click(timeout=PATIENCE)


@charter(question="?", timeout=0.5)
async def never_ends(page: Page, net: Network) -> None:
    await page.goto("/")
    while True:
        await page.wait_for_timeout(50)


@pytest.mark.parametrize(
    ("broken", "loads"),
    varied(
        {
            "raises": (raises_key_error, 2),
            "ambiguous": (is_ambiguous, 1),
            "broken selector": (has_a_broken_selector, 1),
            "clicks what is ambiguous": (clicks_what_is_ambiguous, 1),
            "never ends": (never_ends, 2),
        }
    ),
)
async def test_a_broken_check_has_no_verdict(look: Looking, broken: object, loads: int) -> None:
    """C1, C1d: neither the product's fault nor the environment's."""
    page = cart_page(extra_html=second_total())
    async with MisbehavingServer({"/": Html(page), "/api/cart": WELL}) as server:
        looked = await look(server.url, broken)  # type: ignore[arg-type]
    assert (looked.judgement.verdict, looked.judgement.reason) == (None, Reason.CHECK_ERROR)
    assert looked.judgement.loads == loads


@charter(question="Can the order be paid?")
async def clicks_what_is_missing(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="Pay").click(timeout=PATIENCE)


async def test_a_button_that_is_missing_is_a_bug(look: Looking) -> None:
    """C1b."""
    async with MisbehavingServer({"/": Html(cart_page()), "/api/cart": WELL}) as server:
        looked = await look(server.url, clicks_what_is_missing)
    assert (looked.judgement.verdict, looked.kinds) == (BUG, set())


@charter(question="Is there a total?")
async def stumbles_over_what_is_missing(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.get_by_test_id("status")).not_to_have_text("loading…")
    assert float((await page.get_by_test_id("total").inner_text()).replace("–", "")) > 0


async def test_a_check_that_stumbles_over_a_broken_network_is_no_check_error(look: Looking) -> None:
    """C1c."""
    async with MisbehavingServer({"/": Html(cart_page()), "/api/cart": Json({}, status=503)}) as server:
        looked = await look(server.url, stumbles_over_what_is_missing)
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"status"})


async def test_a_fault_that_matches_nothing_leaves_the_verdict_alone(look: Looking) -> None:
    """C2: and the ledger knows that it never fired."""
    async with MisbehavingServer({"/": Html(cart_page()), "/api/cart": WELL}) as server:
        looked = await look(server.url, reads_the_cart, faults=["reset@**/api/nothing"])
    assert looked.judgement.verdict is PASS
    assert looked.unfired == ("reset@**/api/nothing",)


async def test_a_third_party_that_holds_the_page_up_is_not_counted(look: Looking) -> None:
    """A `goto` that waits for an image of somebody else's is taken again, and the load does not count."""
    page = cart_page(extra_html='<img src="/slow.png" alt="">')
    async with MisbehavingServer({"/": Html(page), "/slow.png": NeverAnswer(), "/api/cart": WELL}) as server:
        looked = await look(server.url, declares_nothing)
    judgement = looked.judgement
    assert (judgement.verdict, judgement.loads, len(looked.records)) == (PASS, 1, 2)
    assert "not counted" in judgement.sentence


@pytest.mark.parametrize(
    "kind",
    varied({k: k for k in ("truncated_json", "malformed_json", "html", "empty", "aborted", "status=404")}),
)
async def test_spoilt_answers_of_our_own_are_never_the_products(look: Looking, kind: str) -> None:
    """A planned fault that spoils the answer explains the mismatch."""
    async with MisbehavingServer({"/": Html(cart_page()), "/api/cart": WELL}) as server:
        looked = await look(server.url, reads_the_cart, faults=[f"{kind}@**/api/cart"])
    assert looked.judgement.verdict is ENV_ERROR


@charter(question="Is the API well, asked past the page?")
async def asks_past_the_page(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(await page.request.get("/api/cart")).to_be_ok()


@pytest.mark.parametrize(
    ("answer", "verdict", "kinds"),
    [
        (WELL, PASS, set()),
        (Json({}, status=503), ENV_ERROR, {"status"}),
        (Reset(), ENV_ERROR, {"network"}),
        (Json({}, status=404), BUG, set()),
    ],
    ids=["well", "503", "reset", "404"],
)
async def test_what_the_charter_asks_by_itself_counts_too(
    look: Looking, answer: Answer, verdict: Verdict, kinds: set[str]
) -> None:
    """A request past the page is the charter's own declaration."""
    async with MisbehavingServer({"/": Html("<p>empty</p>"), "/api/cart": answer}) as server:
        looked = await look(server.url, asks_past_the_page)
    assert (looked.judgement.verdict, looked.kinds) == (verdict, kinds)


LEAVES_THE_VIEW = """
<button>Leave</button><p>Views: <output data-testid="total"></output></p>
<script>
const leaving = new AbortController();
fetch("/api/slow", { signal: leaving.signal }).catch(() => {});
document.querySelector("button").addEventListener("click", () => {
  leaving.abort();
  history.pushState({}, "", "/other");
  document.querySelector("output").textContent = "487.00";
});
</script>
"""


@charter(question="Does the other view show?", depends_on=["**/api/slow"])
async def leaves_the_view(page: Page, net: Network) -> None:
    async with page.expect_request("**/api/slow"):
        await page.goto("/")
    await page.wait_for_timeout(150)
    await page.get_by_role("button").click()
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)


async def test_what_a_page_drops_when_the_charter_leaves_a_view_says_nothing(look: Looking) -> None:
    """A single-page app aborts what the view that was left had asked for."""
    async with MisbehavingServer({"/": Html(LEAVES_THE_VIEW), "/api/slow": NeverAnswer()}) as server:
        looked = await look(server.url, leaves_the_view)
    assert (looked.judgement.verdict, looked.kinds) == (PASS, set())


async def test_a_request_that_a_planned_fault_still_holds_back_is_no_bug(look: Looking) -> None:
    """Even where the charter does not wait: what we held back cannot have been shown."""

    @charter(question="Is the total there at once?")
    async def does_not_wait(page: Page, net: Network) -> None:
        await page.goto("/")
        assert await page.get_by_test_id("total").inner_text() == "487.00"

    async with MisbehavingServer({"/": Html(cart_page(timeout_ms=None)), "/api/cart": WELL}) as server:
        looked = await look(server.url, does_not_wait, faults=["delay=800ms@**/api/cart"])
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"no_answer"})
