from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext

from fault_routes import FaultLedger, install, parse_plan
from fault_routes.routes import OnFire
from tests.fault_routes.faulty_shop import Break, Broken, Shop


@pytest_asyncio.fixture(loop_scope="session")
async def shop() -> AsyncIterator[Shop]:
    shop = Shop()
    server = await asyncio.start_server(shop.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    shop.origin, shop.other_origin = f"http://127.0.0.1:{port}", f"http://localhost:{port}"
    yield shop
    server.close()


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context()
    yield context
    await context.close()


@pytest.fixture
def broken(context: BrowserContext, shop: Shop) -> Break:
    """Opens the shop's page with the faults of these specs; the journal begins after that."""

    async def open_page(*specs: str, on_fire: OnFire | None = None) -> Broken:
        ledger = FaultLedger(parse_plan(specs))
        faults = await install(context, ledger, on_fire=on_fire)
        page = await context.new_page()
        await page.goto(shop.origin)
        shop.journal.clear()
        return Broken(page=page, ledger=ledger, faults=faults)

    return open_page
