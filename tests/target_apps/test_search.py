"""The search finds what its catalogue has, and refuses a query that it does not understand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from target_apps.search import SearchServer
from tests.target_apps.asking import Client, serving


@pytest.fixture(scope="module")
def search() -> Iterator[Client]:
    with serving(SearchServer) as client:
        yield client


def _names(client: Client, query: str) -> list[str]:
    return [product["name"] for product in client.get(f"/api/products?{query}").json["products"]]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("q=sock&limit=20", ["Wool socks", "Sock puppet", "Hiking socks"]),
        ("q=SOCK&limit=1", ["Wool socks"]),
        ("q=sock&category=toys&limit=20", ["Sock puppet"]),
        ("q=submarine&limit=20", []),
    ],
)
def test_a_query_finds_names_by_their_letters(search: Client, query: str, names: list[str]) -> None:
    assert _names(search, query) == names


@pytest.mark.parametrize("limit", ["", "all", "0", "51", "-1"])
def test_a_limit_that_is_none_is_refused(search: Client, limit: str) -> None:
    answer = search.get(f"/api/products?q=sock&limit={limit}")
    assert answer.status == 400
    assert answer.text == "The limit is a number up to 50."


def test_one_letter_finds_more_than_four(search: Client) -> None:
    assert set(_names(search, "q=s&limit=20")) > set(_names(search, "q=sock&limit=20"))
