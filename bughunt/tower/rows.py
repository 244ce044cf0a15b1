"""From rows to values and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from sqlalchemy import RowMapping

from bughunt.tower.values import Evidence, EvidenceKind, NewQuestion, Question, Run, SecondParty
from bughunt.verdict.judgement import Level, Reason, State, Verdict

__all__ = ["evidence_from", "key_columns", "question_from", "run_from"]


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
