"""What a right answer to a drill is, and what the answers given amount to.

    charter                  fault                  right
    is right                 once                   PASS
    is right                 always                 ENV_ERROR
    is right                 always, a delay        PASS or ENV_ERROR: an app may have the patience
    sees a bug               once                   BUG
    sees a bug               always                 BUG or ENV_ERROR: the fault may hide it
    resilient                any                    PASS
    resilient, sees a bug    any                    BUG or PASS: the fault may keep the app from getting there

An ENV_ERROR is

- *disturbed* where something that nobody had planned hid an answer that could have been seen, or where the
  fault itself is none of its causes: nothing is proved by it, for or against;
- *left open* where no second look was to be trusted, since a write of the faulted load may have arrived
  (`state_unknown`) and the charter brings no fresh data: no mistake, and told;
- else a mistake wherever the answer could have been seen.

Disturbed runs are asked again, once. So is one that was too slow or too quick for a bug after a one-time
fault (`late`, `moved`): that may be chance once. Twice it loses the bug, and is a mistake.

A drill counts only where its fault fired, and where there is an answer that nothing disturbed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from bughunt.gating.planning import KINDS
from bughunt.gating.values import Combination, Judged, Mistake
from bughunt.tower.values import InvestigationView
from bughunt.verdict.judgement import Cause, CauseKind, Verdict

__all__ = [
    "Cell",
    "confusion",
    "false_bugs",
    "is_disturbed",
    "is_left_open",
    "is_to_be_asked_again",
    "judge",
    "matrix",
    "missed_bugs",
    "mistake",
    "right_answers",
]

PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR

_WAITING = frozenset(kind.name for kind in KINDS if kind.waits)
#: Follows from what a planned fault did on an earlier load.
_FROM_THE_FAULT = frozenset({CauseKind.STATE_UNKNOWN, CauseKind.UNREPRODUCED})
#: Of the page's pace: that it hides the same answer twice is no chance.
_OF_THE_PACE = frozenset({CauseKind.LATE, CauseKind.MOVED})


def right_answers(drill: Combination) -> tuple[Verdict, ...]:
    """What may be said of this drill, the likeliest first."""
    subject = drill.subject
    if subject.resilient:
        if drill.spec in subject.bug_under:
            return (BUG,)
        return (BUG, PASS) if subject.known_bug or subject.bug_under else (PASS,)
    if drill.once:
        return (BUG,) if subject.known_bug else (PASS,)
    if subject.known_bug:
        return (BUG, ENV_ERROR)
    return (PASS, ENV_ERROR) if drill.kind in _WAITING else (ENV_ERROR,)


def judge(drill: Combination, view: InvestigationView) -> Judged:
    """Whether this run's answer, or claim of one, is right."""
    return Judged(
        combination=drill,
        right=right_answers(drill),
        said=view.run.verdict,
        fired=not view.unfired,
        mistake=mistake(drill, view),
        disturbed=is_disturbed(drill, view),
        left_open=is_left_open(drill, view),
        run=view.name,
        sentence=view.judgement.sentence if view.judgement is not None else "",
    )


def mistake(drill: Combination, view: InvestigationView) -> Mistake | None:
    """What is wrong with the answer; None where nothing is, or where there is none."""
    right, said = right_answers(drill), view.run.verdict
    if said is None or said in right:
        return None
    if said is BUG:
        return Mistake.FALSE_BUG
    if said is PASS and BUG in right:
        return Mistake.MISSED_BUG
    if said is PASS:
        return None if view.unfired else Mistake.UNNOTICED
    return None if is_disturbed(drill, view) or is_left_open(drill, view) else Mistake.UNSETTLED


def is_to_be_asked_again(drill: Combination, view: InvestigationView) -> bool:
    """Whether trouble that nobody had planned is why there is no other answer, if only this time."""
    if view.run.verdict is not ENV_ERROR:
        return False
    if ENV_ERROR in right_answers(drill):
        return not any(cause.fault == drill.spec for cause in _causes(view))
    return bool(_unplanned(view) - _FROM_THE_FAULT)


def is_disturbed(drill: Combination, view: InvestigationView) -> bool:
    """Whether that trouble excuses the answer for good: the page's own pace excuses no bug that is lost."""
    if drill.once and BUG in right_answers(drill) and not _unplanned(view) - _FROM_THE_FAULT - _OF_THE_PACE:
        return False
    return is_to_be_asked_again(drill, view)


def is_left_open(drill: Combination, view: InvestigationView) -> bool:
    """Whether the answer could not be looked for again: the world may be another one since the fault.

    With fresh data it is not: each load meets a world of its own.
    """
    if view.run.verdict is not ENV_ERROR or ENV_ERROR in right_answers(drill):
        return False
    if any(load.fresh for load in view.loads) or is_disturbed(drill, view):
        return False
    return CauseKind.STATE_UNKNOWN in _unplanned(view)


def _causes(view: InvestigationView) -> tuple[Cause, ...]:
    return view.judgement.causes if view.judgement is not None else ()


def _unplanned(view: InvestigationView) -> set[CauseKind]:
    return {cause.kind for cause in _causes(view) if cause.fault is None}


def false_bugs(judged: Sequence[Judged]) -> tuple[int, int]:
    """How many false BUGs there are, and of how many drills that count and have no bug."""
    without = [j for j in judged if j.counts and BUG not in j.right]
    return sum(j.mistake is Mistake.FALSE_BUG for j in without), len(without)


def missed_bugs(judged: Sequence[Judged]) -> tuple[int, int]:
    """How many bugs were missed, and of how many drills that count and have a bug that PASS denies."""
    with_bug = [j for j in judged if j.counts and BUG in j.right and PASS not in j.right]
    return sum(j.mistake is Mistake.MISSED_BUG for j in with_bug), len(with_bug)


def confusion(judged: Iterable[Judged]) -> dict[tuple[Verdict, ...], Counter[Verdict | None]]:
    """How often each answer was given, by what would have been right."""
    found: dict[tuple[Verdict, ...], Counter[Verdict | None]] = {}
    for one in sorted(judged, key=lambda j: [list(Verdict).index(verdict) for verdict in j.right]):
        found.setdefault(one.right, Counter())[one.said] += 1
    return found


class Cell(Struct, frozen=True, kw_only=True):
    """What came of one kind of fault on one endpoint of a flow."""

    target: str
    charter: str
    endpoint: str
    fault: str
    often: str
    passed: int = 0
    env: int = 0
    bug: int = 0
    never_fired: int = 0
    """Of these the answer does not count."""
    no_verdict: int = 0


def matrix(judged: Iterable[Judged]) -> list[Cell]:
    """Flow × endpoint × fault, in the order of the drills."""
    counted: dict[tuple[str, ...], Counter[str]] = {}
    for one in judged:
        drill = one.combination
        subject = drill.subject
        place = (subject.target, subject.charter, drill.endpoint, drill.kind, drill.often)
        counted.setdefault(place, Counter())[_word(one)] += 1
    names = ("target", "charter", "endpoint", "fault", "often")
    return [Cell(**dict(zip(names, place, strict=True)), **counts) for place, counts in counted.items()]  # type: ignore[arg-type]


def _word(one: Judged) -> str:
    if not one.fired:
        return "never_fired"
    return "no_verdict" if one.said is None else {PASS: "passed", BUG: "bug", ENV_ERROR: "env"}[one.said]
