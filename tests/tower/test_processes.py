"""Several processes on one file, and processes that die in the middle."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bughunt.tower import EvidenceKind, Tower
from bughunt.verdict.judgement import Reason, State
from tests.tower.making import Clock, a_question, begun
from tests.tower.processes import output, started


@pytest.fixture
def url(place: Path) -> str:
    """Of a file: here it is about files."""
    return f"sqlite:///{place}"


OPENS = """
import sys
from bughunt.tower import NewQuestion, Tower
sys.stdin.readline()
tower = Tower.open(f"sqlite:///{sys.argv[1]}")
print(tower.ask(NewQuestion(project="p", charter="c", question="?", target="t")).id)
"""


def test_processes_that_open_a_fresh_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "fresh" / "tower.db"
    processes = [started(OPENS, path) for _ in range(2)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("now\n")
        process.stdin.flush()
    results = [process.communicate(timeout=60) for process in processes]
    assert [result[0].strip() for result in results] == ["1"] * 2, results


SWEEPS = """
import sys
from datetime import datetime
from bughunt.tower import Tower
tower = Tower.open(f"sqlite:///{sys.argv[1]}", clock=lambda: datetime.fromisoformat("2030-01-01T00:00:00Z"))
sys.stdin.readline()
print(len(tower.sweep()))
"""


def test_processes_that_sweep_at_once(place: Path, tower: Tower) -> None:
    runs = [begun(tower, a_question(f"c{number}.py::it")) for number in range(10)]
    processes = [started(SWEEPS, place) for _ in range(2)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("now\n")
        process.stdin.flush()
    swept = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert sum(swept) == len(runs)
    assert all(len(view.notes) == 2 for view in tower.views())


# Says how much evidence is committed, and goes on until it is killed.
WRITES = """
import sys
sys.path.insert(0, sys.argv[2])
from tests.tower.making import *
from bughunt.tower import EvidenceKind, NewEvidence, Tower
tower = Tower.open(f"sqlite:///{sys.argv[1]}")
run = begun(tower, owner="doomed")
load = 0
while True:
    load += 1
    data = bytes([load % 256]) * 300_000
    big = NewEvidence(kind=EvidenceKind.SCREENSHOT, data=data, media_type="image/png")
    tower.add_evidence(run.id, "doomed", [network(load), big])
    print(load, flush=True)
"""


@pytest.mark.parametrize("after", [1, 4])
def test_what_a_killed_process_had_written_is_there(place: Path, after: int) -> None:
    process = started(WRITES, place, Path(__file__).parents[2])
    assert process.stdout is not None
    for _ in range(after):
        acknowledged = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    rest = process.communicate(timeout=60)[0].split()
    acknowledged = max([acknowledged, *(int(line) for line in rest[:-1])])

    with closing(Tower.open(f"sqlite:///{place}")) as tower:
        view = tower.view(1)
        assert view.run.state is State.RUNNING
        assert len(view.loads) >= acknowledged
        pictures = [item for item in view.evidence if item.kind == EvidenceKind.SCREENSHOT]
        assert len(pictures) == len(view.loads)
        assert all(len(tower.evidence_bytes(item)) == 300_000 for item in pictures)


def test_a_later_start_closes_what_a_killed_process_left(place: Path, clock: Clock) -> None:
    process = started(WRITES, place, Path(__file__).parents[2])
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    with closing(Tower.open(f"sqlite:///{place}")) as tower:
        assert tower.sweep() == []
        clock.now = tower.run(1).lease_until
    with closing(Tower.open(f"sqlite:///{place}", clock=clock)) as tower:
        (closed,) = tower.sweep()
        assert (closed.state, closed.reason) == (State.FAILED, Reason.HARNESS_ERROR)
        assert "lease of doomed ran out" in tower.view(1).notes[0]
        assert tower.view(1).loads
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


# A limit on the size of a file fails as a full disk does: in the middle of writing.
FULL_DISK = """
import resource, signal, sys
sys.path.insert(0, sys.argv[2])
from tests.tower.making import *
from bughunt.exceptions import EvidenceNotWritten
from bughunt.tower import EvidenceKind, NewEvidence, Tower
tower = Tower.open(f"sqlite:///{sys.argv[1]}")
run = begun(tower)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
def big(load):
    media_type = {"blob": "image/png", "row": "text/plain"}[sys.argv[4]]
    return NewEvidence(kind=EvidenceKind.ARIA, data=bytes([64 + load]) * 30_000, media_type=media_type)
try:
    for load in range(1, 100):
        tower.add_evidence(run.id, ME, [network(load), big(load)])
except EvidenceNotWritten as error:
    print(load, error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
view = tower.view(run.id)
print(view.run.state, len(view.loads), sum(len(tower.evidence_bytes(item)) for item in view.evidence) > 0)
print(tower.fail(run.id, ME, Reason.HARNESS_ERROR, "the disk was full").state)
"""


@pytest.mark.parametrize(("where", "limit"), [("blob", 20_000), ("row", 600_000)])
def test_a_full_disk(place: Path, where: str, limit: int) -> None:
    said, state, end = output(FULL_DISK, place, Path(__file__).parents[2], limit, where).splitlines()
    failed_at, error = said.split(" ", 1)
    assert "disk" in error
    assert state == f"RUNNING {int(failed_at) - 1} {failed_at != '1'}"
    assert end == "FAILED"
    assert not list(place.with_suffix(".blobs").rglob(".draft-*"))
