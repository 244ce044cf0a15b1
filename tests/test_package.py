"""What users import: the public list is what is exported, and the rules drag no browser in."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bughunt


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def announced() -> set[str]:
    """The names that type checkers see."""
    tree = ast.parse(Path(bughunt.__file__).read_text(encoding="utf-8"))
    typing_only = next(node for node in tree.body if isinstance(node, ast.If))
    imports = (node for node in typing_only.body if isinstance(node, ast.ImportFrom))
    return {alias.asname or alias.name for node in imports for alias in node.names}


@pytest.mark.parametrize("name", sorted(bughunt.__all__))
def test_each_public_name_can_be_imported(name: str) -> None:
    assert getattr(bughunt, name) is not None


def test_type_checkers_see_the_same_names_as_programs() -> None:
    assert announced() | {"__version__"} == set(bughunt.__all__)


def test_the_public_list_is_sorted_and_without_repetition() -> None:
    assert list(bughunt.__all__) == sorted(set(bughunt.__all__))


def test_another_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = bughunt.nothing


@pytest.mark.parametrize(
    "imported",
    [
        "import bughunt",
        "import bughunt.verdict.rules",
        "from bughunt import Verdict, Judgement",
        "import bughunt.charters, bughunt.settings",
        "import bughunt.tower",
        "import bughunt.reports",
    ],
)
def test_no_browser_library_is_imported_before_it_is_needed(imported: str) -> None:
    assert run(f"{imported}\nimport sys\nprint('playwright' in sys.modules)") == "False"


def test_the_rules_import_no_database_either() -> None:
    assert run("import bughunt.verdict.rules, sys\nprint('sqlalchemy' in sys.modules)") == "False"


def test_the_package_is_typed() -> None:
    assert (Path(bughunt.__file__).parent / "py.typed").is_file()
