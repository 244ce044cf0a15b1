"""What the database and the disk say when they refuse, as our exceptions. The one place that translates."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from bughunt import exceptions
from bughunt.exceptions import (
    BrokenInvariant,
    EvidenceDamaged,
    EvidenceNotWritten,
    RunTaken,
    TowerUnavailable,
    TransactionLost,
)

__all__ = ["REFUSALS", "code_of", "refusal_code", "translated", "unavailable"]


def _code(name: str) -> str:
    """`RunIsTerminal` is raised for `RUN_IS_TERMINAL`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()


REFUSALS: dict[str, type[BrokenInvariant]] = {
    _code(kind.__name__): kind
    for kind in BrokenInvariant.__subclasses__()
    if kind.__module__ == exceptions.__name__ and kind not in (RunTaken, EvidenceDamaged)
}
"""One exception type for each code that the guards and the constraints know."""

_MALFORMED = re.compile(r"^(?:NOT NULL constraint failed:|cannot store \w+ value in \w+ column) (\w+)\.")

_QUESTION_KEY = ", ".join(f"question.{part}" for part in ("project", "charter", "target", "plan_fingerprint"))
_UNIQUE = {
    _QUESTION_KEY: "QUESTION_KEY_IS_UNIQUE",
    "question.id": "QUESTION_IDENTITY_IS_FIXED",
    "run.id": "RUN_IS_NEVER_DELETED",
    "run.project, run.idempotency_key": "RUN_KEY_IS_UNIQUE",
    "evidence.id": "EVIDENCE_IS_IMMUTABLE",
    "evidence.run_id, evidence.seq": "EVIDENCE_SEQ_IS_UNIQUE",
    "evidence.run_id, evidence.kind, evidence.load": "EVIDENCE_LOAD_IS_UNIQUE",
    "receipt.id": "RECEIPT_IS_NEVER_DELETED",
    "receipt.project, receipt.idempotency_key": "RECEIPT_KEY_IS_UNIQUE",
    "relation.id": "RELATION_IS_IMMUTABLE",
    "relation.receipt_id, relation.part, relation.question_id": "RELATION_IS_IMMUTABLE",
    "attachment.id": "ATTACHMENT_IS_IMMUTABLE",
    "attachment.receipt_id, attachment.seq": "ATTACHMENT_IS_IMMUTABLE",
    "event.id": "EVENT_IS_IMMUTABLE",
    **{f"event.{kind}_id, event.seq": "EVENT_IS_FORGED" for kind in ("run", "question", "receipt")},
    "tombstone.id": "TOMBSTONE_IS_IMMUTABLE",
    "tombstone.evidence_id": "TOMBSTONE_IS_IMMUTABLE",
}
"""SQLite names the columns of a unique index. The triggers speak first; this is for where they are gone."""


def refusal_code(message: str) -> str | None:
    """The stable code in a database's error text; None: it is no refusal of ours."""
    code: str | None = message
    if found := re.match(r"CHECK constraint failed: (\w+)$", message):
        code = found[1]
    elif found := _MALFORMED.match(message):
        code = f"{found[1].upper()}_IS_MALFORMED"
    elif found := re.match(r"UNIQUE constraint failed: (.*)$", message):
        code = _UNIQUE.get(found[1])
    return code if code in REFUSALS else None


_CONSTRAINTS = {
    "question_pkey": "QUESTION_IDENTITY_IS_FIXED",
    "run_pkey": "RUN_IS_NEVER_DELETED",
    "receipt_pkey": "RECEIPT_IS_NEVER_DELETED",
    "evidence_pkey": "EVIDENCE_IS_IMMUTABLE",
    "tombstone_pkey": "TOMBSTONE_IS_IMMUTABLE",
    "TOMBSTONE_IS_UNIQUE": "TOMBSTONE_IS_IMMUTABLE",
    "relation_pkey": "RELATION_IS_IMMUTABLE",
    "attachment_pkey": "ATTACHMENT_IS_IMMUTABLE",
    "event_pkey": "EVENT_IS_IMMUTABLE",
    "blob_pkey": "BLOB_IS_IMMUTABLE",
    **{f"event_of_{kind}": "EVENT_IS_FORGED" for kind in ("run", "question", "receipt")},
}
"""What PostgreSQL names where no trigger spoke first: of two transactions at once, the second."""


