"""The guide to the gate names every key of its JSON, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import structs

from bughunt.gating.planning import KINDS
from bughunt.gating.values import Unproved
from bughunt.reports.gate import gate_json
from bughunt.verdict.judgement import Verdict
from tests.docs.pages import table, terms
from tests.gating.drills import SUBJECT
from tests.reports.test_gate import RESULT

GUIDE = "how-to/gate.md"
LOST = Unproved(subject=SUBJECT, expected=Verdict.PASS, said=Verdict.BUG, run="RUN-1", sentence="It is.")
DISTURBED = structs.replace(RESULT.judged[0], disturbed=True)
OPEN = structs.replace(RESULT.judged[1], left_open=True)
FOUND = gate_json(structs.replace(RESULT, judged=(*RESULT.judged, DISTURBED, OPEN), unproved=(LOST,)))


def entries(found: Any) -> Iterator[dict[str, Any]]:
    """The objects beneath a key, the key's own value or those that it lists."""
    yield from found if isinstance(found, list) else [found]


def test_every_key_is_documented_and_no_other() -> None:
    assert set(terms(GUIDE, "What it tells")) == {*FOUND, "exit_code"}


def test_every_key_with_objects_has_their_keys_documented() -> None:
    told = {name for row in table(GUIDE, "What its lists hold") for name in re.findall(r"`(\w+)`", row[0])}
    with_objects = {
        key for key, found in FOUND.items() if any(isinstance(one, dict) for one in entries(found))
    }
    assert told == with_objects


@pytest.mark.parametrize("row", table(GUIDE, "What its lists hold"), ids=lambda row: row[0])
def test_the_keys_of_an_entry_are_documented_and_no_other(row: list[str]) -> None:
    for name in re.findall(r"`(\w+)`", row[0]):
        assert FOUND[name], f"{name} is empty: nothing is tested"
        for one in entries(FOUND[name]):
            assert set(re.findall(r"`(\w+)`", row[1])) == set(one), name


def test_every_kind_that_is_drilled_is_documented_and_no_other() -> None:
    assert set(terms(GUIDE, "What it does")) == {kind.name for kind in KINDS}
