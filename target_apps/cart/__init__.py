"""A shopping cart whose page fetches its items and adds them up itself.

The right total is 487.00. Opened with `?v=buggy`, or with the bug switched on, the page forgets the
quantities and shows 288.00. When its items do not come within a second it says so, with the reason.
"""

from __future__ import annotations

from typing import ClassVar, TypedDict

from target_apps.messages import Request, Response, as_json, page
from target_apps.server import AppServer, Routes

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

    BUGS: ClassVar = {
        "forgets-quantity": "The total counts each item once: 288.00 for 487.00.",
        "asks-carts": "Loading failed: the page asks for /api/carts, which is not there.",
        "asks-the-page": "Loading failed: the page asks for /cart/items, and gets the app's own page.",
        "truncated-json": "Loading failed: the server always breaks off in the middle of the items.",
        "aborts-at-once": "Loading failed: the page gives up its own request at once.",
    }

    def routes(self) -> Routes:
        document = page(__name__, bug=self.bug)
        return {
            ("GET", "/"): lambda request: document,
            ("GET", "/cart/{view}"): lambda request: document,
            ("GET", "/api/cart"): self._items,
        }

    def _items(self, request: Request) -> Response:
        whole = as_json({"items": ITEMS})
        if self.bug != "truncated-json":
            return whole
        return Response(body=whole.body[:-40], content_type=whole.content_type)
