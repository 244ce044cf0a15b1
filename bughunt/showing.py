"""What the commands print and the files that they write: reports, one record, the doctor's findings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import structs
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bughunt.doctor import Finding
from bughunt.exceptions import BughuntError, EvidenceNotWritten
from bughunt.reports import FORMATS, DemoTable, render
from bughunt.tower import Attachment, EvidenceKind, InvestigationView, Receipt, Tower, Waiting
from bughunt.tower.audit import Audit

__all__ = [
    "check_folder",
    "one_line",
    "receipt_line",
    "save_evidence",
    "save_files",
    "show_audit",
    "show_findings",
    "show_receipt",
    "show_record",
    "visible",
    "waiting_table",
    "write_file",
    "write_report",
]


def write_report(
    folder: Path,
    views: Sequence[InvestigationView],
    tower: Tower,
    *,
    demo: DemoTable | None = None,
    failures: Sequence[str] = (),
) -> Path:
    """Write every format into a folder, the traces beside them; returns the HTML file."""
    now = datetime.now(UTC)
    for form, name in FORMATS.items():
        text = render(form, views, evidence_bytes=tower.evidence_bytes, now=now, demo=demo, failures=failures)
        write_file(folder / name, text.encode())
    for view in views:
        save_evidence(view, tower, folder / "traces", kinds=(EvidenceKind.TRACE,))
    return folder / FORMATS["html"]


def save_evidence(
    view: InvestigationView, tower: Tower, folder: Path, kinds: Sequence[EvidenceKind] | None = None
) -> list[Path]:
    """Write a run's evidence as files that people can open; returns them."""
    written = []
    for evidence in view.evidence:
        if evidence.tombstone is None and (kinds is None or evidence.kind in kinds):
            suffix = "json" if evidence.media_type == "application/json" else "txt"
            name = evidence.name or f"{evidence.seq:03}-{evidence.kind}.{suffix}"
            file = folder / f"{view.name}-{name}"
            write_file(file, tower.evidence_bytes(evidence))
            written.append(file)
    return written


def save_files(receipt: Receipt, files: Sequence[Attachment], tower: Tower, folder: Path) -> list[Path]:
    """Write the files that came with a message; returns them."""
    written = []
    for file in files:
        name = re.sub(r"[^\w.-]", "_", file.name, flags=re.ASCII)[-80:]  # whoever sent it chose the name
        path = folder / f"{receipt.name}-{file.seq}-{name}"
        write_file(path, tower.attachment_bytes(file))
        written.append(path)
    return written


def write_file(file: Path, data: bytes) -> None:
    """Write a file and the folders to it. Raises EvidenceNotWritten, one line."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    except OSError as refused:
        raise EvidenceNotWritten(
            f"{file} cannot be written: {refused.strerror}. Choose another place."
        ) from refused


def check_folder(folder: Path) -> None:
    """Raise EvidenceNotWritten, one line, before the work is done whose result could not be written there."""
    probe = folder / ".bughunt"
    write_file(probe, b"")
    probe.unlink()


def show_findings(findings: Sequence[Finding], console: Console) -> None:
    """The doctor's table."""
    for finding in findings:
        sign = (
            "[green]ok[/]" if finding.ok else ("[red]missing[/]" if finding.required else "[dim]not set[/]")
        )
        console.print(
            f"{sign:22} {escape(finding.what)}: {escape(finding.told)}", highlight=False, soft_wrap=True
        )


def show_record(view: InvestigationView, console: Console) -> None:
    """One run with its evidence."""
    run, key = view.run, view.question.key
    said = run.verdict or run.reason or run.state
    console.print(f"[bold]{view.name}[/] of {view.q}: {escape(key.question)}", highlight=False)
    console.print(f"{said} ({run.state}, {run.level or 'no level'})", highlight=False)
    if view.judgement is not None:
        console.print(escape(view.judgement.sentence), highlight=False, soft_wrap=True)
    for label, value in _facts(view):
        console.print(f"[dim]{label:>9}[/] {escape(value)}", highlight=False, soft_wrap=True)
    console.print(_evidence_table(view))


_PICTURES = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"},
    **dict.fromkeys(range(127, 160), 0xFFFD),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}


def visible(text: str) -> str:
    """Text that others wrote, for a terminal: nothing in it steers that or turns its direction."""
    return text.translate(_PICTURES)


def receipt_line(receipt: Receipt) -> str:
    """What became of a message, in one line."""
    told = f"{receipt.name} {receipt.state}"
    if receipt.relation is not None:
        told += f": {receipt.relation}"
    if receipt.relations:
        told += " of " + ", ".join(f"Q-{related.question}" for related in receipt.relations)
    why = receipt.error or receipt.reason
    return visible(f"{told} ({why})" if why else told)


