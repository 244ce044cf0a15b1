"""One load: a charter in a fresh browser context, with a deadline, recorded to its end."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from playwright.async_api import APIRequestContext, Browser, BrowserContext, Page, Request
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from bughunt.browser.artifacts import Artifacts, gather, start_trace, stop_trace
from bughunt.browser.network import Network, NetworkError
from bughunt.browser.recorder import LiveExchange, Recorder
from bughunt.browser.steps import StepLog, recording, timed_out
from bughunt.charters import Charter, Load
from bughunt.settings import Target
from bughunt.verdict.causality import is_own
from bughunt.verdict.endings import judge_load
from bughunt.verdict.judgement import Ending
from bughunt.verdict.record import Crash, Exchange, Failure, FailureKind, LoadRecord, Scope
from fault_routes import Delay, FaultLedger, Firing, Installation, install

__all__ = ["LoadOutcome", "LoadRequest", "take_load"]

#: Seconds in which events of what happened before a failure may still arrive.
GRACE = 0.15
#: Seconds that closing a context may take before the browser counts as broken.
CLOSING = 10.0

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

_ASYNC_SCRIPTS = "() => Array.from(document.scripts).filter(s => s.src).map(s => [s.src, s.async])"


class LoadRequest(Struct, frozen=True, kw_only=True):
    """What is to be loaded, and how."""

    charter: Charter
    target: Target
    number: int
    """From 1, within the run."""
    ledger: FaultLedger
    """The run's: its counters go on from load to load."""
    deadline: float = 60.0
    """Seconds."""
    patient: bool = False
    """Let `goto` wait for the document only."""
    traced: bool = True
    """Keep a Playwright trace if the load does not hold."""
    on_exchanges: Callable[[tuple[Exchange, ...]], Awaitable[None]] | None = None
    """Told of the exchanges so far, now and then, while a load takes long."""


class LoadOutcome(Struct, frozen=True, kw_only=True):
    """What a load left behind."""

    record: LoadRecord
    artifacts: Artifacts | None = None
    """Only where the load did not hold."""
    build: str | None = None
    """The build that the document named, where the target says how."""


async def take_load(browser: Browser, wanted: LoadRequest) -> LoadOutcome:
    """Run the charter once and record what happened, whatever happens.

    Never raises for what the page, the network, the charter or the browser does: that is in the record.
    """
    began_at = datetime.now(UTC).isoformat()
    log = StepLog(wanted.charter.file, patient=wanted.patient)
    try:
        async with _context(browser, wanted) as context:
            return await _Loading(wanted, log, browser, context, began_at).run()
    except PlaywrightError as error:
        # The context could not even be made: the browser is gone.
        return _browserless(wanted, log, began_at, error)


@contextlib.asynccontextmanager
async def _context(browser: Browser, wanted: LoadRequest) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context(**_context_options(wanted))
    try:
        yield context
    finally:
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(CLOSING):
                await context.close()


def _context_options(wanted: LoadRequest) -> dict[str, Any]:  # Any: Playwright's own keyword arguments
    target = wanted.target
    options: dict[str, Any] = {"base_url": target.base_url, "ignore_https_errors": target.ignore_https_errors}
    if target.storage_state is not None:
        options["storage_state"] = target.storage_state
    if target.extra_headers:
        options["extra_http_headers"] = target.extra_headers
    if target.http_credentials is not None:
        credentials = target.http_credentials
        options["http_credentials"] = {"username": credentials.username, "password": credentials.password}
    if target.locale is not None:
        options["locale"] = target.locale
    if wanted.ledger.plan.faults:
        options["service_workers"] = "block"  # they would hide requests from the faults
    return options


