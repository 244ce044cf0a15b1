"""The tables. What holds between them is in `guards/`; constraint names are refusal codes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    CheckConstraint,
    Column,
    Dialect,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.types import TypeDecorator

from bughunt.tower.intake import Relation
from bughunt.tower.states import ReceiptState
from bughunt.tower.values import EventKind, EvidenceKind
from bughunt.verdict.judgement import Ending, Layer, Level, Reason, State, Verdict

__all__ = [
    "ID",
    "LIVE",
    "UNSETTLED",
    "UtcDateTime",
    "attachment",
    "blob",
    "event",
    "evidence",
    "metadata",
    "question",
    "receipt",
    "relation",
    "run",
    "time_text",
    "tombstone",
]


def time_text(value: datetime) -> str:
    """An aware time as it is kept."""
    if value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone")
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time, kept as `2026-01-31T12:00:00.000000Z`, which sorts as it reads."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """Refuses a time without zone, which would mean another moment elsewhere."""
        return None if value is None else time_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:
        """The stored text as an aware time."""
        return None if value is None else datetime.fromisoformat(value)


def _one_of(column: str, values: Iterable[str]) -> str:
    listed = ", ".join(f"'{value}'" for value in values)
    return f"{column} IN ({listed})"


def _or_null(column: str, condition: str) -> str:
    return f"({column} IS NULL OR {condition})"


def _is_digest(column: str) -> str:
    return f"length({column}) = 64 AND trim({column}, '0123456789abcdef') = ''"


def _check(name: str, *conditions: str) -> CheckConstraint:
    return CheckConstraint(" AND ".join(conditions), name=name)


def _times(name: str, *columns: str) -> tuple[CheckConstraint, CheckConstraint]:
    """Times are text, which sorts as it reads: hold it to the one form, in the words of each database."""
    form = "____-__-__T__:__:__.______Z".replace("_", "[0-9]")
    globs = _check(name, *(_or_null(column, f"{column} GLOB '{form}'") for column in columns))
    # There, a table's constraints have each a name of their own.
    matches = _check(
        f"{name}_TIMES", *(_or_null(c, f"{c} ~ '^{form.replace('.', '[.]')}$'") for c in columns)
    )
    return globs.ddl_if(dialect="sqlite"), matches.ddl_if(dialect="postgresql")


ID = BigInteger().with_variant(Integer(), "sqlite")
"""SQLite numbers rows by itself where their type is INTEGER, which holds as much there."""


def _moved() -> tuple[Column[Any], ...]:  # Any: of several types
    """Who brought a row into its present state, when and why: what the guards make its last event of."""
    return (
        Column("moves", Integer, nullable=False, server_default="0"),  # how many events its state has
        Column("moved_at", UtcDateTime),
        Column("moved_by", Text),
        Column("moved_why", Text),
    )


metadata = MetaData()

question = Table(
    "question",
    metadata,
    Column("id", ID, primary_key=True),
    Column("project", Text, nullable=False),
    Column("charter", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("plan_fingerprint", Text, nullable=False),
    Column("plan", Text, nullable=False),  # a JSON array of the plan's specs
    Column("drill", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    *_moved(),
    UniqueConstraint("project", "charter", "target", "plan_fingerprint", name="QUESTION_KEY_IS_UNIQUE"),
    UniqueConstraint("id", "project", name="QUESTION_PROJECT"),  # what a run's foreign key needs
    _check(
        "QUESTION_IS_MALFORMED",
        "id > 0 AND drill IN (0, 1) AND trim(text) <> ''",
        _one_of("state", ("OPEN", "ANSWERED", "CLOSED")),
        "(drill = 1) = (plan_fingerprint <> '') AND (drill = 1) = (plan <> '[]')",
    ),
    *_times("QUESTION_IS_MALFORMED", "created_at"),
    sqlite_strict=True,
)

LIVE = text("state IN ('QUEUED', 'RUNNING', 'VERIFYING')")
"""As a literal, since only then SQLite uses the partial indexes below."""

run = Table(
    "run",
    metadata,
    Column("id", ID, primary_key=True),
    Column("question_id", ID, nullable=False),
    Column("project", Text, nullable=False),
    Column("idempotency_key", Text),
    Column("agent", Text, nullable=False),
    Column("rules_version", Integer, nullable=False),
    Column("build", Text),
    Column("created_at", UtcDateTime, nullable=False),
    Column("state", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("lease_until", UtcDateTime, nullable=False),
    Column("started_at", UtcDateTime),
    Column("terminal_at", UtcDateTime),
    Column("reason", Text),
    Column("verdict", Text),
    Column("level", Text),
    Column("landed_at", UtcDateTime),
    Column("landing_note", Text),
    Column("gate_version", Integer),  # of the gate that said DONE
    Column("superseded_by", ID, ForeignKey("run.id", name="run_superseded_by")),
    *_moved(),
    Column("cites", ID, ForeignKey("run.id", name="run_cites")),  # the RUN that this one repeats or decides
    Column("second_party", Text),  # worker or person: who repeated what an E5 without two loads rests on
    ForeignKeyConstraint(
        ["question_id", "project"], ["question.id", "question.project"], name="RUN_WITHOUT_QUESTION"
    ),
    _check(
        "RUN_IS_MALFORMED",
        "id > 0 AND agent <> '' AND owner <> ''",
        _one_of("state", State),
        _or_null("reason", _one_of("reason", Reason)),
        _or_null("verdict", _one_of("verdict", Verdict)),
        _or_null("level", _one_of("level", Level)),
    ),
    *_times("RUN_IS_MALFORMED", "created_at", "lease_until", "started_at", "terminal_at", "landed_at"),
    sqlite_strict=True,
)

Index(
    "RUN_KEY_IS_UNIQUE",
    run.c.project,
    run.c.idempotency_key,
    unique=True,
    sqlite_where=text("idempotency_key IS NOT NULL"),
    postgresql_where=text("idempotency_key IS NOT NULL"),
)
Index("run_of_question", run.c.question_id, run.c.state)
Index("run_lease", run.c.lease_until, sqlite_where=LIVE, postgresql_where=LIVE)
Index("run_owner", run.c.owner, sqlite_where=LIVE, postgresql_where=LIVE)
Index("run_stale", run.c.id, sqlite_where=text("state = 'STALE'"), postgresql_where=text("state = 'STALE'"))
Index("run_created", run.c.created_at)

evidence = Table(
    "evidence",
    metadata,
    Column("id", ID, primary_key=True),
    Column("run_id", ID, ForeignKey("run.id", name="EVIDENCE_WITHOUT_RUN"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("load", Integer),
    Column("ending", Text),
    Column("signature", Text),
    Column("cause", Text),
    Column("layer", Text),
    Column("name", Text),
    Column("media_type", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("body", LargeBinary),  # None: the bytes are a blob beside the database
    UniqueConstraint("run_id", "seq", name="EVIDENCE_SEQ_IS_UNIQUE"),
    _check(
        "EVIDENCE_IS_MALFORMED",
        "id > 0 AND seq > 0 AND media_type <> '' AND size >= 0",
        _is_digest("digest"),
        _or_null("body", "length(body) = size"),
        _or_null("load", "load > 0"),
        _one_of("kind", EvidenceKind),
        "(kind NOT IN ('load', 'network') OR load IS NOT NULL)",
        "(kind = 'load') = (ending IS NOT NULL)",
        _or_null("ending", _one_of("ending", Ending)),
        _or_null("signature", "(kind = 'load' AND trim(signature) <> '')"),
        "(kind = 'cause') = (cause IS NOT NULL) AND (kind = 'cause') = (layer IS NOT NULL)",
        _or_null("cause", "trim(cause) <> ''"),
        _or_null("layer", _one_of("layer", tuple(Layer))),
    ),
    *_times("EVIDENCE_IS_MALFORMED", "at"),
    sqlite_strict=True,
)

Index(
    "EVIDENCE_LOAD_IS_UNIQUE",
    evidence.c.run_id,
    evidence.c.kind,
    evidence.c.load,
    unique=True,
    sqlite_where=text("kind IN ('load', 'network')"),
    postgresql_where=text("kind IN ('load', 'network')"),
)

blob = Table(
    "blob",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    _check("BLOB_IS_MALFORMED", _is_digest("digest")),
    sqlite_strict=True,
)
"""Where large bytes lie that have no folder beside the database: several machines may use it."""

tombstone = Table(
    "tombstone",
    metadata,
    Column("id", ID, primary_key=True),
    Column(
        "evidence_id",
        ID,
        ForeignKey("evidence.id", name="TOMBSTONE_WITHOUT_EVIDENCE"),
        nullable=False,
    ),
    Column("why", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("digest", Text, nullable=False),
    Column("size", Integer, nullable=False),
    UniqueConstraint("evidence_id", name="TOMBSTONE_IS_UNIQUE"),
    _check("TOMBSTONE_IS_MALFORMED", "id > 0 AND trim(why) <> '' AND size >= 0", _is_digest("digest")),
    *_times("TOMBSTONE_IS_MALFORMED", "at"),
    sqlite_strict=True,
)

UNSETTLED = text("state NOT IN ('APPLIED', 'IGNORED')")

receipt = Table(
    "receipt",
    metadata,
    Column("id", ID, primary_key=True),
    Column("project", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("idempotency_key", Text, nullable=False),
    Column("occurred_at", UtcDateTime, nullable=False),
    Column("received_at", UtcDateTime, nullable=False),
    Column("summary", Text, nullable=False),
    Column("text", Text, nullable=False),  # redacted
    Column("text_digest", Text, nullable=False),  # SHA-256 of the text as it arrived
    Column("digest", Text, nullable=False),  # SHA-256 of the text as it is kept
    Column("reference", Text),
    Column("thread", Text),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),  # how often intake looked at it
    Column("failures", Integer, nullable=False),  # how often it failed since it last did not
    Column("next_attempt_at", UtcDateTime),
    Column("error", Text),
    Column("settled_at", UtcDateTime),
    Column("relation", Text),
    Column("confidence", Double().with_variant(REAL(), "sqlite")),
    Column("reason", Text),
    Column("step", Text),  # of the cascade, or who decided
    Column("parts", Integer),
    Column("context", Text),  # a digest of what intake knew when it was last unsure
    *_moved(),
    UniqueConstraint("project", "idempotency_key", name="RECEIPT_KEY_IS_UNIQUE"),
    _check(
        "RECEIPT_IS_MALFORMED",
        "id > 0 AND attempts >= 0 AND failures >= 0",
        "text <> '' AND idempotency_key <> '' AND source <> ''",
        _one_of("state", ReceiptState),
        _or_null("relation", _one_of("relation", Relation)),
        _or_null("confidence", "confidence BETWEEN 0 AND 1"),
        _or_null("parts", "parts > 0"),
        _is_digest("text_digest"),
        _is_digest("digest"),
    ),
    *_times("RECEIPT_IS_MALFORMED", "occurred_at", "received_at", "next_attempt_at", "settled_at"),
    sqlite_strict=True,
)

Index("receipt_unsettled", receipt.c.id, sqlite_where=UNSETTLED, postgresql_where=UNSETTLED)
for _name in ("reference", "thread"):
    Index(
        f"receipt_of_{_name}",
        receipt.c.project,
        receipt.c[_name],
        sqlite_where=text(f"{_name} IS NOT NULL"),
        postgresql_where=text(f"{_name} IS NOT NULL"),
    )

attachment = Table(
    "attachment",
    metadata,
    Column("id", ID, primary_key=True),
    Column("receipt_id", ID, ForeignKey("receipt.id", name="ATTACHMENT_WITHOUT_RECEIPT"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("body", LargeBinary),  # None: the bytes are a blob
    UniqueConstraint("receipt_id", "seq", name="ATTACHMENT_IS_IMMUTABLE"),
    _check(
        "ATTACHMENT_IS_MALFORMED", "id > 0 AND seq > 0 AND name <> '' AND size >= 0", _is_digest("digest")
    ),
    sqlite_strict=True,
)

relation = Table(
    "relation",
    metadata,
    Column("id", ID, primary_key=True),
    Column("receipt_id", ID, ForeignKey("receipt.id", name="RELATION_WITHOUT_RECEIPT"), nullable=False),
    Column("part", Integer, nullable=False),  # of a split, from 1; else 1
    Column("question_id", ID, ForeignKey("question.id", name="RELATION_WITHOUT_QUESTION"), nullable=False),
    Column("relation", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("who", Text, nullable=False),
    UniqueConstraint("receipt_id", "part", "question_id", name="RELATION_IS_IMMUTABLE"),
    _check("RELATION_IS_MALFORMED", "id > 0 AND part > 0", _one_of("relation", Relation)),
    *_times("RELATION_IS_MALFORMED", "at"),
    sqlite_strict=True,
)

Index("relation_of_question", relation.c.question_id)

event = Table(
    "event",
    metadata,
    Column("id", ID, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("seq", Integer),  # of a state's change: the row's `moves` after it
    Column("run_id", ID, ForeignKey("run.id", name="event_of_a_run")),
    Column("question_id", ID, ForeignKey("question.id", name="event_of_a_question")),
    Column("receipt_id", ID, ForeignKey("receipt.id", name="event_of_a_receipt")),
    Column("at", UtcDateTime, nullable=False),
    Column("who", Text, nullable=False),
    Column("from_state", Text),
    Column("to_state", Text),
    Column("why", Text, nullable=False),
    _check("EVENT_IS_MALFORMED", "id > 0", _one_of("kind", EventKind)),
    *_times("EVENT_IS_MALFORMED", "at"),
    sqlite_strict=True,
)

for _kind in ("run", "question", "receipt"):
    Index(
        f"event_of_{_kind}",
        event.c[f"{_kind}_id"],
        event.c.seq,
        unique=True,
        sqlite_where=text(f"kind = '{_kind}'"),
        postgresql_where=text(f"kind = '{_kind}'"),
    )
Index(
    "event_of_activity",
    event.c.run_id,
    sqlite_where=text("seq IS NULL"),
    postgresql_where=text("seq IS NULL"),
)
