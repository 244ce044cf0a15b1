"""The same rules on other ways in which real applications ask: preloads, pages, operations, workers."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
from playwright.async_api import Page, expect

from bughunt import Charter, Network, Reason, Verdict, charter
from tests.cases.looking import PATIENCE, Looking, closes_the_list, declares_nothing, reads_the_cart
from tests.servers.answers import (
    Answer,
    CutHeaders,
    Html,
    Json,
    NeverAnswer,
    Reply,
    Request,
    Reset,
    Route,
    sequence,
)
from tests.servers.misbehaving import MisbehavingServer
from tests.servers.pages import CART, cart_page, page

pytestmark = pytest.mark.thorough

PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR

WELL, DOWN = Json(CART), Json({}, status=503)

TOTAL = '<output data-testid="total">–</output>'
SHOW = 'const show = (sum) => { document.querySelector("output").textContent = sum.toFixed(2); };'

PRELOADED = cart_page(
    extra_head='<link rel="preload" as="fetch" href="/api/cart" crossorigin="anonymous">', timeout_ms=None
)

#: Five pages of prices, asked at once or one after another; the app makes nothing of one that fails.
PAGES_AT_ONCE = page(
    TOTAL,
    script=SHOW
    + """
const nothing = { v: 0 };
const price = (n) => fetch(`/api/price?page=${n}`).then((r) => (r.ok ? r.json() : nothing), () => nothing);
Promise.all([1, 2, 3, 4, 5].map(price)).then((all) => show(all.reduce((sum, { v }) => sum + v, 0)));
""",
)
PAGES_IN_TURN = page(
    TOTAL,
    script=SHOW
    + """
(async () => {
  let sum = 0;
  for (const n of [1, 2, 3, 4, 5]) {
    const answer = await fetch("/api/search", { method: "POST", body: JSON.stringify({ page: n }) });
    if (answer.ok) sum += (await answer.json()).v;
  }
  show(sum);
})();
""",
)
GRAPHQL = page(
    TOTAL,
    script=SHOW
    + """
