"""How the verdict cases look: charters, and a careful agent over a real browser and a real server."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from playwright.async_api import Page, expect

from bughunt import Charter, Judgement, Network, charter
from bughunt.agents import careful
from bughunt.browser.load import LoadRequest, take_load
from bughunt.browser.pool import BrowserPool
from bughunt.settings import target_at
from bughunt.verdict.record import LoadRecord
from fault_routes import FaultLedger, parse_plan

#: Milliseconds that expectations wait: beyond the second after which silence says something.
PATIENCE = 1400


@charter(question="Does the cart show the right total?")
async def reads_the_cart(page: Page, net: Network) -> None:
    await page.goto("/")
    cart = await net.json("**/api/cart", timeout=PATIENCE / 1000)
    total = sum(item["price"] * item["qty"] for item in cart["items"])
    await expect(page.get_by_test_id("total")).to_have_text(f"{total:.2f}", timeout=PATIENCE)


@charter(question="Does the page show the right total, whatever it asks?")
async def declares_nothing(page: Page, net: Network) -> None:
    await page.goto("/", timeout=2000)
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)


@charter(question="Does the cart show the right total?", depends_on=["**/api/cart"])
async def closes_the_list(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)


@charter(question="Does the cart show the right total after a reload?")
async def reloads_the_cart(page: Page, net: Network) -> None:
    await page.goto("/")
    await net.json("**/api/cart")
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)
    await page.get_by_role("button", name="Reload").click()
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)


@charter(question="Does the embedded cart show the right total?")
async def looks_into_the_frame(page: Page, net: Network) -> None:
    await page.goto("/")
    total = page.frame_locator("iframe").get_by_test_id("total")
    await expect(total).to_have_text("487.00", timeout=PATIENCE)


@charter(question="Does the search show what was typed last?")
async def types_ahead(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.get_by_role("searchbox").press_sequentially("sock", delay=30)
    await expect(page.get_by_test_id("result")).to_have_text("sock, wool sock", timeout=PATIENCE)


class Looked:
    """What a careful agent said of a case, and what it saw."""

    def __init__(self, judgement: Judgement, loads: Sequence[LoadRecord], ledger: FaultLedger) -> None:
        self.judgement = judgement
        self.records = tuple(loads)
        self.ledger = ledger

    @property
    def kinds(self) -> set[str]:
        """The kinds of cause that the judgement names."""
        return {cause.kind.value for cause in self.judgement.causes}


async def look(
    pool: BrowserPool,
    base_url: str,
    wanted: Charter,
    *,
    faults: Sequence[str] = (),
    before_load: Callable[[int], None] = lambda number: None,
) -> Looked:
    """Let the careful agent investigate; there is no burst to wait out between loads here."""
    ledger = FaultLedger(parse_plan(faults))
    loads: list[LoadRecord] = []

    async def take(*, patient: bool = False, traced: bool = True) -> LoadRecord:
        before_load(len(loads) + 1)
        request = LoadRequest(
            charter=wanted,
            target=target_at(base_url),
            number=len(loads) + 1,
            ledger=ledger,
            patient=patient,
        )
        loads.append((await take_load(await pool.browser(), request)).record)
        return loads[-1]

    async def at_once(seconds: float) -> None:
        return None

    return Looked(await careful(take, pause=0.0, sleep=at_once), loads, ledger)


__all__ = [
    "Looked",
    "closes_the_list",
    "declares_nothing",
    "look",
    "looks_into_the_frame",
    "reads_the_cart",
    "reloads_the_cart",
    "types_ahead",
]
