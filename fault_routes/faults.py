"""Faults: what is broken, where and how often, and the plan of a run.

Everything here is a value: what has happened so far is the business of the ledger.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import ClassVar, TypeAlias
from urllib.parse import quote

from fault_routes import patterns
from fault_routes.effects import Effect, FaultError, Options, number
from fault_routes.spelling import hint

RESOURCE_TYPES: frozenset[str] = frozenset(
    {
        "beacon",
        "cspreport",
        "document",
        "eventsource",
        "fetch",
        "font",
        "image",
        "manifest",
        "media",
        "other",
        "ping",
        "script",
        "stylesheet",
        "texttrack",
        "xhr",
    }
)
"""Playwright's resource types, but for `websocket`: no route sees a WebSocket's handshake."""

_METHOD = re.compile(r"[A-Z]+(-[A-Z]+)*")
_READABLE = "!$&'()*+-./:;<=>?[]^_`{|}~\""


@dataclass(frozen=True, kw_only=True)
class Where:
    """Which requests a fault concerns.

    Raises PatternError or FaultError for a pattern, method or resource type that cannot match anything.
    """

    pattern: str
    """A URL pattern, see `patterns.py`."""
    method: str | None = None
    """`GET`, `POST`, ... in any case; None: all of them."""
    resource_type: str | None = None
    """One of `RESOURCE_TYPES`; None: all of them."""

    def __post_init__(self) -> None:
        patterns.compiled(self.pattern)
        if self.method is not None:
            object.__setattr__(self, "method", _checked_method(self.method))
        if self.resource_type is not None:
            _check_resource_type(self.resource_type)

    def matches(self, *, method: str, url: str, resource_type: str) -> bool:
        """Whether this request, as Playwright describes it, is concerned."""
        return (
            self.method in (None, method)
            and self.resource_type in (None, resource_type)
            and patterns.matches(self.pattern, url)
        )

    @property
    def options(self) -> Options:
        given = (("method", self.method), ("type", self.resource_type))
        return tuple((name, value) for name, value in given if value is not None)


@dataclass(frozen=True, kw_only=True)
class Always:
    """Every matching request."""

    options: ClassVar[Options] = ()

    def is_due(self, request_index: int, spec: str) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class FirstN:
    """The first matching requests, then none. Raises FaultError unless `times` is 1 or more."""

    times: int
    """How many."""

    def __post_init__(self) -> None:
        if self.times < 1:
            raise FaultError(f"times={self.times} would never fire: write times=1 or more")

    def is_due(self, request_index: int, spec: str) -> bool:
        return request_index <= self.times

    @property
    def options(self) -> Options:
        return (("times", str(self.times)),)


@dataclass(frozen=True, kw_only=True)
class Nth:
    """One matching request and no other. Raises FaultError unless `nth` is 1 or more."""

    nth: int
    """Which one, from 1."""

    def __post_init__(self) -> None:
        if self.nth < 1:
            raise FaultError(f"nth={self.nth} would never fire: requests are counted from 1")

    def is_due(self, request_index: int, spec: str) -> bool:
        return request_index == self.nth

    @property
    def options(self) -> Options:
        return (("nth", str(self.nth)),)


@dataclass(frozen=True, kw_only=True)
class Chance:
    """Each matching request with a probability, the same ones on every run and however they interleave.

    Raises FaultError unless `p` is above 0 and at most 1.
    """

    p: float
    """Between 0 and 1."""
    seed: int = 0
    """Another seed breaks other requests."""

    def __post_init__(self) -> None:
        if not 0 < self.p <= 1:
            raise FaultError(f"p={self.p} is no probability to fire with: write for example p=0.3")

    def is_due(self, request_index: int, spec: str) -> bool:
        """Drawn from the seed, the fault's `spec` and the index alone."""
        draw = hashlib.sha256(f"{self.seed}\n{spec}\n{request_index}".encode()).digest()
        return int.from_bytes(draw[:8], "big") < self.p * 2**64

    @property
    def options(self) -> Options:
        return (("p", number(self.p)), ("seed", str(self.seed)))


When: TypeAlias = Always | FirstN | Nth | Chance
"""How often a fault fires."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something that is broken on purpose."""

    effect: Effect
    """What becomes of the request."""
    where: Where
    """Which requests."""
    when: When = Always()
    """How often."""

    @property
    def kind(self) -> str:
        """What it does, in the words of a spec: `reset`, `status=503`."""
        return self.effect.kind

    @property
    def spec(self) -> str:
        """The fault as one line that `parse_fault` reads back: `reset:times=1@**/api/cart`.

        Equal faults have equal specs, however they were written at first.
        """
        options = self.when.options + self.where.options + self.effect.options
        listed = ",".join(f"{name}={quote(value, safe=_READABLE)}" for name, value in options)
        return f"{self.kind}{':' if listed else ''}{listed}@{self.where.pattern}"

    def __str__(self) -> str:
        return self.spec


@dataclass(frozen=True, kw_only=True)
class FaultPlan:
    """The faults of a run, in order: the first that matches a request and is due handles it.

    Raises FaultError if a fault is in it twice: the second could never fire.
    """

    faults: tuple[Fault, ...] = ()
    """In order of precedence."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "faults", tuple(self.faults))
        for position, fault in enumerate(self.faults):
            if fault in self.faults[:position]:
                raise FaultError(f"the fault {fault.spec} is planned twice: the second could never fire")

    @property
    def fingerprint(self) -> str:
        """12 hex digits that stand for these faults in this order; '' for an empty plan."""
        if not self.faults:
            return ""
        specs = json.dumps([fault.spec for fault in self.faults])
        return hashlib.sha256(specs.encode()).hexdigest()[:12]


def _checked_method(method: str) -> str:
    if not _METHOD.fullmatch(method.upper()):
        raise FaultError(f"{method!r} is no HTTP method: write for example method=POST")
    return method.upper()


def _check_resource_type(resource_type: str) -> None:
    if resource_type == "websocket":
        raise FaultError("no route sees a WebSocket's handshake: break it at the server or by TCP")
    if resource_type not in RESOURCE_TYPES:
        raise FaultError(f"unknown resource type {resource_type!r}: {hint(resource_type, RESOURCE_TYPES)}")
