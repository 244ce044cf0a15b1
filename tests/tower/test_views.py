"""What reports are made of."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from bughunt.exceptions import EvidenceDamaged, NoSuchRecord
from bughunt.tower import EvidenceKind, NewEvidence, Tower
from bughunt.verdict.judgement import Reason
from bughunt.verdict.record import to_json
from tests.tower.making import (
    BEGAN,
    ME,
    PLAN,
    Clock,
    a_drill,
    a_load,
    a_question,
    begun,
    bug,
    finished,
    network,
)
from tests.tower.raw import opened


def _firing(position: int) -> NewEvidence:
    data = msgspec.json.encode({"fault": "its spec", "position": position})
    return NewEvidence(kind=EvidenceKind.FIRING, data=data, load=1)


def test_a_view_has_all_that_is_known(tower: Tower) -> None:
    view = tower.view(finished(tower, begun(tower), bug()).id)
    assert (view.q, view.name, view.drill) == ("Q-1", "RUN-1", False)
    assert view.judgement == bug()
    assert view.loads == (a_load(1), a_load(2))
    assert [item.ending for item in view.evidence if item.kind == EvidenceKind.LOAD] == ["mismatch"] * 2


def test_a_run_that_was_not_judged_has_no_judgement(tower: Tower) -> None:
    run = begun(tower)
    assert tower.view(run.id).judgement is None
    tower.fail(run.id, ME, Reason.HARNESS_ERROR, "no browser")
    assert tower.view(run.id).judgement is None


def test_planned_faults_that_never_fired(tower: Tower) -> None:
    run = begun(tower, a_drill())
    tower.add_evidence(run.id, ME, [_firing(0), _firing(0)])
    assert tower.view(run.id).unfired == ()
    view = tower.view(finished(tower, run).id)
    assert view.drill
    assert view.unfired == (PLAN[1],)


class TestChoosing:
    def test_by_number_question_and_time(self, tower: Tower, clock: Clock) -> None:
        first = finished(tower, begun(tower))
        clock.passes(60)
        second = finished(tower, begun(tower))
        other = begun(tower, a_question("other.py::it"))

        def found(**which: object) -> list[int]:
            return [view.run.id for view in tower.views(**which)]  # type: ignore[arg-type]  # by name

        assert found() == [first.id, second.id, other.id]
        assert found(run_ids=[other.id, first.id]) == [first.id, other.id]
        assert found(question=first.question) == [first.id, second.id]
        assert found(latest=True) == [second.id, other.id]
        assert found(since=BEGAN + timedelta(seconds=1)) == [second.id, other.id]
        assert found(question=first.question, run_ids=[other.id]) == []
        assert found(run_ids=[]) == []

    def test_an_unknown_question(self, tower: Tower) -> None:
        with pytest.raises(NoSuchRecord, match=r"no Q-9\b"):
            tower.views(question=9)

    def test_many_runs_cost_few_queries(self, tower: Tower) -> None:
        for number in range(12):
            finished(tower, begun(tower, a_question(f"c{number}.py::it")))
        statements: list[str] = []

        def count(_c: object, _cursor: object, statement: str, *_rest: object) -> None:
            statements.append(statement)

        event.listen(Engine, "before_cursor_execute", count)
        try:
            assert len(tower.views()) == 12
        finally:
            event.remove(Engine, "before_cursor_execute", count)
        assert len([statement for statement in statements if statement.startswith("SELECT")]) == 5


class TestTrust:
    def test_a_row_that_was_changed_past_the_guards(self, tower: Tower, url: str) -> None:
        run = begun(tower)
        tower.add_evidence(run.id, ME, [network()])
        (item,) = tower.view(run.id).evidence
        with opened(url) as raw:
            raw.without_guard("evidence", "evidence_update")
            raw.execute("UPDATE evidence SET body = :body", {"body": b"X" * item.size})
        with pytest.raises(EvidenceDamaged, match="evidence 1 of RUN-1 was changed"):
            tower.evidence_bytes(item)
        with pytest.raises(EvidenceDamaged):
            tower.view(run.id)

    @pytest.mark.parametrize("kind", ["load", "judgement", "network"])
    def test_a_row_by_hand_that_proves_something_it_does_not_hold(
        self, tower: Tower, url: str, kind: str
    ) -> None:
        run = begun(tower)
        with opened(url) as raw:
            raw.evidence(run.id, 9, kind, load=1, **({"ending": "held"} if kind == "load" else {}))
        with pytest.raises(EvidenceDamaged, match="evidence 9 of RUN-1 was changed"):
            tower.view(run.id)

    def test_a_record_whose_blob_never_was(self, tower: Tower, url: str) -> None:
        run = begun(tower)
        with opened(url) as raw:
            raw.evidence(run.id, 9, "network", load=1, body=None)
        with pytest.raises(EvidenceDamaged, match="is missing"):
            tower.view(run.id)

    def test_what_retention_took(self, tower: Tower, url: str) -> None:
        done = finished(tower, begun(tower))
        record = tower.view(done.id).evidence[0]
        with opened(url) as raw:
            raw.tombstone(record.id, digest=record.digest, size=record.size)
        view = tower.view(done.id)
        assert view.evidence[0].tombstone == "older than 90 days (2026-03-01)"
        assert view.loads == ()
        with pytest.raises(NoSuchRecord, match="was removed: older than 90 days"):
            tower.evidence_bytes(view.evidence[0])

    def test_evidence_of_another_tower(self, tower: Tower) -> None:
        run = begun(tower)
        tower.add_evidence(run.id, ME, [network()])
        (item,) = tower.view(run.id).evidence
        with pytest.raises(NoSuchRecord, match="no evidence 1 of RUN-1 like that"):
            tower.evidence_bytes(msgspec.structs.replace(item, digest="0" * 64))

    def test_a_record_that_cannot_be_read_is_named(self, tower: Tower) -> None:
        run = begun(tower)
        broken = NewEvidence(kind=EvidenceKind.NETWORK, data=b'{"number": 1}', load=1)
        tower.add_evidence(
            run.id, ME, [broken, NewEvidence(kind=EvidenceKind.NETWORK, data=to_json(a_load(2)), load=2)]
        )
        view = tower.view(run.id)
        assert [load.number for load in view.loads] == [2]
        assert view.notes[0].startswith("The record of load 1 cannot be read")

    @pytest.mark.parametrize("content", [b'{"number": 1', b'"\xff"', b""])
    def test_a_record_that_is_no_json_is_named_too(self, tower: Tower, content: bytes) -> None:
        """As is what a charter said of a known bug, of which then nothing is known."""
        run = begun(tower)
        kinds = ((EvidenceKind.NETWORK, 1), (EvidenceKind.CONDITIONS, None))
        items = [NewEvidence(kind=kind, data=content, load=load) for kind, load in kinds]
        tower.add_evidence(run.id, ME, items)
        view = tower.view(run.id)
        assert (view.loads, view.known_bug) == ((), None)
        assert [note.partition(":")[0] for note in view.notes] == ["The record of load 1 cannot be read"]
