"""The audit counts what is there, and sees each kind of damage that a guard should have kept out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import structs

from bughunt.tower import Decision, Relation, Tower
from tests.tower.making import ME, Clock, a_message, a_question, begun, bug, env_error, finished
from tests.tower.raw import Raw, opened


@pytest.fixture
def busy(tower: Tower, clock: Clock) -> Tower:
    """A tower in which something of each kind has happened."""
    finished(tower, begun(tower))
    finished(tower, begun(tower, a_question("b.py::b")), bug())
    finished(tower, begun(tower, a_question("c.py::c")), env_error(), landed_at=None, landing_note=None)
    run = begun(tower, a_question("d.py::d"))
    tower.cancel(run.id, ME, "interrupted")
    tower.ask(a_question("e.py::e"))
    tower.receive(a_message("thanks!", key="k-1"))
    tower.receive(a_message("any news?", key="k-2"))
    tower.resolve(tower.receive(a_message("this one", key="k-3")).id, "anna", link(1))
    clock.passes(90)
    return tower


def link(question: int) -> Decision:
    return Decision(relation=Relation.LINK_EXISTING_Q, links=(question,))


def test_what_there_is(busy: Tower) -> None:
    found = busy.audit()
    assert found.totals["runs"] == 4
    assert found.run_states == {"DONE": 2, "FAILED": 1, "CANCELLED": 1}
    assert found.done_by_level == {"PASS E4": 1, "BUG E5": 1}
    assert found.receipt_states == {"IGNORED": 1, "PENDING_CONTEXT": 1, "APPLIED": 1}
    assert (found.unsettled, found.idle_questions, found.waiting_for_person) == (1, 1, 1)
    assert [item.name for item in found.waiting] == ["R-2"]
    assert found.settled_after_retries == 1
    assert found.done_by_gate == {"2": 2}
    assert found.sound


def test_the_five_ratios(busy: Tower) -> None:
    metrics = busy.audit().metrics
    assert (metrics.m1_duplicates, metrics.m2_orphans, metrics.m5_false_finality) == (0, 0, 0)
    assert metrics.m3_unsettled == pytest.approx(1 / 3)
    assert metrics.m4_recovery == 1


def test_an_empty_tower(tower: Tower) -> None:
    found = tower.audit()
    assert found.sound
    assert set(structs.astuple(found.metrics)) == {None}


def _without(raw: Raw, table: str, *triggers: str) -> None:
    for trigger in triggers:
        raw.without_guard(table, f"{table}_{trigger}")
    raw.without_constraints()


def _terminal_without_time(raw: Raw) -> None:
    _without(raw, "run", "update")
    raw.execute("UPDATE run SET terminal_at = NULL WHERE id = 1")


def _false_done(raw: Raw) -> None:
    _without(raw, "evidence", "delete")
    raw.execute("DELETE FROM evidence WHERE run_id = 1 AND kind = 'load'")


def _run_without_question(raw: Raw) -> None:
    _without(raw, "run", "update")
    raw.execute("UPDATE run SET question_id = 99 WHERE id = 4")


def _evidence_without_run(raw: Raw) -> None:
    _without(raw, "evidence", "update")
    raw.execute("UPDATE evidence SET run_id = 99 WHERE run_id = 4")


def _relation_without_question(raw: Raw) -> None:
    _without(raw, "relation", "update")
    raw.execute("UPDATE relation SET question_id = 99")


def _applied_without_relation(raw: Raw) -> None:
    _without(raw, "relation", "delete")
    raw.execute("DELETE FROM relation")


def _answered_by_nobody(raw: Raw) -> None:
    _without(raw, "question", "update", "updated")
    raw.execute("UPDATE question SET state = 'ANSWERED' WHERE id = 5")


DAMAGES: dict[str, tuple[Callable[[Raw], None], Callable[..., int]]] = {
    "terminal without time": (_terminal_without_time, lambda found: found.terminal_without_time),
    "false finality": (_false_done, lambda found: found.false_finality),
    "run without question": (_run_without_question, lambda found: found.orphans["run_without_question"]),
    "evidence without run": (_evidence_without_run, lambda found: found.orphans["evidence_without_run"]),
    "relation": (_relation_without_question, lambda found: found.orphans["relation_without_question"]),
    "applied": (_applied_without_relation, lambda found: found.orphans["applied_without_question"]),
    "answered": (_answered_by_nobody, lambda found: found.orphans["answered_without_done_run"]),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_counted(busy: Tower, url: str, kind: str) -> None:
    damage, counted = DAMAGES[kind]
    with opened(url) as raw:
        damage(raw)
    found = busy.audit()
    assert counted(found) == 1
    assert not found.sound


def test_duplicate_keys_are_counted(busy: Tower, url: str) -> None:
    with opened(url) as raw:
        raw.without_guard("receipt", "receipt_insert")
        raw.without_unique("receipt", "RECEIPT_KEY_IS_UNIQUE")
        raw.receipt("k-1")
    found = busy.audit()
    assert found.duplicates == {"receipt": 1, "question": 0, "run": 0}
    assert found.metrics.m1_duplicates is not None
    assert found.metrics.m1_duplicates > 0


def test_what_an_older_gate_let_through_is_debt_and_no_new_false_finality(busy: Tower, url: str) -> None:
    with opened(url) as raw:
        _without(raw, "run", "update")
        raw.execute("UPDATE run SET gate_version = 1 WHERE id IN (1, 2)")
        _false_done(raw)
    found = busy.audit()
    assert (found.legacy_debt, found.false_finality) == ({"1": 1}, 0)
    assert found.done_by_gate == {"1": 2}
    assert found.sound


class TestVerifying:
    def test_all_is_as_it_was_written(self, busy: Tower) -> None:
        rows: list[int] = []
        found = busy.verify_all(rows.append)
        assert found.wrong == ()
        assert (found.receipts, found.replayed) == (3, 5 + 4 + 3)
        assert found.evidence == len([item for view in busy.views() for item in view.evidence])
        assert sum(rows) == found.evidence + found.receipts + found.replayed

    @pytest.mark.parametrize(
        ("table", "trigger", "damage", "what"),
        [
            (
                "evidence",
                "update",
                "UPDATE evidence SET body = :x, size = 3 WHERE run_id = 1 AND seq = 1",
                "evidence 1 of RUN-1",
            ),
            ("receipt", "update", "UPDATE receipt SET text = 'another' WHERE id = 2", "R-2"),
            ("receipt", "update", "UPDATE receipt SET state = 'RECEIVED' WHERE id = 2", "R-2"),
            ("run", "update", "UPDATE run SET state = 'DONE' WHERE id = 4", "RUN-4"),
            ("question", "update", "UPDATE question SET state = 'CLOSED' WHERE id = 1", "Q-1"),
            ("event", "delete", "DELETE FROM event WHERE kind = 'run' AND run_id = 1 AND seq = 2", "RUN-1"),
            (
                "event",
                "update",
                "UPDATE event SET to_state = 'STALE' WHERE kind = 'run' AND run_id = 1 AND seq = 2",
                "RUN-1",
            ),
        ],
        ids=["evidence", "text", "receipt", "run", "question", "lost event", "changed event"],
    )
    def test_says_which_row_is_wrong(
        self, busy: Tower, url: str, table: str, trigger: str, damage: str, what: str
    ) -> None:
        with opened(url) as raw:
            raw.without_guard(table, f"{table}_{trigger}")
            raw.without_guard(table, f"{table}_updated", missing_ok=True)
            raw.execute(damage, {"x": b"abc"} if ":x" in damage else None)
        assert [wrong.what for wrong in busy.verify_all().wrong] == [what]

    def test_what_retention_took_is_not_wrong(self, busy: Tower, url: str) -> None:
        [item, *_] = busy.view(1).evidence
        with opened(url) as raw:
            raw.tombstone(item.id, digest=item.digest, size=item.size)
        found = busy.verify_all()
        assert (found.removed, found.wrong) == (1, ())
