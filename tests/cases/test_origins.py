"""An API on another origin: what CORS hides, preflights, sign-in pages, certificates (R20, R21, P2, P13b)."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import trustme

from bughunt import Verdict
from tests.cases.looking import Looking, looks, params, waits
from tests.servers.answers import Answer, Html, Json, NeverAnswer, Redirect, Reply, Reset, Route
from tests.servers.misbehaving import MisbehavingServer
from tests.servers.pages import CART, cart_page, page

PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR

SHARED = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "x-shop"}
ALLOWED = Reply(204, headers=SHARED)
SHARED_CART = Json(CART, headers=SHARED)


def asks(api: str) -> str:
    """A page that asks the API in a way that needs a preflight."""
    return page(
        '<output data-testid="total">–</output>',
        script=f"""
fetch("{api}/api/cart", {{ headers: {{ "x-shop": "1" }} }}).then((answer) => {{
  if (answer.ok) document.querySelector("output").textContent = "487.00";
}}).catch(() => {{}});
""",
    )


def asks_simply(api: str) -> str:
    """A page that asks it in a way that needs none."""
    return cart_page(api=f"{api}/api/cart", timeout_ms=None)


@dataclass(frozen=True, kw_only=True)
class Across:
    """What the other origin answers."""

    name: str
    cart: Route
    preflight: Answer = ALLOWED
    document: Callable[[str], str] = asks
    verdict: Verdict
    kinds: frozenset[str] = frozenset()


def simple(name: str, cart: Route, verdict: Verdict, *kinds: str) -> Across:
    return Across(name=name, cart=cart, document=asks_simply, verdict=verdict, kinds=frozenset(kinds))


def preflighted(
    name: str, preflight: Answer, verdict: Verdict, *kinds: str, cart: Route = SHARED_CART
) -> Across:
    return Across(name=name, preflight=preflight, cart=cart, verdict=verdict, kinds=frozenset(kinds))


CASES = [
    simple("well", SHARED_CART, PASS),
    simple("R20", Json({}, status=503), ENV_ERROR, "status"),
    simple("R20 shared", Json({}, status=503, headers=SHARED), ENV_ERROR, "status"),
    simple("R21", Json(CART), BUG),
    simple("hidden 401", Json({}, status=401), ENV_ERROR, "access"),
    simple("hidden 404", Json({}, status=404), BUG),
    simple("reset", Reset(), ENV_ERROR, "network"),
    simple("redirected to sign in", Redirect("/login", headers=SHARED), ENV_ERROR, "access"),
    preflighted("preflight well", ALLOWED, PASS),
    preflighted("P13b", Reply(405), BUG),
    preflighted("preflight without permission", Reply(204), BUG),
    preflighted("preflight 503", Reply(503), ENV_ERROR, "status"),
    preflighted("preflight 401", Reply(401), ENV_ERROR, "access"),
    preflighted("preflight reset", Reset(), ENV_ERROR, "network"),
    preflighted("preflight silent", NeverAnswer(), ENV_ERROR, "no_answer"),
    preflighted("preflight well, not shared", ALLOWED, BUG, cart=Json(CART)),
    preflighted("preflight well, hidden 503", ALLOWED, ENV_ERROR, "status", cart=Json({}, status=503)),
]


@pytest.mark.parametrize("given", params(CASES))
async def test_what_cors_hides_from_the_page_is_found_out(look: Looking, given: Across) -> None:
    """A refusal of the browser's own is told from what the server answered."""
    login = Html("<title>Sign in</title>")
    routes = {("OPTIONS", "/api/cart"): given.preflight, "/api/cart": given.cart, "/login": login}
    async with MisbehavingServer(routes) as api, MisbehavingServer({}) as server:
        server.routes["/"] = Html(given.document(api.url))
        looked = await look(server.url, waits if given.verdict is PASS else looks)
    assert (looked.judgement.verdict, looked.kinds) == (given.verdict, given.kinds), looked.judgement.sentence


async def test_a_session_that_ended_leads_to_another_origin(look: Looking) -> None:
    """A single sign-on elsewhere, which no fetch can follow."""
    async with MisbehavingServer({"/login": Html("Sign in")}) as sso:
        routes = {"/": Html(cart_page()), "/api/cart": Redirect(f"{sso.url}/login?next=cart")}
        async with MisbehavingServer(routes) as server:
            looked = await look(server.url, looks)
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"access"}), looked.judgement.sentence


async def test_a_document_that_leads_to_another_origins_sign_in_page_is_an_env_error(look: Looking) -> None:
    async with MisbehavingServer({"/login": Html("Sign in")}) as sso, MisbehavingServer({}) as server:
        server.routes["/"] = Redirect(f"{sso.url}/login")
        looked = await look(server.url, looks)
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"access"}), looked.judgement.sentence


async def test_an_api_that_moved_to_an_origin_that_does_not_share_is_a_bug(look: Looking) -> None:
    async with MisbehavingServer({"/api/cart": Json(CART)}) as other:
        routes = {"/": Html(cart_page()), "/api/cart": Redirect(f"{other.url}/api/cart")}
        async with MisbehavingServer(routes) as server:
            looked = await look(server.url, looks)
    assert (looked.judgement.verdict, looked.kinds) == (BUG, set()), looked.judgement.sentence


@pytest.fixture(scope="module")
def untrusted() -> ssl.SSLContext:
    """TLS of a server whose authority nobody knows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    return context


async def test_a_document_whose_certificate_is_invalid_is_an_env_error(
    look: Looking, untrusted: ssl.SSLContext
) -> None:
    """P2; unless the target says that it need not be valid."""
    routes = {"/": Html(cart_page()), "/api/cart": Json(CART)}
    async with MisbehavingServer(routes, tls=untrusted) as server:
        refused = await look(server.url, looks)
        trusted = await look(server.url, waits, ignore_https_errors=True)
    assert (refused.judgement.verdict, refused.kinds) == (ENV_ERROR, {"document"})
    assert trusted.judgement.verdict is PASS


async def test_an_api_whose_certificate_is_invalid_is_an_env_error(
    look: Looking, untrusted: ssl.SSLContext
) -> None:
    routes = {"/api/cart": SHARED_CART}
    async with MisbehavingServer(routes, tls=untrusted) as api, MisbehavingServer({}) as server:
        server.routes["/"] = Html(asks_simply(api.url))
        looked = await look(server.url, looks)
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"certificate"}), looked.judgement.sentence