const ask = (query) => fetch("/graphql", { method: "POST", body: JSON.stringify({ query }) });
(async () => {
  const cart = await ask("query Cart { total }");
  await (await ask("query User { name }")).json();
  show(cart.ok ? (await cart.json()).v : 0);
})();
""",
)
WORKER = page(TOTAL, script=SHOW + 'new Worker("/worker.js").onmessage = ({ data }) => show(data);')
MODULE_OF_WORKER = Reply(
    body='importScripts("/library.js"); postMessage(total);', content_type="text/javascript"
)
LIBRARY = Reply(body="const total = 487;", content_type="text/javascript")


def second_page_is(broken: Answer) -> Route:
    """Each page is worth a fifth of the total; the second one is broken."""

    def answer(request: Request) -> Answer:
        is_second = request.parameter("page") == "2" or b'"page":2' in request.body
        return broken if is_second else Json({"v": 97.4})

    return answer


def operation(broken: Answer) -> Route:
    return lambda request: broken if b"Cart" in request.body else Json({"v": 1})


@dataclass(frozen=True, kw_only=True)
class Variant:
    """An app, what its server does, and what must be said."""

    name: str
    routes: dict[str, Route]
    charter: Charter = declares_nothing
    verdict: Verdict
    faults: tuple[str, ...] = ()


@charter(question="Is the total there soon?")
async def is_impatient(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=700)


@charter(question="Does the second page count?", depends_on=["**/api/price?page=2"])
async def depends_on_the_second_page(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)


@charter(question="Does the popup show the cart?")
async def opens_a_popup(page: Page, net: Network) -> None:
    await page.goto("/")
    async with page.expect_popup() as opened:
        await page.get_by_role("link").click()
    popup = await opened.value
    await expect(popup.get_by_role("heading")).to_have_text("Your cart", timeout=PATIENCE)


def _pages(document: str, path: str, answer: Route) -> dict[str, Route]:
    return {"/": Html(document), path: answer}


def _cart(document: str, cart: Route) -> dict[str, Route]:
    return {"/": Html(document), "/api/cart": cart}


PATIENT_CART = cart_page(timeout_ms=None)
POPUP = page('<a target="_blank" href="/cart">Cart</a>')

VARIANTS = [
    Variant(name="preloaded, well", routes=_cart(PRELOADED, WELL), charter=reads_the_cart, verdict=PASS),
    Variant(name="preloaded, 503", routes=_cart(PRELOADED, DOWN), verdict=ENV_ERROR),
    Variant(name="preloaded, reset", routes=_cart(PRELOADED, Reset()), verdict=ENV_ERROR),
    Variant(name="preloaded, silent", routes=_cart(PRELOADED, NeverAnswer()), verdict=ENV_ERROR),
    Variant(
        name="pages at once, well",
        routes=_pages(PAGES_AT_ONCE, "/api/price", second_page_is(Json({"v": 97.4}))),
        verdict=PASS,
    ),
    *(
        Variant(
            name=f"pages at once, one {name}",
            routes=_pages(PAGES_AT_ONCE, "/api/price", second_page_is(broken)),
            verdict=ENV_ERROR,
        )
        for name, broken in {"503": DOWN, "reset": Reset(), "silent": NeverAnswer()}.items()
    ),
    Variant(
        name="pages at once, the declared one 503",
        routes=_pages(PAGES_AT_ONCE, "/api/price", second_page_is(DOWN)),
        charter=depends_on_the_second_page,
        verdict=ENV_ERROR,
    ),
    Variant(
        name="pages at once, one planned to fail",
        routes=_pages(PAGES_AT_ONCE, "/api/price", second_page_is(Json({"v": 97.4}))),
        faults=("reset@**/api/price?page=2",),
        verdict=ENV_ERROR,
    ),
    Variant(
        name="pages in turn, one 503",
        routes=_pages(PAGES_IN_TURN, "/api/search", second_page_is(DOWN)),
        verdict=ENV_ERROR,
    ),
    Variant(name="GraphQL, one 503", routes=_pages(GRAPHQL, "/graphql", operation(DOWN)), verdict=ENV_ERROR),
    Variant(
        name="GraphQL, wrong answer",
        routes=_pages(GRAPHQL, "/graphql", operation(Json({"v": 288}))),
        verdict=BUG,
    ),
    Variant(
        name="silent, impatient",
        routes=_cart(PATIENT_CART, NeverAnswer()),
        charter=is_impatient,
        verdict=ENV_ERROR,
    ),
    Variant(
        name="held back by a fault, impatient",
        routes=_cart(PATIENT_CART, WELL),
        charter=is_impatient,
        faults=("delay=5s@**/api/cart",),
        verdict=ENV_ERROR,
    ),
    Variant(
        name="wrong, impatient",
        routes=_cart(cart_page(wrong_sum=True), WELL),
        charter=is_impatient,
        verdict=BUG,
    ),
    Variant(name="worker reset", routes={"/": Html(WORKER), "/worker.js": Reset()}, verdict=ENV_ERROR),
    Variant(
        name="worker 503", routes={"/": Html(WORKER), "/worker.js": Reply(status=503)}, verdict=ENV_ERROR
    ),
    *(
        Variant(
            name=f"worker's import {name}",
            routes={"/": Html(WORKER), "/worker.js": MODULE_OF_WORKER, "/library.js": answer},
            verdict=verdict,
        )
        for name, answer, verdict in (
            ("well", LIBRARY, PASS),
            ("503", Reply(status=503), ENV_ERROR),
            ("reset", Reset(), ENV_ERROR),
        )
    ),
    Variant(
        name="popup with cut headers",
        routes={"/": Html(POPUP), "/cart": CutHeaders()},
        charter=opens_a_popup,
        verdict=ENV_ERROR,
    ),
    Variant(
        name="popup well",
        routes={"/": Html(POPUP), "/cart": Html(cart_page()), "/api/cart": WELL},
        charter=opens_a_popup,
        verdict=PASS,
    ),
    Variant(
        name="degraded under a closed list",
        routes={"/": Html(cart_page(also_fetch=["/api/other"])), "/api/cart": WELL, "/api/other": DOWN},
        charter=closes_the_list,
        verdict=PASS,
    ),
]


def in_turn(*answers: Answer) -> Route:
    """Again and again: each load meets them in this order."""
    rounds = itertools.cycle(answers)
    return lambda request: next(rounds)


TWINS = page(
    TOTAL,
    script=SHOW
    + """
