import asyncio
from datetime import datetime

import pytest
from playwright.async_api import Browser, BrowserContext, Error, Request, Route

from fault_routes import ABORT_CODES, FaultLedger, Firing, FirstN, install, parse_fault, parse_plan
from tests.fault_routes.faulty_shop import Break, Shop

pytestmark = pytest.mark.timeout(30)

FOREVER = "delay=100000s"
NET_ERRORS = {
    "aborted": "net::ERR_ABORTED",
    "accessdenied": "net::ERR_ACCESS_DENIED",
    "addressunreachable": "net::ERR_ADDRESS_UNREACHABLE",
    "blockedbyclient": "net::ERR_BLOCKED_BY_CLIENT.Inspector",
    "blockedbyresponse": "net::ERR_BLOCKED_BY_RESPONSE",
    "connectionaborted": "net::ERR_CONNECTION_ABORTED",
    "connectionclosed": "net::ERR_CONNECTION_CLOSED",
    "connectionfailed": "net::ERR_CONNECTION_FAILED",
    "connectionrefused": "net::ERR_CONNECTION_REFUSED",
    "connectionreset": "net::ERR_CONNECTION_RESET",
    "failed": "net::ERR_FAILED",
    "internetdisconnected": "net::ERR_INTERNET_DISCONNECTED",
    "namenotresolved": "net::ERR_NAME_NOT_RESOLVED",
    "timedout": "net::ERR_TIMED_OUT",
}
FAILED = {"error": "TypeError: Failed to fetch"}


