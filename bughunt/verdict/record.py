"""What was recorded of a load: the only thing that the rules look at.

Times are seconds since the load began, by the recorder's monotonic clock. Everything is frozen and goes
to JSON and back (`to_json`, `load_from_json`) without loss, so that a verdict can be computed again later.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec import Struct

__all__ = [
    "PAGE_LOADING",
    "SAFE_METHODS",
    "UNKNOWN_FAILURE",
    "Acknowledgement",
    "ConsoleLine",
    "Content",
    "Crash",
    "Declaration",
    "Exchange",
    "Failure",
    "FailureKind",
    "FaultEffect",
    "Hop",
    "LoadRecord",
    "Noise",
    "Probe",
    "Scope",
    "Socket",
    "Step",
    "load_from_json",
    "to_json",
]


#: Methods that only read (RFC 9110, 9.2.1).
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class FaultEffect(StrEnum):
    """What a planned fault does to the request that it fires on."""

    ABORT = "abort"
    """It fails in the network."""
    ANSWER = "answer"
    """It is answered by us, and no server hears of it."""
    LOSE = "lose"
    """The server takes it, and what it answers never arrives, or arrives spoilt."""
    WAIT = "wait"
    """It is held back, for a while or for ever."""


class Content(StrEnum):
    """What a body turned out to be when it was read."""

    JSON = "json"
    MALFORMED = "malformed"
    """It says that it is JSON, or begins like it, and does not parse."""
    HTML = "html"
    """A whole HTML document."""
    EMPTY = "empty"
    OTHER = "other"


class Hop(Struct, frozen=True, kw_only=True):
    """One redirect on the way to an exchange's final answer."""

    url: str
    """Where the request went that was redirected."""
    status: int
    """The redirect's status, 3xx."""


