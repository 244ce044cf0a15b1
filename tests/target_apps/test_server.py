"""What the apps share answers as HTTP says: paths with parameters, streams and WebSockets."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Event, Ping, Pong, Request, TextMessage

from target_apps.messages import Response, Upgrade, as_json
from target_apps.server import AppServer, Routes
from target_apps.websocket import WebSocket
from tests.target_apps.asking import Client, client_of


class SocketClient:
    """The client's end of a WebSocket."""

    def __init__(self, server: AppServer, path: str) -> None:
        host, port = server.url.removeprefix("http://").split(":")
        self.connection = socket.create_connection((host, int(port)), timeout=5)
        self.wire = WSConnection(ConnectionType.CLIENT)
        self.send(Request(host=host, target=path))

    def send(self, event: Event) -> None:
        self.connection.sendall(self.wire.send(event))

    def events(self) -> Iterator[Event]:
        """What comes, to the end of the connection."""
        while data := self.connection.recv(65536):
            self.wire.receive_data(data)
            yield from self.wire.events()


@contextmanager
def connected(server: AppServer, path: str) -> Iterator[SocketClient]:
    client = SocketClient(server, path)
    yield client
    client.connection.close()


def _three(live: WebSocket) -> None:
    for text in ("one", "two", "three"):
        live.send(text)


def _patient(live: WebSocket) -> None:
    while live.open_after(5):
        pass


class Sample(AppServer):
    """Some of everything."""

    def routes(self) -> Routes:
        return {
            ("GET", "/things/{thing}"): lambda request: as_json(dict(request.parameters)),
            ("DELETE", "/things/{thing}"): lambda request: Response(status=204),
            ("GET", "/things/{thing}/parts/{part}"): lambda request: as_json(dict(request.parameters)),
            ("POST", "/sent"): lambda request: as_json(dict(request.sent)),
            ("GET", "/cookies"): lambda request: as_json(dict(request.cookies)),
            ("GET", "/stream"): lambda request: Response(
                content_type="text/event-stream", stream=self._parts()
            ),
            ("GET", "/endless"): lambda request: Response(stream=self._endless()),
            ("GET", "/three"): lambda request: Upgrade(talk=_three),
            ("GET", "/patient"): lambda request: Upgrade(talk=_patient),
        }

    def _parts(self) -> Iterator[bytes]:
        yield b"data: one\n\n"
        yield b"data: two\n\n"

    def _endless(self) -> Iterator[bytes]:
        yield b"first"
        while self.pause(60):
            pass


@pytest.fixture(scope="module")
def sample() -> Iterator[Sample]:
    with Sample() as server:
        yield server


@pytest.fixture
def client(sample: Sample) -> Iterator[Client]:
    with client_of(sample) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("/things/a", {"thing": "a"}),
        ("/things/a%20b", {"thing": "a b"}),
        ("/things/a.b/parts/7?q=1", {"thing": "a.b", "part": "7"}),
    ],
)
def test_an_endpoint_gets_the_named_segments_of_its_path(
    client: Client, path: str, parameters: dict[str, str]
) -> None:
    assert client.get(path).json == parameters


@pytest.mark.parametrize("path", ["/things/", "/things", "/things/a/b", "/thingsXa"])
def test_a_named_segment_is_exactly_one(client: Client, path: str) -> None:
    assert client.get(path).status == 404


def test_a_path_with_parameters_names_the_methods_that_it_takes(client: Client) -> None:
    answer = client("PUT", "/things/a")
    assert (answer.status, answer.headers["Allow"]) == (405, "DELETE, GET")


def test_a_body_that_is_no_json_object_counts_as_an_empty_one(client: Client) -> None:
    assert client("POST", "/sent", {"a": 1}).json == {"a": 1}
    assert client("POST", "/sent", [1]).json == {}
    assert client("POST", "/sent").json == {}


def test_cookies_are_read_by_name(client: Client) -> None:
    assert client.get("/cookies", cookie="a=1; b=two").json == {"a": "1", "b": "two"}
    assert client.get("/cookies").json == {}


def test_a_stream_has_no_length_and_ends_with_its_connection(client: Client) -> None:
    answer = client.get("/stream")
    assert answer.headers["Content-Length"] is None
    assert answer.headers["Connection"] == "close"
    assert answer.body == b"data: one\n\ndata: two\n\n"


def test_leaving_ends_streams_and_sockets_that_are_still_open() -> None:
    before = set(threading.enumerate())
    with Sample() as server, connected(server, "/patient") as live, client_of(server) as client:
        assert isinstance(next(live.events()), AcceptConnection)
        client.connection.request("GET", "/endless")
        with client.connection.getresponse() as stream:
            assert stream.read(5) == b"first"
            server.__exit__(None, None, None)
            assert stream.read() == b""
        assert set(threading.enumerate()) <= before


def test_a_socket_sends_its_texts_and_says_goodbye(sample: Sample) -> None:
    with connected(sample, "/three") as live:
        accepted, *texts, goodbye = list(live.events())[:5]
    assert isinstance(accepted, AcceptConnection)
    assert [text.data for text in texts if isinstance(text, TextMessage)] == ["one", "two", "three"]
    assert isinstance(goodbye, CloseConnection)
    assert goodbye.code == 1000


def test_a_socket_answers_pings_and_the_clients_goodbye(sample: Sample) -> None:
    with connected(sample, "/patient") as live:
        events = live.events()
        assert isinstance(next(events), AcceptConnection)
        live.send(Ping(payload=b"there?"))
        answer = next(events)
        assert isinstance(answer, Pong)
        assert answer.payload == b"there?"
        live.send(CloseConnection(code=1000))
        assert [type(event) for event in events] == [CloseConnection]


def test_a_socket_that_is_asked_for_as_a_page_says_what_is_missing(client: Client) -> None:
    answer = client.get("/three")
    assert answer.status == 426
    assert "Connection: Upgrade" in answer.text
