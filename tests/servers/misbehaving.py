"""An HTTP server on a loopback port that does with each request what its routes say, honest or not."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Self

from tests.servers.answers import Answer, Reply, Request, Route, Wire, resolve

HOST = "127.0.0.1"

Routes = Mapping[str | tuple[str, str], Route]


class MisbehavingServer:
    """`async with MisbehavingServer({"/api/cart": Reset()}) as server:` serves at `server.url`.

    A route is found by (method, path) first, then by path; the query counts for nothing,
    and HEAD finds what GET does. A path without a route is 404 (the icon that browsers ask
    for: 204). `routes` may be changed while the server runs.

    Every answer closes its connection, since Chromium silently re-sends what failed on one
    that it used before; with `keep_alive` whole answers leave theirs open. With `tls` it
    speaks HTTPS.
    """

    def __init__(
        self, routes: Routes, *, keep_alive: bool = False, tls: ssl.SSLContext | None = None
    ) -> None:
        self.routes: dict[str | tuple[str, str], Route] = dict(routes)
        self.requests: list[Request] = []
        self._keep_alive = keep_alive
        self._tls = tls
        self._url: str | None = None
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._errors: list[Exception] = []
        self._arrived = asyncio.Condition()
        self._leaving = False

    @property
    def url(self) -> str:
        """Where the server is or was, without a slash at the end."""
        if self._url is None:
            raise RuntimeError("The server has not been started: use `async with`.")
        return self._url

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, HOST, 0, ssl=self._tls)
        scheme = "http" if self._tls is None else "https"
        self._url = "{}://{}:{}".format(scheme, *self._server.sockets[0].getsockname())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Hang up on everybody. What a route raised is raised here, unless the test failed by itself."""
        assert self._server is not None
        self._leaving = True
        await self._stop_accepting()
        left = dict(self._open)
        for task, writer in left.items():
            task.cancel()
            writer.transport.abort()
        await asyncio.gather(*left, return_exceptions=True)
        await self._server.wait_closed()
        if self._errors and error is None:
            raise self._errors[0]

    async def _stop_accepting(self) -> None:
        """asyncio forgets a connection that it accepted just before close(), so this comes in two steps."""
        assert self._server is not None
        for listener in self._server.sockets:
            asyncio.get_running_loop().remove_reader(listener.fileno())
        await asyncio.sleep(0)
        self._server.close()

    def seen(self, path: str) -> list[Request]:
        """The requests for this path so far, in the order of their coming."""
        return [request for request in self.requests if request.path == path]

    async def arrived(self, path: str, count: int = 1) -> list[Request]:
        """Wait until so many requests for this path have come."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.seen(path)) >= count)
        return self.seen(path)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._leaving:  # accepted just before, and told only now
            writer.transport.abort()
            return
        task = asyncio.create_task(self._serve(reader, writer))
        self._open[task] = writer
        task.add_done_callback(self._open.pop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass  # the client went away, or trusts nobody
        except Exception as error:
            self._errors.append(error)
        finally:
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; says whether the connection can take another one."""
        request = await _read_request(reader)
        async with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
        wire = Wire(request, reader, writer, keep_alive=self._keep_alive)
        await self._answer(request).give(wire)
        return wire.reusable

    def _answer(self, request: Request) -> Answer:
        method = "GET" if request.method == "HEAD" else request.method
        for key in ((request.method, request.path), (method, request.path), request.path):
            if key in self.routes:
                return resolve(self.routes[key], request)
        if request.path == "/favicon.ico":
            return Reply(204)
        return Reply(404, f"Nothing is at {request.path}.")


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    path, _, query = target.partition("?")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method=method, path=path, query=query, headers=headers, body=body)


@contextlib.contextmanager
def refusing_url() -> Iterator[str]:
    """The URL of a port that refuses connections: taken, so that nobody else gets it, and not listened on."""
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        yield "http://{}:{}".format(*taken.getsockname())
