"""`bughunt run` and `bughunt demo`: investigate, and show what came of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bughunt.bench import demo as experiment
from bughunt.charters import Charter, load_charters
from bughunt.commands.aims import aim_of, known_agent
from bughunt.commands.opening import open_tower
from bughunt.commands.options import AsJson, Db, Report, Workers
from bughunt.commands.output import interruptible, people, print_json, stdout_is_for_us, tell
from bughunt.exceptions import BughuntError, UsageError
from bughunt.exit_codes import Allowance, ExitCode, exit_code
from bughunt.investigation import Investigation
from bughunt.reports import (
    DemoTable,
    demo_json,
    demo_table,
    details,
    runs_json,
    summary_table,
    unfired_faults,
)
from bughunt.session import Session, carry_out
from bughunt.settings import Settings, Target, load_settings
from bughunt.showing import check_folder, write_report
from bughunt.tower import Tower
from fault_routes import FaultError, FaultPlan, parse_plan
from target_apps.cart import CartServer

__all__ = ["demo_command", "run_command"]


def run_command(
    paths: Annotated[list[str], typer.Argument(metavar="PATH[::NAME]...", help="Charter files or folders.")],
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="The app under test.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="NAME", help="A target of bughunt.toml.")
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option("--fault", metavar="SPEC", help="Break this: reset:times=1@**/api/cart"),
    ] = None,
    agent: Annotated[str, typer.Option("--agent", metavar="careful|naive", help="Who looks.")] = "careful",
    tag: Annotated[list[str] | None, typer.Option("--tag", help="Only charters with this tag.")] = None,
    shard: Annotated[str | None, typer.Option("--shard", metavar="I/N", help="The I-th of N shares.")] = None,
    workers: Workers = None,
    db: Db = None,
    report: Report = None,
    build: Annotated[str | None, typer.Option("--build", metavar="ID", help="The build under test.")] = None,
    max_env_errors: Annotated[
        str, typer.Option("--max-env-errors", metavar="N|P%", help="ENV_ERRORs to put up with.")
    ] = "0",
    list_only: Annotated[bool, typer.Option("--list", help="Print what would be investigated.")] = False,
    as_json: AsJson = False,
) -> None:
    """Investigate charters against a target.

    Exit codes: 0 all PASS, or a BUG that is known by its charter's ticket until a day that is not over,
    1 any other BUG, 2 usage or charter error or a fault that never fired, 3 ENV_ERROR, 4 our own failure,
    130 interrupted.
    """
    settings = load_settings()
    with stdout_is_for_us():
        chosen = _chosen(settings, paths, tag or [], shard)
    if list_only:
        _list(chosen, as_json=as_json)
        return
    allowance = Allowance.parse(max_env_errors)
    aim = aim_of(settings, base_url, target)
    plan = _plan(fault or [])
    wanted = [_investigation(c, aim, known_agent(agent), plan, build, settings) for c in chosen]
    if report is not None:
        check_folder(report)
    with closing(open_tower(settings, db, [aim])) as tower:
        session = _carry_out(wanted, tower, workers or settings.workers, as_json=as_json)
        code = exit_code(session.views, failures=len(session.failures), allowance=allowance)
        _conclude(session, code, as_json=as_json)
        if report is not None:
            page = write_report(report, session.views, tower, failures=session.failures)
            people.print(f"Report: {page}", highlight=False, soft_wrap=True)
    raise typer.Exit(code)


def demo_command(
    db: Db = "sqlite:///.bughunt/demo.db",
    report: Report = Path("bughunt-report"),
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Seven scenarios on a shopping cart, a naive agent beside a careful one."""
    settings = load_settings()
    with CartServer() as cart, closing(open_tower(settings, db)) as tower:
        wanted = experiment.investigations(cart.url, settings.load)
        session = _carry_out(wanted, tower, workers or 4, as_json=as_json)
        if session.failures:
            raise BughuntError(session.failures[0])
        table = experiment.table(session.views)
        page = write_report(report, session.views, tower, demo=table) if report else None
    if as_json:
        print_json(demo_json(table))
        return
    _show_demo(table, page)


def _chosen(
    settings: Settings, paths: Sequence[str], tags: Sequence[str], shard: str | None
) -> list[Charter]:
    charters = load_charters(paths, root=Path(settings.root))
    tagged = [c for c in charters if not tags or set(tags) & set(c.tags)]
    if not tagged:
        known = sorted({tag for c in charters for tag in c.tags})
        raise UsageError(f"No charter has the tag {' or '.join(tags)}. Tags: {', '.join(known) or 'none'}.")
    if shard is None:
        return tagged
    index, count = _shard(shard)
    return tagged[index - 1 :: count]


def _shard(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
    index, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= index <= count:
        raise UsageError(f"--shard {text}: write I/N with I from 1 to N, 2/4.")
    return index, count


def _plan(specs: Sequence[str]) -> FaultPlan:
    try:
        return parse_plan(specs)
    except FaultError as wrong:
        raise UsageError(str(wrong)) from wrong


def _investigation(
    charter: Charter, target: Target, agent: str, plan: FaultPlan, build: str | None, settings: Settings
) -> Investigation:
    return Investigation(
        charter=charter,
        target=target,
        agent=agent,
        plan=plan,
        build=build,
        project=settings.project,
        loading=settings.load,
    )


def _carry_out(wanted: Sequence[Investigation], tower: Tower, workers: int, *, as_json: bool) -> Session:
    with interruptible(), stdout_is_for_us():
        return asyncio.run(carry_out(wanted, tower=tower, workers=workers, console=people, quiet=as_json))


def _list(charters: Sequence[Charter], *, as_json: bool) -> None:
    if as_json:
        print_json([{"charter": c.id, "question": c.question, "tags": c.tags} for c in charters])
        return
    for c in charters:
        typer.echo(f"{c.id}  {c.question}" + (f"  [{', '.join(c.tags)}]" if c.tags else ""))


def _conclude(session: Session, code: ExitCode, *, as_json: bool) -> None:
    if as_json:
        print_json({**runs_json(session.views, session.failures), "exit_code": int(code)})
    else:
        out = Console()
        out.print(summary_table(session.views))
        for told in filter(None, map(details, session.views)):
            out.print(told, soft_wrap=True)
    for spec in unfired_faults(session.views):
        tell(f"The planned fault {spec} never fired: no request matched it.")
    for failure in session.failures:
        tell(failure)


def _show_demo(table: DemoTable, page: Path | None) -> None:
    out = Console()
    out.print(demo_table(table))
    if page is not None:
        out.print(f"Report: {page}", highlight=False, soft_wrap=True)
