"""What must hold of the rules for whatever may be recorded."""

from __future__ import annotations

import random

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bughunt.verdict.endings import judge_load
from bughunt.verdict.judgement import CauseKind, Ending, Judgement, Level, Reason, State, Verdict
from bughunt.verdict.record import (
    Crash,
    Declaration,
    Exchange,
    Failure,
    FailureKind,
    FaultEffect,
    LoadRecord,
    Scope,
    Step,
    load_from_json,
    to_json,
)
from bughunt.verdict.rules import MAX_LOADS, LoadAgain, claim, decide
from tests.verdict.making import APP, ELSEWHERE

fast = settings(max_examples=25, suppress_health_check=list(HealthCheck))

#: Few values, so that requests meet: the same one again, healed, superseded.
URLS = [f"{APP}/", f"{APP}/api/cart", f"{APP}/api/cart?t=2", f"{APP}/app.js", f"{ELSEWHERE}/api", ""]
TYPES = ["document", "script", "fetch", "xhr", "image", "eventsource", "stylesheet", "other"]
FAILURES = ["net::ERR_ABORTED", "net::ERR_CONNECTION_RESET", "csp", ""]
PATTERNS = ["**/api/cart", "**/api/**", "**/never", "**"]
HEADERS = [
    {},
    {"content-length": "20"},
    {"Content-Type": "text/event-stream"},
    {"retry-after": "7", "content-type": "application/json"},
]
STATUSES = [200, 201, 204, 302, 304, 400, 401, 403, 404, 408, 429, 500, 503]
NAMES = ["Page.goto", "Locator.click", "LocatorAssertions.to_have_text", "Network.json", "Locator.count"]

#: Instants around which rules change their minds, and the end of most loads.
INSTANTS = [0.0, 0.05, 0.1, 0.4, 1.0, 2.0, 4.0, 8.9, 9.0, 9.5, 9.95, 10.0, 10.05, 12.0]

instants = st.sampled_from(INSTANTS)


def an_exchange(seed: int) -> Exchange:
    """Any exchange, the impossible ones included: one draw for all its fields, since they are many."""
    chance = random.Random(seed)
    one_of, perhaps = chance.choice, lambda *values: chance.choice([None, *values])
    kind = one_of(TYPES)
    navigates = kind == "document"
    return Exchange(
        id=0,
        method=one_of(["GET", "GET", "POST", "HEAD"]),
        url=one_of(URLS),
        resource_type=kind,
        started=one_of(INSTANTS),
        frame_url=one_of(["", f"{APP}/", f"{ELSEWHERE}/ad"]),
        main_document=navigates and one_of([True, False]),
        frame_document=navigates and one_of([True, False]),
        navigation_of=perhaps(0),
        responded=perhaps(*INSTANTS),
        ended=perhaps(*INSTANTS),
        status=perhaps(*STATUSES),
        failure=perhaps(None, None, *FAILURES),
        finished=one_of([True, False]),
        response_headers=one_of(HEADERS),
        announced=perhaps(20),
        received=perhaps(0, 10, 20),
        digest=perhaps("one", "two"),
        operation=perhaps("Cart", "Rates"),
        script_async=perhaps(True, False),
        protocol=perhaps("http/1.1", "h2"),
        fault_effect=perhaps(None, None, *FaultEffect),
        page=one_of([0, 0, 1]),
    )


exchanges = st.lists(st.integers(0, 2**20).map(an_exchange), max_size=5)


@st.composite
def failures(draw: st.DrawFn, steps: int) -> Failure:
    """Any failure, of one of so many steps or of none."""
    return Failure(
        kind=draw(st.sampled_from(list(FailureKind))),
        type=draw(st.sampled_from(["AssertionError", "KeyError"])),
        message=draw(st.sampled_from(["no", "one\ntwo", "strict mode violation", " "])),
        at=draw(instants),
        step=draw(st.none() | st.integers(0, steps - 1)) if steps else None,
        lines=draw(st.sampled_from([(), (12,), (30, 12)])),
        timed_out=draw(st.booleans()),
    )


@st.composite
def records(draw: st.DrawFn, number: int = 1) -> LoadRecord:
    """Any load; half of them in health, so that mismatches meet."""
    healthy = draw(st.booleans())
    asked = [] if healthy else draw(exchanges)
    steps = tuple(
        Step(index=0, name=name, target="t", line=12, began=draw(instants), waits=draw(st.booleans()))
        for name in draw(st.lists(st.sampled_from(NAMES), max_size=1))
    )
    declared = draw(st.lists(st.sampled_from(PATTERNS), max_size=2))
    if not steps:
        asked = [msgspec.structs.replace(x, navigation_of=None) for x in asked]
    return LoadRecord(
        number=number,
        began_at="2026-01-01T00:00:00+00:00",
        scope=Scope(
            base_url=APP,
            own_hosts=("shop.test",),
            depends_on=draw(st.none() | st.just(("**/api/cart",))),
            ignore=draw(st.sampled_from([(), ("**/api/cart",)])),
        ),
        ended=draw(instants),
        exchanges=tuple(msgspec.structs.replace(x, id=n) for n, x in enumerate(asked)),
        declarations=tuple(
            Declaration(pattern=pattern, began=0.5, exchange=draw(st.none() | st.integers(0, 5)))
            for pattern in declared
        ),
        steps=steps,
        failure=draw(st.none() | failures(len(steps))),
        crash=draw(st.none() | st.none() | st.builds(Crash, what=st.just("renderer"), at=instants)),
        patient=draw(st.booleans()),
    )


