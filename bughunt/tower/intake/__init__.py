"""How a message relates to what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

__all__ = ["Decision", "Incoming", "IntakeModel", "OpenQuestion", "Part", "Relation", "decide"]


class Relation(StrEnum):
    IGNORE = "IGNORE"
    LINK_EXISTING_Q = "LINK_EXISTING_Q"
    EVIDENCE_OR_ACCEPTANCE = "EVIDENCE_OR_ACCEPTANCE"
    NEW_Q = "NEW_Q"
    SPLIT_TO_N_Q = "SPLIT_TO_N_Q"


class OpenQuestion(Struct, frozen=True, kw_only=True):
    id: int
    text: str
    charter: str
    target: str
    last_touched: datetime


class Incoming(Struct, frozen=True, kw_only=True):
    text: str
    source: str = ""
    thread: tuple[int, ...] = ()
    attachments: tuple[str, ...] = ()
    runs: Mapping[int, int] = {}


class Part(Struct, frozen=True, kw_only=True):
    text: str
    links: tuple[int, ...] = ()
    relation: Relation | None = None
    target: str | None = None


class Decision(Struct, frozen=True, kw_only=True):
    relation: Relation | None
    links: tuple[int, ...] = ()
    parts: tuple[Part, ...] = ()
    confidence: float = 0.0
    reason: str = ""
    step: str = ""
    target: str | None = None


class IntakeModel(Protocol):
    def decide(self, message: Incoming, questions: Sequence[OpenQuestion]) -> Decision: ...


def decide(
    message: Incoming, questions: Sequence[OpenQuestion], *, model: IntakeModel | None = None
) -> Decision:
    return Decision(relation=None, reason="no cascade yet", step="none")
