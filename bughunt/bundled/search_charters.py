"""What somebody who looks for a product wants to know of the search."""

from __future__ import annotations

import re

from playwright.async_api import Page, expect

from bughunt import Network, charter

__all__ = [
    "narrows_by_category",
    "says_that_nothing_matches",
    "shows_the_price_of_each_result",
    "shows_what_was_typed_last",
]

#: Milliseconds that expectations wait: twice what the app allows itself.
WAIT = 2000
#: Milliseconds that an action may take: pages have what they act on from the start, but machines are busy.
ACT = 5_000

PRODUCTS = "**/api/products*"


@charter(question="Does the search end with what was typed last?")
async def shows_what_was_typed_last(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.get_by_role("searchbox").press_sequentially("socks", delay=30, timeout=ACT)
    await net.json(PRODUCTS, timeout=WAIT / 1000)
    results = page.get_by_test_id("results")
    await expect(results).to_have_attribute("aria-busy", "false", timeout=WAIT)
    await expect(page.get_by_test_id("status")).to_have_text("2 found for “socks”", timeout=WAIT)
    found = [re.compile(f"^{name}") for name in ("Wool socks", "Hiking socks")]
    await expect(results.get_by_role("listitem")).to_have_text(found, timeout=WAIT)


@charter(question="Does each result show its price?")
async def shows_the_price_of_each_result(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.get_by_role("searchbox").fill("mug", timeout=ACT)
    found = await net.json(PRODUCTS, timeout=WAIT / 1000)
    wanted = [f"{product['name']} {product['price']:.2f}" for product in found["products"]]
    await expect(page.get_by_test_id("results").get_by_role("listitem")).to_have_text(wanted, timeout=WAIT)


@charter(question="Does the category narrow the results?")
async def narrows_by_category(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.get_by_label("Category").select_option("toys", timeout=WAIT)
    await page.get_by_role("searchbox").fill("sock", timeout=ACT)
    await net.json(PRODUCTS, timeout=WAIT / 1000)
    results = page.get_by_test_id("results").get_by_role("listitem")
    await expect(results).to_have_text([re.compile("^Sock puppet")], timeout=WAIT)


@charter(question="Does the search say so where nothing matches?")
async def says_that_nothing_matches(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.get_by_role("searchbox").fill("submarine", timeout=ACT)
    await net.json(PRODUCTS, timeout=WAIT / 1000)
    await expect(page.get_by_test_id("status")).to_have_text("Nothing matches “submarine”", timeout=WAIT)
