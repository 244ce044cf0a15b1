"""Judging again: what would change, what cannot be judged, and that nothing is written."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bughunt.bench.rejudging import store_copies
from bughunt.commands.judging import parse_since
from bughunt.corpus import Case
from bughunt.exceptions import NoSuchRecord, UsageError
from bughunt.rejudging import Chosen, Outcome, judge, rejudge, tally
from bughunt.reports.rejudged import rejudged_json, rejudged_lines
from bughunt.tower import EvidenceKind, InvestigationView, NewEvidence, Tower
from bughunt.verdict.judgement import Ending, Judgement, Level, LoadJudgement, Reason, Verdict
from bughunt.verdict.record import ConsoleLine, LoadRecord
from bughunt.verdict.rules import RULES_VERSION, claim
from tests.corpus import CASES
from tests.corpus.storing import ME, a_case, as_judged, network, reserved, store
from tests.tower import making
from tests.tower.raw import AT

ROOT = Path(__file__).parents[1]
PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR

HELD = a_case(PASS, rule="held")
BLOCKED = a_case(ENV_ERROR, rule="blocked twice")
WRONG = a_case(BUG, loads=2)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "tower.db"


@pytest.fixture
def tower(place: Path) -> Iterator[Tower]:
    with closing(Tower.open(f"sqlite:///{place}")) as opened:
        yield opened


def by_older_rules(judgement: Judgement, **values: object) -> Judgement:
    """As rules that were less wise had judged."""
    return replace(judgement, rules_version=0, **values)


def test_every_verdict_that_the_present_rules_gave_stays(tower: Tower) -> None:
    for case in CASES.values():
        store(tower, case.loads, as_judged(case))
    assert tally(rejudge(tower)) == {o: len(CASES) if o is Outcome.SAME else 0 for o in Outcome}


def test_a_false_bug_of_older_rules_would_become_an_env_error(tower: Tower) -> None:
    """The old verdict, rule and version are told beside the new ones, with the new sentence."""
    store(tower, BLOCKED.loads, by_older_rules(making.bug("L3", "L3")))
    (found,) = rejudge(tower)
    assert (found.outcome, found.new) == (Outcome.CHANGED, as_judged(BLOCKED))
    told = list(rejudged_lines([found]))
    assert told[0] == (
        "RUN-1 of Q-1 cart.py::BUG (careful): BUG (twice) → ENV_ERROR (blocked twice), "
        f"rules 0 → {RULES_VERSION}"
    )
    assert told[1].strip() == as_judged(BLOCKED).sentence
    assert told[2] == f"1 runs, rules {RULES_VERSION}: 1 would change. Nothing was changed."


def seen_elsewhere(judgement: Judgement) -> tuple[LoadJudgement, ...]:
    """The endings of a BUG that was seen at another line."""
    return tuple(replace(ended, signature="L999 Locator.click #pay") for ended in judgement.endings)


@pytest.mark.parametrize(
    ("case", "differs"),
    [
        (BLOCKED, {"rule": "another rule"}),
        (BLOCKED, {"causes": as_judged(BLOCKED).causes[:1]}),
        (BLOCKED, {"level": Level.E2}),
        (HELD, {"degraded": not as_judged(HELD).degraded}),
        (WRONG, {"endings": seen_elsewhere(as_judged(WRONG))}),
    ],
    ids=["rule", "causes", "level", "degraded", "mismatch"],
)
def test_the_same_verdict_on_other_grounds_is_a_change(
    tower: Tower, case: Case, differs: dict[str, object]
) -> None:
    store(tower, case.loads, by_older_rules(as_judged(case), **differs))
    assert [one.outcome for one in rejudge(tower)] == [Outcome.CHANGED]


def test_other_words_alone_are_no_change(tower: Tower) -> None:
    """Of the verdict, of how a load ended, and of the element that a mismatch was about."""
    store(tower, BLOCKED.loads, by_older_rules(as_judged(BLOCKED), sentence="It was the network."))
    endings = tuple(
        replace(ended, reason="It is wrong.", signature=f"{ended.signature}[redacted]")
        for ended in as_judged(WRONG).endings
    )
    store(tower, WRONG.loads, by_older_rules(as_judged(WRONG), endings=endings))
    assert [one.outcome for one in rejudge(tower)] == [Outcome.SAME] * 2


def test_how_an_older_version_saw_a_load_does_not_change_a_claim(tower: Tower) -> None:
    """It is judged by what the agent looked at: it claims a BUG of whatever failed."""
    claimed = claim(BLOCKED.loads[0])
    endings = (replace(claimed.endings[0], ending=Ending.MISMATCH, signature="L3", causes=()),)
    store(tower, BLOCKED.loads[:1], by_older_rules(claimed, endings=endings), agent="naive")
    assert [one.outcome for one in rejudge(tower)] == [Outcome.SAME]


def test_a_run_that_the_rules_would_not_decide_yet_needs_another_load(tower: Tower) -> None:
    store(tower, BLOCKED.loads[:1], by_older_rules(making.passed()))
    (found,) = rejudge(tower)
    assert (found.outcome, found.new) == (Outcome.LOAD_AGAIN, None)
    assert found.why.startswith("load 1: ")
    assert "PASS (first_held) → another load would be needed" in next(rejudged_lines([found]))


def test_loads_after_the_one_that_decides_are_not_looked_at() -> None:
    """An agent by the present rules would not have taken them."""
    said = judge("careful", (HELD.loads[0], replace(WRONG.loads[0], number=2)))
    assert isinstance(said, Judgement)
    assert (said.verdict, said.rule, said.loads) == (PASS, "held", 1)


def test_a_naive_claim_is_judged_again_as_a_claim(tower: Tower) -> None:
    store(tower, BLOCKED.loads[:1], claim(BLOCKED.loads[0]), agent="naive")
    store(tower, HELD.loads, by_older_rules(claim(BLOCKED.loads[0])), agent="naive")
    found = rejudge(tower)
    assert [one.outcome for one in found] == [Outcome.SAME, Outcome.CHANGED]
    assert "(naive): claims BUG (claim) → claims PASS (claim)" in next(rejudged_lines(found))


def test_a_run_without_a_judgement_is_not_judged(tower: Tower) -> None:
    """Cancelled, stopped by our own failure, or not over yet."""
    tower.cancel(reserved(tower).id, ME, "Interrupted.")
    tower.fail(reserved(tower).id, ME, Reason.HARNESS_ERROR, "The disk is full.")
    tower.add_evidence(reserved(tower).id, ME, [network(HELD.loads[0])])
    assert tally(rejudge(tower))[Outcome.NOT_JUDGED] == 3
    assert rejudged_json(rejudge(tower))["runs"] == []


class TestEvidenceThatCannotBeRead:
    """Such a run is listed with the reason, and keeps no other from being judged."""

    def outcomes(self, tower: Tower) -> list[Outcome]:
        return [one.outcome for one in rejudge(tower)]

    def test_removed(self, tower: Tower, place: Path) -> None:
        run = store(tower, WRONG.loads, as_judged(WRONG))
        remove(tower.view(run.id), EvidenceKind.NETWORK, place)
        (found,) = rejudge(tower)
        told = "the record of load 1 was removed: older than 90 days (2026-03-01)"
        assert (found.outcome, found.why) == (Outcome.UNREADABLE, told)
        assert "cannot be judged again" in next(rejudged_lines([found]))

    def test_whose_judgement_was_removed(self, tower: Tower, place: Path) -> None:
        """There was a verdict, and nobody can say whether it would be another."""
        run = store(tower, HELD.loads, as_judged(HELD))
        remove(tower.view(run.id), EvidenceKind.JUDGEMENT, place)
        (found,) = rejudge(tower)
        told = "the judgement was removed: older than 90 days (2026-03-01)"
        assert (found.outcome, found.why) == (Outcome.UNREADABLE, told)

    @pytest.mark.parametrize("content", [b'{"number": "one"}', b'{"number": 1', b'"\xff"'])
    def test_of_another_version(self, tower: Tower, content: bytes) -> None:
        strange = NewEvidence(kind=EvidenceKind.NETWORK, data=content, load=1)
        store(tower, HELD.loads, as_judged(HELD), records=[strange])
        (found,) = rejudge(tower)
        assert found.outcome is Outcome.UNREADABLE
        assert found.why.startswith("The record of load 1 cannot be read: ")

    def test_damaged(self, tower: Tower) -> None:
        store(tower, HELD.loads, as_judged(HELD))
        run = store(tower, [large(HELD.loads[0])], as_judged(HELD))
        store(tower, BLOCKED.loads, as_judged(BLOCKED))
        assert self.outcomes(tower) == [Outcome.SAME] * 3
        (record,) = (item for item in tower.view(run.id).evidence if item.kind == EvidenceKind.NETWORK)
        tower.blobs.path(record.digest).write_bytes(b"{}")
        assert self.outcomes(tower) == [Outcome.SAME, Outcome.UNREADABLE, Outcome.SAME]
        told = rejudge(tower)[1]
        assert "was changed after it was written" in told.why
        assert "RUN-2 of Q-1 (careful): its verdict cannot be judged again" in rejudged_lines([told])

    def test_without_a_record(self, tower: Tower) -> None:
        store(tower, BLOCKED.loads, as_judged(BLOCKED), records=[])
        assert [one.why for one in rejudge(tower)] == ["there is no record of a load"]

    def test_of_an_agent_that_this_version_does_not_have(self, tower: Tower) -> None:
        store(tower, HELD.loads, as_judged(HELD), agent="clairvoyant")
        assert [one.why for one in rejudge(tower)] == ["this version has no agent clairvoyant"]


def remove(view: InvestigationView, kind: EvidenceKind, place: Path) -> None:
    """Put a tombstone in the place of a run's first evidence of a kind, as retention does."""
    item = next(item for item in view.evidence if item.kind == kind)
    with closing(sqlite3.connect(place)) as raw, raw:
        raw.execute(
            "INSERT INTO tombstone (evidence_id, why, at, digest, size) VALUES (?, ?, ?, ?, ?)",
            (item.id, "older than 90 days", AT, item.digest, item.size),
        )


