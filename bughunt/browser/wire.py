"""What only the browser's own protocol tells: bytes received, the protocol spoken, the order of events,
what CORS keeps from the page, and the messages of event streams.

There is no id that Playwright and the protocol share: entries are joined by method, URL and order. Where
the two saw different numbers of a request (a worker's, say), nothing is claimed about it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

__all__ = ["Wire", "WireEntry"]

RequestKey = tuple[str, str]
"""Method and URL, without the fragment."""


class WireEntry:
    """One request as the browser's own protocol told of it."""

    __slots__ = (
        *("asked", "known", "protocol", "received", "messages"),
        *("hidden_status", "cors_error", "preflight_status"),
    )

    def __init__(self, asked: float) -> None:
        self.asked = asked
        self.known: float | None = None
        self.received = 0
        self.messages = 0
        self.protocol: str | None = None
        self.hidden_status: int | None = None
        self.cors_error: str | None = None
        self.preflight_status: int | None = None


class Wire:
    """Listens to one page's `Network` domain from before its first navigation."""

    def __init__(self) -> None:
        self._by_key: defaultdict[RequestKey, list[WireEntry]] = defaultdict(list)
        self._open: dict[str, WireEntry] = {}
        self._preflights: dict[str, str] = {}
        """The preflight's id, and that of the request which it was for."""
        self._preflight_answers: dict[str, int] = {}
        self._handshakes: dict[str, dict[str, int | None]] = {}
        """Of each WebSocket's URL: the status of each handshake, by its id; None: not answered."""

    @classmethod
    async def tap(cls, context: BrowserContext, page: Page) -> Wire:
        """Attach to a page. Where that fails (the page is gone), the tap stays silent."""
        wire = cls()
        try:
            session = await context.new_cdp_session(page)
            session.on("Network.requestWillBeSent", wire._sent)
            session.on("Network.responseReceived", wire._responded)
            session.on("Network.responseReceivedExtraInfo", wire._responded_in_secret)
            session.on("Network.dataReceived", wire._data)
            session.on("Network.loadingFailed", wire._failed)
            session.on("Network.eventSourceMessageReceived", wire._message)
            session.on("Network.webSocketCreated", wire._socket_created)
            session.on("Network.webSocketHandshakeResponseReceived", wire._socket_answered)
            await session.send("Network.enable")
        except PlaywrightError:
            return cls()
        return wire

    def entries(self, key: RequestKey) -> list[WireEntry]:
        """What was seen of a request, in the order in which it was sent."""
        return self._by_key.get(key, [])

    def handshakes(self, url: str) -> list[int | None]:
        """How the handshakes of the WebSockets to one URL were answered, in the order of their asking."""
        return list(self._handshakes.get(url, {}).values())

    # Any in what follows: the protocol's own JSON

    def _sent(self, event: dict[str, Any]) -> None:
        request, number = event["request"], event["requestId"]
        if event["initiator"]["type"] == "preflight":
            self._preflights[number] = event["initiator"].get("requestId", "")
            return
        redirected = self._open.get(number)
        asked = redirected.asked if redirected is not None else event["timestamp"]
        entry = self._open[number] = WireEntry(asked)
        entry.preflight_status = self._preflight_answers.get(number)
        self._by_key[request["method"], request["url"]].append(entry)

    def _responded(self, event: dict[str, Any]) -> None:
        number, response = event["requestId"], event["response"]
        if number in self._preflights:
            self._preflight_answered(self._preflights[number], response["status"])
            return
        entry = self._open.get(number)
        if entry is not None:
            entry.protocol = response.get("protocol")
            entry.known = event["timestamp"]

    def _preflight_answered(self, number: str, status: int) -> None:
        """It is told of before or after the request that it was for."""
        self._preflight_answers[number] = status
        if (entry := self._open.get(number)) is not None:
            entry.preflight_status = status

    def _responded_in_secret(self, event: dict[str, Any]) -> None:
        entry = self._open.get(event["requestId"])
        if entry is not None:
            entry.hidden_status = event["statusCode"]

    def _failed(self, event: dict[str, Any]) -> None:
        entry = self._open.get(event["requestId"])
        if entry is None:
            return
        entry.known = event["timestamp"]
        refused = event.get("corsErrorStatus")
        if refused is not None:
            entry.cors_error = refused["corsError"]

    def _message(self, event: dict[str, Any]) -> None:
        entry = self._open.get(event["requestId"])
        if entry is not None:
            entry.messages += 1

    def _socket_created(self, event: dict[str, Any]) -> None:
        self._handshakes.setdefault(event["url"], {})[event["requestId"]] = None

    def _socket_answered(self, event: dict[str, Any]) -> None:
        for answers in self._handshakes.values():
            if event["requestId"] in answers:
                answers[event["requestId"]] = event["response"]["status"]

    def _data(self, event: dict[str, Any]) -> None:
        entry = self._open.get(event["requestId"])
        if entry is not None:
            entry.received += event["dataLength"]
