"""`net`: what a charter may ask about the page's own network."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from bughunt.browser.bodies import parsed_json
from bughunt.browser.exchanges import LiveExchange
from bughunt.browser.recorder import Recorder
from bughunt.browser.steps import StepLog
from bughunt.verdict.record import SAFE_METHODS, Acknowledgement, Declaration
from bughunt.verdict.wording import request_name
from fault_routes.patterns import compiled, matches

__all__ = ["Network", "NetworkError"]

#: Seconds without a newer matching request after which an answer is the one that the page goes by.
QUIET = 0.2
#: Seconds in which the app may ask again after a failed answer.
SECOND_CHANCE = 2.0
#: Seconds after which a write that has not left never will.
NEVER_LEFT = 2.0
#: Seconds after a write has settled in which the page may send another one.
ANOTHER_WRITE = 0.5


class NetworkError(Exception):
    """`net.json` got no JSON: nothing came in time, it was refused, or it does not parse."""

    out_of_time = False
    """True iff nothing had come when the time ran out, as opposed to a bad answer."""
    unread = False
    """True iff the page moved on before its answer could be read: that says nothing about the answer."""


class _Wanted(NamedTuple):
    """Which of the page's exchanges a call is about."""

    pattern: str
    method: str | None
    operation: str | None
    writes: bool = False

    def is_met_by(self, x: LiveExchange) -> bool:
        if self.writes and x.method in SAFE_METHODS:
            return False
        return (
            self.method in (None, x.method)
            and self.operation in (None, x.operation)
            and matches(self.pattern, x.url)
        )


class Network:
    """The page's network, as the page itself saw it."""

    def __init__(self, recorder: Recorder, log: StepLog) -> None:
        self._recorder = recorder
        self._log = log
        self.declarations: list[Declaration] = []
        self.acknowledgements: list[Acknowledgement] = []

    async def json(
        self,
        pattern: str,
        *,
        method: str | None = None,
        operation: str | None = None,
        timeout: float = 5.0,
    ) -> Any:
        """The JSON that the page itself received for a URL pattern (and method), the latest if several.

        `operation` tells apart what one URL serves: the operation that a GraphQL or JSON-RPC request names.

        This declares that what follows rests on that exchange: if it failed, the load is blocked, not wrong.
        It waits, at most `timeout` seconds, for a complete answer below 400 that is followed by 200 ms
        without a newer matching request. After a failed answer the app has 2 s to ask again.

        `Any`: whatever JSON the app speaks. Raises NetworkError where none came in time, and
        `fault_routes.PatternError` for a pattern that is none.
        """
        compiled(pattern)  # a pattern that is none fails here and now
        wanted = _Wanted(pattern, method, operation)
        began = self._log.now()
        chosen: LiveExchange | None = None
        try:
            with self._log.step("Network.json", pattern):
                chosen = await self._settled_answer(wanted, began + timeout)
                return _parsed(chosen)
        finally:
            self._declare(wanted, began, chosen)

    def asked_for(self, x: LiveExchange) -> bool:
        """Whether the charter has asked for this exchange, or for another one of the same kind."""
        wanted = (_Wanted(d.pattern, d.method, d.operation) for d in self.declarations)
        return x.id in self._recorder.declared or any(one.is_met_by(x) for one in wanted)

    async def acknowledged(
        self,
        pattern: str,
        *,
        method: str | None = None,
        operation: str | None = None,
        timeout: float = 5.0,
    ) -> None:
        """Wait until the page's last write to a URL pattern has settled: what follows claims that it arrived.

        Call it after the action that saves, and then expect what the page says ("Saved"). The load ends in a
        contradiction, a mismatch, if the charter holds although that write failed or never left.

        It waits until the write was answered or failed, at most `timeout` seconds, and 500 ms more for
        another one; 2 s, whatever `timeout` is, for one that never leaves. A write is any method but GET,
        HEAD and OPTIONS unless `method` says otherwise; one that an earlier call waited for is not taken
        again. Raises nothing but `fault_routes.PatternError` for a pattern that is none.
        """
        compiled(pattern)
        wanted = _Wanted(pattern, method, operation, writes=method is None)
        began = self._log.now()
        with self._log.step("Network.acknowledged", pattern) as step:
            write = await self._settled_write(wanted, began, timeout)
        self.acknowledgements.append(
            Acknowledgement(
                pattern=pattern,
                method=method,
                operation=operation,
                line=step.line,
                began=began,
                ended=self._log.now(),
                exchange=None if write is None else write.id,
            )
        )

    async def _settled_write(self, wanted: _Wanted, began: float, timeout: float) -> LiveExchange | None:
        """The last one, once it is over or the time is."""
        while True:
            self._recorder.changed.clear()
            write = self._unclaimed(wanted)
            wake = began + (NEVER_LEFT if write is None else timeout)
            if write is not None:
                self._recorder.declared.add(write.id)
                if (answered := write.over_at) is not None:
                    wake = answered + ANOTHER_WRITE
            left = wake - self._log.now()
            if left <= 0:
                return write
            await self._change_before(left)

    def _unclaimed(self, wanted: _Wanted) -> LiveExchange | None:
        claimed = {a.exchange for a in self.acknowledgements}
        newest = next(self._matching(wanted), None)
        return None if newest is None or newest.id in claimed else newest

    def _declare(self, wanted: _Wanted, began: float, read: LiveExchange | None) -> None:
        if read is not None:
            self._recorder.declared.add(read.id)
        self.declarations.append(
            Declaration(
                pattern=wanted.pattern,
                method=wanted.method,
                operation=wanted.operation,
                began=began,
                ended=self._log.now(),
                exchange=None if read is None else read.id,
            )
        )

    async def _settled_answer(self, wanted: _Wanted, deadline: float) -> LiveExchange:
        began = self._log.now()
        while True:
            self._recorder.changed.clear()
            newest = next(self._matching(wanted), None)
            now = self._log.now()
            wake = deadline
            if newest is not None and newest.settled:
                self._recorder.ask_health(newest)
                wake = self._last_word(newest)
                if now >= wake:
                    if newest.answered_well:
                        return newest
                    raise NetworkError(f"{request_name(newest.method, newest.url)} {_fate(newest)}.")
            if now >= deadline:
                since = max(began, self._log.last_action())
                return self._last_good_answer(wanted, since) or self._nothing_came(wanted.pattern, newest)
            await self._change_before(min(wake, deadline) - now)

    def _last_word(self, newest: LiveExchange) -> float:
        """When a settled answer may be taken for the last one: not while the page may still ask again."""
        since = newest.ended if newest.ended is not None else newest.responded or newest.started
        if not newest.answered_well:
            return since + SECOND_CHANCE
        return max(since, self._log.last_action()) + QUIET

    def _last_good_answer(self, wanted: _Wanted, since: float) -> LiveExchange | None:
        """Where the app asks so often that it never falls quiet, the last whole answer counts."""
        for x in self._matching(wanted):
            self._recorder.ask_health(x)
        found = (x for x in self._matching(wanted) if x.answered_well and x.started >= since)
        return next(found, None)

    def _matching(self, wanted: _Wanted) -> Iterator[LiveExchange]:
        """The newest first."""
        return (x for x in reversed(self._recorder.exchanges) if wanted.is_met_by(x))

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
    if x.healthy is False:
        return "was answered, and its answer says that the server is not well"
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
        return parsed_json(x.body)
    except ValueError as wrong:
        raise NetworkError(f"The answer of {name} (status {x.status}) is no JSON: {wrong}.") from wrong