const twins = [fetch("/api/cart"), fetch("/api/cart")];
Promise.all(twins).then((both) => show(both.every((r) => r.ok) ? 487 : 0));
""",
)
OWN_TIMEOUTS = page(
    TOTAL,
    script=SHOW
    + """
const price = (n) => fetch(`/api/price?page=${n}`, { signal: AbortSignal.timeout(700) })
  .then((r) => r.json()).catch(() => ({ v: 0 }));
Promise.all([1, 2, 3, 4, 5].map(price)).then((all) => show(all.reduce((sum, { v }) => sum + v, 0)));
""",
)
BY_NUMBER = page(
    TOTAL,
    script=SHOW
    + """
const url = (n) => `/api/price?id=400638133393${n}&page=${n}`;
const price = (n) => fetch(url(n)).then((r) => (r.ok ? r.json() : { v: 0 }));
(async () => { let sum = 0; for (const n of [1, 2, 3, 4, 5]) sum += (await price(n)).v; show(sum); })();
""",
)
ADDS = page(
    f"{TOTAL}<button>Add</button>",
    script=SHOW
    + """
let added = 0;
document.querySelector("button").addEventListener("click", async () => {
  const answer = await fetch("/api/add", { method: "POST", body: "{}" });
  if (answer.ok) show(243.5 * ++added);
});
""",
)
SORRY = page(
    TOTAL,
    script="""
