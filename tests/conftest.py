"""What all tests share: one real browser for the whole session."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator

import pytest
from hypothesis import settings
from playwright.async_api import Browser

from bughunt.browser.pool import BrowserPool

# The same examples on every run: what fails here fails everywhere. Raise max_examples by hand to search.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

# A shell ignores SIGINT for what runs in the background, and all that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
async def browser_pool() -> AsyncIterator[BrowserPool]:
    """A running browser, started again where a test killed it."""
    async with BrowserPool.open() as pool:
        yield pool


@pytest.fixture
async def browser(browser_pool: BrowserPool) -> Browser:
    """The session's browser."""
    return await browser_pool.browser()
