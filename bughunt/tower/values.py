"""What goes into the tower and what comes out of it. Frozen values; no SQL here."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from msgspec import Struct

from bughunt.tower.intake import Relation
from bughunt.tower.states import ReceiptState
from bughunt.verdict.judgement import Judgement, Level, Reason, State, Verdict
from bughunt.verdict.record import LoadRecord

__all__ = [
    "Attached",
    "Attachment",
    "EventKind",
    "Evidence",
    "EvidenceKind",
    "InvestigationView",
    "KnownBug",
    "Message",
    "NewEvidence",
    "NewQuestion",
    "Question",
    "Receipt",
    "Related",
    "Run",
    "RunRequest",
    "SecondParty",
    "Waiting",
]


class EvidenceKind(StrEnum):
    """What an evidence row holds."""

    CONDITIONS = "conditions"
    """JSON: browser, fault plan, rules version, settings that matter."""
    LOAD_STARTED = "load_started"
    """JSON: a load began. A killed process leaves at least this."""
    EXCHANGES = "exchanges"
    """JSON: exchanges that began, were answered or ended while a load was still running."""
    FIRING = "firing"
    """JSON: one time that a planned fault fired."""
    NETWORK = "network"
    """JSON: the complete `LoadRecord` of a load."""
    LOAD = "load"
    """JSON: the `LoadJudgement` of a load; the row carries `ending` and `signature`."""
    CAUSE = "cause"
    """JSON: one `Cause`; the row carries `cause` and `layer`."""
    SCREENSHOT = "screenshot"
    """PNG."""
    ARIA = "aria"
    """The aria snapshot, text."""
    TRACE = "trace"
    """A Playwright trace, zip."""
    JUDGEMENT = "judgement"
    """JSON: the `Judgement`."""
    NOTE = "note"
    """Text: what happened to the run itself (its lease ran out, it was interrupted, ...)."""


class EventKind(StrEnum):
    """What an event row tells."""

    RUN = "run"
    """A RUN came into a state; the first also says to which Q it belongs."""
    QUESTION = "question"
    """A Q came into a state."""
    RECEIPT = "receipt"
    """A receipt came into a state."""
    HEARTBEAT = "heartbeat"
    """Activity: who holds the RUN said that it is alive."""
    LOG = "log"
    """Activity: a line that somebody wrote about the RUN."""
    PAGE = "page"
    """Activity: something was seen to happen in a page."""


class SecondParty(StrEnum):
    """Who else saw what an E5 says, where it is not a second load of the same RUN."""

    WORKER = "worker"
    """Another process's load, in the RUN that is cited."""
    PERSON = "person"
    """A person, who looked at the RUN that is cited."""


class NewQuestion(Struct, frozen=True, kw_only=True):
    """A question as asked; equal (project, charter, target, plan) is the same Q."""

    project: str
    charter: str
    """The charter's id, `path::name`."""
    question: str
    """The text that a person reads."""
    target: str
    plan: tuple[str, ...] = ()
    """The fault plan's specs; not empty: a drill."""
    plan_fingerprint: str = ""
    """Empty without a plan."""


class Question(Struct, frozen=True, kw_only=True):
    """A stored question, Q-`id`."""

    id: int
    key: NewQuestion
    state: str
    """OPEN, ANSWERED or CLOSED."""
    created_at: datetime


class RunRequest(Struct, frozen=True, kw_only=True):
    """What a new attempt is to be."""

    question: int
    agent: str
    rules_version: int
    owner: str
    """Who holds the lease: one id per process."""
    build: str | None = None
    idempotency_key: str | None = None
    cites: int | None = None
    """The RUN of the same Q that this one repeats or decides."""
    why: str = "reserved for an attempt"


class Run(Struct, frozen=True, kw_only=True):
    """A stored attempt, RUN-`id`."""

    id: int
    question: int
    state: State
    agent: str
    rules_version: int
    owner: str
    lease_until: datetime
    created_at: datetime
    build: str | None = None
    started_at: datetime | None = None
    terminal_at: datetime | None = None
    reason: Reason | None = None
    verdict: Verdict | None = None
    level: Level | None = None
    landed_at: datetime | None = None
    landing_note: str | None = None
    superseded_by: int | None = None
    cites: int | None = None
    second_party: SecondParty | None = None
    """Who repeated what an E5 rests on; None: a second load of its own, or no E5."""


class NewEvidence(Struct, frozen=True, kw_only=True):
    """Evidence to be written, as it was gathered: the tower redacts it, then hashes it."""

    kind: EvidenceKind
    data: bytes
    media_type: str = "application/json"
    load: int | None = None
    name: str | None = None
    """A file name for people, `load-1.png`."""
    ending: str | None = None
    signature: str | None = None
    cause: str | None = None
    layer: str | None = None


