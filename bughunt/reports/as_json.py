"""Investigations and the demo's table as JSON, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from bughunt.reports.demo import DemoRow, DemoTable
from bughunt.reports.outcomes import (
    causes_of,
    duration_of,
    outcome_of,
    sentence_of,
    unfired_faults,
)
from bughunt.reports.texts import clean
from bughunt.tower.values import InvestigationView
from bughunt.verdict.judgement import Cause

__all__ = ["cause_json", "demo_json", "investigation_json", "render_json", "runs_json"]

JsonObject = dict[str, Any]
"""A JSON object. Any: what is in it differs from key to key."""


def render_json(views: Sequence[InvestigationView], failures: Sequence[str] = ()) -> str:
    """`runs_json`, indented, with a newline at its end."""
    document = runs_json(views, failures)
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def runs_json(views: Sequence[InvestigationView], failures: Sequence[str] = ()) -> JsonObject:
    """`{"investigations": [...], "unfired_faults": [spec, ...], "failures": [line, ...]}`.

    `failures` are our own, one line each: of runs that could not be carried out to their end.
    """
    return {
        "investigations": [investigation_json(view) for view in views],
        "unfired_faults": [clean(spec) for spec in unfired_faults(views)],
        "failures": [clean(failure) for failure in failures],
    }


def investigation_json(view: InvestigationView) -> JsonObject:
    """One run as `bughunt run --json` prints it; strings only, numbers, lists and None in it."""
    return cleaned(_essence(view) | _extras(view) | {"known_bug": _known_bug_json(view)})


def _essence(view: InvestigationView) -> JsonObject:
    run, judgement = view.run, view.judgement
    return {
        "charter": view.question.key.charter,
        "question": view.question.key.question,
        "q": view.q,
        "run": view.name,
        "state": str(run.state),
        "verdict": _word(run.verdict),
        "level": _word(run.level or (judgement.level if judgement else None)),
        "loads": judgement.loads if judgement else len(view.loads),
        "confirmations": judgement.confirmations if judgement else 0,
        "rule": judgement.rule if judgement else None,
        "reason": _word(run.reason),
        "causes": [cause_json(cause) for cause in causes_of(view)],
    }


def _extras(view: InvestigationView) -> JsonObject:
    run, judgement = view.run, view.judgement
    return {
        "outcome": str(outcome_of(view)),
        "sentence": sentence_of(view),
        "agent": run.agent,
        "target": view.question.key.target,
        "build": view.build,
        "drill": view.drill,
        "plan": list(view.question.key.plan),
        "unfired_faults": list(view.unfired),
        "intermittent": judgement.intermittent if judgement else False,
        "recovered": judgement.recovered if judgement else False,
        "degraded": judgement.degraded if judgement else False,
        "seconds": duration_of(view),
        "landed_at": run.landed_at.isoformat() if run.landed_at else None,
        "landing_note": run.landing_note,
        "rules_version": run.rules_version,
        "notes": list(view.notes),
    }


def cause_json(cause: Cause) -> JsonObject:
    """One cause; all keys are there, None where there is nothing to say."""
    return {
        "kind": str(cause.kind),
        "method": cause.method,
        "url": cause.url,
        "status": cause.status,
        "failure": cause.failure,
        "fault": cause.fault,
        "load": cause.load,
        "reason": cause.reason,
        "hint": cause.hint,
        "layer": cause.layer,
        "exchange": cause.exchange,
        "declared": cause.declared,
    }


def demo_json(table: DemoTable) -> JsonObject:
    """The demo's table as `bughunt demo --json` prints it."""
    return cleaned(
        {
            "rows": [_row_json(row) for row in table.rows],
            "false_bugs": msgspec.structs.asdict(table.false_bugs),
            "missed_bugs": msgspec.structs.asdict(table.missed_bugs),
        }
    )


def _row_json(row: DemoRow) -> JsonObject:
    return {
        "scenario": row.scenario,
        "truth": str(row.truth),
        "naive": _word(row.naive),
        "careful": _word(row.careful),
        "loads": row.loads,
        "confirmations": row.confirmations,
        "causes": [cause_json(cause) for cause in row.causes],
    }


def _known_bug_json(view: InvestigationView) -> JsonObject | None:
    """The ticket that the charter has, whatever the verdict; `outcome` says whether a BUG is a known one."""
    known = view.known_bug
    return None if known is None else {"ticket": known.ticket, "until": known.until.isoformat()}


def _word(value: str | None) -> str | None:
    return None if value is None else str(value)


def cleaned(value: JsonObject) -> JsonObject:
    """The object with every string in it fit for UTF-8."""
    return {key: _clean_value(item) for key, item in value.items()}


def _clean_value(value: Any) -> Any:  # Any: a JSON value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    return cleaned(value) if isinstance(value, dict) else value
