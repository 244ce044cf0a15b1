"""How the tests ask an app: plain HTTP over a real socket."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from target_apps.server import AppServer


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:  # Any: whatever JSON the app speaks
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass(frozen=True, kw_only=True)
class Client:
    """One connection to one origin."""

    connection: http.client.HTTPConnection

    def __call__(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Ask, with `body` as JSON; `idempotency_key="1"` is the header `Idempotency-Key`."""
        sent = None if body is None else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, path, body=sent, headers=named)
        response = self.connection.getresponse()
        return Answer(status=response.status, headers=response.headers, body=response.read())

    def get(self, path: str, **headers: str) -> Answer:
        return self("GET", path, **headers)


@contextmanager
def client_of(server: AppServer) -> Iterator[Client]:
    """A client of a running server."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=5)
    yield Client(connection=connection)
    connection.close()


@contextmanager
def serving(app: type[AppServer], bug: str | None = None) -> Iterator[Client]:
    """A client of an app that runs as long."""
    with app(bug=bug) as server, client_of(server) as client:
        yield client
