"""From rows to values and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from sqlalchemy import RowMapping

from bughunt.tower.intake import Relation
from bughunt.tower.states import ReceiptState
from bughunt.tower.values import (
    Evidence,
    EvidenceKind,
    NewQuestion,
    Question,
    Receipt,
    Related,
    Run,
    SecondParty,
)
from bughunt.verdict.judgement import Level, Reason, State, Verdict

__all__ = ["evidence_from", "key_columns", "question_from", "receipt_from", "run_from"]


def key_columns(key: NewQuestion) -> dict[str, str]:
    """The columns that make a Q the same Q."""
    return {
        "project": key.project,
        "charter": key.charter,
        "target": key.target,
        "plan_fingerprint": key.plan_fingerprint,
    }


def question_from(row: RowMapping | Mapping[str, Any]) -> Question:  # Any: a row's values have many types
    """A Q from its row."""
    key = NewQuestion(
        project=row["project"],
        charter=row["charter"],
        question=row["text"],
        target=row["target"],
        plan=msgspec.json.decode(row["plan"], type=tuple[str, ...]),
        plan_fingerprint=row["plan_fingerprint"],
    )
    return Question(id=row["id"], key=key, state=row["state"], created_at=row["created_at"])


def run_from(row: RowMapping) -> Run:
    """A RUN from its row."""
    return Run(
        id=row["id"],
        question=row["question_id"],
        state=State(row["state"]),
        agent=row["agent"],
        rules_version=row["rules_version"],
        owner=row["owner"],
        lease_until=row["lease_until"],
        created_at=row["created_at"],
        build=row["build"],
        started_at=row["started_at"],
        terminal_at=row["terminal_at"],
        reason=None if row["reason"] is None else Reason(row["reason"]),
        verdict=None if row["verdict"] is None else Verdict(row["verdict"]),
        level=None if row["level"] is None else Level(row["level"]),
        landed_at=row["landed_at"],
        landing_note=row["landing_note"],
        superseded_by=row["superseded_by"],
        cites=row["cites"],
        second_party=None if row["second_party"] is None else SecondParty(row["second_party"]),
    )


def evidence_from(row: RowMapping) -> Evidence:
    """A piece of evidence from its row, joined with its tombstone's `why` and `removed_at`."""
    removed = row["why"] and f"{row['why']} ({row['removed_at']:%Y-%m-%d})"
    return Evidence(
        id=row["id"],
        run=row["run_id"],
        seq=row["seq"],
        kind=EvidenceKind(row["kind"]),
        at=row["at"],
        digest=row["digest"],
        size=row["size"],
        media_type=row["media_type"],
        load=row["load"],
        name=row["name"],
        ending=row["ending"],
        signature=row["signature"],
        cause=row["cause"],
        layer=row["layer"],
        tombstone=removed,
    )


def receipt_from(row: RowMapping, relations: Iterable[RowMapping] = ()) -> Receipt:
    """A receipt from its row and those of its relations."""
    return Receipt(
        id=row["id"],
        project=row["project"],
        source=row["source"],
        key=row["idempotency_key"],
        occurred_at=row["occurred_at"],
        received_at=row["received_at"],
        summary=row["summary"],
        text=row["text"],
        text_digest=row["text_digest"],
        state=ReceiptState(row["state"]),
        attempts=row["attempts"],
        failures=row["failures"],
        reference=row["reference"],
        thread=row["thread"],
        next_attempt_at=row["next_attempt_at"],
        error=row["error"],
        settled_at=row["settled_at"],
        relation=None if row["relation"] is None else Relation(row["relation"]),
        confidence=row["confidence"],
        reason=row["reason"],
        step=row["step"],
        parts=row["parts"],
        context=row["context"],
        relations=tuple(_related(relation) for relation in relations),
    )


def _related(row: RowMapping) -> Related:
    return Related(part=row["part"], question=row["question_id"], relation=Relation(row["relation"]))
