"""One browser for many loads at a time, started again where it died."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping

from playwright.async_api import Browser, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from bughunt.browser.finding import launch

__all__ = ["BrowserPool"]


class BrowserPool:
    """Gives out the running browser; each load makes a context of its own in it."""

    def __init__(
        self, playwright: Playwright, browser: Browser, environment: Mapping[str, str] | None
    ) -> None:
        self._playwright = playwright
        self._browser = browser
        self._environment = environment
        self._starting = asyncio.Lock()

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, environment: Mapping[str, str] | None = None) -> AsyncIterator[BrowserPool]:
        """Start a browser, and end it with the block. Raises BrowserMissing."""
        async with async_playwright() as playwright:
            pool = cls(playwright, await launch(playwright, environment), environment)
            try:
                yield pool
            finally:
                with contextlib.suppress(PlaywrightError):
                    await pool._browser.close()

    async def browser(self) -> Browser:
        """The running browser; a new one where the last one died. Raises BrowserMissing."""
        async with self._starting:
            if not self._browser.is_connected():
                self._browser = await launch(self._playwright, self._environment)
            return self._browser

    @property
    def contexts(self) -> int:
        """How many contexts are open now."""
        return len(self._browser.contexts)
