"""The apps of `target_apps` with their charters, and which bug which charter must see."""

from __future__ import annotations

from pathlib import Path

import msgspec

from target_apps import APPS
from target_apps.server import AppServer

__all__ = ["BUNDLED", "BugUnderFault", "BundledApp"]

FOLDER = Path(__file__).parent


class BugUnderFault(msgspec.Struct, frozen=True, kw_only=True):
    """A bug that shows only while the network is in trouble."""

    bug: str
    """Its name among the app's."""
    charter: str
    """The name of the resilient charter that must say BUG."""
    fault: str
    """The planned fault, as it is written."""


class BundledApp(msgspec.Struct, frozen=True, kw_only=True):
    """An app, its charters, and the truth about its bugs."""

    name: str
    app: type[AppServer]
    """`app(bug=None)` or `app(bug="name")` is a context manager with `url`."""
    charters: Path
    """The charter file."""
    origins: tuple[str, ...] = ()
    """Hosts besides the base URL's that are the app's own; 127.0.0.1 covers each of its ports already."""
    bugs: dict[str, tuple[str, ...]]
    """By the bug's name, the charters that must say BUG while it is switched on. The others must say PASS."""
    bugs_under_fault: tuple[BugUnderFault, ...] = ()
    """Those that a healthy network hides: without the fault every charter says PASS."""


def _bundled(
    name: str, bugs: dict[str, tuple[str, ...]], under_fault: tuple[BugUnderFault, ...] = ()
) -> BundledApp:
    return BundledApp(
        name=name,
        app=APPS[name],
        charters=FOLDER / f"{name}_charters.py",
        bugs=bugs,
        bugs_under_fault=under_fault,
    )


BUNDLED: tuple[BundledApp, ...] = (
    _bundled(
        "cart",
        {
            "forgets-quantity": ("shows_the_right_total",),
            "asks-carts": ("shows_the_right_total", "lists_every_item"),
            "asks-the-page": ("shows_the_right_total", "lists_every_item"),
            "truncated-json": ("shows_the_right_total", "lists_every_item"),
            "aborts-at-once": ("shows_the_right_total", "lists_every_item"),
        },
    ),
    _bundled(
        "todo",
        {
            "says-saved-unsent": (
                "saves_an_item",
                "keeps_an_item",
                "ticks_an_item_off",
                "deletes_an_item",
            ),
            "loses-the-write": ("keeps_an_item", "ticks_an_item_off", "deletes_an_item"),
            "adds-twice": (
                "saves_an_item",
                "keeps_an_item",
                "ticks_an_item_off",
                "deletes_an_item",
                "tells_what_was_saved",
            ),
            "counts-done": ("ticks_an_item_off",),
            "tick-without-value": ("ticks_an_item_off",),
            "delete-does-nothing": ("deletes_an_item",),
        },
    ),
    _bundled(
        "search",
        {
            "a-letter-behind": ("shows_what_was_typed_last",),
            "refused-query": (
                "shows_what_was_typed_last",
                "shows_the_price_of_each_result",
                "narrows_by_category",
                "says_that_nothing_matches",
            ),
            "aborts-at-once": (
                "shows_what_was_typed_last",
                "shows_the_price_of_each_result",
                "narrows_by_category",
                "says_that_nothing_matches",
            ),
            "forgets-price": ("shows_the_price_of_each_result",),
            "ignores-category": ("narrows_by_category",),
        },
    ),
    _bundled(
        "login",
        {
            "accepts-any-password": ("refuses_a_wrong_password",),
            "opens-to-strangers": ("asks_a_stranger_to_sign_in", "signs_out_for_good"),
            "sign-out-keeps-session": ("signs_out_for_good",),
            "forgets-mail": ("shows_the_account",),
            "script-missing": ("shows_the_account", "signs_out_for_good", "keeps_a_new_nickname"),
            "nickname-not-kept": ("keeps_a_new_nickname",),
        },
    ),
    _bundled(
        "dashboard",
        {
            "wrong-rate": ("shows_the_conversion",),
            "price-not-shown": ("shows_the_last_price", "shows_the_worth_at_that_price"),
            "worth-is-stale": ("shows_the_worth_at_that_price",),
            "news-not-shown": ("shows_the_headlines",),
            "script-throws": (
                "shows_the_conversion",
                "shows_the_last_price",
                "shows_the_worth_at_that_price",
                "shows_the_headlines",
            ),
        },
    ),
    _bundled(
        "shop",
        {
            "cors-forgotten": (
                "lists_the_catalogue",
                "confirms_an_order",
                "finds_the_order_again",
                "orders_at_most_once",
            ),
            "truncated-catalogue": (
                "lists_the_catalogue",
                "confirms_an_order",
                "finds_the_order_again",
                "orders_at_most_once",
            ),
            "forgets-quantity": ("confirms_an_order", "finds_the_order_again"),
            "orders-twice": ("finds_the_order_again", "orders_at_most_once"),
            "says-ordered-unsent": ("confirms_an_order", "finds_the_order_again", "orders_at_most_once"),
        },
        (
            BugUnderFault(
                bug="keyless-retry",
                charter="orders_at_most_once",
                fault="truncated_json:times=1,method=POST@**/api/orders",
            ),
            BugUnderFault(
                bug="blank-on-failure",
                charter="tells_what_is_wrong",
                fault="503@**/api/products",
            ),
        ),
    ),
)
"""The apps, in the order of `target_apps.APPS`."""
