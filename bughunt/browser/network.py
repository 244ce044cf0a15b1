"""`net`: what a charter may ask about the page's own network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any, NoReturn

from bughunt.browser.recorder import LiveExchange, Recorder
from bughunt.browser.steps import StepLog
from bughunt.verdict.record import Declaration
from bughunt.verdict.wording import request_name
from fault_routes.patterns import compiled, matches

__all__ = ["Network", "NetworkError"]

#: Seconds without a newer matching request after which an answer is the one that the page goes by.
QUIET = 0.2
#: Seconds in which the app may ask again after a failed answer.
SECOND_CHANCE = 2.0


class NetworkError(Exception):
    """`net.json` got no JSON: nothing came in time, it was refused, or it does not parse."""

    out_of_time = False
    """True iff nothing had come when the time ran out, as opposed to a bad answer."""
    unread = False
    """True iff the page moved on before its answer could be read: that says nothing about the answer."""


class Network:
    """The page's network, as the page itself saw it."""

    def __init__(self, recorder: Recorder, log: StepLog) -> None:
        self._recorder = recorder
        self._log = log
        self.declarations: list[Declaration] = []

    async def json(self, pattern: str, *, method: str | None = None, timeout: float = 5.0) -> Any:
        """The JSON that the page itself received for a URL pattern (and method), the latest if several.

        This declares that what follows rests on that exchange: if it failed, the load is blocked, not wrong.
        It waits, at most `timeout` seconds, for a complete answer below 400 that is followed by 200 ms
        without a newer matching request. After a failed answer the app has 2 s to ask again.

        `Any`: whatever JSON the app speaks. Raises NetworkError where none came in time, and
        `fault_routes.PatternError` for a pattern that is none.
        """
        compiled(pattern)  # a pattern that is none fails here and now
        began = self._log.now()
        chosen: LiveExchange | None = None
        try:
            with self._log.step("Network.json", pattern):
                chosen = await self._settled_answer(pattern, method, began + timeout)
                return _parsed(chosen)
        finally:
            self._declare(pattern, method, began, chosen)

    def _declare(self, pattern: str, method: str | None, began: float, read: LiveExchange | None) -> None:
        if read is not None:
            self._recorder.declared.add(read.id)
        self.declarations.append(
            Declaration(
                pattern=pattern,
                method=method,
                began=began,
                ended=self._log.now(),
                exchange=None if read is None else read.id,
            )
        )

    async def _settled_answer(self, pattern: str, method: str | None, deadline: float) -> LiveExchange:
        began = self._log.now()
        while True:
            self._recorder.changed.clear()
            newest = self._newest(pattern, method)
            now = self._log.now()
            wake = deadline
            if newest is not None and newest.settled:
                wake = self._last_word(newest)
                if now >= wake:
                    if newest.answered_well:
                        return newest
                    raise NetworkError(f"{request_name(newest.method, newest.url)} {_fate(newest)}.")
            if now >= deadline:
                since = max(began, self._log.last_action())
                return self._last_good_answer(pattern, method, since) or self._nothing_came(pattern, newest)
            await self._change_before(min(wake, deadline) - now)

    def _last_word(self, newest: LiveExchange) -> float:
        """When a settled answer may be taken for the last one: not while the page may still ask again."""
        since = newest.ended if newest.ended is not None else newest.responded or newest.started
        if not newest.answered_well:
            return since + SECOND_CHANCE
        return max(since, self._log.last_action()) + QUIET

    def _newest(self, pattern: str, method: str | None) -> LiveExchange | None:
        return next(self._matching(pattern, method), None)

    def _last_good_answer(self, pattern: str, method: str | None, since: float) -> LiveExchange | None:
        """Where the app asks so often that it never falls quiet, the last whole answer counts."""
        found = (x for x in self._matching(pattern, method) if x.answered_well and x.started >= since)
        return next(found, None)

    def _matching(self, pattern: str, method: str | None) -> Iterator[LiveExchange]:
        """The newest first."""
        for x in reversed(self._recorder.exchanges):
            if method in (None, x.method) and matches(pattern, x.url):
                yield x

    async def _change_before(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(max(seconds, 0.001)):
                await self._recorder.changed.wait()
        except TimeoutError:
            return

    def _nothing_came(self, pattern: str, newest: LiveExchange | None) -> NoReturn:
        error = NetworkError(self._what_came_instead(pattern, newest))
        error.out_of_time = True
        raise error

    def _what_came_instead(self, pattern: str, newest: LiveExchange | None) -> str:
        if newest is not None:
            return f"{request_name(newest.method, newest.url)} {_fate(newest)} when the time ran out."
        asked = [x for x in self._recorder.exchanges if x.request.resource_type in {"fetch", "xhr"}]
        others = ", ".join(f"{request_name(x.method, x.url)} {_fate(x)}" for x in asked[:5])
        return f"The page never asked for {pattern}." + (f" It asked for: {others}." if others else "")


def _fate(x: LiveExchange) -> str:
    if x.status is not None and x.status >= 400:
        return f"was answered {x.status}"
    if x.failure is not None:
        return f"failed with {x.failure}"
    if x.status is None:
        return "was not answered"
    return f"was answered {x.status}" if x.finished else "was answered in part"


def _parsed(x: LiveExchange) -> Any:
    name = request_name(x.method, x.url)
    if x.body is None:
        moved_on = NetworkError(f"The answer of {name} could not be read: the page had moved on.")
        moved_on.unread = True
        raise moved_on
    try:
        return json.loads(x.body)
    except ValueError as wrong:
        raise NetworkError(f"The answer of {name} (status {x.status}) is no JSON: {wrong}.") from wrong
