"""A bug that is known until a day, from the charter to the exit code, on an app that really has it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from bughunt import exit_codes
from bughunt.commands.investigating import run_command
from target_apps.cart import CartServer
from tests.cli.conftest import Shell

ROOT = Path(__file__).parents[1]

CHARTER = """
from bughunt import Network, charter
from bughunt.bundled.cart_charters import shows_the_right_total
from playwright.async_api import Page

@charter(question="Does the cart show the right total?", ticket="SHOP-12", known_until="{until}")
async def total(page: Page, net: Network) -> None:
    await shows_the_right_total(page, net)
"""


@pytest.fixture(scope="module")
def forgetful_cart() -> Iterator[str]:
    """The URL of a cart whose total forgets quantities."""
    with CartServer(bug="forgets-quantity") as server:
        yield server.url


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "bughunt.toml").write_text('project = "shop"\n[load]\npause = 0.0\n')
    return Shell(tmp_path)


def known_until(shell: Shell, until: date) -> tuple[str, str]:
    """The command for the bug's charter, and its file."""
    (shell.folder / "charters.py").write_text(CHARTER.format(until=until))
    return "run", "charters.py"


def test_a_bug_is_shown_as_known_with_its_ticket_and_fails_no_run(shell: Shell, forgetful_cart: str) -> None:
    command = known_until(shell, datetime.now(UTC).date() + timedelta(days=1))
    done = shell(*command, "--base-url", forgetful_cart)
    assert done.code == 0, done.err
    assert "known BUG" in done.out
    assert "The bug is known as SHOP-12 and fails no run until" in done.out


def test_once_its_last_day_is_over_it_fails_the_run(shell: Shell, forgetful_cart: str) -> None:
    command = known_until(shell, datetime.now(UTC).date() - timedelta(days=1))
    done = shell(*command, "--base-url", forgetful_cart, "--json")
    (found,) = done.json["investigations"]
    assert (done.code, found["verdict"], found["outcome"]) == (1, "BUG", "BUG")
    assert found["known_bug"]["ticket"] == "SHOP-12"


@pytest.mark.parametrize(
    "told",
    [
        (ROOT / "README.md").read_text(),
        (ROOT / "docs/reference/commands.md").read_text(),
        run_command.__doc__,
        exit_codes.__doc__,
    ],
    ids=["README", "reference", "help", "exit_codes"],
)
def test_wherever_exit_codes_are_told_it_is_told_of_known_bugs(told: str) -> None:
    words = " ".join(told.split())
    assert "until a day that is not over" in words
    assert "any other BUG" in words
