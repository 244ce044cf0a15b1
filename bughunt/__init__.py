"""BugHunt: test agents whose verdicts can be believed.

A charter is a plain Playwright coroutine with a question::

    from bughunt import Network, charter
    from playwright.async_api import Page, expect

    @charter(question="Does the cart show the right total?")
    async def cart_total(page: Page, net: Network) -> None:
        await page.goto("/")
        cart = await net.json("**/api/cart")
        total = sum(item["price"] * item["qty"] for item in cart["items"])
        await expect(page.get_by_test_id("total")).to_have_text(f"{total:.2f}")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bughunt.browser.network import Network, NetworkError
    from bughunt.charters import Charter, Load, charter
    from bughunt.exceptions import BughuntError
    from bughunt.health import Answer
    from bughunt.settings import Settings, Target
    from bughunt.verdict.judgement import Cause, CauseKind, Judgement, Level, Reason, State, Verdict

__all__ = [
    "Answer",
    "BughuntError",
    "Cause",
    "CauseKind",
    "Charter",
    "Judgement",
    "Level",
    "Load",
    "Network",
    "NetworkError",
    "Reason",
    "Settings",
    "State",
    "Target",
    "Verdict",
    "__version__",
    "charter",
]

__version__ = "0.1.0"

_HOMES = {
    "Network": "bughunt.browser.network",
    "NetworkError": "bughunt.browser.network",
    "Answer": "bughunt.health",
    "Charter": "bughunt.charters",
    "Load": "bughunt.charters",
    "charter": "bughunt.charters",
    "BughuntError": "bughunt.exceptions",
    "Settings": "bughunt.settings",
    "Target": "bughunt.settings",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the rules must not drag a browser library in."""
    if name not in __all__:
        raise AttributeError(f"module 'bughunt' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, "bughunt.verdict.judgement")), name)
