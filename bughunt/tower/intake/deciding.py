"""The way through the cascade, with the classifier that learnt from what ships, where its extra is there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bughunt.tower.intake.examples import Example, shipped_examples
from bughunt.tower.intake.modelling import IntakeModel
from bughunt.tower.intake.values import Decision, Incoming, OpenQuestion

if TYPE_CHECKING:
    from bughunt.tower.intake.learning import Classifier

__all__ = ["decide", "decide_by", "learnt_from"]


def decide(
    message: Incoming, questions: Sequence[OpenQuestion], *, model: IntakeModel | None = None
) -> Decision:
    """How this message relates to these open questions of its project.

    `model` is asked where the rules cannot tell; what it raises is raised. Without the extra `intake` only
    plain references, schedules and plain thanks are decided, and all else waits.
    """
    decision = decide_by(_shipped_classifier(), message, questions)
    if decision.relation is None and model is not None:
        return model.decide(message, questions)
    return decision


def decide_by(
    classifier: Classifier | None, message: Incoming, questions: Sequence[OpenQuestion]
) -> Decision:
    """The same with this classifier; None: without one."""
    from bughunt.tower.intake.cascade import decided
    from bughunt.tower.intake.seeing import look_at

    sight = look_at(message, questions)
    chances = None if classifier is None else classifier.chances(sight.reading.text, sight.marks)
    return decided(sight, questions, chances)


def learnt_from(examples: Sequence[Example]) -> Classifier:
    """A classifier that learns from these labelled messages, in about a second."""
    from bughunt.tower.intake.learning import Classifier
    from bughunt.tower.intake.seeing import look_at

    sights = [look_at(example.message, example.questions) for example in examples]
    return Classifier(
        [sight.reading.text for sight in sights],
        [sight.marks for sight in sights],
        [example.label for example in examples],
    )


@cache
def _shipped_classifier() -> Classifier | None:
    if find_spec("sklearn") is None:
        return None
    return learnt_from(shipped_examples())
