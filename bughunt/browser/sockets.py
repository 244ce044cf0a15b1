"""The WebSockets of a context's pages: what was sent and came, and how each ended.

Playwright tells of frames and of the end, but neither of the close code nor of who closed: a script in each
page remembers those, in a proxy around the constructor that pages cannot tell from the real one.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, WebSocket

from bughunt.browser.steps import StepLog
from bughunt.verdict.record import Socket

__all__ = ["Sockets"]

#: Runs in each document before its own scripts: remembers how its sockets close, where no page looks for it.
NOTES_SCRIPT = """
(() => {
  if (!window.WebSocket) return;
  const closes = [], closedByPage = new WeakSet();
  Object.defineProperty(window, Symbol.for("bughunt.closes"), { value: closes });
  WebSocket.prototype.close = new Proxy(WebSocket.prototype.close, {
    apply(target, socket, given) {
      closedByPage.add(socket);
      return Reflect.apply(target, socket, given);
    },
  });
  window.WebSocket = new Proxy(WebSocket, {
    construct(target, given, as) {
      const socket = Reflect.construct(target, given, as);
      const note = ({ code }) => closes.push([socket.url, code, closedByPage.has(socket)]);
      socket.addEventListener("close", note);
      return socket;
    },
  });
  WebSocket.prototype.constructor = WebSocket;
})();
"""

_READ_NOTES = "() => window[Symbol.for('bughunt.closes')] ?? []"

#: Seconds that a page may take to hand over what it remembers.
PATIENCE = 2.0


class Sockets:
    """Listens to the WebSockets of pages."""

    def __init__(self, log: StepLog) -> None:
        self._log = log
        self._all: list[_LiveSocket] = []

    def listen(self, page: Page, number: int) -> None:
        """Listen to the sockets of one page, the how manieth of its context."""
        page.on(
            "websocket", lambda socket: self._all.append(_LiveSocket(socket, page.url, number, self._log))
        )

    def leave(self, page: int, *, by: float | None = None) -> None:
        """The page was closed, or went to another document: no event tells of the end of its sockets."""
        for live in self._all:
            if live.page == page and live.closed is None and (by is None or live.opened_at < by):
                live.left = True

    def freeze(self, handshakes: Callable[[str], Sequence[int | None]]) -> tuple[Socket, ...]:
        """All sockets as they stand now; `handshakes` tells how those to one URL were answered, in order."""
        answered: dict[int, bool] = {}
        for url in {live.url for live in self._all}:
            same = [number for number, live in enumerate(self._all) if live.url == url]
            known = handshakes(url)
            if len(known) == len(same):  # else a popup's are among them, of which the protocol does not tell
                answered |= {number: status is not None for number, status in zip(same, known, strict=True)}
        return tuple(live.frozen(number, answered.get(number)) for number, live in enumerate(self._all))

    async def read_notes(self, page: Page) -> None:
        """Ask the page how its sockets closed, if any did."""
        if not any(live.closed is not None and not live.left for live in self._all):
            return
        for frame in page.frames:
            with contextlib.suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    self._take_down(await frame.evaluate(_READ_NOTES))

    def _take_down(self, notes: object) -> None:
        """The page could have written into them whatever it likes."""
        for note in notes if isinstance(notes, list) else ():
            match note:
                case [str(url), int(code), bool(closed_by_page)]:
                    self._note(url, code, closed_by_page=closed_by_page)

    def _note(self, url: str, code: int, *, closed_by_page: bool) -> None:
        """Of sockets to one URL the first that closed is the first that was noted."""
        unknown = (
            x for x in self._all if x.url == url and x.code is None and x.closed is not None and not x.left
        )
        live = next(unknown, None)
        if live is not None:
            live.code, live.closed_by_page = code, closed_by_page


class _LiveSocket:
    """A socket while it may still change."""

    def __init__(self, socket: WebSocket, frame_url: str, page: int, log: StepLog) -> None:
        self.url = socket.url
        self.page = page
        self.opened_at = log.now()
        self.closed: float | None = None
        self.code: int | None = None
        self.closed_by_page = False
        self.left = False
        self._frame_url = frame_url
        self._log = log
        self._failure: str | None = None
        self._frames = {"sent": 0, "received": 0}
        self._last: dict[str, float] = {}
        socket.on("framesent", lambda _: self._count("sent"))
        socket.on("framereceived", lambda _: self._count("received"))
        socket.on("socketerror", self._on_error)
        socket.on("close", self._on_close)

    def frozen(self, number: int, answered: bool | None) -> Socket:
        """As it stands now."""
        return Socket(
            id=number,
            url=self.url,
            opened_at=self.opened_at,
            frame_url=self._frame_url,
            answered=answered,
            sent=self._frames["sent"],
            last_sent=self._last.get("sent"),
            received=self._frames["received"],
            last_received=self._last.get("received"),
            closed=self.closed,
            code=self.code,
            failure=self._failure,
            closed_by_page=self.closed_by_page,
            left=self.left,
            page=self.page,
        )

    def _count(self, way: str) -> None:
        self._frames[way] += 1
        self._last[way] = self._log.now()

    def _on_close(self, socket: WebSocket) -> None:
        self.closed = self._log.now()

    def _on_error(self, error: str) -> None:
        self._failure = self._failure or error
