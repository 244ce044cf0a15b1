"""What the apps share: an HTTP/1.1 server on a loopback port, in a daemon thread."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import parse_qs, urlsplit

from target_apps.messages import Reply, Request, Response, Upgrade, as_json, html, plain
from target_apps.routing import Router, Routes
from target_apps.websocket import NoWebSocket, WebSocket

__all__ = ["HOST", "AppServer", "Request", "Response", "Routes", "as_json", "html", "plain"]

HOST = "127.0.0.1"
MAX_BODY = 1_000_000


class AppServer:
    """Serves `routes` for as long as it is entered, with one of the app's bugs or without.

    Endpoints run in several threads at once. Port 0 takes any free one; `url` has no slash at its end.
    """

    BUGS: ClassVar[Mapping[str, str]] = {}
    """The bugs that can be switched on: what is wrong, as a user would see it, by name."""

    def __init__(self, routes: Routes | None = None, *, port: int = 0, bug: str | None = None) -> None:
        """An app of its own overrides `routes`. Raises ValueError for a bug that the app has not."""
        if bug is not None and bug not in self.BUGS:
            raise ValueError(f"{type(self).__name__} has no bug {bug!r}: choose {', '.join(self.BUGS)}.")
        self.bug = bug
        self._routes = routes or {}
        self._port = port
        self._closing = threading.Event()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def routes(self) -> Routes:
        """What the app answers. Asked for once each time that the server is entered."""
        return self._routes

    @property
    def url(self) -> str:
        if self._server is None:
            raise RuntimeError("The server is not running: use it as a context manager.")
        return f"http://{HOST}:{self._server.server_port}"

    def pause(self, seconds: float) -> bool:
        """Wait in an endpoint; whether the server is to go on."""
        return not self._closing.wait(seconds)

    def finish(self, request: Request, reply: Reply) -> Reply:
        """What is really sent: a chance to add to every reply."""
        return reply

    def __enter__(self) -> Self:
        if self._server is not None:
            raise RuntimeError("The server is running already.")
        self._closing.clear()
        router = Router(self.routes())
        self._server = _Server(lambda request: self.finish(request, router.answer(request)), self._port)
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.05},  # how long leaving may take
            name=type(self).__name__,
            daemon=True,
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is None or self._thread is None:
            return
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server = self._thread = None


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, answer: Callable[[Request], Reply], port: int) -> None:
        self.answer = answer
        self._open: dict[socket.socket, threading.Thread] = {}
        self._lock = threading.Lock()
        super().__init__((HOST, port), _Handler)

    def server_bind(self) -> None:
        # HTTPServer would look up the host's name here, which takes long where there is no resolver.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    # Any in what follows: the base class's types for these are private.

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        with self._lock:
            self._open[request] = thread
        thread.start()

    def close_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().close_request(request)

    def server_close(self) -> None:
        """Hang up on every client, and wait until all threads have noticed."""
        super().server_close()
        with self._lock:
            left = dict(self._open)
        for connection in left:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in left.values():
            thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if isinstance(sys.exception(), ConnectionError):
            return  # the client went away, as clients do
        super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "target-app"
    sys_version = ""
    wbufsize = -1  # headers and body leave in one write
    disable_nagle_algorithm = True
    server: _Server
    bodiless: ClassVar = {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}

    def serve(self) -> None:
        body = self._read_body()
        if body is None:
            self.close_connection = True
            self._send(
                plain("The body's length is missing, wrong or too large.", status=HTTPStatus.BAD_REQUEST)
            )
            return
        reply = self.server.answer(self._request(body))
        if isinstance(reply, Upgrade):
            self._upgrade(reply)
        else:
            self._send(reply)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = serve  # noqa: N815  # the base class names them so

    def _request(self, body: bytes) -> Request:
        parts = urlsplit(self.path)
        return Request(
            method="GET" if self.command == "HEAD" else self.command,
            path=parts.path,
            query=parse_qs(parts.query, keep_blank_values=True),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
        )

    def _read_body(self) -> bytes | None:
        if "Transfer-Encoding" in self.headers:
            return None
        length = self.headers.get("Content-Length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > MAX_BODY:
            return None
        body = self.rfile.read(int(length))
        return body if len(body) == int(length) else None

    def _upgrade(self, upgrade: Upgrade) -> None:
        self.close_connection = True
        try:
            opened = WebSocket(self.connection, path=self.path, headers=self.headers.items())
        except NoWebSocket as wrong:
            self._send(plain(f"{self.path} is a WebSocket: {wrong}", status=HTTPStatus.UPGRADE_REQUIRED))
            return
        upgrade.talk(opened)
        opened.close()

    def _send(self, response: Response) -> None:
        if response.stream is not None:
            self.close_connection = True  # its end is the body's end
        self.send_response(response.status)
        for name, value in {"Cache-Control": "no-store", **response.headers}.items():
            self.send_header(name, value)
        if response.status not in self.bodiless:
            self.send_header("Content-Type", response.content_type)
            if response.stream is None:
                self.send_header("Content-Length", str(len(response.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD" or response.status in self.bodiless:
            return
        for part in [response.body] if response.stream is None else response.stream:
            self.wfile.write(part)
            self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it so
        pass
