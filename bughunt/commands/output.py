"""Where commands print: what people read, and JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import msgspec
import typer
from rich.console import Console

from bughunt.exit_codes import ExitCode

__all__ = ["interruptible", "people", "print_json", "stdout_is_for_us", "tell"]

#: What people read beside the result; with --json, stdout is JSON and nothing else.
people = Console(stderr=True)


def print_json(value: Any) -> None:  # Any: JSON
    """The value on stdout, indented."""
    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def tell(line: str) -> None:
    """One line beside the result that must not be missed."""
    people.print(line, style="red", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def stdout_is_for_us() -> Iterator[None]:
    """What a charter prints goes to stderr: with --json, stdout is JSON and nothing else."""
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C within the block ends the command in good order."""
    try:
        yield
    except KeyboardInterrupt:
        people.print("Interrupted: what was recorded is kept, and the runs under way are CANCELLED.")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
