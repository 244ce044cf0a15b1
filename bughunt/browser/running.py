"""Runs a charter to its end, its deadline or a crash, and says how it failed."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from playwright.async_api import APIRequestContext, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from bughunt.browser.network import Network, NetworkError
from bughunt.browser.recorder import Recorder
from bughunt.browser.steps import StepLog, timed_out
from bughunt.browser.wrapping import recording
from bughunt.charters import Charter, Load
from bughunt.verdict.record import Failure, FailureKind

__all__ = ["Stage", "check_failure", "harness_failure", "run_charter"]

#: Seconds that a charter which was stopped has for its `finally`.
LAST_WORDS = 2.0

#: Playwright has no exception of its own for these: only the text tells a wrong selector.
_SELECTOR_ERRORS = (
    "strict mode violation",
    "while parsing selector",
    "while parsing css selector",
    "is not a valid selector",
    "Unknown engine",
    "InvalidSelectorError",
    "Malformed selector",
)


class ResetFailed(Exception):
    """A charter's `reset` could not put the world back."""


class CharterExit(Exception):
    """A charter called `sys.exit`, or cancelled itself."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What a charter runs on."""

    page: Page
    net: Network
    recorder: Recorder
    log: StepLog


async def run_charter(charter: Charter, stage: Stage, *, load: Load, deadline: float) -> Failure | None:
    """What ended the charter that did not hold; None: it held. Never raises for what the charter does."""
    with recording(stage.log):
        running = asyncio.ensure_future(_run(charter, stage, load))
    crashed = asyncio.ensure_future(stage.recorder.crashed.wait())
    try:
        await asyncio.wait({running, crashed}, timeout=deadline, return_when=asyncio.FIRST_COMPLETED)
        return _failure_of(running, stage, deadline)
    finally:
        running.cancel()
        crashed.cancel()
        # One that refuses to be stopped is left behind; closing its context ends what it awaits.
        await asyncio.wait({running, crashed}, timeout=LAST_WORDS)


async def _run(charter: Charter, stage: Stage, load: Load) -> None:
    arguments = (stage.page, stage.net, load) if charter.takes_load else (stage.page, stage.net)
    try:
        if charter.reset is not None and load.number > 1:
            await _reset(charter.reset, stage.page.context.request)
        await charter.function(*arguments)
    except SystemExit as left:
        raise CharterExit(f"the charter called sys.exit({left.code!r})") from left


async def _reset(reset: Callable[..., Awaitable[None]], request: APIRequestContext) -> None:
    try:
        await (reset(request) if inspect.signature(reset).parameters else reset())
    except Exception as error:
        raise ResetFailed(f"reset failed: {type(error).__name__}: {error}") from error


def _failure_of(running: asyncio.Future[None], stage: Stage, deadline: float) -> Failure | None:
    at = stage.log.now()
    if not running.done():
        what = "the browser crashed" if stage.recorder.crash else f"not done after {deadline:g} s"
        return Failure(kind=FailureKind.DEADLINE, type="Deadline", message=what, at=at)
    error = CharterExit("the charter cancelled itself") if running.cancelled() else running.exception()
    return None if error is None else _failure(error, stage.log, at)


def _failure(error: BaseException, log: StepLog, at: float) -> Failure:
    step, kind = log.raised_by(error), _kind(error)
    if step is not None and step.ended is not None:
        at = min(at, step.ended)  # what the charter did in a `finally` came later
    return Failure(
        kind=kind,
        type=type(error).__name__,
        message=str(error)[:4000] or type(error).__name__,
        at=at,
        step=None if step is None else step.index,
        lines=log.lines_of(error),
        timed_out=kind is not FailureKind.SELECTOR and timed_out(step, error),
    )


def _kind(error: BaseException) -> FailureKind:
    if isinstance(error, NetworkError):
        return FailureKind.EXCEPTION if error.unread else FailureKind.NET_JSON
    if any(text in _own_words(error) for text in _SELECTOR_ERRORS):
        return FailureKind.SELECTOR
    if isinstance(error, AssertionError):
        return FailureKind.ASSERTION
    return FailureKind.TIMEOUT if isinstance(error, PlaywrightTimeout) else FailureKind.EXCEPTION


def _own_words(error: BaseException) -> str:
    """What Playwright itself says is wrong, without what the page showed."""
    if isinstance(error, AssertionError):
        return str(error).partition("\nActual value: None\nError: ")[2].partition("\n")[0]
    return str(error).partition("\n")[0] if isinstance(error, PlaywrightError) else ""


def harness_failure(message: str, at: float) -> Failure:
    """Our own failure: nothing may be concluded from this load."""
    return Failure(kind=FailureKind.HARNESS, type="HarnessError", message=message, at=at)


def check_failure(error: Exception, at: float) -> Failure:
    """What the charter asks its answers by (`healthy=`) is broken itself."""
    said = f"healthy= failed: {type(error).__name__}: {error}"
    return Failure(kind=FailureKind.EXCEPTION, type=type(error).__name__, message=said, at=at)
