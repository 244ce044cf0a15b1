import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fault_routes import (
    ABORT_CODES,
    RESOURCE_TYPES,
    Abort,
    Always,
    Chance,
    Delay,
    Effect,
    EmptyBody,
    Fault,
    FaultSpecError,
    FirstN,
    HtmlInsteadOfJson,
    LostAnswer,
    MalformedJson,
    NoAnswer,
    Nth,
    PatternError,
    Respond,
    TruncatedJson,
    Where,
    parse_fault,
    parse_plan,
)

RESET = Abort(code="connectionreset")


@pytest.mark.parametrize(
    ("kind", "effect"),
    [
        ("reset", RESET),
        *((code, Abort(code=code)) for code in ABORT_CODES),
        ("503", Respond(status=503)),
        ("400", Respond(status=400)),
        ("599", Respond(status=599)),
        ("status=503", Respond(status=503)),
        ("status=200", Respond(status=200)),
        ("slow", Delay(seconds=2)),
        ("delay=2s", Delay(seconds=2)),
        ("delay=1.5s", Delay(seconds=1.5)),
        ("delay=250ms", Delay(seconds=0.25)),
        ("no_answer", NoAnswer()),
        ("lost_answer", LostAnswer()),
        ("truncated_json", TruncatedJson()),
        ("malformed_json", MalformedJson()),
        ("html", HtmlInsteadOfJson()),
        ("empty", EmptyBody()),
    ],
)
def test_each_kind_has_a_name(kind: str, effect: Effect) -> None:
    where = Where(pattern="**/api/cart")
    assert parse_fault(f"{kind}@**/api/cart") == Fault(effect=effect, where=where, when=Always())


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("reset:times=3@/a", Fault(effect=RESET, where=Where(pattern="/a"), when=FirstN(times=3))),
        ("reset_once@/a", Fault(effect=RESET, where=Where(pattern="/a"), when=FirstN(times=1))),
        ("reset:nth=2@/a", Fault(effect=RESET, where=Where(pattern="/a"), when=Nth(nth=2))),
        ("reset:p=0.3,seed=7@/a", Fault(effect=RESET, where=Where(pattern="/a"), when=Chance(p=0.3, seed=7))),
        (
            "reset:method=post,type=xhr@/a",
            Fault(effect=RESET, where=Where(pattern="/a", method="POST", resource_type="xhr")),
        ),
        ("reset@**/@vite/client", Fault(effect=RESET, where=Where(pattern="**/@vite/client"))),
        (
            "  reset : times=1, method=GET @ /a ",
            Fault(effect=RESET, where=Where(pattern="/a", method="GET"), when=FirstN(times=1)),
        ),
        (
            "503:header=Retry-After:5,header=X-Why: a%2Cb,content_type=application/json,body={%22a%22:1}@/a",
            Fault(
                effect=Respond(
                    status=503,
                    body='{"a":1}',
                    content_type="application/json",
                    headers=(("Retry-After", "5"), ("X-Why", "a,b")),
                ),
                where=Where(pattern="/a"),
            ),
        ),
    ],
)
def test_options_say_which_requests_and_which_answer(written: str, fault: Fault) -> None:
    assert parse_fault(written) == fault


WHENS = st.one_of(
    st.just(Always()),
    st.builds(FirstN, times=st.integers(min_value=1)),
    st.builds(Nth, nth=st.integers(min_value=1)),
    st.builds(Chance, p=st.floats(min_value=0, max_value=1, exclude_min=True), seed=st.integers()),
)
HEADER_VALUES = st.text(st.characters(min_codepoint=32, max_codepoint=126)).map(str.strip)
EFFECTS: st.SearchStrategy[Effect] = st.one_of(
    st.builds(Abort, code=st.sampled_from(ABORT_CODES)),
    st.builds(Delay, seconds=st.floats(min_value=0, exclude_min=True, allow_infinity=False)),
    st.builds(
        Respond,
        status=st.integers(min_value=200, max_value=599),
        body=st.text(),
        content_type=st.none() | HEADER_VALUES,
        headers=st.lists(st.tuples(st.text("aB9-_!~", min_size=1), HEADER_VALUES)).map(tuple),
    ),
    st.sampled_from(
        [NoAnswer(), LostAnswer(), TruncatedJson(), MalformedJson(), HtmlInsteadOfJson(), EmptyBody()]
    ),
)


