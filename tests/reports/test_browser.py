"""The HTML report in a real browser, narrow and wide."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from bughunt.reports import render_html
from tests.reports import samples


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rich sample as a file."""
    views, shelf = samples.rich_sample()
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(
        render_html(views, evidence_bytes=shelf, now=samples.NOW, demo=samples.demo_sample()),
        encoding="utf-8",
    )
    return file


async def opened(browser: Browser, report: Path, width: int, scheme: str = "light") -> tuple[Page, list[str]]:
    """The report in a window, and a growing list of what it asked for or complained of."""
    page = await browser.new_page(
        viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
    )
    noticed: list[str] = []
    page.on("console", lambda message: noticed.append(message.text))
    page.on("pageerror", lambda error: noticed.append(str(error)))
    inline = (report.as_uri(), "data:image/png;base64,")
    page.on("request", lambda request: request.url.startswith(inline) or noticed.append(request.url))
    await page.goto(report.as_uri())
    return page, noticed


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 920, 1400])
async def test_it_fits_asks_for_nothing_and_complains_of_nothing(
    browser: Browser, report: Path, width: int, scheme: str
) -> None:
    page, noticed = await opened(browser, report, width, scheme)
    await page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    widths = await page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert widths[0] <= widths[1]
    assert noticed == []
    await page.close()


async def test_loads_stand_side_by_side_where_there_is_room(browser: Browser, report: Path) -> None:
    for width, abreast in ((1400, 3), (360, 1)):
        page, _ = await opened(browser, report, width)
        boxes = [await load.bounding_box() for load in await page.locator("#run-2 .load").all()]
        assert len({round(box["x"]) for box in boxes if box}) == abreast
        await page.close()


async def test_the_summary_filters_and_sorts(browser: Browser, report: Path) -> None:
    page, _ = await opened(browser, report, 1400)
    rows = page.locator("#investigations tbody tr")
    await page.get_by_role("button", name="ENV_ERROR 2", exact=True).click()
    await expect(rows.locator("visible=true")).to_have_count(2)
    await expect(page.locator("article").locator("visible=true")).to_have_count(2)
    await page.get_by_role("button", name="all 11").click()
    await page.get_by_role("button", name="Run").click()
    await expect(page.get_by_role("columnheader", name="Run")).to_have_attribute("aria-sort", "ascending")
    await expect(rows.first).to_contain_text("RUN-1")
    await page.close()


async def test_a_link_opens_what_it_leads_to(browser: Browser, report: Path) -> None:
    page, _ = await opened(browser, report, 1400)
    loads = page.locator("#run-1 .loads")
    await expect(loads).to_be_hidden()
    await page.get_by_role("link", name="RUN-1", exact=True).click()
    await expect(loads).to_be_visible()
    await page.close()
