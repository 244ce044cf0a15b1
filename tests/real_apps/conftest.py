"""The applications, each started once per test process, and a tower for what is found out about them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack

import pytest

from bughunt.browser.pool import BrowserPool
from bughunt.tower import Tower
from tests.cases.looking import Looking
from tests.real_apps.running import App, running

Start = Callable[[App], Awaitable[str]]


@pytest.fixture(scope="session")
async def start(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Start]:
    """`await start(app)`: the URL of the application, which runs until the session is over."""
    urls: dict[str, str] = {}
    async with AsyncExitStack() as started:

        async def url_of(app: App) -> str:
            if app.name not in urls:
                folder = tmp_path_factory.mktemp(app.name)
                urls[app.name] = await started.enter_async_context(running(app, folder))
            return urls[app.name]

        yield url_of


@pytest.fixture(scope="session")
def tower(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tower]:
    opened = Tower.open(f"sqlite:///{tmp_path_factory.mktemp('real-apps')}/tower.db")
    yield opened
    opened.close()


@pytest.fixture
def look(tower: Tower, browser_pool: BrowserPool) -> Looking:
    """`await look(url, charter)`: a whole investigation."""
    return Looking(tower, browser_pool)