class _Loading:
    """One load under way."""

    def __init__(
        self, wanted: LoadRequest, log: StepLog, browser: Browser, context: BrowserContext, began_at: str
    ) -> None:
        self._wanted = wanted
        self._log = log
        self._browser = browser
        self._context = context
        self._began_at = began_at
        self._recorder = Recorder(context, log)
        self._net = Network(self._recorder, log)
        log.on_asked = lambda asked: self._recorder.note_asked(asked, wanted.target.base_url)
        self._errors_before = len(wanted.ledger.errors)

    async def run(self) -> LoadOutcome:
        self._browser.once("disconnected", lambda _: self._recorder.note_crash("browser"))
        faults = await install(self._context, self._wanted.ledger, on_fire=self._on_fire)
        if self._wanted.traced:
            await start_trace(self._context)
        page = await self._context.new_page()
        await self._recorder.tap(self._context, page)
        failure = await self._run_charter(page)
        ended = failure.at if failure else self._log.now()
        await self._settle(page, failure)
        record = self._record(page, failure, ended)
        return await self._with_artifacts(page, record, faults)

    def _on_fire(self, firing: Firing, request: Request) -> None:
        planned = next(f for f in self._wanted.ledger.plan.faults if f.spec == firing.fault)
        self._recorder.note_fault(request, firing.fault, breaks=not isinstance(planned.effect, Delay))

    # The charter

    async def _run_charter(self, page: Page) -> Failure | None:
        """Run it to its end, its deadline or a crash, whichever comes first."""
        with recording(self._log):
            task = asyncio.ensure_future(self._charter(page))
        crashed = asyncio.ensure_future(self._recorder.crashed.wait())
        telling = asyncio.ensure_future(self._tell_now_and_then())
        deadline = self._wanted.charter.timeout or self._wanted.deadline
        try:
            await asyncio.wait({task, crashed}, timeout=deadline, return_when=asyncio.FIRST_COMPLETED)
            return await self._failure_of(task, deadline)
        finally:
            for helper in (task, crashed, telling):
                helper.cancel()
            await asyncio.gather(task, crashed, telling, return_exceptions=True)

    async def _charter(self, page: Page) -> None:
        charter, number = self._wanted.charter, self._wanted.number
        if charter.reset is not None and number > 1:
            await self._reset(charter)
        arguments = (page, self._net, Load(number=number)) if charter.takes_load else (page, self._net)
        await charter.function(*arguments)

    async def _reset(self, charter: Charter) -> None:
        assert charter.reset is not None
        request: APIRequestContext = self._context.request
        takes_request = bool(inspect.signature(charter.reset).parameters)
        await (charter.reset(request) if takes_request else charter.reset())

    async def _tell_now_and_then(self) -> None:
        """A long load writes down what it has, so that a killed process leaves it behind."""
        tell = self._wanted.on_exchanges
        while tell is not None:
            await asyncio.sleep(2.0)
            await tell(self._recorder.freeze())

    async def _failure_of(self, task: asyncio.Future[None], deadline: float) -> Failure | None:
        at = self._log.now()
        if not task.done():
            what = "the browser crashed" if self._recorder.crash else f"not done after {deadline:g} s"
            return Failure(kind=FailureKind.DEADLINE, type="Deadline", message=what, at=at)
        error = (
            task.exception()
            if not task.cancelled()
            else asyncio.CancelledError("the charter cancelled itself")
        )
        return None if error is None else self._failure(error, at)

    def _failure(self, error: BaseException, at: float) -> Failure:
        step = self._log.raised_by(error)
        kind = _kind(error)
        return Failure(
            kind=kind,
            type=type(error).__name__,
            message=str(error)[:4000] or type(error).__name__,
            at=at,
            step=None if step is None else step.index,
            lines=self._log.lines_of(error),
            timed_out=kind is not FailureKind.SELECTOR
            and (timed_out(step, error) or isinstance(error, NetworkError)),
        )

    # Its end

    async def _settle(self, page: Page, failure: Failure | None) -> None:
        """Let late events in, then ask the page what only it knows."""
        if failure is not None:
            await asyncio.sleep(GRACE)
        await self._recorder.bodies_read()
        doubtful = [x for x in self._recorder.exchanges if self._is_foreign_script_that_failed(x)]
        if failure is not None and doubtful and self._recorder.crash is None:
            await self._ask_which_are_async(page, doubtful)

    def _is_foreign_script_that_failed(self, x: LiveExchange) -> bool:
        return (
            x.request.resource_type == "script"
            and not x.answered_well
            and not is_own(x.url, self._wanted.target.own_hosts)
        )

    async def _ask_which_are_async(self, page: Page, scripts: list[LiveExchange]) -> None:
        """Only the DOM knows which scripts do not hold the page up."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(2.0):
                known = dict(await page.evaluate(_ASYNC_SCRIPTS))
            for script in scripts:
                script.script_async = known.get(script.url)

    def _record(self, page: Page, failure: Failure | None, ended: float) -> LoadRecord:
        charter, target = self._wanted.charter, self._wanted.target
        broken_handlers = self._wanted.ledger.errors[self._errors_before :]
        if broken_handlers:
            failure = _harness_failure(f"a fault could not be carried out: {broken_handlers[0].error}", ended)
        return LoadRecord(
            number=self._wanted.number,
            began_at=self._began_at,
            scope=Scope(
                base_url=target.base_url,
                own_hosts=target.own_hosts,
                depends_on=charter.depends_on,
                ignore=(*charter.ignore, *target.ignore),
            ),
            ended=ended,
            exchanges=self._recorder.freeze(),
            declarations=tuple(self._net.declarations),
            steps=self._log.steps,
            failure=failure,
            crash=self._recorder.crash,
            console=tuple(self._recorder.console),
            page_url=page.url,
            routed=bool(self._wanted.ledger.plan.faults),
            patient=self._wanted.patient,
            browser=_browser_name(self._browser),
        )

    async def _with_artifacts(self, page: Page, record: LoadRecord, faults: Installation) -> LoadOutcome:
        artifacts = None
        if record.crash is None and judge_load(record).ending is not Ending.HELD:
            artifacts = await gather(page, self._context, traced=self._wanted.traced)
        elif self._wanted.traced and record.crash is None:
            await stop_trace(self._context, keep=False)
        build = await self._build(page) if record.crash is None else None
        with contextlib.suppress(PlaywrightError):
            await faults.close()
        return LoadOutcome(record=record, artifacts=artifacts, build=build)

    async def _build(self, page: Page) -> str | None:
        target = self._wanted.target
        if target.build_header is not None:
            documents = [x for x in self._recorder.exchanges if x.first.is_navigation_request()]
            named = (x.response_headers.get(target.build_header.lower()) for x in reversed(documents))
            return next((build for build in named if build), None)
        if target.build_meta is None:
            return None
        with contextlib.suppress(PlaywrightError):
            meta = page.locator(f'meta[name="{target.build_meta}"]').first
            return await meta.get_attribute("content", timeout=1000)
        return None


def _kind(error: BaseException) -> FailureKind:
    if isinstance(error, NetworkError):
        return FailureKind.NET_JSON
    if isinstance(error, AssertionError | PlaywrightError) and any(t in str(error) for t in _SELECTOR_ERRORS):
        return FailureKind.SELECTOR
    if isinstance(error, AssertionError):
        return FailureKind.ASSERTION
    return FailureKind.TIMEOUT if isinstance(error, PlaywrightTimeout) else FailureKind.EXCEPTION


def _harness_failure(message: str, at: float) -> Failure:
    return Failure(kind=FailureKind.HARNESS, type="HarnessError", message=message, at=at)


def _browserless(wanted: LoadRequest, log: StepLog, began_at: str, error: PlaywrightError) -> LoadOutcome:
    """The record of a load for which the browser was not there (any more)."""
    at = log.now()
    record = LoadRecord(
        number=wanted.number,
        began_at=began_at,
        scope=Scope(base_url=wanted.target.base_url, own_hosts=wanted.target.own_hosts),
        ended=at,
        failure=Failure(kind=FailureKind.EXCEPTION, type="Error", message=error.message, at=at),
        crash=Crash(what="browser", at=at),
        steps=log.steps,
    )
    return LoadOutcome(record=record)


def _browser_name(browser: Browser) -> str:
    return f"{browser.browser_type.name} {browser.version}"
