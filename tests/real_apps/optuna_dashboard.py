"""optuna-dashboard: React over a JSON API of HTTP/1.0, which it polls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import Page, expect

from bughunt import Load, Network, charter
from tests.real_apps.running import App, run_seed
from tests.real_apps.trying import Trial
from tests.servers.rewriting import Rewrite

#: The front end is one script of 6 MB: two seconds on two idle cores, half a minute on busy ones.
BOOTING = 60_000


def _database(folder: Path) -> str:
    return f"sqlite:///{folder}/optuna.db"


async def _seed(folder: Path) -> None:
    await run_seed("optuna_study.py", _database(folder), folder=folder)


def _command(folder: Path, port: int) -> Sequence[str]:
    return ("optuna-dashboard", _database(folder), "--host", "127.0.0.1", "--port", str(port))


APP = App(
    name="optuna-dashboard",
    distribution="optuna-dashboard",
    ready_at="/api/studies",
    seed=_seed,
    command=_command,
)


@charter(question="Does the front page list every study, with the direction of its search?")
async def lists_the_studies(page: Page, net: Network) -> None:
    await page.goto("/dashboard", timeout=BOOTING)
    studies = (await net.json("**/api/studies"))["study_summaries"]
    for study in studies:
        card = page.get_by_role("link", name=f"{study['study_id']}. {study['study_name']} ")
        direction = study["directions"][0].upper()
        await expect(card).to_be_visible(timeout=BOOTING)
        await expect(card).to_contain_text(f"Direction: {direction}")


@charter(question="Does the list of trials say which one was the best?")
async def marks_the_best_trial(page: Page, net: Network) -> None:
    await page.goto("/dashboard/studies/1/trials", timeout=BOOTING)
    await expect(page.get_by_text("3 Trials")).to_be_visible(timeout=15_000)
    best = page.get_by_role("button", name=re.compile("Best Trial"))
    await expect(best).to_have_text(["Trial 1CompleteBest Trial"])


@charter(question="Can a study be created?")
async def creates_a_study(page: Page, net: Network, load: Load) -> None:
    await page.goto("/dashboard", timeout=BOOTING)
    await page.get_by_role("button", name="Create").click(timeout=BOOTING)
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="Study name").fill(load.unique)
    await dialog.get_by_role("button", name="Create").click()
    await net.acknowledged("**/api/studies", method="POST")
    await expect(page.get_by_role("heading", name=load.unique)).to_be_visible()


TRIALS = (
    Trial(
        app=APP,
        charter=lists_the_studies,
        api="**/api/studies",
        method="GET",
        bug=Rewrite(
            pattern="**/static/bundle.js",
            change=lambda script: script.replace(b'"Direction: "', b'"Direction: not "'),
        ),
    ),
    Trial(
        app=APP,
        charter=marks_the_best_trial,
        api="**/api/studies/1",
        method="GET",
        bug=Rewrite(
            pattern="**/api/studies/1",
            change=lambda body: body.replace(b'"best_trials"', b'"best_trials": [], "renamed"'),
        ),
        heals=frozenset({"503", "reset"}),
    ),
    Trial(
        app=APP,
        charter=creates_a_study,
        api="**/api/studies",
        method="POST",
        bug=Rewrite(
            pattern="**/api/studies",
            method="POST",
            change=lambda body: re.sub(rb'"study_name": "[^"]*"', b'"study_name": "another"', body),
        ),
    ),
)
