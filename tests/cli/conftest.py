"""A folder of a user's own, with charters in it, and an app to look at."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bughunt.cli import main
from target_apps.cart import CartServer

ROOT = Path(__file__).parents[2]

CHARTERS = """
from bughunt import Network, charter
from playwright.async_api import Page, expect

@charter(question="Does the cart show the right total?", tags=["cart", "smoke"])
async def right(page: Page, net: Network) -> None:
    await shows_total(page, net, "/")

@charter(question="Does the buggy cart show the right total?", tags=["cart"])
async def wrong(page: Page, net: Network) -> None:
    await shows_total(page, net, "/?v=buggy")

@charter(question="Is this check any good?", tags=["broken"])
async def broken(page: Page, net: Network) -> None:
    await page.goto("/")
    await page.locator("div[").click()

async def shows_total(page: Page, net: Network, path: str) -> None:
    await page.goto(path)
    cart = await net.json("**/api/cart", timeout=2)
    total = sum(item["price"] * item["qty"] for item in cart["items"])
    await expect(page.get_by_test_id("total")).to_have_text(f"{total:.2f}", timeout=1000)
"""

SETTINGS = """
project = "shop"
[load]
pause = 0.0
"""


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line that was said; no traceback, and nothing else."""
        lines = [line for line in self.err.splitlines() if line.strip()]
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


class Shell:
    """Runs `bughunt` in a user's folder: in a process of its own (`start`) or, quicker, in this one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(self, *arguments: object, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "bughunt", *map(str, arguments)],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100"} | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: object, **environment: str) -> Done:
        out, err = io.StringIO(), io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            patch.chdir(self.folder)
            patch.setattr(sys, "argv", ["bughunt", *map(str, arguments)])
            patch.setattr(sys, "path", [*sys.path])
            for name, value in ({"COLUMNS": "100"} | environment).items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as left:
                main()
        return Done(int(left.value.code or 0), out.getvalue(), err.getvalue())


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "charters.py").write_text(CHARTERS)
    (tmp_path / "bughunt.toml").write_text(SETTINGS)
    return Shell(tmp_path)


@pytest.fixture
def cart() -> Iterator[str]:
    """The URL of a shopping cart."""
    with CartServer() as server:
        yield server.url