def large(load: LoadRecord) -> LoadRecord:
    """The same load, so talkative that its record is a file of its own."""
    return replace(load, console=(ConsoleLine(kind="log", text="x" * 40_000, at=0.1),))


class TestWhichRuns:
    """All, or those that are named."""

    @pytest.fixture
    def filled(self, tower: Tower) -> Tower:
        """RUN-1 and RUN-3 of Q-1, RUN-2 of Q-2."""
        for case in (HELD, WRONG, HELD):
            store(tower, case.loads, as_judged(case))
        return tower

    @pytest.mark.parametrize("chunk", [1, 2, 100])
    def test_chosen(self, filled: Tower, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever the number of runs that are read at once."""
        monkeypatch.setattr("bughunt.rejudging.CHUNK", chunk)
        for chosen, runs in (
            (Chosen(), [1, 2, 3]),
            (Chosen(questions=frozenset({1})), [1, 3]),
            (Chosen(runs=frozenset({3})), [3]),
            (Chosen(runs=frozenset({2, 3}), questions=frozenset({1})), [1, 2, 3]),
            (Chosen(since=datetime.now(UTC) + timedelta(days=1)), []),
            (Chosen(questions=frozenset({1}), since=datetime(2026, 1, 1, tzinfo=UTC)), [1, 3]),
        ):
            assert [one.run for one in rejudge(filled, chosen)] == runs

    def test_one_that_is_not_there_is_an_error(self, filled: Tower) -> None:
        for chosen in (Chosen(runs=frozenset({9})), Chosen(questions=frozenset({9}))):
            with pytest.raises(NoSuchRecord):
                rejudge(filled, chosen)

    def test_one_that_is_damaged_has_only_its_neighbours_read_alone(
        self, filled: Tower, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And no more runs than that are in memory at once."""
        store(filled, WRONG.loads, as_judged(WRONG))
        broken = store(filled, [large(HELD.loads[0])], as_judged(HELD))
        for item in filled.view(broken.id).evidence:
            filled.blobs.path(item.digest).unlink(missing_ok=True)
        at_once: list[int] = []
        alone: list[int] = []
        views, view = filled.views, filled.view

        def reading(**which: Any) -> list[InvestigationView]:  # Any: by name, as they are given
            found = views(**which)
            at_once.append(len(found))
            return found

        def reading_one(number: int) -> InvestigationView:
            alone.append(number)
            return view(number)

        monkeypatch.setattr(filled, "views", reading)
        monkeypatch.setattr(filled, "view", reading_one)
        monkeypatch.setattr("bughunt.rejudging.CHUNK", 2)
        outcomes = [one.outcome for one in rejudge(filled)]
        assert outcomes == [Outcome.SAME] * 4 + [Outcome.UNREADABLE]
        assert (at_once, alone) == ([2, 2], [5])

    def test_the_same_are_chosen_where_some_cannot_be_read(self, filled: Tower) -> None:
        broken = store(filled, [large(HELD.loads[0])], as_judged(HELD))
        for item in filled.view(broken.id).evidence:
            filled.blobs.path(item.digest).unlink(missing_ok=True)
        chosen = Chosen(questions=frozenset({1}), since=datetime(2026, 1, 1, tzinfo=UTC))
        found = [(one.run, one.outcome) for one in rejudge(filled, chosen)]
        assert found == [(1, Outcome.SAME), (3, Outcome.SAME), (4, Outcome.UNREADABLE)]


class TestSince:
    NOW = datetime(2026, 3, 8, 12, 0, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("text", "instant"),
        [
            ("7d", "2026-03-01T12:00:00+00:00"),
            ("2026-03-01", "2026-03-01T00:00:00+00:00"),
            ("2026-03-01T12:30", "2026-03-01T12:30:00+00:00"),
            ("2026-03-01T12:30+02:00", "2026-03-01T10:30:00+00:00"),
        ],
    )
    def test_a_date_or_a_number_of_days(self, text: str, instant: str) -> None:
        assert parse_since(text, self.NOW) == datetime.fromisoformat(instant)

    @pytest.mark.parametrize(
        "text",
        [
            *("", "yesterday", "7", "7 d", "-7d", "99999d99", "99999999999d", "٧d"),
            *("0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00"),
        ],
    )
    def test_anything_else_is_a_usage_error(self, text: str) -> None:
        with pytest.raises(UsageError, match="give a date"):
            parse_since(text, self.NOW)

    def test_before_all_dates(self) -> None:
        assert parse_since("99999d", self.NOW).year < 1800


def test_nothing_in_the_towers_folder_changes(place: Path) -> None:
    """Not a byte, whatever came of judging again."""
    with closing(Tower.open(f"sqlite:///{place}")) as tower:
        store(tower, BLOCKED.loads, by_older_rules(making.bug("L3", "L3")))
        store(tower, [large(HELD.loads[0])], as_judged(HELD))
    before = contents(place.parent)
    with closing(Tower.open(f"sqlite:///{place}")) as tower:
        assert [one.outcome for one in rejudge(tower)] == [Outcome.CHANGED, Outcome.SAME]
    assert contents(place.parent) == before


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_neither_a_browser_nor_an_agent_is_loaded(place: Path, tmp_path: Path) -> None:
    with closing(Tower.open(f"sqlite:///{place}")) as tower:
        store(tower, BLOCKED.loads, as_judged(BLOCKED))
    code = (
        "import sys, typer\n"
        "from bughunt.commands.judging import rejudge_command\n"
        "try:\n"
        f"    rejudge_command([], None, 'sqlite:///{place}', False)\n"
        "except typer.Exit as left:\n"
        "    print(left.exit_code, [n for n in ('playwright', 'bughunt.agents') if n in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1:] == ["0 []"], done.stderr


def test_json_has_what_would_change_and_counts_the_rest(tower: Tower) -> None:
    store(tower, BLOCKED.loads, by_older_rules(making.bug("L3", "L3")))
    store(tower, HELD.loads, as_judged(HELD))
    told = rejudged_json(rejudge(tower))
    assert (told["rules_version"], told["counts"]["same"], told["counts"]["changed"]) == (RULES_VERSION, 1, 1)
    (run,) = told["runs"]
    assert (run["run"], run["q"], run["outcome"]) == ("RUN-1", "Q-1", "changed")
    assert {key: run["old"][key] for key in ("rules_version", "state", "verdict", "reason", "rule")} == {
        "rules_version": 0,
        "state": "DONE",
        "verdict": "BUG",
        "reason": None,
        "rule": "twice",
    }
    assert run["new"]["sentence"] == as_judged(BLOCKED).sentence


def test_what_the_bench_stores_are_runs_like_any_others(tower: Tower, tmp_path: Path) -> None:
    for case in (HELD, WRONG, BLOCKED):
        store(tower, case.loads, as_judged(case))
    with closing(Tower.open(f"sqlite:///{tmp_path}/copies.db")) as copies:
        store_copies(tower, copies, 7)
        views = copies.views()
        assert tally(rejudge(copies))[Outcome.SAME] == len(views) == 7
    assert [view.run.verdict for view in views] == [PASS, BUG, ENV_ERROR, PASS, BUG, ENV_ERROR, PASS]
    assert views[1].judgement is not None
    assert {ended.ending for ended in views[1].judgement.endings} == {Ending.MISMATCH}
