"""What is kept for people where a load did not hold: a screenshot, an aria snapshot, a trace."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

T = TypeVar("T")

__all__ = ["Artifacts", "gather", "start_trace", "stop_trace"]

#: Seconds that any one artifact may take: a hanging page must not hold up the verdict.
PATIENCE = 2.0

_PASSWORDS = "input[type=password]"
_READ_PASSWORDS = "nodes => nodes.map(node => node.value).filter(value => value)"


class Artifacts(Struct, frozen=True, kw_only=True):
    """What a person looks at. Whatever could not be had is None."""

    screenshot: bytes | None = None
    """PNG."""
    aria: str | None = None
    trace: bytes | None = None
    """A Playwright trace, zip."""
    secrets: tuple[str, ...] = ()
    """What stood in password fields: to be redacted from everything else."""


async def gather(page: Page, context: BrowserContext, *, traced: bool) -> Artifacts:
    """Everything that this page still gives; a page that hangs gives nothing, and takes no longer for all."""
    passwords = page.locator(_PASSWORDS)
    secrets, screenshot, aria = await asyncio.gather(
        _patiently(lambda: passwords.evaluate_all(_READ_PASSWORDS)),
        _patiently(lambda: page.screenshot(mask=[passwords], animations="disabled")),
        _patiently(lambda: page.locator("body").aria_snapshot()),
    )
    return Artifacts(
        screenshot=screenshot,
        aria=aria,
        trace=await stop_trace(context, keep=True) if traced else None,
        secrets=tuple(secrets or ()),
    )


async def start_trace(context: BrowserContext) -> None:
    """Record a Playwright trace from here on."""
    await context.tracing.start(screenshots=False, snapshots=True, sources=False)


async def stop_trace(context: BrowserContext, *, keep: bool) -> bytes | None:
    """End the trace, and read it where it is to be kept."""
    if not keep:
        await _patiently(context.tracing.stop)
        return None
    with tempfile.TemporaryDirectory(prefix="bughunt-trace-") as folder:
        file = Path(folder) / "trace.zip"
        await _patiently(lambda: context.tracing.stop(path=file))
        return file.read_bytes() if file.exists() else None


async def _patiently(get: Callable[[], Awaitable[T]]) -> T | None:
    try:
        async with asyncio.timeout(PATIENCE):
            return await get()
    except (PlaywrightError, TimeoutError):
        return None
