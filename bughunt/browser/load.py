"""One load: a charter in a fresh browser context, with a deadline, recorded to its end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from playwright.async_api import Browser, BrowserContext, Page, Request
from playwright.async_api import Error as PlaywrightError

from bughunt.browser.artifacts import Artifacts, gather, start_trace, stop_trace
from bughunt.browser.network import Network
from bughunt.browser.probe import probe
from bughunt.browser.recorder import Recorder
from bughunt.browser.running import Stage, check_failure, harness_failure, run_charter
from bughunt.browser.settling import build_of, settle
from bughunt.browser.steps import StepLog
from bughunt.charters import Charter, Load
from bughunt.settings import Keep, Target
from bughunt.verdict.endings import judge_load
from bughunt.verdict.judgement import Ending
from bughunt.verdict.probing import doubts
from bughunt.verdict.record import Crash, Exchange, Failure, FaultEffect, LoadRecord, Noise, Scope
from fault_routes import (
    Abort,
    Delay,
    EmptyBody,
    Fault,
    FaultLedger,
    Firing,
    Installation,
    LostAnswer,
    MalformedJson,
    NoAnswer,
    TruncatedJson,
    install,
)

__all__ = ["LoadOutcome", "LoadRequest", "take_load"]

#: Seconds between two looks at what a load has so far.
TELL_EVERY = 0.5
#: Seconds that closing a context may take before the browser counts as broken.
CLOSING = 10.0


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
    keep: Keep = Keep.ALL
    """Of a load that does not hold."""
    control: bool = False
    """Whether the planned faults are off, for once."""
    noise: Callable[[], Awaitable[tuple[Noise, ...]]] | None = None
    """Asked, where a load did not hold, for what the charter's passing runs have taught."""
    on_exchanges: Callable[[tuple[Exchange, ...]], Awaitable[None]] | None = None
    """Told of the exchanges so far, now and then, while a load takes long. What it raises ends the load."""


class LoadOutcome(Struct, frozen=True, kw_only=True):
    """What a load left behind."""

    record: LoadRecord
    artifacts: Artifacts | None = None
    """Only where the load did not hold."""
    secrets: tuple[str, ...] = ()
    """What was typed into password fields: to be redacted from everything."""


async def take_load(browser: Browser, wanted: LoadRequest) -> LoadOutcome:
    """Run the charter once and record what happened, whatever happens.

    Never raises for what the page, the network, the charter or the browser does: that is in the record.
    """
    began_at = datetime.now(UTC).isoformat()
    load = Load(wanted.number)
    log = StepLog(wanted.charter.file, patient=wanted.patient, unique=load.token)
    try:
        async with _context(browser, wanted) as context:
            return await _Loading(wanted, load, log, browser, context, began_at).run()
    except PlaywrightError as error:
        # What the charter meets is in the record; this is about a context that could not be set up.
        return _without_page(wanted, log, began_at, error, crashed=not browser.is_connected())


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
    if wanted.ledger.plan.faults and not wanted.charter.service_workers:
        options["service_workers"] = "block"  # they would hide requests from the faults
    return options


