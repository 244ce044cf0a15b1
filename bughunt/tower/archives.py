"""Rewriting the entries of a zip, such as a Playwright trace."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO

__all__ = ["rewritten"]


def rewritten(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes | None:
    """The archive with each entry changed; the very same bytes where none was; None: it cannot be read."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            entries = [(info, archive.read(info)) for info in archive.infolist()]
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError):
        return None
    changed = [(info, change(info.filename, content)) for info, content in entries]
    if all(new == old for (_, new), (_, old) in zip(changed, entries, strict=True)):
        return data
    return _packed(changed)


def _packed(entries: list[tuple[zipfile.ZipInfo, bytes]]) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for info, content in entries:
            fresh = zipfile.ZipInfo(info.filename, info.date_time)
            fresh.compress_type = info.compress_type
            fresh.external_attr = info.external_attr
            archive.writestr(fresh, content)
    return packed.getvalue()
