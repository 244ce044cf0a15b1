"""The control tower: questions, runs and evidence, and the only way to finality."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from hashlib import sha256

from msgspec import structs
from sqlalchemy import Connection, func, select, text, update

from bughunt.exceptions import (
    NoSuchRecord,
    RunDoneRequiresVerifiedLanding,
    UsageError,
)
from bughunt.tower import activity, deciding, reading, reconciling, tables, writing
from bughunt.tower.audit import Audit, audit
from bughunt.tower.inbox import Inbox
from bughunt.tower.rows import run_from
from bughunt.tower.states import LIVE, SETTLED, QuestionState
from bughunt.tower.store import INLINE_LIMIT
from bughunt.tower.transitions import Change
from bughunt.tower.values import (
    EventKind,
    Evidence,
    EvidenceKind,
    InvestigationView,
    NewEvidence,
    NewQuestion,
    Question,
    Run,
    RunRequest,
    SecondParty,
    Waiting,
)
from bughunt.tower.verifying import Verified, verified
from bughunt.tower.writing import GATE_VERSION, Prepared
from bughunt.verdict.judgement import Judgement, Level, Reason, State, Verdict
from bughunt.verdict.record import LoadRecord, to_json

__all__ = ["Tower"]

PROVING = (EvidenceKind.LOAD, EvidenceKind.CAUSE, EvidenceKind.JUDGEMENT)
"""What the gates take for proof only where the row itself holds the bytes, however many."""

WORKING = (State.RUNNING, State.VERIFYING)


class Tower(Inbox):
    """One database and its blobs. Methods may be called from any thread; each is one short transaction."""

    def decide(self, run_id: int, who: str, verdict: Verdict, statement: str) -> Run:
        """A person's decision about a RUN that is over: a RUN of its own that cites it, DONE with E5.

        Raises UsageError where the RUN is not over, or its evidence does not bear the verdict.
        """
        told = self.redactor.redact_text(statement)
        judgement = deciding.judgement_of(who, verdict, told)
        prepared = self._prepare([_judgement_evidence(judgement)])
        try:
            with self._write() as connection:
                return deciding.decided(connection, run_id, who, judgement, prepared, self._clock())
        except RunDoneRequiresVerifiedLanding as refused:
            raise deciding.not_borne(run_id, verdict) from refused

    def close_question(self, question_id: int, who: str, why: str) -> Question:
        """Nobody wants to know any more: intake ties nothing to this Q now. Asked anew, it is OPEN."""
        with self._write() as connection:
            question = writing.get_question(connection, question_id)
            if question.state != QuestionState.CLOSED:
                change = Change(at=self._clock(), who=who, why=why)
                writing.move_question(connection, question, QuestionState.CLOSED, change)
            return writing.get_question(connection, question_id)

    def reconcile(self) -> list[Waiting]:
        """Bring on whatever can be brought on without a person, and list what waits.

        Receipts whose intake failed, was cut off, or whose context came; RUNs that nobody holds any more: to
        STALE, then SUPERSEDED by a new one that waits for a worker. Doing it again, or twice at once, changes
        nothing more.
        """
        with self._read() as connection:
            receipts = reconciling.receipts_due(connection, self._clock())
            runs = reconciling.runs_due(connection, self._clock())
        for receipt_id in receipts:
            if self.settle(receipt_id).state in SETTLED:
                self._settle_beside(self.receipt(receipt_id))
        for run_id in runs:
            with self._write() as connection:
                reconciling.requeued(connection, run_id, self._clock())
        return self.waiting()

    def waiting(self) -> list[Waiting]:
        """What is not settled, and why: messages, and RUNs that nobody carries out."""
        with self._read() as connection:
            return reconciling.waiting(connection, self._clock())

    def audit(self) -> Audit:
        """How the tower is: what it holds, what waits, and whether what may never happen has happened."""
        with self._read() as connection:
            return audit(connection, self._clock())

    def verify_all(self, told: Callable[[int], None] = lambda rows: None) -> Verified:
        """Compute every hash and every state again; `told` hears how many rows were looked at since last."""
        with self._read() as connection:
            return verified(connection, self.blobs, told)

    def ask(self, question: NewQuestion, *, who: str = writing.TOWER) -> Question:
        """The Q of this key, made where there is none."""
        plan = tuple(self.redactor.redact_text(spec) for spec in question.plan)
        with self._write() as connection:
            change = Change(at=self._clock(), who=who, why="asked")
            return writing.put_question(connection, structs.replace(question, plan=plan), change)

    def reserve(self, request: RunRequest) -> Run:
        """A RUN for this attempt: one that fits and is not over, else a new one that its owner holds.

        STALE ones of the same Q are superseded by it. One that another process holds, or that has begun,
        is for its holder to carry out (`start` refuses everybody else): wait for its answer.
        """
        with self._write() as connection:
            now = self._clock()
            return writing.reserve(connection, request, now, now + self.lease)

    def start(self, run_id: int, owner: str) -> Run:
        """QUEUED to RUNNING."""
        with self._write() as connection:
            run = writing.held(connection, run_id, owner, (State.QUEUED,))
            now = self._clock()
            change = Change(at=now, who=owner, why="its first load begins")
            lease = {"started_at": now, "lease_until": now + self.lease}
            return writing.move(connection, run, State.RUNNING, change, **lease)

    def verify(self, run_id: int, owner: str) -> Run:
        """RUNNING to VERIFYING: an answer was seen, and is being looked at again."""
        with self._write() as connection:
            run = writing.held(connection, run_id, owner, (State.RUNNING,))
            now = self._clock()
            change = Change(at=now, who=owner, why="an answer was seen, and is looked at again")
            return writing.move(connection, run, State.VERIFYING, change, lease_until=now + self.lease)

    def add_evidence(self, run_id: int, owner: str, items: Sequence[NewEvidence]) -> None:
        """Record what was gathered, all or nothing."""
        prepared = self._prepare(items)
        with self._write() as connection:
            writing.held(connection, run_id, owner, LIVE)
            writing.add(connection, run_id, prepared, self._clock())

    def finish(
        self,
        run_id: int,
        owner: str,
        judgement: Judgement,
        *,
        landed_at: datetime | None = None,
        landing_note: str | None = None,
        evidence: Sequence[NewEvidence] = (),
    ) -> Run:
        """End a RUN as judged, through the gate, together with the evidence that is still to be written.

        The judgement itself is added to that evidence. A landing is kept of a DONE run only. From RUNNING,
        DONE goes through VERIFYING in the same transaction.
        """
        prepared = self._prepare([*evidence, _judgement_evidence(judgement)])
        with self._write() as connection:
            writing.get_question(connection, writing.get_run(connection, run_id).question, lock=True)
            run = writing.held(connection, run_id, owner, WORKING)
            now = self._clock()
            writing.add(connection, run_id, prepared, now)
            if judgement.state is State.DONE:
                landing = (landed_at, self.redactor.redact_text(landing_note or ""))
                return _done(connection, run, judgement, landing, now)
            change = Change(at=now, who=owner, why=judgement.sentence)
            return writing.move(connection, run, judgement.state, change, **_ended(judgement, now))

    def cancel(self, run_id: int, owner: str, note: str) -> Run:
        """End a RUN that nobody wants the answer of any more."""
        return self._end(run_id, owner, note, State.CANCELLED)

    def fail(self, run_id: int, owner: str, reason: Reason, note: str) -> Run:
        """End a RUN that could not be judged, because of the charter or of us."""
        if reason not in (Reason.HARNESS_ERROR, Reason.CHECK_ERROR):
            raise UsageError(f"{reason} needs a judgement: use finish()")
        return self._end(run_id, owner, note, State.FAILED, reason=reason)

    def heartbeat(self, owner: str) -> int:
        """Extend the leases of all that this owner holds, and say how many those are."""
        run = tables.run
        with self._write() as connection:
            now = self._clock()
            mine = (run.c.owner == owner, tables.LIVE)
            connection.execute(
                select(run.c.id).where(*mine).order_by(run.c.id).with_for_update(key_share=True)
            )
            activity.heartbeats(connection, mine, now, owner)
            statement = update(run).where(*mine).values(lease_until=now + self.lease)
            return connection.execute(statement).rowcount

    def observe(self, run_id: int, kind: EventKind, who: str, what: str) -> None:
        """Record an activity (a log line, something in a page). It neither makes nor ends a RUN.

        Of a RUN that is over as well: that somebody was still at work then is worth knowing.
        """
        with self._write() as connection:
            writing.get_run(connection, run_id)
            activity.record(connection, run_id, kind, Change(at=self._clock(), who=who, why=what))

    def sweep(self, *, returning: Collection[int] = ()) -> list[Run]:
        """Mark as STALE what nobody holds any more, and close it unless its Q is in `returning`.

        A STALE run of a returning Q waits for the RUN that supersedes it (`reserve`).
        """
        with self._read() as connection:
            if not self._abandoned(connection, returning):
                return []
        with self._write() as connection:
            now = self._clock()
            closed = [
                _close(connection, run, now, returning=run.question in returning)
                for run in self._abandoned(connection, returning)
            ]
            return [run for run in closed if run is not None]

    def question(self, question_id: int) -> Question:
        """Q-`question_id`."""
        with self._read() as connection:
            return writing.get_question(connection, question_id)

    def run(self, run_id: int) -> Run:
        """RUN-`run_id`."""
        with self._read() as connection:
            return writing.get_run(connection, run_id)

    def last_run(self) -> int:
        """The highest number of a RUN; 0: there is none. A server leaves numbers out."""
        with self._read() as connection:
            return connection.execute(select(func.max(tables.run.c.id))).scalar() or 0

    def view(self, run_id: int) -> InvestigationView:
        """One RUN with its Q and all its evidence."""
        with self._read() as connection:
            writing.get_run(connection, run_id)
            return next(reading.views_of(connection, [run_id], self._checked))

    def views(
        self,
        *,
        run_ids: Collection[int] | None = None,
        question: int | None = None,
        latest: bool = False,
        since: datetime | None = None,
    ) -> list[InvestigationView]:
        """The runs that fit all of what is given, by number; with `latest`, each Q's last one of them."""
        chosen = reading.selected(question=question, latest=latest, since=since, run_ids=run_ids)
        with self._read() as connection:
            if question is not None:
                writing.get_question(connection, question)
            chosen_ids = [row[0] for row in connection.execute(chosen)]
            return list(reading.views_of(connection, chosen_ids, self._checked))

    def passing_loads(self, question_id: int, *, runs: int = 20) -> list[LoadRecord]:
        """The load that held of each of the last PASS runs of the same charter and target, drills aside."""
        with self._read() as connection:
            asked = writing.get_question(connection, question_id)
            return list(reading.passing_loads(connection, asked, runs, self._checked))

    def evidence_bytes(self, evidence: Evidence) -> bytes:
        """The stored bytes, if they are still what was written."""
        if evidence.tombstone is not None:
            raise NoSuchRecord(
                f"evidence {evidence.seq} of RUN-{evidence.run} was removed: {evidence.tombstone}"
            )
        with self._read() as connection:
            body = reading.body_of(connection, evidence)
        return self._checked(evidence, body)

    def _checked(self, evidence: Evidence, body: bytes | None) -> bytes:
        return self._bytes(evidence.digest, body, f"evidence {evidence.seq} of RUN-{evidence.run}")

    def _prepare(self, items: Sequence[NewEvidence]) -> list[Prepared]:
        return [self._stored(item) for item in items]

    def _stored(self, item: NewEvidence) -> Prepared:
        data = self.redactor.redact(item.data, item.media_type)
        small = len(data) <= INLINE_LIMIT and item.media_type.startswith(("application/json", "text/"))
        if small or item.kind in PROVING:
            return Prepared(item=item, digest=sha256(data).hexdigest(), size=len(data), body=data)
        return Prepared(item=item, digest=self.blobs.write(data), size=len(data), body=None)

    def _end(self, run_id: int, owner: str, words: str, to: State, **values: object) -> Run:
        told = self.redactor.redact_text(words)
        with self._write() as connection:
            run = writing.held(connection, run_id, owner, LIVE)
            now = self._clock()
            writing.add(connection, run_id, [writing.note(told)], now)
            change = Change(at=now, who=owner, why=told)
            return writing.move(connection, run, to, change, terminal_at=now, **values)

    def _abandoned(self, connection: Connection, returning: Collection[int]) -> list[Run]:
        run = tables.run
        held = run.c.owner != writing.TOWER  # what reconciling queued waits for whoever comes first
        lapsed = select(run).where(tables.LIVE, run.c.lease_until <= self._clock(), held)
        stale = select(run).where(text("state = 'STALE'"), run.c.question_id.not_in(returning))
        found = [row for query in (lapsed, stale) for row in connection.execute(query).mappings()]
        return sorted((run_from(row) for row in found), key=lambda run: run.id)


