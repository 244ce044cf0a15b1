"""Which Chromium is started, and what is said where none starts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from bughunt.browser import finding
from bughunt.browser.finding import candidates, launch
from bughunt.browser.pool import BrowserPool
from bughunt.exceptions import BrowserMissing


def on_the_path(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Only these programs are installed."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}" if name in names else None)


def test_what_the_environment_names_is_the_only_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    on_the_path(monkeypatch, "chromium")
    assert list(candidates({"BUGHUNT_BROWSER": "/opt/my-chromium"})) == ["/opt/my-chromium"]


@pytest.mark.parametrize("environment", [{}, {"BUGHUNT_BROWSER": ""}])
def test_playwrights_own_goes_before_the_path_and_the_headless_shell_before_the_rest(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    on_the_path(monkeypatch, "google-chrome", "chromium", "chromium-headless-shell")
    assert list(candidates(environment)) == [
        None,
        "/usr/bin/chromium-headless-shell",
        "/usr/bin/chromium",
        "/usr/bin/google-chrome",
    ]


def test_what_is_not_installed_is_no_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    on_the_path(monkeypatch)
    assert list(candidates({})) == [None]


@pytest.mark.parametrize("named", ["/nowhere/chromium", "folder", "text file"])
async def test_a_browser_that_is_named_and_does_not_start_is_told_on_one_line(
    named: str, tmp_path: Path
) -> None:
    (tmp_path / "text file").write_text("no program")
    (tmp_path / "folder").mkdir()
    async with async_playwright() as playwright:
        with pytest.raises(BrowserMissing) as missing:
            await launch(playwright, {"BUGHUNT_BROWSER": str(tmp_path / named)})
    message = str(missing.value)
    assert message.startswith("BUGHUNT_BROWSER does not start: ")
    assert str(tmp_path / named) in message
    assert "Unset it, or name a Chromium." in message
    assert len(message.splitlines()) == 1


async def test_no_browser_at_all_is_told_with_what_to_type_and_what_was_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finding, "candidates", lambda environment: iter(["/nowhere/a", "/nowhere/b"]))
    async with async_playwright() as playwright:
        with pytest.raises(BrowserMissing) as missing:
            await launch(playwright, {})
    message = str(missing.value)
    assert "playwright install chromium" in message
    assert message.index("/nowhere/a: ") < message.index("/nowhere/b: ")
    assert len(message.splitlines()) == 1


async def test_the_next_candidate_is_tried_where_one_does_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = list(candidates())
    monkeypatch.setattr(finding, "candidates", lambda environment: iter(["/nowhere/a", *real]))
    async with async_playwright() as playwright:
        started = await launch(playwright, {})
        assert started.is_connected()
        await started.close()


@pytest.mark.parametrize(("user", "sandboxed"), [(0, False), (1000, True)])
def test_the_sandbox_is_off_for_root_only(
    monkeypatch: pytest.MonkeyPatch, user: int, sandboxed: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    options = finding._options("/usr/bin/chromium")
    assert ("--no-sandbox" not in options["args"]) is sandboxed
    assert options["executable_path"] == "/usr/bin/chromium"


def test_playwrights_own_browser_needs_no_path() -> None:
    assert "executable_path" not in finding._options(None)


async def test_the_pool_starts_a_new_browser_where_the_last_one_died() -> None:
    async with BrowserPool.open() as pool:
        first = await pool.browser()
        assert await pool.browser() is first
        await first.close()
        second = await pool.browser()
        assert second is not first
        assert second.is_connected()
        assert pool.contexts == 0


async def test_the_pool_says_where_no_browser_starts() -> None:
    with pytest.raises(BrowserMissing):
        async with BrowserPool.open({"BUGHUNT_BROWSER": "/nowhere/chromium"}):
            pytest.fail("a pool without a browser")
