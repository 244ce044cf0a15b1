"""Writing: what a page says it saved, and what became of the write (rows W1 to W6)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.async_api import APIRequestContext, Page, expect

from bughunt import Charter, Network, Verdict, charter
from bughunt.charters import Load
from tests.cases.looking import SOON, Case, Looking, case, check, params
from tests.servers.answers import (
    After,
    Answer,
    Html,
    Json,
    NeverAnswer,
    Reply,
    Request,
    Reset,
    Route,
    sequence,
)
from tests.servers.misbehaving import MisbehavingServer, Routes
from tests.servers.pages import page

PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR

FORM = '<button>Save</button><p role="status">new</p><ul></ul>'
SAY = """
const say = (text) => { document.querySelector("[role=status]").textContent = text; };
const send = () => fetch("/api/orders", { method: "POST", body: "{}" });
const on_save = (act) => document.querySelector("button").addEventListener("click", act);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
"""


def app(script: str, orders: Route, **also: Route) -> Routes:
    """A page with a button "Save" that does this, and what `/api/orders` answers to a POST."""
    return {
        "/": Html(page(FORM, script=SAY + script)),
        ("POST", "/api/orders"): orders,
        **{f"/{path}": route for path, route in also.items()},
    }


HONEST = """
on_save(async () => {
  const answer = await send();
  await answer.text();
  say(answer.ok ? "saved" : "could not be saved");
});
"""
DOES_NOT_LOOK = 'on_save(async () => { await send(); say("saved"); });\n'
SENDS_NOTHING = 'on_save(() => say("saved"));\n'
OPTIMISTIC = 'on_save(() => { say("saved"); send().catch(() => {}); });\n'
TRIES_AGAIN = """
on_save(async () => {
  let answer = await send();
  while (!answer.ok) { await pause(700); answer = await send(); }
  say("saved");
});
"""
SAYS_AND_TRIES_AGAIN = """
on_save(async () => {
  say("saved");
  for (let answer = await send(); !answer.ok; answer = await send()) await pause(700);
});
"""
SAVES_LATE = 'on_save(async () => { say("saved"); await pause(2300); send(); });\n'
CREATED, DOWN = Json({"id": 1}, status=201), Json({}, status=503)


@charter(question="Is the order saved?")
async def saves(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="Save").click()
    await net.acknowledged("**/api/orders", method="POST", timeout=SOON / 1000)
    await expect(page.get_by_role("status")).to_have_text("saved", timeout=SOON)


@charter(question="Is the order saved, as its answer says too?", healthy=lambda answer: answer.json["ok"])
async def saves_for_certain(page: Page, net: Network) -> None:
    await saves.function(page, net)


@charter(question="Is the order saved in the end?")
async def saves_in_the_end(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="Save").click()
    await net.acknowledged("**/api/orders")
    await page.wait_for_timeout(600)
    await expect(page.get_by_role("status")).to_have_text("saved", timeout=SOON)


CASES = [
    case("W1", PASS, routes=app(HONEST, CREATED), charter=saves),
    case("W2", BUG, routes=app(DOES_NOT_LOOK, Json({}, status=500)), charter=saves),
    case("W2 reset", BUG, routes=app(OPTIMISTIC, Reset()), charter=saves),
    case("W2 404", BUG, routes=app(DOES_NOT_LOOK, Json({}, status=404)), charter=saves),
    case("W3", BUG, routes=app(SENDS_NOTHING, CREATED), charter=saves),
    case("W4", ENV_ERROR, "status", routes=app(HONEST, DOWN), charter=saves),
    case("W4 lost", ENV_ERROR, "network", routes=app(HONEST, Reset()), charter=saves),
    case("W5", PASS, "status", routes=app(HONEST, sequence(DOWN, CREATED)), charter=saves),
    case("tried again", PASS, routes=app(TRIES_AGAIN, sequence(DOWN, CREATED)), charter=saves_in_the_end),
    case(
        "said before it was tried again",
        PASS,
        routes=app(SAYS_AND_TRIES_AGAIN, sequence(DOWN, CREATED)),
        charter=saves_in_the_end,
    ),
    case("optimistic, slow", PASS, routes=app(OPTIMISTIC, After(0.3, CREATED)), charter=saves),
    case("optimistic, silent", ENV_ERROR, "no_answer", routes=app(OPTIMISTIC, NeverAnswer()), charter=saves),
    case("saved late", PASS, routes=app(SAVES_LATE, CREATED), charter=saves_in_the_end),
    case(
        "200, with an error inside", BUG, routes=app(HONEST, Json({"ok": False})), charter=saves_for_certain
    ),
    case("200, well inside", PASS, routes=app(HONEST, Json({"ok": True})), charter=saves_for_certain),
    case("204", PASS, routes=app(HONEST, Reply(204)), charter=saves),
]


@pytest.mark.parametrize("given", params(CASES))
async def test_the_right_verdict(look: Looking, given: Case) -> None:
    """A page that claims what did not happen is told from one that could not do it, and from one that did."""
    looked = await check(look, given)
    assert looked.judgement.recovered is (given.name == "W5")


async def test_a_contradiction_says_so(look: Looking) -> None:
    """W2: the sentence holds what the page says against what became of the write."""
    looked = await check(look, CASES[1])
    assert looked.judgement.rule == "contradiction"
    assert "POST /api/orders was answered 500" in looked.judgement.sentence


LISTS = """
const list = async () => {
  const { orders } = await (await fetch("/api/list")).json();
  document.querySelector("ul").innerHTML = orders.map((name) => `<li>${name}</li>`).join("");
};
on_save(async () => { await send(); say("saved"); list(); });
"""


@charter(question="Is the order in the list?")
async def saves_and_reads(page: Page, net: Network) -> None:
    await saves.function(page, net)
    await expect(page.get_by_role("listitem")).to_have_count(1, timeout=SOON)


async def test_a_server_that_loses_what_it_took_is_a_bug(look: Looking) -> None:
    """W6."""
    routes = app(LISTS, CREATED, **{"api/list": Json({"orders": []})})
    await check(look, case("W6", BUG, routes=routes, charter=saves_and_reads))


SIGNS_UP = """
const name = new URL(location).searchParams.get("name");
on_save(async () => {
  const sent = { method: "POST", body: JSON.stringify({ name }) };
  const answer = await fetch("/api/people", sent).catch(() => null);
  say(answer?.ok ? "welcome" : `no: ${answer?.status}`);
});
"""


class People:
    """Takes each name once; the first answer of all is lost on its way."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._answered = False

    def __call__(self, request: Request) -> Answer:
        name = json.loads(request.body)["name"]
        taken = name in self.names
        self.names.add(name)
        lost, self._answered = not self._answered, True
        return Reset() if lost else Json({}, status=409 if taken else 201)


