"""One command's worth of investigations: close what an earlier process left open, carry out, read back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bughunt.browser.pool import BrowserPool
from bughunt.exceptions import UsageError
from bughunt.investigation import Investigation, question_of
from bughunt.tower import InvestigationView, Run, Tower
from bughunt.verdict.judgement import State
from bughunt.workers import Finished, new_owner, run_all

__all__ = ["Session", "carry_out"]


Done = Callable[[Finished], None]
"""Told of each investigation that is over."""


class Session(Struct, frozen=True, kw_only=True):
    """What one command did."""

    views: tuple[InvestigationView, ...]
    """The runs, in the order in which their investigations were given."""
    failures: tuple[str, ...] = ()
    """Our own failures, one line each."""


async def carry_out(
    investigations: Sequence[Investigation],
    *,
    tower: Tower,
    workers: int,
    console: Console,
    quiet: bool = False,
) -> Session:
    """Carry out all investigations and read back what the tower has of them.

    Raises UsageError without any, BrowserMissing, TowerUnavailable.
    """
    if not investigations:
        raise UsageError("Nothing to investigate: no charter is left after --tag, --shard and the like.")
    _close_abandoned(tower, investigations, console)
    async with BrowserPool.open() as browsers:
        with _progress(console, investigations, quiet=quiet) as done:
            finished = await run_all(
                investigations,
                tower=tower,
                browsers=browsers,
                owner=new_owner(),
                workers=workers,
                done=done,
            )
    by_run = {view.run.id: view for view in tower.views(run_ids=[f.run.id for f in finished if f.run])}
    return Session(
        views=tuple(by_run[f.run.id] for f in finished if f.run),
        failures=tuple(f.failure for f in finished if f.failure),
    )


def _close_abandoned(tower: Tower, investigations: Sequence[Investigation], console: Console) -> None:
    asked = {tower.ask(question_of(what)).id for what in investigations}
    for run in tower.sweep(returning=asked):
        console.print(f"[yellow]{_abandoned(run)}[/]", highlight=False)


def _abandoned(run: Run) -> str:
    next_thing = (
        "a new RUN takes its place" if run.state is State.STALE else "closed as FAILED, HARNESS_ERROR"
    )
    return f"RUN-{run.id} of Q-{run.question} was left open by a process that is gone: {next_thing}."


@contextmanager
def _progress(console: Console, investigations: Sequence[Investigation], *, quiet: bool) -> Iterator[Done]:
    """A bar on a terminal, a line for each investigation elsewhere, nothing where `quiet`."""
    if quiet:
        yield lambda finished: None
    elif not console.is_terminal:
        yield lambda finished: console.print(_line(finished), markup=False, highlight=False, soft_wrap=True)
    else:
        told = TextColumn("{task.description}", markup=False)
        columns = (told, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("Investigating", total=len(investigations))

            def advance(finished: Finished) -> None:
                bar.update(task, advance=1, description=_line(finished)[:60])

            yield advance


def _line(finished: Finished) -> str:
    run, what = finished.run, finished.investigation
    said = "HARNESS_ERROR" if finished.failure or run is None else run.verdict or run.reason or run.state
    broken = " ".join(fault.spec for fault in what.plan.faults)
    return f"{said:13} {what.charter.name} ({what.agent}) {broken}".rstrip()
