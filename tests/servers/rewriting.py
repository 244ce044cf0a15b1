"""A reverse proxy on a loopback port: it passes everything on, but for what its rules change or break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from fault_routes.patterns import matches
from tests.servers.answers import Answer, Request, Wire
from tests.servers.misbehaving import MisbehavingServer

Change = Callable[[bytes], bytes]

#: What concerns one connection alone, and what would let the upstream send less than the whole body.
_NOT_PASSED_ON = frozenset(
    {"connection", "keep-alive", "proxy-connection", "accept-encoding", "if-none-match", "if-modified-since"}
)
_PIECE = 65536


@dataclass(frozen=True, kw_only=True)
class Rewrite:
    """Changes the body of each answer to a URL pattern, whatever its status."""

    pattern: str
    change: Change
    """Must change something: a body that it leaves as it was is an error of the test."""
    method: str | None = None


@dataclass(frozen=True, kw_only=True)
class Break:
    """Answers in place of the upstream, which never hears of it. A WebSocket is broken at its opening."""

    pattern: str
    answer: Answer
    method: str | None = None
    times: int | None = None
    """How many requests meet it; None: all of them."""


Rule = Rewrite | Break


class RewritingProxy(MisbehavingServer):
    """`async with RewritingProxy(url, Break(pattern="/api/**", answer=Reset())) as proxy:` is at `proxy.url`.

    The first rule that matches counts. Bodies, event streams and WebSockets are relayed byte by byte as they
    come; only a body that is rewritten is held until it is whole. The upstream is asked for plain bytes, and
    told the Host that the client named, so that it takes the proxy's origin for its own. Each connection
    serves one request. Where the upstream cannot be reached, the client's connection is closed.

    What a `change` raised, or that it changed nothing, is raised when the proxy is left.
    """

    def __init__(self, upstream: str, *rules: Rule) -> None:
        super().__init__({})
        self.upstream = upstream
        self.rules: Sequence[Rule] = rules
        self._met: dict[int, int] = {}

    def met(self, rule: Rule) -> int:
        """How many requests this rule was applied to so far."""
        return self._met.get(id(rule), 0)

    def _answer(self, request: Request) -> Answer:
        rule = next((rule for rule in self.rules if self._applies(rule, request)), None)
        if rule is not None:
            self._met[id(rule)] = self.met(rule) + 1
        if isinstance(rule, Break):
            return rule.answer
        return _PassedOn(self.upstream, None if rule is None else rule.change)

    def _applies(self, rule: Rule, request: Request) -> bool:
        if rule.method not in (None, request.method):
            return False
        if isinstance(rule, Break) and rule.times is not None and self.met(rule) >= rule.times:
            return False
        return matches(rule.pattern, f"{self.url}{_target(request)}")


@dataclass(frozen=True)
class _PassedOn(Answer):
    """What the upstream answers, with its body changed if wanted."""

    upstream: str
    change: Change | None

    async def give(self, wire: Wire) -> None:
        where = urlsplit(self.upstream)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        try:
            writer.write(_asked(wire.request))
            head = _Head.parsed(await reader.readuntil(b"\r\n\r\n"))
            if head.status == 101:
                await _relay(wire, head.encoded("Upgrade"), reader, writer)
            elif self.change is None or wire.request.method == "HEAD" or head.bodiless:
                await _relay(wire, head.encoded("close"), reader, writer)
            else:
                body = _changed(await _whole_body(head, reader), self.change)
                await wire.send(head.with_body_of(len(body)).encoded("close") + body)
        finally:
            writer.close()


@dataclass(frozen=True)
class _Head:
    """An answer's status line and headers, each as it came."""

    first: str
    headers: tuple[tuple[str, str], ...]

    @classmethod
    def parsed(cls, data: bytes) -> _Head:
        first, *lines = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        return cls(first, tuple((name, value.strip()) for name, _, value in pairs))

    @property
    def status(self) -> int:
        return int(self.first.split(" ")[1])

    @property
    def bodiless(self) -> bool:
        return self.status in {204, 304}

    def get(self, wanted: str) -> str | None:
        return next((value for name, value in self.headers if name.lower() == wanted), None)

    def without(self, *unwanted: str) -> _Head:
        left = tuple((name, value) for name, value in self.headers if name.lower() not in unwanted)
        return _Head(self.first, left)

    def with_body_of(self, length: int) -> _Head:
        plain = self.without("content-length", "transfer-encoding", "etag", "content-md5")
        return _Head(plain.first, (*plain.headers, ("Content-Length", str(length))))

    def encoded(self, connection: str) -> bytes:
        """With this in place of what it said of its connection."""
        headers = (*self.without("connection", "keep-alive").headers, ("Connection", connection))
        return "\r\n".join([self.first, *(f"{n}: {v}" for n, v in headers), "", ""]).encode("latin-1")


def _target(request: Request) -> str:
    return f"{request.path}?{request.query}" if request.query else request.path


def _asked(request: Request) -> bytes:
    """The request as the upstream is to see it."""
    headers = {name: value for name, value in request.headers.items() if name not in _NOT_PASSED_ON}
    headers["accept-encoding"] = "identity"
    headers["connection"] = "Upgrade" if "upgrade" in headers else "close"
    lines = [f"{request.method} {_target(request)} HTTP/1.1", *(f"{n}: {v}" for n, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + request.body


async def _whole_body(head: _Head, reader: asyncio.StreamReader) -> bytes:
    """The body without its transfer coding. Raises where it comes packed all the same, or is cut short."""
    if head.get("content-encoding") not in (None, "identity"):
        raise ValueError("The upstream was asked for plain bytes, and packed them.")
    if head.get("transfer-encoding") == "chunked":
        return b"".join([chunk async for chunk in _chunks(reader)])
    length = head.get("content-length")
    return await (reader.read() if length is None else reader.readexactly(int(length)))


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)


def _changed(body: bytes, change: Change) -> bytes:
    after = change(body)
    if after == body:
        raise ValueError(f"A change left its body as it was: {body[:200]!r}")
    return after


async def _relay(wire: Wire, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Bytes both ways, until one side hangs up."""
    await wire.send(head)
    ways = [
        asyncio.create_task(_pump(reader, wire._writer)),
        asyncio.create_task(_pump(wire._reader, writer)),
    ]
    try:
        ended, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ended:
            way.result()
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while piece := await source.read(_PIECE):
        sink.write(piece)
        await sink.drain()
