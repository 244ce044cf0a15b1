"""A shop whose catalogue and orders are an API on another origin, and whose page calls third parties as well.

The page, the API and the third parties listen on a port each; the third parties go by the name `localhost`,
which makes them another site than 127.0.0.1. An order carries an idempotency key: sent again under the same
key it is the same order. Each customer, `/?customer=<any name>`, has orders of their own.
"""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import ClassVar, Self

from target_apps.messages import page, script, stylesheet
from target_apps.server import AppServer, Routes
from target_apps.shop.api import PRODUCTS, ShopApi
from target_apps.shop.third_parties import ThirdParties

__all__ = ["PRODUCTS", "ShopServer"]


class ShopServer(AppServer):
    """`with ShopServer() as server:` serves the shop, its API and its third parties."""

    BUGS: ClassVar = {
        "cors-forgotten": "The catalogue stays empty: its answer does not let the page's origin read it.",
        "truncated-catalogue": "The catalogue stays empty: the server always breaks off in the middle.",
        "forgets-quantity": "An order's total counts one piece, however many were ordered.",
        "orders-twice": "One click makes two orders.",
        "says-ordered-unsent": "The page says that the order is placed, though nothing was sent.",
        "keyless-retry": "An order whose answer is lost is sent again as a new one: two orders.",
        "blank-on-failure": "Where the catalogue cannot be loaded the page stays blank, without a word.",
    }

    def __init__(self, *, port: int = 0, bug: str | None = None) -> None:
        super().__init__(port=port, bug=bug)
        self.api = ShopApi(bug=bug)
        self.third_parties = ThirdParties()
        self._beside = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            opened.enter_context(self.api)
            opened.enter_context(self.third_parties)
            super().__enter__()
            self._beside = opened.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        self._beside.close()

    def routes(self) -> Routes:
        third = self.third_parties.url
        document = page(__name__, bug=self.bug, api=self.api.url, third=third)
        style, code = stylesheet(), script(__name__)
        return {
            ("GET", "/"): lambda request: document,
            ("GET", "/looks.css"): lambda request: style,
            ("GET", "/app.js"): lambda request: code,
        }
