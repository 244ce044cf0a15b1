"""Reports: from what the tower holds to HTML, JUnit XML, JSON, Markdown and tables for the terminal."""

from __future__ import annotations

from bughunt.reports.as_json import cause_json, demo_json, investigation_json, render_json, runs_json
from bughunt.reports.attachments import EvidenceBytes
from bughunt.reports.demo import AgentCounts, DemoRow, DemoTable
from bughunt.reports.formats import FORMATS, render
from bughunt.reports.html import render_html
from bughunt.reports.junit import render_junit
from bughunt.reports.markdown import render_demo_markdown, render_markdown
from bughunt.reports.outcomes import Outcome, headline, is_claim, outcome_of, tally, unfired_faults
from bughunt.reports.terminal import demo_table, details, summary_table

__all__ = [
    "FORMATS",
    "AgentCounts",
    "DemoRow",
    "DemoTable",
    "EvidenceBytes",
    "Outcome",
    "cause_json",
    "demo_json",
    "demo_table",
    "details",
    "headline",
    "investigation_json",
    "is_claim",
    "outcome_of",
    "render",
    "render_demo_markdown",
    "render_html",
    "render_json",
    "render_junit",
    "render_markdown",
    "runs_json",
    "summary_table",
    "tally",
    "unfired_faults",
]