class Exchange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request, its redirects included, and what became of it, as the browser saw it."""

    id: int
    """Its number within the load, from 0."""
    method: str
    url: str
    """The URL first asked for; where a redirect led to, the final URL is `final_url`."""
    resource_type: str
    """Playwright's: document, script, fetch, xhr, image, eventsource, ...; `api` for what the charter
    itself asked with `page.request`."""
    started: float
    asked_mark: float | None = None
    """When it was asked for, by the browser's own clock: it orders what was asked and what was known within
    one page, whenever the events arrived. None: not known."""
    known_mark: float | None = None
    """When the page could know what had become of it (its failure, else its headers), by that clock."""
    frame_url: str = ""
    """The URL of the frame (or worker's page) that asked."""
    main_document: bool = False
    """True iff it is a navigation request of a page's main frame."""
    frame_document: bool = False
    """True iff it is a navigation request of a frame within a page."""
    navigation_of: int | None = None
    """For a main document: the step of the charter that was acting when it was asked for, if any."""
    hops: tuple[Hop, ...] = ()
    final_url: str | None = None
    responded: float | None = None
    """When the final answer's headers came; None: never."""
    ended: float | None = None
    """When it finished or failed; None: it was still open when the record was closed."""
    status: int | None = None
    failure: str | None = None
    """The browser's error text (net::ERR_...); None where there was none."""
    finished: bool = False
    """True iff the browser reported that the whole body came."""
    response_headers: dict[str, str] = {}
    request_headers: dict[str, str] = {}
    announced: int | None = None
    """The body's length in bytes by Content-Length, where that says what will be received."""
    received: int | None = None
    """Bytes of the body that arrived, by the browser's own protocol; None: not known."""
    digest: str | None = None
    """SHA-256 of the body, where it was read."""
    body: str | None = None
    """The body, where the charter declared the exchange and it is JSON."""
    content: Content | None = None
    """What its body is; None: it was not read."""
    html_mark: str | None = None
    """For a whole HTML document: a digest of its title and scripts, equal for two copies of one page."""
    sign_in: bool = False
    """True iff the body is an HTML document with a field for a password."""
    healthy: bool | None = None
    """What the charter's or target's `healthy=` said of a declared answer; None: it was not asked."""
    messages: int | None = None
    """For an event stream: how many messages came; None: not known."""
    hidden_status: int | None = None
    """The status by the browser's own protocol, where CORS keeps it from the page."""
    cors_error: str | None = None
    """Why the browser refused it by CORS, in the words of its own protocol."""
    preflight_status: int | None = None
    """The status of its preflight, where there was one and it was answered."""
    operation: str | None = None
    """The operation that the request names, where one URL serves all (GraphQL, JSON-RPC)."""
    asked: str | None = None
    """SHA-256 of what was sent, where something was; without the running id of a JSON-RPC call."""
    script_async: bool | None = None
    """For a script: whether the document loads it asynchronously; None: not known."""
    protocol: str | None = None
    """`http/1.1`, `h2`, ... where the browser said."""
    fault: str | None = None
    """The planned fault that fired on it, as its spec."""
    fault_effect: FaultEffect | None = None
    """What that fault does."""
    page_closed: bool = False
    """True iff its page was closed while it was open: no event tells of its end."""
    page_closed_at: float | None = None
    """When that was; None: not known."""
    service_worker: bool = False
    """True iff a service worker asked, by itself or on the page's behalf."""
    page: int = 0
    """Which page of the context asked: 0 is the charter's own, popups follow."""


class Declaration(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`net.json(pattern)`: the charter says that what follows rests on this exchange."""

    pattern: str
    method: str | None = None
    operation: str | None = None
    began: float
    ended: float | None = None
    exchange: int | None = None
    """The exchange whose body the charter was given; None: it was given none."""


class Acknowledgement(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`net.acknowledged(pattern)`: what follows in the charter claims that this write arrived."""

    pattern: str
    method: str | None = None
    operation: str | None = None
    line: int = 0
    """The line of the charter's file."""
    began: float
    ended: float
    exchange: int | None = None
    """The last write that matched and that no earlier one had claimed; None: it never left."""


class Socket(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One WebSocket of a page. Sockets of workers are not seen."""

    id: int
    """Its number within the load, from 0."""
    url: str
    opened_at: float
    """When the page asked for it."""
    frame_url: str = ""
    """The URL of the page that asked."""
    answered: bool | None = None
    """Whether its handshake was answered, by the browser's own protocol; None: not known."""
    sent: int = 0
    """Frames that the page sent."""
    last_sent: float | None = None
    received: int = 0
    """Frames that came."""
    last_received: float | None = None
    closed: float | None = None
    """None: it was open when the record was closed."""
    code: int | None = None
    """The close code that the page was told (RFC 6455, 7.4); None: not known."""
    failure: str | None = None
    """Why it could not be opened, or broke, in the browser's words."""
    closed_by_page: bool = False
    """True iff the page itself called `close()` on it."""
    left: bool = False
    """True iff its page was closed, or its document left, while it was open: no event tells of its end."""
    page: int = 0
    """As of an exchange."""


class Probe(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The same URL, asked from outside the page after a load that did not hold. GET or HEAD only."""

    exchange: int
    """Which exchange it is about, by its id within the load."""
    url: str
    method: str = "GET"
    status: int | None = None
    """None: no answer came."""
    failure: str | None = None
    """Why no answer came, or why its body does not unpack."""
    content: Content | None = None
    html_mark: str | None = None
    final_url: str | None = None
    """Where redirects led; None: nowhere else."""
    sign_in: bool = False
    """True iff it answered with a page that asks for a password."""
    shared: bool = False
    """True iff the answer's CORS headers let the page's origin read it."""
    damaged: bool = False
    """True iff an answer came and its encoded body (gzip, deflate) ends early or does not unpack."""


class Noise(Struct, frozen=True, kw_only=True):
    """What an exchange that nobody declared does in this charter's passing runs too."""

    method: str
    url: str
    """Without the query."""
    fate: str
    """How it ends: `503`, `net::ERR_CONNECTION_RESET`, `pending`."""
    operation: str | None = None
    runs: int = 1
    """In how many passing runs that was seen, never with a success."""


#: What stands for a failure of which the browser tells no name.
UNKNOWN_FAILURE = "unknown failure"

#: The steps that wait for a page to load, and so for whatever it embeds.
PAGE_LOADING = frozenset(
    f"{kind}.{name}"
    for kind in ("Page", "Frame")
    for name in ("goto", "reload", "go_back", "go_forward", "wait_for_load_state", "wait_for_url")
)


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One awaited call of the charter into Playwright or `net`."""

    index: int
    name: str
    """Class and method: `Locator.click`, `LocatorAssertions.to_have_text`, `Network.json`."""
    target: str = ""
    """The selector, URL or pattern that it was about."""
    line: int = 0
    """The line of the charter's file."""
    began: float
    ended: float | None = None
    waits: bool = True
    """True iff it tries again until its timeout (an expectation, an action), so that time could help."""
    acts: bool = False
    """True iff it can make the page navigate or send (a click, a goto), as opposed to looking."""


class FailureKind(StrEnum):
    """How a charter ended that did not hold, as seen where it was raised."""

    ASSERTION = "assertion"
    """An AssertionError: Playwright's `expect` or a plain `assert`."""
    TIMEOUT = "timeout"
    """A Playwright TimeoutError."""
    NET_JSON = "net_json"
    """`net.json` ran out of time, or what came was no JSON."""
    SELECTOR = "selector"
    """A strict-mode violation or a selector that does not parse."""
    EXCEPTION = "exception"
    """Any other exception."""
    DEADLINE = "deadline"
    """The load's deadline passed."""
    HARNESS = "harness"
    """Our own failure: nothing may be concluded from this load."""


class Failure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What ended a charter that did not hold."""

    kind: FailureKind
    type: str
    """The exception's class name."""
    message: str
    at: float
    step: int | None = None
    """The step that raised it; None: the charter's own code did."""
    lines: tuple[int, ...] = ()
    """The lines of the charter's file that were active, outermost first."""
    timed_out: bool = False
    """True iff a step that waits gave up because its time had run out."""


class Crash(Struct, frozen=True, kw_only=True):
    """The renderer or the browser died."""

    what: str
    """`renderer` or `browser`."""
    at: float


class ConsoleLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the page wrote or threw: shown to people, never read by the rules."""

    kind: str
    """A console type (log, error, ...) or `pageerror`."""
    text: str
    at: float


class Scope(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the charter and the target say about which exchanges count."""

    base_url: str
    own_hosts: tuple[str, ...]
    """Hosts of the app: `example.org` covers its subdomains; a host with a port is exact."""
    depends_on: tuple[str, ...] | None = None
    """URL patterns; not None: the list is closed, nothing else is causal but it and the document."""
    ignore: tuple[str, ...] = ()
    """URL patterns of exchanges that are never a cause unless declared."""
    noise: tuple[Noise, ...] = ()
    """What ends badly in the charter's passing runs too, and is no cause unless declared."""


class LoadRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One execution of a charter in a fresh browser context."""

    number: int
    """From 1, in the order in which the loads of the run were taken."""
    began_at: str
    """Wall clock, ISO 8601 in UTC."""
    scope: Scope
    ended: float
    """When the charter returned, raised, or was stopped."""
    exchanges: tuple[Exchange, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    acknowledgements: tuple[Acknowledgement, ...] = ()
    sockets: tuple[Socket, ...] = ()
    probes: tuple[Probe, ...] = ()
    steps: tuple[Step, ...] = ()
    failure: Failure | None = None
    """None: the charter held."""
    crash: Crash | None = None
    console: tuple[ConsoleLine, ...] = ()
    page_url: str = ""
    """Where the page was when the load ended."""
    build: str | None = None
    """The build that the document named, where the target says how."""
    routed: bool = False
    """True iff faults were planned: any route hides preflights and turns the HTTP cache off."""
    patient: bool = False
    """True iff `goto` was told to wait for the document only, after a third party held up a load."""
    resilient: bool = False
    """True iff the charter must hold despite the planned faults."""
    control: bool = False
    """True iff the faults were off, to see whether a resilient charter holds without them."""
    fresh: bool = False
    """True iff earlier loads cannot have changed what this one meets: `reset=`, or it used `load.unique`."""
    browser: str = ""
    """Name and version."""


_encoder = msgspec.json.Encoder(order="deterministic")
_decoder = msgspec.json.Decoder(LoadRecord)


def to_json(value: Struct) -> bytes:
    """The value as JSON with sorted keys, so that equal values have equal digests."""
    return _encoder.encode(value)


def load_from_json(data: bytes | str) -> LoadRecord:
    """A load from what `to_json` made. Raises `msgspec.ValidationError` where that is no load."""
    return _decoder.decode(data)
