"""Forward migrations of the tower's schema. `HEAD` is what this bughunt reads and writes."""

from __future__ import annotations

__all__ = ["HEAD", "KNOWN"]

KNOWN = ("0001", "0002")
"""Every revision that this bughunt knows, oldest first: reading them must not import alembic (slow)."""

HEAD = KNOWN[-1]