fetch("/api/cart", { signal: AbortSignal.timeout(700) }).catch(() => { location.href = "/sorry"; });
""",
)
HEARTBEAT = cart_page(
    wrong_sum=True,
    extra_html="<script>let n = 0; setInterval(() => fetch(`/api/beat?since=${n++}`), 300);</script>",
)


@charter(question="Are both added?")
async def adds_twice(page: Page, net: Network) -> None:
    await page.goto("/")
    for _ in range(2):
        async with page.expect_response("**/api/add"):
            await page.get_by_role("button", name="Add").click()
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)


@charter(question="Can it be paid?")
async def pays(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="Pay").click(timeout=PATIENCE)


VARIANTS += [
    Variant(name="asked twice at once, one 503", routes=_cart(TWINS, in_turn(DOWN, WELL)), verdict=ENV_ERROR),
    Variant(
        name="the page's own timeout for one of several",
        routes=_pages(OWN_TIMEOUTS, "/api/price", second_page_is(NeverAnswer())),
        verdict=ENV_ERROR,
    ),
    Variant(
        name="told apart by long numbers, one 503",
        routes=_pages(BY_NUMBER, "/api/price", second_page_is(DOWN)),
        verdict=ENV_ERROR,
    ),
    Variant(
        name="the same write twice, one 503",
        routes=_pages(ADDS, "/api/add", in_turn(DOWN, WELL)),
        charter=adds_twice,
        verdict=ENV_ERROR,
    ),
    Variant(
        name="the same write twice, well",
        routes=_pages(ADDS, "/api/add", WELL),
        charter=adds_twice,
        verdict=PASS,
    ),
    Variant(
        name="the page leaves by itself when it has waited enough",
        routes={"/": Html(SORRY), "/sorry": Html("<p>Sorry</p>"), "/api/cart": NeverAnswer()},
        charter=pays,
        verdict=ENV_ERROR,
    ),
    Variant(
        name="wrong beside a heartbeat that is always new",
        routes={"/": Html(HEARTBEAT), "/api/cart": WELL, "/api/beat": Json({})},
        verdict=BUG,
    ),
]


@pytest.mark.parametrize("given", VARIANTS, ids=lambda given: given.name)
async def test_the_right_verdict(look: Looking, given: Variant) -> None:
    """However an app asks, what kept its answer away is told from what it made of it."""
    async with MisbehavingServer(given.routes) as server:
        looked = await look(server.url, given.charter, faults=given.faults)
    assert looked.judgement.verdict is given.verdict, looked.judgement.sentence


SIGNS_IN = page(
    "<h1>Signing in</h1>",
    script='fetch("/api/cart").then((r) => r.json()).then(() => { location.href = "/home"; });',
)


async def test_an_answer_that_the_page_left_behind_is_no_bug(look: Looking) -> None:
    """A page that moves on as soon as it has its answer may take the body with it."""
    routes = {"/": Html(SIGNS_IN), "/home": Html(cart_page()), "/api/cart": WELL}
    async with MisbehavingServer(routes) as server:
        looked = await look(server.url, reads_the_cart)
    judgement = looked.judgement
    assert judgement.verdict is PASS or judgement.reason is Reason.CHECK_ERROR, judgement.sentence


@charter(question="Is there anything?")
async def looks_at_nothing(page: Page, net: Network) -> None:
    await expect(page.get_by_text("Error")).to_have_count(0)


async def test_a_charter_that_opens_nothing_of_the_target_is_no_pass(look: Looking) -> None:
    """An absence holds on a blank page."""
    async with MisbehavingServer({"/": Html("")}) as server:
        looked = await look(server.url, looks_at_nothing)
    assert (looked.judgement.verdict, looked.judgement.reason) == (None, Reason.CHECK_ERROR)


async def test_a_parser_that_waits_for_a_third_party_is_patient_however_it_waits(look: Looking) -> None:
    """A `goto` that asks for `networkidle` is told to wait for the document only as well."""

    @charter(question="Does the page show the right total?")
    async def waits_for_everything(page: Page, net: Network) -> None:
        await page.goto("/", wait_until="load", timeout=1500)
        await page.wait_for_load_state("networkidle", timeout=1500)
        await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)

    document = cart_page(extra_html='<img src="/slow.png" alt="">')
    routes = {"/": Html(document), "/slow.png": NeverAnswer(), "/api/cart": WELL}
    async with MisbehavingServer(routes) as server:
        looked = await look(server.url, waits_for_everything)
    assert looked.judgement.verdict is PASS


async def test_a_reset_that_fails_is_no_bug(look: Looking) -> None:
    """What puts the world back is no part of the question."""

    async def puts_back() -> None:
        raise AssertionError("409: there already")

    @charter(question="Does the cart show the right total?", reset=puts_back)
    async def with_reset(page: Page, net: Network) -> None:
        await reads_the_cart.function(page, net)

    routes = {"/": Html(cart_page()), "/api/cart": sequence(DOWN, WELL)}
    async with MisbehavingServer(routes) as server:
        looked = await look(server.url, with_reset)
    assert (looked.judgement.verdict, looked.judgement.reason) == (None, Reason.CHECK_ERROR)


async def test_a_charter_that_exits_is_a_broken_check(look: Looking) -> None:
    """`sys.exit(0)` must not look like a pass."""

    @charter(question="Does it end?")
    async def exits(page: Page, net: Network) -> None:
        await page.goto("/")
        raise SystemExit(0)

    async with MisbehavingServer({"/": Html("")}) as server:
        looked = await look(server.url, exits)
    assert (looked.judgement.verdict, looked.judgement.reason) == (None, Reason.CHECK_ERROR)
