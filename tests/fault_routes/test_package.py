import subprocess
import sys
from types import ModuleType

import pytest

import fault_routes


def test_the_public_names_are_there_and_no_others() -> None:
    assert all(hasattr(fault_routes, name) for name in fault_routes.__all__)
    found = {
        name
        for name, value in vars(fault_routes).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert found - {"annotations", "TYPE_CHECKING"} <= set(fault_routes.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="instal"):
        fault_routes.instal  # noqa: B018 - asking is the test


def test_plans_and_ledgers_load_neither_playwright_nor_bughunt() -> None:
    code = (
        "import sys, fault_routes; fault_routes.FaultLedger(fault_routes.parse_plan(['reset@/a']));"
        "print(sorted({'playwright', 'bughunt'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
