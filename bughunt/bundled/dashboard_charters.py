"""What a trader wants to know of the dashboard."""

from __future__ import annotations

from playwright.async_api import Page, expect

from bughunt import Network, charter

__all__ = [
    "shows_the_conversion",
    "shows_the_headlines",
    "shows_the_last_price",
    "shows_the_worth_at_that_price",
]

#: Milliseconds that expectations wait: twice what the app allows itself.
WAIT = 2000


@charter(question="Does the dashboard show how many visitors order?")
async def shows_the_conversion(page: Page, net: Network) -> None:
    await page.goto("/")
    figures = await net.json("**/api/figures", timeout=WAIT / 1000)
    rate = 100 * figures["orders"] / figures["visitors"]
    await expect(page.get_by_test_id("conversion")).to_have_text(f"{rate:.1f} %", timeout=WAIT)


@charter(question="Does the price follow the market?", depends_on=["**/live"])
async def shows_the_last_price(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.get_by_test_id("price")).to_have_text("104.00", timeout=WAIT)


@charter(question="Is the holding worth what its price says?", depends_on=["**/live"])
async def shows_the_worth_at_that_price(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.get_by_test_id("worth")).to_have_text("1248.00", timeout=WAIT)


@charter(question="Are the headlines there, the latest first?", depends_on=["**/news"])
async def shows_the_headlines(page: Page, net: Network) -> None:
    await page.goto("/")
    headlines = page.get_by_test_id("news").get_by_role("listitem")
    await expect(headlines).to_have_text(
        ["Rain until Friday", "Harbour reopens", "Markets open higher"], timeout=WAIT
    )