def show_receipt(receipt: Receipt, files: Sequence[Attachment], console: Console) -> None:
    """One message with what became of it."""
    console.print(f"[bold]{receipt.name}[/] {escape(visible(receipt.summary))}", highlight=False)
    console.print(escape(receipt_line(receipt)), highlight=False, soft_wrap=True)
    facts = [
        ("project", receipt.project),
        ("source", receipt.source),
        ("key", receipt.key),
        ("said", f"{receipt.occurred_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("received", f"{receipt.received_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("reference", receipt.reference or ""),
        ("thread", receipt.thread or ""),
        ("decided by", receipt.step or ""),
        ("certain", "" if receipt.confidence is None else f"{receipt.confidence:.2f}"),
        ("attempts", str(receipt.attempts)),
        ("again at", f"{receipt.next_attempt_at:%Y-%m-%d %H:%M:%S} UTC" if receipt.next_attempt_at else ""),
        *(("file", f"{file.name} ({file.size:,} bytes)") for file in files),
        ("text", receipt.text),
    ]
    for label, value in facts:
        if value:
            console.print(f"[dim]{label:>10}[/] {escape(visible(value))}", highlight=False, soft_wrap=True)


def waiting_table(found: Sequence[Waiting], now: datetime) -> Table:
    """What is not settled, the oldest first."""
    table = Table("what", "state", "since", "for", "why", box=None, header_style="dim")
    for item in found:
        whom = "a person" if item.needs_person else "bughunt"
        table.add_row(item.name, item.state, _age(now - item.since), whom, escape(visible(item.reason)))
    return table


def show_audit(found: Audit, console: Console) -> None:
    """How a tower is, for people."""
    table = Table("", "", box=None, show_header=False)
    for label, counts in (
        ("rows", found.totals),
        ("runs", found.run_states),
        ("questions", found.question_states),
        ("messages", found.receipt_states),
        ("done", found.done_by_level),
        ("done by gate", found.done_by_gate),
        ("duplicates", found.duplicates),
        ("orphans", found.orphans),
        ("legacy debt by gate", found.legacy_debt or {"none": 0}),
    ):
        table.add_row(label, "  ".join(f"{name} {rows:,}" for name, rows in counts.items()) or "none")
    oldest = (
        "" if found.oldest_unsettled is None else f", the oldest {_age(found.at - found.oldest_unsettled)}"
    )
    table.add_row("terminal without time", str(found.terminal_without_time))
    table.add_row("questions nobody tried", f"{found.idle_questions:,}")
    table.add_row("unsettled messages", f"{found.unsettled:,}{oldest}")
    table.add_row("settled after retries", f"{found.settled_after_retries:,} in 7 days")
    table.add_row("false finality", f"{found.false_finality:,}")
    for name, value in structs.asdict(found.metrics).items():
        table.add_row(
            name.replace("_", " ", 1).replace("m", "M", 1), "-" if value is None else f"{value:.4f}"
        )
    console.print(table)
    if found.waiting:
        console.print(waiting_table(found.waiting, found.at))
    state = "[green]sound[/]" if found.sound else "[red]something has happened that may never happen[/]"
    console.print(f"The tower is {state}." if found.sound else state)


def _age(past: timedelta) -> str:
    minutes = max(0, int(past.total_seconds() // 60))
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // (24 * 60)} days"


def _facts(view: InvestigationView) -> list[tuple[str, str]]:
    run, key = view.run, view.question.key
    facts = [
        ("charter", key.charter),
        ("target", key.target),
        ("agent", run.agent),
        ("build", run.build or ""),
        ("plan", " ".join(key.plan)),
        ("landed", f"{run.landed_at:%Y-%m-%d %H:%M:%S} UTC, {run.landing_note}" if run.landed_at else ""),
        *(("unfired", spec) for spec in view.unfired),
        *(("note", note) for note in view.notes),
    ]
    if view.judgement is not None:
        facts += [(f"load {e.load}", f"{e.ending}: {e.reason}") for e in view.judgement.endings]
        facts += [("hint", cause.hint) for cause in view.judgement.causes if cause.hint]
    return [(label, value) for label, value in facts if value]


def _evidence_table(view: InvestigationView) -> Table:
    table = Table("#", "evidence", "load", "bytes", "sha-256", box=None, header_style="dim")
    for evidence in view.evidence:
        told = evidence.tombstone or evidence.digest[:16]
        named = f"{evidence.kind} {evidence.name or evidence.ending or evidence.cause or ''}"
        table.add_row(str(evidence.seq), named, str(evidence.load or ""), str(evidence.size), told)
    return table


def one_line(error: BughuntError) -> str:
    """What an error says, on one line."""
    return " ".join(str(error).split())