class Evidence(Struct, frozen=True, kw_only=True):
    """A stored piece of evidence."""

    id: int
    run: int
    seq: int
    """From 1, within the run."""
    kind: EvidenceKind
    at: datetime
    digest: str
    """SHA-256 of what is stored, hex."""
    size: int
    """Bytes."""
    media_type: str
    load: int | None = None
    name: str | None = None
    ending: str | None = None
    signature: str | None = None
    cause: str | None = None
    layer: str | None = None
    tombstone: str | None = None
    """Why and when its bytes were removed, if they were."""


class KnownBug(Struct, frozen=True, kw_only=True):
    """What a charter said, when it ran, of a bug that is known already."""

    ticket: str
    """Where the bug is known."""
    until: date
    """The last day on which its BUG fails no run."""


class InvestigationView(Struct, frozen=True, kw_only=True):
    """One RUN with its Q and all that is known of it: what reports are made of."""

    question: Question
    run: Run
    judgement: Judgement | None = None
    """None: the run is not terminal, or it ended without one (interrupted, abandoned)."""
    loads: tuple[LoadRecord, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    unfired: tuple[str, ...] = ()
    """Planned faults that never fired, as specs. Empty while the run is not terminal."""
    notes: tuple[str, ...] = ()
    known_bug: KnownBug | None = None
    """None: the charter had no ticket."""

    @property
    def q(self) -> str:
        """The question's name for people."""
        return f"Q-{self.question.id}"

    @property
    def name(self) -> str:
        """The run's name for people."""
        return f"RUN-{self.run.id}"

    @property
    def build(self) -> str | None:
        """The build as it was named when the run was asked for, or as the document named it."""
        return self.run.build or next((load.build for load in reversed(self.loads) if load.build), None)

    @property
    def drill(self) -> bool:
        """Whether something was broken on purpose."""
        return bool(self.question.key.plan)


class Attached(Struct, frozen=True, kw_only=True):
    """A file that came with a message."""

    name: str
    data: bytes
    media_type: str = "application/octet-stream"


class Attachment(Struct, frozen=True, kw_only=True):
    """A stored file that came with a message."""

    receipt: int
    seq: int
    """From 1, within the message."""
    name: str
    media_type: str
    digest: str
    """SHA-256 of what is stored, hex."""
    size: int
    """Bytes."""


class Message(Struct, frozen=True, kw_only=True):
    """What arrived, as it arrived."""

    project: str
    source: str
    """Where it came from: `chat`, `ci`, `email`, `issue`, `schedule`, ..."""
    key: str
    """Its idempotency key within the project: the same key is the same message."""
    text: str
    occurred_at: datetime
    """Aware: when it was said there, not when it came here."""
    summary: str | None = None
    """None: the beginning of its text."""
    reference: str | None = None
    """Its name or address where it came from, which answers to it give as their thread."""
    thread: str | None = None
    """What it answers to: `Q-12`, `RUN-34`, or the reference or key of an earlier message."""
    attachments: tuple[Attached, ...] = ()


class Related(Struct, frozen=True, kw_only=True):
    """That a part of a message belongs to a Q."""

    part: int
    """From 1; of a message that is no split: 1."""
    question: int
    relation: Relation


class Receipt(Struct, frozen=True, kw_only=True):
    """The durable fact that a message arrived, R-`id`, and how far its intake has come."""

    id: int
    project: str
    source: str
    key: str
    occurred_at: datetime
    received_at: datetime
    summary: str
    text: str
    """Without secrets."""
    text_digest: str
    """SHA-256 of the text as it arrived, hex."""
    state: ReceiptState
    attempts: int
    """How often intake looked at it."""
    failures: int
    """How often that failed, one after the other."""
    reference: str | None = None
    thread: str | None = None
    next_attempt_at: datetime | None = None
    """None: it is settled, waits for context, or has failed too often."""
    error: str | None = None
    """Of the last attempt, if that failed."""
    settled_at: datetime | None = None
    relation: Relation | None = None
    """None: it cannot be told yet."""
    confidence: float | None = None
    """From 0 to 1."""
    reason: str | None = None
    step: str | None = None
    """Which step of the intake decided, or `person`."""
    parts: int | None = None
    context: str | None = None
    """Digest of what intake knew when it was last unsure."""
    relations: tuple[Related, ...] = ()

    @property
    def name(self) -> str:
        """The receipt's name for people."""
        return f"R-{self.id}"


class Waiting(Struct, frozen=True, kw_only=True):
    """Something that is not settled, and why."""

    name: str
    """`R-12` or `RUN-34`."""
    state: str
    since: datetime
    reason: str
    needs_person: bool
    """False: it will be tried again without anybody's doing."""
