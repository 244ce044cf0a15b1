"""Makes sure that there is a browser: `python -m bughunt.browser.provision`, part of the set-up.

Where none starts, it tries Playwright's download, then, as root, Debian's package, and otherwise says
which command to type.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys

from playwright.async_api import async_playwright

from bughunt.browser.finding import launch
from bughunt.exceptions import BrowserMissing

__all__ = ["main"]

#: Seconds after which an installer is given up.
INSTALL_TIMEOUT = 600


async def _version() -> str:
    async with async_playwright() as playwright:
        browser = await launch(playwright)
        try:
            return browser.version
        finally:
            await browser.close()


def _installers() -> list[list[list[str]]]:
    """Each a list of commands that together install a browser."""
    playwright = [sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"]
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return [[playwright]]
    update, install = ["apt-get", "update", "-q"], ["apt-get", "install", "-q", "-y"]
    return [
        [[*playwright, "--with-deps"]],
        [update, [*install, "chromium-headless-shell"]],
        [update, [*install, "chromium"]],
    ]


def _run(command: list[str]) -> bool:
    print(f"No browser yet; trying: {' '.join(command)}", file=sys.stderr)  # noqa: T201 - a command's own output
    quiet_apt = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(  # noqa: S603 - our own fixed commands
            command, env=quiet_apt, timeout=INSTALL_TIMEOUT, capture_output=True, text=True, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def main() -> int:
    """Exit code 0 where a browser starts, else 4."""
    try:
        asyncio.run(_version())
    except BrowserMissing as missing:
        if os.environ.get("BUGHUNT_BROWSER"):
            print(missing, file=sys.stderr)  # noqa: T201
            return 4
    else:
        return 0
    for commands in _installers():
        if all(_run(command) for command in commands):
            try:
                version = asyncio.run(_version())
            except BrowserMissing:
                continue
            print(f"Chromium {version} is ready.", file=sys.stderr)  # noqa: T201
            return 0
    print(  # noqa: T201
        "No Chromium could be installed here. Type: sudo apt-get install chromium-headless-shell "
        "(or: .venv/bin/python -m playwright install chromium), then again.",
        file=sys.stderr,
    )
    return 4


if __name__ == "__main__":
    sys.exit(main())
