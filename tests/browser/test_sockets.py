"""What is recorded of WebSockets: who closed one, with which code, and what was sent and came."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from bughunt import Network
from bughunt.verdict.record import Socket
from tests.browser.making import record
from tests.servers import Html, MisbehavingServer, Reply, WebSocket
from tests.servers.misbehaving import Routes
from tests.servers.pages import page as html_page

SAYS = """
const say = (text) => { document.title = text; };
const live = location.origin.replace("http", "ws") + "/live";
"""


async def sockets(browser: Browser, script: str, live: Any, **also: Any) -> tuple[Socket, ...]:
    """The sockets of a page that runs this script, once its title is "done"."""
    routes: Routes = {"/": Html(html_page("", script=SAYS + script)), "/live": live}

    async def waits(page: Page, net: Network) -> None:
        await page.goto("/")
        await expect(page).to_have_title("done", timeout=5000)

    async with MisbehavingServer({**routes, **{f"/{path}": route for path, route in also.items()}}) as server:
        loaded = await record(browser, server.url, waits)
    assert loaded.failure is None
    return loaded.sockets


ON_CLOSE = 'const socket = new WebSocket(live); socket.onclose = () => say("done");'


@pytest.mark.parametrize(
    ("live", "code"),
    [(WebSocket(then=1011), 1011), (WebSocket(then=1000), 1000), (WebSocket(then="cut"), 1006)],
)
async def test_the_close_code_is_what_the_page_was_told(browser: Browser, live: WebSocket, code: int) -> None:
    (socket,) = await sockets(browser, ON_CLOSE, live)
    assert (socket.code, socket.closed_by_page, socket.left) == (code, False, False)
    assert socket.closed is not None


async def test_a_handshake_that_is_refused_has_its_failure(browser: Browser) -> None:
    (socket,) = await sockets(browser, ON_CLOSE, Reply(503))
    assert "503" in (socket.failure or "")
    assert socket.received == 0


async def test_what_the_page_closed_itself_is_known(browser: Browser) -> None:
    (socket,) = await sockets(browser, f"{ON_CLOSE} socket.onopen = () => socket.close();", WebSocket())
    assert socket.closed_by_page


async def test_frames_are_counted_both_ways(browser: Browser) -> None:
    script = """
const socket = new WebSocket(live);
socket.onopen = () => socket.send("and?");
let came = 0;
socket.onmessage = () => { if (++came === 2) say("done"); };
"""
    (socket,) = await sockets(browser, script, WebSocket(("one", "two"), asked=True))
    assert (socket.sent, socket.received, socket.closed) == (1, 2, None)
    assert socket.opened_at <= (socket.last_sent or 0.0) <= (socket.last_received or 0.0)


async def test_one_that_was_left_with_its_document_is_marked(browser: Browser) -> None:
    script = 'new WebSocket(live).onopen = () => { location.href = "/next"; };'
    (socket,) = await sockets(
        browser, script, WebSocket(), next=Html(html_page("", script='document.title = "done"'))
    )
    assert (socket.left, socket.code) == (True, None)


async def test_a_page_cannot_tell_that_it_is_listened_to(browser: Browser) -> None:
    """Neither the constructor nor its prototype look otherwise."""
    script = """
const socket = new WebSocket(live);
const plain = socket instanceof WebSocket && socket.constructor === WebSocket
  && WebSocket.name === "WebSocket" && WebSocket.OPEN === 1
  && Object.keys(window).every((key) => !/bughunt/.test(key));
class Own extends WebSocket {}
say(plain && new Own(live) instanceof Own ? "done" : "noticed");
"""
    assert len(await sockets(browser, script, WebSocket())) == 2


@pytest.mark.parametrize("forged", ['"bogus"', "[1, 2, 3]", '["ws://elsewhere/", 1006]', "null", "{}"])
async def test_notes_that_a_page_forged_are_no_failure_of_ours(browser: Browser, forged: str) -> None:
    forging = f'window[Symbol.for("bughunt.closes")].unshift({forged});'
    (socket,) = await sockets(browser, forging + ON_CLOSE, WebSocket(then=1011))
    assert socket.code == 1011
