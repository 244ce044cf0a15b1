"""What the steps of the cascade and the classifier look at, gathered once for each message."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bughunt.tower.intake.acts import marks_of
from bughunt.tower.intake.likeness import Alike, most_alike
from bughunt.tower.intake.references import References, named_by
from bughunt.tower.intake.splitting import parts_of
from bughunt.tower.intake.text import Reading, read
from bughunt.tower.intake.values import Incoming, OpenQuestion

__all__ = ["Sight", "look_at"]


class Sight(Struct, frozen=True, kw_only=True):
    """A message, with all that was seen of it."""

    message: Incoming
    reading: Reading
    references: References
    alike: tuple[Alike, ...]
    """The open questions, the most alike first."""
    parts: tuple[str, ...]
    """What it asks, one by one, in its own words."""
    marks: dict[str, float]
    """For the classifier."""


def look_at(message: Incoming, questions: Sequence[OpenQuestion]) -> Sight:
    """Read a message beside the open questions."""
    reading = read(message.text, {question.target for question in questions})
    references = named_by(message, reading, questions)
    alike = tuple(most_alike(reading, questions))
    parts = tuple(parts_of(reading))
    marks = marks_of(message, reading) | _marks_of_parts(parts) | _marks_of_references(references)
    return Sight(
        message=message,
        reading=reading,
        references=references,
        alike=alike,
        parts=parts,
        marks=marks | _marks_of_likeness(alike, references),
    )


def _marks_of_parts(parts: tuple[str, ...]) -> dict[str, float]:
    return {
        "parts_0": float(not parts),
        "parts_1": float(len(parts) == 1),
        "parts_2": float(len(parts) >= 2),
        "parts_3": float(len(parts) >= 3),
    }


def _marks_of_references(references: References) -> dict[str, float]:
    named = references.links or references.thread or references.unknown or references.strangers
    return {
        "names_number": float(bool(references.numbers)),
        "names_unknown": float(bool(references.unknown)),
        "names_charter": float(bool(references.charters)),
        "names_ambiguous": float(references.ambiguous),
        "names_elsewhere": float(bool(references.elsewhere)),
        "names_stranger": float(bool(references.strangers)),
        "in_thread": float(bool(references.thread)),
        "names_nothing": float(not named),
    }


def _marks_of_likeness(alike: Sequence[Alike], references: References) -> dict[str, float]:
    if not alike:
        return {"knows_nothing": 1.0}
    best, second = alike[0], alike[1].likeness if len(alike) > 1 else 0.0
    marks = {
        "like": best.likeness,
        "like_much": float(best.likeness > 0.4),
        "like_ahead": best.likeness - second,
        "like_here": best.likeness * (best.target == 1),
        "like_elsewhere": best.likeness * (best.target == -1),
        "knows_one": float(len(alike) == 1),
    }
    threads = [item for item in alike if item.question.id in references.thread]
    if threads:
        marks |= {
            "thread_like": threads[0].likeness,
            "thread_elsewhere": float(threads[0].target == -1),
            "thread_behind": best.likeness - threads[0].likeness,
        }
    return marks
