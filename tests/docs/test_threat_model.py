"""Each threat names a test that there is."""

from __future__ import annotations

import ast

import pytest

from tests.docs.pages import ROOT, table

THREATS = table("threat-model.md", "What holds against what")


@pytest.mark.parametrize("row", THREATS, ids=lambda row: row[0][:40])
def test_the_test_of_a_threat_is_there(row: list[str]) -> None:
    _, mechanism, named = row
    assert mechanism
    file, _, name = named.strip("`").partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert not name or name in names
