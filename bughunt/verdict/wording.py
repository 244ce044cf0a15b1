"""The words: causes and judgements as sentences that a tester understands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from bughunt.verdict.judgement import Cause, CauseKind
from bughunt.verdict.probing import Probes
from bughunt.verdict.record import Acknowledgement, Exchange, Failure, LoadRecord, Socket

__all__ = [
    "cause_reason",
    "causes_sentence",
    "contradiction_sentence",
    "failure_sentence",
    "hint",
    "request_name",
    "socket_reason",
]


#: Signs of a path that a sentence can bear.
LONGEST_PATH = 120


def request_name(method: str, url: str) -> str:
    """`GET /api/cart`: what a tester calls a request."""
    parts = urlsplit(url)
    path = (parts.path or "/") if parts.netloc else url
    return f"{method} {path if len(path) <= LONGEST_PATH else path[:LONGEST_PATH] + '…'}"


def cause_reason(kind: CauseKind, exchange: Exchange, load: LoadRecord) -> str:
    """What became of an exchange, in one clause."""
    name = request_name(exchange.method, exchange.url)
    if kind is CauseKind.DOCUMENT:
        return f"the page itself could not be had: {_what_came(exchange, load)} for {name}"
    clauses = {
        CauseKind.NETWORK: f"network error ({exchange.failure or 'an empty answer'}) for {name}",
        CauseKind.NO_ANSWER: f"no answer from {name} within {_waited(exchange, load)}",
        CauseKind.STALLED: f"the answer of {name} began and then stalled: its body did not come within "
        f"{_waited(exchange, load)}",
        CauseKind.STATUS: f"the server answered {_status(exchange, load)} to {name}",
        CauseKind.ACCESS: f"access was refused ({_how_refused(exchange)}) for {name}",
        CauseKind.GAVE_UP: f"the page gave up waiting for {name} after {_seconds(_age(exchange))}",
        CauseKind.LATE: f"the answer of {name} came only {_seconds(_margin(exchange, load))} "
        "before the step gave up",
        CauseKind.MOVED: f"the data of {name} changed after the charter had read it",
        CauseKind.MALFORMED: f"the answer of {name} was spoilt on its way",
        CauseKind.WRONG_CONTENT: f"an HTML page came where {name} was due",
        CauseKind.UNHEALTHY: f"the answer of {name} says that the server is not well",
        CauseKind.CERTIFICATE: f"no trusted connection ({exchange.failure}) for {name}",
        CauseKind.NOT_DEPLOYED: f"nothing is there: {name} and the target's base URL are both answered 404",
        CauseKind.STATE_UNKNOWN: f"{name} of an earlier load may have arrived: this load met another world",
        CauseKind.SOCKET: f"the event stream {name} broke",
        CauseKind.SILENT: f"the event stream {name} delivered nothing",
    }
    return clauses[kind]


def _status(exchange: Exchange, load: LoadRecord) -> int | None:
    """The status that counts, though CORS may keep it from the page."""
    outside = Probes(load).of(exchange)
    refused_before = (exchange.cors_error or "").startswith("Preflight")
    hidden = exchange.preflight_status if refused_before else exchange.hidden_status
    return exchange.status or hidden or (outside.status if outside is not None else None)


def _how_refused(exchange: Exchange) -> str:
    status = exchange.status or exchange.hidden_status
    if status is not None and status >= 400:
        return str(status)
    path = urlsplit(exchange.final_url or exchange.url).path or "/"
    return f"redirected to the sign-in page {path}" if exchange.hops else "a sign-in page came instead"


def _what_came(exchange: Exchange, load: LoadRecord) -> str:
    if exchange.failure is not None and (exchange.status is None or exchange.status < 400):
        return exchange.failure
    if exchange.status is None:
        return f"no answer within {_waited(exchange, load)}"
    if exchange.status >= 400:
        return f"status {exchange.status}"
    in_time = exchange.finished and exchange.ended is not None and exchange.ended <= _cut(load)
    return "an answer that came too late" if in_time else "a body that did not come to its end"


def hint(kind: CauseKind, exchange: Exchange, load: LoadRecord, *, declared: bool) -> str | None:
    """What a person should also consider before blaming the environment."""
    if kind is CauseKind.ACCESS and exchange.status == 403:
        return "may be a real access bug"
    outside = Probes(load).of(exchange)
    if outside is not None and (outside.status or 0) >= 500:
        return f"may be a real server bug: asked from outside the page, it answers {outside.status} too"
    if kind is CauseKind.MALFORMED and outside is None and exchange.fault is None:
        return "may be a real bug: nobody could ask for it again from outside the page"
    if declared or exchange.main_document or exchange.fault or load.failure is None:
        return None
    name = request_name(exchange.method, exchange.url)
    return (
        f"if the answer cannot hang on {name}, put it into ignore=, or list what it hangs on in depends_on="
    )


def socket_reason(kind: CauseKind, socket: Socket) -> str:
    """What became of a WebSocket, in one clause."""
    name = f"the WebSocket {urlsplit(socket.url).path or '/'}"
    if kind is CauseKind.SILENT:
        return f"{name} was open and delivered nothing"
    if socket.answered is False and socket.closed is None:
        return f"{name} could not be opened: its handshake was not answered"
    why = socket.failure or ("" if socket.code is None else f"close code {socket.code}")
    broke = "broke" if socket.received or socket.answered else "could not be opened, or broke"
    return f"{name} {broke} ({why})" if why else f"{name} {broke}"


def contradiction_sentence(claim: Acknowledgement, write: Exchange | None) -> str:
    """What the page says, and what became of the write that it says it about."""
    if write is None:
        return f"The page says that it saved, and sent nothing to {claim.pattern} (line {claim.line})"
    name = request_name(write.method, write.url)
    became = f"was answered {write.status}" if write.status is not None else f"failed with {write.failure}"
    if write.healthy is False:
        became = "was answered that it failed"
    return f"The page says that it saved, but {name} {became} (line {claim.line})"


def failure_sentence(failure: Failure) -> str:
    """What the charter saw instead of what it expected, on one line, without Playwright's call log."""
    where = f" (line {failure.lines[-1]})" if failure.lines else ""
    told = failure.message.partition("\nCall log:")[0]
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return f"{', '.join(lines[:3])[:300] or failure.type}{where}"


