"""The probe: asks from outside the page what the page cannot tell, with the page's own headers and cookies.

GET and HEAD only. It unpacks bodies itself: browsers, and the libraries too, take a packed body that was cut
short for the whole.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Sequence

import httpx
from msgspec.structs import replace
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from bughunt.browser.bodies import read_body
from bughunt.settings import Target
from bughunt.verdict.probing import Doubt
from bughunt.verdict.record import Exchange, LoadRecord, Probe

__all__ = ["probe"]

#: Seconds that an answer may take; and all of them together.
PATIENCE, PATIENCE_FOR_ALL = 3.0, 5.0
#: Bytes of a body that are looked at, at most.
LONGEST_BODY = 5_000_000
#: Headers that belong to the page's connection or cache, not to what it asked.
_NOT_ASKED = frozenset({"host", "connection", "content-length", "accept-encoding", "cookie", "range"})
#: What `zlib` unpacks: either header, told apart by itself (47), or none at all.
_PACKINGS = {"gzip": (47,), "x-gzip": (47,), "deflate": (47, -15)}


class _Damaged(Exception):
    """A packed body that ends early or does not unpack."""


async def probe(
    context: BrowserContext, target: Target, load: LoadRecord, doubts: Sequence[Doubt]
) -> tuple[Probe, ...]:
    """The answers to these doubts, in their order; what does not answer in time says so. Raises nothing."""
    if not doubts:
        return ()
    by_id = {x.id: x for x in load.exchanges}
    async with _client(target) as client:
        asked = [
            _answer(client, context, doubt, by_id[doubt.exchange], _credentials(target, doubt.url))
            for doubt in doubts
        ]
        return tuple(await asyncio.gather(*asked))


def _client(target: Target) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        follow_redirects=True,
        timeout=PATIENCE,
        trust_env=False,
        verify=False if target.ignore_https_errors else ssl.create_default_context(),
    )


def _credentials(target: Target, url: str) -> httpx.BasicAuth | None:
    """The target's, for its own origin: nobody else's server may see them."""
    known, own, asked = target.http_credentials, httpx.URL(target.base_url), httpx.URL(url)
    same = (own.scheme, own.host, own.port) == (asked.scheme, asked.host, asked.port)
    return httpx.BasicAuth(known.username, known.password) if known is not None and same else None


async def _answer(
    client: httpx.AsyncClient,
    context: BrowserContext,
    doubt: Doubt,
    x: Exchange,
    credentials: httpx.BasicAuth | None,
) -> Probe:
    asked = Probe(exchange=x.id, url=doubt.url, method=doubt.method)
    try:
        async with asyncio.timeout(PATIENCE_FOR_ALL):
            headers = await _headers(context, doubt.url, x)
            own = None if "authorization" in {name.lower() for name in headers} else credentials
            async with client.stream(doubt.method, doubt.url, headers=headers, auth=own) as response:
                return await _read(response, asked, x)
    except TimeoutError:
        return replace(asked, failure=f"no answer within {PATIENCE_FOR_ALL:g} s")
    except (httpx.HTTPError, httpx.InvalidURL, PlaywrightError) as error:
        return replace(asked, failure=f"{type(error).__name__}: {error}".rstrip(": "))


async def _headers(context: BrowserContext, url: str, x: Exchange) -> dict[str, str]:
    kept = {
        name: value
        for name, value in x.request_headers.items()
        if name.lower() not in _NOT_ASKED and not name.lower().startswith(("if-", "sec-", ":"))
    }
    cookies = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in await context.cookies(url))
    return {**kept, "accept-encoding": "gzip, deflate", **({"cookie": cookies} if cookies else {})}


async def _read(response: httpx.Response, asked: Probe, x: Exchange) -> Probe:
    """What came: its status and, as far as it can be unpacked, what its body is."""
    packed = bytearray()
    async for part in response.aiter_raw():
        packed += part
        if len(packed) > LONGEST_BODY:
            break
    final = str(response.url)
    known = {
        "status": response.status_code,
        "final_url": final if final != asked.url else None,
        "shared": response.headers.get("access-control-allow-origin") in {"*", _origin(x)},
    }
    if len(packed) > LONGEST_BODY:
        return replace(asked, **known)  # cut short by us: nothing is known of it
    try:
        body = _unpacked(bytes(packed), response.headers.get("content-encoding", ""))
    except _Damaged as error:
        return replace(asked, **known, damaged=True, failure=str(error))
    found = read_body(body, response.headers.get("content-type", ""))
    return replace(asked, **known, content=found.content, html_mark=found.html_mark, sign_in=found.sign_in)


def _unpacked(data: bytes, encodings: str) -> bytes:
    """Raises _Damaged. What is packed in a way that was not asked for is left as it is."""
    for name in reversed([part.strip().lower() for part in encodings.split(",") if part.strip()]):
        if name in _PACKINGS:
            data = _unpacked_once(data, _PACKINGS[name])
    return data


def _unpacked_once(data: bytes, packings: Sequence[int]) -> bytes:
    wrong = "it is cut short"
    for packing in packings:
        unpacking = zlib.decompressobj(packing)
        try:
            whole = unpacking.decompress(data)
        except zlib.error as error:
            wrong = str(error)
            continue
        if unpacking.eof:
            return whole
    raise _Damaged(f"its body does not unpack: {wrong}")


def _origin(x: Exchange) -> str:
    url = httpx.URL(x.frame_url) if x.frame_url.startswith("http") else None
    asked = x.request_headers.get("origin")
    return asked or (f"{url.scheme}://{url.netloc.decode()}" if url is not None else "")
