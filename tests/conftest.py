"""What all tests share: one real browser for the whole session."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.async_api import Browser

from bughunt.browser.pool import BrowserPool
from tests.postgres import Server, server_of, stop

# The same examples on every run: what fails here fails everywhere. Raise max_examples by hand to search.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

# A shell ignores SIGINT for what runs in the background, and all that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _shared_folder(factory: pytest.TempPathFactory) -> Path:
    """The temporary folder of the whole test run, whichever of its processes this is."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A real PostgreSQL, one for the whole test run."""
    return server_of(_shared_folder(tmp_path_factory) / "postgres")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Whoever began the test run ends the server, once all its processes are over."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        factory = session.config._tmp_path_factory  # type: ignore[attr-defined]  # as pytest's own fixture does
        stop(_shared_folder(factory) / "postgres")


@pytest.fixture(scope="session")
async def browser_pool() -> AsyncIterator[BrowserPool]:
    """A running browser, started again where a test killed it."""
    async with BrowserPool.open() as pool:
        yield pool


@pytest.fixture
async def browser(browser_pool: BrowserPool) -> Browser:
    """The session's browser."""
    return await browser_pool.browser()
