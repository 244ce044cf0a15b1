"""Processes that are killed, interrupted, or out of disk: nothing recorded is lost, nothing is claimed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from bughunt.tower import Evidence, EvidenceKind, InvestigationView, Tower
from target_apps.server import AppServer, Request, Response, as_json, html
from tests.cli.conftest import ROOT, Shell

CHARTER = """
from bughunt import charter

@charter(question="Does it ever answer?")
async def waits(page, net):
    await page.goto("/")
    await net.json("**/api/never", timeout=50)
"""

PAGE = "<title>Waiting</title><script>fetch('/api/well').then(() => fetch('/api/never'))</script>"


class WaitingApp:
    """An app of which one answer never comes; says when it was asked for."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self._over = threading.Event()
        self.server = AppServer(
            {
                ("GET", "/"): lambda request: html(PAGE),
                ("GET", "/api/well"): lambda request: as_json({}),
                ("GET", "/api/never"): self._never,
            }
        )

    def _never(self, request: Request) -> Response:
        self.asked.release()
        self._over.wait(60)
        return as_json({})

    def leave(self) -> None:
        self._over.set()


@pytest.fixture
def app() -> Iterator[WaitingApp]:
    waiting = WaitingApp()
    with waiting.server:
        yield waiting
        waiting.leave()


@pytest.fixture
def waiting_shell(shell: Shell) -> Shell:
    (shell.folder / "waiting.py").write_text(CHARTER)
    return shell


def _started(shell: Shell, app: WaitingApp, *options: str) -> subprocess.Popen[str]:
    """A run that is in the middle of its first load."""
    process = shell.start("run", "waiting.py", "--base-url", app.server.url, *options)
    assert app.asked.acquire(timeout=60)
    return process


def _views(shell: Shell) -> list[InvestigationView]:
    with closing(Tower.open(f"sqlite:///{shell.folder}/.bughunt/tower.db")) as tower:
        return tower.views()


def _evidence(shell: Shell, evidence: Evidence) -> bytes:
    with closing(Tower.open(f"sqlite:///{shell.folder}/.bughunt/tower.db")) as tower:
        return tower.evidence_bytes(evidence)


def _wait_for_exchange(shell: Shell, path: str) -> None:
    """Until another process has committed it; that process tells nobody, so the file is looked at."""
    found = "SELECT 1 FROM evidence WHERE kind = 'exchanges' AND CAST(body AS TEXT) LIKE ?"
    for _ in range(600):
        with closing(_database(shell)) as database:
            if database.execute(found, (f"%{path}%",)).fetchone():
                return
        time.sleep(0.05)
    raise AssertionError(f"{path} was not written within 30 s")


def _database(shell: Shell) -> sqlite3.Connection:
    return sqlite3.connect(shell.folder / ".bughunt" / "tower.db")


def _let_its_lease_run_out(shell: Shell, run: int) -> None:
    with closing(_database(shell)) as database, database:
        database.execute("UPDATE run SET lease_until = created_at WHERE id = ?", (run,))


def test_a_killed_process_leaves_what_it_had_and_claims_nothing(
    waiting_shell: Shell, app: WaitingApp, cart: str
) -> None:
    process = _started(waiting_shell, app, "--fault", "delay=10ms@**/api/well")
    _wait_for_exchange(waiting_shell, "/api/well")
    process.kill()
    process.communicate()
    (left,) = _views(waiting_shell)
    assert (left.run.state, left.run.verdict) == ("RUNNING", None)
    written = [_evidence(waiting_shell, e) for e in left.evidence if e.kind is EvidenceKind.EXCHANGES]
    assert any(b"/api/well" in exchanges for exchanges in written)
    assert EvidenceKind.FIRING in {e.kind for e in left.evidence}

    _let_its_lease_run_out(waiting_shell, left.run.id)
    later = waiting_shell("run", "charters.py::right", "--base-url", cart)
    assert later.code == 0, later.err
    assert "RUN-1 of Q-1 was left open by a process that is gone: closed as FAILED" in later.err
    (closed, _) = _views(waiting_shell)
    assert (closed.run.state, closed.run.reason, closed.run.verdict) == ("FAILED", "HARNESS_ERROR", None)
    assert set(left.evidence) <= set(closed.evidence)


def test_a_killed_process_is_superseded_when_its_question_is_asked_again(
    waiting_shell: Shell, app: WaitingApp
) -> None:
    process = _started(waiting_shell, app)
    process.kill()
    process.communicate()
    _let_its_lease_run_out(waiting_shell, 1)
    again = _started(waiting_shell, app)
    first, second = _views(waiting_shell)
    again.send_signal(signal.SIGINT)
    again.communicate(timeout=60)
    assert (first.run.state, first.run.superseded_by) == ("SUPERSEDED", second.run.id)
    assert first.question.id == second.question.id


def test_a_live_run_of_another_process_is_left_alone(
    waiting_shell: Shell, app: WaitingApp, cart: str
) -> None:
    process = _started(waiting_shell, app)
    later = waiting_shell("run", "charters.py::right", "--base-url", cart)
    live = _views(waiting_shell)[0]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert (later.code, live.run.state) == (0, "RUNNING")
    assert "left open" not in later.err


def test_an_interrupted_run_is_cancelled(waiting_shell: Shell, app: WaitingApp) -> None:
    process = _started(waiting_shell, app)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (130, False)
    (left,) = _views(waiting_shell)
    assert (left.run.state, left.run.verdict) == ("CANCELLED", None)


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from bughunt.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
main()
"""


@pytest.mark.parametrize("room", [0, 40_000], ids=["no room at all", "no room for evidence"])
def test_a_full_disk_gives_no_verdict(shell: Shell, cart: str, room: int) -> None:
    """The kernel refuses to let any file grow: what cannot be recorded is not said."""
    assert shell("doctor").code == 0  # the database is there; it cannot grow any more
    grown = (shell.folder / ".bughunt" / "tower.db").stat().st_size
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            LIMITED,
            str(grown + room),
            "run",
            "charters.py",
            "--base-url",
            cart,
            "--json",
        ],
        cwd=shell.folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 4, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert all(view.run.state != "DONE" for view in _views(shell))
