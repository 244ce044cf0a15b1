"""Options that several commands have, and the names of records."""

from __future__ import annotations

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


def record_name(text: str) -> tuple[str, int]:
    """`Q` or `RUN` and the number of what a person wrote as `Q-12` or `run-34`. Raises UsageError."""
    kind, _, number = text.upper().partition("-")
    if kind not in {"Q", "RUN"} or not (number.isascii() and number.isdigit()):
        raise UsageError(f"{text} is neither a question nor a run: write Q-12 or RUN-34.")
    return kind, int(number)
