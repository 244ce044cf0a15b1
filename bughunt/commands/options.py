"""Options that several commands have, and the names of records."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from bughunt.exceptions import UsageError

__all__ = ["AsJson", "Db", "Report", "Workers", "record_name"]

Db = Annotated[str | None, typer.Option("--db", metavar="URL", help="sqlite:///path/to/tower.db")]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="DIR", help="Write all report formats there.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Investigations at a time.")]

#: No database can number more than 18 digits' worth of records.
_NAME = re.compile(r"(Q|RUN)-(\d{1,18})", re.ASCII)


def record_name(text: str) -> tuple[str, int]:
    """`Q` or `RUN` and the number of what a person wrote as `Q-12` or `run-34`. Raises UsageError."""
    known = _NAME.fullmatch(text.upper())
    if known is None:
        raise UsageError(f"{text:.60} is neither a question nor a run: write Q-12 or RUN-34.")
    return known[1], int(known[2])