def where_from(path: str, method: str | None, resource_type: str | None) -> Where | None:
    try:
        return Where(pattern=path, method=method, resource_type=resource_type)
    except PatternError:
        return None


WHERES = st.builds(
    where_from,
    path=st.text("ab/*?@:=,%{}", min_size=1) | st.text(min_size=1),
    method=st.none() | st.sampled_from(["GET", "POST", "PROPFIND", "M-SEARCH"]),
    resource_type=st.none() | st.sampled_from(sorted(RESOURCE_TYPES)),
).filter(lambda where: where is not None)


@given(fault=st.builds(Fault, effect=EFFECTS, where=WHERES, when=WHENS))
def test_what_a_fault_writes_reads_back_as_that_fault(fault: Fault) -> None:
    assert parse_fault(fault.spec) == fault
    assert parse_fault(fault.spec).spec == fault.spec


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("", "write KIND@PATTERN, for example reset:times=1@**/api/cart"),
        ("reset", "write KIND@PATTERN"),
        ("@/a", "write status=503, delay=2s"),
        ("reset@", "the URL pattern is empty"),
        ("reset@/{a", "without its '}'"),
        ("rest@/a", "did you mean 'reset'?"),
        ("connectionrest@/a", "did you mean 'connectionreset'?"),
        ("ERR_TIMED_OUT@/a", "did you mean 'timedout'?"),
        ("truncated-json@/a", "did you mean 'truncated_json'?"),
        ("frobnicate@/a", "an abort code (aborted, "),
        ("200@/a", "write status=200"),
        ("503=1@/a", "write status=503"),
        ("status@/a", "write for example status=503"),
        ("status=5xx@/a", "'5xx' is no status"),
        ("status=600@/a", "from 200 to 599"),
        ("delay@/a", "write for example delay=2s"),
        ("delay=2@/a", "'2' is no time with a unit"),
        ("delay=1.2.3s@/a", "is no time with a unit"),
        ("delay=0s@/a", "write for example delay=2s"),
        ("slow=3s@/a", "'slow' takes no value"),
        ("reset:@/a", "unknown option ''"),
        ("reset:time=1@/a", "did you mean 'times'?"),
        ("reset:times@/a", "write times=VALUE"),
        ("reset:times=one@/a", "write for example times=1"),
        ("reset:times=0@/a", "write times=1 or more"),
        ("reset:times=1,times=2@/a", "given twice"),
        ("reset:times=1,nth=2@/a", "exclude each other"),
        ("reset:p=often@/a", "write for example p=0.3"),
        ("reset:p=30@/a", "is no probability"),
        ("reset:seed=7@/a", "write for example p=0.3,seed=7"),
        ("reset_once:nth=2@/a", "reset_once is reset:times=1 already"),
        ("reset:body=x@/a", "503:body="),
        ("503:body=a,b@/a", "a comma in a value is %2C"),
        ("503:header=Retry-After@/a", "header=Retry-After:5"),
        ("503:header=a b:c@/a", "no header name"),
        ("reset:method=P*ST@/a", "method=POST"),
        ("reset:type=fetsh@/a", "did you mean 'fetch'?"),
        ("reset:type=websocket@/a", "WebSocket"),
        ("rest\n\n@/a", "did you mean"),
    ],
)
def test_what_is_no_fault_gets_one_line_that_says_what_to_write(written: str, told: str) -> None:
    with pytest.raises(FaultSpecError) as raised:
        parse_fault(written)
    message = str(raised.value)
    assert told in message
    assert repr(written) in message
    assert len(message.splitlines()) == 1


@given(written=st.text() | st.text("reset:@/=,5p%{*"))
def test_whatever_is_written_gives_a_fault_or_a_spec_error(written: str) -> None:
    with contextlib.suppress(FaultSpecError):
        assert isinstance(parse_fault(written), Fault)


def test_a_plan_keeps_the_order_of_its_specs() -> None:
    plan = parse_plan(["503:nth=2@/a", "reset@/a"])
    assert [fault.spec for fault in plan.faults] == ["status=503:nth=2@/a", "reset@/a"]


def test_a_plan_with_the_same_fault_twice_is_refused() -> None:
    with pytest.raises(FaultSpecError, match="planned twice"):
        parse_plan(["reset_once@/a", "reset:times=1@/a"])


def test_a_plan_with_a_wrong_spec_names_that_spec() -> None:
    with pytest.raises(FaultSpecError, match="fault 'rest@/a'"):
        parse_plan(["reset@/a", "rest@/a"])
