"""What a message must be to be received, and the statements that make its arrival a fact."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct, structs
from sqlalchemy import Connection, Engine, select

from bughunt.exceptions import MessageRefused, NoSuchRecord, ReceiptKeyReused
from bughunt.tower import tables
from bughunt.tower.driver import Insert, transaction
from bughunt.tower.legible import is_readable, storable
from bughunt.tower.rows import receipt_from
from bughunt.tower.states import ReceiptState
from bughunt.tower.transitions import Change, first
from bughunt.tower.values import Attached, Attachment, Message, Receipt

__all__ = [
    "FILES_LIMIT",
    "FILE_LIMIT",
    "TEXT_LIMIT",
    "Arrivals",
    "Kept",
    "attachment_body",
    "attachments",
    "checked",
    "digest_of",
    "known",
    "relations_of",
    "summary_of",
]

TEXT_LIMIT = 256 * 1024
"""Bytes of UTF-8 that a message's text may have."""

FILE_LIMIT = 32 * 1024 * 1024
"""Bytes that one attachment may have."""

FILES_LIMIT = 20
"""Attachments that one message may have."""

NAME_LIMIT = 500
"""Signs of a project, source, reference, thread or file name."""

SUMMARY_LIMIT = 200
"""Signs of a summary; a longer one is cut."""

_KEY = re.compile(r"[!-~]{1,200}")


class Kept(Struct, frozen=True, kw_only=True):
    """An attachment as it will be stored: redacted, and in the blob store where it is large."""

    name: str
    media_type: str
    digest: str
    size: int
    body: bytes | None
    """None: the bytes are a blob."""


def digest_of(text: str) -> str:
    """SHA-256 of a text as it arrived, whatever was wrong with it."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def checked(message: Message) -> Message:
    """The message as it can be stored. Raises MessageRefused, with what to do, where it cannot be."""
    _check_text(message.text)
    if not _KEY.fullmatch(message.key):
        raise MessageRefused(
            f"The key {message.key[:50]!r} is none: 1 to 200 visible ASCII signs without spaces."
        )
    _check_time(message.occurred_at)
    if len(message.attachments) > FILES_LIMIT:
        raise MessageRefused(f"{len(message.attachments)} attachments: a message may have {FILES_LIMIT}.")
    return structs.replace(
        message,
        project=_name("project", message.project),
        source=_name("source", message.source),
        text=storable(message.text),
        summary=None if message.summary is None else storable(message.summary),
        reference=None if message.reference is None else _name("reference", message.reference),
        thread=None if message.thread is None else _name("thread", message.thread),
        attachments=tuple(_checked_file(file) for file in message.attachments),
    )


def _check_time(at: datetime) -> None:
    told = at.isoformat()
    if at.utcoffset() is None:
        raise MessageRefused(f"{told} has no time zone: write {told}Z for UTC.")
    try:
        at.astimezone(UTC)
    except OverflowError as error:  # with its zone, it is before the year 1 or after 9999
        raise MessageRefused(f"{told} is no time that can be kept: write when it was said.") from error


def _check_text(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > TEXT_LIMIT:
        raise MessageRefused(
            f"The text has {size:,} bytes, and a message may have {TEXT_LIMIT:,}: attach it as a file."
        )
    if not is_readable(storable(text)):
        raise MessageRefused("The message has no text: say something in it.")


def _name(what: str, text: str) -> str:
    cleaned = storable(text).strip()
    if not is_readable(cleaned):
        raise MessageRefused(f"The message's {what} is empty: name it.")
    if len(cleaned) > NAME_LIMIT:
        raise MessageRefused(f"The message's {what} has {len(cleaned)} signs, and may have {NAME_LIMIT}.")
    return cleaned


def summary_of(message: Message) -> str:
    """What a message says in one line. It is made without secrets: half of one would not be known for one."""
    given = message.summary or ""
    told = " ".join((given if is_readable(given) else message.text).split())
    return told if len(told) <= SUMMARY_LIMIT else told[: SUMMARY_LIMIT - 1] + "…"


def _checked_file(file: Attached) -> Attached:
    name = _name("file name", file.name)
    if len(file.data) > FILE_LIMIT:
        raise MessageRefused(f"{name} has {len(file.data):,} bytes, and a file may have {FILE_LIMIT:,}.")
    if name.lower().endswith(".har"):
        _check_har(name, file.data)
        return Attached(name=name, data=file.data, media_type="application/json")
    return Attached(name=name, data=file.data, media_type=storable(file.media_type))


class _Log(Struct):
    entries: list[dict[str, Any]]  # Any: JSON


class _Har(Struct):
    log: _Log


def _check_har(name: str, data: bytes) -> None:
    try:
        msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=_Har)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MessageRefused(
            f"{name} is no HAR ({error}): record it anew, or give the file another name."
        ) from error


def known(connection: Connection, message: Message, text_digest: str) -> Receipt:
    """The receipt of this message's key. Raises ReceiptKeyReused where the key came with another text."""
    table = tables.receipt
    same = (table.c.project == message.project, table.c.idempotency_key == message.key)
    row = connection.execute(select(table).where(*same)).mappings().one()
    if row["text_digest"] != text_digest:
        raise ReceiptKeyReused(
            f"The key {message.key!r} belongs to R-{row['id']}, whose text has SHA-256 {row['text_digest']}; "
            f"this text has {text_digest}: give another message a key of its own."
        )
    return receipt_from(row, relations_of(connection, row["id"]))


