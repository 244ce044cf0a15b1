"""How the verdict cases look: charters, and a careful agent over a real browser, server and tower."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.async_api import Page, expect

from bughunt import Charter, Judgement, Network, charter
from bughunt.browser.pool import BrowserPool
from bughunt.investigation import Investigation, investigate
from bughunt.settings import LoadSettings, target_at
from bughunt.tower import InvestigationView, Tower
from bughunt.workers import new_owner
from fault_routes import parse_plan

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
    """What the tower has of a case: it went through the gate like any other run."""

    def __init__(self, view: InvestigationView) -> None:
        assert view.judgement is not None, view.notes
        self.judgement: Judgement = view.judgement
        self.records = view.loads
        self.unfired = view.unfired

    @property
    def kinds(self) -> set[str]:
        """The kinds of cause that the judgement names."""
        return {cause.kind.value for cause in self.judgement.causes}


class Looking:
    """Lets the careful agent investigate; there is no burst to wait out between loads here."""

    def __init__(self, tower: Tower, browsers: BrowserPool) -> None:
        self._tower = tower
        self._browsers = browsers

    async def __call__(self, base_url: str, wanted: Charter, *, faults: Sequence[str] = ()) -> Looked:
        what = Investigation(
            charter=wanted,
            target=target_at(base_url),
            agent="careful",
            plan=parse_plan(faults),
            loading=LoadSettings(pause=0.0),
        )
        run = await investigate(
            what, tower=self._tower, browsers=self._browsers, owner=new_owner(), reserved=lambda run: None
        )
        return Looked(self._tower.view(run.id))


__all__ = [
    "Looked",
    "Looking",
    "closes_the_list",
    "declares_nothing",
    "looks_into_the_frame",
    "reads_the_cart",
    "reloads_the_cart",
    "types_ahead",
]
