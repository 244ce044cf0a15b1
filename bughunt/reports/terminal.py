"""Tables for the terminal. Texts from pages are never read as rich's markup."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from bughunt.reports.demo import DemoTable
from bughunt.reports.outcomes import (
    Outcome,
    causes_in_words,
    charter_of,
    headline,
    loads_in_words,
    outcome_of,
)
from bughunt.reports.texts import one_line
from bughunt.tower.values import InvestigationView
from bughunt.verdict.judgement import Verdict
from bughunt.verdict.wording import causes_sentence

__all__ = ["demo_table", "summary_table"]

_STYLES: dict[str, str] = {
    Outcome.PASS: "green",
    Outcome.BUG: "bold red",
    Outcome.ENV_ERROR: "yellow",
    Outcome.CHECK_ERROR: "magenta",
    Outcome.HARNESS_ERROR: "bold magenta",
    Outcome.CLAIMS_BUG: "italic red",
    Outcome.CLAIMS_PASS: "italic green",
    Outcome.CLAIMS_ENV_ERROR: "italic yellow",
}


def summary_table(views: Sequence[InvestigationView]) -> Table:
    """One row for each run, with the headline beneath."""
    table = Table(caption=Text(headline(views)), caption_justify="left")
    for heading in ("outcome", "question", "charter", "target", "agent"):
        table.add_column(heading, no_wrap=heading == "outcome")
    table.add_column("loads", justify="right")
    table.add_column("causes", ratio=1)
    for view in views:
        table.add_row(*_cells(view))
    return table


def _cells(view: InvestigationView) -> list[Text]:
    outcome, key = outcome_of(view), view.question.key
    drill = Text(" drill", style="dim") if view.drill else Text()
    words = (key.question, charter_of(view)[1], key.target, view.run.agent, loads_in_words(view))
    plain = [Text(one_line(word, 120)) for word in words]
    return [_word(outcome) + drill, *plain, Text(one_line(causes_in_words(view), 400))]


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
