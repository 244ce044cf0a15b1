"""Evidence within a report: pictures as data URIs, texts, and what is told of what is left out."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

from msgspec import Struct

from bughunt.exceptions import BughuntError
from bughunt.reports.texts import clip, one_line, size
from bughunt.tower.values import Evidence, EvidenceKind, InvestigationView

__all__ = ["Attachments", "EvidenceBytes", "Picture", "Told"]

EvidenceBytes = Callable[[Evidence], bytes]
"""The stored bytes of a piece of evidence: the tower's `evidence_bytes`."""

_PICTURES = frozenset({"image/png", "image/jpeg", "image/webp"})
_TEXT = 20_000
"""Characters of an aria snapshot at most."""


class Picture(Struct, frozen=True, kw_only=True):
    """A screenshot, or why it is not there."""

    src: str | None = None
    """A data URI."""
    note: str | None = None
    name: str = "screenshot"


class Told(Struct, frozen=True, kw_only=True):
    """A file that is too large to be in the report."""

    name: str
    digest: str
    size: str
    note: str | None = None
    """Why it cannot be had any more."""


class Attachments:
    """Reads evidence for one report, within a limit on the pictures' bytes."""

    def __init__(self, evidence_bytes: EvidenceBytes, picture_bytes: int) -> None:
        self._evidence_bytes = evidence_bytes
        self._left = picture_bytes
        self.left_out = 0
        """Pictures for which there was no room."""

    def picture(self, view: InvestigationView, load: int) -> Picture | None:
        """The load's screenshot."""
        item = _latest(view, EvidenceKind.SCREENSHOT, load)
        if item is None:
            return None
        name = one_line(item.name or "screenshot", 80)
        if item.media_type not in _PICTURES:
            return Picture(name=name, note=f"{item.media_type} is no picture that can be shown here")
        if item.size > self._left and item.tombstone is None:
            self.left_out += 1
            return Picture(name=name, note=f"left out to keep this file small ({size(item.size)})")
        data = self._read(item)
        if isinstance(data, str):
            return Picture(name=name, note=data)
        self._left -= len(data)
        return Picture(name=name, src=f"data:{item.media_type};base64,{b64encode(data).decode()}")

    def aria(self, view: InvestigationView, load: int) -> str | None:
        """The load's aria snapshot, or why it is not there."""
        item = _latest(view, EvidenceKind.ARIA, load)
        if item is None:
            return None
        data = self._read(item)
        return data if isinstance(data, str) else clip(data.decode(errors="replace"), _TEXT)

    @staticmethod
    def trace(view: InvestigationView, load: int) -> Told | None:
        """The load's trace: only told of."""
        item = _latest(view, EvidenceKind.TRACE, load)
        if item is None:
            return None
        name = one_line(item.name or "trace.zip", 80)
        return Told(name=name, digest=item.digest, size=size(item.size), note=item.tombstone)

    def _read(self, item: Evidence) -> bytes | str:
        """The bytes; as a string, why they cannot be had: a report tells the rest all the same."""
        if item.tombstone is not None:
            return f"removed: {one_line(item.tombstone)}"
        try:
            return self._evidence_bytes(item)
        except (BughuntError, OSError) as error:
            return f"cannot be read: {one_line(str(error))}"


def _latest(view: InvestigationView, kind: EvidenceKind, load: int) -> Evidence | None:
    return next((e for e in reversed(view.evidence) if e.kind is kind and e.load == load), None)
