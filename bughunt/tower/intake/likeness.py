"""How like an open question a message is: what both are about, weighed by how few questions share it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from bughunt.tower.intake.text import Reading, plain_words, things_in
from bughunt.tower.intake.values import OpenQuestion

try:
    from rapidfuzz import fuzz
except ImportError:  # of the extra `intake`: without it, likeness alone decides nothing anyway
    fuzz = None  # type: ignore[assignment]  # a module, or none

__all__ = ["Alike", "most_alike"]


_WORTH = {"=": 1.0, "~": 0.4}
"""What a thing of the glossary is worth, and one that is in many questions."""


class Alike(Struct, frozen=True, kw_only=True):
    """One open question, and how like the message it is."""

    question: OpenQuestion
    likeness: float
    """From 0 to 1."""
    target: int
    """1: the message names its target; 0: it names none; -1: it names others only."""


def most_alike(reading: Reading, questions: Sequence[OpenQuestion]) -> list[Alike]:
    """The open questions, the most alike first; of equal ones that whose target is named."""
    about = [things_in(f"{question.text} {question.charter.rpartition('::')[2]}") for question in questions]
    weight = _weights(about)
    pieces = [things_in(clause) for clause in reading.clauses] or [reading.things]
    found = []
    for question, things in zip(questions, about, strict=True):
        target = 0 if not reading.targets else 1 if question.target in reading.targets else -1
        likeness = _likeness(reading, pieces, things, weight, question)
        found.append(Alike(question=question, likeness=likeness, target=target))
    return sorted(found, key=lambda alike: (-round(alike.likeness, 3), -alike.target, alike.question.id))


def _weights(about: Sequence[frozenset[str]]) -> dict[str, float]:
    """What is in few questions tells more; a thing of the glossary more than two signs in a row."""
    shared = Counter(thing for things in about for thing in things)
    return {
        thing: math.log(1 + len(about) / number)
        * (_WORTH.get(thing[0]) or (0.7 if thing.isascii() else 0.35))
        for thing, number in shared.items()
    }


def _likeness(
    reading: Reading,
    pieces: Sequence[frozenset[str]],
    things: frozenset[str],
    weight: dict[str, float],
    question: OpenQuestion,
) -> float:
    whole = sum(weight[thing] for thing in things) or 1.0
    common = sum(weight[thing] for thing in things & reading.things) / whole
    near = max(
        (
            sum(weight[thing] for thing in things & (one | two)) / whole
            for one, two in zip(pieces, (*pieces[1:], frozenset[str]()), strict=True)
        ),
        default=0.0,
    )
    worded = 0.0
    if fuzz is not None:
        worded = fuzz.token_set_ratio(plain_words(question.text), plain_words(reading.text[:1000])) / 100
    return 0.45 * common + 0.35 * near + 0.2 * worded
