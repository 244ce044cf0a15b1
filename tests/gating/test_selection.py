"""A few drills that stand for many."""

from __future__ import annotations

from bughunt.gating.planning import combinations_of
from bughunt.gating.selection import representative
from bughunt.gating.values import Combination, Subject
from tests.gating.drills import CART


def many() -> list[Combination]:
    """Two builds, three charters each, one endpoint: 84 drills."""
    subjects = [
        Subject(target=target, charter=f"cart.py::{name}", known_bug=name == "c" and target == "buggy")
        for target in ("right", "buggy")
        for name in "abc"
    ]
    return [drill for subject in subjects for drill in combinations_of(subject, [CART])]


def test_a_few_drills_stand_for_all() -> None:
    few = representative(many(), 14)
    assert {(d.kind, d.once) for d in few} == {(d.kind, d.once) for d in many()}
    assert len({d.subject for d in few}) == 6
    assert few == representative(many(), 14) == [drill for drill in many() if drill in few]


def test_few_drills_are_all_taken() -> None:
    assert representative(many(), 84) == many()
