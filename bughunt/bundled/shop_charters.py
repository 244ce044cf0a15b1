"""What a customer wants to know of the shop. Each load is a customer of its own."""

from __future__ import annotations

import re

from playwright.async_api import Page, expect

from bughunt import Load, Network, charter

__all__ = [
    "confirms_an_order",
    "finds_the_order_again",
    "lists_the_catalogue",
    "orders_at_most_once",
    "tells_what_is_wrong",
]

#: Milliseconds that expectations wait: twice what the app allows itself.
WAIT = 2000
#: Milliseconds that an action may take: pages have what they act on from the start, but machines are busy.
ACT = 5_000
#: An order is sent a second time where the first one went unanswered.
ORDER_WAIT = 4000

PRODUCTS = "**/api/products"
ORDER = "**/api/orders"
ORDERS = "**/api/customers/*/orders"


@charter(question="Does the shop list its catalogue with prices?")
async def lists_the_catalogue(page: Page, net: Network) -> None:
    await page.goto("/")
    catalogue = await net.json(PRODUCTS, timeout=WAIT / 1000)
    wanted = [f"{product['name']}, {product['price']:.2f}" for product in catalogue["products"]]
    await expect(page.get_by_label("Product").locator("option")).to_have_text(wanted, timeout=WAIT)


@charter(question="Is an order confirmed with the right total?")
async def confirms_an_order(page: Page, net: Network, load: Load) -> None:
    await _order_two_teapots(page, load)
    await net.acknowledged(ORDER, method="POST")
    confirmed = "Ordered: 2 × Teapot, 39.00"
    await expect(page.get_by_test_id("status")).to_have_text(confirmed, timeout=WAIT)


@charter(question="Is an order among the customer's orders after a reload?")
async def finds_the_order_again(page: Page, net: Network, load: Load) -> None:
    await _order_two_teapots(page, load)
    await net.acknowledged(ORDER, method="POST")
    await expect(page.get_by_test_id("status")).to_have_text(re.compile("^Ordered: "), timeout=WAIT)
    await page.reload()
    await net.json(ORDERS, timeout=WAIT / 1000)
    orders = page.get_by_test_id("orders").get_by_role("listitem")
    await expect(orders).to_have_text(["2 × Teapot, 39.00"], timeout=WAIT)


@charter(
    question="Is it one order where the page says so, and never two, even if the answer is lost?",
    depends_on=[ORDER],
    resilient=True,
)
async def orders_at_most_once(page: Page, net: Network, load: Load) -> None:
    await _order_two_teapots(page, load)
    status = page.get_by_test_id("status")
    await expect(status).to_have_text(re.compile("^(Ordered|Could not order): "), timeout=ORDER_WAIT)
    says_ordered = (await status.text_content() or "").startswith("Ordered")
    await page.reload()
    orders = (await net.json(ORDERS, timeout=WAIT / 1000))["orders"]
    assert len(orders) == 1 if says_ordered else len(orders) < 2, f"{len(orders)} orders"


@charter(
    question="Does the shop say so where the catalogue cannot be loaded?",
    depends_on=[PRODUCTS],
    resilient=True,
)
async def tells_what_is_wrong(page: Page, net: Network) -> None:
    await page.goto("/")
    told = re.compile(r"^(Choose what you like\.|The catalogue cannot be loaded: .+)$")
    await expect(page.get_by_test_id("status")).to_have_text(told, timeout=WAIT)


async def _order_two_teapots(page: Page, load: Load) -> None:
    await page.goto(f"/?customer={load.unique}")
    await expect(page.get_by_role("button", name="Order")).to_be_visible(timeout=WAIT)
    await page.get_by_label("Product").select_option("teapot", timeout=WAIT)
    await page.get_by_label("Quantity").fill("2", timeout=ACT)
    await page.get_by_role("button", name="Order").click(timeout=ACT)
