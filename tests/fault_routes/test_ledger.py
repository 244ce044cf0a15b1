from datetime import UTC, datetime

from fault_routes import FaultLedger, FaultPlan, Firing, HandlerError, parse_plan

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def ledger(*specs: str) -> FaultLedger:
    return FaultLedger(parse_plan(specs), clock=lambda: NOON)


def ask(ledger: FaultLedger, path: str = "/a", method: str = "GET") -> str | None:
    """The spec of the fault that handles this request."""
    due = ledger.take(method=method, url=f"http://shop.test{path}", resource_type="fetch")
    return ledger.fire(due).fault if due else None


def test_the_first_fault_that_matches_and_is_due_handles_the_request() -> None:
    book = ledger("reset:nth=2@/a", "503@/a")
    assert [ask(book) for _ in range(3)] == ["status=503@/a", "reset:nth=2@/a", "status=503@/a"]


def test_each_fault_counts_the_requests_that_it_concerns_whoever_handles_them() -> None:
    book = ledger("reset:times=1@/a", "503:nth=2@/*")
    assert [ask(book), ask(book)] == ["reset:times=1@/a", "status=503:nth=2@/*"]


def test_requests_that_a_fault_does_not_concern_are_not_counted() -> None:
    book = ledger("reset:nth=2,method=POST@/a")
    asked = [ask(book, method=method) for method in ("POST", "GET", "GET", "POST")]
    assert [spec is not None for spec in asked] == [False, False, False, True]


def test_a_chance_depends_on_the_fault_s_own_count_alone() -> None:
    """However other requests come in between."""
    alone, mixed = ledger("reset:p=0.5,seed=3@/a"), ledger("reset:p=0.5,seed=3@/a")
    in_between = []
    for index in range(40):
        ask(mixed, "/b")
        in_between.append(ask(mixed))
        if index % 3 == 0:
            ask(mixed, "/c")
    assert in_between == [ask(alone) for _ in range(40)]
    assert 5 < len(alone.firings) < 35


def test_a_firing_tells_what_met_which_request_and_when() -> None:
    book = ledger("503:nth=2@/a")
    ask(book, "/a?x=1", "POST")
    ask(book, "/a?x=2", "POST")
    assert book.firings == (
        Firing(
            fault="status=503:nth=2@/a",
            method="POST",
            url="http://shop.test/a?x=2",
            resource_type="fetch",
            at=NOON,
            position=0,
            request_index=2,
        ),
    )


def test_the_clock_is_aware_and_in_utc_unless_told_otherwise() -> None:
    book = FaultLedger(parse_plan(["reset@/a"]))
    ask(book)
    assert book.firings[0].at.tzinfo is UTC


def test_a_fault_that_was_only_due_has_not_fired() -> None:
    book = ledger("reset@/a")
    assert book.take(method="GET", url="http://shop.test/a", resource_type="fetch")
    assert book.firings == ()
    assert book.unfired() == book.plan.faults


def test_faults_that_never_fired_are_told_in_the_plan_s_order() -> None:
    book = ledger("reset@/c", "503@/a", "slow@/a", "empty@/b")
    ask(book)
    assert [fault.spec for fault in book.unfired()] == ["reset@/c", "delay=2s@/a", "empty@/b"]


def test_counters_can_begin_again_while_the_record_goes_on() -> None:
    book = ledger("reset_once@/a")
    asked = [ask(book), ask(book)]
    book.reset_counters()
    asked += [ask(book), ask(book)]
    assert [spec is not None for spec in asked] == [True, False, True, False]
    assert [firing.request_index for firing in book.firings] == [1, 1]
    assert book.unfired() == ()


def test_an_empty_plan_concerns_nothing() -> None:
    assert ask(FaultLedger(FaultPlan())) is None


def test_failures_of_our_own_are_kept_apart_from_firings() -> None:
    book = ledger("reset@/a")
    error = HandlerError(fault=None, method="GET", url="http://shop.test/a", error=RuntimeError("disk"))
    book.blame(error)
    assert book.errors == (error,)
    assert book.firings == ()
