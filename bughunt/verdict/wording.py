"""The words: causes and judgements as sentences that a tester understands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from bughunt.verdict.judgement import Cause, CauseKind
from bughunt.verdict.record import Exchange, Failure, LoadRecord

__all__ = ["cause_reason", "causes_sentence", "failure_sentence", "hint", "request_name"]


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
        CauseKind.STATUS: f"the server answered {exchange.status} to {name}",
        CauseKind.ACCESS: f"access was refused ({exchange.status}) for {name}",
        CauseKind.GAVE_UP: f"the page gave up waiting for {name} after {_seconds(_age(exchange))}",
        CauseKind.LATE: f"the answer of {name} came only {_seconds(_margin(exchange, load))} "
        "before the step gave up",
        CauseKind.MOVED: f"the data of {name} changed after the charter had read it",
        CauseKind.MALFORMED: f"the answer of {name} was spoilt on its way",
    }
    return clauses[kind]


def _what_came(exchange: Exchange, load: LoadRecord) -> str:
    if exchange.failure is not None and (exchange.status is None or exchange.status < 400):
        return exchange.failure
    if exchange.status is None:
        return f"no answer within {_waited(exchange, load)}"
    if exchange.status >= 400:
        return f"status {exchange.status}"
    in_time = exchange.finished and exchange.ended is not None and exchange.ended <= _cut(load)
    return "an answer that came too late" if in_time else "a body that did not come to its end"


def hint(kind: CauseKind, exchange: Exchange, *, declared: bool) -> str | None:
    """What a person should also consider before blaming the environment."""
    if kind is CauseKind.ACCESS and exchange.status == 403:
        return "may be a real access bug"
    if declared or exchange.main_document or exchange.fault:
        return None
    name = request_name(exchange.method, exchange.url)
    return (
        f"if the answer cannot hang on {name}, put it into ignore=, or list what it hangs on in depends_on="
    )


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
