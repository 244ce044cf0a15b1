"""Making sure that there is a browser: which installers, in which order, and what is said at the end."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable

import pytest

from bughunt.browser import provision
from bughunt.exceptions import BrowserMissing


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[list[str]]]:
    """A machine on which a browser starts after so many commands; gives the commands that were run."""

    def made(
        *, root: bool, apt: bool, ready_after: int | None, failing: str = "no such command"
    ) -> list[list[str]]:
        ran: list[list[str]] = []

        def run(command: list[str]) -> bool:
            ran.append(command)
            return failing not in " ".join(command)

        async def version() -> str:
            if ready_after is None or len(ran) < ready_after:
                raise BrowserMissing("no browser here")
            return "1.2"

        monkeypatch.delenv("BUGHUNT_BROWSER", raising=False)
        monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
        monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}" if apt else None)
        monkeypatch.setattr(provision, "_run", run)
        monkeypatch.setattr(provision, "_version", version)
        return ran

    return made


Machine = Callable[..., list[list[str]]]


def test_where_a_browser_starts_nothing_is_installed(machine: Machine) -> None:
    ran = machine(root=True, apt=True, ready_after=0)
    assert (provision.main(), ran) == (0, [])


def test_playwrights_download_is_tried_first(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    ran = machine(root=False, apt=True, ready_after=1)
    assert provision.main() == 0
    assert [command[1:4] for command in ran] == [["-m", "playwright", "install"]]
    assert "Chromium 1.2 is ready." in capsys.readouterr().err


def test_root_on_debian_gets_the_package_where_the_download_fails(machine: Machine) -> None:
    ran = machine(root=True, apt=True, ready_after=3, failing="playwright")
    assert provision.main() == 0
    assert [command[0:2] for command in ran[1:]] == [["apt-get", "update"], ["apt-get", "install"]]
    assert ran[-1][-1] == "chromium-headless-shell"


@pytest.mark.parametrize(("root", "apt"), [(False, True), (True, False)])
def test_nobody_else_is_given_a_package(machine: Machine, root: bool, apt: bool) -> None:
    ran = machine(root=root, apt=apt, ready_after=None)
    assert provision.main() == 4
    assert all(command[0] != "apt-get" for command in ran)


def test_where_nothing_helps_the_command_to_type_is_said(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine(root=True, apt=True, ready_after=None)
    assert provision.main() == 4
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "sudo apt-get install chromium-headless-shell" in said[0]


def test_a_browser_that_the_environment_names_is_not_replaced(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = machine(root=True, apt=True, ready_after=None)
    monkeypatch.setenv("BUGHUNT_BROWSER", "/nowhere/chromium")
    assert (provision.main(), ran) == (4, [])
    assert capsys.readouterr().err.splitlines() == ["no browser here"]


@pytest.mark.parametrize("gone", [OSError("no such file"), subprocess.TimeoutExpired("apt-get", 600)])
def test_an_installer_that_cannot_run_is_one_that_failed(
    monkeypatch: pytest.MonkeyPatch, gone: Exception
) -> None:
    def run(*args: object, **kwargs: object) -> None:
        raise gone

    monkeypatch.setattr(subprocess, "run", run)
    assert provision._run(["apt-get", "update"]) is False
