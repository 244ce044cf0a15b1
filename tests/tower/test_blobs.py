"""The store of bytes beside the database."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from bughunt.exceptions import EvidenceDamaged
from bughunt.tower import EvidenceKind, NewEvidence, Tower
from bughunt.tower.blobs import FileBlobs
from tests.tower.making import ME, begun


@pytest.fixture
def url(place: Path) -> str:
    """Of a file: here it is about files."""
    return f"sqlite:///{place}"


@pytest.fixture
def blobs(tmp_path: Path) -> FileBlobs:
    return FileBlobs(tmp_path / "tower.blobs")


def test_named_after_the_content(blobs: FileBlobs) -> None:
    digest = blobs.write(b"png")
    assert digest == sha256(b"png").hexdigest()
    assert blobs.path(digest) == blobs.folder / digest[:2] / digest
    assert blobs.read(digest) == b"png"


def test_the_same_bytes_are_stored_once(blobs: FileBlobs) -> None:
    digest = blobs.write(b"png")
    written = blobs.path(digest).stat()
    assert blobs.write(b"png") == digest
    now = blobs.path(digest).stat()
    assert (now.st_ino, now.st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
    assert [file.name for file in blobs.folder.rglob("*") if file.is_file()] == [digest]


def test_a_changed_blob_is_reported(blobs: FileBlobs) -> None:
    digest = blobs.write(b"png")
    blobs.path(digest).write_bytes(b"PNG")
    with pytest.raises(EvidenceDamaged, match="was changed after it was written"):
        blobs.read(digest)


def test_a_missing_blob_is_reported(blobs: FileBlobs) -> None:
    digest = blobs.write(b"png")
    blobs.path(digest).unlink()
    with pytest.raises(EvidenceDamaged, match="is missing"):
        blobs.read(digest)


def test_writing_mends_a_changed_blob(blobs: FileBlobs) -> None:
    digest = blobs.write(b"png")
    blobs.path(digest).write_bytes(b"")
    assert blobs.write(b"png") == digest
    assert blobs.read(digest) == b"png"


def test_a_tampered_blob_of_a_run(tower: Tower, place: Path) -> None:
    run = begun(tower)
    tower.add_evidence(
        run.id, ME, [NewEvidence(kind=EvidenceKind.SCREENSHOT, data=b"\x89PNG", media_type="image/png")]
    )
    (item,) = tower.view(run.id).evidence
    assert tower.evidence_bytes(item) == b"\x89PNG"
    file = place.with_suffix(".blobs") / item.digest[:2] / item.digest
    file.write_bytes(b"\x89GIF")
    with pytest.raises(EvidenceDamaged, match=item.digest):
        tower.evidence_bytes(item)
