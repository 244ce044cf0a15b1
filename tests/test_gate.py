"""The gate: what is planned, which answers are right, and what they amount to. No browser."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from msgspec import structs

from bughunt.bundled import BUNDLED
from bughunt.exit_codes import ExitCode
from bughunt.gate import bundled_cases, gate_exit_code
from bughunt.gating.intervals import available, interval
from bughunt.gating.judging import (
    confusion,
    false_bugs,
    judge,
    matrix,
    missed_bugs,
    right_answers,
    without_an_answer,
)
from bughunt.gating.planning import KINDS, combinations_of, drill_of, planned
from bughunt.gating.selection import representative
from bughunt.gating.values import Combination, Dependency, GateResult, Judged, Mistake, Subject, Unproved
from bughunt.tower import InvestigationView
from bughunt.verdict.judgement import Cause, CauseKind, Verdict
from bughunt.verdict.record import Acknowledgement, Content, Declaration, LoadRecord, Scope, Socket
from fault_routes import parse_plan
from tests.reports import samples

PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR
CART = Dependency(pattern="**/api/cart", json=True)
SUBJECT = Subject(target="staging", charter="charters/cart.py::cart_total")


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


# Planning


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


def test_a_charter_that_declares_nothing_is_left_out() -> None:
    assert planned([cart_load(declarations=(), scope=scope())]).left_out == (
        "It declares nothing that a fault could break.",
    )


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


# Choosing some of many


def many() -> list[Combination]:
    """Two builds, three charters each, one endpoint: 84 drills."""
    subjects = [
        Subject(target=target, charter=f"cart.py::{name}", known_bug=name == "c" and target == "buggy")
        for target in ("right", "buggy")
        for name in "abc"
    ]
    return [drill for subject in subjects for drill in combinations_of(subject, [CART])]


def test_a_few_drills_stand_for_all() -> None:
    few = representative(many(), 14)
    assert {(d.kind, d.once) for d in few} == {(d.kind, d.once) for d in many()}
    assert len({d.subject for d in few}) == 6
    assert few == representative(many(), 14) == [drill for drill in many() if drill in few]


def test_few_drills_are_all_taken() -> None:
    assert representative(many(), 84) == many()


@pytest.mark.parametrize(("quick", "every"), [(True, 3), (False, 1)])
def test_the_bundled_gate_has_every_app_with_and_without_bugs(quick: bool, every: int) -> None:
    with bundled_cases(quick=quick) as cases:
        builds = {case.subject.target for case in cases}
        buggy = {c.subject.target for c in cases if c.subject.known_bug or c.subject.bug_under}
    bugs = [f"{app.name} with {bug}" for app in BUNDLED for bug in tuple(app.bugs)[::every]]
    hidden = [f"{app.name} with {one.bug}" for app in BUNDLED for one in app.bugs_under_fault]
    assert buggy == {*bugs, *hidden}
    assert builds == buggy | {app.name for app in BUNDLED}


# Judging


def drill(kind: str = "reset", *, once: bool = False, subject: Subject = SUBJECT) -> Combination:
    return next(d for d in combinations_of(subject, [CART]) if d.kind == kind and d.once is once)


KNOWN = structs.replace(SUBJECT, known_bug=True)
RESILIENT = structs.replace(SUBJECT, resilient=True)
HIDDEN = structs.replace(RESILIENT, bug_under=("status=503@**/api/cart",))

RIGHT: dict[str, tuple[Combination, tuple[Verdict, ...]]] = {
    "a one-time fault hides nothing": (drill(once=True), (PASS,)),
    "a lasting fault hides the answer": (drill(), (ENV_ERROR,)),
    "an app may have the patience for a delay": (drill("slow"), (PASS, ENV_ERROR)),
    "a bug is seen once the fault is over": (drill(once=True, subject=KNOWN), (BUG,)),
    "a lasting fault may hide a bug": (drill(subject=KNOWN), (BUG, ENV_ERROR)),
    "a resilient charter holds": (drill(subject=RESILIENT), (PASS,)),
    "a resilient charter may not get as far as its bug": (
        drill(subject=structs.replace(RESILIENT, known_bug=True)),
        (BUG, PASS),
    ),
    "a bug that a fault brings out is seen under it": (drill("503", subject=HIDDEN), (BUG,)),
    "and perhaps under others": (drill("reset", subject=HIDDEN), (BUG, PASS)),
}


@pytest.mark.parametrize(("asked", "right"), RIGHT.values(), ids=RIGHT.keys())
def test_what_is_right(asked: Combination, right: tuple[Verdict, ...]) -> None:
    assert right_answers(asked) == right


def with_causes(*causes: Cause) -> InvestigationView:
    """An ENV_ERROR for these causes."""
    view = samples.env_error()
    assert view.judgement is not None
    return structs.replace(view, judgement=structs.replace(view.judgement, causes=causes))


def cause(kind: CauseKind, *, by: str | None = None) -> Cause:
    return Cause(kind=kind, load=1, reason="so", fault=by)


LASTING, ONCE = "reset@**/api/cart", "reset:times=1@**/api/cart"
HIDDEN_BY_THE_FAULT = with_causes(cause(CauseKind.NETWORK, by=LASTING), cause(CauseKind.DOCUMENT))
HIDDEN_BY_ANOTHER = with_causes(cause(CauseKind.NETWORK, by="503@**/api/other"), cause(CauseKind.DOCUMENT))
PLANNED_TROUBLE = with_causes(cause(CauseKind.NETWORK, by=ONCE))
NO_SECOND_LOOK = with_causes(cause(CauseKind.NETWORK, by=ONCE), cause(CauseKind.STATE_UNKNOWN))
LOST = with_causes(cause(CauseKind.NETWORK, by=ONCE), cause(CauseKind.UNREPRODUCED))
STILL_MOVING = with_causes(cause(CauseKind.NETWORK, by=ONCE), cause(CauseKind.MOVED))
DISTURBED = with_causes(cause(CauseKind.STATE_UNKNOWN), cause(CauseKind.NO_ANSWER))

MISTAKES: dict[str, tuple[Combination, InvestigationView, Mistake | None]] = {
    "a BUG that is none": (drill(), samples.bug(), Mistake.FALSE_BUG),
    "a BUG of a resilient charter that is right": (
        drill(subject=RESILIENT),
        samples.bug(),
        Mistake.FALSE_BUG,
    ),
    "a bug that is missed": (drill(once=True, subject=KNOWN), samples.passed(), Mistake.MISSED_BUG),
    "a bug that is missed under a lasting fault": (
        drill(subject=KNOWN),
        samples.passed(),
        Mistake.MISSED_BUG,
    ),
    "a fault that was not noticed": (drill(), samples.passed(), Mistake.UNNOTICED),
    "a resilient charter that saw no answer": (
        drill(subject=RESILIENT),
        PLANNED_TROUBLE,
        Mistake.UNSETTLED,
    ),
    "a bug that was not seen, though it could be": (
        drill(once=True, subject=KNOWN),
        LOST,
        Mistake.UNSETTLED,
    ),
    "a bug whose second look was not to be trusted": (
        drill(once=True, subject=KNOWN),
        NO_SECOND_LOOK,
        None,
    ),
    "the same where there is no bug": (drill(once=True), NO_SECOND_LOOK, None),
    "an answer that was not seen, though it could be": (
        drill(once=True),
        PLANNED_TROUBLE,
        Mistake.UNSETTLED,
    ),
    "a bug that unplanned trouble hid": (drill(once=True, subject=KNOWN), DISTURBED, None),
    "a right answer": (drill(), HIDDEN_BY_THE_FAULT, None),
    "no verdict": (drill(), samples.view(None, []), None),
    "a claim is an answer too": (drill(), samples.claimed(samples.mismatch()), Mistake.FALSE_BUG),
}


@pytest.mark.parametrize(("asked", "view", "mistake"), MISTAKES.values(), ids=MISTAKES.keys())
def test_what_is_wrong(asked: Combination, view: InvestigationView, mistake: Mistake | None) -> None:
    assert judge(asked, view).mistake is mistake


DISTURBANCES: dict[str, tuple[Combination, InvestigationView, bool]] = {
    "trouble that nobody planned": (drill(once=True), DISTURBED, True),
    "the same for a resilient charter": (drill(subject=RESILIENT), DISTURBED, True),
    "a world that may have changed": (drill(once=True), NO_SECOND_LOOK, False),
    "what did not come again": (drill(once=True), LOST, False),
    "a page that was still moving": (drill(once=True, subject=KNOWN), STILL_MOVING, True),
    "the lasting fault itself, whatever else": (drill(), HIDDEN_BY_THE_FAULT, False),
    "everything but the lasting fault": (drill(), HIDDEN_BY_ANOTHER, True),
    "a PASS in spite of it": (drill(once=True), samples.passed(), False),
}


@pytest.mark.parametrize(("asked", "view", "disturbed"), DISTURBANCES.values(), ids=DISTURBANCES.keys())
def test_what_proves_nothing(asked: Combination, view: InvestigationView, disturbed: bool) -> None:
    assert judge(asked, view).disturbed is disturbed


def test_only_what_a_write_may_have_changed_is_left_open() -> None:
    views = (NO_SECOND_LOOK, DISTURBED, LOST, STILL_MOVING, PLANNED_TROUBLE, samples.passed())
    assert [judge(drill(once=True), view).left_open for view in views] == [True, *[False] * 5]
    assert not judge(drill(), NO_SECOND_LOOK).left_open


def test_a_run_that_ended_without_an_answer_is_a_failure_of_ours_and_told_once() -> None:
    lost = samples.view(None, [], number=3)
    assert lost.run.verdict is None
    (told,) = without_an_answer([samples.passed(), samples.bug(), lost], ["RUN-31: the disk is full"])
    assert told.startswith(f"{lost.name}, {lost.question.key.charter}: ")
    assert not list(without_an_answer([lost], [f"The disk is full. ({lost.name}: HARNESS_ERROR)"]))


# What it amounts to


def answers(*given: tuple[Combination, InvestigationView]) -> list[Judged]:
    return [judge(asked, view) for asked, view in given]


def test_the_confusion_matrix_has_a_row_for_each_truth() -> None:
    judged = answers(
        (drill(), HIDDEN_BY_THE_FAULT),
        (drill("503"), samples.bug()),
        (drill(once=True), samples.passed()),
        (drill(), samples.view(None, [])),
        (drill(once=True), DISTURBED),
    )
    assert confusion(judged) == {
        (PASS,): Counter({PASS: 1, ENV_ERROR: 1}),
        (ENV_ERROR,): Counter({ENV_ERROR: 1, BUG: 1, None: 1}),
    }
    assert false_bugs(judged) == (1, 3), "of those whose answer counts"
    assert missed_bugs(judged) == (0, 0)


def test_a_fault_that_never_fired_counts_as_nothing_else_in_the_matrix() -> None:
    unfired = samples.passed(plan=("reset@**/api/cart",), unfired=("reset@**/api/cart",))
    (cell,) = matrix(answers((drill(once=True), unfired), (drill(once=True), samples.passed())))
    assert (cell.endpoint, cell.fault, cell.often) == ("**/api/cart", "reset", "once")
    assert (cell.passed, cell.never_fired, cell.bug, cell.env) == (1, 1, 0, 0)


def result(*judged: Judged, **more: object) -> GateResult:
    return GateResult(agent="careful", judged=judged, **more)  # type: ignore[arg-type]


GOOD, FALSE, MISSED, UNNOTICED, UNFIRED, HIDDEN_BY_OTHERS = answers(
    (drill(), HIDDEN_BY_THE_FAULT),
    (drill(), samples.bug()),
    (drill(once=True, subject=KNOWN), samples.passed()),
    (drill(), samples.passed()),
    (drill(once=True), samples.passed(plan=("reset@/x",), unfired=("reset@/x",))),
    (drill(once=True), DISTURBED),
)
UNPROVED = Unproved(subject=SUBJECT, expected=PASS, said=BUG, run="RUN-1", sentence="It is wrong.")

CODES: dict[str, tuple[GateResult, ExitCode]] = {
    "all is right": (result(GOOD), ExitCode.PASSED),
    "a false BUG": (result(GOOD, FALSE), ExitCode.BUG),
    "as many as are put up with": (result(GOOD, FALSE, max_false_bugs=1), ExitCode.PASSED),
    "one more": (result(FALSE, FALSE, max_false_bugs=1), ExitCode.BUG),
    "a missed bug": (result(MISSED, max_false_bugs=9), ExitCode.BUG),
    "a fault not noticed": (result(UNNOTICED), ExitCode.BUG),
    "a fault that never fired": (result(UNFIRED), ExitCode.BUG),
    "a wrong answer before our own failure": (result(FALSE, failures=("full",)), ExitCode.BUG),
    "our own failure before a check error": (result(failures=("f",), check_errors=("c",)), ExitCode.HARNESS),
    "a check error before a healthy run that failed": (
        result(check_errors=("c",), unproved=(UNPROVED,)),
        ExitCode.USAGE,
    ),
    "a healthy run that failed": (result(unproved=(UNPROVED,)), ExitCode.ENV_ERROR),
    "a drill that proves nothing": (result(GOOD, HIDDEN_BY_OTHERS), ExitCode.ENV_ERROR),
    "nothing to break": (result(), ExitCode.ENV_ERROR),
}


@pytest.mark.parametrize(("found", "code"), CODES.values(), ids=CODES.keys())
def test_the_exit_code(found: GateResult, code: ExitCode) -> None:
    assert gate_exit_code(found) is code


def test_the_interval_is_wilsons() -> None:
    found = interval(0, 310)
    assert found is not None
    assert (found.count, found.total, found.low) == (0, 310, 0.0)
    assert found.high == pytest.approx(0.01224, abs=1e-5)
    assert interval(0, 0) is None


def test_without_scipy_there_is_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(
        name: str,
        given: Mapping[str, object] | None = None,
        local: Mapping[str, object] | None = None,
        wanted: Sequence[str] = (),
        level: int = 0,
    ) -> object:
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, given, local, wanted, level)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert not available()
    assert interval(0, 310) is None


def test_every_kind_is_one_that_fault_routes_knows() -> None:
    assert parse_plan([f"{kind.name}@/x" for kind in KINDS]).faults
