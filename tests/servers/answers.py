"""What a misbehaving server may do with one request: each answer is a value that knows how to give itself."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal
from urllib.parse import parse_qs

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, kw_only=True)
class Request:
    """One line of the server's journal. Header names are in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes = b""

    def parameter(self, name: str) -> str:
        """The first value of a parameter of the query, or nothing."""
        return parse_qs(self.query).get(name, [""])[0]


class Wire:
    """The connection on which one request is answered; closed afterwards unless `reusable`."""

    def __init__(
        self,
        request: Request,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        keep_alive: bool,
    ) -> None:
        self.request = request
        self.reusable = False
        self._keep_alive = keep_alive
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def head(self, status: int, headers: Mapping[str, str]) -> None:
        try:
            reason = HTTPStatus(status).phrase
        except ValueError:
            reason = "Unknown"
        connection = "keep-alive" if self._keep_alive else "close"
        lines = [f"HTTP/1.1 {status} {reason}"]
        lines += [f"{name}: {value}" for name, value in {"Connection": connection, **headers}.items()]
        await self.send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """A complete answer, after which the connection may serve again."""
        bodiless = status in {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}
        length = {} if bodiless else {"Content-Length": str(len(body))}
        await self.head(status, {**headers, **length})
        if not bodiless and self.request.method != "HEAD":
            await self.send(body)
        self.reusable = self._keep_alive

    def reset(self) -> None:
        """An RST in place of a FIN: nothing lingers."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def receive(self) -> bytes:
        """What the client sends next; nothing once it has hung up."""
        return await self._reader.read(65536)

    async def silence(self) -> None:
        """Nothing, until the client hangs up."""
        while await self.receive():
            pass


class Answer(ABC):
    @abstractmethod
    async def give(self, wire: Wire) -> None:
        """Answer `wire.request`."""


Route = Answer | Callable[[Request], Answer]


@dataclass(frozen=True)
class Reply(Answer):
    """A whole and honest answer. `Content-Length` in `headers` is overruled."""

    status: int = 200
    body: str | bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    content_type: str = field(default="text/plain; charset=utf-8", kw_only=True)

    async def give(self, wire: Wire) -> None:
        headers = {"Content-Type": self.content_type, "Cache-Control": "no-store", **self.headers}
        await wire.whole(self.status, headers, _bytes(self.body))


@dataclass(frozen=True)
class Json(Answer):
    value: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    async def give(self, wire: Wire) -> None:
        body = json.dumps(self.value)
        await Reply(self.status, body, headers=self.headers, content_type=JSON).give(wire)


@dataclass(frozen=True)
class Html(Answer):
    text: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    async def give(self, wire: Wire) -> None:
        await Reply(self.status, self.text, headers=self.headers, content_type=HTML).give(wire)


@dataclass(frozen=True)
class Redirect(Answer):
    to: str
    status: int = 302
    headers: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    async def give(self, wire: Wire) -> None:
        await Reply(self.status, headers={"Location": self.to, **self.headers}).give(wire)


@dataclass(frozen=True)
class Reset(Answer):
    """An RST before any byte of an answer."""

    async def give(self, wire: Wire) -> None:
        wire.reset()


@dataclass(frozen=True)
class CloseWithoutByte(Answer):
    """A FIN before any byte of an answer."""

    async def give(self, wire: Wire) -> None:
        pass


@dataclass(frozen=True)
class NotHttp(Answer):
    """Bytes that are no HTTP: the beginning of a TLS alert, a NUL and some text, say."""

    data: bytes = b"\x15\x03\x01\x00\x02\x02\x46\x00 this is no HTTP\r\n\r\n"

    async def give(self, wire: Wire) -> None:
        await wire.send(self.data)


@dataclass(frozen=True)
class CutHeaders(Answer):
    """A status line, then a header cut in the middle of its line, then FIN."""

    async def give(self, wire: Wire) -> None:
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: applica")


@dataclass(frozen=True)
class ShortBody(Answer):
    """A body that is `missing` bytes shorter than its Content-Length, then FIN."""

    body: str | bytes = '{"items":'
    missing: int = 100
    content_type: str = JSON

    async def give(self, wire: Wire) -> None:
        body = _bytes(self.body)
        await wire.head(
            200, {"Content-Type": self.content_type, "Content-Length": str(len(body) + self.missing)}
        )
        await wire.send(body)


@dataclass(frozen=True)
class CutChunked(Answer):
    """A chunked body that ends with FIN in place of its last chunk."""

    body: str | bytes = '{"items":'
    content_type: str = JSON

    async def give(self, wire: Wire) -> None:
        await wire.head(200, {"Content-Type": self.content_type, "Transfer-Encoding": "chunked"})
        await wire.send(_chunk(_bytes(self.body)))


@dataclass(frozen=True)
class BadGzip(Answer):
    """A body of the announced length that calls itself gzip and does not unpack."""

    body: bytes = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + b"\xff" * 40
    content_type: str = JSON

    async def give(self, wire: Wire) -> None:
        headers = {"Content-Encoding": "gzip"}
        await Reply(body=self.body, headers=headers, content_type=self.content_type).give(wire)


@dataclass(frozen=True)
class CutGzip(Answer):
    """A body packed by gzip of which a third is missing, and a Content-Length that fits what comes."""

    body: str | bytes = '{"items": []}'
    content_type: str = JSON

    async def give(self, wire: Wire) -> None:
        packed = gzip.compress(_bytes(self.body))
        headers = {"Content-Encoding": "gzip"}
        await Reply(body=packed[: -len(packed) // 3], headers=headers, content_type=self.content_type).give(
            wire
        )


@dataclass(frozen=True)
class NeverAnswer(Answer):
    """Nothing, on an open connection."""

    async def give(self, wire: Wire) -> None:
        await wire.silence()


@dataclass(frozen=True)
class HeadersThenSilence(Answer):
    """Whole headers that announce a body, and nothing of it, on an open connection."""

    status: int = 200
    length: int = 100
    content_type: str = JSON

    async def give(self, wire: Wire) -> None:
        headers = {"Content-Type": self.content_type, "Content-Length": str(self.length)}
        await wire.head(self.status, headers)
        await wire.silence()


@dataclass(frozen=True)
class StallMidBody(Answer):
    """A body of which no more than a part comes, on an open connection.

    Its length is announced as `missing` bytes more; with `missing=None` it is chunked and
    announces none.
    """

    part: str | bytes = '{"items":'
    missing: int | None = 100
    content_type: str = JSON

    async def give(self, wire: Wire) -> None:
        part = _bytes(self.part)
        if self.missing is None:
            await wire.head(200, {"Content-Type": self.content_type, "Transfer-Encoding": "chunked"})
            await wire.send(_chunk(part))
        else:
            length = str(len(part) + self.missing)
            await wire.head(200, {"Content-Type": self.content_type, "Content-Length": length})
            await wire.send(part)
        await wire.silence()


@dataclass(frozen=True)
class EventStream(Answer):
    """A server-sent event stream that opens, sends its events, and stays open, ends or is cut.

    The events wait for the `gate`, the headers do not.
    """

    events: tuple[str, ...] = ()
    gate: asyncio.Event | None = None
    then: Literal["stay", "end", "cut"] = "stay"
    headers: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    async def give(self, wire: Wire) -> None:
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", **self.headers}
        await wire.head(200, headers)
        if self.gate is not None:
            await self.gate.wait()
        for event in self.events:
            await wire.send("".join(f"data: {line}\n" for line in event.split("\n")).encode() + b"\n")
        if self.then == "stay":
            await wire.silence()
        elif self.then == "cut":
            wire.reset()


@dataclass(frozen=True)
class After(Answer):
    """Another answer, so many seconds later or once the gate is open."""

    wait_for: float | asyncio.Event
    answer: Answer

    async def give(self, wire: Wire) -> None:
        if isinstance(self.wait_for, asyncio.Event):
            await self.wait_for.wait()
        else:
            await asyncio.sleep(self.wait_for)
        await self.answer.give(wire)


def sequence(*routes: Route) -> Callable[[Request], Answer]:
    """One after another, a request each; the last one is repeated. Each sequence counts for itself."""
    if not routes:
        raise ValueError("A sequence needs at least one answer.")
    left = list(routes)

    def next_answer(request: Request) -> Answer:
        return resolve(left.pop(0) if len(left) > 1 else left[0], request)

    return next_answer


def resolve(route: Route, request: Request) -> Answer:
    return route if isinstance(route, Answer) else route(request)


def _bytes(body: str | bytes) -> bytes:
    return body.encode() if isinstance(body, str) else body


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
