"""Bytes too large for a row, named after their SHA-256: files beside the database, or a table in it."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from sqlalchemy import Engine, insert, select

from bughunt.exceptions import BlobIsImmutable, EvidenceDamaged
from bughunt.tower import tables
from bughunt.tower.refusals import translated

__all__ = ["Blobs", "FileBlobs", "TableBlobs"]


class Blobs(Protocol):
    """Where large bytes are."""

    def write(self, data: bytes) -> str:
        """Store the bytes durably and return their digest. Writing them again costs no second copy."""
        ...

    def read(self, digest: str) -> bytes:
        """The bytes, if they are still what was written; else EvidenceDamaged is raised."""
        ...


class TableBlobs:
    """The table `blob`, for a database that several machines use."""

    def __init__(self, engine: Engine, where: str) -> None:
        self._engine = engine
        self._where = where

    def write(self, data: bytes) -> str:
        """Store the bytes durably and return their digest. Writing them again costs no second copy."""
        digest = sha256(data).hexdigest()
        already = suppress(BlobIsImmutable)
        with already, translated(self._where), self._engine.begin() as connection:
            connection.execute(insert(tables.blob).values(digest=digest, data=data))
        return digest

    def read(self, digest: str) -> bytes:
        """The bytes, if they are still what was written."""
        with translated(self._where), self._engine.connect() as connection:
            found = connection.execute(
                select(tables.blob.c.data).where(tables.blob.c.digest == digest)
            ).scalar()
        if found is None:
            raise EvidenceDamaged(f"{self._where}: blob {digest} is missing: restore it from a copy")
        if sha256(found).hexdigest() != digest:
            raise EvidenceDamaged(f"{self._where}: blob {digest} was changed: restore it from a copy")
        return bytes(found)


class FileBlobs:
    """A folder `ab/abcd...` of files that never change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Where the bytes with this digest lie, if they do."""
        return self.folder / digest[:2] / digest

    def write(self, data: bytes) -> str:
        """Store the bytes durably and return their digest. Writing them again costs no second copy."""
        digest = sha256(data).hexdigest()
        path = self.path(digest)
        with translated(str(self.folder)):
            if not self._holds(path, data):
                self._create(path, data)
        return digest

    def read(self, digest: str) -> bytes:
        """The bytes, if they are still what was written."""
        path = self.path(digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise EvidenceDamaged(f"{path} is missing: restore the folder from a copy") from error
        if sha256(data).hexdigest() != digest:
            raise EvidenceDamaged(f"{path} was changed after it was written: restore it from a copy")
        return data

    def _holds(self, path: Path, data: bytes) -> bool:
        """Whether it is there, whole: a file that was damaged is written afresh."""
        try:
            return path.read_bytes() == data
        except FileNotFoundError:
            return False

    def _create(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".draft-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
        _sync_folder(self.folder)


def _sync_folder(folder: Path) -> None:
    """Make the new name itself durable. Windows cannot, and need not."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
