"""What the rules say: endings of loads, causes, verdicts. Values only; `rules.py` makes them."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

__all__ = [
    "Cause",
    "CauseKind",
    "Ending",
    "Judgement",
    "Layer",
    "Level",
    "LoadJudgement",
    "Reason",
    "State",
    "Verdict",
]


class Verdict(StrEnum):
    """The answer to a question."""

    PASS = "PASS"  # noqa: S105 - a verdict, no password
    BUG = "BUG"
    ENV_ERROR = "ENV_ERROR"


class State(StrEnum):
    """Where a RUN stands; the last four are terminal."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    VERIFYING = "VERIFYING"
    STALE = "STALE"
    DONE = "DONE"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    SUPERSEDED = "SUPERSEDED"


class Reason(StrEnum):
    """Why a RUN is FAILED."""

    ENV_ERROR = "ENV_ERROR"
    """The target could not be seen; the causes are recorded."""
    CHECK_ERROR = "CHECK_ERROR"
    """The charter itself is broken."""
    HARNESS_ERROR = "HARNESS_ERROR"
    """Our own failure."""
    UNVERIFIED = "UNVERIFIED"
    """A claim of an agent that verifies nothing."""
    CLAIM_UNREVIEWED = "CLAIM_UNREVIEWED"
    """A model's claim that nobody has accepted yet."""


class Level(StrEnum):
    """How much evidence a run has."""

    E0 = "E0"
    """A claim."""
    E1 = "E1"
    """A log of what was done."""
    E2 = "E2"
    """What the page showed in a load."""
    E3 = "E3"
    """And the complete network record of that load."""
    E4 = "E4"
    """And the harness saw the answer in the target, with no environment cause left unexplained."""
    E5 = "E5"
    """And it was repeated by an independent load."""


class Ending(StrEnum):
    """How a load ended."""

    HELD = "held"
    MISMATCH = "mismatch"
    BLOCKED = "blocked"
    CHECK_ERROR = "check_error"
    UNCLEAR = "unclear"
    """Another exception, or the deadline: loaded again, and a check error if it comes again in health."""
    HELD_UP = "held_up"
    """A third party kept `goto` from returning: taken again without waiting for it, not counted."""
    HARNESS_ERROR = "harness_error"


class CauseKind(StrEnum):
    """Why a load could not show what was asked."""

    NETWORK = "network"
    """A network error, or a body cut short."""
    NO_ANSWER = "no_answer"
    """No answer when the failing step's time ran out."""
    STALLED = "stalled"
    """Headers came and the body did not."""
    STATUS = "status"
    """5xx, 408, 425 or 429."""
    ACCESS = "access"
    """401, 403 or 407."""
    GAVE_UP = "gave_up"
    """The page stopped waiting for it."""
    LATE = "late"
    """It came too late for the page to show it before the step gave up."""
    MALFORMED = "malformed"
    """A body that does not parse for the page, and does for the probe."""
    WRONG_CONTENT = "wrong_content"
    """A whole HTML document that is not the app's own, where JSON was due."""
    UNHEALTHY = "unhealthy"
    """A declared answer that `healthy=` refused."""
    CERTIFICATE = "certificate"
    """The server's certificate, or its TLS, is not to be trusted."""
    SOCKET = "socket"
    """A WebSocket or event stream that could not be opened, or broke."""
    SILENT = "silent"
    """A WebSocket or event stream that is open and delivered nothing."""
    MOVED = "moved"
    """A declared body changed after the charter had read it."""
    DOCUMENT = "document"
    """The document itself could not be had."""
    NOT_DEPLOYED = "not_deployed"
    """The document is not there, and neither is the target's base URL."""
    STATE_UNKNOWN = "state_unknown"
    """A write of an earlier load may have arrived, so that this load met another world."""
    CRASH = "crash"
    """The renderer or the browser died."""
    UNREPRODUCED = "unreproduced"
    """A mismatch that did not come again."""


class Layer(StrEnum):
    """Where a cause lies."""

    NETWORK = "network"
    BROWSER = "browser"
    MODEL = "model"
    PRODUCT = "product"
    """Nowhere that could be named: what was seen did not come again."""


class Cause(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An exchange, or a crash, that explains why a load could not show what was asked."""

    kind: CauseKind
    load: int
    reason: str
    """In words a tester understands."""
    layer: Layer = Layer.NETWORK
    method: str | None = None
    url: str | None = None
    status: int | None = None
    failure: str | None = None
    fault: str | None = None
    """The planned fault behind it; None: unexplained."""
    exchange: int | None = None
    """The exchange's id within its load."""
    declared: bool = False
    hint: str | None = None
    """What a person should also consider."""


class LoadJudgement(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one load ended, and by which rule."""

    load: int
    ending: Ending
    rule: str
    """The rule's name, as docs/reference/verdicts.md lists it."""
    reason: str
    """One sentence."""
    signature: str | None = None
    """For a mismatch or an unclear ending: equal iff it is the same one (line, matcher, locator)."""
    causes: tuple[Cause, ...] = ()
    degraded: bool = False
    """True iff the charter held although an undeclared exchange of the app's own failed."""


class Judgement(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is said of a run, and on what."""

    rules_version: int
    state: State
    """DONE or FAILED."""
    verdict: Verdict | None
    """For an unverified claim: the claim."""
    reason: Reason | None
    """Of a FAILED run."""
    level: Level
    rule: str
    """The rule's name, as docs/reference/verdicts.md lists it."""
    sentence: str
    """The verdict in one sentence."""
    loads: int
    """Loads that were needed, without the confirmations."""
    confirmations: int = 0
    """Loads after the first mismatch of a BUG."""
    causes: tuple[Cause, ...] = ()
    endings: tuple[LoadJudgement, ...] = ()
    intermittent: bool = False
    recovered: bool = False
    degraded: bool = False