def _judgement_evidence(judgement: Judgement) -> NewEvidence:
    return NewEvidence(kind=EvidenceKind.JUDGEMENT, data=to_json(judgement))


def _ended(judgement: Judgement, now: datetime) -> dict[str, object]:
    return {
        "terminal_at": now,
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        "level": judgement.level,
    }


def _done(
    connection: Connection,
    run: Run,
    judgement: Judgement,
    landing: tuple[datetime | None, str],
    now: datetime,
) -> Run:
    seen = Change(at=now, who=run.owner, why="an answer was seen")
    if run.state is State.RUNNING:
        run = writing.move(connection, run, State.VERIFYING, seen)
    landed_at, landing_note = landing
    values = _ended(judgement, now) | _repeated(connection, run, judgement)
    values |= {"landed_at": landed_at, "landing_note": landing_note, "gate_version": GATE_VERSION}
    change = Change(at=now, who=run.owner, why=judgement.sentence)
    done = writing.move(connection, run, State.DONE, change, **values)
    writing.answer(connection, done, now)
    return done


def _repeated(connection: Connection, run: Run, judgement: Judgement) -> dict[str, object]:
    """E5: another process's RUN passed, and this one, which cites it, passed again."""
    if run.cites is None or judgement.verdict is not Verdict.PASS:
        return {}
    cited = writing.get_run(connection, run.cites)
    if cited.owner == run.owner or cited.verdict is not Verdict.PASS:
        return {}
    return {"level": Level.E5, "second_party": SecondParty.WORKER}


def _close(connection: Connection, run: Run, now: datetime, *, returning: bool) -> Run | None:
    """None: its owner has shown up again, or somebody else closed it."""
    lapsed = writing.lapse(connection, run, now)
    if lapsed.state is not State.STALE:
        return None
    return lapsed if returning else writing.close_stale(connection, lapsed, now)
