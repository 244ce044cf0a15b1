"""`bughunt tower audit|verify`: how a tower is, and whether it is still what was written."""

from __future__ import annotations

from contextlib import closing

import typer
from msgspec import structs
from rich.console import Console
from rich.progress import Progress, TextColumn

from bughunt.commands.opening import open_tower
from bughunt.commands.options import AsJson, Db
from bughunt.commands.output import people, print_json
from bughunt.settings import load_settings
from bughunt.showing import show_audit, visible

__all__ = ["audit_command", "verify_command"]


def audit_command(db: Db = None, as_json: AsJson = False) -> None:
    """How the tower is: totals, what waits, duplicates, orphans, false finality, old debt, and M1 to M5.

    Changes nothing. Exit codes: 0 nothing has happened that may never happen, 1 something has.
    """
    with closing(open_tower(load_settings(), db, must_exist=True)) as tower:
        found = tower.audit()
    if as_json:
        print_json({**structs.asdict(found), "sound": found.sound})
    else:
        show_audit(found, Console())
    raise typer.Exit(0 if found.sound else 1)


def verify_command(db: Db = None, as_json: AsJson = False) -> None:
    """Compute the hashes of all evidence, messages and files again, and all states from their events.

    Changes nothing. Exit codes: 0 all is as it was written, 1 something is not.
    """
    columns = (TextColumn("verifying"), TextColumn("{task.completed:,} rows"))
    with (
        closing(open_tower(load_settings(), db, must_exist=True)) as tower,
        Progress(*columns, console=people, transient=True, disable=not people.is_terminal) as progress,
    ):
        task = progress.add_task("verifying", total=None)
        found = tower.verify_all(lambda rows: progress.advance(task, rows))
    if as_json:
        print_json(found)
    else:
        for wrong in found.wrong:
            typer.echo(visible(f"{wrong.what}: {wrong.why}"))
        typer.echo(
            f"{found.evidence:,} pieces of evidence ({found.removed:,} removed by retention),"
            f" {found.receipts:,} messages with {found.attachments:,} files,"
            f" {found.replayed:,} histories: {len(found.wrong):,} wrong"
        )
    raise typer.Exit(1 if found.wrong else 0)
