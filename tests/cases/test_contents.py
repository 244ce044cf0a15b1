"""Answers that look well by their status, and are not (rows R8, R16, R19, R22 to R26, R29)."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from bughunt import Network, Verdict, charter
from bughunt.health import graphql
from tests.cases.looking import SOON, Case, Looking, case, check, closes_the_list, params, reads
from tests.servers.answers import After, Answer, CutGzip, Html, Json, Redirect, Reply, Route
from tests.servers.misbehaving import MisbehavingServer, Routes
from tests.servers.pages import CART, cart_page, page

PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR
WELL, DOWN = Json(CART), Json({}, status=503)
CUT = Reply(body='{"items": [{"name": "Mech', content_type="application/json")
SIGN_IN = Html(page('<h1>Sign in</h1><form><input type="password"></form>'))
BAD_GATEWAY = Html("<!doctype html><title>Bad gateway</title><h1>Try later</h1>")


def cart(answer: Route, document: str | None = None, **also: Route) -> Routes:
    """The cart's page, what its API answers, and what else there is."""
    html = Html(document or cart_page())
    return {"/": html, "/api/cart": answer, **{f"/{path}": route for path, route in also.items()}}


def to_the_page(answer: Answer, outside: Answer = WELL) -> Route:
    """What browsers get, and what the same URL gives to others."""
    return lambda request: answer if "sec-fetch-mode" in request.headers else outside


ABORTS = page(
    '<output data-testid="total">–</output>',
    script="""
const leaving = new AbortController();
fetch("/api/cart", { signal: leaving.signal }).then((r) => r.json()).catch(() => {});
setTimeout(() => leaving.abort(), 10);
""",
)
REMEMBERS = page(
    '<output data-testid="total">487.00</output>',
    script='fetch("/api/cart").then((r) => r.json()).catch(() => {});',
)
ASKS_BY_POST = page(
    '<output data-testid="total">–</output>',
    script="""
fetch("/api/cart", { method: "POST", body: "{}" }).then((r) => r.json())
  .then(() => { document.querySelector("output").textContent = "487.00"; }, () => {});
""",
)


CASES = [
    case("R19", ENV_ERROR, "access", routes=cart(Redirect("/login"), login=SIGN_IN), charter=reads),
    case("R19 undeclared", ENV_ERROR, "access", routes=cart(Redirect("/login"), login=SIGN_IN)),
    case(
        "R19 known by its password field",
        ENV_ERROR,
        "access",
        routes=cart(Redirect("/welcome"), welcome=SIGN_IN),
    ),
    case("sign-in page in place of JSON", ENV_ERROR, "access", routes=cart(SIGN_IN), charter=reads),
    case(
        "document redirected to sign in",
        ENV_ERROR,
        "access",
        routes={"/": Redirect("/login"), "/login": SIGN_IN},
    ),
    case("R22", BUG, routes=cart(CUT), charter=reads),
    case("R22 undeclared", BUG, routes=cart(CUT)),
    case("R23", ENV_ERROR, "malformed", routes=cart(to_the_page(CUT)), charter=reads),
    case("R23 undeclared", ENV_ERROR, "malformed", routes=cart(to_the_page(CUT))),
    case("R24", ENV_ERROR, "wrong_content", routes=cart(BAD_GATEWAY), charter=reads),
    case("R16 the app's own page", BUG, routes=cart(Html(cart_page())), charter=reads),
    case("R25", BUG, routes=cart(Reply(204)), charter=reads),
    case("R26", BUG, routes=cart(After(0.4, WELL), ABORTS), charter=reads),
    case("R29", ENV_ERROR, "status", routes=cart(DOWN, REMEMBERS), charter=closes_the_list),
    case("R29 its healthy twin", PASS, routes=cart(WELL, REMEMBERS), charter=closes_the_list),
    case("gzip cut short", ENV_ERROR, "network", routes=cart(CutGzip('{"items": []}')), charter=reads),
    case("gzip cut short, undeclared", ENV_ERROR, "network", routes=cart(CutGzip('{"items": []}'))),
    case("malformed answer of a POST", ENV_ERROR, "malformed", routes=cart(CUT, ASKS_BY_POST)),
]


