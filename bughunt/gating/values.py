"""What the gate is about: charters whose truth is known, each under one fault."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from bughunt.verdict.judgement import Verdict

__all__ = [
    "Combination",
    "Dependency",
    "GateResult",
    "Interval",
    "Judged",
    "Mistake",
    "Subject",
    "Unproved",
]


class Subject(Struct, frozen=True, kw_only=True):
    """A charter in one build of an app, and what is true of it."""

    target: str
    charter: str
    """Its id, `path::name`."""
    known_bug: bool = False
    """True iff it must say BUG while the network is healthy."""
    resilient: bool = False
    bug_under: tuple[str, ...] = ()
    """The faults, as specs, under which this resilient charter must see a bug that hides in health."""

    @property
    def name(self) -> str:
        """The charter's name, without its file."""
        return self.charter.rpartition("::")[2]


class Dependency(Struct, frozen=True, kw_only=True):
    """An exchange that a charter declared and that a healthy run has seen."""

    pattern: str
    method: str | None = None
    """None: the declaration named none."""
    json: bool = False
    """True iff it answered with JSON."""
    write: str | None = None
    """The method of a write among what it matches; None: it only reads."""

    @property
    def endpoint(self) -> str:
        """`GET **/api/cart`, or the pattern alone."""
        return f"{self.method} {self.pattern}" if self.method else self.pattern


class Combination(Struct, frozen=True, kw_only=True):
    """One drill: a subject under one fault."""

    subject: Subject
    endpoint: str
    kind: str
    """`reset`, `503`, `slow`, ..."""
    once: bool
    """True iff only the first request meets it."""
    spec: str
    """The planned fault as `fault_routes` spells it."""

    @property
    def often(self) -> str:
        """`once` or `always`."""
        return "once" if self.once else "always"


class Mistake(StrEnum):
    """How an answer can be wrong."""

    FALSE_BUG = "false BUG"
    """BUG, and there is none."""
    MISSED_BUG = "missed bug"
    """PASS, and there is a bug that could be seen."""
    UNNOTICED = "fault not noticed"
    """PASS, though what the charter declared was broken all the time."""
    UNSETTLED = "answer not seen"
    """ENV_ERROR, though the answer could be seen: the planned fault was over, or the app copes with it."""


class Judged(Struct, frozen=True, kw_only=True):
    """A drill that was carried out, and whether its answer was right."""

    combination: Combination
    right: tuple[Verdict, ...]
    """The right answers."""
    said: Verdict | None
    """None: there was no verdict."""
    fired: bool
    mistake: Mistake | None
    """None: the answer is right, or there is none, or it is disturbed or left open."""
    disturbed: bool
    """True iff the environment was in trouble that nobody had planned, so that the answer says nothing."""
    left_open: bool
    """True iff nobody could look again, since a write of the faulted load may have arrived."""
    run: str
    """`RUN-12`"""
    sentence: str
    """The answer in words; empty without one."""

    @property
    def counts(self) -> bool:
        """Whether the answer says something about the agent."""
        return self.fired and self.said is not None and not self.disturbed


class Unproved(Struct, frozen=True, kw_only=True):
    """A charter that did not answer as it should have while nothing was broken."""

    subject: Subject
    expected: Verdict
    said: Verdict | None
    run: str
    sentence: str


class Interval(Struct, frozen=True, kw_only=True):
    """How often something happened, with its Wilson score interval at 95 %."""

    count: int
    total: int
    low: float
    high: float
    """Both from 0 to 1."""


class GateResult(Struct, frozen=True, kw_only=True):
    """All that a gate has found."""

    agent: str
    judged: tuple[Judged, ...] = ()
    compared: tuple[Judged, ...] | None = None
    """What the naive agent said of the same drills; None: it was not asked."""
    unproved: tuple[Unproved, ...] = ()
    """Not empty: no drill was run."""
    planned: int = 0
    """The drills that apply; `judged` may be a choice of them."""
    left_out: tuple[str, ...] = ()
    """Declared dependencies that are not broken, and charters without a drill, one sentence each."""
    check_errors: tuple[str, ...] = ()
    """Of charters that are broken, one sentence each."""
    failures: tuple[str, ...] = ()
    """Our own, one line each."""
    compared_failures: tuple[str, ...] = ()
    """The same of the comparison, which prove nothing about the agent that is tested."""
    healthy_runs: int = 0
    asked_again: int = 0
    """Runs that were disturbed at first."""
    max_false_bugs: int = 0
    seconds: float = 0.0

    def wrong(self, *mistakes: Mistake) -> tuple[Judged, ...]:
        """The drills with such a wrong answer; all wrong ones where none is named."""
        return tuple(j for j in self.judged if j.mistake and (not mistakes or j.mistake in mistakes))

    @property
    def disturbed(self) -> tuple[Judged, ...]:
        """The drills that prove nothing, asked again as they were."""
        return tuple(j for j in self.judged if j.disturbed)

    @property
    def unfired(self) -> tuple[Judged, ...]:
        """The drills whose fault never fired, though nothing else was in the way: they prove nothing."""
        return tuple(j for j in self.judged if not j.fired and not j.disturbed and j.said is not None)

    @property
    def left_open(self) -> tuple[Judged, ...]:
        """The drills after which nobody could look again."""
        return tuple(j for j in self.judged if j.left_open)
