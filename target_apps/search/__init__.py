"""A catalogue with type-ahead: each letter asks anew and gives up what was asked before.

Short queries take the server longer, as where much is found, so that answers might overtake each other.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import ClassVar, TypedDict

from target_apps.messages import Request, Response, as_json, page, plain, script, stylesheet
from target_apps.server import AppServer, Routes

__all__ = ["PRODUCTS", "Product", "SearchServer"]


class Product(TypedDict):
    name: str
    price: float
    category: str


PRODUCTS: tuple[Product, ...] = (
    {"name": "Wool socks", "price": 14.0, "category": "clothing"},
    {"name": "Sock puppet", "price": 9.5, "category": "toys"},
    {"name": "Hiking socks", "price": 18.25, "category": "clothing"},
    {"name": "Soap dish", "price": 7.8, "category": "home"},
    {"name": "Soup ladle", "price": 12.4, "category": "home"},
    {"name": "Coffee mug", "price": 11.9, "category": "home"},
    {"name": "Travel mug", "price": 24.0, "category": "home"},
    {"name": "Rain jacket", "price": 89.0, "category": "clothing"},
    {"name": "Building blocks", "price": 32.6, "category": "toys"},
)

SECONDS = {1: 0.5, 2: 0.2}
"""How long queries of so many letters take; longer ones are answered at once."""

MAX_LIMIT = 50


class SearchServer(AppServer):
    """`with SearchServer() as server:` serves the search."""

    BUGS: ClassVar = {
        "a-letter-behind": "The results are those of what was typed one letter before.",
        "refused-query": "Each search fails: the page asks with limit=all, and the server refuses with 400.",
        "aborts-at-once": "Each search fails: the page gives up its own request at once.",
        "forgets-price": "Results show no price.",
        "ignores-category": "The chosen category makes no difference.",
    }

    def routes(self) -> Routes:
        document, style, code = page(__name__, bug=self.bug), stylesheet(), script(__name__)
        return {
            ("GET", "/"): lambda request: document,
            ("GET", "/looks.css"): lambda request: style,
            ("GET", "/app.js"): lambda request: code,
            ("GET", "/api/products"): self._search,
        }

    def _search(self, request: Request) -> Response:
        wanted, category, limit = (request.asked(name) for name in ("q", "category", "limit"))
        if not limit.isdecimal() or not 0 < int(limit) <= MAX_LIMIT:
            return plain(f"The limit is a number up to {MAX_LIMIT}.", status=HTTPStatus.BAD_REQUEST)
        self.pause(SECONDS.get(len(wanted), 0))
        found = [p for p in PRODUCTS if wanted.lower() in p["name"].lower()]
        chosen = [p for p in found if category in ("", p["category"])]
        return as_json({"query": wanted, "products": chosen[: int(limit)]})