class Fired:
    """Lets a test wait for firings."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[tuple[Firing, Request]] = asyncio.Queue()

    def __call__(self, firing: Firing, request: Request) -> None:
        self.queue.put_nowait((firing, request))

    async def next(self) -> tuple[Firing, Request]:
        return await self.queue.get()


async def test_each_abort_code_is_the_browser_s_error_of_that_name(broken: Break, shop: Shop) -> None:
    """The page sees one and the same TypeError, Playwright the net error; the server sees nothing."""
    shown = await broken(*(f"{code}@/api/{code}" for code in ABORT_CODES))
    failures: dict[str, str | None] = {}
    for code in ABORT_CODES:
        async with shown.page.expect_event("requestfailed") as failed:
            assert await shown.ask(f"/api/{code}") == FAILED
        failures[code] = (await failed.value).failure
    assert failures == NET_ERRORS
    assert shop.journal == []


async def test_any_status_can_be_answered_without_the_server(broken: Break, shop: Shop) -> None:
    statuses = [200, 302, 400, 418, 429, 503, 599]
    shown = await broken(*(f"status={status}@/api/{status}" for status in statuses))
    outcomes = [await shown.ask(f"/api/{status}") for status in statuses]
    assert [outcome["status"] for outcome in outcomes] == statuses
    assert {outcome["text"] for outcome in outcomes} == {""}
    assert shop.journal == []


async def test_an_answer_has_its_body_headers_and_content_type(broken: Break) -> None:
    spec = "503:body={%22busy%22:%22ä%22},content_type=application/json,header=X-From:fault@/api/cart"
    outcome = await (await broken(spec)).ask("/api/cart")
    assert outcome["json"] == {"busy": "ä"}
    assert outcome["type"] == "application/json"
    assert outcome["from"] == "fault"


async def test_an_answer_may_have_a_header_twice(broken: Break) -> None:
    outcome = await (await broken("503:header=X-From:a,header=x-from:b@/api/cart")).ask("/api/cart")
    assert outcome["from"] == "a, b"


async def test_a_body_without_content_type_is_plain_text(broken: Break) -> None:
    outcome = await (await broken("503:body=busy@/api/cart")).ask("/api/cart")
    assert outcome["type"] == "text/plain; charset=utf-8"


async def test_a_delayed_request_goes_on_to_the_server(broken: Break, shop: Shop) -> None:
    shown = await broken("delay=20ms@/api/cart")
    outcome = await shown.ask("/api/cart")
    assert outcome["from"] == "server"
    assert shop.arrived("/api/cart") == 1
    assert len(shown.ledger.firings) == 1


async def test_a_delayed_request_has_not_reached_the_server_yet(broken: Break, shop: Shop) -> None:
    fired = Fired()
    shown = await broken(f"{FOREVER}@/api/cart", on_fire=fired)
    await shown.start("/api/cart")
    await fired.next()
    await shown.ask("/text")
    assert await shown.outcome() is None
    assert shop.journal == ["GET /text"]


async def test_no_answer_leaves_the_request_pending(broken: Break, shop: Shop) -> None:
    """Neither a response nor a failure, while other requests go through."""
    fired = Fired()
    shown = await broken("no_answer@/api/cart", on_fire=fired)
    events: list[str] = []
    for event in ("response", "requestfailed", "requestfinished"):
        shown.page.on(event, lambda ending: events.append(ending.url))
    await shown.start("/api/cart")
    await fired.next()
    assert (await shown.ask("/text"))["status"] == 200
    assert await shown.outcome() is None
    assert set(events) == {f"{shop.origin}/text"}
    assert shop.arrived("/api/cart") == 0


async def test_truncated_json_keeps_the_server_s_status_and_headers(broken: Break) -> None:
    outcome = await (await broken("truncated_json@/refused")).ask("/refused")
    assert outcome["status"] == 409
    assert outcome["from"] == "server"
    assert outcome["text"] == '{"error": '
    assert outcome["json"] == "SyntaxError"


async def test_a_spoilt_answer_announces_the_length_that_it_has(broken: Break) -> None:
    """Or it would look like a body cut short by the network."""
    outcome = await (await broken("truncated_json@/refused")).ask("/refused")
    assert outcome["length"] == str(len('{"error": '))


async def test_a_truncated_number_is_no_json_either(broken: Break) -> None:
    assert (await (await broken("truncated_json@/number")).ask("/number"))["json"] == "SyntaxError"


async def test_malformed_json_is_the_server_s_answer_made_unreadable(broken: Break) -> None:
    outcome = await (await broken("malformed_json@/refused")).ask("/refused")
    assert outcome["status"] == 409
    assert outcome["json"] == "SyntaxError"
    assert str(outcome["text"]).endswith('"sold out"}')


async def test_html_is_answered_with_200_where_json_was_due(broken: Break, shop: Shop) -> None:
    outcome = await (await broken("html@/api/cart")).ask("/api/cart")
    assert outcome["status"] == 200
    assert outcome["type"] == "text/html; charset=utf-8"
    assert "<html>" in str(outcome["text"])
    assert shop.arrived("/api/cart") == 0


@pytest.mark.parametrize(("path", "status"), [("/refused", 409), ("/text", 200)])
async def test_an_empty_body_keeps_the_server_s_status(broken: Break, path: str, status: int) -> None:
    outcome = await (await broken(f"empty@{path}")).ask(path)
    assert outcome["status"] == status
    assert outcome["text"] == ""
    assert outcome["length"] == "0"


@pytest.mark.parametrize(
    ("kind", "path", "status"),
    [("truncated_json", "/text", 200), ("malformed_json", "/text", 200), ("empty", "/nothing", 204)],
)
async def test_where_there_is_nothing_to_spoil_the_fault_does_not_fire(
    broken: Break, kind: str, path: str, status: int
) -> None:
    """The answer passes as it is, and the plan's report tells that the fault never fired."""
    shown = await broken(f"{kind}@{path}")
    outcome = await shown.ask(path)
    assert outcome["status"] == status
    assert outcome["from"] == "server"
    assert shown.ledger.firings == ()
    assert shown.ledger.unfired() == shown.ledger.plan.faults
    assert shown.ledger.errors == ()


async def test_a_spoilt_post_reaches_the_server_once(broken: Break, shop: Shop) -> None:
    await (await broken("truncated_json@/api/cart")).ask("/api/cart", method="POST", body="x")
    assert shop.journal == ["POST /api/cart"]


async def test_the_server_s_own_failure_is_passed_on_and_is_no_firing(broken: Break) -> None:
    shown = await broken("truncated_json@/reset")
    async with shown.page.expect_event("requestfailed") as failed:
        assert await shown.ask("/reset") == FAILED
    assert (await failed.value).failure in {"net::ERR_CONNECTION_RESET", "net::ERR_CONNECTION_CLOSED"}
    assert shown.ledger.firings == ()
    assert shown.ledger.errors == ()


