"""The control tower: what is known, on which evidence, and the only way to finality."""

from __future__ import annotations

from bughunt.tower.redaction import Redactor
from bughunt.tower.tower import Tower, now_utc
from bughunt.tower.values import (
    Evidence,
    EvidenceKind,
    InvestigationView,
    NewEvidence,
    NewQuestion,
    Question,
    Run,
    RunRequest,
)
from bughunt.tower.writing import evidence_of_cause, evidence_of_load

__all__ = [
    "Evidence",
    "EvidenceKind",
    "InvestigationView",
    "NewEvidence",
    "NewQuestion",
    "Question",
    "Redactor",
    "Run",
    "RunRequest",
    "Tower",
    "evidence_of_cause",
    "evidence_of_load",
    "now_utc",
]
