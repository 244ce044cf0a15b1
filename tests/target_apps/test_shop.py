"""The shop's API is on another origin and lets the page in; an order is known by its key."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from target_apps.server import AppServer
from target_apps.shop import ShopServer
from tests.target_apps.asking import Answer, Client, client_of, serving

ORDER = {"customer": "me", "product": "teapot", "quantity": 2}


@contextmanager
def _api(bug: str | None = None) -> Iterator[Client]:
    with ShopServer(bug=bug) as shop, client_of(shop.api) as client:
        yield client


@pytest.fixture
def api() -> Iterator[Client]:
    with _api() as client:
        yield client


def _order(client: Client, key: str, **changed: object) -> Answer:
    return client("POST", "/api/orders", {**ORDER, **changed}, idempotency_key=key)


def _orders(client: Client, customer: str = "me") -> list[tuple[int, float]]:
    orders = client.get(f"/api/customers/{customer}/orders").json["orders"]
    return [(order["quantity"], order["total"]) for order in orders]


def test_page_api_and_third_parties_are_three_origins() -> None:
    with ShopServer() as shop, client_of(shop) as client:
        origins = {shop.url, shop.api.url, shop.third_parties.url}
        text = client.get("/").text
        assert len(origins) == 3
        assert shop.api.url in text
        assert urlsplit(shop.third_parties.url).hostname == "localhost"
        assert shop.third_parties.url in text


def test_leaving_ends_all_three() -> None:
    before = set(threading.enumerate())
    with ShopServer() as shop:
        servers: list[AppServer] = [shop, shop.api, shop.third_parties]
        assert len(set(threading.enumerate()) - before) == len(servers)
    assert set(threading.enumerate()) <= before
    for server in servers:
        with pytest.raises(RuntimeError, match="not running"):
            _ = server.url


def test_the_third_parties_answer() -> None:
    with ShopServer() as shop, client_of(shop.third_parties) as client:
        assert client("POST", "/telemetry", {}).status == 204
        assert client.get("/banner.js").headers["Content-Type"].startswith("text/javascript")
        assert client.get("/seal.svg").headers["Content-Type"] == "image/svg+xml"


def test_the_preflight_allows_what_the_page_sends(api: Client) -> None:
    answer = api("OPTIONS", "/api/orders", origin="http://127.0.0.1:1")
    assert answer.status == 204
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "Idempotency-Key" in answer.headers["Access-Control-Allow-Headers"]
    assert "POST" in answer.headers["Access-Control-Allow-Methods"]


@pytest.mark.parametrize("path", ["/api/products", "/api/customers/me/orders", "/api/nowhere"])
def test_every_answer_may_be_read_by_the_page(api: Client, path: str) -> None:
    assert api.get(path).headers["Access-Control-Allow-Origin"] == "*"


def test_an_order_costs_price_times_quantity_and_is_the_customers_own(api: Client) -> None:
    placed = _order(api, "a")
    assert (placed.status, placed.json["total"]) == (201, 39.0)
    assert _orders(api) == [(2, 39.0)]
    assert _orders(api, "somebody-else") == []


def test_the_same_key_is_the_same_order_and_another_key_another_one(api: Client) -> None:
    first, again = _order(api, "a"), _order(api, "a")
    assert (first.status, again.status) == (201, 200)
    assert first.json == again.json
    _order(api, "b")
    assert len(_orders(api)) == 2


@pytest.mark.parametrize(
    "changed", [{"quantity": 0}, {"quantity": "2"}, {"product": "boat"}, {"product": []}, {"customer": ""}]
)
def test_an_order_that_makes_no_sense_is_refused(api: Client, changed: dict[str, object]) -> None:
    assert _order(api, "a", **changed).status == 400
    assert _order(api, "").status == 400


def test_the_bug_of_cors_is_one_missing_header_of_a_well_server() -> None:
    with _api("cors-forgotten") as client:
        answer = client.get("/api/products")
        assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (200, None)
        assert len(answer.json["products"]) == 3
        assert client.get("/api/customers/me/orders").headers["Access-Control-Allow-Origin"] == "*"


def test_the_bug_of_the_catalogue_breaks_off() -> None:
    with _api("truncated-catalogue") as client, pytest.raises(json.JSONDecodeError):
        _ = client.get("/api/products").json


def test_the_bug_of_the_quantity_charges_one_piece() -> None:
    with _api("forgets-quantity") as client:
        assert _order(client, "a").json["total"] == 19.5


def test_a_wrong_bug_leaves_nothing_running() -> None:
    before = set(threading.enumerate())
    with pytest.raises(ValueError, match="no bug"), serving(ShopServer, "none"):
        pass
    assert set(threading.enumerate()) <= before
