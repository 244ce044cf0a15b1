"""The charter's steps: what it did, when each step began and ended, and where it was written.

`wrapping.py` records them from Playwright's calls, `net` its own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from msgspec import structs
from playwright.async_api import TimeoutError as PlaywrightTimeout

from bughunt.verdict.record import Step

__all__ = ["Asked", "StepLog", "timed_out"]

#: Seconds after a step in which what the page does is still the step's doing.
AFTERMATH = 0.3


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request of the charter's own, past the page (`page.request.get(...)`)."""

    method: str
    url: str
    """As the charter wrote it where no answer came, else where the answer came from."""
    began: float
    ended: float
    status: int | None = None
    """None: no answer came."""
    headers: dict[str, str] = field(default_factory=dict)
    failure: str | None = None


class StepLog:
    """The steps of one load, in the order in which they began."""

    def __init__(
        self,
        file: Path,
        clock: Callable[[], float] = time.monotonic,
        *,
        patient: bool = False,
        unique: str = "",
    ) -> None:
        self.patient = patient
        self._unique = unique
        self.secrets: set[str] = set()
        """What the charter typed into password fields: never to be written down."""
        self._file = str(file)
        self._clock = clock
        self._origin = clock()
        self._steps: list[Step] = []
        self._raised: dict[int, BaseException] = {}
        self.on_asked: Callable[[Asked], None] = lambda asked: None

    def now(self) -> float:
        """Seconds since the load began."""
        return self._clock() - self._origin

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps so far."""
        return tuple(self._steps)

    def acting(self) -> int | None:
        """The step that may have caused what the page does now: one that acts, under way or just over."""
        now = self.now()
        for step in reversed(self._steps):
            if step.acts and (step.ended is None or now - step.ended <= AFTERMATH):
                return step.index
        return None

    def last_action(self) -> float:
        """When the last acting step ended; the beginning where there was none."""
        return max((s.ended for s in self._steps if s.acts and s.ended is not None), default=0.0)

    def raised_by(self, error: BaseException) -> Step | None:
        """The step that raised this very exception; None: the charter's own code did."""
        innermost = max((i for i, raised in self._raised.items() if raised is error), default=None)
        return None if innermost is None else self._steps[innermost]

    def lines_of(self, error: BaseException) -> tuple[int, ...]:
        """The lines of the charter's file on the way to the exception, outermost first."""
        lines, traceback = [], error.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self._file:
                lines.append(traceback.tb_lineno)
            traceback = traceback.tb_next
        return tuple(lines)

    @contextmanager
    def step(self, name: str, target: str, *, waits: bool = True, acts: bool = False) -> Iterator[Step]:
        """Record one step around the `with` block, which is given the step as it began."""
        index = len(self._steps)
        if self._unique:  # the load's own token differs on each load, and the step is the same
            target = target.replace(self._unique, "<unique>")
        begun = Step(
            index=index, name=name, target=target, line=self._line(), began=self.now(), waits=waits, acts=acts
        )
        self._steps.append(begun)
        try:
            yield begun
        except BaseException as error:
            self._raised[index] = error
            raise
        finally:
            self._steps[index] = structs.replace(begun, ended=self.now())

    def _line(self) -> int:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self._file:
                return frame.f_lineno
            frame = frame.f_back
        return 0


def timed_out(step: Step | None, error: BaseException) -> bool:
    """Whether an exception means that a step that waits gave up because its time had run out."""
    gave_up = isinstance(error, AssertionError | PlaywrightTimeout) or getattr(error, "out_of_time", False)
    return step is not None and step.waits and gave_up
