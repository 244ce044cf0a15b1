"""When a charter is over: let late events in, and ask the page what only it knows."""

from __future__ import annotations

import asyncio
import contextlib

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from bughunt.browser.exchanges import LiveExchange
from bughunt.browser.network import Network
from bughunt.browser.recorder import Recorder
from bughunt.charters import Charter
from bughunt.settings import Target
from bughunt.verdict.causality import is_own
from fault_routes.patterns import matches

__all__ = ["build_of", "settle"]

#: Seconds in which events of what happened before a failure may still arrive.
GRACE = 0.15

#: Seconds that a page may take to answer.
PATIENCE = 2.0

_ASYNC_SCRIPTS = "() => Array.from(document.scripts).filter(s => s.src).map(s => [s.src, s.async])"


async def settle(
    recorder: Recorder, page: Page, charter: Charter, target: Target, net: Network, *, failed: bool
) -> None:
    """Have the recorder know all that it can know of a load that is over."""
    if failed:
        await asyncio.sleep(GRACE)
    await recorder.bodies_read()
    for x in recorder.exchanges:
        if net.asked_for(x) or any(matches(p, x.url) for p in charter.depends_on or ()):
            recorder.ask_health(x)
    if recorder.crash is not None:
        return
    await recorder.sockets.read_notes(page)
    if failed:
        await recorder.read_documents()
        await _ask_which_are_async(page, [x for x in recorder.exchanges if _is_doubtful(x, target)])


def _is_doubtful(x: LiveExchange, target: Target) -> bool:
    """A script of somebody else's that failed: did the page wait for it?"""
    failed = x.request.resource_type == "script" and not x.answered_well
    return failed and not is_own(x.url, target.own_hosts)


async def _ask_which_are_async(page: Page, scripts: list[LiveExchange]) -> None:
    """Only the DOM knows which scripts do not hold the page up."""
    if not scripts:
        return
    with contextlib.suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(PATIENCE):
            known = dict(await page.evaluate(_ASYNC_SCRIPTS))
        for script in scripts:
            script.script_async = known.get(script.url)


async def build_of(recorder: Recorder, page: Page, target: Target) -> str | None:
    """The build that the document names, where the target says how."""
    if target.build_header is not None:
        documents = (x for x in reversed(recorder.exchanges) if x.main_document)
        named = (x.response_headers.get(target.build_header.lower()) for x in documents)
        return next((build for build in named if build), None)
    if target.build_meta is None:
        return None
    with contextlib.suppress(PlaywrightError):
        meta = page.locator(f'meta[name="{target.build_meta}"]').first
        return await meta.get_attribute("content", timeout=1000)
    return None
