"""WebSockets and event streams: refused, broken, silent, closed on purpose, and well (rows P8 to P10)."""

from __future__ import annotations

import itertools

import pytest
from playwright.async_api import Page, expect

from bughunt import Network, Verdict, charter
from tests.cases.looking import SOON, Case, Looking, case, check, params
from tests.servers.answers import Answer, EventStream, Html, Json, Redirect, Reply, Route
from tests.servers.misbehaving import Routes, refusing_url
from tests.servers.pages import page
from tests.servers.websocket import WebSocket

PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR

TOTAL = '<output data-testid="total">–</output>'
SHOW = 'const show = (text) => { document.querySelector("output").textContent = text; };\n'
LIVE = 'const live = location.origin.replace("http", "ws") + "/live";\n'
FOLLOW = "socket.onmessage = ({ data }) => show(data);\n"


@charter(question="Does the page show the live total?", depends_on=["**/live"])
async def follows(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=SOON)


def app(script: str, live: Route, **also: Route) -> Routes:
    """A page that runs this script, and what it finds at `/live`."""
    html = page(TOTAL, script=SHOW + LIVE + script)
    return {"/": Html(html), "/live": live, **{f"/{path}": route for path, route in also.items()}}


def by_socket(live: Route) -> Routes:
    return app(f"const socket = new WebSocket(live);\n{FOLLOW}", live)


def in_turn(*answers: Answer) -> Route:
    rounds = itertools.cycle(answers)
    return lambda request: next(rounds)


SHOWS_NOTHING = "new WebSocket(live).onmessage = () => {};\n"
CLOSES = 'new WebSocket(live).onmessage = ({ target }) => { target.close(); show("288.00"); };\n'
REOPENS = """
const open = () => {
  const socket = new WebSocket(live);
  socket.onmessage = ({ data }) => show(data);
  socket.onclose = () => setTimeout(open, 50);
};
open();
"""
BESIDE_A_FETCH = """
new WebSocket(live);
fetch("/cart").then((response) => response.json()).then(({ total }) => show(total));
"""
ASKS_AGAIN = """
const socket = new WebSocket(live);
socket.onmessage = ({ data }) => { show(data); socket.send("and now?"); };
"""
LEAVES = 'new WebSocket(live).onopen = () => { location.href = "/next"; };\n'
WRONG_CART = Json({"total": "288.00"})

RIGHT, WRONG = WebSocket(("487.00",)), WebSocket(("288.00",))
SILENT = WebSocket()

SOCKETS = [
    case("well", PASS, routes=by_socket(RIGHT)),
    case("P10 delivered, nothing shown", BUG, routes=app(SHOWS_NOTHING, RIGHT)),
    case("P10 declared", BUG, routes=app(SHOWS_NOTHING, RIGHT), charter=follows),
    case("delivered something wrong", BUG, routes=by_socket(WRONG)),
    case("handshake 503", ENV_ERROR, "socket", routes=by_socket(Reply(503))),
    case("reset in mid-frame", ENV_ERROR, "socket", routes=by_socket(WebSocket(then="cut"))),
    case("closed with 1011", ENV_ERROR, "socket", routes=by_socket(WebSocket(then=1011))),
    case(
        "P8 declared, dropped before the update",
        ENV_ERROR,
        "socket",
        routes=by_socket(WebSocket(("288.00",), then=1000)),
        charter=follows,
    ),
    case("closed by the page itself", BUG, routes=app(CLOSES, RIGHT), charter=follows),
    case("reopened, right", PASS, routes=app(REOPENS, in_turn(WebSocket(then="cut"), RIGHT))),
    case("reopened, wrong", BUG, routes=app(REOPENS, in_turn(WebSocket(then="cut"), WRONG))),
    case("never opened again", ENV_ERROR, "socket", routes=app(REOPENS, WebSocket(then="cut"))),
    case("silent, the only source", ENV_ERROR, "silent", routes=by_socket(SILENT)),
    case("silent beside a fetch", BUG, routes=app(BESIDE_A_FETCH, SILENT, cart=WRONG_CART)),
    case(
        "declared and silent beside a fetch",
        ENV_ERROR,
        "silent",
        routes=app(BESIDE_A_FETCH, SILENT, cart=WRONG_CART),
        charter=follows,
    ),
    case("silent once it was asked", ENV_ERROR, "silent", routes=app(ASKS_AGAIN, WRONG), charter=follows),
    case(
        "left with its page",
        BUG,
        routes=app(LEAVES, SILENT, next=Html(page('<output data-testid="total">288.00</output>'))),
    ),
]


@pytest.mark.parametrize("given", params(SOCKETS))
async def test_a_socket_gets_the_right_verdict(look: Looking, given: Case) -> None:
    """What broke on the way is told from what the page made of it."""
    await check(look, given)


async def test_a_socket_that_is_refused_is_an_env_error(look: Looking) -> None:
    """P8."""
    with refusing_url() as url:
        elsewhere = f'const socket = new WebSocket("{url.replace("http", "ws")}/");\n{FOLLOW}'
        await check(look, case("P8", ENV_ERROR, "socket", routes=app(elsewhere, SILENT)))


STREAM = 'new EventSource("/live").onmessage = ({ data }) => show(data);\n'
BESIDE_A_STREAM = """
new EventSource("/live");
fetch("/cart").then((response) => response.json()).then(({ total }) => show(total));
"""


def by_stream(live: Route) -> Routes:
    return app(STREAM, live)


STREAMS = [
    case("well", PASS, routes=by_stream(EventStream(("487.00",)))),
    case("delivered something wrong", BUG, routes=by_stream(EventStream(("288.00",))), charter=follows),
    case(
        "P9 declared and cut",
        ENV_ERROR,
        "socket",
        routes=by_stream(EventStream(("288.00",), then="cut")),
        charter=follows,
    ),
    case("cut", ENV_ERROR, "socket", routes=by_stream(EventStream(then="cut"))),
    case(
        "declared and over",
        ENV_ERROR,
        "socket",
        routes=by_stream(EventStream(("288.00",), then="end")),
        charter=follows,
    ),
    case("503", ENV_ERROR, "status", routes=by_stream(Reply(503))),
    case("HTML", ENV_ERROR, "wrong_content", routes=by_stream(Html("<h1>Bad gateway</h1>"))),
    case("404", BUG, routes=by_stream(Reply(404))),
    case("declared and silent", ENV_ERROR, "silent", routes=by_stream(EventStream()), charter=follows),
    case("silent, the only source", ENV_ERROR, "silent", routes=by_stream(EventStream())),
    case("silent beside a fetch", BUG, routes=app(BESIDE_A_STREAM, EventStream(), cart=WRONG_CART)),
]

SIGN_IN = Html(page('<form><input type="password"></form>'))


@pytest.mark.parametrize("given", params(STREAMS))
async def test_an_event_stream_gets_the_right_verdict(look: Looking, given: Case) -> None:
    """An event stream that broke is told from one that delivered."""
    await check(look, given)


async def test_an_event_stream_that_leads_to_a_sign_in_page_is_an_env_error(look: Looking) -> None:
    """The session ended: no browser takes a page for a stream."""
    routes = app(STREAM, Redirect("/login"), login=SIGN_IN)
    await check(look, case("sign-in", ENV_ERROR, "access", routes=routes))
