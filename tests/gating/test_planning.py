"""What is planned after a healthy run, and what is not, by name."""

from __future__ import annotations

from msgspec import structs

from bughunt.gating.planning import KINDS, Plan, combinations_of, drill_of, plan_of, planned
from bughunt.gating.values import Dependency, Subject
from bughunt.verdict.record import Acknowledgement, Content, Declaration, LoadRecord, Scope, Socket
from fault_routes import parse_plan
from tests.gating.drills import CART, SUBJECT
from tests.reports import samples


def scope(*patterns: str) -> Scope:
    return Scope(base_url=samples.BASE, own_hosts=("shop.test",), depends_on=patterns or None)


def reading(*patterns: str, method: str | None = None) -> tuple[Declaration, ...]:
    return tuple(Declaration(pattern=p, method=method, began=0.0) for p in patterns)


def cart_load(**more: object) -> LoadRecord:
    """A healthy load that reads the cart and orders."""
    return samples.load(
        1,
        samples.document(),
        samples.exchange(1, "/api/cart", 0.05, 0.09, content=Content.JSON),
        samples.exchange(
            2, "/api/orders", 0.1, 0.2, method="POST", response_headers={"Content-Type": "application/json"}
        ),
        samples.exchange(3, "/api/direct", 0.1, 0.2, resource_type="api"),
        **more,
    )


def dependencies(*loads: LoadRecord, resilient: bool = False) -> dict[str, Dependency]:
    return {d.endpoint: d for d in planned(loads, resilient=resilient).dependencies}


def specs(subject: Subject = SUBJECT, *found: Dependency) -> list[str]:
    return [drill.spec for drill in combinations_of(subject, found or (CART,))]


def test_what_a_charter_declares_and_a_healthy_load_met_is_planned_for() -> None:
    acknowledged = Acknowledgement(pattern="**/api/orders", method="POST", began=0.1, ended=0.2)
    record = cart_load(acknowledgements=(acknowledged,), scope=scope("**/api/*"))
    assert list(dependencies(record)) == ["**/api/cart", "POST **/api/orders", "**/api/*"]


def test_what_met_no_request_is_left_out_with_the_reason() -> None:
    record = cart_load(
        declarations=reading("**/api/prices", "**/live", "**/api/direct"),
        sockets=(Socket(id=0, url="ws://shop.test/live", opened_at=0.1),),
    )
    found = planned([record])
    assert not found.dependencies
    assert found.left_out == (
        "**/api/prices met no request that a route could break.",
        "**/live is a WebSocket, which no route can break.",
        "**/api/direct met no request that a route could break.",
    )


def plan(*subjects: Subject, load: LoadRecord, limit: int | None = None) -> Plan:
    return plan_of([(subject, [load]) for subject in subjects], limit)


def test_a_charter_without_a_drill_is_left_out_in_one_sentence_with_the_reason() -> None:
    live = (Socket(id=0, url="ws://shop.test/live", opened_at=0.1),)
    nothing = cart_load(declarations=(), scope=scope())
    socket_only = cart_load(declarations=reading("**/live", "**/gone"), sockets=live)
    read_only = structs.replace(SUBJECT, resilient=True)
    assert plan(SUBJECT, load=nothing).left_out == (
        "cart_total (staging) is not drilled at all: it declares nothing that a fault could break.",
    )
    assert plan(SUBJECT, load=socket_only).left_out == (
        (
            "cart_total (staging) is not drilled at all: **/live is a WebSocket, which no route can break. "
            "**/gone met no request that a route could break."
        ),
    )
    assert plan(read_only, load=cart_load()).left_out == (
        (
            "cart_total (staging) is not drilled at all: "
            "**/api/cart is what a resilient charter reads itself: without it there is no check."
        ),
    )


def test_of_a_charter_with_drills_each_dependency_that_is_not_broken_is_left_out() -> None:
    found = plan(SUBJECT, load=cart_load(declarations=reading("**/api/cart", "**/gone")))
    assert found.left_out == ("cart_total (staging): **/gone met no request that a route could break.",)
    assert found.planned == len(found.drills) == 14


