"""`bughunt gate`: are broken networks and bugs told apart, on charters and a build that are believed in?"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Sequence
from contextlib import closing, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from bughunt.charters import Charter, load_charters
from bughunt.commands.aims import aim_of, known_agent
from bughunt.commands.opening import open_tower
from bughunt.commands.options import AsJson, Db, Report, Workers
from bughunt.commands.output import interruptible, people, print_json, stdout_is_for_us, tell
from bughunt.exceptions import UsageError
from bughunt.exit_codes import ExitCode
from bughunt.gate import NAIVE, Case, GateRun, Wanted, bundled_cases, cases_of, gate, gate_exit_code
from bughunt.gating.intervals import MISSING, available
from bughunt.gating.values import GateResult
from bughunt.reports.gate import (
    confusion_table,
    gate_json,
    gate_lines,
    left_out_lines,
    matrix_table,
    render_gate_html,
    share_lines,
)
from bughunt.settings import Keep, LoadSettings, Settings, Target, load_settings
from bughunt.showing import check_folder, write_file, write_report
from bughunt.tower import Tower

__all__ = ["gate_command"]

BUNDLED_DB = "sqlite:///.bughunt/gate.db"
BUNDLED_WORKERS = 8
BUNDLED_DRILLS = 330
QUICK_DRILLS = 64


def gate_command(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH[::NAME]...", help="Charter files or folders.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="The app under test.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="NAME", help="A target of bughunt.toml.")
    ] = None,
    bundled: Annotated[bool, typer.Option("--bundled", help="Our own apps and their charters.")] = False,
    known_bug: Annotated[
        list[str] | None, typer.Option("--known-bug", metavar="CHARTER", help="It must say BUG.")
    ] = None,
    max_false_bugs: Annotated[int, typer.Option("--max-false-bugs", min=0, help="To put up with.")] = 0,
    agent: Annotated[
        str, typer.Option("--agent", metavar="careful|naive", help="Who is tested.")
    ] = "careful",
    compare: Annotated[bool, typer.Option("--compare", help="Show the naive agent beside.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A representative few of the drills.")] = False,
    build: Annotated[str | None, typer.Option("--build", metavar="ID", help="The build under test.")] = None,
    workers: Workers = None,
    db: Db = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Break every declared exchange of every charter in every way, and fail where an answer is wrong.

    Exit codes: 0 no answer is wrong, 1 a false BUG, a missed bug, a fault that went unnoticed or never fired,
    an answer not seen, 2 usage or charter error, 3 nothing is proved: the healthy run failed, the environment
    was in trouble twice, or nothing is declared, 4 our own failure, 130 interrupted.
    """
    settings = load_settings()
    wanted = Wanted(
        agent=_compared_with_naive(agent) if compare else known_agent(agent),
        compare=compare,
        drills=QUICK_DRILLS if quick else BUNDLED_DRILLS if bundled else None,
        workers=workers or (BUNDLED_WORKERS if bundled else settings.workers),
        max_false_bugs=max_false_bugs,
        project="gate" if bundled else settings.project,
        build=build,
        loading=_loading(settings, bundled=bundled),
    )
    if report is not None:
        check_folder(report)
    aims = [] if bundled else [aim_of(settings, base_url, target)]
    with stdout_is_for_us():
        chosen = (
            bundled_cases(quick=quick)
            if _is_bundled(bundled, paths, base_url or target, known_bug)
            else nullcontext(_cases(settings, paths or [], aims[0], known_bug or []))
        )
    place = db or (BUNDLED_DB if bundled else None)
    with chosen as cases, closing(open_tower(settings, place, aims)) as tower:
        ran = _carry_out(cases, wanted, tower, quiet=as_json)
        code = gate_exit_code(ran.result)
        if report is not None:
            _write(report, ran, tower, code)
    _show(ran.result, code, as_json=as_json)
    raise typer.Exit(code)


def _compared_with_naive(agent: str) -> str:
    if known_agent(agent) == NAIVE:
        raise UsageError("--compare shows the naive agent beside another one: leave --agent naive away.")
    return agent


def _loading(settings: Settings, *, bundled: bool) -> LoadSettings:
    """No traces of hundreds of drills: what a wrong answer looked like, `bughunt run --fault` shows again."""
    if bundled:
        # Nothing recovers between two loads of our own apps: what is broken is broken by us.
        return LoadSettings(pause=0, keep=Keep.NOTHING)
    keep = Keep.NOTHING if settings.load.keep is Keep.NOTHING else Keep.PICTURES
    return msgspec.structs.replace(settings.load, keep=keep)


def _is_bundled(
    bundled: bool, paths: Sequence[str] | None, aim: str | None, known_bug: Sequence[str] | None
) -> bool:
    if bundled and (paths or aim or known_bug):
        raise UsageError("--bundled brings its own apps, charters and bugs: give nothing else to look at.")
    return bundled


def _cases(settings: Settings, paths: Sequence[str], target: Target, known_bugs: Sequence[str]) -> list[Case]:
    if not paths:
        raise UsageError("Name the charters: a file, a folder, or FILE::NAME; or --bundled.")
    charters = load_charters(paths, root=Path(settings.root))
    return cases_of(charters, target, [_id_of(name, charters) for name in known_bugs])


def _id_of(name: str, charters: Sequence[Charter]) -> str:
    """The id of the charter that is called so, by its id or its name."""
    fitting = [charter.id for charter in charters if name in (charter.id, charter.name)]
    if len(fitting) > 1:
        raise UsageError(f"--known-bug {name} names {len(fitting)} charters: write {fitting[0]}.")
    if not fitting:
        names = [charter.name for charter in charters]
        near = difflib.get_close_matches(name, names, n=1)
        raise UsageError(
            f"--known-bug {name}: there is no such charter. Did you mean {near[0]}?"
            if near
            else f"--known-bug {name}: there is no such charter among {', '.join(names)}."
        )
    return fitting[0]


def _carry_out(cases: Sequence[Case], wanted: Wanted, tower: Tower, *, quiet: bool) -> GateRun:
    with interruptible(), stdout_is_for_us():
        return asyncio.run(gate(cases, wanted, tower=tower, console=people, quiet=quiet))


def _write(folder: Path, ran: GateRun, tower: Tower, code: ExitCode) -> None:
    write_report(folder, ran.views, tower, failures=ran.result.failures)
    write_file(folder / "gate.html", render_gate_html(ran.result, now=datetime.now(UTC)).encode())
    document = {**gate_json(ran.result), "exit_code": int(code)}
    write_file(folder / "gate.json", msgspec.json.format(msgspec.json.encode(document), indent=2))
    people.print(f"Report: {folder / 'gate.html'}", highlight=False, soft_wrap=True)


def _show(result: GateResult, code: ExitCode, *, as_json: bool) -> None:
    if not available():
        tell(MISSING)
    if as_json:
        print_json({**gate_json(result), "exit_code": int(code)})
        return
    out = Console()
    if result.judged:
        out.print(matrix_table(result))
    out.print(confusion_table(result))
    for share in share_lines(result) if result.judged else ():
        out.print(f"{share.agent}, {share.what}: {share.told}", highlight=False, markup=False)
    for line in gate_lines(result):
        tell(line)
    for line in left_out_lines(result):
        people.print(line, markup=False, highlight=False, soft_wrap=True)
