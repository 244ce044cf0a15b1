"""A model that is asked where the rules cannot tell: its answer is held to a strict form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from bughunt.exceptions import BughuntError
from bughunt.tower.intake.values import Decision, Incoming, OpenQuestion, Part, Relation

__all__ = ["IntakeModel", "ModelAnswerRefused", "decision_from_model"]


class IntakeModel(Protocol):
    """Whatever can be asked: a language model, a rule of one's own."""

    def decide(self, message: Incoming, questions: Sequence[OpenQuestion]) -> Decision:
        """The decision; `decision_from_model` makes one of JSON. Raise whatever fits where there is none."""
        ...


class ModelAnswerRefused(BughuntError):
    """A model's answer is not of the form that was asked for; the message is tried again later."""


class _Part(Struct, forbid_unknown_fields=True):
    text: str
    links: list[int] = []
    relation: Relation | None = None
    target: str | None = None


class _Answer(Struct, forbid_unknown_fields=True):
    relation: Relation | None
    confidence: float
    reason: str
    links: list[int] = []
    parts: list[_Part] = []
    target: str | None = None


def decision_from_model(data: bytes, questions: Sequence[OpenQuestion]) -> Decision:
    """A model's JSON as a decision: `relation`, `confidence`, `reason`, `links`, `parts`, `target`, no more.

    Raises ModelAnswerRefused where a field is missing, unknown or of another type, where a Q is named that is
    not open, or where relation, links and parts do not go together.
    """
    try:
        answer = msgspec.json.decode(data, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ModelAnswerRefused(f"The model's answer is not of the form asked for: {error}.") from error
    known = {question.id for question in questions}
    wrong = _fault(answer, known)
    if wrong:
        raise ModelAnswerRefused(f"The model's answer contradicts itself or the tower: {wrong}.")
    return Decision(
        relation=answer.relation,
        links=tuple(dict.fromkeys(answer.links)),
        parts=tuple(
            Part(text=part.text, links=tuple(part.links), relation=part.relation, target=part.target)
            for part in answer.parts
        ),
        confidence=answer.confidence,
        reason=answer.reason,
        step="model",
        target=answer.target,
    )


def _fault(answer: _Answer, known: set[int]) -> str | None:
    """What is wrong with an answer; None: nothing."""
    linking = (Relation.LINK_EXISTING_Q, Relation.EVIDENCE_OR_ACCEPTANCE)
    named = {*answer.links, *(link for part in answer.parts for link in part.links)}
    if not 0 <= answer.confidence <= 1:
        return f"a confidence of {answer.confidence}"
    if named - known:
        return f"Q-{min(named - known)} is no open question"
    if (answer.relation in linking) != bool(answer.links):
        return f"{answer.relation} with {len(answer.links)} links"
    if (answer.relation is Relation.SPLIT_TO_N_Q) != (len(answer.parts) >= 2):
        return f"{answer.relation} with {len(answer.parts)} parts"
    for part in answer.parts:
        if part.relation not in (None, Relation.NEW_Q, Relation.LINK_EXISTING_Q):
            return f"a part that is {part.relation}"
        if (part.relation is Relation.LINK_EXISTING_Q) != bool(part.links):
            return f"a part that is {part.relation} with {len(part.links)} links"
    return None