def test_a_charter_of_which_no_drill_was_chosen_is_left_out() -> None:
    other = structs.replace(SUBJECT, charter="charters/cart.py::badge")
    found = plan(SUBJECT, other, load=cart_load(), limit=1)
    assert (len(found.drills), found.planned) == (1, 28)
    assert found.left_out == ("badge (staging) is not drilled at all: none of its 14 drills was chosen.",)


def test_a_fault_that_brings_a_bug_out_is_planned_for_first_whatever_was_met() -> None:
    hidden = structs.replace(SUBJECT, resilient=True, bug_under=("status=503@**/api/other",))
    found = plan(SUBJECT, hidden, load=cart_load(), limit=2)
    assert [drill.spec for drill in found.drills] == ["status=503@**/api/other", "reset@**/api/cart"]
    assert found.planned == 15
    alone = plan(hidden, load=cart_load(declarations=(), scope=scope()))
    assert (alone.planned, alone.left_out) == (1, ())


def test_a_declared_method_must_have_been_met() -> None:
    assert not dependencies(cart_load(declarations=reading("**/api/orders", method="GET")))
    assert dependencies(cart_load(declarations=reading("**/api/orders", method="POST")))


def test_what_a_resilient_charter_reads_itself_is_not_broken() -> None:
    record = cart_load(scope=scope("**/api/orders"))
    assert list(dependencies(record)) == ["**/api/cart", "**/api/orders"]
    assert list(dependencies(record, resilient=True)) == ["**/api/orders"]
    assert planned([record], resilient=True).left_out == (
        "**/api/cart is what a resilient charter reads itself: without it there is no check.",
    )


def test_json_is_known_by_its_body_or_by_its_header() -> None:
    found = dependencies(cart_load(declarations=reading("**/api/cart", "**/api/orders", "**/")))
    assert {endpoint: d.json for endpoint, d in found.items()} == {
        "**/api/cart": True,
        "**/api/orders": True,
        "**/": False,
    }


def test_each_fault_is_planned_always_and_once() -> None:
    assert specs() == [
        "reset@**/api/cart",
        "reset:times=1@**/api/cart",
        "status=503@**/api/cart",
        "status=503:times=1@**/api/cart",
        "delay=2s@**/api/cart",
        "delay=2s:times=1@**/api/cart",
        "no_answer@**/api/cart",
        "no_answer:times=1@**/api/cart",
        "truncated_json@**/api/cart",
        "truncated_json:times=1@**/api/cart",
        "html@**/api/cart",
        "html:times=1@**/api/cart",
        "empty@**/api/cart",
        "empty:times=1@**/api/cart",
    ]


def test_only_json_is_spoilt_and_only_the_answer_to_a_write_is_lost() -> None:
    kinds = {drill.kind for drill in combinations_of(SUBJECT, [Dependency(pattern="/orders", write="POST")])}
    assert kinds == {"reset", "503", "slow", "no_answer", "lost_answer"}


def test_a_fault_is_for_the_declared_method_and_a_lost_answer_for_the_write() -> None:
    put = specs(SUBJECT, Dependency(pattern="/nickname", method="PUT", write="PUT"))
    assert all("method=PUT" in spec for spec in put)
    either = specs(SUBJECT, Dependency(pattern="/items", write="POST"))
    assert [spec for spec in either if "method" in spec] == [
        "lost_answer:method=POST@/items",
        "lost_answer:times=1,method=POST@/items",
    ]


def test_a_fault_that_is_given_is_a_drill_of_its_kind() -> None:
    drill = drill_of(SUBJECT, "503:times=1,method=POST@**/api/orders")
    assert (drill.kind, drill.often, drill.endpoint) == ("503", "once", "POST **/api/orders")


def test_every_kind_is_one_that_fault_routes_knows() -> None:
    assert parse_plan([f"{kind.name}@/x" for kind in KINDS]).faults
