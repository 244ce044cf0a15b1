import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fault_routes import Abort, Delay, EmptyBody, FaultError, MalformedJson, Respond, TruncatedJson

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(value=JSON_VALUES)
def test_truncated_json_is_a_beginning_of_the_answer_and_no_json(value: object) -> None:
    text = json.dumps(value)
    cut = TruncatedJson().spoil(text)
    assert cut is not None
    assert text.startswith(cut)
    with pytest.raises(ValueError, match="line 1"):
        json.loads(cut)


@given(value=JSON_VALUES)
def test_malformed_json_is_no_json(value: object) -> None:
    spoilt = MalformedJson().spoil(json.dumps(value))
    assert spoilt is not None
    with pytest.raises(ValueError, match="line 1"):
        json.loads(spoilt)


def test_truncated_json_is_cut_in_the_middle() -> None:
    assert TruncatedJson().spoil('{"items": [1, 2]}') == '{"items"'


@pytest.mark.parametrize("text", ["", "<html>", "{", "[" * 100_000])
def test_what_is_no_json_cannot_be_spoilt(text: str) -> None:
    assert TruncatedJson().spoil(text) is None
    assert MalformedJson().spoil(text) is None


def test_an_empty_body_cannot_be_emptied() -> None:
    assert EmptyBody().spoil("") is None
    assert EmptyBody().spoil("no json") == ""


def test_an_unknown_abort_code_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(FaultError, match="did you mean 'connectionreset'"):
        Abort(code="net::ERR_CONNECTION_RESET")


@pytest.mark.parametrize("status", [0, 100, 199, 600, 1000])
def test_a_status_that_no_answer_has_is_refused(status: int) -> None:
    with pytest.raises(FaultError, match="from 200 to 599"):
        Respond(status=status)


@pytest.mark.parametrize("header", [("", "x"), ("a b", "x"), ("a", "x\r\nb: y"), ("a", " x"), ("a", "ä")])
def test_a_header_that_cannot_be_sent_is_refused(header: tuple[str, str]) -> None:
    with pytest.raises(FaultError, match="header"):
        Respond(status=503, headers=(header,))


def test_a_body_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(FaultError, match="no Unicode"):
        Respond(status=503, body="\udc80")


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_a_delay_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(FaultError, match="write for example delay=2s"):
        Delay(seconds=seconds)
