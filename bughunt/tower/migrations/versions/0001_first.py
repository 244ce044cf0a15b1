"""Questions, runs, evidence and tombstones, with their guards."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
FORM = "____-__-__T__:__:__.______Z".replace("_", "[0-9]")


def upgrade() -> None:
    """Forward only: a tower is never taken back."""
    _question()
    _run()
    _evidence()
    _tombstone()


def _times(name: str, *columns: str) -> sa.CheckConstraint:
    """Times are text: hold it to the one form, in the words of each database."""
    if op.get_bind().dialect.name == "sqlite":
        return sa.CheckConstraint(_all(columns, f"GLOB '{FORM}'"), name=name)
    return sa.CheckConstraint(_all(columns, f"~ '^{FORM.replace('.', '[.]')}$'"), name=f"{name}_TIMES")


def _all(columns: tuple[str, ...], condition: str) -> str:
    return " AND ".join(f"({column} IS NULL OR {column} {condition})" for column in columns)


def _question() -> None:
    op.create_table(
        "question",
        sa.Column("id", ID, nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("charter", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("plan_fingerprint", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("drill", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint(
            "project", "charter", "target", "plan_fingerprint", name="QUESTION_KEY_IS_UNIQUE"
        ),
        sa.UniqueConstraint("id", "project", name="QUESTION_PROJECT"),
        sa.CheckConstraint(
            "id > 0"
            " AND drill IN (0, 1)"
            " AND trim(text) <> ''"
            " AND state IN ('OPEN', 'ANSWERED', 'CLOSED')"
            " AND (drill = 1) = (plan_fingerprint <> '')"
            " AND (drill = 1) = (plan <> '[]')",
            name="QUESTION_IS_MALFORMED",
        ),
        _times("QUESTION_IS_MALFORMED", "created_at"),
        sqlite_strict=True,
    )


def _run() -> None:
    op.create_table(
        "run",
        sa.Column("id", ID, nullable=False),
        sa.Column("question_id", ID, nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("rules_version", sa.Integer(), nullable=False),
        sa.Column("build", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("lease_until", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Text(), nullable=True),
        sa.Column("terminal_at", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("level", sa.Text(), nullable=True),
        sa.Column("landed_at", sa.Text(), nullable=True),
        sa.Column("landing_note", sa.Text(), nullable=True),
        sa.Column("gate_version", sa.Integer(), nullable=True),
        sa.Column("superseded_by", ID, nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(
            ["question_id", "project"], ["question.id", "question.project"], name="RUN_WITHOUT_QUESTION"
        ),
        sa.CheckConstraint(
            "id > 0"
            " AND agent <> ''"
            " AND owner <> ''"
            " AND state IN ('QUEUED', 'RUNNING', 'VERIFYING', 'STALE', 'DONE', 'FAILED', 'CANCELLED',"
            " 'SUPERSEDED')"
            " AND (reason IS NULL OR reason IN ('ENV_ERROR', 'CHECK_ERROR', 'HARNESS_ERROR', 'UNVERIFIED',"
            " 'CLAIM_UNREVIEWED'))"
            " AND (verdict IS NULL OR verdict IN ('PASS', 'BUG', 'ENV_ERROR'))"
            " AND (level IS NULL OR level IN ('E0', 'E1', 'E2', 'E3', 'E4', 'E5'))",
            name="RUN_IS_MALFORMED",
        ),
        _times("RUN_IS_MALFORMED", "created_at", "lease_until", "started_at", "terminal_at", "landed_at"),
        sa.ForeignKeyConstraint(["superseded_by"], ["run.id"], name="run_superseded_by"),
        sqlite_strict=True,
    )
    op.create_index(
        "RUN_KEY_IS_UNIQUE",
        "run",
        ["project", "idempotency_key"],
        unique=True,
        sqlite_where=sa.text("idempotency_key IS NOT NULL"),
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.create_index("run_created", "run", ["created_at"])
    op.create_index(
        "run_lease",
        "run",
        ["lease_until"],
        sqlite_where=sa.text("state IN ('QUEUED', 'RUNNING', 'VERIFYING')"),
        postgresql_where=sa.text("state IN ('QUEUED', 'RUNNING', 'VERIFYING')"),
    )
    op.create_index("run_of_question", "run", ["question_id", "state"])
    op.create_index(
        "run_owner",
        "run",
        ["owner"],
        sqlite_where=sa.text("state IN ('QUEUED', 'RUNNING', 'VERIFYING')"),
        postgresql_where=sa.text("state IN ('QUEUED', 'RUNNING', 'VERIFYING')"),
    )
    op.create_index(
        "run_stale",
        "run",
        ["id"],
        sqlite_where=sa.text("state = 'STALE'"),
        postgresql_where=sa.text("state = 'STALE'"),
    )


def _evidence() -> None:
    op.create_table(
        "evidence",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("load", sa.Integer(), nullable=True),
        sa.Column("ending", sa.Text(), nullable=True),
        sa.Column("signature", sa.Text(), nullable=True),
        sa.Column("cause", sa.Text(), nullable=True),
        sa.Column("layer", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("run_id", "seq", name="EVIDENCE_SEQ_IS_UNIQUE"),
        sa.CheckConstraint(
            "id > 0"
            " AND seq > 0"
            " AND media_type <> ''"
            " AND size >= 0"
            " AND length(digest) = 64"
            " AND trim(digest, '0123456789abcdef') = ''"
            " AND (body IS NULL OR length(body) = size)"
            " AND (load IS NULL OR load > 0)"
            " AND kind IN ('conditions', 'load_started', 'exchanges', 'firing', 'network', 'load',"
            " 'cause', 'screenshot', 'aria', 'trace', 'judgement', 'note')"
            " AND (kind NOT IN ('load', 'network') OR load IS NOT NULL)"
            " AND (kind = 'load') = (ending IS NOT NULL)"
            " AND (ending IS NULL OR ending IN ('held', 'mismatch', 'blocked', 'check_error', 'unclear',"
            " 'held_up', 'harness_error'))"
            " AND (signature IS NULL OR (kind = 'load' AND trim(signature) <> ''))"
            " AND (kind = 'cause') = (cause IS NOT NULL)"
            " AND (kind = 'cause') = (layer IS NOT NULL)"
            " AND (cause IS NULL OR trim(cause) <> '')"
            " AND (layer IS NULL OR layer IN ('network', 'browser', 'model', 'product'))",
            name="EVIDENCE_IS_MALFORMED",
        ),
        _times("EVIDENCE_IS_MALFORMED", "at"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="EVIDENCE_WITHOUT_RUN"),
        sqlite_strict=True,
    )
    op.create_index(
        "EVIDENCE_LOAD_IS_UNIQUE",
        "evidence",
        ["run_id", "kind", "load"],
        unique=True,
        sqlite_where=sa.text("kind IN ('load', 'network')"),
        postgresql_where=sa.text("kind IN ('load', 'network')"),
    )


def _tombstone() -> None:
    op.create_table(
        "tombstone",
        sa.Column("id", ID, nullable=False),
        sa.Column("evidence_id", ID, nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("evidence_id", name="TOMBSTONE_IS_UNIQUE"),
        sa.CheckConstraint(
            "id > 0"
            " AND trim(why) <> ''"
            " AND size >= 0"
            " AND length(digest) = 64"
            " AND trim(digest, '0123456789abcdef') = ''",
            name="TOMBSTONE_IS_MALFORMED",
        ),
        _times("TOMBSTONE_IS_MALFORMED", "at"),
        sa.ForeignKeyConstraint(["evidence_id"], ["evidence.id"], name="TOMBSTONE_WITHOUT_EVIDENCE"),
        sqlite_strict=True,
    )
