"""Records every exchange of a browser context, from before its first navigation.

Recording changes nothing that the page sees: it listens, and reads bodies only of what has finished.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from urllib.parse import urljoin

from playwright.async_api import BrowserContext, ConsoleMessage, Page, Request, Response, WebError
from playwright.async_api import Error as PlaywrightError

from bughunt.browser.bodies import json_text, read_body
from bughunt.browser.exchanges import LiveExchange
from bughunt.browser.requests import READ_TYPES, chain_of, key_of, what_was_sent
from bughunt.browser.sockets import NOTES_SCRIPT, Sockets
from bughunt.browser.steps import Asked, StepLog
from bughunt.browser.wire import RequestKey, Wire, WireEntry
from bughunt.health import Healthy
from bughunt.verdict.record import (
    UNKNOWN_FAILURE,
    ConsoleLine,
    Content,
    Crash,
    Exchange,
    FaultEffect,
    Hop,
    Socket,
)

__all__ = ["Recorder"]

#: Bytes of a body that are kept at most; longer ones have a digest only.
BODY_LIMIT = 1_000_000

#: Console lines that are kept at most: a page that logs in a loop must not fill the disk.
CONSOLE_LIMIT = 200


class Recorder:
    """Listens to one context; `changed` is set whenever an exchange begins, answers or ends."""

    def __init__(self, context: BrowserContext, log: StepLog, *, healthy: Healthy | None = None) -> None:
        self.exchanges: list[LiveExchange] = []
        self.console: list[ConsoleLine] = []
        self.crash: Crash | None = None
        self.crashed = asyncio.Event()
        self.changed = asyncio.Event()
        self.declared: set[int] = set()
        self.sockets = Sockets(log)
        self.broken_check: Exception | None = None
        """What `healthy=` raised, where it did."""
        self._healthy = healthy
        self._log = log
        self._wire: Wire | None = None
        self._pages: list[Page] = []
        self._by_request: dict[Request, LiveExchange] = {}
        self._asked: list[Exchange] = []
        context.on("request", self._on_request)
        context.on("response", self._on_response)
        context.on("requestfinished", self._on_finished)
        context.on("requestfailed", self._on_failed)
        context.on("page", self._on_page)
        context.on("console", self._on_console)
        context.on("weberror", self._on_error)

    async def tap(self, context: BrowserContext, page: Page) -> None:
        """Listen to the charter's own page through the browser's protocol too, and note how sockets end."""
        self._wire, _ = await asyncio.gather(Wire.tap(context, page), page.add_init_script(NOTES_SCRIPT))

    def note_fault(self, request: Request, spec: str, effect: FaultEffect) -> None:
        """A planned fault fired on this request."""
        live = self._by_request.get(request)
        if live is not None:
            live.fault, live.fault_effect = spec, effect

    def note_asked(self, asked: Asked, base_url: str) -> None:
        """The charter asked something by itself, past the page."""
        self._asked.append(
            Exchange(
                id=self._next_id(),
                method=asked.method,
                url=urljoin(base_url, asked.url),
                resource_type="api",
                started=asked.began,
                responded=None if asked.status is None else asked.ended,
                ended=asked.ended,
                status=asked.status,
                failure=asked.failure,
                finished=asked.status is not None,
                response_headers=asked.headers,
            )
        )

    def note_crash(self, what: str) -> None:
        """The renderer or the browser died."""
        if self.crash is None:
            self.crash = Crash(what=what, at=self._log.now())
        self.crashed.set()
        self._tell()

    async def bodies_read(self) -> None:
        """Wait for the bodies that are being read."""
        reading = [x.reading for x in self.exchanges if x.reading is not None and not x.reading.done()]
        if reading:
            await asyncio.wait(reading, timeout=5.0)

    def ask_health(self, live: LiveExchange) -> None:
        """What `healthy=` says of a declared answer; a predicate that raises is a charter that is broken."""
        if (
            self._healthy is None
            or live.healthy is not None
            or live.body is None
            or (live.status or 400) >= 400
        ):
            return
        try:
            live.healthy = bool(self._healthy(live.answer()))
        except Exception as error:  # noqa: BLE001 - the user's own function
            live.healthy = True
            self.broken_check = error

    async def read_documents(self) -> None:
        """Read the app's own documents where a page came in place of data: which of the two was it?"""
        if not any(x.known and x.known.content is Content.HTML for x in self.exchanges):
            return
        documents = [x for x in self.exchanges if x.main_document and x.finished and x.body is None]
        await asyncio.gather(*(self._read(x) for x in documents))

    def freeze(self) -> tuple[Exchange, ...]:
        """All exchanges as they stand now."""
        wire = self._joined()
        seen = [self._frozen(live, wire.get(live.id)) for live in self.exchanges]
        return tuple(sorted([*seen, *self._asked], key=lambda exchange: exchange.id))

    def freeze_sockets(self) -> tuple[Socket, ...]:
        """All WebSockets as they stand now."""
        return self.sockets.freeze(self._wire.handshakes if self._wire is not None else lambda url: ())

    def _next_id(self) -> int:
        return len(self.exchanges) + len(self._asked)

    # Listening

    def _on_request(self, request: Request) -> None:
        before = request.redirected_from
        live = self._by_request.get(before) if before is not None else None
        if live is None:
            live = LiveExchange(self._next_id(), request, self._log.now())
            self.exchanges.append(live)
            if request.is_navigation_request():
                live.navigation_of = self._log.acting()
        else:
            live.hops.append(Hop(url=live.request.url, status=live.status or 0))
            live.request, live.status, live.responded = request, None, None
            live.key = key_of(request)
        self._by_request[request] = live
        self._tell()

    def _on_response(self, response: Response) -> None:
        live = self._current(response.request)
        if live is not None:
            live.status, live.responded = response.status, self._log.now()
            live.response_headers = response.headers
            if live.main_document and response.status not in {204, 205}:
                self.sockets.leave(self._page_number(live.first), by=live.started)
            self._tell()

    def _on_finished(self, request: Request) -> None:
        live = self._current(request)
        if live is None or live.failure is not None or live.redirects:
            return
        live.finished, live.ended = True, self._log.now()
        # The wire tells of the first page only.
        unseen = live.main_document and self._page_number(request) != 0
        if request.resource_type in READ_TYPES or unseen:
            live.reading = asyncio.ensure_future(self._read(live))
        self._tell()

    def _on_failed(self, request: Request) -> None:
        live = self._current(request)
        if live is not None:
            live.failure, live.ended = request.failure or UNKNOWN_FAILURE, self._log.now()
            self._tell()

    def _on_page(self, page: Page) -> None:
        self._pages.append(page)
        self.sockets.listen(page, len(self._pages) - 1)
        page.on("crash", lambda _: self.note_crash("renderer"))
        page.on("close", self._on_close)

    def _on_close(self, page: Page) -> None:
        number = self._pages.index(page)
        for live in self.exchanges:
            if live.ended is None and self._page_number(live.first) == number:
                live.page_closed_at = self._log.now()
        self.sockets.leave(number)

    def _on_console(self, message: ConsoleMessage) -> None:
        self._keep(message.type, message.text)

    def _on_error(self, error: WebError) -> None:
        self._keep("pageerror", str(error.error))

    def _keep(self, kind: str, text: str) -> None:
        if len(self.console) < CONSOLE_LIMIT:
            self.console.append(ConsoleLine(kind=kind, text=text[:2000], at=self._log.now()))

    async def _read(self, live: LiveExchange) -> None:
        try:
            response = await live.request.response()
            live.body = await response.body() if response is not None else None
        except PlaywrightError:
            live.body = None  # the page has moved on; an unread body is no evidence either way
        if live.body is not None:
            live.known = read_body(live.body, live.response_headers.get("content-type", ""))
        self._tell()

    def _tell(self) -> None:
        self.changed.set()

    def _current(self, request: Request) -> LiveExchange | None:
        """The exchange of a request, unless a redirect has led it on."""
        live = self._by_request.get(request)
        return live if live is not None and live.request is request else None

    def _page_number(self, request: Request) -> int:
        try:
            page = request.frame.page
        except PlaywrightError:  # a service worker's request has no frame
            return 0
        return self._pages.index(page) if page in self._pages else 0

    # Freezing

    def _joined(self) -> dict[int, WireEntry]:
        """The protocol's entry for each exchange of which both sides saw the same number."""
        if self._wire is None:
            return {}
        seen: defaultdict[RequestKey, list[LiveExchange | None]] = defaultdict(list)
        for live in self.exchanges:
            for request in chain_of(live.request):
                seen[key_of(request)].append(live if request is live.request else None)
        joined: dict[int, WireEntry] = {}
        for key, lives in seen.items():
            entries = self._wire.entries(key)
            if len(entries) == len(lives):
                joined.update({live.id: entry for live, entry in zip(lives, entries, strict=True) if live})
        return joined

    def _frozen(self, live: LiveExchange, wire: WireEntry | None) -> Exchange:
        encoded = "content-encoding" in live.response_headers
        length = live.response_headers.get("content-length", "")
        return Exchange(
            id=live.id,
            method=live.method,
            url=live.url,
            resource_type=live.request.resource_type,
            started=live.started,
            frame_url=live.frame_url,
            main_document=live.main_document,
            frame_document=live.first.is_navigation_request() and not live.in_main_frame,
            navigation_of=live.navigation_of,
            hops=tuple(live.hops),
            final_url=live.request.url if live.hops else None,
            responded=live.responded,
            ended=live.ended,
            status=live.status,
            failure=live.failure,
            finished=live.finished,
            response_headers=live.response_headers,
            request_headers=live.first.headers,
            announced=int(length) if length.isascii() and length.isdigit() and not encoded else None,
            received=wire.received if wire else (len(live.body) if live.body is not None else None),
            digest=None if live.body is None else hashlib.sha256(live.body).hexdigest(),
            body=self._declared_json(live),
            content=live.known.content if live.known else None,
            html_mark=live.known.html_mark if live.known else None,
            sign_in=live.known.sign_in if live.known else False,
            healthy=live.healthy,
            messages=wire.messages if wire and live.request.resource_type == "eventsource" else None,
            hidden_status=wire.hidden_status if wire and live.status is None else None,
            cors_error=wire.cors_error if wire else None,
            preflight_status=wire.preflight_status if wire else None,
            operation=live.operation,
            asked=what_was_sent(live.first),
            script_async=live.script_async,
            asked_mark=wire.asked if wire else None,
            known_mark=wire.known if wire else None,
            protocol=wire.protocol if wire else None,
            fault=live.fault,
            fault_effect=live.fault_effect,
            page_closed=live.page_closed_at is not None,
            page_closed_at=live.page_closed_at,
            service_worker=live.first.service_worker is not None,
            page=self._page_number(live.first),
        )

    def _declared_json(self, live: LiveExchange) -> str | None:
        if live.id not in self.declared or live.body is None or len(live.body) > BODY_LIMIT:
            return None
        return json_text(live.body) if live.known and live.known.content is Content.JSON else None