async def test_a_navigation_can_be_broken_too(broken: Break, shop: Shop) -> None:
    shown = await broken("reset:type=document@/other")
    with pytest.raises(Error, match="net::ERR_CONNECTION_RESET"):
        await shown.page.goto(f"{shop.origin}/other")


async def test_method_and_resource_type_spare_other_requests(broken: Break) -> None:
    shown = await broken("503:method=POST@/api/cart", "reset:type=xhr@/api/cart")
    assert (await shown.ask("/api/cart"))["status"] == 200
    assert (await shown.ask("/api/cart", method="POST"))["status"] == 503


async def test_a_pattern_matches_whatever_the_query(broken: Break) -> None:
    assert (await (await broken("503@**/api/cart")).ask("/api/cart?t=17#x"))["status"] == 503


async def test_playwright_s_sieve_lets_the_plan_s_patterns_through(broken: Break) -> None:
    """The union is read by JavaScript in the driver, the patterns by Python here: they must agree."""
    paths = {
        "**/käse": "/käse",
        "**/{a,b}/**": "/b/c/d",
        r"**/x\?y=*": "/x?y=1",
        "/a-b~c.(d)": "/a-b~c.(d)",
        "http*://*/**/@scope/*.js": "/n/@scope/x.js",
    }
    shown = await broken(*(f"503@{pattern}" for pattern in paths))
    assert [(await shown.ask(path))["status"] for path in paths.values()] == [503] * len(paths)


async def test_a_one_time_reset_never_hangs_the_next_request(broken: Break) -> None:
    """Thirty times in one context; with Playwright's own `times=1` about one in ten did."""
    shown = await broken("reset:times=1@/api/cart")
    for _ in range(30):
        shown.ledger.reset_counters()
        assert await shown.ask("/api/cart") == FAILED
        assert (await shown.ask("/api/cart"))["status"] == 200
    assert len(shown.ledger.firings) == 30


async def test_the_nth_request_is_broken_and_no_other(broken: Break) -> None:
    shown = await broken("503:nth=2@/api/*")
    statuses = [(await shown.ask(f"/api/{name}"))["status"] for name in "abc"]
    assert statuses == [200, 503, 200]


async def test_counters_belong_to_the_ledger_and_outlive_a_context(browser: Browser, shop: Shop) -> None:
    """So that what fails once has healed when the page is loaded again in a fresh context."""
    ledger = FaultLedger(parse_plan(["reset_once@/api/cart"]))
    outcomes = []
    for _ in range(2):
        context = await browser.new_context()
        faults = await install(context, ledger)
        page = await context.new_page()
        await page.goto(shop.origin)
        outcomes.append(await page.evaluate("ask('/api/cart').then(outcome => outcome.status || 'failed')"))
        await faults.close()
        await context.close()
    assert outcomes == ["failed", 200]


async def test_firings_and_what_never_fired_are_told(broken: Break, shop: Shop) -> None:
    shown = await broken("503@/api/cart", "slow@/never")
    await shown.ask("/api/cart?x=1", method="POST")
    (firing,) = shown.ledger.firings
    assert (firing.fault, firing.method, firing.url) == (
        "status=503@/api/cart",
        "POST",
        f"{shop.origin}/api/cart?x=1",
    )
    assert (firing.resource_type, firing.request_index) == ("fetch", 1)
    assert isinstance(firing.at, datetime)
    assert [fault.spec for fault in shown.ledger.unfired()] == ["delay=2s@/never"]


async def test_a_firing_is_told_with_the_request_that_playwright_s_events_carry(broken: Break) -> None:
    """So that a recorder can join the two."""
    fired = Fired()
    shown = await broken("reset@/api/cart", on_fire=fired)
    async with shown.page.expect_request("**/api/cart") as seen:
        await shown.ask("/api/cart")
    firing, request = await fired.next()
    assert firing == shown.ledger.firings[0]
    assert request is await seen.value


