"""Break the network of a Playwright page on purpose, and know afterwards what was broken.

In a plain Playwright test:

    from fault_routes import FaultLedger, install, parse_plan

    async def test_the_cart_survives_a_reset(browser):
        ledger = FaultLedger(parse_plan(["reset_once@**/api/cart", "503:method=POST@/api/orders"]))
        context = await browser.new_context(service_workers="block")
        faults = await install(context, ledger)
        page = await context.new_page()
        await page.goto("http://127.0.0.1:8000/")
        await expect(page.get_by_test_id("total")).to_have_text("487.00")
        assert [firing.fault for firing in ledger.firings] == ["reset:times=1@**/api/cart"]
        assert [fault.spec for fault in ledger.unfired()] == ["status=503:method=POST@/api/orders"]
        assert not ledger.errors
        await faults.close()
        await context.close()

A service worker hides requests from routing, hence `service_workers="block"`. `fault_routes.specs` tells how
a fault is written, `fault_routes.routes` what routing cannot break. Only `install` needs Playwright.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fault_routes.effects import (
    ABORT_CODES,
    Abort,
    Delay,
    Effect,
    EmptyBody,
    FaultError,
    HtmlInsteadOfJson,
    LostAnswer,
    MalformedJson,
    NoAnswer,
    Respond,
    TruncatedJson,
)
from fault_routes.faults import (
    RESOURCE_TYPES,
    Always,
    Chance,
    Fault,
    FaultPlan,
    FirstN,
    Nth,
    When,
    Where,
)
from fault_routes.ledger import FaultLedger, Firing, HandlerError
from fault_routes.patterns import PatternError, matches
from fault_routes.specs import FaultSpecError, parse_fault, parse_plan

if TYPE_CHECKING:
    from fault_routes.routes import Installation, install

__all__ = [
    "ABORT_CODES",
    "RESOURCE_TYPES",
    "Abort",
    "Always",
    "Chance",
    "Delay",
    "Effect",
    "EmptyBody",
    "Fault",
    "FaultError",
    "FaultLedger",
    "FaultPlan",
    "FaultSpecError",
    "Firing",
    "FirstN",
    "HandlerError",
    "HtmlInsteadOfJson",
    "Installation",
    "LostAnswer",
    "MalformedJson",
    "NoAnswer",
    "Nth",
    "PatternError",
    "Respond",
    "TruncatedJson",
    "When",
    "Where",
    "install",
    "matches",
    "parse_fault",
    "parse_plan",
]


def __getattr__(name: str) -> object:
    """Plans and ledgers are also for programs that have no browser: Playwright is loaded when asked for."""
    if name in {"Installation", "install"}:
        from fault_routes import routes

        return getattr(routes, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
