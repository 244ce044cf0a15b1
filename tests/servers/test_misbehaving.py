"""Each answer of the misbehaving server is what it says on the wire, and looks in a browser as measured.

The table in `BROWSER_FACTS` pins what Playwright makes of each network fault: an upgrade that
changes one of them is noticed here.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import re
import socket
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import BrowserContext, Error, Page, Request, expect

from bughunt.browser.pool import BrowserPool
from tests.servers import (
    After,
    Answer,
    BadGzip,
    CloseWithoutByte,
    CutChunked,
    CutHeaders,
    EventStream,
    HeadersThenSilence,
    Html,
    Json,
    MisbehavingServer,
    NeverAnswer,
    NotHttp,
    Redirect,
    Reply,
    Reset,
    ShortBody,
    StallMidBody,
    refusing_url,
    sequence,
)
from tests.servers import Request as Asked


async def dial(server: MisbehavingServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))


async def raw(server: MisbehavingServer, target: str = "/api", method: str = "GET") -> bytes:
    """Everything that comes back for one request until the server hangs up."""
    reader, writer = await dial(server)
    try:
        writer.write(f"{method} {target} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
        return await reader.read()
    finally:
        writer.close()


async def ask(server: MisbehavingServer, method: str, *targets: str) -> list[tuple[int, bytes]]:
    """Status and body for each target, asked for by the standard library over one client."""

    def in_a_thread() -> list[tuple[int, bytes]]:
        client = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=5)
        answers = []
        for target in targets:
            client.request(method, target, body=b"{}" if method == "POST" else None)
            response = client.getresponse()
            answers.append((response.status, response.read()))
        client.close()
        return answers

    return await asyncio.to_thread(in_a_thread)


# On the wire: whole answers


async def test_whole_answers_have_their_length_and_close_the_connection() -> None:
    async with MisbehavingServer({"/api": Json({"a": "ü"}, 201, headers={"X-Extra": "1"})}) as server:
        head, _, body = (await raw(server)).partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"HTTP/1.1 201 Created"
    assert set(head.split(b"\r\n")[1:]) == {
        b"Connection: close",
        b"Content-Type: application/json; charset=utf-8",
        b"Cache-Control: no-store",
        b"X-Extra: 1",
        b"Content-Length: %d" % len(body),
    }
    assert json.loads(body) == {"a": "ü"}


async def test_each_kind_of_whole_answer_is_plain_http() -> None:
    routes = {
        "/html": Html("<p>ü", 503),
        "/reply": Reply(body=b"\x00", content_type="font/woff2"),
        "/empty": Reply(204),
        "/odd": Reply(599),
    }
    async with MisbehavingServer(routes) as server:
        answers = await ask(server, "GET", *routes, "/nowhere", "/favicon.ico")
        head = await raw(server, "/html", "HEAD")
    assert answers[:4] == [(503, "<p>ü".encode()), (200, b"\x00"), (204, b""), (599, b"")]
    assert answers[4:] == [(404, b"Nothing is at /nowhere."), (204, b"")]
    assert head.startswith(b"HTTP/1.1 503 ")
    assert head.endswith(b"Content-Length: 5\r\n\r\n")


async def test_a_redirect_names_its_target() -> None:
    async with MisbehavingServer({"/api": Redirect("/sign-in"), "/other": Redirect("/", 308)}) as server:
        assert (await raw(server)).startswith(b"HTTP/1.1 302 Found\r\n")
        assert b"\r\nLocation: /\r\n" in await raw(server, "/other")


async def test_routes_are_found_by_method_then_by_path_and_the_query_counts_for_nothing() -> None:
    async with MisbehavingServer({("POST", "/api"): Reply(201), "/api": Reply(200)}) as server:
        assert await ask(server, "POST", "/api?x=1") == [(201, b"")]
        assert await ask(server, "PUT", "/api?x=1") == [(200, b"")]
    async with MisbehavingServer({("GET", "/api"): Reply(body="x")}) as server:
        assert await ask(server, "HEAD", "/api") == [(200, b"")]
        assert (await ask(server, "POST", "/api"))[0][0] == 404


async def test_a_route_may_be_a_function_of_the_request() -> None:
    async with MisbehavingServer({"/api": lambda request: Json(request.parameter("q"))}) as server:
        assert await ask(server, "GET", "/api?q=a%20b", "/api") == [(200, b'"a b"'), (200, b'""')]


async def test_a_sequence_gives_each_answer_once_and_the_last_one_for_ever() -> None:
    later = sequence(Reply(502), lambda request: Reply(int(request.parameter("status") or 200)))
    async with MisbehavingServer({"/api": sequence(Reply(503), later)}) as server:
        answers = await ask(server, "GET", "/api", "/api", "/api", "/api?status=404")
    assert [status for status, _ in answers] == [503, 502, 200, 404]
    with pytest.raises(ValueError, match="at least one"):
        sequence()


async def test_the_journal_has_every_request_in_order() -> None:
    async with MisbehavingServer({"/api": Reply()}) as server:
        await ask(server, "POST", "/api?a=1&b")
        await ask(server, "GET", "/other")
        assert await server.arrived("/other") == server.seen("/other")
    first, second = server.requests
    assert (first.method, first.path, first.query, first.body) == ("POST", "/api", "a=1&b", b"{}")
    assert first.headers["content-length"] == "2"
    assert (second.method, second.path, second.query) == ("GET", "/other", "")


async def test_connections_are_kept_alive_only_where_that_is_asked() -> None:
    async with MisbehavingServer({"/api": Reply(body="x")}, keep_alive=True) as server:
        reader, writer = await dial(server)
        for _ in range(2):
            writer.write(b"GET /api HTTP/1.1\r\n\r\n")
            assert b"Connection: keep-alive" in await reader.readuntil(b"\r\n\r\nx")
    assert await reader.read() == b""
    writer.close()


# On the wire: the others


async def test_a_reset_is_one() -> None:
    async with MisbehavingServer({"/api": Reset()}) as server:
        with pytest.raises(ConnectionResetError):
            await raw(server)


@pytest.mark.parametrize(
    ("answer", "pattern"),
    [
        (CloseWithoutByte(), rb""),
        (NotHttp(), rb"\x15\x03\x01.*"),
        (CutHeaders(), rb"HTTP/1\.1 200 OK\r\nContent-Type: applica"),
        (ShortBody("abc", missing=7), rb"HTTP/1\.1 200 OK\r\n.*Content-Length: 10\r\n\r\nabc"),
        (CutChunked("abc"), rb"HTTP/1\.1 200 OK\r\n.*Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
        (
            BadGzip(),
            rb"HTTP/1\.1 200 OK\r\n.*Content-Encoding: gzip\r\nContent-Length: 50\r\n\r\n\x1f\x8b.{48}",
        ),
    ],
)
async def test_a_broken_answer_ends_where_it_should(answer: Answer, pattern: bytes) -> None:
    async with MisbehavingServer({"/api": answer}) as server:
        assert re.fullmatch(pattern, await raw(server), re.DOTALL)


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        (NeverAnswer(), b""),
        (HeadersThenSilence(503, length=7), b"Content-Length: 7\r\n\r\n"),
        (StallMidBody("abc", missing=7), b"Content-Length: 10\r\n\r\nabc"),
        (StallMidBody("abc", missing=None), b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
        (EventStream(("one", "two\nlines")), b"data: one\n\ndata: two\ndata: lines\n\n"),
    ],
)
async def test_a_stalling_answer_stays_open_until_the_server_is_left(answer: Answer, end: bytes) -> None:
    async with MisbehavingServer({"/api": answer}) as server:
        reader, writer = await dial(server)
        writer.write(b"GET /api HTTP/1.1\r\n\r\n")
        await server.arrived("/api")
        await reader.readuntil(end) if end else None
        assert not reader.at_eof()
    assert await reader.read() == b""
    writer.close()


async def test_a_stalling_answer_ends_when_the_client_hangs_up() -> None:
    async with MisbehavingServer({"/api": NeverAnswer()}) as server:
        _, writer = await dial(server)
        writer.write(b"GET /api HTTP/1.1\r\n\r\n")
        await server.arrived("/api")
        (served,) = server._open
        writer.close()
        await served
        assert not server._open


@pytest.mark.parametrize("wait_for", [0.01, asyncio.Event()], ids=["seconds", "gate"])
async def test_an_answer_can_wait(wait_for: float | asyncio.Event) -> None:
    async with MisbehavingServer({"/api": After(wait_for, Reply(body="late"))}) as server:
        answer = asyncio.create_task(raw(server))
        await server.arrived("/api")
        assert not answer.done()
        if isinstance(wait_for, asyncio.Event):
            wait_for.set()
        assert (await answer).endswith(b"late")


async def test_events_wait_for_their_gate_and_the_headers_do_not() -> None:
    gate = asyncio.Event()
    async with MisbehavingServer({"/events": EventStream(("x",), gate)}) as server:
        reader, writer = await dial(server)
        writer.write(b"GET /events HTTP/1.1\r\n\r\n")
        assert b"text/event-stream" in await reader.readuntil(b"\r\n\r\n")
        gate.set()
        assert await reader.readuntil(b"\n\n") == b"data: x\n\n"
    writer.close()


def broken_route(request: Asked) -> Answer:
    raise LookupError(request.path)


async def test_what_a_route_raises_is_raised_when_the_server_is_left() -> None:
    with pytest.raises(LookupError, match="/api"):
        async with MisbehavingServer({"/api": broken_route}) as server:
            assert await raw(server) == b""


async def test_what_a_route_raises_does_not_hide_what_the_test_raises() -> None:
    async def failing_test() -> None:
        async with MisbehavingServer({"/api": broken_route}) as server:
            raise EOFError(await raw(server))

    with pytest.raises(EOFError):
        await failing_test()


def test_a_server_that_was_not_started_has_no_url() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        _ = MisbehavingServer({}).url


# In a browser

FETCH_PAGE = Html("""<!doctype html>
<title>Outcome of a fetch</title>
<link rel="icon" href="data:,">
<p data-testid="outcome">loading</p>
<script>
  const outcome = document.querySelector("p");
  fetch("/api")
    .then((response) => response.json())
    .then(() => { outcome.textContent = "ok"; })
    .catch((error) => { outcome.textContent = `${error.name}: ${error.message}`; });