async def _signs_up(page: Page, name: str) -> None:
    await page.goto(f"/?name={name}")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status")).to_have_text("welcome", timeout=SOON)


@charter(question="Can one sign up?")
async def signs_up(page: Page, net: Network) -> None:
    await _signs_up(page, "ada")


@charter(question="Can one sign up, each with a name of their own?")
async def signs_up_anew(page: Page, net: Network, load: Load) -> None:
    await _signs_up(page, load.unique)


def _resetting(people: People) -> Charter:
    async def forget(request: APIRequestContext) -> None:
        people.names.clear()

    @charter(question="Can one sign up, when nobody has yet?", reset=forget)
    async def signs_up_again(page: Page, net: Network) -> None:
        await _signs_up(page, "ada")

    return signs_up_again


@pytest.mark.parametrize(
    ("made", "verdict", "kinds"),
    [
        (lambda people: signs_up, ENV_ERROR, {"network", "state_unknown"}),
        (lambda people: signs_up_anew, PASS, {"network"}),
        (_resetting, PASS, {"network"}),
    ],
    ids=["a fixed name", "load.unique", "reset="],
)
async def test_a_write_that_may_have_arrived_makes_the_world_another(
    look: Looking, made: Callable[[People], Charter], verdict: Verdict, kinds: set[str]
) -> None:
    """W5b."""
    people = People()
    routes = app(SIGNS_UP, CREATED, **{"api/people": people})
    async with MisbehavingServer(routes) as server:
        looked = await look(server.url, made(people))
    assert (looked.judgement.verdict, looked.kinds) == (verdict, kinds), looked.judgement.sentence
