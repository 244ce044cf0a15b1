"""Bytes too large for a row: files named after their SHA-256, beside the database."""

from __future__ import annotations

import os
import tempfile
from hashlib import sha256
from pathlib import Path

from bughunt.exceptions import EvidenceDamaged

__all__ = ["Blobs"]


class Blobs:
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
