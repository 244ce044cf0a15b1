"""The shop's API: a catalogue, orders, and what CORS wants of both."""

from __future__ import annotations

import secrets
import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import TypedDict

from target_apps.messages import Reply, Request, Response, as_json, plain
from target_apps.server import AppServer, Routes

__all__ = ["PRODUCTS", "Order", "ShopApi"]


class Order(TypedDict):
    id: str
    name: str
    quantity: int
    total: float


PRODUCTS: Mapping[str, tuple[str, float]] = {
    "teapot": ("Teapot", 19.5),
    "cup": ("Cup", 6.25),
    "tray": ("Tray", 24.0),
}
"""Name and price by id."""

#: For the page's origin and what it sends; without these the browser lets the page do nothing.
MAY_READ = {"Access-Control-Allow-Origin": "*"}
MAY_SEND = {
    **MAY_READ,
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Content-Type, Idempotency-Key",
}


class ShopApi(AppServer):
    """Orders by customer. An order is known by its idempotency key."""

    def __init__(self, *, bug: str | None = None) -> None:
        super().__init__()
        self.bug = bug  # of the shop's, which has checked it
        self._orders: defaultdict[str, dict[str, Order]] = defaultdict(dict)
        self._lock = threading.Lock()

    def routes(self) -> Routes:
        paths = ("/api/products", "/api/orders", "/api/customers/{customer}/orders")
        preflights: Routes = {("OPTIONS", path): _preflight for path in paths}
        return {
            **preflights,
            ("GET", "/api/products"): self._products,
            ("POST", "/api/orders"): self._order,
            ("GET", "/api/customers/{customer}/orders"): self._orders_of,
        }

    def finish(self, request: Request, reply: Reply) -> Reply:
        forgotten = self.bug == "cors-forgotten" and (request.method, request.path) == (
            "GET",
            "/api/products",
        )
        if forgotten or not isinstance(reply, Response):
            return reply
        return replace(reply, headers={**MAY_READ, **reply.headers})

    def _products(self, request: Request) -> Response:
        products = [{"id": key, "name": name, "price": price} for key, (name, price) in PRODUCTS.items()]
        whole = as_json({"products": products})
        return whole if self.bug != "truncated-catalogue" else replace(whole, body=whole.body[:-30])

    def _order(self, request: Request) -> Response:
        customer, product = str(request.sent.get("customer", "")), str(request.sent.get("product"))
        quantity, key = request.sent.get("quantity"), request.headers.get("idempotency-key")
        if not key or not customer or product not in PRODUCTS:
            return plain("An order names a customer, a product and a key.", status=HTTPStatus.BAD_REQUEST)
        if not isinstance(quantity, int) or not 0 < quantity < 100:
            return plain("The quantity is a number from 1 to 99.", status=HTTPStatus.BAD_REQUEST)
        with self._lock:
            orders = self._orders[customer]
            is_new = key not in orders
            order = orders.setdefault(key, self._made(product, quantity))
        return as_json(order, status=HTTPStatus.CREATED if is_new else HTTPStatus.OK)

    def _made(self, product: str, quantity: int) -> Order:
        name, price = PRODUCTS[product]
        counted = 1 if self.bug == "forgets-quantity" else quantity
        return {"id": secrets.token_hex(4), "name": name, "quantity": quantity, "total": price * counted}

    def _orders_of(self, request: Request) -> Response:
        with self._lock:
            return as_json({"orders": list(self._orders.get(request.parameters["customer"], {}).values())})


def _preflight(request: Request) -> Response:
    return Response(status=HTTPStatus.NO_CONTENT, headers=MAY_SEND)
