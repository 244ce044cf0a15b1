"""What the content of an answer says, whatever its status."""

from __future__ import annotations

from typing import Any

import pytest

from bughunt.verdict.blame import PRODUCT
from bughunt.verdict.contents import is_sign_in_url
from bughunt.verdict.judgement import CauseKind
from bughunt.verdict.record import Content, Hop, Probe
from tests.verdict.making import APP, CART, declaration, document, exchange, failed, says, scope, step

READ = {"declarations": (declaration(),)}
MALFORMED, HTML = CauseKind.MALFORMED, CauseKind.WRONG_CONTENT


def probe(**given: Any) -> Probe:
    """The cart, whole, asked from outside."""
    return Probe(**({"exchange": 1, "url": CART, "status": 200, "content": Content.JSON} | given))


@pytest.mark.parametrize(
    "path", ["/login", "/users/sign_in", "/auth/login.html", "/oauth2/authorize", "/sso"]
)
def test_sign_in_pages_are_known_by_their_path(path: str) -> None:
    assert is_sign_in_url(APP + path)
    assert is_sign_in_url(f"{APP}{path}?next=/cart")


@pytest.mark.parametrize("path", ["/", "/blog/authors", "/catalogin", "/api/cart?next=/login", "/authority"])
def test_other_paths_are_none(path: str) -> None:
    assert not is_sign_in_url(APP + path)


def redirected(to: str = "/login", **given: Any) -> Any:
    """A cart that led elsewhere."""
    hops = (Hop(url=CART, status=302),)
    return exchange(**({"hops": hops, "final_url": APP + to, "content": Content.HTML} | given))


def test_a_redirect_to_a_sign_in_page_is_access() -> None:
    assert says(redirected()) is CauseKind.ACCESS
    assert says(redirected("/welcome", sign_in=True)) is CauseKind.ACCESS
    assert says(redirected("/v2/cart", content=Content.JSON)) is None


def test_a_redirect_that_no_fetch_may_follow_is_access_too() -> None:
    hops = (Hop(url=CART, status=302),)
    assert says(failed("net::ERR_FAILED", hops=hops, final_url="http://sso.test/login")) is CauseKind.ACCESS


def test_what_is_about_signing_in_itself_may_lead_there() -> None:
    session = redirected(url=f"{APP}/logout", hops=(Hop(url=f"{APP}/logout", status=302),))
    assert says(session) is None


def test_data_below_a_path_about_signing_in_is_data_all_the_same() -> None:
    asked = redirected(url=f"{APP}/api/auth/me", hops=(Hop(url=f"{APP}/api/auth/me", status=302),))
    assert says(asked) is CauseKind.ACCESS


def test_a_document_on_which_the_charter_signed_in_is_no_refusal() -> None:
    page = document(hops=(Hop(url=f"{APP}/", status=302),), final_url=f"{APP}/login")
    fills = step("Locator.fill", index=0, began=1.0, ended=1.1, acts=True)
    looks = step(index=1)
    assert says(page, steps=(looks,)) is CauseKind.ACCESS
    assert says(page, steps=(fills, looks), failure=None) is None


def test_malformed_json_is_the_environments_if_it_is_whole_from_outside() -> None:
    broken = exchange(content=Content.MALFORMED)
    assert says(broken, probes=(probe(),)) is MALFORMED
    assert says(broken, probes=(probe(content=Content.MALFORMED),)) is PRODUCT


@pytest.mark.parametrize("unknown", [(), (probe(status=None),), (probe(status=500),)])
def test_malformed_json_of_which_nobody_knows_more_may_be_the_environments(
    unknown: tuple[Probe, ...],
) -> None:
    assert says(exchange(content=Content.MALFORMED), probes=unknown) is MALFORMED


def test_an_answer_without_content_is_the_products_unless_it_has_some_from_outside() -> None:
    empty = exchange(status=204, content=Content.EMPTY)
    assert says(empty, **READ) is PRODUCT
    assert says(empty, probes=(probe(),), **READ) is MALFORMED
    assert says(empty) is None  # nobody reads it


def test_a_page_in_place_of_json_is_the_environments() -> None:
    page = exchange(content=Content.HTML, html_mark="proxy")
    assert says(page, **READ) is HTML
    assert says(page, exchange(id=2, content=Content.JSON, started=0.5)) is HTML
    assert says(exchange(content=Content.HTML, request_headers={"accept": "application/json"})) is HTML


def test_a_page_where_nobody_said_that_json_is_due_says_nothing() -> None:
    assert says(exchange(content=Content.HTML)) is None


def test_the_apps_own_page_in_place_of_json_is_the_products() -> None:
    fallback = exchange(content=Content.HTML, html_mark="shop")
    assert says(fallback, document(html_mark="shop"), **READ) is PRODUCT
    assert says(fallback, document(html_mark="other"), **READ) is HTML
    assert says(exchange(content=Content.HTML), document(), **READ) is HTML


def test_a_sign_in_page_in_place_of_json_is_access() -> None:
    page = exchange(content=Content.HTML, html_mark="shop", sign_in=True)
    assert says(page, document(html_mark="shop"), **READ) is CauseKind.ACCESS


def test_a_declared_answer_that_is_not_healthy_is_the_environments() -> None:
    sick = exchange(healthy=False)
    assert says(sick, **READ) is CauseKind.UNHEALTHY
    assert says(sick, scope=scope(depends_on=("**/api/cart",))) is CauseKind.UNHEALTHY
    assert says(sick) is None


def test_a_packed_body_that_does_not_unpack_is_a_network_error() -> None:
    cut = exchange(content=Content.MALFORMED)
    assert says(cut, probes=(probe(damaged=True, content=None),)) is CauseKind.NETWORK
