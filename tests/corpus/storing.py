"""Runs made of the corpus, stored through the gates like any other."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bughunt.corpus import Case, judge
from bughunt.tower import (
    EvidenceKind,
    NewEvidence,
    NewQuestion,
    Run,
    RunRequest,
    Tower,
    evidence_of_cause,
    evidence_of_load,
)
from bughunt.verdict.judgement import Judgement, State, Verdict
from bughunt.verdict.record import LoadRecord, to_json
from tests.corpus import CASES

__all__ = ["ME", "a_case", "as_judged", "network", "reserved", "store"]

ME = "process-1"


def a_case(verdict: Verdict | None, *, loads: int | None = None, rule: str | None = None) -> Case:
    """The first case of the corpus that is like that."""
    for case in CASES.values():
        fits = case.verdict is verdict and loads in (None, len(case.loads))
        if fits and rule in (None, as_judged(case).rule):
            return case
    raise LookupError(f"no case of {verdict} by {rule} with {loads} loads")


def as_judged(case: Case) -> Judgement:
    """What the present rules say of a case that they can decide."""
    said = judge(case)
    assert isinstance(said, Judgement)
    return said


def reserved(tower: Tower, *, charter: str = "cart.py::total", agent: str = "careful") -> Run:
    """A RUN that has started."""
    asked = tower.ask(
        NewQuestion(
            project="shop", charter=charter, question="Is the total right?", target="https://shop.test"
        )
    )
    request = RunRequest(question=asked.id, agent=agent, rules_version=1, owner=ME)
    return tower.start(tower.reserve(request).id, ME)


def store(
    tower: Tower,
    loads: Sequence[LoadRecord],
    judgement: Judgement,
    *,
    agent: str = "careful",
    records: Sequence[NewEvidence] | None = None,
) -> Run:
    """A RUN with these loads that ended as judged; `records` stand in for those of the loads."""
    run = reserved(tower, charter=f"cart.py::{judgement.verdict or judgement.reason}", agent=agent)
    done = judgement.state is State.DONE
    evidence = [
        *(map(network, loads) if records is None else records),
        *map(evidence_of_load, judgement.endings),
        *map(evidence_of_cause, judgement.causes),
    ]
    return tower.finish(
        run.id,
        ME,
        judgement,
        landed_at=datetime.fromisoformat(loads[-1].began_at) if done else None,
        landing_note="seen in the cart" if done else None,
        evidence=evidence,
    )


def network(load: LoadRecord) -> NewEvidence:
    """The record of a load."""
    return NewEvidence(kind=EvidenceKind.NETWORK, data=to_json(load), load=load.number)
