"""Which exchanges could be the cause of what a load showed."""

from __future__ import annotations

import pytest

from bughunt.verdict.causality import is_own, request_key
from tests.verdict.making import (
    APP,
    CART,
    ELSEWHERE,
    declaration,
    document,
    exchange,
    is_causal,
    scope,
)

CLOSED = scope(depends_on=("**/api/cart",))
RATES = f"{APP}/api/rates"


@pytest.mark.parametrize("resource_type", ["fetch", "xhr", "eventsource"])
@pytest.mark.parametrize("url", [RATES, f"{ELSEWHERE}/api"])
def test_while_the_list_is_open_what_the_app_asks_anybody_is_causal(resource_type: str, url: str) -> None:
    assert is_causal(exchange(url, resource_type=resource_type))


@pytest.mark.parametrize(
    "resource_type", ["image", "font", "media", "stylesheet", "ping", "manifest", "other"]
)
def test_what_decorates_or_nobody_reads_is_not_causal(resource_type: str) -> None:
    assert not is_causal(exchange(f"{APP}/icon.png", resource_type=resource_type))


@pytest.mark.parametrize("resource_type", ["image", "stylesheet", "ping"])
def test_what_decorates_is_causal_once_it_is_declared(resource_type: str) -> None:
    declared = (declaration("**/api/rates"),)
    assert is_causal(exchange(RATES, resource_type=resource_type), declarations=declared)


@pytest.mark.parametrize(
    ("url", "script_async", "causal"),
    [
        (f"{APP}/app.js", False, True),
        (f"{APP}/chunk.js", True, True),
        (f"{ELSEWHERE}/library.js", False, True),
        (f"{ELSEWHERE}/library.js", None, True),
        (f"{ELSEWHERE}/analytics.js", True, False),
    ],
)
def test_scripts_are_causal_but_for_async_ones_of_other_origins(
    url: str, script_async: bool | None, causal: bool
) -> None:
    assert is_causal(exchange(url, resource_type="script", script_async=script_async)) is causal


def test_an_async_script_of_another_origin_is_causal_once_it_is_declared() -> None:
    script = exchange(f"{ELSEWHERE}/maps.js", resource_type="script", script_async=True)
    assert is_causal(script, declarations=(declaration("**/maps.js"),))


def test_a_closed_list_leaves_nothing_else_causal() -> None:
    assert not is_causal(exchange(RATES, id=2), exchange(CART), scope=CLOSED)


def test_what_is_on_the_closed_list_is_causal() -> None:
    assert is_causal(exchange(CART), scope=CLOSED)


def test_what_the_charter_reads_is_causal_beside_a_closed_list() -> None:
    rates = exchange(RATES, id=2)
    assert is_causal(rates, exchange(CART), scope=CLOSED, declarations=(declaration("**/api/rates"),))


def test_the_document_is_causal_whatever_the_list_says() -> None:
    assert is_causal(document(), exchange(CART), scope=CLOSED)


def test_the_document_is_causal_even_where_the_target_ignores_everything() -> None:
    assert is_causal(document(), scope=scope(ignore=("**",)))


def test_an_own_popups_document_is_causal_and_a_foreign_ones_is_not() -> None:
    own, foreign = document(f"{APP}/receipt", id=2, page=1), document(f"{ELSEWHERE}/ad", id=3, page=1)
    closed = scope(depends_on=("**/receipt",))
    assert is_causal(own, document(), scope=closed)
    assert not is_causal(foreign, document(), own, scope=closed)


@pytest.mark.parametrize("declared_by", ["depends_on", "net.json"])
def test_a_declared_exchange_that_was_never_requested_opens_a_closed_list(declared_by: str) -> None:
    """The app may have stumbled over something before it came to ask."""
    declared = (declaration("**/api/orders"),) if declared_by == "net.json" else ()
    listed = ("**/api/cart",) if declared_by == "net.json" else ("**/api/cart", "**/api/orders")
    rates = exchange(RATES, id=2)
    assert is_causal(rates, exchange(CART), scope=scope(depends_on=listed), declarations=declared)


def test_a_declared_method_that_was_never_used_opens_a_closed_list() -> None:
    rates = exchange(RATES, id=2)
    declared = (declaration(method="POST"),)
    assert is_causal(rates, exchange(CART), scope=CLOSED, declarations=declared)


