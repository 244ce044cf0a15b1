"""Many processes at one tower at once: the same messages, the same question, and lost servers."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from bughunt.exceptions import TransactionLost
from bughunt.tower import Tower
from bughunt.tower.intake import Decision
from tests import postgres as server
from tests.tower.making import a_message, a_question
from tests.tower.processes import started
from tests.tower.raw import opened

PROCESSES = 8
MESSAGES = 200

INTAKE = """
import random, sys
from datetime import datetime, timezone
from bughunt.tower import Decision, Message, NewQuestion, Relation, RunRequest, Tower

def intake(message, questions):
    # What asks the same as a question belongs to it; what begins with `thanks` is filler; `?` cannot be told.
    if message.text.startswith("thanks"):
        return Decision(relation=Relation.IGNORE, reason="filler")
    if message.text.startswith("?"):
        return Decision(relation=None, reason="cannot be told")
    same = [question.id for question in questions if question.text == message.text]
    if same:
        return Decision(relation=Relation.LINK_EXISTING_Q, links=(same[0],), reason="the same")
    return Decision(relation=Relation.NEW_Q, target="staging", reason="new")

def message(key, text):
    return Message(project="shop", source="chat", key=key, text=text, occurred_at=datetime.now(timezone.utc))

url, number = sys.argv[1], int(sys.argv[2])
tower = Tower.open(url, intake=intake)
print("ready", flush=True)
sys.stdin.readline()
"""

DELIVERS = (
    INTAKE
    + """
keys = list(range(int(sys.argv[3])))
random.Random(number).shuffle(keys)
for key in keys:
    # Four messages ask each thing: the first of them, whichever that is, makes the question.
    text = f"thanks {key}" if key % 10 == 0 else f"Is thing {key % 50} so?"
    tower.receive(message(f"k-{key}", text))
print("delivered", flush=True)
"""
)


def _all_at_once(code: str, url: str, *arguments: object) -> list[str]:
    """What the processes print that run this code, all let go at the same moment."""
    processes = [started(code, url, number, *arguments) for number in range(PROCESSES)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("now\n")
        process.stdin.flush()
    return [_ended(process) for process in processes]


def _ended(process: subprocess.Popen[str]) -> str:
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return out.strip()


def test_the_same_messages_from_many_processes_are_received_and_settled_once(url: str) -> None:
    assert _all_at_once(DELIVERS, url, MESSAGES) == ["delivered"] * PROCESSES
    with closing(Tower.open(url)) as tower:
        found = tower.audit()
        assert found.sound
        assert found.totals["receipts"] == MESSAGES
        assert found.receipt_states == {"APPLIED": MESSAGES * 9 // 10, "IGNORED": MESSAGES // 10}
        assert found.totals["questions"] == len({key % 50 for key in range(MESSAGES) if key % 10})
        assert tower.verify_all().wrong == ()
    with opened(url) as raw:
        settled = (
            "SELECT receipt_id, count(*) FROM event WHERE to_state IN ('APPLIED', 'IGNORED')"
            " GROUP BY receipt_id"
        )
        assert {count for _, count in raw.rows(settled)} == {1}


RESERVES = (
    INTAKE
    + """
question = tower.ask(NewQuestion(project="shop", charter="cart.py::total", question="Is it so?", target="t"))
run = tower.reserve(RunRequest(question=question.id, agent="careful", rules_version=1, owner=f"me-{number}"))
print(run.id)
"""
)


def test_many_processes_that_reserve_for_one_question_get_one_run(url: str) -> None:
    assert _all_at_once(RESERVES, url) == ["1"] * PROCESSES
    with closing(Tower.open(url)) as tower:
        assert tower.audit().totals["runs"] == 1


def test_a_server_that_starts_anew_under_load_loses_nothing(tmp_path: Path) -> None:
    """Whoever was in the middle of a transaction hears of it once, and does the same again."""
    server.start(tmp_path)
    try:
        url = server.server_in(tmp_path).named("postgres")
        with closing(Tower.open(url, intake=lambda message, questions: Decision(relation=None))) as tower:
            errors = _load_while_it_restarts(tower, tmp_path)
            assert max(errors) <= 1
            found = tower.audit()
            assert found.totals["receipts"] == len(errors) * DELIVERED
            assert found.sound
            assert tower.verify_all().wrong == ()
    finally:
        server.stop(tmp_path)


DELIVERED = 60


def _load_while_it_restarts(tower: Tower, folder: Path) -> list[int]:
    """How many errors each of the callers got."""
    asked = tower.ask(a_question())

    def deliver(worker: int) -> int:
        errors = 0
        for number in range(DELIVERED):
            if worker == 0 and number == DELIVERED // 2:
                server.restart(folder)
            message = a_message(f"{asked.id}?", key=f"{worker}-{number}")
            try:
                tower.record(message)
            except TransactionLost:
                errors += 1
                tower.record(message)
        return errors

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(deliver, range(4)))
