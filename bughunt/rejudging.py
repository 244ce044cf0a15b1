"""Judging again: what the rules of this version say of the evidence that is stored. Changes nothing.

Needs neither a browser nor a model: a verdict follows from the records of its loads alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from enum import StrEnum

import msgspec
from msgspec import Struct

from bughunt.exceptions import EvidenceDamaged, NoSuchRecord
from bughunt.tower import PERSON, EvidenceKind, InvestigationView, Run, Tower
from bughunt.verdict.judgement import Ending, Judgement, State, Verdict
from bughunt.verdict.record import LoadRecord
from bughunt.verdict.rules import LoadAgain, claim, decide

__all__ = ["CHUNK", "Chosen", "Outcome", "Rejudged", "gist", "judge", "rejudge", "tally"]

CHUNK = 100
"""Runs that are read at once: what is in memory, and what is read again, one by one, where one is damaged."""

Said = Judgement | LoadAgain
"""What the rules say of some loads: a judgement, or that another load is needed."""


class Outcome(StrEnum):
    """What came of judging a run again."""

    SAME = "same"
    CHANGED = "changed"
    """The verdict, its level, reason, rule, mismatch or causes would be others."""
    LOAD_AGAIN = "load_again"
    """The rules would not decide yet: another load would be needed."""
    UNREADABLE = "unreadable"
    """There is a verdict, and not all of its evidence can be read."""
    NOT_JUDGED = "not_judged"
    """No verdict is stored: the run was cancelled, abandoned, is not over, or failed by our own fault."""


class Chosen(Struct, frozen=True, kw_only=True):
    """Which runs are judged again: all, or those of these questions and these runs."""

    questions: frozenset[int] = frozenset()
    runs: frozenset[int] = frozenset()
    since: datetime | None = None
    """Only runs that were asked for at that time or later."""

    def includes(self, run: Run) -> bool:
        """Whether this run is meant."""
        named = not (self.questions or self.runs) or run.id in self.runs or run.question in self.questions
        return named and (self.since is None or run.created_at >= self.since)


class Rejudged(Struct, frozen=True, kw_only=True):
    """One stored run, judged again."""

    run: int
    question: int
    agent: str
    outcome: Outcome
    charter: str = ""
    old: Judgement | None = None
    """As it is stored; None: there is none, or it cannot be read."""
    new: Judgement | None = None
    """As it would be; None: there would be none yet."""
    why: str = ""
    """Why there is no new judgement."""


def rejudge(tower: Tower, chosen: Chosen | None = None) -> list[Rejudged]:
    """Judge stored runs again, by number. Writes nothing.

    Raises NoSuchRecord where a question or run is named that the tower does not hold.
    """
    wanted = chosen or Chosen()
    for number in sorted(wanted.runs):
        tower.run(number)
    for number in sorted(wanted.questions):
        tower.question(number)
    return [
        found if isinstance(found, Rejudged) else _judged_again(found) for found in _stored(tower, wanted)
    ]


def judge(agent: str, loads: Sequence[LoadRecord]) -> Said:
    """What this agent would say of these loads: it stops at the first that allows a judgement. Pure.

    Raises KeyError for an agent that this version does not know, ValueError without a load.
    """
    return _JUDGES[agent](loads)


def gist(said: Said) -> object:
    """What a judgement comes to, beside its wording: equal iff nothing that counts differs."""
    if isinstance(said, LoadAgain):
        return LoadAgain
    causes = frozenset((cause.kind, cause.load, cause.exchange) for cause in said.causes)
    grounds = said.level, said.rule, said.intermittent, said.degraded, _mismatch(said)
    return said.state, said.verdict, said.reason, grounds, causes


def _mismatch(said: Judgement) -> frozenset[str]:
    """Where a verified BUG was seen twice: line and matcher, for which no version has other words."""
    if said.state is not State.DONE or said.verdict is not Verdict.BUG:
        return frozenset()
    places = Counter(
        " ".join((ended.signature or "").split()[:2])
        for ended in said.endings
        if ended.ending is Ending.MISMATCH
    )
    return frozenset(place for place, times in places.items() if times >= 2)


def tally(found: Sequence[Rejudged]) -> dict[Outcome, int]:
    """How many runs there are of each outcome, those with none included."""
    counted = Counter(one.outcome for one in found)
    return {outcome: counted[outcome] for outcome in Outcome}


def _carefully(loads: Sequence[LoadRecord]) -> Said:
    said: Said = decide(loads[:1])
    for taken in range(2, len(loads) + 1):
        if isinstance(said, Judgement):
            break
        said = decide(loads[:taken])
    return said


def _claimed(loads: Sequence[LoadRecord]) -> Said:
    if not loads:
        raise ValueError("There is nothing to claim before the first load.")
    return claim(loads[0])


_JUDGES: dict[str, Callable[[Sequence[LoadRecord]], Said]] = {"careful": _carefully, "naive": _claimed}


def _judged_again(view: InvestigationView) -> Rejudged:
    if not any(item.kind == EvidenceKind.JUDGEMENT for item in view.evidence):
        return _rejudged(view, Outcome.NOT_JUDGED, why=f"it is {view.run.state} without a judgement")
    if view.run.agent == PERSON:
        return _rejudged(view, Outcome.NOT_JUDGED, why="a person decided it")
    if unreadable := _unreadable(view):
        return _rejudged(view, Outcome.UNREADABLE, why=unreadable)
    said = judge(view.run.agent, view.loads)
    if isinstance(said, LoadAgain):
        return _rejudged(view, Outcome.LOAD_AGAIN, why=said.why)
    same = view.judgement is not None and gist(said) == gist(view.judgement)
    return _rejudged(view, Outcome.SAME if same else Outcome.CHANGED, new=said)


def _rejudged(
    view: InvestigationView, outcome: Outcome, *, new: Judgement | None = None, why: str = ""
) -> Rejudged:
    return Rejudged(
        run=view.run.id,
        question=view.run.question,
        agent=view.run.agent,
        charter=view.question.key.charter,
        outcome=outcome,
        old=view.judgement,
        new=new,
        why=why,
    )


def _unreadable(view: InvestigationView) -> str:
    """Why a judged run cannot be judged again; empty where it can."""
    if view.run.agent not in _JUDGES:
        return f"this version has no agent {view.run.agent}"
    records = [item for item in view.evidence if item.kind == EvidenceKind.NETWORK]
    if not records:
        return "there is no record of a load"
    judgement = [
        f"the judgement was removed: {item.tombstone}"
        for item in view.evidence
        if item.kind == EvidenceKind.JUDGEMENT and item.tombstone
    ]
    removed = [
        f"the record of load {item.load} was removed: {item.tombstone}" for item in records if item.tombstone
    ]
    missing = len(records) - len(removed) - len(view.loads)
    unread = view.notes[len(view.notes) - missing :]  # a view tells of them last
    return "; ".join([*judgement, *removed, *(note.rstrip(".") for note in unread)])


def _stored(tower: Tower, chosen: Chosen) -> Iterator[InvestigationView | Rejudged]:
    """The chosen runs by number; of those that cannot even be read, why."""
    for numbers in _chunks(tower, chosen):
        try:
            views = _views(tower, chosen, numbers)
        except (EvidenceDamaged, msgspec.DecodeError):
            yield from (_one(tower, run) for run in _runs(tower, numbers) if chosen.includes(run))
        else:
            yield from views


def _chunks(tower: Tower, chosen: Chosen) -> Iterator[list[int]]:
    """The numbers of all runs that may be chosen."""
    if chosen.runs and not chosen.questions:
        numbers = sorted(chosen.runs)
        yield from (numbers[at : at + CHUNK] for at in range(0, len(numbers), CHUNK))
        return
    for first in range(1, tower.last_run() + 1, CHUNK):
        yield list(range(first, first + CHUNK))


def _views(tower: Tower, chosen: Chosen, numbers: Sequence[int]) -> list[InvestigationView]:
    if not chosen.questions:
        return tower.views(run_ids=numbers, since=chosen.since)
    named = chosen.runs.intersection(numbers)
    found = tower.views(run_ids=named, since=chosen.since)
    for question in chosen.questions:
        found += tower.views(run_ids=numbers, question=question, since=chosen.since)
    return _by_number(found)


def _by_number(views: Collection[InvestigationView]) -> list[InvestigationView]:
    numbered = {view.run.id: view for view in views}
    return [numbered[number] for number in sorted(numbered)]


def _runs(tower: Tower, numbers: Sequence[int]) -> Iterator[Run]:
    """These runs, up to the first number that none has."""
    for number in numbers:
        try:
            yield tower.run(number)
        except NoSuchRecord:
            return


def _one(tower: Tower, run: Run) -> InvestigationView | Rejudged:
    try:
        return tower.view(run.id)
    except (EvidenceDamaged, msgspec.DecodeError) as error:
        why = f"its evidence is damaged, or of another version: {error}"
        return Rejudged(
            run=run.id, question=run.question, agent=run.agent, outcome=Outcome.UNREADABLE, why=why
        )