def test_the_query_does_not_keep_a_listed_exchange_off_the_list() -> None:
    assert is_causal(exchange(f"{CART}?t=123"), scope=CLOSED)


def test_a_declaration_with_a_method_is_about_that_method_only() -> None:
    declared = (declaration(method="POST"),)
    read, write = exchange(CART, id=1), exchange(CART, id=2, method="POST")
    assert not is_causal(read, write, scope=scope(ignore=("**/api/**",)), declarations=declared)
    assert is_causal(write, read, scope=scope(ignore=("**/api/**",)), declarations=declared)


def test_what_is_ignored_is_not_causal() -> None:
    assert not is_causal(exchange(RATES), scope=scope(ignore=("**/api/rates",)))


def test_what_is_ignored_is_causal_where_the_charter_declares_it() -> None:
    ignoring = scope(ignore=("**/api/rates",))
    assert is_causal(exchange(RATES), scope=ignoring, declarations=(declaration("**/api/rates"),))


@pytest.mark.parametrize(
    ("frame_url", "causal"),
    [
        (f"{APP}/frame", True),
        ("http://accounts.shop.test/frame", True),
        (f"{ELSEWHERE}/advert", False),
        ("about:blank", True),
        ("about:srcdoc", True),
        ("", True),
    ],
)
def test_own_frames_count_like_the_page_and_other_peoples_do_not(frame_url: str, causal: bool) -> None:
    """A blank frame is its parent's; a worker has no frame, or the page's."""
    assert is_causal(exchange(f"{ELSEWHERE}/api", frame_url=frame_url)) is causal


@pytest.mark.parametrize(("url", "causal"), [(f"{APP}/frame", True), (f"{ELSEWHERE}/advert", False)])
def test_a_frames_document_is_causal_where_it_is_the_apps_own(url: str, causal: bool) -> None:
    frame = exchange(url, resource_type="document", frame_document=True)
    assert is_causal(frame) is causal


def test_a_page_that_was_redirected_to_another_host_is_still_the_page_under_test() -> None:
    page = document(final_url=f"{ELSEWHERE}/home")
    assert is_causal(exchange(f"{ELSEWHERE}/api", frame_url=f"{ELSEWHERE}/home"), page)


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("http://shop.test/", True),
        ("https://shop.test:8443/", True),
        ("https://API.Shop.Test/", True),
        ("https://workshop.test/", False),
        ("https://shop.test.evil.test/", False),
        ("http://local.test:9000/", True),
        ("http://local.test:9001/", False),
        ("http://[::1]:5000/", True),
        ("blob:http://shop.test/1234", False),
        ("data:text/plain,hello", False),
        ("", False),
    ],
)
def test_own_is_a_host_and_its_subdomains_and_a_host_with_a_port_exactly(url: str, own: bool) -> None:
    assert is_own(url, ("shop.test", "local.test:9000", "::1")) is own


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {"url": f"{CART}?t=1"}, True),
        ({}, {"method": "POST"}, False),
        ({}, {"url": RATES}, False),
        ({}, {"url": f"{ELSEWHERE}/api/cart"}, False),
        ({"operation": "Cart"}, {"operation": "Cart"}, True),
        ({"operation": "Cart"}, {"operation": "Rates"}, False),
        ({"operation": "Cart"}, {}, False),
    ],
)
def test_the_same_request_is_method_and_path_and_the_operation_where_one_is_named(
    one: dict[str, str], other: dict[str, str], same: bool
) -> None:
    first, second = exchange(**{"url": CART, **one}), exchange(**{"url": CART, **other})
    assert (request_key(first) == request_key(second)) is same


def test_what_the_charter_asks_by_itself_is_causal_whatever_the_list_says() -> None:
    asked = exchange(RATES, id=2, resource_type="api", frame_url="")
    assert is_causal(asked, exchange(CART), scope=CLOSED)


def test_what_the_charter_asks_by_itself_is_not_causal_where_it_is_ignored() -> None:
    ignoring = scope(ignore=("**/api/rates",))
    assert not is_causal(exchange(RATES, resource_type="api", frame_url=""), scope=ignoring)
