"""What a forgetful person wants to know of the to-do list. Each load has a list of its own."""

from __future__ import annotations

import re

from playwright.async_api import Locator, Page, expect

from bughunt import Load, Network, charter

__all__ = ["deletes_an_item", "keeps_an_item", "saves_an_item", "tells_what_was_saved", "ticks_an_item_off"]

#: Milliseconds that expectations wait: twice what the app allows itself.
WAIT = 2000
#: Milliseconds that an action may take: pages have what they act on from the start, but machines are busy.
ACT = 5_000

ITEMS = "**/api/lists/*/items"
ITEM = "**/api/lists/*/items/*"


@charter(question="Is a new item on the list, and saved?")
async def saves_an_item(page: Page, net: Network, load: Load) -> None:
    await _open(page, load)
    await _add(page, net, "Buy milk")
    await expect(_items(page)).to_have_text(["Buy milk"], timeout=WAIT)


@charter(question="Is a new item on the list after a reload, once?")
async def keeps_an_item(page: Page, net: Network, load: Load) -> None:
    await _open(page, load)
    await _add(page, net, "Buy milk")
    await page.reload()
    await net.json(ITEMS, method="GET", timeout=WAIT / 1000)
    await expect(_items(page)).to_have_text(["Buy milk"], timeout=WAIT)


@charter(question="Does an item that is ticked off count as done, and stay so?")
async def ticks_an_item_off(page: Page, net: Network, load: Load) -> None:
    await _open(page, load)
    await _add(page, net, "Buy milk")
    await _add(page, net, "Call Ada")
    await page.get_by_role("checkbox", name="Buy milk").first.click(timeout=ACT)
    await net.acknowledged(ITEM, method="PATCH")
    await _is_saved(page)
    await expect(page.get_by_test_id("left")).to_have_text("1 left", timeout=WAIT)
    await page.reload()
    await net.json(ITEMS, method="GET", timeout=WAIT / 1000)
    await expect(page.get_by_role("checkbox", name="Buy milk")).to_be_checked(timeout=WAIT)
    await expect(page.get_by_role("checkbox", name="Call Ada")).not_to_be_checked(timeout=WAIT)


@charter(question="Is a deleted item gone after a reload, and the other one still there?")
async def deletes_an_item(page: Page, net: Network, load: Load) -> None:
    await _open(page, load)
    await _add(page, net, "Buy milk")
    await _add(page, net, "Call Ada")
    await page.get_by_role("button", name="Delete Buy milk").first.click(timeout=ACT)
    await net.acknowledged(ITEM, method="DELETE")
    await _is_saved(page)
    await page.reload()
    await net.json(ITEMS, method="GET", timeout=WAIT / 1000)
    await expect(_items(page)).to_have_text(["Call Ada"], timeout=WAIT)


@charter(
    question="Does the list say whether an item is saved, whatever happens to it?",
    depends_on=[ITEMS],
    resilient=True,
)
async def tells_what_was_saved(page: Page, net: Network, load: Load) -> None:
    await page.goto(f"/lists/{load.unique}")
    status = page.get_by_test_id("status")
    await expect(status).to_have_text(re.compile(r"^(Loaded|Loading failed: .+)$"), timeout=WAIT)
    await _submit(page, "Buy milk")
    await expect(status).to_have_text(re.compile(r"^(Saved|Could not save: .+)$"), timeout=WAIT)
    is_saved = await status.text_content() == "Saved"
    await expect(_items(page)).to_have_text(["Buy milk"] if is_saved else [], timeout=WAIT)


async def _open(page: Page, load: Load) -> None:
    await page.goto(f"/lists/{load.unique}")
    await expect(page.get_by_test_id("status")).to_have_text("Loaded", timeout=WAIT)


async def _add(page: Page, net: Network, text: str) -> None:
    await _submit(page, text)
    await net.acknowledged(ITEMS, method="POST")
    await _is_saved(page)


async def _submit(page: Page, text: str) -> None:
    await page.get_by_label("New item").fill(text, timeout=ACT)
    await page.get_by_role("button", name="Add").click(timeout=ACT)


async def _is_saved(page: Page) -> None:
    await expect(page.get_by_test_id("status")).to_have_text("Saved", timeout=WAIT)


def _items(page: Page) -> Locator:
    return page.get_by_role("list", name="Items").locator("label")
