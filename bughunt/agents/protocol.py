"""What an agent is: it takes loads until it has a judgement."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from bughunt.verdict.judgement import Judgement
from bughunt.verdict.record import LoadRecord

__all__ = ["Agent", "Sleep", "TakeLoad"]

Sleep = Callable[[float], Awaitable[None]]
"""Waits that many seconds."""


class TakeLoad(Protocol):
    """Takes the next load of the run, records it as evidence, and returns it."""

    async def __call__(
        self, *, patient: bool = False, traced: bool = True, control: bool = False
    ) -> LoadRecord:
        """`patient`: let `goto` wait for the document only. `traced`: keep a trace if it does not hold.
        `control`: without the planned faults."""
        ...


class Agent(Protocol):
    """Asks for loads and says what they mean."""

    async def __call__(self, take: TakeLoad, *, pause: float, sleep: Sleep) -> Judgement:
        """`pause`: seconds to wait at least before a further load."""
        ...
