"""A dashboard: figures by fetch, a live price by WebSocket, headlines by event stream.

Each visitor sees the price rise from 100.00 to 104.00 within half a second, and then rest there. The holding
is 12 shares.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import ClassVar

from target_apps.messages import Request, Response, Upgrade, as_json, page, script, stylesheet
from target_apps.server import AppServer, Routes
from target_apps.websocket import WebSocket

__all__ = ["FIGURES", "HEADLINES", "PRICES", "DashboardServer"]

FIGURES = {"visitors": 1600, "orders": 128, "revenue": 4301.5}
PRICES = (100.0, 101.5, 101.0, 102.5, 104.0)
HEADLINES = ("Markets open higher", "Harbour reopens", "Rain until Friday")

STEP = 0.1
"""Seconds between two messages at the beginning."""

REST = 1.0
"""Seconds between two afterwards."""


class DashboardServer(AppServer):
    """`with DashboardServer() as server:` serves the dashboard."""

    BUGS: ClassVar = {
        "wrong-rate": "The conversion is visitors by orders: 1250.0 % for 8.0 %.",
        "price-not-shown": "The socket delivers prices, and none is shown.",
        "worth-is-stale": "The holding's worth stays at the first price.",
        "news-not-shown": "The stream delivers headlines, and none is shown.",
        "script-throws": "Nothing is shown at all: the page's own script throws at once.",
    }

    def routes(self) -> Routes:
        document, style, code = page(__name__, bug=self.bug), stylesheet(), script(__name__)
        return {
            ("GET", "/"): lambda request: document,
            ("GET", "/looks.css"): lambda request: style,
            ("GET", "/app.js"): lambda request: code,
            ("GET", "/api/figures"): lambda request: as_json(FIGURES),
            ("GET", "/live"): lambda request: Upgrade(talk=_tell_prices),
            ("GET", "/news"): self._news,
        }

    def _news(self, request: Request) -> Response:
        return Response(content_type="text/event-stream", stream=self._events())

    def _events(self) -> Iterator[bytes]:
        for number, headline in enumerate(HEADLINES, start=1):
            yield f"id: {number}\nevent: headline\ndata: {headline}\n\n".encode()
            self.pause(STEP)
        while self.pause(REST):
            yield b": still here\n\n"


def _tell_prices(live: WebSocket) -> None:
    for price in PRICES:
        live.send(json.dumps({"type": "price", "price": price}))
        live.open_after(STEP)
    while live.open_after(REST):
        live.send(json.dumps({"type": "still here"}))
