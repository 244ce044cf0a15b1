"""Reading: the charter expects the right total of a cart that the page fetches (rows R of the cases)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from playwright.async_api import Page, expect

from bughunt import Charter, Network, Verdict, charter
from tests.cases.looking import (
    PATIENCE,
    Looking,
    closes_the_list,
    declares_nothing,
    params,
    reads,
    reads_the_cart,
    reloads_the_cart,
    types_ahead,
)
from tests.servers.answers import (
    After,
    Answer,
    BadGzip,
    CloseWithoutByte,
    CutChunked,
    EventStream,
    HeadersThenSilence,
    Html,
    Json,
    NeverAnswer,
    NotHttp,
    Request,
    Reset,
    Route,
    ShortBody,
    StallMidBody,
    sequence,
)
from tests.servers.misbehaving import MisbehavingServer
from tests.servers.pages import CART, cart_page, incidentals, type_ahead_page

PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR

WELL = Json(CART)
RIGHT, WRONG = cart_page(), cart_page(wrong_sum=True)
PATIENT = cart_page(timeout_ms=None)


@dataclass(frozen=True, kw_only=True)
class Case:
    """What the app and its environment do, and what must be said."""

    name: str
    page: str | Route = RIGHT
    cart: Route = WELL
    also: dict[str, Route] | None = None
    charter: Charter = reads
    faults: Sequence[str] = ()
    verdict: Verdict
    kinds: frozenset[str] = frozenset()
    loads: tuple[int, int] | None = None
    flags: frozenset[str] = frozenset()


def case(name: str, verdict: Verdict, *kinds: str, flags: Sequence[str] = (), **given: object) -> Case:
    return Case(name=name, verdict=verdict, kinds=frozenset(kinds), flags=frozenset(flags), **given)  # type: ignore[arg-type]


NETWORK_ERRORS = ("connectionreset", "connectionrefused", "namenotresolved", "internetdisconnected")
CUT_SHORT = {
    "no byte": CloseWithoutByte(),
    "no http": NotHttp(),
    "short body": ShortBody(),
    "cut chunks": CutChunked(),
    "bad gzip": BadGzip(),
    "reset": Reset(),
}
BROKEN_RATES = {"/api/rates": Json({}, status=503)}
INCIDENTALS = incidentals(
    image="/broken.png", font="/broken.woff2", beacon="/beacon", script="http://analytics.invalid/a.js"
)
STATUSES = (500, 502, 503, 504, 429)

CASES = [
    case("R1", PASS, loads=(1, 0)),
    case("R2", BUG, page=WRONG, loads=(1, 1)),
    *(
        case(f"R3 {e}", ENV_ERROR, "network", faults=[f"{e}@**/api/cart"], loads=(2, 0))
        for e in NETWORK_ERRORS
    ),
    *(
        case(
            f"R4 {e}", PASS, "network", faults=[f"{e}:times=1@**/api/cart"], loads=(2, 0), flags=["recovered"]
        )
        for e in NETWORK_ERRORS
    ),
    *(
        case(f"R5 {e}", BUG, "network", page=WRONG, faults=[f"{e}:times=1@**/api/cart"], loads=(2, 1))
        for e in NETWORK_ERRORS[:2]
    ),
    *(
        case(f"R6 {e}", ENV_ERROR, "network", page=WRONG, faults=[f"{e}@**/api/cart"], loads=(2, 0))
        for e in NETWORK_ERRORS[1::2]
    ),
    *(
        case(f"R7 {name}", ENV_ERROR, "network", cart=answer, loads=(2, 0))
        for name, answer in CUT_SHORT.items()
    ),
    *(case(f"R8 {s}", ENV_ERROR, "status", cart=Json({}, status=s), loads=(2, 0)) for s in STATUSES),
    case("R9", ENV_ERROR, "gave_up", charter=reads_the_cart, cart=After(2.0, WELL), loads=(2, 0)),
    case(
        "R10", ENV_ERROR, "no_answer", charter=reads_the_cart, page=PATIENT, cart=NeverAnswer(), loads=(2, 0)
    ),
    case(
        "R11",
        ENV_ERROR,
        "stalled",
        charter=reads_the_cart,
        page=PATIENT,
        cart=HeadersThenSilence(),
        loads=(2, 0),
    ),
    case(
        "R11 in mid-body",
        ENV_ERROR,
        "stalled",
        charter=reads_the_cart,
        page=PATIENT,
        cart=StallMidBody(),
        loads=(2, 0),
    ),
    case(
        "R11 chunked",
        ENV_ERROR,
        "stalled",
        charter=reads_the_cart,
        page=PATIENT,
        cart=StallMidBody(missing=None),
        loads=(2, 0),
    ),
    case("R12", PASS, page=cart_page(retries=2), faults=["503:times=1@**/api/cart"], loads=(1, 0)),
    case("R13", BUG, page=cart_page(wrong_sum=True, extra_html=INCIDENTALS), loads=(1, 1)),
    case("R14 incidentals", PASS, page=cart_page(extra_html=INCIDENTALS), loads=(1, 0)),
    case(
        "R14 undeclared fetch",
        PASS,
        "status",
        page=cart_page(also_fetch=["/api/other"]),
        also={"/api/other": Json({}, status=503)},
        loads=(1, 0),
        flags=["degraded"],
    ),
    case(
        "R15",
        BUG,
        page=cart_page(wrong_sum=True, also_fetch=["/api/other"]),
        also={"/api/other": Json({}, status=503)},
        charter=closes_the_list,
        loads=(1, 1),
    ),
    case(
        "R15b", ENV_ERROR, "status", page=cart_page(rates_api="/api/rates"), also=BROKEN_RATES, loads=(2, 0)
    ),
    case(
        "R15c",
        ENV_ERROR,
        "status",
        page=cart_page(config_api="/api/config"),
        also={"/api/config": Json({}, status=503)},
        charter=closes_the_list,
        loads=(2, 0),
    ),
    case(
        "R15c read",
        ENV_ERROR,
        "status",
        page=cart_page(config_api="/api/config"),
        also={"/api/config": Json({}, status=503)},
        loads=(2, 0),
    ),
    case("R16", BUG, page=cart_page(api="/api/carts"), loads=(1, 1)),
    case(
        "R17",
        BUG,
        page=cart_page(api="/api/cart?sort=%00"),
        cart=Json({"error": "sort"}, status=400),
        loads=(1, 1),
    ),
    *(case(f"R18 {s}", ENV_ERROR, "access", cart=Json({}, status=s), loads=(2, 0)) for s in (401, 403)),
    case(
        "R34",
        BUG,
        page=cart_page(wrong_sum=True, poll_ms=300, stream="/events"),
        also={"/events": EventStream(events=("tick",))},
        loads=(1, 1),
    ),
    case(
        "R36",
        ENV_ERROR,
        "no_answer",
        page=cart_page(timeout_ms=None, reload_button=True),
        cart=lambda request: _second_never_answers(request),
        charter=reloads_the_cart,
        loads=(2, 0),
    ),
]


def _second_never_answers(request: Request) -> Answer:
    """Every second request for the cart: the one after the click."""
    return NeverAnswer() if next(_asked) % 2 else WELL


_asked = itertools.count()


@pytest.mark.parametrize("given", params(CASES))
async def test_the_right_verdict(look: Looking, given: Case) -> None:
    """Each row of the reading cases gets its verdict, its cause and its number of loads."""
    document = Html(given.page) if isinstance(given.page, str) else given.page
    async with MisbehavingServer({"/": document, "/api/cart": given.cart, **(given.also or {})}) as server:
        looked = await look(server.url, given.charter, faults=given.faults)
    judgement = looked.judgement
    assert judgement.verdict is given.verdict, judgement.sentence
    assert looked.kinds == given.kinds, judgement.sentence
    if given.loads is not None:
        assert (judgement.loads, judgement.confirmations) == given.loads
    for flag in ("recovered", "degraded", "intermittent"):
        assert getattr(judgement, flag) is (flag in given.flags)


async def test_each_env_error_carries_the_failing_exchange_of_both_loads(look: Looking) -> None:
    """R3: the causes of an ENV_ERROR are the failing exchanges, one for each load."""
    async with MisbehavingServer({"/": Html(RIGHT), "/api/cart": WELL}) as server:
        looked = await look(server.url, reads_the_cart, faults=["reset@**/api/cart"])
    assert [(c.load, c.method, c.failure, c.fault) for c in looked.judgement.causes] == [
        (load, "GET", "net::ERR_CONNECTION_RESET", "reset@**/api/cart") for load in (1, 2)
    ]


@pytest.mark.parametrize(
    ("wrong", "verdict"), [(False, PASS), (True, BUG)], ids=["R27 right at the end", "R28 wrong at the end"]
)
async def test_superseded_requests_are_nobodys_failure(look: Looking, wrong: bool, verdict: Verdict) -> None:
    """A type-ahead aborts what it asked before; only the result at the end counts."""
    routes = {"/": Html(type_ahead_page(wrong_result=wrong)), "/api/search": _suggestions}
    async with MisbehavingServer(routes) as server:
        looked = await look(server.url, types_ahead)
    assert (looked.judgement.verdict, looked.kinds) == (verdict, set())


def _suggestions(request: Request) -> Answer:
    """Slow enough for the next key to come first."""
    typed = request.parameter("q")
    return After(0.15 if len(typed) < 4 else 0.0, Json({"results": [typed, f"wool {typed}"]}))


RIGHT_PAGE, WRONG_PAGE = Html(RIGHT), Html(WRONG)


async def test_a_bug_that_comes_and_goes_is_intermittent(look: Looking) -> None:
    """R30: wrong in loads 1 and 3."""
    routes = {"/": sequence(WRONG_PAGE, RIGHT_PAGE, WRONG_PAGE), "/api/cart": WELL}
    async with MisbehavingServer(routes) as server:
        looked = await look(server.url, reads_the_cart)
    judgement = looked.judgement
    assert (judgement.verdict, judgement.intermittent) == (BUG, True)
    assert (judgement.loads, judgement.confirmations) == (1, 2)


async def test_a_mismatch_that_never_comes_again_is_unreproduced(look: Looking) -> None:
    """R31: wrong in load 1 only."""
    async with MisbehavingServer({"/": sequence(WRONG_PAGE, RIGHT_PAGE), "/api/cart": WELL}) as server:
        looked = await look(server.url, reads_the_cart)
    assert (looked.judgement.verdict, looked.kinds, len(looked.records)) == (ENV_ERROR, {"unreproduced"}, 5)


@charter(question="Does the page show what the server said?")
async def reads_long_before_it_looks(page: Page, net: Network) -> None:
    await page.goto("/")
    cart = await net.json("**/api/cart")
    read = sum(item["price"] * item["qty"] for item in cart["items"])
    async with page.expect_response(lambda response: response.url.endswith("/api/cart")):
        pass
    async with page.expect_response(lambda response: response.url.endswith("/api/cart")):
        pass
    assert await page.get_by_test_id("total").inner_text() == f"{read:.2f}"


async def test_data_that_moves_under_the_charter_is_no_bug(look: Looking) -> None:
    """R32: the value changes with every poll, between the charter's reading and its look."""
    count = itertools.count(1)

    def ever_more(request: Request) -> Answer:
        return Json({"items": [{"name": "sock", "price": 1.0, "qty": next(count)}]})

    async with MisbehavingServer({"/": Html(cart_page(poll_ms=300)), "/api/cart": ever_more}) as server:
        looked = await look(server.url, reads_long_before_it_looks)
    assert looked.judgement.verdict in {PASS, ENV_ERROR}
    assert looked.kinds <= {"moved"}


@charter(question="Does the total appear?", depends_on=["**/api/cart"])
async def looks_at_once(page: Page, net: Network) -> None:
    await page.goto("/", wait_until="domcontentloaded")
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)


async def test_an_answer_that_came_too_late_to_be_shown_is_late(look: Looking) -> None:
    """R33: the answer comes shortly before the expectation gives up, and the page needs longer to show it."""
    page = cart_page(timeout_ms=None, show_delay_ms=600)
    slow = After(PATIENCE / 1000 - 0.3, WELL)
    async with MisbehavingServer({"/": Html(page), "/api/cart": slow}) as server:
        looked = await look(server.url, looks_at_once)
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"late"})


async def test_an_undeclared_charter_rests_on_every_fetch(look: Looking) -> None:
    """While the list is open, a failed fetch explains what is missing on the page."""
    routes = {"/": Html(RIGHT), "/api/cart": sequence(Json({}, status=503), WELL)}
    async with MisbehavingServer(routes) as server:
        looked = await look(server.url, declares_nothing)
    assert (looked.judgement.verdict, looked.judgement.recovered) == (PASS, True)
