"""`bughunt doctor` and `bughunt bench overhead`: what this machine has, and what one investigation costs."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from bughunt.bench.overhead import measure, measure_growth
from bughunt.commands.options import AsJson
from bughunt.commands.output import people, print_json
from bughunt.doctor import examine
from bughunt.exceptions import UsageError
from bughunt.exit_codes import ExitCode
from bughunt.settings import load_settings
from bughunt.showing import show_findings

__all__ = ["bench_tower_command", "doctor_command", "overhead_command"]


def doctor_command(as_json: AsJson = False) -> None:
    """Check the browser, the database, the folders and the model key, and say what to do."""
    findings = examine(load_settings())
    if as_json:
        print_json({"checks": msgspec.to_builtins(findings)})
    else:
        show_findings(findings, Console())
    if any(finding.required and not finding.ok for finding in findings):
        raise typer.Exit(ExitCode.HARNESS)


def overhead_command(
    pairs: Annotated[int, typer.Option("--pairs", min=4, help="Pairs of measurements.")] = 40,
    growth: Annotated[
        int, typer.Option("--growth", min=60, help="Investigations to watch memory over.")
    ] = 200,
    as_json: AsJson = False,
) -> None:
    """The careful agent on the healthy cart beside a bare Playwright script of the same steps."""
    costs = asyncio.run(measure(pairs))
    left = asyncio.run(measure_growth(growth))
    if as_json:
        print_json({**msgspec.to_builtins(costs), "growth": msgspec.to_builtins(left)})
        return
    typer.echo(f"wall time      {costs.wall_ratio:.2f} of bare (unsettled: {costs.wall_ratio_unsettled:.2f})")
    typer.echo(f"throughput     {costs.throughput_ratio:.2f} of bare, 4 at a time")
    typer.echo(f"memory growth  {left.memory_growth_after_50 / 1e6:.1f} MB after the first 50 of {growth}")
    typer.echo(f"left open      {left.open_files_growth_after_50} files, {left.contexts_left} contexts")


def bench_tower_command(
    runs: Annotated[int, typer.Option("--runs", min=2000, help="Runs of the large tower.")] = 1_000_000,
    db: Annotated[
        str | None,
        typer.Option("--db", metavar="URL", help="An empty PostgreSQL database, filled and measured too."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Durable receipts and whole runs beside a bare loop of durable inserts, in a small and a large tower."""
    from bughunt.bench.tower import measure

    if db is not None and not db.startswith("postgresql"):
        raise UsageError(f"--db {db}: name an empty PostgreSQL database; a file is measured anyway.")
    places = {"sqlite": None, **({"postgresql": db} if db else {})}
    costs = {name: measure(runs, url, people.print) for name, url in places.items()}
    if as_json:
        print_json(costs)
        return
    for name, cost in costs.items():
        typer.echo(f"{name}")
        typer.echo(f"receipts_ratio  {cost.receipts_ratio:.2f} of {cost.bare_per_s:,.0f} bare rows/s")
        typer.echo(f"runs_per_s      {cost.runs_per_s:.0f}")
        typer.echo(f"growth_ratio    {cost.growth_ratio:.2f} at {cost.runs:,} runs, beside 1,000")
        typer.echo(f"audit_s         {cost.audit_s:.1f}")
