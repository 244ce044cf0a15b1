"""A small real server that keeps a journal of what reached it, and its page under faults."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from playwright.async_api import Page

from fault_routes import FaultLedger, Installation

CART = {"items": [{"name": "lamp", "price": 99, "qty": 3}], "note": "päckchen"}

# `ask(url)` is the outcome of a fetch in words; `outcomes` keeps it for requests that nobody waits for.
PAGE = """<!DOCTYPE html><meta charset="utf-8"><title>shop</title>
<script>
  window.outcomes = {};
  async function ask(url, options) {
    try {
      const response = await fetch(url, options);
      const text = await response.text();
      let json;
      try { json = JSON.parse(text); } catch (error) { json = String(error.name); }
      return {status: response.status, text, json, type: response.headers.get("content-type"),
              length: response.headers.get("content-length"), from: response.headers.get("x-from")};
    } catch (error) {
      return {error: String(error)};
    }
  }
  function start(name, url) { ask(url).then(outcome => { window.outcomes[name] = outcome; }); }
</script>"""


@dataclass(kw_only=True)
class Shop:
    """The server under test: `/` is the page, everything else by its path."""

    origin: str = ""
    other_origin: str = ""
    journal: list[str] = field(default_factory=list)
    """Method and path of each request, in order of arrival."""
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    """`/gated` is answered when it is set."""
    _arrival: asyncio.Condition = field(default_factory=asyncio.Condition)

    def arrived(self, path: str) -> int:
        """How many requests for `path` came, whatever their method and query."""
        return sum(line.split(" ")[1].partition("?")[0] == path for line in self.journal)

    async def until_arrived(self, path: str) -> None:
        """Wait for a request for `path`."""
        async with self._arrival:
            await self._arrival.wait_for(lambda: self.arrived(path))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, _ = head.split(" ", 2)
            self.journal.append(f"{method} {path}")
            async with self._arrival:
                self._arrival.notify_all()
            await self.answer(path.partition("?")[0], reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if path == "/reset":
            writer.transport.abort()
        elif path == "/silent":
            await reader.read()
        elif path == "/gated":
            await self.gate.wait()
            await _write(writer, 200, "application/json", json.dumps(CART))
        elif path == "/":
            await _write(writer, 200, "text/html; charset=utf-8", PAGE)
        elif path == "/number":
            await _write(writer, 200, "application/json", "12")
        elif path == "/text":
            await _write(writer, 200, "text/plain", "no json")
        elif path == "/refused":
            await _write(writer, 409, "application/json", json.dumps({"error": "sold out"}))
        elif path == "/nothing":
            await _write(writer, 204, None, "")
        else:
            await _write(writer, 200, "application/json", json.dumps(CART, ensure_ascii=False))


async def _write(writer: asyncio.StreamWriter, status: int, content_type: str | None, body: str) -> None:
    lines = [f"HTTP/1.1 {status} Whatever", "Connection: close", "X-From: server", "Cache-Control: no-store"]
    lines += ["Access-Control-Allow-Origin: *", "Access-Control-Allow-Headers: *"]
    if content_type:
        lines += [f"Content-Type: {content_type}", f"Content-Length: {len(body.encode())}"]
    writer.write(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
    await writer.drain()


@dataclass(kw_only=True)
class Broken:
    """A page of the shop, with faults."""

    page: Page
    ledger: FaultLedger
    faults: Installation

    async def ask(self, path: str, **options: object) -> dict[str, object]:
        """What the page sees when it fetches `path`."""
        outcome: dict[str, object] = await self.page.evaluate("([u, o]) => ask(u, o)", [path, options])
        return outcome

    async def start(self, path: str, name: str = "asked") -> None:
        """Fetch `path` without waiting for it."""
        await self.page.evaluate("([name, url]) => start(name, url)", [name, path])

    async def start_and_give_up(self, path: str, ready: Awaitable[object]) -> None:
        """Fetch `path`, and abort that when `ready` is."""
        await self.page.evaluate("() => { window.mind = new AbortController() }")
        await self.page.evaluate("url => { fetch(url, {signal: mind.signal}).catch(() => 0) }", path)
        async with self.page.expect_event("requestfailed"):
            await ready
            await self.page.evaluate("mind.abort()")

    async def outcome(self, name: str = "asked") -> dict[str, object] | None:
        """What became of a fetch that was started; None while it is pending."""
        outcome: dict[str, object] | None = await self.page.evaluate("name => outcomes[name] || null", name)
        return outcome


Break = Callable[..., Awaitable[Broken]]
