"""A representative few of many drills: the same ones each time, whatever is rare first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bughunt.gating.values import Combination

__all__ = ["representative"]


def representative(drills: Sequence[Combination], size: int) -> list[Combination]:
    """At most `size` drills, in their order, that spread evenly over builds, charters, kinds and often.

    Each is the one whose traits were taken least so far; of equals the earlier.
    """
    if len(drills) <= size:
        return list(drills)
    traits = [_traits(drill) for drill in drills]
    left, taken = dict.fromkeys(range(len(drills))), Counter[tuple[object, ...]]()
    for _ in range(size):
        best = min(left, key=lambda index: sum(taken[trait] ** 2 for trait in traits[index]))
        del left[best]
        taken.update(traits[best])
    return [drill for index, drill in enumerate(drills) if index not in left]


def _traits(drill: Combination) -> tuple[tuple[object, ...], ...]:
    subject, fault = drill.subject, (drill.kind, drill.once)
    return (
        ("build", subject.target),
        ("subject", subject.target, subject.charter),
        ("charter", subject.charter, *fault),
        ("endpoint", subject.charter, drill.endpoint),
        ("fault", *fault),
        ("truth", subject.known_bug, subject.resilient, *fault),
    )