def causes_sentence(causes: Iterable[Cause]) -> str:
    """All causes in one clause, the same one on several loads named once, in the first one's words."""
    alike: dict[object, list[Cause]] = {}
    for cause in causes:
        key = (cause.kind, cause.method, (cause.url or "").partition("?")[0], cause.status, cause.failure)
        alike.setdefault(key, []).append(cause)
    return "; ".join(
        f"{same[0].reason}, {_on_loads(sorted({c.load for c in same}))}" for same in alike.values()
    )


def _on_loads(loads: Sequence[int]) -> str:
    if len(loads) == 1:
        return f"on load {loads[0]}"
    if list(loads) == [1, 2]:
        return "on both loads"
    return "on loads " + ", ".join(str(n) for n in loads[:-1]) + f" and {loads[-1]}"


def _waited(exchange: Exchange, load: LoadRecord) -> str:
    return _seconds(_cut(load) - exchange.started)


def _cut(load: LoadRecord) -> float:
    return load.failure.at if load.failure else load.ended


def _age(exchange: Exchange) -> float:
    return (exchange.ended or exchange.started) - exchange.started


def _margin(exchange: Exchange, load: LoadRecord) -> float:
    return _cut(load) - (exchange.ended or 0.0)


def _seconds(duration: float) -> str:
    """Rounded so that two loads of the same fate read the same: 5 s, 0.2 s, 80 ms."""
    if duration >= 0.95:
        return f"{duration:.0f} s"
    return f"{duration:.1f} s" if duration >= 0.095 else f"{duration * 1000:.0f} ms"
