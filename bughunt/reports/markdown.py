"""Markdown for the summary of a CI job. Text from pages and charters cannot break out of its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bughunt.reports.demo import DemoTable
from bughunt.reports.outcomes import (
    Outcome,
    causes_in_words,
    causes_of,
    charter_of,
    headline,
    is_claim,
    loads_in_words,
    outcome_of,
    sentence_of,
    summary_line,
    ticket_in_words,
)
from bughunt.reports.texts import one_line
from bughunt.tower.values import InvestigationView
from bughunt.verdict.wording import causes_sentence

__all__ = ["markdown_text", "render_demo_markdown", "render_markdown"]

_SIGNS: dict[Outcome, str] = {
    Outcome.PASS: "✅",
    Outcome.BUG: "❌",
    Outcome.ENV_ERROR: "⚠️",
    Outcome.KNOWN_BUG: "🎫",
    Outcome.CHECK_ERROR: "❓",
    Outcome.HARNESS_ERROR: "🛠️",
}
_MARKUP = re.compile(r"[\\`*_~|\[\]]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;", "://": "&#58;//", "www.": "www&#46;"}
_ENTITY = re.compile("|".join(re.escape(sign) for sign in _ENTITIES))
_REFERENCE = re.compile(r"([@#])(?=\S)")
_APART = "\u200b"
"""Zero width: no mention and no reference survives it, and nobody sees it."""


def markdown_text(text: str, limit: int = 300) -> str:
    """The text as one line of Markdown that shows it literally: no markup, link or mention of its own."""
    line = _MARKUP.sub(r"\\\g<0>", one_line(text, limit))
    line = _ENTITY.sub(lambda found: _ENTITIES[found.group()], line)
    # Entities hold a `#` of ours: only what follows a sign of the text is taken apart.
    return _REFERENCE.sub(lambda found: _apart(found, line), line)


def _apart(found: re.Match[str], line: str) -> str:
    ours = found.group() == "#" and line[: found.start()].endswith("&")
    return found.group() if ours else found.group() + _APART


def render_markdown(views: Sequence[InvestigationView]) -> str:
    """A headline, a table, and a paragraph for each run that is no PASS."""
    parts = [f"## BugHunt: {headline(views)}", f"{summary_line(views)}."]
    if views:
        parts.append("\n".join(_table(views)))
        parts.extend(_paragraph(view) for view in views if _needs_words(view))
    return "\n\n".join(parts) + "\n"


def _needs_words(view: InvestigationView) -> bool:
    return outcome_of(view) is not Outcome.PASS or bool(view.unfired or ticket_in_words(view))


def _table(views: Sequence[InvestigationView]) -> Iterator[str]:
    yield "| outcome | question | charter | target | agent | loads | causes |"
    yield "|---|---|---|---|---|---|---|"
    for view in views:
        key = view.question.key
        cells = (key.question, charter_of(view)[1], key.target, view.run.agent, loads_in_words(view))
        shown = [markdown_text(cell, 120) for cell in cells]
        yield "| " + " | ".join([_badge(view), *shown, markdown_text(causes_in_words(view))]) + " |"


def _badge(view: InvestigationView) -> str:
    outcome = outcome_of(view)
    word = f"*{outcome}*" if is_claim(outcome) else f"**{outcome}**"
    sign = f"{_SIGNS[outcome]} " if outcome in _SIGNS else ""
    return sign + word.replace("_", "\\_") + (" (drill)" if view.drill else "")


def _paragraph(view: InvestigationView) -> str:
    question = markdown_text(view.question.key.question)
    lines = [f"**{question}** {_badge(view)}, {view.q}, {view.name}", markdown_text(sentence_of(view), 600)]
    hints = dict.fromkeys(cause.hint for cause in causes_of(view) if cause.hint)
    lines.extend(f"Hint: {markdown_text(hint)}." for hint in hints)
    if ticket := ticket_in_words(view):
        lines.append(markdown_text(ticket))
    if view.unfired:
        lines.append(
            "A planned fault never fired: " + ", ".join(markdown_text(spec) for spec in view.unfired) + "."
        )
    return "<br>\n".join(lines)


def render_demo_markdown(table: DemoTable) -> str:
    """The demo's table."""
    lines = [
        "| scenario | truth | naive | careful | loads (+ confirmations) | causes |",
        "|---|---|---|---|---|---|",
    ]
    for row in table.rows:
        words = (row.scenario, row.truth, row.naive or "none", row.careful or "none", row.loads_in_words)
        cells = [markdown_text(str(word)) for word in (*words, causes_sentence(row.causes))]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + f"\n\n{table.sentence}\n"
