"""`bughunt bench intake`: how often messages are understood rightly."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from bughunt.commands.options import AsJson
from bughunt.commands.output import print_json
from bughunt.exceptions import UsageError

if TYPE_CHECKING:  # what is measured needs the extra
    from bughunt.bench.intake import Score

__all__ = ["bench_intake_command"]


def bench_intake_command(
    gold: Annotated[
        Path | None, typer.Option("--gold", metavar="FILE", help="Labelled messages; else those that ship.")
    ] = None,
    contexts: Annotated[
        Path | None, typer.Option("--contexts", metavar="FILE", help="The open questions beside them.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """How often labelled messages are understood rightly, on products that were not learnt from."""
    if find_spec("sklearn") is None:
        raise UsageError("Intake is measured with its extra: pip install 'bughunt[intake]', then again.")
    if (gold is None) != (contexts is None):
        raise UsageError(
            "--gold and --contexts go together: the one has messages, the other their questions."
        )
    from bughunt.bench.intake import score
    from bughunt.tower.intake.examples import read_examples, shipped_examples

    examples = shipped_examples() if gold is None or contexts is None else read_examples(gold, contexts)
    if not examples:
        raise UsageError(f"{gold} holds no message.")
    found = score(examples)
    if as_json:
        print_json(found)
        return
    _show(found, Console())


def _show(found: Score, out: Console) -> None:
    from bughunt.bench.intake import LABELS

    ratings = Table("label", "messages", "precision", "recall", box=None, header_style="dim")
    for rating in found.ratings:
        ratings.add_row(
            rating.label, str(rating.messages), _percent(rating.precision), _percent(rating.recall)
        )
    confusion = Table("is \\ decided", *LABELS, box=None, header_style="dim")
    for label in LABELS:
        confusion.add_row(label, *(str(found.confusion[label][other] or "") for other in LABELS))
    out.print(ratings)
    out.print()
    out.print(confusion)
    out.print()
    out.print(f"accuracy             {found.accuracy:.3f} of {found.messages} messages", highlight=False)
    out.print(f"right links          {_percent(found.right_links)}", highlight=False)
    out.print(f"right parts          {_percent(found.right_parts)}", highlight=False)
    out.print(f"filler_opened_q      {found.filler_opened_q}", highlight=False)
    out.print(
        f"certain_wrong_links  {found.certain_wrong_links} of {found.certain} decisions"
        f" at {found.confidence_bound} or more",
        highlight=False,
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"