class Arrivals:
    """Makes messages facts: one short transaction for each."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._receipt = Insert(engine, tables.receipt, [*_RECEIPT, *_FIRST])
        self._file = Insert(engine, tables.attachment, ["receipt_id", "seq", *Kept.__struct_fields__])

    def put(self, message: Message, text_digest: str, files: Sequence[Kept], now: datetime) -> Receipt:
        """A new receipt of this message, redacted already, with its attachments."""
        values = {
            "project": message.project,
            "source": message.source,
            "idempotency_key": message.key,
            "occurred_at": tables.time_text(message.occurred_at),
            "received_at": tables.time_text(now),
            "summary": message.summary,
            "text": message.text,
            "text_digest": text_digest,
            "digest": digest_of(message.text),
            "reference": message.reference,
            "thread": message.thread,
            "attempts": 0,
            "failures": 0,
        }
        change = Change(at=now, who=message.source, why="it arrived")
        told = first(ReceiptState.RECEIVED, change) | {"state": "RECEIVED", "moved_at": values["received_at"]}
        with transaction(self._engine) as cursor:
            number = self._receipt(cursor, values | told)
            for seq, file in enumerate(files, start=1):
                self._file(cursor, {"receipt_id": number, "seq": seq, **structs.asdict(file)})
        return _arrived(number, message, text_digest, now)


_RECEIPT = (
    *("project", "source", "idempotency_key", "occurred_at", "received_at", "summary", "text"),
    *("text_digest", "digest", "reference", "thread", "attempts", "failures"),
)
_FIRST = ("state", "moves", "moved_at", "moved_by", "moved_why")


def _arrived(number: int, message: Message, text_digest: str, now: datetime) -> Receipt:
    return Receipt(
        id=number,
        project=message.project,
        source=message.source,
        key=message.key,
        occurred_at=message.occurred_at,
        received_at=now,
        summary=message.summary or "",
        text=message.text,
        text_digest=text_digest,
        state=ReceiptState.RECEIVED,
        attempts=0,
        failures=0,
        reference=message.reference,
        thread=message.thread,
    )


def relations_of(connection: Connection, receipt_id: int) -> Sequence[Any]:  # Any: rows
    """The relations of this receipt, by part."""
    table = tables.relation
    statement = select(table).where(table.c.receipt_id == receipt_id).order_by(table.c.part, table.c.id)
    return connection.execute(statement).mappings().all()


def attachments(connection: Connection, receipt_id: int) -> list[Attachment]:
    """The files of this receipt, in the order in which they came."""
    table = tables.attachment
    columns = (table.c.seq, table.c.name, table.c.media_type, table.c.digest, table.c.size)
    statement = select(*columns).where(table.c.receipt_id == receipt_id).order_by(table.c.seq)
    return [Attachment(receipt=receipt_id, **row) for row in connection.execute(statement).mappings()]


def attachment_body(connection: Connection, file: Attachment) -> bytes | None:
    """The body in this file's row; None: its bytes are a blob."""
    table = tables.attachment
    known = (table.c.receipt_id == file.receipt, table.c.seq == file.seq, table.c.digest == file.digest)
    row = connection.execute(select(table.c.body).where(*known)).first()
    if row is None:
        raise NoSuchRecord(f"this tower holds no file {file.seq} of R-{file.receipt} like that")
    return None if row.body is None else bytes(row.body)
