"""What the commands print and the files that they write: reports, one record, the doctor's findings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bughunt.doctor import Finding
from bughunt.exceptions import BughuntError, EvidenceNotWritten
from bughunt.reports import FORMATS, DemoTable, render
from bughunt.tower import EvidenceKind, InvestigationView, Tower

__all__ = [
    "check_folder",
    "one_line",
    "save_evidence",
    "show_findings",
    "show_record",
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
