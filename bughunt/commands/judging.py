"""`bughunt rejudge`, `bughunt corpus add`, `bughunt bench rejudge`: verdicts from stored evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from bughunt.commands.opening import open_tower
from bughunt.commands.options import AsJson, Db, record_name
from bughunt.commands.output import people, print_json
from bughunt.corpus import Case, case_of, file_name, judge, to_bundle, verdict_of
from bughunt.exceptions import EvidenceNotWritten, UsageError
from bughunt.rejudging import Chosen, Outcome, Rejudged, rejudge
from bughunt.reports.rejudged import rejudged_json, rejudged_lines
from bughunt.settings import load_settings
from bughunt.tower import now_utc
from bughunt.verdict.judgement import Verdict

__all__ = ["bench_rejudge_command", "corpus", "corpus_add_command", "parse_since", "rejudge_command"]

corpus = typer.Typer(
    help="Records with their right verdicts, judged on every test run.", no_args_is_help=True
)

_DAYS = re.compile(r"(\d{1,5})d", re.ASCII)


def rejudge_command(
    records: Annotated[
        list[str] | None, typer.Argument(metavar="Q-n|RUN-n", help="Which questions or runs; else all.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE|7d", help="Only runs from then on.")
    ] = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Judge stored runs again by the rules of this version, and say what would change. Changes nothing.

    Exit codes: 0 every verdict would be the same, 1 one would change or need another load, 2 usage error,
    3 nothing is proved: a stored verdict cannot be judged again. 1 goes before 3.
    """
    chosen = _chosen(records or [], since)
    with closing(open_tower(load_settings(), db, must_exist=True)) as tower:
        found = rejudge(tower, chosen)
    code = _exit_code(found)
    if as_json:
        print_json({**rejudged_json(found), "exit_code": code})
    else:
        for line in rejudged_lines(found):
            typer.echo(line)
    raise typer.Exit(code)


@corpus.callback()
def _corpus() -> None:
    """Records with their right verdicts, judged on every test run."""


@corpus.command("add")
def corpus_add_command(
    record: Annotated[str, typer.Argument(metavar="RUN-n", help="The run that it is made of.")],
    verdict: Annotated[
        str, typer.Option("--verdict", metavar="PASS|BUG|ENV_ERROR|NONE", help="The right verdict.")
    ],
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="Why that is right, in your words.")],
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Where the file goes.")] = Path(
        "tests/corpus"
    ),
    db: Db = None,
) -> None:
    """Make a test of a stored run: its loads, small and redacted, with their right verdict."""
    kind, number = record_name(record)
    if kind != "RUN":
        raise UsageError(f"{record} is a question: name one of its runs, RUN-34.")
    right = _verdict(verdict)
    if not why.strip():
        raise UsageError("--why is empty: say why the verdict is right, for who reads the test later.")
    with closing(open_tower(load_settings(), db, must_exist=True)) as tower:
        case = case_of(tower.view(number), right, why.strip(), tower.redactor)
    typer.echo(str(_written(to / file_name(case), to_bundle(case))))
    _tell_what_the_rules_say(case)


def bench_rejudge_command(
    runs: Annotated[int, typer.Option("--runs", min=1, help="Stored runs to judge again.")] = 1000,
    as_json: AsJson = False,
) -> None:
    """How long judging many stored runs again takes, beside reading the same evidence."""
    from bughunt.bench.rejudging import measure  # it takes loads first: no other command here has a browser

    cost = measure(runs)
    if as_json:
        print_json(msgspec.to_builtins(cost))
        return
    typer.echo(f"judged again   {cost.runs} runs with {cost.loads} loads in {cost.seconds:.2f} s")
    typer.echo(f"ratio          {cost.reading_ratio:.2f} of reading the same evidence")


def parse_since(text: str, now: datetime) -> datetime:
    """`2026-03-01`, `2026-03-01T12:00` (UTC unless it says otherwise) or `7d`. Raises UsageError."""
    days = _DAYS.fullmatch(text)
    try:
        if days:
            return now - timedelta(days=int(days[1]))
        instant = datetime.fromisoformat(text)
        return instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"--since {text}: give a date, 2026-03-01, or a number of days, 7d.") from None


def _chosen(records: Sequence[str], since: str | None) -> Chosen:
    names = [record_name(record) for record in records]
    return Chosen(
        questions=frozenset(number for kind, number in names if kind == "Q"),
        runs=frozenset(number for kind, number in names if kind == "RUN"),
        since=None if since is None else parse_since(since, now_utc()),
    )


def _exit_code(found: Sequence[Rejudged]) -> int:
    outcomes = {one.outcome for one in found}
    if outcomes & {Outcome.CHANGED, Outcome.LOAD_AGAIN}:
        return 1
    return 3 if Outcome.UNREADABLE in outcomes else 0


def _verdict(text: str) -> Verdict | None:
    known = {**{verdict.value: verdict for verdict in Verdict}, "NONE": None}
    if text.upper() not in known:
        raise UsageError(f"There is no verdict {text}: choose {', '.join(known)}.")
    return known[text.upper()]


def _written(file: Path, data: bytes) -> Path:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    except OSError as error:
        raise EvidenceNotWritten(
            f"{file} cannot be written ({error.strerror}): choose another --to."
        ) from error
    return file


def _tell_what_the_rules_say(case: Case) -> None:
    said, right = verdict_of(judge(case)), case.verdict or "NONE"
    if said != right:
        told = f"The rules say {said}, not {right}: its test fails until they are mended."
        people.print(told, style="yellow", markup=False, highlight=False, soft_wrap=True)
