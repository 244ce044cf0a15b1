"""The faults of a ledger on a Playwright context: the one module that knows Playwright.

One handler per context, registered once. `times=` and unrouting between faults are never used: after an
abort they can make the next request hang (microsoft/playwright#41802). The route is the union of the plan's
patterns, so that Playwright does not ask Python about other requests.

What no route can break: redirect hops, WebSockets, SharedWorker fetches, and beacons on `pagehide`. Any
route at all makes Playwright answer CORS preflights itself and turns the HTTP cache off: without faults
nothing is registered.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

from playwright.async_api import APIResponse, BrowserContext, Error, Request, Route

from fault_routes.effects import (
    Abort,
    Delay,
    Effect,
    EmptyBody,
    HtmlInsteadOfJson,
    LostAnswer,
    MalformedJson,
    NoAnswer,
    Respond,
    Spoiler,
    TruncatedJson,
)
from fault_routes.ledger import Due, FaultLedger, Firing, HandlerError
from fault_routes.patterns import union

OnFire = Callable[[Firing, Request], None]
"""Told of each firing before its effect begins; the request is the one that Playwright's events carry."""

_CLOSING_GRACE = 2.0  # seconds; released handlers need one answer from the browser
_OF_THE_BODY = frozenset({"content-length", "content-encoding", "transfer-encoding"})
_REAL_FAILURES = {
    "ECONNREFUSED": "connectionrefused",
    "ECONNRESET": "connectionreset",
    "socket hang up": "connectionclosed",
    "ENOTFOUND": "namenotresolved",
    "EAI_AGAIN": "namenotresolved",
    "EHOSTUNREACH": "addressunreachable",
    "ENETUNREACH": "internetdisconnected",
    "ETIMEDOUT": "timedout",
}
_T = TypeVar("_T")


class _ClosedError(Exception):
    """The installation was closed while a request was being held."""


class Installation:
    """The faults of one context. `install` makes it."""

    def __init__(self, context: BrowserContext, handler: _Handler | None) -> None:
        self._context = context
        self._handler = handler

    async def close(self) -> None:
        """Break nothing more; call it before the context is closed. Never blocks, may be called again.

        Requests that are being held fail (`net::ERR_ABORTED`), and none of them reaches the server. All
        routes of the context are removed, those that others registered too. Nothing is touched where
        there were no faults.
        """
        if self._handler is None:
            return
        await self._handler.close()
        # A context that is closed already has no routes.
        with contextlib.suppress(Error):
            await self._context.unroute_all(behavior="ignoreErrors")


async def install(
    context: BrowserContext, ledger: FaultLedger, *, on_fire: OnFire | None = None
) -> Installation:
    """Break the requests of `context` by the plan of `ledger`, until the installation is closed.

    Call it before the first page is opened. Nothing is registered for an empty plan. A failure of ours,
    one in `on_fire` included, is recorded in `ledger.errors`, and the request fails.
    """
    if not ledger.plan.faults:
        return Installation(context, None)
    handler = _Handler(ledger, on_fire)
    context.once("close", lambda _: handler.release())
    await context.route(union(fault.where.pattern for fault in ledger.plan.faults), handler.handle)
    return Installation(context, handler)


