"""What a view says of a bug that is known already."""

from __future__ import annotations

from datetime import date
from typing import Any

import msgspec
import pytest

from bughunt.tower import EvidenceKind, InvestigationView, NewEvidence, Tower
from bughunt.tower.values import KnownBug
from tests.tower.making import ME, begun


def seen_with(tower: Tower, **conditions: Any) -> InvestigationView:  # Any: JSON
    run = begun(tower)
    data = msgspec.json.encode({"agent": "careful", **conditions})
    tower.add_evidence(run.id, ME, [NewEvidence(kind=EvidenceKind.CONDITIONS, data=data)])
    return tower.view(run.id)


def test_the_ticket_is_read_from_the_conditions_of_the_run(tower: Tower) -> None:
    view = seen_with(tower, known_as="SHOP-12", known_until="2026-12-31")
    assert view.known_bug == KnownBug(ticket="SHOP-12", until=date(2026, 12, 31))


@pytest.mark.parametrize(
    "conditions",
    [{}, {"known_as": None, "known_until": None}, {"known_as": "SHOP-12", "known_until": "***"}],
    ids=["an older version's", "a charter without a ticket", "redacted"],
)
def test_without_ticket_and_day_no_bug_is_known(tower: Tower, conditions: dict[str, Any]) -> None:
    assert seen_with(tower, **conditions).known_bug is None
