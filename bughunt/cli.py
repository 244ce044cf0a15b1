"""The `bughunt` command: puts the commands together, and turns errors into one line and an exit code."""

from __future__ import annotations

import logging
import os
import sys
from typing import Annotated

import typer

from bughunt import __version__
from bughunt.commands import auditing, investigating, judging, machine, messages, records
from bughunt.commands.gate import gate_command
from bughunt.commands.intake import bench_intake_command
from bughunt.commands.output import people
from bughunt.exceptions import BughuntError, UsageError
from bughunt.exit_codes import ExitCode
from bughunt.showing import one_line

__all__ = ["main"]

app = typer.Typer(
    name="bughunt",
    help="Investigate a web app while its network is broken on purpose, and get PASS, BUG or ENV_ERROR "
    "with the evidence.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
tower = typer.Typer(help="Messages, decisions, and how the tower is.", no_args_is_help=True)
bench = typer.Typer(help="Measure what bughunt costs.", no_args_is_help=True)

app.command("run")(investigating.run_command)
app.command("demo")(investigating.demo_command)
app.command("gate")(gate_command)
app.command("show")(records.show_command)
app.command("report")(records.report_command)
app.command("rejudge")(judging.rejudge_command)
app.add_typer(judging.corpus, name="corpus")
app.add_typer(tower, name="tower")
tower.command("receive")(messages.receive_command)
tower.command("resolve")(messages.resolve_command)
tower.command("decide")(messages.decide_command)
tower.command("close")(messages.close_command)
tower.command("reconcile")(messages.reconcile_command)
tower.command("waiting")(messages.waiting_command)
tower.command("audit")(auditing.audit_command)
tower.command("verify")(auditing.verify_command)
app.command("doctor")(machine.doctor_command)
app.add_typer(bench, name="bench")
bench.command("overhead")(machine.overhead_command)
bench.command("rejudge")(judging.bench_rejudge_command)
bench.command("intake")(bench_intake_command)
bench.command("tower")(machine.bench_tower_command)


def main() -> None:
    """Run the command line."""
    logging.basicConfig(level=os.environ.get("BUGHUNT_LOG", "CRITICAL").upper())
    try:
        app()
    except UsageError as error:
        _fail(error, ExitCode.USAGE)
    except BughuntError as error:
        _fail(error, ExitCode.HARNESS)


def _fail(error: BughuntError, code: ExitCode) -> None:
    people.print(one_line(error), style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(code)


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(f"bughunt {__version__}")
        raise typer.Exit


@tower.callback()
def _tower() -> None:
    """Messages, decisions, and how the tower is."""


@bench.callback()
def _bench() -> None:
    """Measure what bughunt costs."""
