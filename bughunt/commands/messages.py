"""`bughunt tower receive|resolve|decide|close|reconcile|waiting`: messages, and what people say."""

from __future__ import annotations

import getpass
import secrets
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bughunt.commands.opening import open_tower
from bughunt.commands.options import AsJson, Db, record_name
from bughunt.commands.output import people, print_json
from bughunt.exceptions import MessageRefused, UsageError
from bughunt.exit_codes import ExitCode
from bughunt.settings import load_settings
from bughunt.showing import receipt_line, waiting_table
from bughunt.tower import Attached, Decision, Message, Receipt, Relation, Waiting, now_utc
from bughunt.tower.receiving import FILE_LIMIT
from bughunt.verdict.judgement import Verdict

__all__ = [
    "close_command",
    "decide_command",
    "receive_command",
    "reconcile_command",
    "resolve_command",
    "waiting_command",
]

Who = Annotated[str | None, typer.Option("--who", metavar="NAME", help="Who says so; else the user.")]
Project = Annotated[str | None, typer.Option("--project", metavar="NAME", help="Else the setting `project`.")]


def receive_command(
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT|-", help="The message; with - or without it, stdin.")
    ] = None,
    source: Annotated[str, typer.Option("--source", metavar="NAME", help="Where it comes from.")] = "cli",
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="Its idempotency key; else a new one.")
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="When it was said, with its zone; else now.")
    ] = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="REF", help="What it answers to: Q-12, a reference.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option("--reference", metavar="REF", help="Its own name or address there.")
    ] = None,
    summary: Annotated[str | None, typer.Option("--summary", metavar="TEXT", help="In one line.")] = None,
    attach: Annotated[
        list[Path] | None, typer.Option("--attach", metavar="FILE", help="A file that comes with it.")
    ] = None,
    project: Project = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Receive one message: commit it, then decide to which question it belongs.

    The same key again repeats what came of it, and changes nothing. Exit code 0 means that the message is
    kept, whether or not it was understood.
    """
    settings = load_settings()
    message = Message(
        project=project or settings.project,
        source=source,
        key=key or f"cli:{secrets.token_hex(8)}",
        text=_text(text),
        occurred_at=_time(at),
        summary=summary,
        reference=reference,
        thread=thread,
        attachments=tuple(_attached(path) for path in attach or ()),
    )
    with closing(open_tower(settings, db)) as tower:
        receipt = tower.receive(message)
    _tell(receipt, as_json=as_json)


def resolve_command(
    record: Annotated[str, typer.Argument(metavar="R-n", help="Which message.")],
    link: Annotated[
        list[str] | None, typer.Option("--link", metavar="Q-n", help="It belongs to this question.")
    ] = None,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="It brings a fact about them, or accepts their answer.")
    ] = False,
    new: Annotated[bool, typer.Option("--new", help="It asks something new.")] = False,
    target: Annotated[
        str | None, typer.Option("--target", metavar="NAME", help="About which target it asks.")
    ] = None,
    ignore: Annotated[bool, typer.Option("--ignore", help="It changes nothing.")] = False,
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="In your words.")] = "",
    who: Who = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Say what a message means that waits: that it belongs to questions, asks a new one, or means nothing."""
    links = tuple(_numbered(name, "Q") for name in link or ())
    decision = _said(links, evidence=evidence, new=new, ignore=ignore, target=target, why=why)
    with closing(open_tower(load_settings(), db, must_exist=True)) as tower:
        receipt = tower.resolve(_numbered(record, "R"), who or getpass.getuser(), decision)
    _tell(receipt, as_json=as_json)