class _Handler:
    """Handles the requests of one context."""

    def __init__(self, ledger: FaultLedger, on_fire: OnFire | None) -> None:
        self._ledger = ledger
        self._on_fire = on_fire
        self._closing = asyncio.Event()
        self._in_flight: set[asyncio.Future[None]] = set()

    def release(self) -> None:
        """Let go of every request that is being held."""
        self._closing.set()

    async def close(self) -> None:
        """Let go, and wait until it is done: once unrouted, the browser would send what is still held."""
        self.release()
        if self._in_flight:
            await asyncio.wait(set(self._in_flight), timeout=_CLOSING_GRACE)

    # Playwright would call a handler of two parameters with (route, request).
    async def handle(self, route: Route) -> None:
        """Carry out what is due. Never raises: Playwright would leave the request hanging."""
        with self._flying():
            due: Due | None = None
            try:
                due = self._take(route.request)
                await self._serve(route, due)
            except _ClosedError:
                await _let_go(route)
            except Exception as error:  # noqa: BLE001 - the wrapper around anything that can go wrong here
                self._blame(route.request, due, error)
                await _let_go(route)

    @contextlib.contextmanager
    def _flying(self) -> Iterator[None]:
        done = asyncio.get_running_loop().create_future()
        self._in_flight.add(done)
        try:
            yield
        finally:
            self._in_flight.discard(done)
            done.set_result(None)

    def _take(self, request: Request) -> Due | None:
        if self._closing.is_set():
            return None
        return self._ledger.take(method=request.method, url=request.url, resource_type=request.resource_type)

    async def _serve(self, route: Route, due: Due | None) -> None:
        if due is None:
            # Not continue_(): the routes that the user registered earlier would never be asked.
            await route.fallback()
            return
        match due.fault.effect:
            case TruncatedJson() | MalformedJson() | EmptyBody() as spoiler:
                await self._spoil(route, due, spoiler)
            case LostAnswer():
                await self._lose(route, due)
            case effect:
                self._fire(route, due)
                await self._apply(route, effect)

    def _fire(self, route: Route, due: Due) -> None:
        firing = self._ledger.fire(due)
        if self._on_fire is not None:
            self._on_fire(firing, route.request)

    async def _apply(self, route: Route, effect: Effect) -> None:
        match effect:
            case Abort(code=code):
                await route.abort(code)
            case Respond():
                await _respond(route, effect)
            case HtmlInsteadOfJson(page=page):
                await route.fulfill(status=200, content_type="text/html; charset=utf-8", body=page)
            case Delay(seconds=seconds):
                await self._hold(seconds)
                await route.fallback()
            case NoAnswer():
                await self._hold(None)

    async def _hold(self, seconds: float | None) -> None:
        """Wait for `seconds`, for ever if None. Raises _ClosedError when the installation is closed."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)
            raise _ClosedError

    async def _lose(self, route: Route, due: Due) -> None:
        response = await self._real_answer(route)
        if response is not None:
            self._fire(route, due)
            await route.abort("connectionreset")
            await response.dispose()

    async def _real_answer(self, route: Route) -> APIResponse | None:
        """What the server answers; None where it failed, which is passed on: the fault has not fired."""
        try:
            # Time limits are the page's business.
            return await self._unless_closed(route.fetch(timeout=0))
        except Error as error:
            await route.abort(_real_failure(error))
            return None

    async def _spoil(self, route: Route, due: Due, spoiler: Spoiler) -> None:
        response = await self._real_answer(route)
        if response is None:
            return
        spoilt = spoiler.spoil((await response.body()).decode("utf-8-sig", errors="replace"))
        if spoilt is None:
            await route.fulfill(response=response)
        else:
            self._fire(route, due)
            await route.fulfill(
                status=response.status, headers=_headers_for(response, spoilt), body=spoilt.encode()
            )
        await response.dispose()

    async def _unless_closed(self, work: Coroutine[Any, Any, _T]) -> _T:
        """The result of `work`. Raises _ClosedError, and lets it end by itself, when that comes first."""
        working = asyncio.ensure_future(work)
        closing = asyncio.ensure_future(self._closing.wait())
        await asyncio.wait({working, closing}, return_when=asyncio.FIRST_COMPLETED)
        closing.cancel()
        if working.done():
            return working.result()
        working.add_done_callback(_read)
        raise _ClosedError

    def _blame(self, request: Request, due: Due | None, error: Exception) -> None:
        """Record the failure, but for one thing: that the page or its context went away meanwhile."""
        if isinstance(error, Error) and (self._closing.is_set() or "has been closed" in error.message):
            return
        spec = due.fault.spec if due else None
        self._ledger.blame(HandlerError(fault=spec, method=request.method, url=request.url, error=error))


async def _let_go(route: Route) -> None:
    """End the request somehow. A route that nothing ends keeps its page, and a task of ours, for ever."""
    try:
        await route.abort("aborted")
    except Error:
        # Handled already, or its page is gone: then this ends it on our side and sends nothing.
        with contextlib.suppress(Error):
            await route.fallback()


async def _respond(route: Route, effect: Respond) -> None:
    headers: dict[str, str] = {}
    for name, value in effect.headers:
        known = headers.get(name.lower())
        separator = "\n" if name.lower() == "set-cookie" else ", "
        headers[name.lower()] = value if known is None else f"{known}{separator}{value}"
    if effect.body and "content-type" not in headers:
        headers["content-type"] = "text/plain; charset=utf-8"
    await route.fulfill(
        status=effect.status, headers=headers, content_type=effect.content_type, body=effect.body
    )


def _headers_for(response: APIResponse, body: str) -> dict[str, str]:
    """The server's headers, but for those that described the body which it sent."""
    kept = {name: value for name, value in response.headers.items() if name.lower() not in _OF_THE_BODY}
    return kept | {"content-length": str(len(body.encode()))}


def _real_failure(error: Error) -> str:
    found = (code for text, code in _REAL_FAILURES.items() if text in error.message)
    return next(found, "failed")


def _read(task: asyncio.Future[Any]) -> None:
    """Nobody waits for it any more: take its failure, or asyncio complains."""
    if not task.cancelled():
        task.exception()
