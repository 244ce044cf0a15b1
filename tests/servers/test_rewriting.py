"""The rewriting proxy changes what its rules say, and nothing else."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message

import pytest

from tests.servers.answers import (
    Answer,
    CutChunked,
    EventStream,
    HeadersThenSilence,
    Json,
    NeverAnswer,
    Reply,
    Request,
    Reset,
    ShortBody,
    Wire,
    sequence,
)
from tests.servers.misbehaving import MisbehavingServer, Routes, refusing_url
from tests.servers.rewriting import Break, Rewrite, RewritingProxy, Rule


@dataclass(frozen=True)
class Raw(Answer):
    """These bytes, then FIN."""

    data: bytes

    async def give(self, wire: Wire) -> None:
        await wire.send(self.data)


@dataclass(frozen=True)
class Echo(Answer):
    """What a WebSocket server does, but for the frames: it switches protocols and says what it is told."""

    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def give(self, wire: Wire) -> None:
        await wire.send(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
        )
        await wire.send(b"hello ")
        while heard := await wire._reader.read(100):
            await wire.send(heard)
        self.left.set()


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What the client received."""

    status: int
    headers: Message
    body: bytes


class Pair:
    """A proxy before a server: `async with Pair(routes, *rules) as pair:`."""

    def __init__(self, routes: Routes, *rules: Rule) -> None:
        self.server = MisbehavingServer(routes)
        self._rules = rules

    async def __aenter__(self) -> Pair:
        await self.server.__aenter__()
        self.proxy = RewritingProxy(self.server.url, *self._rules)
        await self.proxy.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        try:
            await self.proxy.__aexit__(None, None, None)
        finally:
            await self.server.__aexit__(None, None, None)

    async def ask(
        self,
        target: str,
        method: str = "GET",
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answered:
        """One request by the standard library."""

        def in_a_thread() -> Answered:
            client = http.client.HTTPConnection(self.proxy.url.removeprefix("http://"), timeout=5)
            client.request(method, target, body=body, headers=headers or {})
            response = client.getresponse()
            answered = Answered(status=response.status, headers=response.headers, body=response.read())
            client.close()
            return answered

        return await asyncio.to_thread(in_a_thread)

    async def dial(self, head: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(self.proxy.url.rpartition(":")[2]))
        writer.write(head.encode() + b"\r\nHost: test\r\n\r\n")
        return reader, writer


async def test_a_request_and_its_answer_pass_as_they_are() -> None:
    server = Reply(201, b"\x00made", headers={"X-Ship": "1", "Set-Cookie": "a=b"}, content_type="a/b")
    async with Pair({"/ships": server}) as pair:
        answer = await pair.ask("/ships?deck=1&x=%20", "POST", body=b"{}", headers={"X-Who": "me"})
        seen = pair.server.seen("/ships")[0]
    assert (answer.status, answer.body) == (201, b"\x00made")
    assert (answer.headers["x-ship"], answer.headers["set-cookie"]) == ("1", "a=b")
    assert (seen.method, seen.query, seen.body, seen.headers["x-who"]) == (
        "POST",
        "deck=1&x=%20",
        b"{}",
        "me",
    )


async def test_the_upstream_sees_the_host_that_the_client_named_so_that_origins_agree() -> None:
    async with Pair({"/": Reply()}) as pair:
        await pair.ask("/")
        assert pair.server.seen("/")[0].headers["host"] == pair.proxy.url.removeprefix("http://")


async def test_plain_and_unconditional_answers_are_asked_for() -> None:
    async with Pair({"/": Reply()}) as pair:
        await pair.ask("/", headers={"Accept-Encoding": "gzip", "If-None-Match": '"1"'})
        asked = pair.server.seen("/")[0].headers
    assert asked["accept-encoding"] == "identity"
    assert "if-none-match" not in asked


async def test_a_head_request_and_an_answer_without_a_body_end() -> None:
    rewrite = Rewrite(pattern="/**", change=lambda body: body + b"!")
    async with Pair({"/": Reply(200, "long"), "/none": Reply(204)}, rewrite) as pair:
        assert (await pair.ask("/", "HEAD")).status == 200
        assert (await pair.ask("/none")).status == 204


async def test_a_stream_passes_event_by_event_while_it_stays_open() -> None:
    async with Pair({"/stream": EventStream(("one", "two"))}) as pair:
        reader, writer = await pair.dial("GET /stream HTTP/1.1")
        assert b"text/event-stream" in await reader.readuntil(b"\r\n\r\n")
        assert await reader.readuntil(b"two\n\n") == b"data: one\n\ndata: two\n\n"
        assert not reader.at_eof()
        writer.close()


async def test_a_socket_passes_both_ways_and_its_end_reaches_the_upstream() -> None:
    echo = Echo()
    async with Pair({"/socket": echo}) as pair:
        reader, writer = await pair.dial("GET /socket HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 ")
        assert b"Connection: Upgrade" in head
        assert await reader.readexactly(6) == b"hello "
        writer.write(b"\x00there")
        assert await reader.readexactly(6) == b"\x00there"
        writer.close()
        await asyncio.wait_for(echo.left.wait(), 5)
        assert pair.server.seen("/socket")[0].headers["upgrade"] == "websocket"


@pytest.mark.parametrize(
    "framed",
    [
        Reply(200, "harbour"),
        Raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nharb\r\n3;x=y\r\nour\r\n0\r\n\r\n"),
        Raw(b"HTTP/1.0 200 OK\r\nServer: old\r\n\r\nharbour"),
    ],
    ids=["by length", "in chunks", "until the end"],
)
async def test_a_body_is_changed_however_it_was_framed(framed: Answer) -> None:
    rewrite = Rewrite(pattern="**/name", change=lambda body: body.replace(b"our", b"or"))
    async with Pair({"/name": framed}, rewrite) as pair:
        answer = await pair.ask("/name")
        assert answer.body == b"harbor"
        assert answer.headers["content-length"] == "6"
        assert pair.proxy.met(rewrite) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Reply(200, "pier"), "left its body as it was"),
        (Reply(200, b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), "asked for plain bytes"),
    ],
    ids=["changes nothing", "packed"],
)
async def test_a_body_that_cannot_be_changed_is_an_error_of_the_test(answer: Answer, said: str) -> None:
    pair = Pair({"/": answer}, Rewrite(pattern="/**", change=bytes.strip))
    await pair.__aenter__()
    with pytest.raises(http.client.RemoteDisconnected):
        await pair.ask("/")
    with pytest.raises(ValueError, match=said):
        await pair.__aexit__()


