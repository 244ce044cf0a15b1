"""The formats of `bughunt report --format`, by name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bughunt.reports.as_json import render_json
from bughunt.reports.attachments import EvidenceBytes
from bughunt.reports.demo import DemoTable
from bughunt.reports.html import render_html
from bughunt.reports.junit import render_junit
from bughunt.reports.markdown import render_demo_markdown, render_markdown
from bughunt.tower.values import InvestigationView

__all__ = ["FORMATS", "render"]

FORMATS: dict[str, str] = {
    "html": "report.html",
    "junit": "junit.xml",
    "json": "report.json",
    "md": "summary.md",
}
"""The formats, and the name of the file that each has in a report's folder."""


def render(
    name: str,
    views: Sequence[InvestigationView],
    *,
    evidence_bytes: EvidenceBytes,
    now: datetime,
    demo: DemoTable | None = None,
    failures: Sequence[str] = (),
) -> str:
    """The report in the format of that name, fit for UTF-8. Raises KeyError for a name not in `FORMATS`."""
    if name == "html":
        return render_html(views, evidence_bytes=evidence_bytes, now=now, demo=demo)
    if name == "md":
        demo_part = f"## Demo\n\n{render_demo_markdown(demo)}\n" if demo is not None else ""
        return demo_part + render_markdown(views)
    return {"junit": render_junit, "json": render_json}[name](views, failures)
