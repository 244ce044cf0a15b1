"""The probe asks from outside the page, with the page's own headers and cookies."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext

from bughunt.browser.probe import probe
from bughunt.settings import Credentials, Target
from bughunt.verdict.probing import Doubt
from bughunt.verdict.record import Content, Exchange, LoadRecord, Probe, Scope
from tests.servers import (
    CutGzip,
    Html,
    Json,
    MisbehavingServer,
    NotHttp,
    Redirect,
    Reply,
    Reset,
    Route,
    refusing_url,
)

BODY = b'{"items": [1, 2, 3], "more": "so that there is something to cut"}'


@pytest.fixture
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    made = await browser.new_context()
    yield made
    await made.close()


async def ask(
    context: BrowserContext, url: str, method: str = "GET", target: Target | None = None, **given: Any
) -> Probe:
    """What the probe says of one exchange."""
    usual = {"id": 3, "method": method, "url": url, "resource_type": "fetch", "started": 0.0}
    x = Exchange(**(usual | given))
    scope = Scope(base_url=url, own_hosts=("127.0.0.1",))
    record = LoadRecord(
        number=1, began_at="2026-01-01T00:00:00+00:00", scope=scope, ended=1.0, exchanges=(x,)
    )
    (answer,) = await probe(
        context, target or Target(base_url=url), record, [Doubt(exchange=3, method=method, url=url)]
    )
    assert (answer.exchange, answer.url, answer.method) == (3, url, method)
    return answer


async def answered(context: BrowserContext, route: Route, **given: Any) -> Probe:
    async with MisbehavingServer({"/api": route, "/login": Html("<!doctype html>")}) as server:
        return await ask(context, f"{server.url}/api", **given)


def packed(data: bytes, encoding: str) -> Reply:
    return Reply(body=data, headers={"Content-Encoding": encoding}, content_type="application/json")


def raw_deflate(data: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-15)
    return packing.compress(data) + packing.flush()


async def test_nothing_in_doubt_asks_nothing(context: BrowserContext) -> None:
    record = LoadRecord(number=1, began_at="", scope=Scope(base_url="", own_hosts=()), ended=0.0)
    assert await probe(context, Target(base_url="http://shop.test"), record, []) == ()


@pytest.mark.parametrize(
    ("route", "status", "content"),
    [
        (Json({}), 200, Content.JSON),
        (Json({}, status=503), 503, Content.JSON),
        (Reply(204), 204, Content.EMPTY),
        (Html("<!doctype html><p>"), 200, Content.HTML),
        (Redirect("/login"), 200, Content.HTML),
        (packed(gzip.compress(BODY), "gzip"), 200, Content.JSON),
        (packed(zlib.compress(BODY), "deflate"), 200, Content.JSON),
        (packed(raw_deflate(BODY), "deflate"), 200, Content.JSON),
        (packed(gzip.compress(zlib.compress(BODY)), "deflate, gzip"), 200, Content.JSON),
    ],
)
async def test_it_says_what_the_answer_is(
    context: BrowserContext, route: Route, status: int, content: Content
) -> None:
    answer = await answered(context, route)
    assert (answer.status, answer.content, answer.damaged, answer.failure) == (status, content, False, None)
    assert (answer.final_url or "").endswith("/login") is isinstance(route, Redirect)


@pytest.mark.parametrize("route", [CutGzip(BODY), packed(b"no gzip", "gzip"), packed(BODY[:9], "deflate")])
async def test_it_unpacks_by_itself_and_notices_what_is_cut(context: BrowserContext, route: Route) -> None:
    answer = await answered(context, route)
    assert (answer.status, answer.content, answer.damaged) == (200, None, True)
    assert "does not unpack" in (answer.failure or "")


@pytest.mark.parametrize("route", [Reset(), NotHttp()])
async def test_where_no_answer_comes_it_says_why(context: BrowserContext, route: Route) -> None:
    answer = await answered(context, route)
    assert (answer.status, answer.damaged) == (None, False)
    assert answer.failure


async def test_a_server_that_is_gone_is_no_error_of_ours(context: BrowserContext) -> None:
    with refusing_url() as url:
        answer = await ask(context, f"{url}/api")
    assert "ConnectError" in (answer.failure or "")


async def test_the_targets_credentials_are_for_its_own_origin_and_never_replace_the_pages(
    context: BrowserContext,
) -> None:
    async with MisbehavingServer({"/api": Json({})}) as own, MisbehavingServer({"/api": Json({})}) as other:
        target = Target(base_url=own.url, http_credentials=Credentials(username="me", password="secret"))
        for server in (own, other):
            await ask(context, f"{server.url}/api", target=target)
        await ask(context, f"{own.url}/api", target=target, request_headers={"authorization": "Bearer page"})
        known, pages_own = (request.headers.get("authorization") for request in own.requests)
        (elsewhere,) = (request.headers.get("authorization") for request in other.requests)
    assert (known or "").startswith("Basic ")
    assert (pages_own, elsewhere) == ("Bearer page", None)


async def test_it_asks_as_the_page_did(context: BrowserContext) -> None:
    sent = {"accept": "application/json", "x-shop": "1", "if-none-match": "a", "sec-fetch-mode": "cors"}
    async with MisbehavingServer({"/api": Json({})}) as server:
        await context.add_cookies([{"name": "session", "value": "abc", "url": server.url}])
        await ask(context, f"{server.url}/api", request_headers=sent)
        await ask(context, f"{server.url}/api", method="HEAD")
        first, second = server.requests
    assert (first.headers["cookie"], first.headers["x-shop"]) == ("session=abc", "1")
    assert first.headers["accept"] == "application/json"
    assert not {"if-none-match", "sec-fetch-mode"} & set(first.headers)
    assert second.method == "HEAD"


@pytest.mark.parametrize(
    ("allowed", "shared"),
    [("*", True), ("http://shop.test", True), ("http://other.test", False), (None, False)],
)
async def test_it_knows_whether_the_pages_origin_may_read_it(
    context: BrowserContext, allowed: str | None, shared: bool
) -> None:
    headers = {} if allowed is None else {"Access-Control-Allow-Origin": allowed}
    answer = await answered(context, Json({}, headers=headers), frame_url="http://shop.test/cart")
    assert answer.shared is shared
