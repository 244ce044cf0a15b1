"""JupyterLab: some fifty scripts, a dozen APIs, two kinds of WebSocket, and a workspace that is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import Page, expect

from bughunt import Load, Network, charter
from tests.real_apps.running import App
from tests.real_apps.trying import Trial
from tests.servers.rewriting import Rewrite

#: It starts in two to eight seconds on two cores.
BOOTING = 30_000

NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "answer",
            "metadata": {},
            "outputs": [],
            "source": ["6 * 7"],
        }
    ],
    "metadata": {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    },
    "nbformat": 4,
    "nbformat_minor": 5,
}


async def _seed(folder: Path) -> None:
    (folder / "work").mkdir()
    (folder / "work" / "harbour.ipynb").write_text(json.dumps(NOTEBOOK))
    (folder / "work" / "log.txt").write_text("Two ships are moored.\n")


def _command(folder: Path, port: int) -> Sequence[str]:
    return (
        "jupyter-lab",
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={folder / 'work'}",
        "--IdentityProvider.token=",
        "--LabApp.news_url=None",
    )


APP = App(name="jupyterlab", distribution="jupyterlab", ready_at="/api/status", seed=_seed, command=_command)


async def _open(page: Page, load: Load, file: str = "") -> None:
    """In a workspace of the load's own: the server remembers which tabs a workspace had open."""
    await page.goto(f"/lab/workspaces/{load.unique}{file and f'/tree/{file}'}")
    await expect(page.get_by_role("menuitem", name="File", exact=True)).to_be_visible(timeout=BOOTING)


@charter(question="Does the file browser list the files of the folder?")
async def lists_the_files(page: Page, net: Network, load: Load) -> None:
    await _open(page, load)
    await net.json("**/api/contents")
    names = page.locator(".jp-DirListing-itemName")
    await expect(names).to_have_text(["harbour.ipynb", "log.txt"], timeout=10_000)


@charter(question="Is the right answer computed when a notebook is run?")
async def runs_a_notebook(page: Page, net: Network, load: Load) -> None:
    await _open(page, load, "harbour.ipynb")
    await expect(page.locator(".jp-Notebook .jp-InputArea-editor")).to_contain_text("6 *", timeout=BOOTING)
    idle = page.get_by_role("button", name="Python 3 (ipykernel) | Idle")
    await expect(idle).to_be_visible(timeout=BOOTING)  # what is run before that is dropped without a word
    await page.get_by_role("menuitem", name="Run", exact=True).click()
    await page.get_by_text("Run All Cells", exact=True).click()
    await expect(page.locator(".jp-OutputArea-output")).to_have_text("42", timeout=10_000)


@charter(question="Is a file that was saved the same when it is opened again?")
async def saves_a_file(page: Page, net: Network, load: Load) -> None:
    await _open(page, load, "log.txt")
    text = page.locator(".jp-FileEditor .cm-content")
    await text.click(timeout=BOOTING)
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text(load.unique)
    await page.keyboard.press("Control+s")
    await net.acknowledged("**/api/contents/log.txt", method="PUT")
    await page.reload()
    await expect(text).to_have_text(load.unique, timeout=BOOTING)


TRIALS = (
    Trial(
        app=APP,
        charter=lists_the_files,
        api="**/api/contents",
        method="GET",
        bug=Rewrite(
            pattern="**/api/contents",
            method="GET",
            change=lambda body: body.replace(b'"name": "log.txt"', b'"name": "fog.txt"'),
        ),
    ),
    Trial(
        app=APP,
        charter=runs_a_notebook,
        api="**/api/kernels/*/channels",
        method="GET",
        bug=Rewrite(
            pattern="**/api/contents/harbour.ipynb?*content=1*",
            method="GET",
            change=lambda body: body.replace(b"6 * 7", b"6 * 8"),
        ),
        heals=frozenset({"503", "reset"}),
    ),
    Trial(
        app=APP,
        charter=saves_a_file,
        api="**/api/contents/log.txt",
        method="PUT",
        bug=Rewrite(
            pattern="**/api/contents/log.txt?*content=1*",
            method="GET",
            change=lambda body: re.sub(rb'"content": "[^"]*"', b'"content": "Nothing here."', body),
        ),
    ),
)
