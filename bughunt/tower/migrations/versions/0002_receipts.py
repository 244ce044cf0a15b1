"""Receipts with their relations and attachments, events, and second parties.

Safe for the rows of before: their history is told as far as the rows tell it, in events of the same form.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
FORM = "____-__-__T__:__:__.______Z".replace("_", "[0-9]")
RELATIONS = "('IGNORE', 'LINK_EXISTING_Q', 'EVIDENCE_OR_ACCEPTANCE', 'NEW_Q', 'SPLIT_TO_N_Q')"
WHY = "as its row had it before events were kept"


def upgrade() -> None:
    """Forward only: a tower is never taken back."""
    for table in ("question", "run"):
        _attribution_of(table)
    number = "INTEGER" if op.get_bind().dialect.name == "sqlite" else "BIGINT"
    op.execute(f"ALTER TABLE run ADD COLUMN cites {number} CONSTRAINT run_cites REFERENCES run (id)")
    op.add_column("run", sa.Column("second_party", sa.Text()))
    _receipt()
    _attachment()
    _relation()
    _event()
    _blob()
    _tell_history()


def _moved() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("moves", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("moved_at", sa.Text()),
        sa.Column("moved_by", sa.Text()),
        sa.Column("moved_why", sa.Text()),
    )


def _attribution_of(table: str) -> None:
    for column in _moved():
        op.add_column(table, column)


def _is_digest(column: str) -> str:
    return f" AND length({column}) = 64 AND trim({column}, '0123456789abcdef') = ''"


def _times(name: str, *columns: str) -> sa.CheckConstraint:
    """Times are text: hold it to the one form, in the words of each database."""
    if op.get_bind().dialect.name == "sqlite":
        return sa.CheckConstraint(_all(columns, f"GLOB '{FORM}'"), name=name)
    return sa.CheckConstraint(_all(columns, f"~ '^{FORM.replace('.', '[.]')}$'"), name=f"{name}_TIMES")


def _all(columns: tuple[str, ...], condition: str) -> str:
    return " AND ".join(f"({column} IS NULL OR {column} {condition})" for column in columns)


def _receipt() -> None:
    op.create_table(
        "receipt",
        sa.Column("id", ID, primary_key=True),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=False),
        sa.Column("occurred_at", sa.Text(), nullable=False),
        sa.Column("received_at", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_digest", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("reference", sa.Text()),
        sa.Column("thread", sa.Text()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("next_attempt_at", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.Column("settled_at", sa.Text()),
        sa.Column("relation", sa.Text()),
        sa.Column("confidence", sa.Double().with_variant(sa.REAL(), "sqlite")),
        sa.Column("reason", sa.Text()),
        sa.Column("step", sa.Text()),
        sa.Column("parts", sa.Integer()),
        sa.Column("context", sa.Text()),
        *_moved(),
        sa.UniqueConstraint("project", "idempotency_key", name="RECEIPT_KEY_IS_UNIQUE"),
        sa.CheckConstraint(
            "id > 0 AND attempts >= 0 AND failures >= 0"
            " AND text <> '' AND idempotency_key <> '' AND source <> ''"
            " AND state IN ('RECEIVED', 'PENDING_CONTEXT', 'FAILED_RETRYABLE', 'PARTIAL', 'APPLIED',"
            " 'IGNORED')"
            f" AND (relation IS NULL OR relation IN {RELATIONS})"
            " AND (confidence IS NULL OR confidence BETWEEN 0 AND 1)"
            " AND (parts IS NULL OR parts > 0)" + _is_digest("text_digest") + _is_digest("digest"),
            name="RECEIPT_IS_MALFORMED",
        ),
        _times("RECEIPT_IS_MALFORMED", "occurred_at", "received_at", "next_attempt_at", "settled_at"),
        sqlite_strict=True,
    )
    unsettled = sa.text("state NOT IN ('APPLIED', 'IGNORED')")
    op.create_index(
        "receipt_unsettled", "receipt", ["id"], sqlite_where=unsettled, postgresql_where=unsettled
    )
    for name in ("reference", "thread"):
        given = sa.text(f"{name} IS NOT NULL")
        op.create_index(
            f"receipt_of_{name}", "receipt", ["project", name], sqlite_where=given, postgresql_where=given
        )


def _attachment() -> None:
    op.create_table(
        "attachment",
        sa.Column("id", ID, primary_key=True),
        sa.Column(
            "receipt_id",
            ID,
            sa.ForeignKey("receipt.id", name="ATTACHMENT_WITHOUT_RECEIPT"),
            nullable=False,
        ),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary()),
        sa.UniqueConstraint("receipt_id", "seq", name="ATTACHMENT_IS_IMMUTABLE"),
        sa.CheckConstraint(
            "id > 0 AND seq > 0 AND name <> '' AND size >= 0" + _is_digest("digest"),
            name="ATTACHMENT_IS_MALFORMED",
        ),
        sqlite_strict=True,
    )


def _relation() -> None:
    op.create_table(
        "relation",
        sa.Column("id", ID, primary_key=True),
        sa.Column(
            "receipt_id",
            ID,
            sa.ForeignKey("receipt.id", name="RELATION_WITHOUT_RECEIPT"),
            nullable=False,
        ),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column(
            "question_id",
            ID,
            sa.ForeignKey("question.id", name="RELATION_WITHOUT_QUESTION"),
            nullable=False,
        ),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.UniqueConstraint("receipt_id", "part", "question_id", name="RELATION_IS_IMMUTABLE"),
        sa.CheckConstraint(f"id > 0 AND part > 0 AND relation IN {RELATIONS}", name="RELATION_IS_MALFORMED"),
        _times("RELATION_IS_MALFORMED", "at"),
        sqlite_strict=True,
    )
    op.create_index("relation_of_question", "relation", ["question_id"])


def _event() -> None:
    subjects = ("run", "question", "receipt")
    op.create_table(
        "event",
        sa.Column("id", ID, primary_key=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer()),
        *(
            sa.Column(
                f"{kind}_id",
                ID,
                sa.ForeignKey(f"{kind}.id", name=f"event_of_a_{kind}"),
            )
            for kind in subjects
        ),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("from_state", sa.Text()),
        sa.Column("to_state", sa.Text()),
        sa.Column("why", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "id > 0 AND kind IN ('run', 'question', 'receipt', 'heartbeat', 'log', 'page')",
            name="EVENT_IS_MALFORMED",
        ),
        _times("EVENT_IS_MALFORMED", "at"),
        sqlite_strict=True,
    )
    for kind in subjects:
        of_kind = sa.text(f"kind = '{kind}'")
        op.create_index(
            f"event_of_{kind}",
            "event",
            [f"{kind}_id", "seq"],
            unique=True,
            sqlite_where=of_kind,
            postgresql_where=of_kind,
        )
    unnumbered = sa.text("seq IS NULL")
    op.create_index(
        "event_of_activity", "event", ["run_id"], sqlite_where=unnumbered, postgresql_where=unnumbered
    )


RAN = "(started_at IS NOT NULL OR state IN ('RUNNING', 'VERIFYING', 'DONE'))"
STARTED = "COALESCE(started_at, created_at)"
PATH = f"""
    SELECT id, question_id, owner, 1 AS seq, created_at AS at, NULL AS a, 'QUEUED' AS b FROM run
    UNION ALL
    SELECT id, question_id, owner, 2, {STARTED}, 'QUEUED', 'RUNNING' FROM run WHERE {RAN}
    UNION ALL
    SELECT id, question_id, owner, 3, {STARTED}, 'RUNNING', 'VERIFYING' FROM run
    WHERE state IN ('VERIFYING', 'DONE')
    UNION ALL
    SELECT id, question_id, owner, CASE WHEN {RAN} THEN 3 ELSE 2 END, COALESCE(terminal_at, lease_until),
           CASE WHEN {RAN} THEN 'RUNNING' ELSE 'QUEUED' END, 'STALE' FROM run
    WHERE state IN ('STALE', 'SUPERSEDED')
    UNION ALL
    SELECT id, question_id, owner,
           CASE WHEN state = 'DONE' THEN 4 WHEN {RAN} THEN 3 ELSE 2 END
               + CASE WHEN state = 'SUPERSEDED' THEN 1 ELSE 0 END,
           COALESCE(terminal_at, created_at),
           CASE WHEN state = 'DONE' THEN 'VERIFYING' WHEN state = 'SUPERSEDED' THEN 'STALE'
                WHEN {RAN} THEN 'RUNNING' ELSE 'QUEUED' END, state
    FROM run WHERE state IN ('DONE', 'FAILED', 'CANCELLED', 'SUPERSEDED')