async def test_many_requests_of_one_page_meet_their_own_faults(broken: Break) -> None:
    """Each of fifteen at once, with a probability too: as many as the seed says, whatever their order."""
    spec = "503:p=0.5,seed=4@/api/p*"
    shown = await broken("reset:times=5@/api/a*", "delay=5ms@/api/b*", spec)
    paths = [f"/api/{kind}{number}" for number in range(15) for kind in "abp"]
    outcomes = await shown.page.evaluate("paths => Promise.all(paths.map(path => ask(path)))", paths)
    fate = {path: outcome.get("status", "failed") for path, outcome in zip(paths, outcomes, strict=True)}
    when = parse_fault(spec).when
    unlucky = sum(when.is_due(index, spec_of(spec)) for index in range(1, 16))
    assert [fate[path] for path in paths if "/a" in path[4:]].count("failed") == 5
    assert {fate[path] for path in paths if path.startswith("/api/b")} == {200}
    assert [fate[path] for path in paths if path.startswith("/api/p")].count(503) == unlucky
    assert 0 < unlucky < 15


def spec_of(written: str) -> str:
    return parse_fault(written).spec


async def test_a_handler_s_own_failure_is_recorded_and_the_request_fails(broken: Break) -> None:
    def on_fire(firing: Firing, request: Request) -> None:
        raise RuntimeError("the disk is full")

    shown = await broken("503@/api/cart", on_fire=on_fire)
    assert await shown.ask("/api/cart") == FAILED
    (error,) = shown.ledger.errors
    assert (error.fault, error.method) == ("status=503@/api/cart", "GET")
    assert str(error.error) == "the disk is full"


async def test_a_handler_s_failure_after_the_server_s_answer_does_not_hang_the_page(broken: Break) -> None:
    def on_fire(firing: Firing, request: Request) -> None:
        raise AssertionError("no")

    shown = await broken("truncated_json@/api/cart", on_fire=on_fire)
    assert await shown.ask("/api/cart") == FAILED
    assert len(shown.ledger.errors) == 1


