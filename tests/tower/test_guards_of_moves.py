"""Raw SQL cannot change a state without saying who, when and why, nor write history."""

from __future__ import annotations

import pytest

from tests.tower.raw import LATER, Raw

REPLACE = "INSERT OR REPLACE"


class TestMoves:
    """A change of state says who made it, when and why; the database makes an event of it."""

    @pytest.mark.parametrize("table", ["question", "run", "receipt"])
    @pytest.mark.parametrize(
        "wrong",
        [
            {"moves": 0},
            {"moves": 2},
            {"moved_at": None},
            {"moved_at": "now"},
            {"moved_by": " "},
            {"moved_why": None},
        ],
        ids=str,
    )
    def test_a_new_row_says_who_made_it(self, raw: Raw, table: str, wrong: dict[str, object]) -> None:
        question = raw.question("another")
        with raw.refuses("MOVE_UNATTRIBUTED"):
            {
                "question": lambda: raw.question(**wrong),
                "run": lambda: raw.run(question, **wrong),
                "receipt": lambda: raw.receipt(**wrong),
            }[table]()

    @pytest.mark.parametrize("table", ["question", "run", "receipt"])
    @pytest.mark.parametrize(
        "wrong",
        [
            {"moves": 1},
            {"moves": 3},
            {"moved_at": None},
            {"moved_at": "now"},
            {"moved_by": ""},
            {"moved_why": " "},
        ],
        ids=str,
    )
    def test_a_change_says_who_made_it(self, raw: Raw, table: str, wrong: dict[str, object]) -> None:
        row, to = _movable(raw, table)
        with raw.refuses("MOVE_UNATTRIBUTED"):
            raw.update(table, row, {**to, **wrong})

    @pytest.mark.parametrize("table", ["question", "run", "receipt"])
    @pytest.mark.parametrize(
        "wrong",
        [{"moves": 2}, {"moved_at": LATER}, {"moved_by": "another"}, {"moved_why": "another"}],
        ids=str,
    )
    def test_what_was_said_of_it_stays(self, raw: Raw, table: str, wrong: dict[str, object]) -> None:
        row, _ = _movable(raw, table)
        with raw.refuses("MOVE_UNATTRIBUTED"):
            raw.update(table, row, wrong)

    @pytest.mark.parametrize("table", ["question", "run", "receipt"])
    def test_each_change_is_an_event(self, raw: Raw, table: str) -> None:
        row, to = _movable(raw, table)
        raw.update(table, row, {**to, "moved_by": "anna", "moved_why": "she said so"})
        told = raw.rows(
            f"SELECT seq, from_state, to_state, who, why FROM event WHERE kind = '{table}'"
            f" AND {table}_id = :row ORDER BY seq",
            {"row": row},
        )
        [(first,)] = raw.rows(f"SELECT from_state FROM event WHERE kind = '{table}' AND seq = 2")
        assert told == [(1, None, first, "me", "because"), (2, first, to["state"], "anna", "she said so")]


def _movable(raw: Raw, table: str) -> tuple[int, dict[str, object]]:
    """A row in its first state, and what brings it into another."""
    if table == "question":
        return raw.question(), {"state": "CLOSED"}
    if table == "run":
        return raw.run(raw.question()), {"state": "RUNNING"}
    return raw.receipt(), {"state": "PENDING_CONTEXT"}


class TestEvents:
    """What happened, as it happened."""

    @pytest.mark.parametrize("kind", ["heartbeat", "log", "page"])
    @pytest.mark.parametrize("state", ["RUNNING", "DONE"])
    def test_an_activity_changes_nothing(self, raw: Raw, kind: str, state: str) -> None:
        run = raw.run_in(state)
        raw.event(kind=kind, run_id=run)
        assert raw.rows("SELECT state FROM run WHERE id = :run", {"run": run}) == [(state,)]

    @pytest.mark.parametrize("to", ["RUNNING", "QUEUED", "DONE"])
    def test_a_change_of_state_cannot_be_written_by_hand(self, raw: Raw, to: str) -> None:
        question = raw.question()
        run = raw.run_in("RUNNING", question)
        for seq in (2, 3):
            for before in (None, "QUEUED", "RUNNING"):
                with raw.refuses("EVENT_IS_FORGED"):
                    raw.event(
                        kind="run", run_id=run, question_id=question, seq=seq, from_state=before, to_state=to
                    )

    @pytest.mark.parametrize("kind", ["question", "receipt"])
    def test_nor_of_a_question_or_a_message(self, raw: Raw, kind: str) -> None:
        row, _ = _movable(raw, kind)
        with raw.refuses("EVENT_IS_FORGED"):
            raw.event(kind=kind, **{f"{kind}_id": row}, seq=2, from_state="OPEN", to_state="CLOSED")

    @pytest.mark.parametrize("wrong", [{"seq": 1}, {"to_state": "DONE"}], ids=str)
    def test_an_activity_says_nothing_of_a_state(self, raw: Raw, wrong: dict[str, object]) -> None:
        run = raw.run_in("RUNNING")
        with raw.refuses("EVENT_IS_FORGED"):
            raw.event(run_id=run, **wrong)

    @pytest.mark.parametrize(
        "of", [{}, {"run_id": 99}, {"kind": "receipt", "receipt_id": 99}, {"kind": "question"}], ids=str
    )
    def test_needs_what_it_is_about(self, raw: Raw, of: dict[str, object]) -> None:
        with raw.refuses("EVENT_WITHOUT_SUBJECT"):
            raw.event(**of)

    @pytest.mark.parametrize(
        "wrong", [{"kind": "rumour"}, {"at": "now"}, {"who": ""}, {"why": "\u200b"}, {"id": -1}], ids=ascii
    )
    def test_malformed(self, raw: Raw, wrong: dict[str, object]) -> None:
        run = raw.run_in("RUNNING")
        with raw.refuses("EVENT_IS_MALFORMED"):
            raw.event(**{"run_id": run, **wrong})

    def test_append_only(self, raw: Raw) -> None:
        run = raw.run_in("RUNNING")
        event = raw.event(run_id=run)
        with raw.refuses("EVENT_IS_IMMUTABLE"):
            raw.event(REPLACE, run_id=run, id=event)
        with raw.refuses("EVENT_IS_IMMUTABLE"):
            raw.update("event", event, {"why": "another"})
        with raw.refuses("EVENT_IS_IMMUTABLE"):
            raw.execute("DELETE FROM event")
