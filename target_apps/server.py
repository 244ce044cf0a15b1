"""What the apps share: an HTTP/1.1 server on a loopback port, in a daemon thread."""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import parse_qs, urlsplit

HOST = "127.0.0.1"
MAX_BODY = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Request:
    """What an app is asked. A HEAD arrives as the GET that it stands for."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Response:
    """What an app answers; Content-Length is added on the way."""

    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)


Endpoint = Callable[[Request], Response]
Routes = Mapping[tuple[str, str], Endpoint]


def html(text: str, *, status: int = HTTPStatus.OK) -> Response:
    return Response(body=text.encode(), content_type="text/html; charset=utf-8", status=status)


def as_json(value: object, *, status: int = HTTPStatus.OK) -> Response:
    return Response(
        body=json.dumps(value).encode(), content_type="application/json; charset=utf-8", status=status
    )


def plain(text: str, *, status: int) -> Response:
    return Response(body=text.encode(), status=status)


class AppServer:
    """Serves `routes`, {(method, path): endpoint}, for as long as it is entered.

    Endpoints run in several threads at once. Port 0 takes any free one; `url` has no
    slash at its end.
    """

    def __init__(self, routes: Routes, *, port: int = 0) -> None:
        self._routes = routes
        self._port = port
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        if self._server is None:
            raise RuntimeError("The server is not running: use it as a context manager.")
        return f"http://{HOST}:{self._server.server_port}"

    def __enter__(self) -> Self:
        if self._server is not None:
            raise RuntimeError("The server is running already.")
        self._server = _Server(self._routes, self._port)
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
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server = self._thread = None


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, routes: Routes, port: int) -> None:
        self.routes = routes
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
        parts = urlsplit(self.path)
        self._send(
            self._answer(
                Request(
                    method="GET" if self.command == "HEAD" else self.command,
                    path=parts.path,
                    query=parse_qs(parts.query, keep_blank_values=True),
                    headers={name.lower(): value for name, value in self.headers.items()},
                    body=body,
                )
            )
        )

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = serve  # noqa: N815  # the base class names them so

    def _read_body(self) -> bytes | None:
        if "Transfer-Encoding" in self.headers:
            return None
        length = self.headers.get("Content-Length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > MAX_BODY:
            return None
        body = self.rfile.read(int(length))
        return body if len(body) == int(length) else None

    def _answer(self, request: Request) -> Response:
        routes = self.server.routes
        if endpoint := routes.get((request.method, request.path)):
            return endpoint(request)
        allowed = sorted(method for method, path in routes if path == request.path)
        if not allowed:
            return plain(f"Nothing is at {request.path}.", status=HTTPStatus.NOT_FOUND)
        text = f"{request.path} takes {', '.join(allowed)}."
        return Response(
            body=text.encode(), status=HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(allowed)}
        )

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in {"Cache-Control": "no-store", **response.headers}.items():
            self.send_header(name, value)
        if response.status not in self.bodiless:
            self.send_header("Content-Type", response.content_type)
            self.send_header("Content-Length", str(len(response.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD" and response.status not in self.bodiless:
            self.wfile.write(response.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it so
        pass


def main(app: Callable[[int], AppServer], prog: str) -> int:
    """Serve an app from the command line until Ctrl-C; what is returned is the exit code."""
    parser = argparse.ArgumentParser(prog=prog, description=f"Serve {prog} on {HOST} until Ctrl-C.")
    parser.add_argument("--port", type=int, default=0, help="the port to listen on (default: any free one)")
    port = parser.parse_args().port
    try:
        with app(port) as server, contextlib.suppress(KeyboardInterrupt):
            sys.stdout.write(f"{server.url}\n")
            sys.stdout.flush()
            threading.Event().wait()
    except (OSError, OverflowError) as error:
        sys.stderr.write(f"Cannot listen on {HOST}:{port}: {error}. Choose another --port.\n")
        return 2
    return 0
