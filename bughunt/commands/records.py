"""`bughunt show` and `bughunt report`: what the tower has."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from msgspec import structs
from rich.console import Console

from bughunt.commands.opening import open_tower
from bughunt.commands.options import AsJson, Db, record_name
from bughunt.commands.output import people, print_json
from bughunt.exceptions import UsageError
from bughunt.reports import FORMATS, render, runs_json
from bughunt.settings import load_settings
from bughunt.showing import save_evidence, save_files, show_receipt, show_record, write_file
from bughunt.tower import Tower

__all__ = ["report_command", "show_command"]


def show_command(
    record: Annotated[str, typer.Argument(metavar="Q-n|RUN-n|R-n", help="Which question, run or message.")],
    db: Db = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="DIR", help="Write its evidence there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the record of one question, run or message, with its evidence."""
    kind, number = record_name(record, ("Q", "RUN", "R"))
    with closing(open_tower(load_settings(), db, must_exist=True)) as tower:
        if kind == "R":
            _show_message(tower, number, save=save, as_json=as_json)
            return
        views = tower.views(question=number) if kind == "Q" else [tower.view(number)]
        if as_json:
            print_json(runs_json(views))
            return
        out = Console()
        if not views:
            people.print(f"{record} has no run yet.")
        for view in views:
            show_record(view, out)
            for file in save_evidence(view, tower, save) if save else ():
                out.print(str(file), highlight=False, soft_wrap=True)


def _show_message(tower: Tower, number: int, *, save: Path | None, as_json: bool) -> None:
    receipt, files = tower.receipt(number), tower.attachments(number)
    if as_json:
        print_json({**structs.asdict(receipt), "files": files})
        return
    out = Console()
    show_receipt(receipt, files, out)
    for file in save_files(receipt, files, tower, save) if save else ():
        out.print(str(file), highlight=False, soft_wrap=True)


def report_command(
    form: Annotated[str, typer.Option("--format", metavar="html|junit|json|md")] = "html",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Else stdout.")
    ] = None,
    db: Db = None,
    everything: Annotated[bool, typer.Option("--all", help="Every run, not only the latest.")] = False,
) -> None:
    """Write a report of what is stored: the latest run of each question by each agent."""
    if form not in FORMATS:
        raise UsageError(f"There is no format {form}: choose {', '.join(FORMATS)}.")
    with closing(open_tower(load_settings(), db, must_exist=True)) as tower:
        views = tower.views(latest=not everything)
        text = render(form, views, evidence_bytes=tower.evidence_bytes, now=datetime.now(UTC))
    if output is None:
        typer.echo(text)
    else:
        write_file(output, text.encode())
        people.print(f"Written: {output}", highlight=False, soft_wrap=True)