@pytest.mark.parametrize("given", params(CASES))
async def test_the_right_verdict(look: Looking, given: Case) -> None:
    """What was spoilt on its way is told from what the server says to everybody."""
    await check(look, given)


async def test_an_error_that_everybody_meets_may_be_a_real_bug(look: Looking) -> None:
    """R8: the probe sees it too."""
    looked = await check(look, case("R8", ENV_ERROR, "status", routes=cart(Json({}, status=500))))
    assert all("may be a real server bug" in (cause.hint or "") for cause in looked.judgement.causes)


async def test_an_error_that_only_the_page_meets_is_called_no_server_bug(look: Looking) -> None:
    """R8: the probe sees a healthy answer."""
    given = case("R8", ENV_ERROR, "status", routes=cart(to_the_page(Json({}, status=500))), charter=reads)
    looked = await check(look, given)
    assert [cause.hint for cause in looked.judgement.causes] == [None, None]


async def test_what_a_post_answers_malformed_carries_a_hint(look: Looking) -> None:
    """Nobody can ask it again from outside."""
    looked = await check(look, CASES[-1])
    assert all("may be a real bug" in (cause.hint or "") for cause in looked.judgement.causes)


# What is healthy by the app's own word

SHOP = page(
    '<output data-testid="total">–</output>',
    script="""
const send = (query) => fetch("/graphql", { method: "POST", body: JSON.stringify({ query }) });
const ask = async (query) => (await send(query)).json();
(async () => {
  const [cart] = await Promise.all([ask("query Cart { total }"), ask("query User { name }")]);
  document.querySelector("output").textContent = cart.data?.total ?? "nothing";
})();
""",
)
ERRORS = Json({"data": None, "errors": [{"message": "the back end is away"}]})


def answers(cart: Answer, user: Answer | None = None) -> Routes:
    """One URL for two operations."""
    other = user or Json({"data": {"name": "Ada"}})
    return {"/": Html(SHOP), "/graphql": lambda request: cart if b"Cart" in request.body else other}


RIGHT_CART, WRONG_CART = Json({"data": {"total": "487.00"}}), Json({"data": {"total": "288.00"}})


@charter(question="Does the shop show the total?")
async def asks_for_the_cart(page: Page, net: Network) -> None:
    await page.goto("/")
    cart = await net.json("**/graphql", operation="Cart", timeout=SOON / 1000)
    assert cart["data"]["total"] == "487.00"
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=SOON)


@charter(question="Does the shop show the total, in health?", healthy=graphql)
async def asks_in_health(page: Page, net: Network) -> None:
    await asks_for_the_cart.function(page, net)


@charter(question="Is it there?", healthy=lambda answer: bool(answer.json["no such key"]))
async def asks_wrongly(page: Page, net: Network) -> None:
    await asks_for_the_cart.function(page, net)


HEALTH = [
    case("operation=", PASS, routes=answers(RIGHT_CART), charter=asks_for_the_cart),
    case("operation=, wrong", BUG, routes=answers(WRONG_CART), charter=asks_for_the_cart),
    case("healthy=, well", PASS, routes=answers(RIGHT_CART), charter=asks_in_health),
    case("healthy=, errors", ENV_ERROR, "unhealthy", routes=answers(ERRORS), charter=asks_in_health),
    case("healthy=, wrong", BUG, routes=answers(WRONG_CART), charter=asks_in_health),
    case("healthy=, others' errors", PASS, routes=answers(RIGHT_CART, ERRORS), charter=asks_in_health),
]


@pytest.mark.parametrize("given", HEALTH, ids=lambda given: given.name)
async def test_health_is_what_the_app_says_it_is(look: Looking, given: Case) -> None:
    """A 200 can be unhealthy, and each operation is healthy by itself."""
    await check(look, given)


async def test_a_target_may_say_what_is_healthy(look: Looking) -> None:
    async with MisbehavingServer(answers(ERRORS)) as server:
        looked = await look(server.url, asks_for_the_cart, healthy="graphql")
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"unhealthy"})


async def test_a_predicate_that_raises_is_a_broken_check(look: Looking) -> None:
    async with MisbehavingServer(answers(RIGHT_CART)) as server:
        looked = await look(server.url, asks_wrongly)
    assert looked.judgement.verdict is None, looked.judgement.sentence
