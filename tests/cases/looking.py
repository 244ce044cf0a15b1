"""How the verdict cases look: charters, and a careful agent over a real browser, server and tower."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pytest
from _pytest.mark import ParameterSet
from msgspec.structs import replace
from playwright.async_api import Page, expect

from bughunt import Charter, Judgement, Network, Verdict, charter
from bughunt.browser.pool import BrowserPool
from bughunt.investigation import Investigation, investigate
from bughunt.settings import Keep, LoadSettings, target_at
from bughunt.tower import InvestigationView, Tower
from bughunt.workers import new_owner
from fault_routes import parse_plan
from tests.servers.misbehaving import MisbehavingServer, Routes

#: The names of rows in the verdict cases: R15b, P8, W1.
_ROW = re.compile(r"[RPWC]\d+[a-d]?(?= |$)")

#: Milliseconds that expectations wait: beyond the second after which silence says something.
PATIENCE = 1400
#: Milliseconds that expectations wait where no rule asks for that second.
SOON = 900


@charter(question="Does the page show the right total, however long it takes?")
async def waits(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=5000)


@charter(question="Does the page show the right total soon?")
async def looks(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=SOON)


@charter(question="Does the page show the total that it was given?")
async def reads(page: Page, net: Network) -> None:
    await page.goto("/")
    cart = await net.json("**/api/cart", timeout=SOON / 1000)
    total = sum(item["price"] * item["qty"] for item in cart["items"])
    await expect(page.get_by_test_id("total")).to_have_text(f"{total:.2f}", timeout=SOON)


@charter(question="Does the cart show the right total?")
async def reads_the_cart(page: Page, net: Network) -> None:
    await page.goto("/")
    cart = await net.json("**/api/cart", timeout=PATIENCE / 1000)
    total = sum(item["price"] * item["qty"] for item in cart["items"])
    await expect(page.get_by_test_id("total")).to_have_text(f"{total:.2f}", timeout=PATIENCE)


@charter(question="Does the page show the right total, whatever it asks?")
async def declares_nothing(page: Page, net: Network) -> None:
    await page.goto("/", timeout=2000)
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)


@charter(question="Does the cart show the right total?", depends_on=["**/api/cart"])
async def closes_the_list(page: Page, net: Network) -> None:
    await page.goto("/")
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)


@charter(question="Does the cart show the right total after a reload?")
async def reloads_the_cart(page: Page, net: Network) -> None:
    await page.goto("/")
    await net.json("**/api/cart")
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)
    await page.get_by_role("button", name="Reload").click()
    await expect(page.get_by_test_id("total")).to_have_text("487.00", timeout=PATIENCE)


@charter(question="Does the embedded cart show the right total?")
async def looks_into_the_frame(page: Page, net: Network) -> None:
    await page.goto("/")
    total = page.frame_locator("iframe").get_by_test_id("total")
    await expect(total).to_have_text("487.00", timeout=PATIENCE)


@charter(question="Does the search show what was typed last?")
async def types_ahead(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.get_by_role("searchbox").press_sequentially("sock", delay=30)
    await expect(page.get_by_test_id("result")).to_have_text("sock, wool sock", timeout=PATIENCE)


class Looked:
    """What the tower has of a case: it went through the gate like any other run."""

    def __init__(self, view: InvestigationView) -> None:
        assert view.judgement is not None, view.notes
        self.judgement: Judgement = view.judgement
        self.records = view.loads
        self.landing = view.run.landing_note
        self.unfired = view.unfired

    @property
    def kinds(self) -> set[str]:
        """The kinds of cause that the judgement names."""
        return {cause.kind.value for cause in self.judgement.causes}


class Looking:
    """Lets the careful agent investigate; there is no burst to wait out between loads here."""

    def __init__(self, tower: Tower, browsers: BrowserPool) -> None:
        self._tower = tower
        self._browsers = browsers

    async def __call__(
        self, base_url: str, wanted: Charter, *, faults: Sequence[str] = (), **target: Any
    ) -> Looked:
        what = Investigation(
            charter=wanted,
            target=replace(target_at(base_url), **target),
            agent="careful",
            plan=parse_plan(faults),
            loading=LoadSettings(pause=0.0, keep=Keep.NOTHING),
        )
        run = await investigate(
            what, tower=self._tower, browsers=self._browsers, owner=new_owner(), reserved=lambda run: None
        )
        return Looked(self._tower.view(run.id))


@dataclass(frozen=True, kw_only=True)
class Case:
    """An app, what its server and our faults do, and what must be said."""

    name: str
    routes: Routes
    charter: Charter = looks
    faults: Sequence[str] = ()
    verdict: Verdict
    kinds: frozenset[str] = frozenset()
    """The kinds of cause that the judgement must name, and no other."""


def case(name: str, verdict: Verdict, *kinds: str, **given: Any) -> Case:
    """A case; `given` are its fields. What is to hold has the time that a busy machine needs."""
    usual = waits if verdict is Verdict.PASS else looks
    return Case(name=name, verdict=verdict, kinds=frozenset(kinds), **({"charter": usual} | given))


class Named(Protocol):
    """A case of any kind."""

    @property
    def name(self) -> str: ...


def params(cases: Iterable[Named]) -> list[ParameterSet]:
    """For `parametrize`: the first case of each row of the verdict cases; all others are thorough."""
    rows: set[str] = set()
    given = []
    for one in cases:
        row = _ROW.match(one.name)
        first = row is not None and row[0] not in rows
        rows |= {row[0]} if row else set()
        given.append(pytest.param(one, id=one.name, marks=() if first else pytest.mark.thorough))
    return given


def varied(cases: Mapping[str, object]) -> list[ParameterSet]:
    """For `parametrize`, by name: the first case; the others, which vary it, are thorough."""
    marks = [(), *[pytest.mark.thorough] * (len(cases) - 1)]
    return [
        pytest.param(*(one if isinstance(one, tuple) else (one,)), id=name, marks=mark)
        for (name, one), mark in zip(cases.items(), marks, strict=True)
    ]


async def check(look: Looking, given: Case) -> Looked:
    """Look at the case, and hold the judgement to what it should be."""
    async with MisbehavingServer(given.routes) as server:
        looked = await look(server.url, given.charter, faults=given.faults)
    assert looked.judgement.verdict is given.verdict, looked.judgement.sentence
    assert looked.kinds == given.kinds, looked.judgement.sentence
    return looked


__all__ = [
    "SOON",
    "Case",
    "Looked",
    "Looking",
    "case",
    "check",
    "closes_the_list",
    "declares_nothing",
    "looks",
    "looks_into_the_frame",
    "params",
    "reads",
    "reads_the_cart",
    "reloads_the_cart",
    "types_ahead",
    "waits",
]
