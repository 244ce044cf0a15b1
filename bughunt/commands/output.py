"""Where commands print: what people read, and JSON for programs."""

from __future__ import annotations

from typing import Any

import msgspec
import typer
from rich.console import Console

__all__ = ["people", "print_json"]

#: What people read beside the result; with --json, stdout is JSON and nothing else.
people = Console(stderr=True)


def print_json(value: Any) -> None:  # Any: JSON
    """The value on stdout, indented."""
    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())
