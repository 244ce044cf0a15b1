"""The commands. Each reads its options, calls what does the work, and shows the result."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from bughunt import __version__
from bughunt.agents import AGENTS
from bughunt.bench import demo as experiment
from bughunt.bench.overhead import measure, measure_growth
from bughunt.charters import Charter, load_charters
from bughunt.commands import judging
from bughunt.doctor import examine
from bughunt.exceptions import BughuntError, UsageError
from bughunt.exit_codes import Allowance, ExitCode, exit_code
from bughunt.investigation import Investigation
from bughunt.reports import (
    FORMATS,
    DemoTable,
    demo_json,
    demo_table,
    details,
    render,
    runs_json,
    summary_table,
    unfired_faults,
)
from bughunt.session import Session, carry_out, open_tower
from bughunt.settings import Settings, Target, load_settings, target_at
from bughunt.showing import (
    check_folder,
    one_line,
    save_evidence,
    show_findings,
    show_record,
    write_file,
    write_report,
)
from bughunt.tower import Tower
from fault_routes import FaultError, FaultPlan, parse_plan
from target_apps.cart import CartServer

__all__ = ["main"]

app = typer.Typer(
    name="bughunt",
    help="Investigate a web app while its network is broken on purpose, and get PASS, BUG or ENV_ERROR "
    "with the evidence.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
bench = typer.Typer(help="Measure what bughunt costs.", no_args_is_help=True)
app.add_typer(bench, name="bench")
app.command("rejudge")(judging.rejudge_command)
app.add_typer(judging.corpus, name="corpus")
bench.command("rejudge")(judging.bench_rejudge_command)

#: What people read; with --json, stdout is JSON and nothing else.
people = Console(stderr=True)

Db = Annotated[str | None, typer.Option("--db", metavar="URL", help="sqlite:///path/to/tower.db")]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="DIR", help="Write all report formats there.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Investigations at a time.")]


def main() -> None:
    """The `bughunt` command: turns errors into one line and an exit code."""
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


@app.command()
def run(
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

    Exit codes: 0 all PASS, 1 a BUG, 2 usage or charter error or a fault that never fired, 3 ENV_ERROR,
    4 our own failure, 130 interrupted.
    """
    settings = load_settings()
    with _stdout_is_for_us():
        chosen = _chosen(settings, paths, tag or [], shard)
    if list_only:
        _list(chosen, as_json=as_json)
        return
    allowance = Allowance.parse(max_env_errors)
    aim = _target(settings, base_url, target)
    plan = _plan(fault or [])
    wanted = [_investigation(c, aim, _agent(agent), plan, build, settings) for c in chosen]
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


@app.command()
def demo(
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
        _print_json(demo_json(table))
        return
    _show_demo(table, page)


@app.command()
def show(
    record: Annotated[str, typer.Argument(metavar="Q-n|RUN-n", help="Which question or run.")],
    db: Db = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="DIR", help="Write its evidence there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the record of one question or run, with its evidence."""
    kind, number = _record_name(record)
    with closing(open_tower(load_settings(), db, must_exist=True)) as tower:
        views = tower.views(question=number) if kind == "Q" else [tower.view(number)]
        if as_json:
            _print_json(runs_json(views))
            return
        out = Console()
        if not views:
            people.print(f"{record} has no run yet.")
        for view in views:
            show_record(view, out)
            for file in save_evidence(view, tower, save) if save else ():
                out.print(str(file), highlight=False, soft_wrap=True)


@app.command()
def report(
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


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Check the browser, the database, the folders and the model key, and say what to do."""
    findings = examine(load_settings())
    if as_json:
        _print_json({"checks": msgspec.to_builtins(findings)})
    else:
        show_findings(findings, Console())
    if any(finding.required and not finding.ok for finding in findings):
        raise typer.Exit(ExitCode.HARNESS)


@bench.callback()
def _bench() -> None:
    """Measure what bughunt costs."""


@bench.command()
def overhead(
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
        _print_json({**msgspec.to_builtins(costs), "growth": msgspec.to_builtins(left)})
        return
    typer.echo(f"wall time      {costs.wall_ratio:.2f} of bare (unsettled: {costs.wall_ratio_unsettled:.2f})")
    typer.echo(f"throughput     {costs.throughput_ratio:.2f} of bare, 4 at a time")
    typer.echo(f"memory growth  {left.memory_growth_after_50 / 1e6:.1f} MB after the first 50 of {growth}")
    typer.echo(f"left open      {left.open_files_growth_after_50} files, {left.contexts_left} contexts")


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
    index, _, count = text.partition("/")
    if not (index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
        raise UsageError(f"--shard {text}: write I/N with I from 1 to N, 2/4.")
    return int(index), int(count)


def _target(settings: Settings, base_url: str | None, name: str | None) -> Target:
    if (base_url is None) == (name is None):
        raise UsageError("Say which app to look at: one of --base-url URL and --target NAME.")
    target = target_at(base_url) if base_url is not None else settings.target(name or "")
    if target.storage_state is not None and not Path(target.storage_state).is_file():
        raise UsageError(
            f"The storage state {target.storage_state} is missing: sign in once and save it with "
            "context.storage_state(path=...)."
        )
    return target


def _plan(specs: Sequence[str]) -> FaultPlan:
    try:
        return parse_plan(specs)
    except FaultError as wrong:
        raise UsageError(str(wrong)) from wrong


def _agent(name: str) -> str:
    if name not in AGENTS:
        raise UsageError(f"There is no agent {name}: choose {' or '.join(AGENTS)}.")
    return name


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
    try:
        with _stdout_is_for_us():
            return asyncio.run(carry_out(wanted, tower=tower, workers=workers, console=people, quiet=as_json))
    except KeyboardInterrupt:
        people.print("Interrupted: what was recorded is kept, and the runs under way are CANCELLED.")
        raise typer.Exit(ExitCode.INTERRUPTED) from None


@contextmanager
def _stdout_is_for_us() -> Iterator[None]:
    """What a charter prints goes to stderr: with --json, stdout is JSON and nothing else."""
    with redirect_stdout(sys.stderr):
        yield


def _list(charters: Sequence[Charter], *, as_json: bool) -> None:
    if as_json:
        _print_json([{"charter": c.id, "question": c.question, "tags": c.tags} for c in charters])
        return
    for c in charters:
        typer.echo(f"{c.id}  {c.question}" + (f"  [{', '.join(c.tags)}]" if c.tags else ""))


def _conclude(session: Session, code: ExitCode, *, as_json: bool) -> None:
    if as_json:
        _print_json({**runs_json(session.views, session.failures), "exit_code": int(code)})
    else:
        out = Console()
        out.print(summary_table(session.views))
        for told in filter(None, map(details, session.views)):
            out.print(told, soft_wrap=True)
    for spec in unfired_faults(session.views):
        _tell(f"The planned fault {spec} never fired: no request matched it.")
    for failure in session.failures:
        _tell(failure)


def _tell(line: str) -> None:
    people.print(line, style="red", markup=False, highlight=False, soft_wrap=True)


def _show_demo(table: DemoTable, page: Path | None) -> None:
    out = Console()
    out.print(demo_table(table))
    if page is not None:
        out.print(f"Report: {page}", highlight=False, soft_wrap=True)


def _record_name(text: str) -> tuple[str, int]:
    kind, _, number = text.upper().partition("-")
    if kind not in {"Q", "RUN"} or not number.isdigit():
        raise UsageError(f"{text} is neither a question nor a run: write Q-12 or RUN-34.")
    return kind, int(number)


def _print_json(value: Any) -> None:  # Any: JSON
    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())
