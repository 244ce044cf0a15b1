"""What only the browser's own protocol tells: bytes received, the protocol spoken, the order of events.

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

    __slots__ = ("asked", "known", "protocol", "received")

    def __init__(self, asked: float) -> None:
        self.asked = asked
        self.known: float | None = None
        self.received = 0
        self.protocol: str | None = None


class Wire:
    """Listens to one page's `Network` domain from before its first navigation."""

    def __init__(self) -> None:
        self._by_key: defaultdict[RequestKey, list[WireEntry]] = defaultdict(list)
        self._open: dict[str, WireEntry] = {}

    @classmethod
    async def tap(cls, context: BrowserContext, page: Page) -> Wire:
        """Attach to a page. Where that fails (the page is gone), the tap stays silent."""
        wire = cls()
        try:
            session = await context.new_cdp_session(page)
            session.on("Network.requestWillBeSent", wire._sent)
            session.on("Network.responseReceived", wire._responded)
            session.on("Network.dataReceived", wire._data)
            session.on("Network.loadingFailed", wire._failed)
            await session.send("Network.enable")
        except PlaywrightError:
            return cls()
        return wire

    def entries(self, key: RequestKey) -> list[WireEntry]:
        """What was seen of a request, in the order in which it was sent."""
        return self._by_key.get(key, [])

    def _sent(self, event: dict[str, Any]) -> None:  # Any: the protocol's own JSON
        request = event["request"]
        redirected = self._open.get(event["requestId"])
        asked = redirected.asked if redirected is not None else event["timestamp"]
        entry = self._open[event["requestId"]] = WireEntry(asked)
        self._by_key[request["method"], request["url"]].append(entry)

    def _responded(self, event: dict[str, Any]) -> None:
        entry = self._open.get(event["requestId"])
        if entry is not None:
            entry.protocol = event["response"].get("protocol")
            entry.known = event["timestamp"]

    def _failed(self, event: dict[str, Any]) -> None:
        entry = self._open.get(event["requestId"])
        if entry is not None:
            entry.known = event["timestamp"]

    def _data(self, event: dict[str, Any]) -> None:
        entry = self._open.get(event["requestId"])
        if entry is not None:
            entry.received += event["dataLength"]
