"""A shopping cart whose page fetches its items and adds them up itself.

The right total is 487.00. Opened with `?v=buggy` the page forgets the quantities and
shows 288.00. When its items do not come within a second it says so, with the reason.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TypedDict

from target_apps.server import AppServer, as_json, html

__all__ = ["ITEMS", "CartServer", "Item"]


class Item(TypedDict):
    name: str
    price: float
    qty: int


ITEMS: tuple[Item, ...] = (
    {"name": "Mechanical keyboard", "price": 199.0, "qty": 2},
    {"name": "Wireless mouse", "price": 59.5, "qty": 1},
    {"name": "Desk mat", "price": 29.5, "qty": 1},
)


class CartServer(AppServer):
    """`with CartServer() as server:` serves the cart at `server.url`."""

    def __init__(self, *, port: int = 0) -> None:
        page = html(files(__name__).joinpath("page.html").read_text(encoding="utf-8"))
        items = as_json({"items": ITEMS})
        routes = {("GET", "/"): lambda request: page, ("GET", "/api/cart"): lambda request: items}
        super().__init__(routes, port=port)