class _Loading:
    """One load under way."""

    def __init__(
        self,
        wanted: LoadRequest,
        load: Load,
        log: StepLog,
        browser: Browser,
        context: BrowserContext,
        began_at: str,
    ) -> None:
        self._wanted = wanted
        self._load = load
        self._log = log
        self._browser = browser
        self._context = context
        self._began_at = began_at
        self._recorder = Recorder(context, log, healthy=wanted.charter.healthy or wanted.target.healthy_by)
        self._net = Network(self._recorder, log)
        log.on_asked = lambda asked: self._recorder.note_asked(asked, wanted.target.base_url)
        self._errors_before = len(wanted.ledger.errors)

    async def run(self) -> LoadOutcome:
        self._browser.on("disconnected", self._on_disconnected)
        try:
            return await self._run()
        finally:
            self._browser.remove_listener("disconnected", self._on_disconnected)

    def _on_disconnected(self, browser: Browser) -> None:
        self._recorder.note_crash("browser")

    async def _run(self) -> LoadOutcome:
        faults = await install(self._context, self._wanted.ledger, on_fire=self._on_fire)
        if self._wanted.keep is Keep.ALL:
            await start_trace(self._context)
        page = await self._context.new_page()
        await self._recorder.tap(self._context, page)
        failure = await self._run_charter(page)
        ended = self._log.now()
        charter, target = self._wanted.charter, self._wanted.target
        await settle(self._recorder, page, charter, target, self._net, failed=failure is not None)
        build = await build_of(self._recorder, page, target) if self._recorder.crash is None else None
        record = await self._with_hindsight(self._record(page, failure, ended, build))
        return await self._with_artifacts(page, record, faults)

    def _on_fire(self, firing: Firing, request: Request) -> None:
        planned = self._wanted.ledger.plan.faults[firing.position]
        self._recorder.note_fault(request, firing.fault, _effect(planned))

    # The charter

    async def _run_charter(self, page: Page) -> Failure | None:
        """Run it, and write down now and then what a long load has so far."""
        charter = self._wanted.charter
        telling = asyncio.ensure_future(self._tell_now_and_then())
        try:
            stage = Stage(page=page, net=self._net, recorder=self._recorder, log=self._log)
            deadline = charter.timeout or self._wanted.deadline
            failure = await run_charter(charter, stage, load=self._load, deadline=deadline)
        finally:
            telling.cancel()
            await asyncio.wait({telling})
        unwritten = None if telling.cancelled() else telling.exception()
        return harness_failure(str(unwritten), self._log.now()) if unwritten else failure

    async def _tell_now_and_then(self) -> None:
        """A killed process leaves behind what a long load had written down."""
        tell = self._wanted.on_exchanges
        while tell is not None:
            await asyncio.sleep(TELL_EVERY)
            await tell(self._recorder.freeze())

    # Its end

    def _record(self, page: Page, failure: Failure | None, ended: float, build: str | None) -> LoadRecord:
        charter, target = self._wanted.charter, self._wanted.target
        broken_handlers = self._wanted.ledger.errors[self._errors_before :]
        if broken_handlers:
            failure = harness_failure(f"a fault could not be carried out: {broken_handlers[0].error}", ended)
        elif self._recorder.broken_check is not None and failure is None:
            failure = check_failure(self._recorder.broken_check, ended)
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
            acknowledgements=tuple(self._net.acknowledgements),
            sockets=self._recorder.freeze_sockets(),
            steps=self._log.steps,
            failure=failure,
            crash=self._recorder.crash,
            console=tuple(self._recorder.console),
            page_url=page.url,
            build=build,
            routed=bool(self._wanted.ledger.plan.faults),
            patient=self._wanted.patient,
            resilient=charter.resilient and not self._wanted.control,
            control=self._wanted.control,
            fresh=charter.reset is not None or self._load.used_unique,
            browser=_browser_name(self._browser),
        )

    async def _with_hindsight(self, record: LoadRecord) -> LoadRecord:
        """What is asked only about a load that did not hold: the passing runs, and from outside the page."""
        if record.crash is not None:
            return record
        asked = doubts(record)
        probes = await probe(self._context, self._wanted.target, record, asked)
        noise = record.scope.noise
        if record.failure is not None and self._wanted.noise is not None:
            noise = await self._wanted.noise()
        return replace(record, probes=probes, scope=replace(record.scope, noise=noise))

    async def _with_artifacts(self, page: Page, record: LoadRecord, faults: Installation) -> LoadOutcome:
        artifacts, keep = None, self._wanted.keep
        if record.crash is None and keep is not Keep.NOTHING:
            if judge_load(record).ending is not Ending.HELD:
                artifacts = await gather(page, self._context, traced=keep is Keep.ALL)
            elif keep is Keep.ALL:
                await stop_trace(self._context, keep=False)
        with contextlib.suppress(PlaywrightError):
            await faults.close()
        return LoadOutcome(record=record, artifacts=artifacts, secrets=tuple(self._log.secrets))


def _without_page(
    wanted: LoadRequest, log: StepLog, began_at: str, error: PlaywrightError, *, crashed: bool
) -> LoadOutcome:
    """The record of a load that never came to a page: the browser is gone, or refuses our options."""
    at = log.now()
    record = LoadRecord(
        number=wanted.number,
        began_at=began_at,
        scope=Scope(base_url=wanted.target.base_url, own_hosts=wanted.target.own_hosts),
        ended=at,
        failure=harness_failure(error.message, at) if not crashed else None,
        crash=Crash(what="browser", at=at) if crashed else None,
        steps=log.steps,
    )
    return LoadOutcome(record=record)


def _effect(fault: Fault) -> FaultEffect:
    if isinstance(fault.effect, Abort):
        return FaultEffect.ABORT
    if isinstance(fault.effect, LostAnswer | TruncatedJson | MalformedJson | EmptyBody):
        return FaultEffect.LOSE
    return FaultEffect.WAIT if isinstance(fault.effect, Delay | NoAnswer) else FaultEffect.ANSWER


def _browser_name(browser: Browser) -> str:
    return f"{browser.browser_type.name} {browser.version}"
