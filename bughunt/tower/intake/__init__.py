"""How a message relates to what is known: a cascade from plain references to a model. Pure, but for its data.

It never guesses: what no step can tell has no relation, and waits for context.
"""

from __future__ import annotations

from bughunt.tower.intake.deciding import decide
from bughunt.tower.intake.modelling import IntakeModel, ModelAnswerRefused, decision_from_model
from bughunt.tower.intake.values import Decision, Incoming, OpenQuestion, Part, Relation

__all__ = [
    "Decision",
    "Incoming",
    "IntakeModel",
    "ModelAnswerRefused",
    "OpenQuestion",
    "Part",
    "Relation",
    "decide",
    "decision_from_model",
]
