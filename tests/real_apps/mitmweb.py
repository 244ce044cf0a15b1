"""mitmweb: React that fetches its state once a WebSocket is open, and follows changes on that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import Page, expect

from bughunt import Load, Network, charter
from tests.real_apps.running import App, run_seed
from tests.real_apps.trying import Trial
from tests.servers.rewriting import Rewrite


async def _seed(folder: Path) -> None:
    await run_seed("mitmproxy_flows.py", str(folder / "flows"), folder=folder)


def _command(folder: Path, port: int) -> Sequence[str]:
    settings = ("--set", f"confdir={folder}", "--no-server", "--rfile", str(folder / "flows"))
    return ("mitmweb", "--no-web-open-browser", "--web-port", str(port), *settings)


APP = App(name="mitmweb", distribution="mitmproxy", ready_at="/flows", seed=_seed, command=_command)


@charter(question="Does the list show every recorded flow with its method and status?")
async def lists_the_flows(page: Page, net: Network) -> None:
    await page.goto("/")
    flows = await net.json("**/flows")
    methods = [flow["request"]["method"] for flow in flows]
    await expect(page.locator("td.col-method")).to_have_text(methods)
    statuses = [str(flow["response"]["status_code"]) for flow in flows]
    await expect(page.locator("td.col-status")).to_have_text(statuses)


@charter(question="Can it be read what the server answered?")
async def shows_what_was_answered(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.get_by_role("row", name="harbour.example/pier").click(timeout=10_000)
    await page.get_by_role("link", name="Response").click()
    await expect(page.locator(".contentview")).to_contain_text("Where is the pier?")


@charter(question="Does a comment on a flow stay?")
async def keeps_a_comment(page: Page, net: Network, load: Load) -> None:
    await page.goto("/")
    await page.get_by_role("row", name="harbour.example/pier").click(timeout=10_000)
    await page.get_by_role("link", name="Comment").click()
    field = page.locator(".timing .inline-input")
    await field.click()
    await expect(field).to_have_attribute("contenteditable", "plaintext-only")  # before that, keys are lost
    await expect(field).to_be_focused()
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text(load.unique)
    await page.keyboard.press("Enter")
    await net.acknowledged("**/flows/*", method="PUT")
    await expect(field).to_have_text(load.unique)


TRIALS = (
    Trial(
        app=APP,
        charter=lists_the_flows,
        api="**/flows",
        method="GET",
        bug=Rewrite(
            pattern="**/static/app.js",
            change=lambda script: script.replace(b'"col-method"},', b'"col-method"},"NOT-"+'),
        ),
    ),
    Trial(
        app=APP,
        charter=shows_what_was_answered,
        api="**/response/content/**",
        method="GET",
        bug=Rewrite(
            pattern="**/response/content/**",
            change=lambda body: body.replace(b"Where is the pier?", b"There is no pier."),
        ),
    ),
    Trial(
        app=APP,
        charter=keeps_a_comment,
        api="**/updates",
        method="GET",
        bug=Rewrite(
            pattern="**/static/app.js",
            change=lambda script: script.replace(b"{comment:n}", b'{comment:n+"?"}'),
        ),
    ),
)
