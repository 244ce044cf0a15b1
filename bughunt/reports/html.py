"""The HTML report: one file, nothing fetched from anywhere.

All text in it comes from pages, charters and records, so nothing of it is trusted: everything is escaped, a
URL is text and never a link, and a content policy in the file lets no script run but the report's own.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import sha256

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bughunt.reports.attachments import Attachments, EvidenceBytes
from bughunt.reports.demo import DemoTable
from bughunt.reports.outcomes import headline, is_claim, lead, outcome_of, summary_line, tally
from bughunt.reports.sections import Badge, badge_of, section_of
from bughunt.reports.texts import clean, seconds, when
from bughunt.tower.values import InvestigationView
from bughunt.verdict.wording import causes_sentence

__all__ = ["PICTURE_BYTES", "environment", "render_html", "resource"]

PICTURE_BYTES = 6_000_000
"""Bytes of all screenshots together, at most, before they are encoded."""


def render_html(
    views: Sequence[InvestigationView],
    *,
    evidence_bytes: EvidenceBytes,
    now: datetime,
    title: str = "BugHunt report",
    demo: DemoTable | None = None,
    picture_bytes: int = PICTURE_BYTES,
) -> str:
    """The report on these runs, dated `now`; `evidence_bytes` is asked for pictures and snapshots.

    Evidence that cannot be read is told of in its place: that alone fails no report.
    """
    attachments = Attachments(evidence_bytes, picture_bytes)
    sections = [section_of(view, attachments) for view in _urgent_first(views)]
    script = resource("report.js")
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            title=title,
            made_at=when(now),
            summary=summary_line(views),
            headline=headline(views),
            lead=lead(views),
            verified=_counts(views, claims=False),
            claims=_counts(views, claims=True),
            sections=sections,
            demo=demo,
            pictures_left_out=attachments.left_out,
            style=resource("report.css"),
            script=script,
            script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        )
    )


def _urgent_first(views: Sequence[InvestigationView]) -> list[InvestigationView]:
    """What needs a person comes first: on the page, and when there is little room for pictures."""
    return sorted(views, key=lambda view: badge_of(outcome_of(view)).rank)


def _counts(views: Sequence[InvestigationView], *, claims: bool) -> list[tuple[Badge, int]]:
    return [(badge_of(outcome), n) for outcome, n in tally(views).items() if is_claim(outcome) is claims]


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Where the templates are, and what they may use. Everything is escaped."""
    made = Environment(
        loader=PackageLoader("bughunt.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    made.filters["seconds"] = seconds
    made.filters["causes_sentence"] = causes_sentence
    made.globals["badge_of"] = badge_of
    return made


def _finalized(value: object) -> object:
    """Whatever is put into the page is fit for UTF-8, before it is escaped."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@lru_cache(maxsize=2)
def resource(name: str) -> Markup:
    """A file of ours that goes into the page as it is."""
    made = environment()
    assert made.loader is not None
    source, _, _ = made.loader.get_source(made, name)
    return Markup(source)  # noqa: S704 - our own file
