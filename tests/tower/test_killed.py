"""Processes that are killed at any moment lose nothing acknowledged, and leave nothing hanging."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from threading import Thread

import pytest

from bughunt.tower import Tower, now_utc
from tests.tower.processes import started
from tests.tower.raw import opened
from tests.tower.test_at_once import INTAKE

WORKS = (
    INTAKE
    + """
from datetime import timedelta
from bughunt.tower import EvidenceKind, NewEvidence
from tests.tower.making import finished, passed

count = 0
while True:
    text = random.choice(["thanks", "? something", f"Is thing {count % 7} so?"])
    key = f"{number}-{count}"
    receipt = tower.receive(message(key, text))
    print("received", key, flush=True)
    charter = f"{number}/{count % 3}"
    question = tower.ask(NewQuestion(project="shop", charter=charter, question="So?", target="t"))
    owner = f"me-{number}"
    run = tower.reserve(RunRequest(question=question.id, agent="careful", rules_version=1, owner=owner))
    tower.start(run.id, owner)
    note = NewEvidence(kind=EvidenceKind.NOTE, data=b"so", media_type="text/plain")
    tower.add_evidence(run.id, owner, [note])
    finished(tower, run)
    print("done", run.id, flush=True)
    count += 1
"""
)


def _kill_one(url: str, number: int, moment: random.Random) -> list[str]:
    """What a process had acknowledged when it was killed, after some lines and some part of a millisecond."""
    process = started(WORKS, url, number)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    process.stdin.write("now\n")
    process.stdin.flush()
    lines = [process.stdout.readline().strip() for _ in range(moment.randint(1, 12))]
    for _ in range(moment.randint(0, 60_000)):  # somewhere on its way, not at a line
        pass
    process.send_signal(signal.SIGKILL)
    out, _ = process.communicate()
    return [*lines, *(line for line in out.splitlines() if line)]


@contextmanager
def _another_at_work(url: str) -> Iterator[list[str]]:
    """A process that works all the while, and is killed last; what it had acknowledged, afterwards."""
    lines: list[str] = []
    process = started(WORKS, url, 9999)
    assert process.stdin is not None
    assert process.stdout is not None
    reader = Thread(target=lambda: lines.extend(line.strip() for line in process.stdout or ()))
    process.stdin.write("now\n")
    process.stdin.flush()
    reader.start()
    try:
        yield lines
    finally:
        process.kill()
        reader.join()
        process.wait()
        process.stdin.close()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def _check_that_nothing_is_lost(url: str, acknowledged: list[str]) -> None:
    keys = {line.split()[1] for line in acknowledged if line.startswith("received ")}
    done = {int(line.split()[1]) for line in acknowledged if line.startswith("done ")}
    with opened(url) as raw:
        kept = [str(row[0]) for row in raw.rows("SELECT idempotency_key FROM receipt")]
        finished = {row[0] for row in raw.rows("SELECT id FROM run WHERE state = 'DONE'")}
    assert keys <= set(kept)
    assert len(kept) == len(set(kept))
    assert done <= finished
    with closing(Tower.open(url)) as tower:
        assert tower.audit().sound
        assert tower.verify_all().wrong == ()


def _check_that_all_is_settled_or_listed(url: str) -> None:
    later = now_utc() + timedelta(minutes=10)
    with closing(Tower.open(url, clock=lambda: later)) as tower:
        listed = {item.name for item in tower.reconcile()}
        assert tower.reconcile() == tower.waiting()
        audit = tower.audit()
        assert audit.sound
    with opened(url) as raw:
        open_receipts = raw.rows("SELECT id FROM receipt WHERE state NOT IN ('APPLIED', 'IGNORED')")
        open_runs = raw.rows("SELECT id FROM run WHERE state IN ('QUEUED', 'RUNNING', 'VERIFYING', 'STALE')")
    assert {f"R-{row[0]}" for row in open_receipts} | {f"RUN-{row[0]}" for row in open_runs} == listed


def _kill(url: str, times: int) -> None:
    moment = random.Random(times)
    with _another_at_work(url) as companion:
        acknowledged = [line for number in range(times) for line in _kill_one(url, number, moment)]
    acknowledged += companion
    _check_that_nothing_is_lost(url, acknowledged)
    _check_that_all_is_settled_or_listed(url)


def test_ten_processes_killed_at_any_moment(url: str) -> None:
    _kill(url, 10)


@pytest.mark.thorough
@pytest.mark.timeout(900)
def test_a_hundred_processes_killed_at_any_moment(url: str) -> None:
    _kill(url, 100)
