"""The dashboard's figures, its socket and its stream deliver the same to everybody who comes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from wsproto.events import AcceptConnection, TextMessage

from target_apps.dashboard import FIGURES, HEADLINES, PRICES, DashboardServer
from tests.target_apps.asking import client_of
from tests.target_apps.test_server import connected


@pytest.fixture(scope="module")
def dashboard() -> Iterator[DashboardServer]:
    with DashboardServer() as server:
        yield server


def test_the_figures_come_as_json(dashboard: DashboardServer) -> None:
    with client_of(dashboard) as client:
        assert client.get("/api/figures").json == FIGURES


def test_each_socket_tells_all_prices_and_then_that_it_is_still_here(dashboard: DashboardServer) -> None:
    with connected(dashboard, "/live") as live:
        events = live.events()
        assert isinstance(next(events), AcceptConnection)
        told = [
            json.loads(e.data) for e, _ in zip(events, range(6), strict=False) if isinstance(e, TextMessage)
        ]
    assert [message.get("price") for message in told] == [*PRICES, None]
    assert told[-1] == {"type": "still here"}


def test_each_stream_tells_all_headlines_as_events(dashboard: DashboardServer) -> None:
    with client_of(dashboard) as client:
        client.connection.request("GET", "/news")
        with client.connection.getresponse() as stream:
            assert stream.headers["Content-Type"] == "text/event-stream"
            lines = [stream.readline().decode().strip() for _ in range(4 * len(HEADLINES))]
            assert stream.readline() == b": still here\n"
    assert [line.removeprefix("data: ") for line in lines if line.startswith("data")] == list(HEADLINES)
    assert lines.count("event: headline") == len(HEADLINES)
