"""Which Chromium to start, and how."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

from playwright.async_api import Browser, Playwright
from playwright.async_api import Error as PlaywrightError

from bughunt.exceptions import BrowserMissing

__all__ = ["candidates", "launch"]

#: Headless shell first: it needs a third of the time per page.
ON_THE_PATH = ("chromium-headless-shell", "chromium", "google-chrome")

#: No updates, sync or variations: the browser talks to the app under test and to nobody else.
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)


def candidates(environment: Mapping[str, str] | None = None) -> Iterator[str | None]:
    """Executables to try, best first; None stands for Playwright's own.

    What BUGHUNT_BROWSER names is the only candidate where it is set: a wish is not silently passed over.
    """
    named = (os.environ if environment is None else environment).get("BUGHUNT_BROWSER")
    if named:
        yield named
        return
    yield None
    for name in ON_THE_PATH:
        path = shutil.which(name)
        if path is not None:
            yield path


async def launch(playwright: Playwright, environment: Mapping[str, str] | None = None) -> Browser:
    """Start the first candidate that starts. Raises BrowserMissing with what to do."""
    tried: list[str] = []
    for path in candidates(environment):
        try:
            return await playwright.chromium.launch(**_options(path))
        except PlaywrightError as error:
            tried.append(f"{path or 'Playwright’s own'}: {_first_line(error)}")
    if (os.environ if environment is None else environment).get("BUGHUNT_BROWSER"):
        raise BrowserMissing(f"BUGHUNT_BROWSER does not start: {tried[0]}. Unset it, or name a Chromium.")
    raise BrowserMissing(
        "No Chromium could be started. Install one: `python -m playwright install chromium`, or on Debian "
        "`sudo apt-get install chromium-headless-shell`, or name one in BUGHUNT_BROWSER. "
        f"Tried {'; '.join(tried)}"
    )


def _options(path: str | None) -> dict[str, Any]:  # Any: Playwright's own keyword arguments
    # Chromium refuses to start its sandbox as root; everywhere else the sandbox stays on.
    arguments = [*QUIET, "--no-sandbox"] if os.geteuid() == 0 else list(QUIET)
    return {"headless": True, "args": arguments} | ({"executable_path": path} if path else {})


def _first_line(error: PlaywrightError) -> str:
    return error.message.strip().splitlines()[0] if error.message.strip() else "no message"
