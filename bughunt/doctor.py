"""`bughunt doctor`: is everything here that an investigation needs, and if not, what to do."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct
from playwright.async_api import async_playwright

from bughunt.browser.finding import launch
from bughunt.exceptions import BughuntError
from bughunt.settings import Settings
from bughunt.tower import Tower

__all__ = ["Finding", "examine"]


class Finding(Struct, frozen=True, kw_only=True):
    """What one check found."""

    what: str
    ok: bool
    told: str
    """What is there, or what to do."""
    required: bool = True
    """False: only some agents need it."""


def examine(settings: Settings, environment: Mapping[str, str] | None = None) -> list[Finding]:
    """All checks, each with what to do. Never raises for what it checks."""
    environment = os.environ if environment is None else environment
    return [
        _finding("browser", lambda: asyncio.run(_browser(environment))),
        _finding("database", lambda: _database(settings)),
        _finding("writable folder", lambda: _folder(Path.cwd())),
        _model_key(environment),
    ]


def _finding(what: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(what=what, ok=True, told=check())
    except (BughuntError, OSError) as problem:
        return Finding(what=what, ok=False, told=str(problem))


async def _browser(environment: Mapping[str, str]) -> str:
    async with async_playwright() as playwright:
        browser = await launch(playwright, environment)
        try:
            return f"Chromium {browser.version}"
        finally:
            await browser.close()


def _database(settings: Settings) -> str:
    tower = Tower.open(settings.db)
    tower.close()
    return f"{tower.name}, schema up to date"


def _folder(folder: Path) -> str:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return f"{folder} (settings, reports)"
    except OSError as refused:
        raise OSError(f"{folder}: {refused.strerror}. Work in a folder that you may write to.") from refused


def _model_key(environment: Mapping[str, str]) -> Finding:
    if environment.get("ANTHROPIC_API_KEY"):
        return Finding(what="model key", ok=True, told="ANTHROPIC_API_KEY is set", required=False)
    told = "ANTHROPIC_API_KEY is not set; no agent of this version needs it"
    return Finding(what="model key", ok=False, told=told, required=False)
