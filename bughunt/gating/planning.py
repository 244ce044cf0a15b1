"""From healthy runs to the drills: kind × declared dependency × (always | once)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from bughunt.gating.selection import representative
from bughunt.gating.values import Combination, Dependency, Subject
from bughunt.verdict.record import SAFE_METHODS, Content, Exchange, LoadRecord
from fault_routes.faults import Always
from fault_routes.patterns import matches
from fault_routes.specs import parse_fault

__all__ = ["KINDS", "Kind", "Plan", "Planned", "combinations_of", "drill_of", "plan_of", "planned"]


class Kind(Struct, frozen=True, kw_only=True):
    """A way to break an exchange."""

    name: str
    """As `fault_routes` reads it."""
    of_json: bool = False
    """True iff it needs an answer with JSON."""
    of_writes: bool = False
    """True iff only what changes something is broken so."""
    waits: bool = False
    """True iff the answer comes all the same, later: an app may have the patience."""


KINDS: tuple[Kind, ...] = (
    Kind(name="reset"),
    Kind(name="503"),
    Kind(name="slow", waits=True),
    Kind(name="no_answer"),
    Kind(name="truncated_json", of_json=True),
    Kind(name="html", of_json=True),
    Kind(name="empty", of_json=True),
    Kind(name="lost_answer", of_writes=True),
)
"""What the gate breaks. By name in `Combination.kind`."""


_NOTHING = "it declares nothing that a fault could break."


class Planned(Struct, frozen=True, kw_only=True):
    """What follows from one healthy run."""

    dependencies: tuple[Dependency, ...]
    left_out: tuple[str, ...]
    """Declared, and not to be broken: one sentence each."""


class Plan(Struct, frozen=True, kw_only=True):
    """The drills that are to be carried out."""

    drills: tuple[Combination, ...]
    planned: int
    """How many apply."""
    left_out: tuple[str, ...]
    """What no drill breaks, one sentence each: charters, and dependencies of the others."""


def plan_of(healthy: Sequence[tuple[Subject, Sequence[LoadRecord]]], limit: int | None) -> Plan:
    """The drills of these charters, by the loads of their healthy runs; at most `limit`, None: all.

    Those that bring a bug out are always among them.
    """
    applying: dict[Subject, dict[str, Combination]] = {}
    left_out: dict[Subject, tuple[str, ...]] = {}
    for subject, loads in healthy:
        found = planned(loads, resilient=subject.resilient)
        given = {spec: drill_of(subject, spec) for spec in subject.bug_under}
        others = {drill.spec: drill for drill in combinations_of(subject, found.dependencies)}
        applying[subject], left_out[subject] = others | given, found.left_out
    drills = _chosen([drill for ours in applying.values() for drill in ours.values()], limit)
    drilled = {drill.subject for drill in drills}
    told = [
        sentence
        for subject, ours in applying.items()
        for sentence in _told(subject, len(ours), left_out[subject], is_drilled=subject in drilled)
    ]
    return Plan(drills=tuple(drills), planned=sum(map(len, applying.values())), left_out=tuple(told))


def _chosen(drills: Sequence[Combination], limit: int | None) -> list[Combination]:
    given = [drill for drill in drills if drill.spec in drill.subject.bug_under]
    others = [drill for drill in drills if drill not in given]
    return [*given, *(others if limit is None else representative(others, max(limit - len(given), 0)))]


def _told(subject: Subject, applying: int, left_out: Sequence[str], *, is_drilled: bool) -> Iterator[str]:
    """One sentence for a charter without a drill, else one for each dependency that is not broken."""
    name = f"{subject.name} ({subject.target})"
    if is_drilled:
        yield from (f"{name}: {sentence}" for sentence in left_out)
    elif applying:
        yield f"{name} is not drilled at all: none of its {applying} drills was chosen."
    else:
        yield f"{name} is not drilled at all: {' '.join(left_out or (_NOTHING,))}"


def planned(loads: Sequence[LoadRecord], *, resilient: bool = False) -> Planned:
    """The dependencies that these healthy loads declared and met.

    What a resilient charter reads with `net.json` is left out: without it the check cannot be made, however
    well the app copes. So is what no HTTP exchange has met: a WebSocket, or a request that never came.
    """
    dependencies: dict[tuple[str, str | None], Dependency] = {}
    left_out: dict[str, None] = {}
    for pattern in _needed(loads) if resilient else ():
        left_out[f"{pattern} is what a resilient charter reads itself: without it there is no check."] = None
    for pattern, method in _declared(loads, resilient=resilient):
        met = [x for load in loads for x in load.exchanges if _meets(x, pattern, method)]
        if met:
            dependencies[pattern, method] = _dependency(pattern, method, met)
        else:
            left_out[_why_not(pattern, loads)] = None
    return Planned(dependencies=tuple(dependencies.values()), left_out=tuple(left_out))


def combinations_of(subject: Subject, dependencies: Sequence[Dependency]) -> Iterator[Combination]:
    """Each applicable fault on each dependency, always and once."""
    for dependency in dependencies:
        for kind in KINDS:
            if (kind.of_json and not dependency.json) or (kind.of_writes and not dependency.write):
                continue
            for once in (False, True):
                yield Combination(
                    subject=subject,
                    endpoint=dependency.endpoint,
                    kind=kind.name,
                    once=once,
                    spec=_spec(kind, dependency, once=once),
                )


def drill_of(subject: Subject, spec: str) -> Combination:
    """The drill with a fault that is given, whatever a healthy run has shown."""
    fault = parse_fault(spec)
    known = {parse_fault(f"{kind.name}@/").kind: kind.name for kind in KINDS}
    method, pattern = fault.where.method, fault.where.pattern
    return Combination(
        subject=subject,
        endpoint=f"{method} {pattern}" if method else pattern,
        kind=known.get(fault.kind, fault.kind),
        once=not isinstance(fault.when, Always),
        spec=fault.spec,
    )


def _declared(loads: Sequence[LoadRecord], *, resilient: bool) -> Iterator[tuple[str, str | None]]:
    for load in loads:
        if not resilient:
            yield from ((d.pattern, d.method) for d in load.declarations)
        yield from ((a.pattern, a.method) for a in load.acknowledgements)
        yield from ((pattern, None) for pattern in load.scope.depends_on or ())


def _needed(loads: Sequence[LoadRecord]) -> Iterator[str]:
    """What a resilient charter reads with `net.json`, where nothing else declares it too."""
    others = set(_declared(loads, resilient=True))
    for load in loads:
        yield from (d.pattern for d in load.declarations if (d.pattern, d.method) not in others)


def _meets(exchange: Exchange, pattern: str, method: str | None) -> bool:
    """Whether a route would see it: not what the charter itself or a service worker asks, nor preflights."""
    routed = exchange.resource_type != "api" and not exchange.service_worker and exchange.method != "OPTIONS"
    return routed and method in (None, exchange.method) and matches(pattern, exchange.url)


def _dependency(pattern: str, method: str | None, met: Sequence[Exchange]) -> Dependency:
    write = next((x.method for x in met if x.method not in SAFE_METHODS), None)
    return Dependency(pattern=pattern, method=method, json=all(map(_answers_json, met)), write=write)


def _answers_json(exchange: Exchange) -> bool:
    """By its body where that was read, else by what its headers say."""
    if exchange.content is not None:
        return exchange.content is Content.JSON
    headers = {name.lower(): value for name, value in exchange.response_headers.items()}
    return "json" in headers.get("content-type", "")


def _why_not(pattern: str, loads: Sequence[LoadRecord]) -> str:
    if any(matches(pattern, socket.url) for load in loads for socket in load.sockets):
        return f"{pattern} is a WebSocket, which no route can break."
    return f"{pattern} met no request that a route could break."


def _spec(kind: Kind, dependency: Dependency, *, once: bool) -> str:
    method = dependency.method or (dependency.write if kind.of_writes else None)
    options = [*(["times=1"] if once else []), *([f"method={method}"] if method else [])]
    listed = f":{','.join(options)}" if options else ""
    return parse_fault(f"{kind.name}{listed}@{dependency.pattern}").spec
