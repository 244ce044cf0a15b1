"""An exchange while it is under way, as the recorder sees it."""

from __future__ import annotations

import asyncio

from playwright.async_api import Request

from bughunt.browser.bodies import Body
from bughunt.browser.requests import frame_of, key_of, operation_of
from bughunt.health import Answer
from bughunt.verdict.record import FaultEffect, Hop

__all__ = ["LiveExchange"]


class LiveExchange:
    """An exchange while it may still change."""

    def __init__(self, number: int, request: Request, started: float) -> None:
        self.id = number
        self.request = request
        self.first = request
        self.started = started
        self.hops: list[Hop] = []
        self.key = key_of(request)
        self.frame_url, self.in_main_frame = frame_of(request)
        self.navigation_of: int | None = None
        self.responded: float | None = None
        self.ended: float | None = None
        self.status: int | None = None
        self.failure: str | None = None
        self.finished = False
        self.response_headers: dict[str, str] = {}
        self.body: bytes | None = None
        self.known: Body | None = None
        self.healthy: bool | None = None
        self.operation = operation_of(request)
        self.reading: asyncio.Task[None] | None = None
        self.fault: str | None = None
        self.fault_effect: FaultEffect | None = None
        self.script_async: bool | None = None
        self.page_closed_at: float | None = None

    @property
    def main_document(self) -> bool:
        """Whether it is a navigation of a page's main frame."""
        return self.in_main_frame and self.first.is_navigation_request()

    @property
    def redirects(self) -> bool:
        """Whether its answer leads the browser on."""
        return self.status in {301, 302, 303, 307, 308} and "location" in self.response_headers

    @property
    def settled(self) -> bool:
        """Whether nothing more is to come: it failed, was refused, or is whole and read."""
        refused = self.status is not None and self.status >= 400
        read = self.finished and (self.reading is None or self.reading.done())
        return self.failure is not None or refused or read

    @property
    def answered_well(self) -> bool:
        """Whether it is whole, below 400, read, and healthy as far as somebody said what that is."""
        good = self.status is not None and self.status < 400 and self.healthy is not False
        return self.settled and self.finished and good

    @property
    def over_at(self) -> float | None:
        """When it was answered or failed, whether anybody reads the body or not; None: not yet."""
        if self.failure is not None:
            return self.ended
        return None if self.status is None or self.redirects else self.responded

    def answer(self) -> Answer:
        """What came, as `healthy=` is asked about it."""
        return Answer(
            method=self.method,
            url=self.url,
            status=self.status or 0,
            headers=self.response_headers,
            body=self.body or b"",
            operation=self.operation,
        )

    @property
    def url(self) -> str:
        """The URL first asked for."""
        return self.first.url

    @property
    def method(self) -> str:
        """The method first used."""
        return self.first.method
