"""The charters of the demo: the cart's total, in the right build and in the one with a bug."""

from __future__ import annotations

from playwright.async_api import Page, expect

from bughunt import Network, charter

__all__ = ["cart_total", "cart_total_buggy"]


@charter(question="Does the cart show the right total?")
async def cart_total(page: Page, net: Network) -> None:
    """The build that is right."""
    await _shows_the_right_total(page, net, "/")


@charter(question="Does the cart of the buggy build show the right total?")
async def cart_total_buggy(page: Page, net: Network) -> None:
    """The build that forgets the quantity."""
    await _shows_the_right_total(page, net, "/?v=buggy")


async def _shows_the_right_total(page: Page, net: Network, path: str) -> None:
    await page.goto(path)
    cart = await net.json("**/api/cart")
    total = sum(item["price"] * item["qty"] for item in cart["items"])
    await expect(page.get_by_test_id("total")).to_have_text(f"{total:.2f}", timeout=2000)