async def test_a_rule_counts_for_its_pattern_and_method_alone() -> None:
    rules = (
        Break(pattern="/api/**", answer=Reply(503), method="POST"),
        Rewrite(pattern="/api/ships", change=bytes.upper),
    )
    async with Pair({"/api/ships": Reply(200, "sail"), "/pier": Reply(200, "wood")}, *rules) as pair:
        answers = [await pair.ask(*asked) for asked in (("/api/ships", "POST"), ("/api/ships",), ("/pier",))]
        assert [(a.status, a.body) for a in answers] == [
            (503, b""),
            (200, b"SAIL"),
            (200, b"wood"),
        ]


async def test_what_is_broken_once_never_reaches_the_upstream_and_passes_the_next_time() -> None:
    once = Break(pattern="/api", answer=Json({}, status=503), times=1)
    async with Pair({"/api": Reply(200)}, once) as pair:
        assert [(await pair.ask("/api")).status for _ in range(3)] == [503, 200, 200]
        assert len(pair.server.seen("/api")) == 2
        assert pair.proxy.met(once) == 1


async def test_a_reset_and_a_silence_are_what_they_say() -> None:
    rules = (Break(pattern="/reset", answer=Reset()), Break(pattern="/never", answer=NeverAnswer()))
    async with Pair({}, *rules) as pair:
        with pytest.raises(ConnectionResetError):
            await pair.ask("/reset", "POST", body=b"x" * 1000)
        reader, writer = await pair.dial("GET /never HTTP/1.1")
        await pair.proxy.arrived("/never")
        assert not reader.at_eof()
        writer.close()
        assert pair.server.requests == []


@pytest.mark.parametrize("cut", [ShortBody(), CutChunked()], ids=["by length", "in chunks"])
async def test_a_body_that_the_upstream_cuts_short_is_cut_short_for_the_client(cut: Answer) -> None:
    async with Pair({"/": cut}) as pair:
        with pytest.raises(http.client.IncompleteRead):
            await pair.ask("/")


async def test_a_client_that_leaves_frees_the_upstream() -> None:
    left = asyncio.Event()

    class Waiting(HeadersThenSilence):
        async def give(self, wire: Wire) -> None:
            await super().give(wire)
            left.set()

    async with Pair({"/": Waiting()}) as pair:
        reader, writer = await pair.dial("GET / HTTP/1.1")
        await reader.readuntil(b"\r\n\r\n")
        writer.close()
        await asyncio.wait_for(left.wait(), 5)


async def test_an_upstream_that_refuses_looks_like_a_connection_closed() -> None:
    with refusing_url() as url:
        async with RewritingProxy(url) as proxy:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
            writer.write(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")
            assert await reader.read() == b""
            writer.close()


async def test_rules_may_meet_one_request_after_another() -> None:
    """A route of the upstream that changes its answer is seen as it changes: nothing is kept."""

    def named(request: Request) -> Answer:
        return Reply(200, request.query)

    async with Pair({"/api": sequence(named, Reply(404))}) as pair:
        first, second = await pair.ask("/api?a=1"), await pair.ask("/api?a=1")
        assert (first.body, second.status) == (b"a=1", 404)