def code_of(error: BaseException) -> str | None:
    """The stable code in a driver's error; None: it is no refusal of ours."""
    diagnosis = getattr(error, "diag", None)  # PostgreSQL tells more than a text
    if diagnosis is None:
        return refusal_code(str(error))
    name = diagnosis.constraint_name
    if name is None and diagnosis.sqlstate == "23502":
        name = f"{diagnosis.table_name.upper()}_IS_MALFORMED"
    code = _CONSTRAINTS.get(name or "", name or "").removesuffix("_TIMES")
    return code if code in REFUSALS else None


_LOST = ("08", "40", "57P")
"""How PostgreSQL begins the codes of what was broken off: connections, transactions, by an administrator."""


def _is_lost(error: DBAPIError) -> bool:
    code = getattr(error.orig, "sqlstate", None)
    return error.connection_invalidated or (code or "").startswith(_LOST)


def _refused(code: str) -> BrokenInvariant:
    kind = REFUSALS[code]
    return kind(f"{code}: {kind.__doc__} Nothing was written. This is a bug of bughunt: please report it.")


_ADVICE = (
    ("database or disk is full", EvidenceNotWritten, "the disk is full: free some space and run again"),
    (
        "disk I/O error",
        EvidenceNotWritten,
        "the disk refuses: look for a full or failing disk, then run again",
    ),
    (
        "readonly database",
        EvidenceNotWritten,
        "it may not be written: allow writing, or name another with --db",
    ),
    ("unable to open", TowerUnavailable, "it cannot be opened: check folder and permissions, or use --db"),
    ("not a database", TowerUnavailable, "this file is no SQLite database: name another with --db"),
    ("malformed", TowerUnavailable, "the file is damaged: restore a copy, or name another with --db"),
    ("database is locked", TowerUnavailable, "another process keeps it locked: end that, or run again later"),
)

_ERRNO = {
    errno.ENOSPC: "the disk is full: free some space and run again",
    errno.EDQUOT: "the disk quota is used up: free some space and run again",
    errno.EFBIG: "the file may not grow (a limit or a full disk): raise the limit or free some space",
    errno.EROFS: "the file system is read-only: name a database elsewhere with --db",
    errno.EACCES: "writing is not allowed there: allow it, or name a database elsewhere with --db",
    errno.EPERM: "writing is not allowed there: allow it, or name a database elsewhere with --db",
}


def unavailable(error: DBAPIError, where: str) -> TowerUnavailable | None:
    """The environment's failure behind a database error; None: it is none."""
    text = str(error.orig)
    for fragment, kind, advice in _ADVICE:
        if fragment in text:
            return kind(f"{where}: {advice} ({text})")
    return None


def _os_failure(error: OSError, where: str) -> TowerUnavailable:
    advice = _ERRNO.get(error.errno or 0)
    place = error.filename or where
    if advice is None:
        return TowerUnavailable(f"{place}: {error.strerror or error}; name a usable place with --db")
    return EvidenceNotWritten(f"{place}: {advice}")


def _first_line(error: DBAPIError) -> str:
    """What a driver says, in one line: servers go on to tell where in a function it was."""
    said = str(error.orig).strip().splitlines()
    return said[0] if said else type(error.orig).__name__


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Raise what the database or the disk refuses as an exception of ours."""
    try:
        yield
    except DBAPIError as error:
        code = None if error.orig is None else code_of(error.orig)
        if code is not None:
            raise _refused(code) from error
        if _is_lost(error):
            raise TransactionLost(
                f"{where}: the server broke off ({_first_line(error)}): do the same again"
            ) from error
        failure = unavailable(error, where)
        if failure is not None:
            raise failure from error
        if isinstance(error, IntegrityError):
            raise BrokenInvariant(f"{_first_line(error)}: nothing was written; please report it") from error
        raise TowerUnavailable(
            f"{where}: {_first_line(error)}; if it stays so, name another with --db"
        ) from error
    except SQLAlchemyError as error:  # no connection was free in time, say
        raise TowerUnavailable(f"{where}: {error}; run again, or name another with --db") from error
    except OSError as error:
        raise _os_failure(error, where) from error
