"""What a shopper wants to know of the cart."""

from __future__ import annotations

import re

from playwright.async_api import Page, expect

from bughunt import Network, charter

__all__ = ["lists_every_item", "says_what_happened", "shows_the_right_total"]

#: Milliseconds that expectations wait: twice what the app allows itself.
WAIT = 2000


@charter(question="Does the cart show the right total?")
async def shows_the_right_total(page: Page, net: Network) -> None:
    await page.goto("/")
    cart = await net.json("**/api/cart", timeout=WAIT / 1000)
    total = sum(item["price"] * item["qty"] for item in cart["items"])
    await expect(page.get_by_test_id("total")).to_have_text(f"{total:.2f}", timeout=WAIT)


@charter(question="Does the cart list every item with its price and quantity?")
async def lists_every_item(page: Page, net: Network) -> None:
    await page.goto("/")
    cart = await net.json("**/api/cart", timeout=WAIT / 1000)
    lines = page.locator("#items").get_by_role("row")
    wanted = [f"{item['name']}{item['price']:.2f}{item['qty']}" for item in cart["items"]]
    await expect(lines).to_have_text(wanted, timeout=WAIT)


@charter(
    question="Does the cart say what happened, whatever happens to its items?",
    depends_on=["**/api/cart"],
    resilient=True,
)
async def says_what_happened(page: Page, net: Network) -> None:
    await page.goto("/")
    told = re.compile(r"^(loaded|Loading failed: .+)$")
    await expect(page.get_by_test_id("status")).to_have_text(told, timeout=WAIT)
