"""Options that several commands have, and the names of records."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bughunt.exceptions import UsageError

__all__ = ["AsJson", "Db", "Report", "Workers", "record_name"]

Db = Annotated[
    str | None, typer.Option("--db", metavar="URL", help="sqlite:///path/to/tower.db or postgresql://...")
]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="DIR", help="Write all report formats there.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Investigations at a time.")]

#: No database can number more than 18 digits' worth of records.
_NAME = re.compile(r"(Q|RUN|R)-(\d{1,18})", re.ASCII)

_KINDS = {"Q": ("a question", "Q-12"), "RUN": ("a run", "RUN-34"), "R": ("a message", "R-56")}


def record_name(text: str, kinds: Sequence[str] = ("Q", "RUN")) -> tuple[str, int]:
    """The kind and the number of what a person wrote as `Q-12` or `run-34`. Raises UsageError."""
    known = _NAME.fullmatch(text.upper())
    if known is None or known[1] not in kinds:
        told = " nor ".join(_KINDS[kind][0] for kind in kinds)
        examples = " or ".join(_KINDS[kind][1] for kind in kinds)
        raise UsageError(f"{text:.60} is neither {told}: write {examples}.")
    return known[1], int(known[2])