def decide_command(
    record: Annotated[str, typer.Argument(metavar="RUN-n", help="Which run, one that is over.")],
    verdict: Annotated[str, typer.Argument(metavar="PASS|BUG", help="What you say.")],
    statement: Annotated[str, typer.Option("--statement", metavar="TEXT", help="What you saw.")],
    who: Who = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Decide a run that is over, as a person: a run of its own, which cites it. Level E5."""
    if verdict.upper() not in (Verdict.PASS, Verdict.BUG):
        raise UsageError(f"{verdict:.40} cannot be decided: say PASS or BUG.")
    number = _numbered(record, "RUN")
    with closing(open_tower(load_settings(), db, must_exist=True)) as tower:
        run = tower.decide(number, who or getpass.getuser(), Verdict(verdict.upper()), statement)
    if as_json:
        print_json(run)
    else:
        typer.echo(f"RUN-{run.id} {run.verdict} ({run.level}), cites RUN-{run.cites} of Q-{run.question}")


def close_command(
    record: Annotated[str, typer.Argument(metavar="Q-n", help="Which question.")],
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="Why nobody wants to know any more.")],
    who: Who = None,
    db: Db = None,
) -> None:
    """Close a question that nobody wants an answer to any more. Asked again, it is open again."""
    if not why.strip():
        raise UsageError("--why is empty: say why nobody wants to know any more.")
    with closing(open_tower(load_settings(), db, must_exist=True)) as tower:
        question = tower.close_question(_numbered(record, "Q"), who or getpass.getuser(), why)
    typer.echo(f"Q-{question.id} is {question.state}")


def reconcile_command(db: Db = None, as_json: AsJson = False) -> None:
    """Bring on what can be brought on without a person, and list what waits.

    Messages whose intake failed, was cut off, or whose context came; runs that nobody holds any more. Safe to
    run at any time, and twice at once. Exit codes: 0 nothing waits for a person, 3 something does.
    """
    with closing(open_tower(load_settings(), db, must_exist=True)) as tower:
        _list(tower.reconcile(), as_json=as_json)


def waiting_command(db: Db = None, as_json: AsJson = False) -> None:
    """List what is not settled, with its age and the reason. Changes nothing.

    Exit codes: 0 nothing waits for a person, 3 something does.
    """
    with closing(open_tower(load_settings(), db, must_exist=True)) as tower:
        _list(tower.waiting(), as_json=as_json)


def _text(given: str | None) -> str:
    if given is not None and given != "-":
        return given
    if sys.stdin.isatty():
        raise UsageError("There is no message: write it behind `receive`, or pipe it in.")
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


def _time(given: str | None) -> datetime:
    if given is None:
        return now_utc()
    try:
        return datetime.fromisoformat(given)
    except ValueError as error:
        raise UsageError(f"{given:.60} is no time: write 2026-01-31T12:00:00Z.") from error


def _attached(path: Path) -> Attached:
    try:
        if path.stat().st_size > FILE_LIMIT:
            raise MessageRefused(f"{path} is too large: an attachment may have {FILE_LIMIT:,} bytes.")
        return Attached(name=path.name, data=path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error


def _numbered(name: str, wanted: str) -> int:
    kind, number = record_name(name, ("Q", "RUN", "R"))
    if kind != wanted:
        raise UsageError(f"{name} is of another kind: write {wanted}-{number}.")
    return number


def _said(
    links: tuple[int, ...], *, evidence: bool, new: bool, ignore: bool, target: str | None, why: str
) -> Decision:
    if (bool(links), new, ignore).count(True) != 1:
        raise UsageError("Say one of --link, --new and --ignore.")
    if evidence and not links:
        raise UsageError("--evidence is about questions: name them with --link.")
    if links:
        relation = Relation.EVIDENCE_OR_ACCEPTANCE if evidence else Relation.LINK_EXISTING_Q
    else:
        relation = Relation.NEW_Q if new else Relation.IGNORE
    return Decision(relation=relation, links=links, target=target, reason=why)


def _tell(receipt: Receipt, *, as_json: bool) -> None:
    if as_json:
        print_json(receipt)
    else:
        typer.echo(receipt_line(receipt))


def _list(found: Sequence[Waiting], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    elif found:
        Console().print(waiting_table(found, now_utc()))
    else:
        people.print("Nothing waits.")
    raise typer.Exit(ExitCode.ENV_ERROR if any(item.needs_person for item in found) else ExitCode.PASSED)
