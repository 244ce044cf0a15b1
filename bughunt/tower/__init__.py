"""The control tower: what is known, on which evidence, and the only way to finality."""

from __future__ import annotations

from bughunt.tower.deciding import PERSON
from bughunt.tower.intake import Decision, Part, Relation
from bughunt.tower.redaction import Redactor
from bughunt.tower.store import now_utc
from bughunt.tower.tower import Tower
from bughunt.tower.values import (
    Attached,
    Attachment,
    Evidence,
    EvidenceKind,
    InvestigationView,
    Message,
    NewEvidence,
    NewQuestion,
    Question,
    Receipt,
    Related,
    Run,
    RunRequest,
    SecondParty,
    Waiting,
)
from bughunt.tower.writing import evidence_of_cause, evidence_of_load

__all__ = [
    "PERSON",
    "Attached",
    "Attachment",
    "Decision",
    "Evidence",
    "EvidenceKind",
    "InvestigationView",
    "Message",
    "NewEvidence",
    "NewQuestion",
    "Part",
    "Question",
    "Receipt",
    "Redactor",
    "Related",
    "Relation",
    "Run",
    "RunRequest",
    "SecondParty",
    "Tower",
    "Waiting",
    "evidence_of_cause",
    "evidence_of_load",
    "now_utc",
]