</script>
""")

FAILED_TO_FETCH = "TypeError: Failed to fetch"
NOT_JSON = re.compile("^SyntaxError: ")

Outcome = str | re.Pattern[str]

BROWSER_FACTS: dict[str, tuple[Answer, Outcome, list[str]]] = {
    "healthy": (Json({}), "ok", ["req", "resp 200", "fin"]),
    "status": (Json({}, 503), "ok", ["req", "resp 503", "fin"]),
    "reset": (Reset(), FAILED_TO_FETCH, ["req", "FAIL net::ERR_CONNECTION_RESET"]),
    "closed without a byte": (CloseWithoutByte(), FAILED_TO_FETCH, ["req", "FAIL net::ERR_EMPTY_RESPONSE"]),
    "no HTTP": (NotHttp(), FAILED_TO_FETCH, ["req", "FAIL net::ERR_INVALID_HTTP_RESPONSE"]),
    "short body": (
        ShortBody(),
        FAILED_TO_FETCH,
        ["req", "resp 200", "FAIL net::ERR_CONTENT_LENGTH_MISMATCH"],
    ),
    "chunked body cut": (
        CutChunked(),
        FAILED_TO_FETCH,
        ["req", "resp 200", "FAIL net::ERR_INCOMPLETE_CHUNKED_ENCODING"],
    ),
    "gzip that does not unpack": (
        BadGzip(),
        FAILED_TO_FETCH,
        ["req", "resp 200", "FAIL net::ERR_CONTENT_DECODING_FAILED"],
    ),
    "headers cut": (CutHeaders(), NOT_JSON, ["req", "resp 200", "fin"]),
    "truncated JSON": (
        Reply(body='{"items":', content_type="application/json"),
        NOT_JSON,
        ["req", "resp 200", "fin"],
    ),
    "HTML for JSON": (Html("<p>Please sign in"), NOT_JSON, ["req", "resp 200", "fin"]),
    "204 for JSON": (Reply(204), NOT_JSON, ["req", "resp 204", "fin"]),
    "redirect loop": (
        Redirect("/api"),
        FAILED_TO_FETCH,
        ["req", "resp 302", "fin"] * 20 + ["req", "FAIL net::ERR_TOO_MANY_REDIRECTS"],
    ),
}

UNANSWERED: dict[str, tuple[Answer, list[str]]] = {
    "never answers": (NeverAnswer(), ["req"]),
    "headers, then silence": (HeadersThenSilence(), ["req", "resp 200"]),
    "stalls in the body": (StallMidBody(), ["req", "resp 200"]),
    "stalls in a chunked body": (StallMidBody(missing=None), ["req", "resp 200"]),
}


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


class Events:
    """What Playwright tells of the requests for one path, redirects followed until the chain has `ended`."""

    def __init__(self, page: Page, path: str = "/api") -> None:
        self.told: list[str] = []
        self.ended = asyncio.Event()
        self._path = path
        page.on("request", lambda request: self._tell(request, "req"))
        page.on("response", lambda response: self._tell(response.request, f"resp {response.status}"))
        page.on("requestfinished", lambda request: self._tell(request, "fin"))
        page.on("requestfailed", lambda request: self._tell(request, f"FAIL {request.failure}"))

    def _tell(self, request: Request, what: str) -> None:
        if not request.url.partition("?")[0].endswith(self._path):
            return
        self.told.append(what)
        if what.startswith("FAIL") or (what == "fin" and self.told[-2:] != ["resp 302", "fin"]):
            self.ended.set()


@pytest.mark.parametrize(("answer", "outcome", "events"), BROWSER_FACTS.values(), ids=BROWSER_FACTS)
async def test_how_a_browser_sees_an_answer_that_ends(
    page: Page, answer: Answer, outcome: Outcome, events: list[str]
) -> None:
    seen = Events(page)
    async with MisbehavingServer({"/": FETCH_PAGE, "/api": answer}) as server:
        await page.goto(server.url)
        await seen.ended.wait()
        await expect(page.get_by_test_id("outcome")).to_have_text(outcome)
    assert seen.told == events


@pytest.mark.parametrize(("answer", "events"), UNANSWERED.values(), ids=UNANSWERED)
async def test_there_is_no_failure_event_for_an_answer_that_does_not_end(
    page: Page, answer: Answer, events: list[str]
) -> None:
    seen = Events(page)
    async with MisbehavingServer({"/": FETCH_PAGE, "/api": answer, "/fence": Reply()}) as server:
        if "resp 200" in events:
            async with page.expect_response("**/api"):
                await page.goto(server.url)
        else:
            await page.goto(server.url)
            await server.arrived("/api")
        await page.evaluate("fetch('/fence').then((response) => response.text())")
        assert seen.told == events
        await expect(page.get_by_test_id("outcome")).to_have_text("loading")


async def test_a_page_that_gives_up_by_its_own_timeout_aborts(page: Page) -> None:
    routes = {f"/{number}": answer for number, (answer, _) in enumerate(UNANSWERED.values())}
    seen = {path: Events(page, path) for path in routes}
    async with MisbehavingServer({"/": Html("<title>Timeouts</title>"), **routes}) as server:
        await page.goto(server.url)
        outcomes = await page.evaluate(
            """(paths) => Promise.all(paths.map((path) =>
                fetch(path, { signal: AbortSignal.timeout(1000) })
                    .then((response) => response.json())
                    .catch((error) => `${error.name}: ${error.message}`)
            ))""",
            list(routes),
        )
        await asyncio.gather(*(events.ended.wait() for events in seen.values()))
    assert outcomes == ["TimeoutError: signal timed out"] * len(routes)
    expected = [[*events, "FAIL net::ERR_ABORTED"] for _, events in UNANSWERED.values()]
    assert [events.told for events in seen.values()] == expected


@pytest.mark.parametrize("status", [200, 503])
async def test_the_status_of_another_origin_without_cors_headers_is_hidden(page: Page, status: int) -> None:
    seen = Events(page)
    async with MisbehavingServer({"/api": Json({}, status)}) as other:
        body = FETCH_PAGE.text.replace('"/api"', f'"{other.url}/api"')
        async with MisbehavingServer({"/": Html(body)}) as server:
            await page.goto(server.url)
            await expect(page.get_by_test_id("outcome")).to_have_text(FAILED_TO_FETCH)
            await seen.ended.wait()
    assert seen.told == ["req", "FAIL net::ERR_FAILED"]


@pytest.mark.parametrize(
    ("answer", "failure"),
    [(Reset(), "ERR_CONNECTION_RESET"), (CloseWithoutByte(), "ERR_EMPTY_RESPONSE")],
    ids=["reset", "closed without a byte"],
)
async def test_goto_raises_what_failed(page: Page, answer: Answer, failure: str) -> None:
    async with MisbehavingServer({"/": answer}) as server:
        with pytest.raises(Error, match=f"net::{failure}"):
            await page.goto(server.url)


async def test_goto_to_a_port_that_refuses_raises_that(page: Page) -> None:
    with refusing_url() as url, pytest.raises(Error, match="net::ERR_CONNECTION_REFUSED"):
        await page.goto(url)


@pytest.mark.parametrize("answer", [NeverAnswer(), CutChunked("<p>cut", content_type="text/html")], ids=repr)
async def test_goto_waits_its_whole_time_for_a_document_that_does_not_come(
    page: Page, answer: Answer
) -> None:
    async with MisbehavingServer({"/": answer}) as server:
        with pytest.raises(Error, match="Timeout 500ms exceeded"):
            await page.goto(server.url, timeout=500)


async def test_a_script_with_an_error_status_is_told_with_the_status_first(page: Page) -> None:
    seen = Events(page, "/app.js")
    async with MisbehavingServer(
        {"/": Html('<script src="/app.js"></script>'), "/app.js": Reply(503)}
    ) as server:
        await page.goto(server.url)
        await seen.ended.wait()
    assert seen.told == ["req", "resp 503", "FAIL net::ERR_ABORTED"]


async def test_a_new_connection_that_dies_is_not_tried_again(page: Page) -> None:
    async with MisbehavingServer({"/": FETCH_PAGE, "/api": sequence(Reset(), Json({}))}) as server:
        await page.goto(server.url)
        await expect(page.get_by_test_id("outcome")).to_have_text(FAILED_TO_FETCH)
        assert len(server.seen("/api")) == 1


async def test_a_used_connection_that_dies_is_silently_tried_again(page: Page) -> None:
    seen = Events(page)
    routes = {"/": FETCH_PAGE, "/api": sequence(CloseWithoutByte(), Json({}))}
    async with MisbehavingServer(routes, keep_alive=True) as server:
        await page.goto(server.url)
        await expect(page.get_by_test_id("outcome")).to_have_text("ok")
        await seen.ended.wait()
        assert len(server.seen("/api")) == 2
    assert seen.told == ["req", "resp 200", "fin"]


async def test_an_event_stream_delivers_and_stays_open(page: Page) -> None:
    gate = asyncio.Event()
    seen = Events(page, "/events")
    routes = {"/": Html("<title>Stream</title>"), "/events": EventStream(("one", "two"), gate)}
    async with MisbehavingServer(routes) as server:
        await page.goto(server.url)
        listening = page.evaluate("""() => new Promise((done) => {
            const got = [];
            window.stream = new EventSource("/events");
            window.stream.onmessage = ({ data }) => { if (got.push(data) === 2) done(got); };
        })""")
        got = asyncio.ensure_future(listening)
        await server.arrived("/events")
        gate.set()
        assert await got == ["one", "two"]
        assert seen.told == ["req", "resp 200"]
        assert len(server.seen("/events")) == 1


@pytest.mark.parametrize("turns", range(4))
async def test_a_server_that_is_left_forgets_no_connection_that_just_came(turns: int) -> None:
    """Browsers connect ahead of need, at any time; a forgotten socket would warn somewhere else."""
    async with MisbehavingServer({}) as server:
        address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
        clients = [socket.create_connection(address) for _ in range(3)]
        for _ in range(turns):
            await asyncio.sleep(0)
    for client in clients:
        with contextlib.suppress(ConnectionResetError):
            assert await asyncio.to_thread(client.recv, 1) == b""
        client.close()
