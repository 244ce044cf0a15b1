"""Longer questions to a tower, in SQL that both databases understand: one file for each purpose."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from sqlalchemy import TextClause, text

__all__ = ["query"]


@cache
def query(file: str, name: str) -> TextClause:
    """The statement that stands in this file under `-- name: NAME`."""
    return text(_statements(file)[name])


@cache
def _statements(file: str) -> dict[str, str]:
    script = (resources.files(__name__) / f"{file}.sql").read_text(encoding="utf-8")
    named = re.split(r"^-- name: (\w+)$", script, flags=re.MULTILINE)[1:]
    return {name: sql.strip().rstrip(";") for name, sql in zip(named[::2], named[1::2], strict=True)}