async def test_a_delayed_request_that_the_page_gave_up_reaches_no_server(
    broken: Break, shop: Shop, context: BrowserContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is it an error. The delay ends when this test says so, which a route behind it notices."""
    delay, passed_on, fired = asyncio.Event(), asyncio.Event(), Fired()
    monkeypatch.setattr("fault_routes.routes._Handler._hold", lambda handler, seconds: delay.wait())

    async def behind(route: Route) -> None:
        await route.continue_()
        passed_on.set()

    await context.route("**/api/cart", behind)
    shown = await broken("slow@/api/cart", on_fire=fired)
    await shown.start_and_give_up("/api/cart", fired.next())
    delay.set()
    await passed_on.wait()
    assert (await shown.ask("/text"))["status"] == 200
    assert shop.journal == ["GET /text"]
    assert shown.ledger.errors == ()


async def test_an_answer_that_the_page_no_longer_waits_for_is_no_error(broken: Break, shop: Shop) -> None:
    fired = Fired()
    shown = await broken("truncated_json@/gated", on_fire=fired)
    await shown.start_and_give_up("/gated", shop.until_arrived("/gated"))
    shop.gate.set()
    await fired.next()
    await shown.faults.close()
    assert shown.ledger.errors == ()


async def test_a_page_may_be_closed_while_its_requests_are_held(
    broken: Break, context: BrowserContext
) -> None:
    fired = Fired()
    shown = await broken("no_answer@/api/cart", "truncated_json@/silent", on_fire=fired)
    await shown.start("/api/cart")
    await fired.next()
    await shown.page.close()
    await shown.faults.close()
    await context.close()
    assert shown.ledger.errors == ()


@pytest.mark.parametrize("spec", ["no_answer@/api/cart", f"{FOREVER}@/api/cart"])
async def test_closing_lets_held_requests_fail_and_none_reaches_the_server(
    broken: Break, shop: Shop, spec: str
) -> None:
    fired = Fired()
    shown = await broken(spec, on_fire=fired)
    async with shown.page.expect_event("requestfailed") as failed:
        await shown.start("/api/cart")
        await fired.next()
        await shown.faults.close()
    assert (await failed.value).failure == "net::ERR_ABORTED"
    assert (await shown.ask("/text"))["status"] == 200
    assert shop.journal == ["GET /text"]
    assert shown.ledger.errors == ()


async def test_closing_does_not_wait_for_a_silent_server(broken: Break, shop: Shop) -> None:
    """Nor is the request sent once more when the route is gone."""
    shown = await broken("truncated_json@/silent")
    await shown.start("/silent")
    await shop.until_arrived("/silent")
    await shown.faults.close()
    await shown.ask("/text")
    assert shop.journal == ["GET /silent", "GET /text"]
    assert shown.ledger.errors == ()


@pytest.mark.parametrize("spec", ["no_answer@/api/cart", f"{FOREVER}@/api/cart"])
async def test_a_context_may_be_closed_without_closing_the_faults_first(
    broken: Break, context: BrowserContext, spec: str
) -> None:
    """No task stays behind, and it may be closed in the wrong order too."""
    fired = Fired()
    shown = await broken(spec, on_fire=fired)
    before = asyncio.all_tasks()
    await shown.start("/api/cart")
    await fired.next()
    await context.close()
    await asyncio.gather(*(asyncio.all_tasks() - before))
    await shown.faults.close()
    assert shown.ledger.errors == ()


async def test_that_the_page_went_away_meanwhile_is_no_failure_of_the_handler(broken: Break) -> None:
    def on_fire(firing: Firing, request: Request) -> None:
        raise Error("Route.abort: Target page, context or browser has been closed")

    shown = await broken("503@/api/cart", on_fire=on_fire)
    assert await shown.ask("/api/cart") == FAILED
    assert shown.ledger.errors == ()


async def test_after_closing_nothing_is_broken_any_more(broken: Break) -> None:
    shown = await broken("503@/api/cart")
    await shown.faults.close()
    await shown.faults.close()
    assert (await shown.ask("/api/cart"))["status"] == 200
    assert shown.ledger.firings == ()


async def test_no_plan_registers_no_route(broken: Break, shop: Shop) -> None:
    """CORS preflights reach the server, which they do not under any route."""
    shown = await broken()
    await shown.ask(f"{shop.other_origin}/api/cart", headers={"X-Own": "1"})
    assert shop.journal == ["OPTIONS /api/cart", "GET /api/cart"]


async def test_any_plan_hides_preflights_from_the_server(broken: Break, shop: Shop) -> None:
    """A fact about Playwright: should it change, `No faults, no routes` may be relaxed."""
    shown = await broken("503@/never")
    await shown.ask(f"{shop.other_origin}/api/cart", headers={"X-Own": "1"})
    assert shop.journal == ["GET /api/cart"]


async def test_without_a_plan_closing_leaves_the_user_s_routes_alone(
    broken: Break, context: BrowserContext
) -> None:
    shown = await broken()
    await context.route("**/mocked", lambda route: route.fulfill(body="mocked"))
    await shown.faults.close()
    assert (await shown.ask("/mocked"))["text"] == "mocked"


async def test_requests_that_no_fault_is_due_for_still_meet_the_user_s_routes(
    broken: Break, context: BrowserContext
) -> None:
    async def mock(route: Route) -> None:
        await route.fulfill(body="mocked")

    await context.route("**/api/*", mock)
    shown = await broken("503:times=1@/api/cart", "delay=5ms:times=1@/api/other")
    assert (await shown.ask("/api/cart"))["status"] == 503
    assert (await shown.ask("/api/cart"))["text"] == "mocked"
    assert (await shown.ask("/api/other"))["text"] == "mocked"


async def test_requests_outside_of_the_plan_s_patterns_never_come_to_python(
    broken: Break, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = await broken("503@/api/cart")
    taken: list[str] = []
    take = shown.ledger.take

    def listening(*, method: str, url: str, resource_type: str) -> object:
        taken.append(url.rpartition("/")[2])
        return take(method=method, url=url, resource_type=resource_type)

    monkeypatch.setattr(shown.ledger, "take", listening)
    await shown.ask("/text")
    await shown.ask("/api/cart")
    assert taken == ["cart"]


def test_reset_once_is_a_reset_that_fires_once() -> None:
    assert parse_fault("reset_once@/a").when == FirstN(times=1)
