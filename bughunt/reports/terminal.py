"""Tables for the terminal. Texts from pages are never read as rich's markup."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from bughunt.reports.demo import DemoTable
from bughunt.reports.outcomes import (
    Outcome,
    causes_of,
    charter_of,
    headline,
    loads_in_words,
    outcome_of,
    sentence_of,
    ticket_in_words,
)
from bughunt.reports.texts import one_line
from bughunt.tower.values import InvestigationView
from bughunt.verdict.judgement import Verdict
from bughunt.verdict.wording import causes_sentence

__all__ = ["demo_table", "details", "summary_table"]

_STYLES: dict[str, str] = {
    Outcome.PASS: "green",
    Outcome.BUG: "bold red",
    Outcome.ENV_ERROR: "yellow",
    Outcome.KNOWN_BUG: "dim red",
    Outcome.CHECK_ERROR: "magenta",
    Outcome.HARNESS_ERROR: "bold magenta",
    Outcome.CLAIMS_BUG: "italic red",
    Outcome.CLAIMS_PASS: "italic green",
    Outcome.CLAIMS_ENV_ERROR: "italic yellow",
}


def summary_table(views: Sequence[InvestigationView]) -> Table:
    """One row for each run, with the headline beneath."""
    table = Table(caption=Text(headline(views)), caption_justify="left")
    for heading in ("outcome", "run", "charter", "agent", "loads"):
        right = heading == "loads"
        table.add_column(heading, no_wrap=heading != "charter", justify="right" if right else "left")
    for view in views:
        table.add_row(*_cells(view))
    return table


def _cells(view: InvestigationView) -> list[Text]:
    drill = Text(" drill", style="dim") if view.drill else Text()
    words = (view.name, charter_of(view)[1], view.run.agent, loads_in_words(view))
    return [_word(outcome_of(view)) + drill, *(Text(one_line(word, 120)) for word in words)]


def details(view: InvestigationView) -> Text | None:
    """What is to be said of a run beyond its row: why it is no plain PASS, and what to consider."""
    outcome, judgement, ticket = outcome_of(view), view.judgement, ticket_in_words(view)
    plain = not (judgement and (judgement.recovered or judgement.degraded))
    if outcome is Outcome.PASS and plain and not ticket:
        return None
    told = Text(f"{view.name} ").append_text(_word(outcome))
    told.append(" " + one_line(f"{charter_of(view)[1]}: {sentence_of(view)}", 800))
    if ticket:
        told.append(f"\n    {one_line(ticket, 300)}")
    for hint in dict.fromkeys(cause.hint for cause in causes_of(view) if cause.hint):
        told.append(f"\n    Hint: {one_line(hint, 300)}", style="dim")
    return told


def _word(word: str) -> Text:
    return Text(word, style=_STYLES.get(word, ""))


def demo_table(table: DemoTable) -> Table:
    """The demo's table; a wrong answer is marked by more than its colour."""
    drawn = Table(caption=Text(table.sentence), caption_justify="left")
    for heading in ("scenario", "truth", "naive", "careful", "loads", "causes"):
        drawn.add_column(heading, justify="right" if heading == "loads" else "left")
    for row in table.rows:
        answers = (_answer(row.truth, row.naive), _answer(row.truth, row.careful))
        causes = Text(one_line(causes_sentence(row.causes)))
        drawn.add_row(
            Text(one_line(row.scenario)), _word(row.truth), *answers, Text(row.loads_in_words), causes
        )
    return drawn


def _answer(truth: Verdict, said: Verdict | None) -> Text:
    if said is truth:
        return _word(said)
    return Text(f"✗ {said or 'none'}", style="bold red")
