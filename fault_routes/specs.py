"""Faults as people write them: `KIND[:option=value[,option=value...]]@PATTERN`.

| kind | effect |
|---|---|
| `reset`, or any other abort code (`timedout`, `namenotresolved` ...) | the request fails in the network |
| `reset_once` | the same as `reset:times=1` |
| `status=503`, or just `503` (400 to 599) | that answer; with `body=`, `content_type=`, `header=Name:value` |
| `delay=2s`, `delay=250ms`; `slow` is `delay=2s` | later, then on to the server |
| `no_answer` | pending for ever |
| `lost_answer` | the server takes it, and the answer never arrives: a reset |
| `truncated_json`, `malformed_json`, `empty` | the server's answer, spoilt |
| `html` | 200 and an HTML page |

| option | which requests |
|---|---|
| `times=N`, `nth=N`, `p=0.3` with `seed=7` | the first N; the Nth; each with a probability. One of them |
| `method=POST`, `type=fetch` | only those |

In a value `,` is written `%2C`, `@` is `%40`, and `%` is `%25`: values are URL-decoded. The pattern is not,
and may hold an `@`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

from fault_routes.effects import (
    ABORT_CODES,
    Abort,
    Delay,
    Effect,
    EmptyBody,
    FaultError,
    HtmlInsteadOfJson,
    LostAnswer,
    MalformedJson,
    NoAnswer,
    Respond,
    TruncatedJson,
)
from fault_routes.faults import Always, Chance, Fault, FaultPlan, FirstN, Nth, When, Where
from fault_routes.patterns import PatternError
from fault_routes.spelling import hint, nearest

_EXAMPLE = "reset:times=1@**/api/cart"
_PLAIN_KINDS: dict[str, Effect] = {
    **{code: Abort(code=code) for code in ABORT_CODES},
    "reset": Abort(code="connectionreset"),
    "reset_once": Abort(code="connectionreset"),
    "slow": Delay(seconds=2),
    **{
        effect.kind: effect
        for effect in (
            *(NoAnswer(), LostAnswer()),
            *(TruncatedJson(), MalformedJson(), HtmlInsteadOfJson(), EmptyBody()),
        )
    },
}
_VALUED_KINDS = ("status", "delay")
_ANSWER_OPTIONS = frozenset({"body", "content_type", "header"})
_OPTIONS = frozenset({"times", "nth", "p", "seed", "method", "type"}) | _ANSWER_OPTIONS
_DURATION = re.compile(r"(?P<amount>[0-9.]+(?:e[+-]?[0-9]+)?)(?P<unit>ms|s)")

_Given = dict[str, list[str]]


class FaultSpecError(FaultError):
    """A spec that is no fault. The message is one line and says what to write instead."""


def parse_fault(spec: str) -> Fault:
    """The fault that `spec` describes.

    Raises:
        FaultSpecError: `spec` is no fault.
    """
    try:
        return _parsed(spec)
    except (FaultError, PatternError) as error:
        raise FaultSpecError(f"fault {spec!r}: {error}") from error


def parse_plan(specs: Iterable[str]) -> FaultPlan:
    """The plan of these faults, in their order.

    Raises:
        FaultSpecError: one of them is no fault, or is there twice.
    """
    try:
        return FaultPlan(faults=tuple(parse_fault(spec) for spec in specs))
    except FaultSpecError:
        raise
    except FaultError as error:
        raise FaultSpecError(str(error)) from error


def _parsed(spec: str) -> Fault:
    head, at, pattern = spec.partition("@")
    if not at:
        raise FaultError(f"where is missing: write KIND@PATTERN, for example {_EXAMPLE}")
    kind, colon, listed = head.partition(":")
    kind = kind.strip()
    given = _options(listed) if colon else {}
    if kind == "reset_once":
        _add_once(given)
    effect = _effect(kind, given)
    where = Where(
        pattern=pattern.strip(), method=_single(given, "method"), resource_type=_single(given, "type")
    )
    return Fault(effect=effect, where=where, when=_when(given))


def _options(listed: str) -> _Given:
    given: _Given = {}
    for item in listed.split(","):
        name, equals, value = item.partition("=")
        name = name.strip()
        if name not in _OPTIONS:
            raise FaultError(f"unknown option {name!r}: {hint(name, _OPTIONS)} (a comma in a value is %2C)")
        if not equals:
            raise FaultError(f"the option {name!r} has no value: write {name}=VALUE, for example {_EXAMPLE}")
        if name in given and name != "header":
            raise FaultError(f"the option {name!r} is given twice: keep one")
        given.setdefault(name, []).append(unquote(value.strip()))
    return given


def _single(given: _Given, name: str) -> str | None:
    return given[name][0] if name in given else None


def _add_once(given: _Given) -> None:
    if given.keys() & {"times", "nth", "p"}:
        raise FaultError("reset_once is reset:times=1 already: write reset with an option of yours")
    given["times"] = ["1"]


def _effect(kind: str, given: _Given) -> Effect:
    name, _, value = kind.partition("=")
    if name == "status":
        return _respond(value, given)
    if re.fullmatch(r"[45][0-9]{2}", kind):
        return _respond(kind, given)
    effect = Delay(seconds=_seconds(value)) if name == "delay" else _PLAIN_KINDS.get(kind)
    if effect is None:
        raise FaultError(_unknown_kind(name))
    if unfit := sorted(given.keys() & _ANSWER_OPTIONS):
        raise FaultError(
            f"the option {unfit[0]!r} belongs to an answer: write for example 503:{unfit[0]}=..."
        )
    return effect


def _unknown_kind(kind: str) -> str:
    if kind in _PLAIN_KINDS:
        return f"{kind!r} takes no value: write {kind}@PATTERN"
    if kind.isdecimal():
        return f"{kind!r} is no kind, only 400 to 599 are: write status={kind}"
    meant = nearest(kind, (*_PLAIN_KINDS, *_VALUED_KINDS))
    if meant:
        return f"unknown kind {kind!r}: did you mean {meant!r}? For example {_EXAMPLE}"
    shown = sorted(set(_PLAIN_KINDS) - set(ABORT_CODES))
    return (
        f"unknown kind {kind!r}: write status=503, delay=2s, {', '.join(shown)} or an abort code"
        f" ({', '.join(ABORT_CODES)}), for example {_EXAMPLE}"
    )


def _respond(status: str, given: _Given) -> Respond:
    if not re.fullmatch(r"[0-9]{3}", status):
        raise FaultError(f"{status!r} is no status: write for example status=503")
    return Respond(
        status=int(status),
        body=_single(given, "body") or "",
        content_type=_single(given, "content_type"),
        headers=tuple(_header(text) for text in given.get("header", ())),
    )


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise FaultError(f"the header {text!r} has no value: write for example header=Retry-After:5")
    return name.strip(), value.strip()


def _seconds(text: str) -> float:
    found = _DURATION.fullmatch(text)
    try:
        amount = float(found["amount"]) if found else None
    except ValueError:
        amount = None
    if found is None or amount is None:
        raise FaultError(f"{text!r} is no time with a unit: write for example delay=2s or delay=250ms")
    return amount / 1000 if found["unit"] == "ms" else amount


def _when(given: _Given) -> When:
    chosen = [name for name in ("times", "nth", "p") if name in given]
    if len(chosen) > 1:
        raise FaultError(f"{' and '.join(chosen)} exclude each other: keep one")
    if "seed" in given and chosen != ["p"]:
        raise FaultError("a seed goes with a probability: write for example p=0.3,seed=7")
    match chosen:
        case ["times"]:
            return FirstN(times=_integer(given, "times"))
        case ["nth"]:
            return Nth(nth=_integer(given, "nth"))
        case ["p"]:
            return Chance(
                p=_probability(given["p"][0]), seed=_integer(given, "seed") if "seed" in given else 0
            )
        case _:
            return Always()


def _integer(given: _Given, name: str) -> int:
    text = given[name][0]
    if not re.fullmatch(r"-?[0-9]{1,100}", text):
        raise FaultError(f"{name}={text} is no whole number: write for example {name}=1")
    return int(text)


def _probability(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise FaultError(f"p={text} is no number: write for example p=0.3") from None
