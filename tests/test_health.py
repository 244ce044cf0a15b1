"""Which response is healthy whatever its status says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bughunt.exceptions import SettingsError
from bughunt.health import Answer, find_predicate, graphql


def answer(body: object) -> Answer:
    """A 200 with this body; bytes as they are, anything else as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer(method="POST", url="http://shop.test/graphql", status=200, headers={}, body=data)


@pytest.mark.parametrize(
    "body",
    [
        {"data": {"total": 1}},
        {"data": None, "errors": []},
        [{"data": 1}, {"data": 2}],
        {"errors": None},
        "errors",
        b"no JSON",
        b"",
    ],
)
def test_a_graphql_answer_without_errors_is_healthy(body: object) -> None:
    assert graphql(answer(body))


@pytest.mark.parametrize(
    "body",
    [{"errors": [{"message": "away"}]}, {"data": {"a": 1}, "errors": [{}]}, [{"data": 1}, {"errors": [1]}]],
)
def test_a_graphql_answer_with_errors_is_not(body: object) -> None:
    assert not graphql(answer(body))


def test_an_answer_that_is_no_json_has_none() -> None:
    assert answer(b"<html>").json is None
    assert answer({"a": 1}).json == {"a": 1}


def test_a_setting_names_a_predicate(tmp_path: Path) -> None:
    (tmp_path / "our_health.py").write_text("def well(answer):\n    return answer.json['status'] == 'ok'\n")
    well = find_predicate("our_health:well", tmp_path)
    assert well(answer({"status": "ok"}))
    assert not well(answer({"status": "sick"}))
    assert find_predicate("graphql") is graphql


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("grafql", 'write graphql or "module:function"'),
        (":well", "names no predicate"),
        ("json:", "names no predicate"),
        ("no_such_module_here:well", "cannot be had"),
        ("json:no_such_function", "cannot be had"),
        ("json:__name__", "is no function"),
    ],
)
def test_a_predicate_that_is_none_is_refused_in_one_line(name: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said) as raised:
        find_predicate(name)
    assert len(str(raised.value).splitlines()) == 1
