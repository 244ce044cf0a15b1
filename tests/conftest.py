"""What all tests share: one real browser for the whole session."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from bughunt.browser.pool import BrowserPool


@pytest.fixture(scope="session")
async def browser_pool() -> AsyncIterator[BrowserPool]:
    """A running browser, started again where a test killed it."""
    async with BrowserPool.open() as pool:
        yield pool


@pytest.fixture
async def browser(browser_pool: BrowserPool) -> Browser:
    """The session's browser."""
    return await browser_pool.browser()
