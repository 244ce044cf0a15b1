"""Whatever is done to a tower, in whatever order, and wherever it is cut off: the invariants hold."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Connection

from bughunt.exceptions import BughuntError
from bughunt.rejudging import Outcome, judge, rejudge
from bughunt.tower import (
    Decision,
    Part,
    Relation,
    RunRequest,
    Tower,
    evidence_of_cause,
    evidence_of_load,
)
from bughunt.tower.intake import Incoming, OpenQuestion
from bughunt.verdict.judgement import Judgement, Reason, State, Verdict
from bughunt.verdict.record import LoadRecord
from bughunt.verdict.rules import RULES_VERSION
from tests.corpus.storing import network
from tests.postgres import Server
from tests.tower.making import Clock, a_message, a_question
from tests.tower.raw import Raw, opened
from tests.verdict import making as loads

OWNERS = ("process-1", "process-2")
ENDINGS: dict[str, tuple[LoadRecord, ...]] = {
    "held": (loads.held(),),
    "wrong twice": (loads.mismatch(1), loads.mismatch(2)),
    "blocked twice": (loads.blocked(1), loads.blocked(2)),
    "crashed twice": (loads.crashed(1), loads.crashed(2)),
    "recovered": (loads.blocked(1), loads.held(number=2)),
}


class Crash(BaseException):
    """The process ends here."""


class CrashingTower(Tower):
    """A tower whose process ends before or after its n-th commit from now."""

    commits_left: int | None = None
    before = False

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with super()._write() as connection:
            yield connection
            if self._dies(before=True):
                raise Crash
        if self._dies(before=False):
            raise Crash
        if self.commits_left is not None:
            self.commits_left -= 1

    def _dies(self, *, before: bool) -> bool:
        return self.commits_left == 0 and self.before is before


def _intake(message: Incoming, questions: Sequence[OpenQuestion]) -> Decision:
    """Decides what the text says."""
    what = message.text.split()[0]
    first = tuple(question.id for question in questions[:1])
    if what == "fail":
        raise ValueError("no such model")
    if what == "ignore":
        return Decision(relation=Relation.IGNORE, reason="filler")
    if what == "new":
        return Decision(relation=Relation.NEW_Q, reason="new", target="staging")
    if what == "link" and first:
        return Decision(relation=Relation.LINK_EXISTING_Q, links=first, reason="the first")
    if what == "split":
        known = (
            Part(text="known", relation=Relation.LINK_EXISTING_Q, links=first) if first else Part(text="?")
        )
        parts = (Part(text="new", relation=Relation.NEW_Q), known)
        return Decision(relation=Relation.SPLIT_TO_N_Q, parts=parts, reason="two")
    return Decision(relation=None, reason="cannot be told")


class History(RuleBasedStateMachine):
    """What happens to one tower."""

    url: str

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.tower = self._open()
        self.acknowledged: set[str] = set()
        self.terminal: dict[int, tuple[object, ...]] = {}
        self.evidence: dict[int, tuple[object, ...]] = {}
        self.settled: dict[int, tuple[object, ...]] = {}

    def _open(self) -> CrashingTower:
        opened = CrashingTower.open(self.url, clock=self.clock, intake=_intake)
        assert isinstance(opened, CrashingTower)
        return opened

    def _do(self, act: Callable[[], object]) -> None:
        """An act that may be refused, and in which the process may end; then another one goes on."""
        try:
            with suppress(BughuntError):
                act()
        except Crash:
            self.tower.close()
            self.tower = self._open()

    def teardown(self) -> None:
        self.tower.close()

    @rule(commits=st.integers(0, 8), before=st.booleans())
    def will_crash(self, commits: int, before: bool) -> None:
        self.tower.commits_left, self.tower.before = commits, before

    @rule(
        key=st.integers(1, 8),
        what=st.sampled_from(["ignore", "new", "link", "split", "fail", "unsure"]),
        thread=st.sampled_from([None, "Q-1", "k-1", "k-2"]),
    )
    def receive(self, key: int, what: str, thread: str | None) -> None:
        def act() -> None:
            self.tower.receive(a_message(f"{what} it", key=f"k-{key}", thread=thread))
            self.acknowledged.add(f"k-{key}")

        self._do(act)

    @rule(receipt=st.integers(1, 8), how=st.sampled_from(list(Relation)))
    def resolve(self, receipt: int, how: Relation) -> None:
        links = (1,) if how in (Relation.LINK_EXISTING_Q, Relation.EVIDENCE_OR_ACCEPTANCE) else ()
        self._do(lambda: self.tower.resolve(receipt, "anna", Decision(relation=how, links=links)))

    @rule(which=st.integers(1, 3), drill=st.booleans())
    def ask(self, which: int, drill: bool) -> None:
        plan = {"plan": ("reset",), "plan_fingerprint": "f00d"} if drill else {}
        self._do(lambda: self.tower.ask(a_question(f"c{which}.py::it", **plan)))

    @rule(question=st.integers(1, 3))
    def close(self, question: int) -> None:
        self._do(lambda: self.tower.close_question(question, "anna", "not wanted"))

    @rule(question=st.integers(1, 3), owner=st.sampled_from(OWNERS), start=st.booleans(), cites=st.booleans())
    def reserve(self, question: int, owner: str, start: bool, cites: bool) -> None:
        def act() -> None:
            known = max((r for r, row in self.terminal.items() if row[0] == question), default=None)
            request = RunRequest(
                question=question,
                agent="careful",
                rules_version=RULES_VERSION,
                owner=owner,
                cites=known if cites else None,
            )
            run = self.tower.reserve(request)
            if start:
                self.tower.start(run.id, owner)

        self._do(act)

    @rule(
        which=st.integers(1, 2),
        owner=st.sampled_from(OWNERS),
        ending=st.sampled_from(list(ENDINGS)),
        cites=st.booleans(),
    )
    def carry_out(self, which: int, owner: str, ending: str, cites: bool) -> None:
        """A whole RUN, as a worker carries it out; cut off, it lies where it was."""

        def act() -> None:
            question = self.tower.ask(a_question(f"c{which}.py::it"))
            over = [run for run, row in self.terminal.items() if row[0] == question.id]
            request = RunRequest(
                question=question.id,
                agent="careful",
                rules_version=RULES_VERSION,
                owner=owner,
                cites=max(over) if over and cites else None,
            )
            run = self.tower.start(self.tower.reserve(request).id, owner)
            self._finish(run.id, owner, ending)

        self._do(act)

    @rule(run=st.integers(1, 5), owner=st.sampled_from(OWNERS))
    def verify(self, run: int, owner: str) -> None:
        self._do(lambda: self.tower.verify(run, owner))

    @rule(run=st.integers(1, 5), owner=st.sampled_from(OWNERS), ending=st.sampled_from(list(ENDINGS)))
    def finish(self, run: int, owner: str, ending: str) -> None:
        self._do(lambda: self._finish(run, owner, ending))

    def _finish(self, run: int, owner: str, ending: str) -> None:
        taken = ENDINGS[ending]
        said = judge("careful", taken)
        assert isinstance(said, Judgement)
        proof = [
            *map(network, taken),
            *map(evidence_of_load, said.endings),
            *map(evidence_of_cause, said.causes),
        ]
        landing = {"landed_at": self.clock.now, "landing_note": "seen"} if said.state is State.DONE else {}
        self.tower.finish(run, owner, said, evidence=proof, **landing)  # type: ignore[arg-type]  # by name

    @rule(run=st.integers(1, 5), owner=st.sampled_from(OWNERS), verdict=st.sampled_from(list(Verdict)))
    def claim_without_proof(self, run: int, owner: str, verdict: Verdict) -> None:
        ending = {"PASS": "held", "BUG": "wrong twice", "ENV_ERROR": "blocked twice"}[verdict]
        said = judge("careful", ENDINGS[ending])
        assert isinstance(said, Judgement)
        self._do(lambda: self.tower.finish(run, owner, said, landed_at=self.clock.now, landing_note="so"))

    @rule(run=st.integers(1, 5), owner=st.sampled_from(OWNERS), cancel=st.booleans())
    def give_up(self, run: int, owner: str, cancel: bool) -> None:
        if cancel:
            self._do(lambda: self.tower.cancel(run, owner, "not wanted"))
        else:
            self._do(lambda: self.tower.fail(run, owner, Reason.HARNESS_ERROR, "broken"))

    @precondition(lambda self: self.terminal)
    @rule(which=st.integers(0, 9), verdict=st.sampled_from([Verdict.PASS, Verdict.BUG]))
    def decide(self, which: int, verdict: Verdict) -> None:
        over = sorted(self.terminal)
        self._do(lambda: self.tower.decide(over[which % len(over)], "anna", verdict, "I looked."))

    @rule(owner=st.sampled_from(OWNERS))
    def heartbeat(self, owner: str) -> None:
        self._do(lambda: self.tower.heartbeat(owner))

    @rule(seconds=st.sampled_from([1, 31, 130, 4000, 90_000]))
    def time_passes(self, seconds: int) -> None:
        self.clock.passes(seconds)

    @rule()
    def sweep(self) -> None:
        self._do(self.tower.sweep)

    @rule()
    def reconcile(self) -> None:
        def act() -> None:
            listed = {item.name for item in self.tower.reconcile()}
            with opened(self.url) as raw:
                waits = raw.rows("SELECT id FROM receipt WHERE state NOT IN ('APPLIED', 'IGNORED')")
                stale = raw.rows("SELECT id FROM run WHERE state = 'STALE'")
            assert {f"R-{row[0]}" for row in waits} | {f"RUN-{row[0]}" for row in stale} <= listed

        self._do(act)

    @invariant()
    def holds(self) -> None:
        with opened(self.url) as raw:
            self._identities_hold(raw)
            self._what_is_over_stays(raw)
        found = self.tower.audit()
        assert found.sound, found  # I2, I3, I5
        assert self.tower.verify_all().wrong == ()  # I7, and that the events replay
        outcomes = {one.outcome for one in rejudge(self.tower)}
        assert outcomes <= {Outcome.SAME, Outcome.NOT_JUDGED}  # I8

    def _identities_hold(self, raw: Raw) -> None:
        keys = [str(row[0]) for row in raw.rows("SELECT idempotency_key FROM receipt")]
        assert self.acknowledged <= set(keys)  # I1
        early = "SELECT 1 FROM relation WHERE NOT EXISTS (SELECT 1 FROM receipt WHERE id = receipt_id)"
        assert raw.rows(early) == []
        blind = (
            "SELECT id FROM run WHERE reason = 'ENV_ERROR' AND NOT EXISTS"
            " (SELECT 1 FROM evidence WHERE run_id = run.id AND kind = 'cause')"
        )
        assert raw.rows(blind) == []  # I6

    def _what_is_over_stays(self, raw: Raw) -> None:
        """I4, I7, and that a settled message stays settled."""
        over = "SELECT id, question_id, state, verdict, level, reason, owner, terminal_at, moves FROM run"
        over += " WHERE state IN ('DONE', 'FAILED', 'CANCELLED', 'SUPERSEDED')"
        ended = {row[0]: tuple(row[1:]) for row in raw.rows(over)}
        kept = {
            row[0]: tuple(row[1:]) for row in raw.rows("SELECT id, run_id, seq, digest, size FROM evidence")
        }
        settled = {
            row[0]: tuple(row[1:])
            for row in raw.rows(
                "SELECT id, state, relation, attempts, settled_at FROM receipt WHERE settled_at IS NOT NULL"
            )
        }
        for before, now in ((self.terminal, ended), (self.evidence, kept), (self.settled, settled)):
            assert before.items() <= now.items()
        self.terminal, self.evidence, self.settled = ended, kept, settled  # type: ignore[assignment]


MANY = pytest.mark.parametrize(
    "examples", [8, pytest.param(200, marks=[pytest.mark.thorough, pytest.mark.timeout(1800)])]
)


def _run(machine: type[History], examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@MANY
def test_any_history_on_a_file(fresh_file: Path, tmp_path: Path, examples: int) -> None:
    class OnFile(History):
        def __init__(self) -> None:
            place = tmp_path / "tower.db"
            for leftover in tmp_path.glob("tower.db*"):
                leftover.unlink()
            shutil.copy(fresh_file, place)
            self.url = f"sqlite:///{place}"
            super().__init__()

    _run(OnFile, examples)


@MANY
def test_any_history_on_a_server(postgres: Server, examples: int) -> None:
    class OnServer(History):
        def __init__(self) -> None:
            self.database = postgres.database()
            self.url = self.database.__enter__()
            super().__init__()

        def teardown(self) -> None:
            super().teardown()
            self.database.__exit__(None, None, None)

    _run(OnServer, examples)