"""


def _blob() -> None:
    op.create_table(
        "blob",
        sa.Column("digest", sa.Text(), primary_key=True),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint(_is_digest("digest").removeprefix(" AND "), name="BLOB_IS_MALFORMED"),
        sqlite_strict=True,
    )


def _tell_history() -> None:
    op.execute(
        f"INSERT INTO event (kind, seq, run_id, question_id, at, who, from_state, to_state, why)"
        f" SELECT 'run', seq, id, question_id, at, owner, a, b, '{WHY}' FROM ({PATH}) AS path"
        f" ORDER BY id, seq"
    )
    op.execute(
        f"INSERT INTO event (kind, seq, question_id, at, who, from_state, to_state, why)"
        f" SELECT 'question', 1, id, created_at, 'tower', NULL, 'OPEN', '{WHY}' FROM question"
    )
    op.execute(
        f"INSERT INTO event (kind, seq, question_id, at, who, from_state, to_state, why)"
        f" SELECT 'question', 2, id,"
        f" COALESCE((SELECT MIN(terminal_at) FROM run WHERE question_id = question.id AND state = 'DONE'),"
        f" question.created_at), 'tower', 'OPEN', state, '{WHY}' FROM question WHERE state <> 'OPEN'"
    )
    for table in ("run", "question"):
        last = f"FROM event WHERE kind = '{table}' AND {table}_id = {table}.id"
        op.execute(
            f"UPDATE {table} SET moves = (SELECT COUNT(*) {last}),"
            f" moved_at = (SELECT at {last} ORDER BY seq DESC LIMIT 1),"
            f" moved_by = (SELECT who {last} ORDER BY seq DESC LIMIT 1), moved_why = '{WHY}'"
        )
