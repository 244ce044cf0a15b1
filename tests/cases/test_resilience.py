"""Charters that must hold despite the planned faults (rows W7 to W10)."""

from __future__ import annotations

import json
import re
from collections import Counter

from playwright.async_api import Page, expect

from bughunt import Network, Verdict, charter
from bughunt.charters import Load
from tests.cases.looking import Looking
from tests.servers.answers import Answer, Html, Json, Request, Reset, sequence
from tests.servers.misbehaving import MisbehavingServer, Routes
from tests.servers.pages import page

PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR

LOST_ONCE = ("lost_answer:times=1@**/api/orders",)
DOWN = ("503@**/api/orders",)


def shop(*, key: bool = False, message: str = "Please try again.", count: int = 1) -> str:
    """A page that orders what its URL names, once more where the network fails, and counts the orders.

    With a `key` the server knows an order that is sent again; `count` is by what the page multiplies.
    """
    settings = json.dumps({"key": key, "message": message, "count": count})
    return page(_ORDERING, script=f"const settings = {settings};\n{_SCRIPT}")


_ORDERING = '<p role="status">Orders: <output data-testid="orders"></output></p>'
_SCRIPT = """
const note = new URL(location).searchParams.get("note");
const key = () => (settings.key ? "k" : String(Math.random()));
const order = () => fetch("/api/orders", { method: "POST", body: JSON.stringify({ note, key: key() }) });
(async () => { try {
  const answer = await order().catch(order);
  if (!answer.ok) { document.body.textContent = settings.message; return; }
  const { count } = await (await fetch(`/api/count?note=${note}`)).json();
  document.querySelector("output").textContent = count * settings.count;
} finally { document.title = "done"; } })();
"""


class Orders:
    """Takes each order once by its note and key."""

    def __init__(self) -> None:
        self.taken: set[tuple[str, str]] = set()

    def order(self, request: Request) -> Answer:
        """POST /api/orders."""
        sent = json.loads(request.body)
        self.taken.add((sent["note"], str(sent["key"])))
        return Json({}, status=201)

    def count(self, request: Request) -> Answer:
        """GET /api/count?note=..."""
        return Json({"count": Counter(note for note, _ in self.taken)[request.parameter("note")]})


def serving(document: str) -> Routes:
    orders = Orders()
    return {"/": Html(document), "/api/orders": orders.order, "/api/count": orders.count}


@charter(question="Is there exactly one order, whatever the network does?", resilient=True)
async def orders_once(page: Page, net: Network, load: Load) -> None:
    await page.goto(f"/?note={load.unique}")
    await expect(page).to_have_title("done", timeout=5000)
    await expect(page.get_by_test_id("orders")).to_have_text("1", timeout=100)


@charter(question="Is there an order, or an honest message?", resilient=True)
async def says_so(page: Page, net: Network) -> None:
    await page.goto("/?note=n")
    await expect(page).to_have_title("done", timeout=5000)
    await expect(page.locator("body")).to_have_text(re.compile(r"try again|Orders: [1-9]"), timeout=100)


async def test_an_order_sent_twice_after_a_reset_is_a_bug(look: Looking) -> None:
    """W7: the fault fired, it came again, and without the fault the charter holds."""
    async with MisbehavingServer(serving(shop())) as server:
        looked = await look(server.url, orders_once, faults=LOST_ONCE)
    judgement = looked.judgement
    assert (judgement.verdict, judgement.rule) == (BUG, "not resilient"), judgement.sentence
    assert [load.control for load in looked.records] == [False, False, True]
    assert "load 2," in (looked.landing or ""), "the control load did not show it"
    assert [any(x.fault for x in load.exchanges) for load in looked.records] == [True, True, False]


async def test_an_order_with_a_key_survives_a_reset(look: Looking) -> None:
    """W8."""
    async with MisbehavingServer(serving(shop(key=True))) as server:
        looked = await look(server.url, orders_once, faults=LOST_ONCE)
    assert (looked.judgement.verdict, len(looked.records)) == (PASS, 1), looked.judgement.sentence
    assert looked.unfired == ()


async def test_a_blank_page_is_no_honest_message(look: Looking) -> None:
    """W9."""
    async with MisbehavingServer(serving(shop(message=""))) as server:
        looked = await look(server.url, says_so, faults=DOWN)
    assert (looked.judgement.verdict, looked.judgement.rule) == (BUG, "not resilient")


async def test_an_honest_message_is_enough(look: Looking) -> None:
    """W9, its right twin: a planned fault is no cause."""
    async with MisbehavingServer(serving(shop())) as server:
        looked = await look(server.url, says_so, faults=DOWN)
    assert (looked.judgement.verdict, looked.kinds) == (PASS, set()), looked.judgement.sentence


async def test_what_nobody_planned_is_still_a_cause(look: Looking) -> None:
    """W10."""
    async with MisbehavingServer({**serving(shop(message="")), "/": Reset()}) as server:
        looked = await look(server.url, says_so, faults=DOWN)
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"document"})


async def test_a_document_that_is_lost_once_does_not_make_the_fault_fire_in_vain(look: Looking) -> None:
    """The counter of a planned fault begins anew with each load of a resilient charter."""
    routes = serving(shop())
    routes = {**routes, "/": sequence(Reset(), Html(shop()))}
    async with MisbehavingServer(routes) as server:
        looked = await look(server.url, orders_once, faults=LOST_ONCE)
    assert looked.judgement.verdict is BUG, looked.judgement.sentence


async def test_a_fault_that_never_fires_leaves_a_charter_like_any_other(look: Looking) -> None:
    """It needs no control: the mismatch cannot be the fault's doing."""
    async with MisbehavingServer(serving(shop(count=2))) as server:
        looked = await look(server.url, orders_once, faults=["reset@**/api/nothing"])
    assert (looked.judgement.verdict, len(looked.records)) == (BUG, 2)
    assert looked.unfired == ("reset@**/api/nothing",)


async def test_what_fails_without_the_faults_too_is_judged_without_them(look: Looking) -> None:
    """The mismatch is the app's, and has nothing to do with its resilience."""
    async with MisbehavingServer(serving(shop(count=3))) as server:
        looked = await look(server.url, orders_once, faults=LOST_ONCE)
    judgement = looked.judgement
    assert (judgement.verdict, judgement.rule) == (BUG, "mismatch, healthy network"), judgement.sentence
    assert [load.control for load in looked.records] == [False, False, True, True]


async def test_a_control_load_that_cannot_look_proves_nothing(look: Looking) -> None:
    """The environment broke before anybody knew how the charter does without the faults."""
    routes = serving(shop())
    routes = {**routes, "/": sequence(Html(shop()), Html(shop()), Reset())}
    async with MisbehavingServer(routes) as server:
        looked = await look(server.url, orders_once, faults=LOST_ONCE)
    assert (looked.judgement.verdict, looked.kinds) == (ENV_ERROR, {"document"}), looked.judgement.sentence
