"""What an investigation costs beside a bare Playwright script of the same steps.

Both run in the same process and browser, alternating, so that a noisy machine disturbs both alike; ratios of
medians are reported, not seconds. The bare script does what the charter does: it opens a context and the
page, waits until the cart's answer is settled (`net.json`: 200 ms without a newer one), reads it and expects
the total. A second ratio, `wall_ratio_unsettled`, is taken against a script that reads the first answer at
once and so skips that guarantee.
"""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from msgspec import Struct
from playwright.async_api import Browser, Page, Request, Response, expect

from bughunt.bench import demo
from bughunt.browser.network import QUIET
from bughunt.browser.pool import BrowserPool
from bughunt.investigation import Investigation, investigate
from bughunt.settings import LoadSettings
from bughunt.tower import Tower
from bughunt.workers import heartbeat, new_owner
from target_apps.cart import CartServer

__all__ = ["Growth", "Overhead", "measure", "measure_growth"]

#: Investigations at a time when throughput is measured.
AT_A_TIME = 4
#: Investigations after which memory should have settled.
WARM = 50

Task = Callable[[], Awaitable[None]]


class Overhead(Struct, frozen=True, kw_only=True):
    """Ratios of the careful agent to the bare script; below 1 is cheaper."""

    wall_ratio: float
    """Median of the pairs' ratios of wall time, one at a time."""
    throughput_ratio: float
    """Investigations per second at 4 at a time, by the same of the bare script."""
    wall_ratio_unsettled: float
    """As `wall_ratio`, against a script that does not wait for a newer answer."""
    spread: dict[str, float]
    """Quartiles of the pairs' wall ratios, and median seconds of each side."""
    pairs: int


class Growth(Struct, frozen=True, kw_only=True):
    """What many investigations in one process leave behind."""

    investigations: int
    memory_growth_after_50: int
    """Bytes of resident memory of this process, from the 50th to the last."""
    open_files_growth_after_50: int
    contexts_left: int


async def measure(pairs: int = 40) -> Overhead:
    """Measure on the healthy cart."""
    async with _bench() as (careful, pool, base_url):
        bare = _bare(await pool.browser(), base_url, _settled_cart)
        hasty = _bare(await pool.browser(), base_url, _first_cart)
        return await _compared(careful, bare, hasty, pairs)


async def measure_growth(investigations: int = 200) -> Growth:
    """Run many investigations in this process and see what is left of them."""
    async with _bench() as (careful, pool, _):
        await _several(careful, WARM)
        memory, files = _resident(), _open_files()
        await _several(careful, investigations - WARM)
        return Growth(
            investigations=investigations,
            memory_growth_after_50=_resident() - memory,
            open_files_growth_after_50=_open_files() - files,
            contexts_left=pool.contexts,
        )


@asynccontextmanager
async def _bench() -> AsyncIterator[tuple[Task, BrowserPool, str]]:
    """The careful agent ready to run, its browser and the cart's URL."""
    with (
        CartServer() as cart,
        tempfile.TemporaryDirectory(prefix="bughunt-bench-") as folder,
        closing(Tower.open(f"sqlite:///{folder}/tower.db")) as tower,
    ):
        owner = new_owner()
        async with BrowserPool.open() as pool:
            with heartbeat(tower, owner):
                yield _careful(tower, pool, cart.url, owner), pool, cart.url


async def _compared(careful: Task, bare: Task, hasty: Task, pairs: int) -> Overhead:
    for task in (careful, bare, hasty):
        await task()
    ours, theirs, hasties = [], [], []
    for _ in range(pairs):
        ours.append(await _timed(careful))
        theirs.append(await _timed(bare))
        hasties.append(await _timed(hasty))
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    unsettled = [a / b for a, b in zip(ours, hasties, strict=True)]
    lower, middle, upper = statistics.quantiles(ratios, n=4)
    return Overhead(
        wall_ratio=round(middle, 3),
        throughput_ratio=round(await _throughput_ratio(careful, bare, pairs), 3),
        wall_ratio_unsettled=round(statistics.median(unsettled), 3),
        spread={
            "wall_ratio_q1": round(lower, 3),
            "wall_ratio_q3": round(upper, 3),
            "careful_seconds": round(statistics.median(ours), 4),
            "bare_seconds": round(statistics.median(theirs), 4),
            "unsettled_seconds": round(statistics.median(hasties), 4),
        },
        pairs=pairs,
    )


async def _throughput_ratio(careful: Task, bare: Task, runs: int) -> float:
    """The median over alternating rounds of equal size."""
    ratios = []
    for _ in range(5):
        ours = await _timed(lambda: _several(careful, runs // 2))
        theirs = await _timed(lambda: _several(bare, runs // 2))
        ratios.append(theirs / ours)
    return statistics.median(ratios)


async def _several(task: Task, runs: int) -> None:
    left = iter(range(runs))

    async def work() -> None:
        for _ in left:
            await task()

    await asyncio.gather(*(work() for _ in range(AT_A_TIME)))


async def _timed(task: Task) -> float:
    began = time.perf_counter()
    await task()
    return time.perf_counter() - began


def _healthy(base_url: str) -> Investigation:
    return next(w for w in demo.investigations(base_url, LoadSettings()) if w.agent == "careful")


def _careful(tower: Tower, pool: BrowserPool, base_url: str, owner: str) -> Task:
    what = _healthy(base_url)

    async def once() -> None:
        await investigate(what, tower=tower, browsers=pool, owner=owner, reserved=lambda run: None)

    return once


def _bare(browser: Browser, base_url: str, read_cart: Callable[[Page], Awaitable[Any]]) -> Task:
    """The charter's steps in plain Playwright."""

    async def once() -> None:
        context = await browser.new_context(base_url=base_url)
        page = await context.new_page()
        cart = await read_cart(page)
        total = sum(item["price"] * item["qty"] for item in cart["items"])
        await expect(page.get_by_test_id("total")).to_have_text(f"{total:.2f}")
        await context.close()

    return once


async def _first_cart(page: Page) -> Any:  # Any: JSON
    async with page.expect_response("**/api/cart") as answer:
        await page.goto("/")
    return await (await answer.value).json()


async def _settled_cart(page: Page) -> Any:  # Any: JSON
    """The last answer that no newer request followed for as long as `net.json` waits."""
    loop = asyncio.get_running_loop()
    finished: asyncio.Future[float] = loop.create_future()
    responses: list[Response] = []

    def on_finished(request: Request) -> None:
        if request.url.endswith("/api/cart") and not finished.done():
            finished.set_result(loop.time())

    page.on("requestfinished", on_finished)
    page.on("response", lambda r: responses.append(r) if r.url.endswith("/api/cart") else None)
    await page.goto("/")
    quiet_at = await finished + QUIET
    await asyncio.sleep(max(0.0, quiet_at - loop.time()))
    return await responses[-1].json()


def _resident() -> int:
    """Bytes of resident memory of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))
