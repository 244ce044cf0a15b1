"""The to-do list keeps what was written, each list by itself, unless a bug is switched on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from target_apps.todo import TodoServer
from tests.target_apps.asking import Client, serving

ITEMS = "/api/lists/mine/items"


@pytest.fixture
def todo() -> Iterator[Client]:
    with serving(TodoServer) as client:
        yield client


def _add(client: Client, text: str) -> str:
    answer = client("POST", ITEMS, {"text": text})
    assert answer.status == 201
    added = answer.json
    assert (added["text"], added["done"]) == (text, False)
    return str(added["id"])


def _texts(client: Client, items: str = ITEMS) -> list[str]:
    return [item["text"] for item in client.get(items).json["items"]]


def test_the_root_leads_to_a_new_list_each_time(todo: Client) -> None:
    first, second = todo.get("/"), todo.get("/")
    assert (first.status, second.status) == (303, 303)
    assert first.headers["Location"].startswith("/lists/")
    assert first.headers["Location"] != second.headers["Location"]
    assert todo.get(first.headers["Location"]).status == 200


def test_what_is_added_is_on_that_list_and_on_no_other(todo: Client) -> None:
    _add(todo, "Buy milk")
    assert _texts(todo) == ["Buy milk"]
    assert _texts(todo, "/api/lists/another/items") == []


def test_ticking_and_deleting_reach_the_item(todo: Client) -> None:
    milk, ada = _add(todo, "Buy milk"), _add(todo, "Call Ada")
    assert todo("PATCH", f"{ITEMS}/{milk}", {"done": True}).json["done"] is True
    assert [item["done"] for item in todo.get(ITEMS).json["items"]] == [True, False]
    assert todo("DELETE", f"{ITEMS}/{ada}").status == 204
    assert _texts(todo) == ["Buy milk"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", ITEMS, {}, 400),
        ("POST", ITEMS, {"text": " "}, 400),
        ("PATCH", f"{ITEMS}/1", {}, 400),
        ("PATCH", f"{ITEMS}/1", {"done": True}, 404),
        ("DELETE", f"{ITEMS}/1", None, 404),
    ],
)
def test_a_write_that_makes_no_sense_is_refused(
    todo: Client, method: str, path: str, body: object, status: int
) -> None:
    assert todo(method, path, body).status == status


def test_a_lost_write_is_confirmed_and_not_there() -> None:
    with serving(TodoServer, "loses-the-write") as client:
        _add(client, "Buy milk")
        assert _texts(client) == []


def test_a_delete_that_does_nothing_is_confirmed_too() -> None:
    with serving(TodoServer, "delete-does-nothing") as client:
        milk = _add(client, "Buy milk")
        assert client("DELETE", f"{ITEMS}/{milk}").status == 204
        assert _texts(client) == ["Buy milk"]
