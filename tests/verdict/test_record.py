"""Records go to JSON and back without loss."""

from __future__ import annotations

import msgspec
import pytest

from bughunt.verdict.record import load_from_json, to_json
from tests.verdict.making import blocked, crashed, held_up, load, mismatch


@pytest.mark.parametrize("record", [load(), mismatch(), blocked(), crashed(), held_up()])
def test_a_load_comes_back_from_json_as_it_was(record: object) -> None:
    assert load_from_json(to_json(record)) == record  # type: ignore[arg-type]


def test_equal_loads_have_equal_json_whatever_the_order_of_their_headers() -> None:
    one, other = {"a": "1", "b": "2"}, {"b": "2", "a": "1"}
    assert to_json(blocked(response_headers=one)) == to_json(blocked(response_headers=other))


@pytest.mark.parametrize("data", [b"{}", b"[]", b"not json", b'{"number": "one"}'])
def test_what_is_no_load_is_refused(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        load_from_json(data)
