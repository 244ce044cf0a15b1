"""What the faults of a run have done so far.

A ledger belongs to a run: its counters go on from one browser context to the next, so that a fault that
fires once has healed when the page is loaded again. Use it from one event loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from fault_routes.faults import Fault, FaultPlan

Clock = Callable[[], datetime]
"""Gives the present moment as an aware datetime."""


@dataclass(frozen=True, kw_only=True)
class Firing:
    """A fault has met a request."""

    fault: str
    """The fault's spec."""
    position: int
    """Its place in the plan, from 0."""
    method: str
    """The request's method."""
    url: str
    """The request's URL."""
    resource_type: str
    """The request's resource type, in Playwright's words."""
    at: datetime
    """When, as an aware datetime in UTC: before the effect begins."""
    request_index: int
    """The how manieth request it was that this fault concerns, from 1, since the counters began."""


@dataclass(frozen=True, kw_only=True)
class HandlerError:
    """A failure of our own while a request was handled: no fault of the plan, none of the target."""

    fault: str | None
    """The spec of the fault that was to be carried out, if it had come to that."""
    method: str
    """The request's method."""
    url: str
    """The request's URL."""
    error: Exception
    """What was raised."""


@dataclass(frozen=True, kw_only=True)
class Due:
    """A fault that is to handle a request. It has not fired yet."""

    fault: Fault
    """The fault."""
    position: int
    """Its place in the plan, from 0."""
    request_index: int
    """As in `Firing`."""
    method: str
    """The request's method."""
    url: str
    """The request's URL."""
    resource_type: str
    """The request's resource type."""


class FaultLedger:
    """The counters of a plan's faults, and the record of their firings."""

    def __init__(self, plan: FaultPlan, *, clock: Clock = lambda: datetime.now(UTC)) -> None:
        self.plan = plan
        self._clock = clock
        self._counts = [0] * len(plan.faults)
        self._fired: set[int] = set()
        self._firings: list[Firing] = []
        self._errors: list[HandlerError] = []

    @property
    def firings(self) -> tuple[Firing, ...]:
        """All of them, in order."""
        return tuple(self._firings)

    @property
    def errors(self) -> tuple[HandlerError, ...]:
        """The handlers' own failures, in order: if there is one, the run says nothing about the target."""
        return tuple(self._errors)

    def unfired(self) -> tuple[Fault, ...]:
        """The planned faults that have not fired once, in the plan's order."""
        return tuple(fault for position, fault in enumerate(self.plan.faults) if position not in self._fired)

    def reset_counters(self) -> None:
        """Count from the start again, as for a new page; firings and errors stay."""
        self._counts = [0] * len(self.plan.faults)

    def take(self, *, method: str, url: str, resource_type: str) -> Due | None:
        """Count a request with every fault that it concerns, and say which of them handles it, if any.

        Each fault counts on its own, also the requests that another one handles: `nth=2` is the second
        request that the fault concerns, whatever became of the first.
        """
        due: Due | None = None
        for position, fault in enumerate(self.plan.faults):
            if not fault.where.matches(method=method, url=url, resource_type=resource_type):
                continue
            self._counts[position] += 1
            index = self._counts[position]
            if due is None and fault.when.is_due(index, fault.spec):
                due = Due(
                    fault=fault,
                    position=position,
                    request_index=index,
                    method=method,
                    url=url,
                    resource_type=resource_type,
                )
        return due

    def fire(self, due: Due) -> Firing:
        """Record that the fault fires now."""
        firing = Firing(
            fault=due.fault.spec,
            position=due.position,
            method=due.method,
            url=due.url,
            resource_type=due.resource_type,
            at=self._clock(),
            request_index=due.request_index,
        )
        self._fired.add(due.position)
        self._firings.append(firing)
        return firing

    def blame(self, error: HandlerError) -> None:
        """Record a failure of our own."""
        self._errors.append(error)
