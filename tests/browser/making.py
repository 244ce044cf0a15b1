"""What browser tests share: one load of a charter against a server, and a bare recorder beside a page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page

from bughunt import Charter, Network, Target, charter
from bughunt.browser.load import LoadOutcome, LoadRequest, take_load
from bughunt.browser.recorder import Recorder
from bughunt.browser.steps import StepLog
from bughunt.verdict.record import Exchange, LoadRecord
from fault_routes import FaultLedger, parse_plan
from tests.servers import Html
from tests.servers.pages import page as html_page

#: Milliseconds after which an expectation that cannot come true gives up.
SOON = 200


def asks(*urls: str) -> Html:
    """A page that fetches these one after another and then says "done"; whatever they answer."""
    fetches = "".join(f"await fetch({url!r}).then(r => r.text()).catch(() => {{}});" for url in urls)
    script = f"(async () => {{ {fetches} document.querySelector('p').textContent = 'done'; }})();"
    return Html(html_page("<p>…</p>", script=script))


async def load(
    browser: Browser,
    base_url: str,
    function: Callable[..., Awaitable[None]] | Charter,
    *,
    number: int = 1,
    faults: Sequence[str] = (),
    target: dict[str, Any] | None = None,
    **given: Any,
) -> LoadOutcome:
    """One load of a charter, or of a coroutine that becomes one."""
    wanted = function if isinstance(function, Charter) else charter("Does it?")(function)
    request = LoadRequest(
        charter=wanted,
        target=Target(base_url=base_url, **(target or {})),
        number=number,
        ledger=FaultLedger(parse_plan(faults)),
        **given,
    )
    return await take_load(browser, request)


async def record(browser: Browser, base_url: str, function: Any, **given: Any) -> LoadRecord:
    """What was recorded of one load."""
    return (await load(browser, base_url, function, **given)).record


@asynccontextmanager
async def watched(browser: Browser, base_url: str) -> AsyncIterator[tuple[Page, Recorder]]:
    """A page and what records it, without a charter."""
    context: BrowserContext = await browser.new_context(base_url=base_url)
    try:
        recorder = Recorder(context, StepLog(Path(__file__)))
        page = await context.new_page()
        await recorder.tap(context, page)
        yield page, recorder
    finally:
        await context.close()


@asynccontextmanager
async def networked(browser: Browser, base_url: str) -> AsyncIterator[tuple[Page, Network]]:
    """A page and the `net` of a charter that looks at it."""
    context: BrowserContext = await browser.new_context(base_url=base_url)
    try:
        log = StepLog(Path(__file__))
        recorder = Recorder(context, log)
        page = await context.new_page()
        await recorder.tap(context, page)
        yield page, Network(recorder, log)
    finally:
        await context.close()


def found(exchanges: Sequence[Exchange], path: str) -> list[Exchange]:
    """The exchanges whose URL ends so, in their order."""
    return [x for x in exchanges if x.url.endswith(path)]


def only(exchanges: Sequence[Exchange], path: str) -> Exchange:
    """The one exchange whose URL ends so."""
    (x,) = found(exchanges, path)
    return x