@st.composite
def runs(draw: st.DrawFn) -> list[LoadRecord]:
    """A run as agents take it: another load as long as the rules ask for one."""
    taken = [draw(records(1))]
    while isinstance(again := decide(taken), LoadAgain):
        known = draw(st.booleans())
        nxt = draw(st.sampled_from(taken)) if known else draw(records())
        patient = again.patient or nxt.patient
        taken.append(msgspec.structs.replace(nxt, number=len(taken) + 1, patient=patient))
    return taken


def judgement_of(taken: list[LoadRecord]) -> Judgement:
    """What is said of a run."""
    decision = decide(taken)
    assert isinstance(decision, Judgement)
    return decision


@fast
@given(st.integers(1, 8).flatmap(lambda n: st.tuples(*(records(i + 1) for i in range(n)))))
def test_any_sequence_of_loads_is_decided_and_always_the_same_way(taken: tuple[LoadRecord, ...]) -> None:
    assert decide(taken) == decide(taken)
    assert all(claim(record) == claim(record) for record in taken)


@fast
@given(runs())
def test_done_and_pass_need_a_load_that_held(taken: list[LoadRecord]) -> None:
    judgement = judgement_of(taken)
    held = [e for e in judgement.endings if e.ending is Ending.HELD]
    if judgement.verdict is Verdict.PASS:
        assert held
        assert (judgement.state, judgement.level) == (State.DONE, Level.E4)
    assert (judgement.state is State.DONE) is (judgement.verdict in {Verdict.PASS, Verdict.BUG})


@fast
@given(runs())
def test_a_bug_needs_two_mismatches_of_one_signature_in_health(taken: list[LoadRecord]) -> None:
    judgement = judgement_of(taken)
    signatures = [e.signature for e in judgement.endings if e.ending is Ending.MISMATCH]
    assert (judgement.verdict is Verdict.BUG) is (
        any(signatures.count(s) >= 2 for s in signatures) and judgement.reason is None
    )
    assert all(not e.causes for e in judgement.endings if e.ending is Ending.MISMATCH)


@fast
@given(runs())
def test_an_env_error_has_a_cause_and_two_loads(taken: list[LoadRecord]) -> None:
    judgement = judgement_of(taken)
    if judgement.verdict is Verdict.ENV_ERROR:
        assert judgement.causes
        assert judgement.loads >= 2 or any(c.kind is CauseKind.CRASH for c in judgement.causes)
        assert (judgement.state, judgement.reason) == (State.FAILED, Reason.ENV_ERROR)


@fast
@given(runs())
def test_no_run_counts_more_than_five_loads(taken: list[LoadRecord]) -> None:
    counted = [e for e in judgement_of(taken).endings if e.ending is not Ending.HELD_UP]
    assert len(counted) <= MAX_LOADS
    assert len(taken) <= MAX_LOADS + 1


@fast
@given(runs())
def test_loads_and_confirmations_are_the_loads_that_count(taken: list[LoadRecord]) -> None:
    judgement = judgement_of(taken)
    counted = [e for e in judgement.endings if e.ending is not Ending.HELD_UP]
    assert judgement.loads + judgement.confirmations == len(counted)


@fast
@given(runs())
def test_a_judgement_is_the_same_from_what_was_stored(taken: list[LoadRecord]) -> None:
    judgement = judgement_of(taken)
    assert decide([load_from_json(to_json(record)) for record in taken]) == judgement
    assert msgspec.json.decode(to_json(judgement), type=Judgement) == judgement


@fast
@given(runs())
def test_all_that_is_said_is_on_one_line(taken: list[LoadRecord]) -> None:
    judgement = judgement_of(taken)
    said = [judgement.sentence, *(e.reason for e in judgement.endings), *(c.reason for c in judgement.causes)]
    assert all(len(sentence.splitlines()) == 1 for sentence in said)


@fast
@given(records(), st.randoms(use_true_random=False))
def test_the_order_in_which_exchanges_are_listed_does_not_matter(
    record: LoadRecord, chance: random.Random
) -> None:
    """Their ids and times say in which order they were."""
    shuffled = list(record.exchanges)
    chance.shuffle(shuffled)
    other = judge_load(msgspec.structs.replace(record, exchanges=tuple(shuffled)))
    one = judge_load(record)
    assert (one.ending, one.signature, one.degraded) == (other.ending, other.signature, other.degraded)
    assert {(c.kind, c.exchange) for c in one.causes} == {(c.kind, c.exchange) for c in other.causes}
