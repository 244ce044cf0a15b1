"""What the gate found: for programs, for a terminal, and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct
from rich.table import Table
from rich.text import Text

from bughunt.gating.intervals import interval
from bughunt.gating.judging import Cell, confusion, false_bugs, matrix, missed_bugs
from bughunt.gating.planning import KINDS
from bughunt.gating.values import GateResult, Interval, Judged, Mistake, Unproved
from bughunt.reports.as_json import cleaned
from bughunt.reports.html import environment, resource
from bughunt.reports.texts import counted, one_line, seconds, when
from bughunt.verdict.judgement import Verdict

__all__ = [
    "confusion_table",
    "gate_json",
    "gate_lines",
    "gate_sentence",
    "left_out_lines",
    "matrix_table",
    "render_gate_html",
    "share_lines",
]

ANSWERS = (Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR, None)
"""What can be said; None: no verdict."""

_COUNTED = (
    ("false_bugs", Mistake.FALSE_BUG, false_bugs),
    ("missed_bugs", Mistake.MISSED_BUG, missed_bugs),
)


def gate_json(result: GateResult) -> dict[str, Any]:
    """All of it, as `bughunt gate --json` prints it. Any: JSON."""
    said: dict[str, Any] = msgspec.to_builtins(
        {
            "agent": result.agent,
            **_agent_json(result.judged),
            "planned": result.planned,
            "max_false_bugs": result.max_false_bugs,
            "wrong": [_judged_json(one) for one in result.wrong()],
            "unfired_faults": [_judged_json(one) for one in result.unfired],
            "disturbed": [_judged_json(one) for one in result.disturbed],
            "left_open": [_judged_json(one) for one in result.left_open],
            "unproved": [_unproved_json(one) for one in result.unproved],
            "matrix": [msgspec.structs.asdict(cell) for cell in matrix(result.judged)],
            "compared": None
            if result.compared is None
            else {
                "agent": "naive",
                **_agent_json(result.compared),
                "failures": result.compared_failures,
            },
            "left_out": result.left_out,
            "check_errors": result.check_errors,
            "failures": result.failures,
            "healthy_runs": result.healthy_runs,
            "asked_again": result.asked_again,
            "seconds": round(result.seconds, 3),
        }
    )
    return cleaned(said)


def _agent_json(judged: Sequence[Judged]) -> dict[str, Any]:
    return {
        "combinations": len(judged),
        **{name: sum(one.mistake is mistake for one in judged) for name, mistake, _ in _COUNTED},
        "confusion": [
            {"truth": truth_in_words(right), **{_answer_word(said): row[said] for said in ANSWERS}}
            for right, row in confusion(judged).items()
        ],
        "intervals": {name: _interval_json(*count(judged)) for name, _, count in _COUNTED},
    }


def _interval_json(count: int, total: int) -> dict[str, Any] | None:
    found = interval(count, total)
    return None if found is None else msgspec.structs.asdict(found)


def _judged_json(one: Judged) -> dict[str, Any]:
    drill = one.combination
    return {
        "target": drill.subject.target,
        "charter": drill.subject.charter,
        "endpoint": drill.endpoint,
        "fault": drill.spec,
        "right": one.right,
        "said": one.said,
        "mistake": one.mistake,
        "fired": one.fired,
        "run": one.run,
        "sentence": one.sentence,
    }


def _unproved_json(one: Unproved) -> dict[str, Any]:
    return {
        "target": one.subject.target,
        "charter": one.subject.charter,
        "expected": one.expected,
        "said": one.said,
        "run": one.run,
        "sentence": one.sentence,
    }


def truth_in_words(right: Sequence[Verdict]) -> str:
    """`BUG or ENV_ERROR`: what a right answer is."""
    return " or ".join(right)


def _answer_word(said: Verdict | None) -> str:
    return said or "none"


def gate_sentence(result: GateResult) -> str:
    """The result in one sentence."""
    if result.unproved:
        return f"Nothing is proved: {counted(len(result.unproved), 'charter')} failed the healthy run."
    if not result.judged:
        return "Nothing is proved: there was nothing to break, since no charter declares an exchange."
    mistakes = Counter(one.mistake for one in result.wrong())
    others = len(result.wrong()) - mistakes[Mistake.FALSE_BUG] - mistakes[Mistake.MISSED_BUG]
    told = [
        f"{counted(mistakes[Mistake.FALSE_BUG], 'false BUG')}",
        f"{counted(mistakes[Mistake.MISSED_BUG], 'missed bug')}",
        f"{counted(others, 'other wrong answer')}",
        f"{counted(len(result.unfired), 'fault')} never fired",
        *([f"{len(result.disturbed)} disturbed"] if result.disturbed else []),
        *([f"{len(result.left_open)} left open after a write"] if result.left_open else []),
    ]
    drills = counted(len(result.judged), "drill")
    of_all = f" of {result.planned}" if result.planned > len(result.judged) else ""
    return f"{drills}{of_all} in {seconds(result.seconds)}: {', '.join(told)}."


def gate_lines(result: GateResult) -> Iterator[str]:
    """What is wrong, or proves nothing, one by one."""
    for lost in result.unproved:
        subject = lost.subject
        mended = " Mended? Then it is no known bug any more." if subject.known_bug else ""
        yield (
            f"{lost.run} {subject.name} ({subject.target}) should have been {lost.expected} in the "
            f"healthy run, and was {lost.said or 'without a verdict'}: {lost.sentence}{mended}"
        )
    for one in result.wrong():
        yield f"{one.run} {one.mistake}: {_where(one)}: {one.sentence}"
    for one in result.disturbed:
        yield f"{one.run} disturbed by trouble that nobody planned: {_where(one)}: {one.sentence}"
    for one in result.unfired:
        yield f"{one.run} never fired: {_where(one)}"
    yield from result.check_errors
    yield from result.failures
    yield from (f"Beside, by the naive agent: {told}" for told in result.compared_failures)


def left_out_lines(result: GateResult) -> Iterator[str]:
    """What was not drilled, one by one."""
    return (f"Left out: {told}" for told in result.left_out)


def _where(one: Judged) -> str:
    drill, right = one.combination, truth_in_words(one.right)
    return f"{drill.subject.name} ({drill.subject.target}) under {drill.spec}, right is {right}"


class ShareLine(Struct, frozen=True, kw_only=True):
    """How often an agent was wrong in one way."""

    agent: str
    what: str
    told: str
    """`0 of 310, 0.0 % (95 %: 0.0 to 1.2 %)`"""


def share_lines(result: GateResult) -> list[ShareLine]:
    """False BUGs and missed bugs of each agent, with their intervals."""
    words = {"false_bugs": "false BUGs", "missed_bugs": "missed bugs"}
    return [
        ShareLine(agent=agent, what=words[name], told=_share(*count(judged), interval(*count(judged))))
        for agent, judged in _agents(result)
        for name, _, count in _COUNTED
    ]


def _agents(result: GateResult) -> list[tuple[str, Sequence[Judged]]]:
    compared = [] if result.compared is None else [("naive", result.compared)]
    return [(result.agent, result.judged), *compared]


def _share(count: int, total: int, found: Interval | None) -> str:
    told = f"{count} of {total}"
    if not total or found is None:
        return told
    return f"{told}, {_percent(count / total)} (95 %: {_percent(found.low)} to {_percent(found.high)})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


class TruthRow(Struct, frozen=True, kw_only=True):
    """A row of the confusion matrix."""

    truth: str
    counts: tuple[tuple[int, bool], ...]
    """For each agent and answer, how often, and whether that is wrong."""


def headings(result: GateResult) -> list[str]:
    """The columns of the confusion matrix: agent and answer."""
    return [f"{agent}: {_answer_word(said)}" for agent, _ in _agents(result) for said in ANSWERS]


def truth_rows(result: GateResult) -> list[TruthRow]:
    """Truth × said, all agents side by side."""
    tables = [confusion(judged) for _, judged in _agents(result)]
    wrong = [
        {(one.right, one.said) for one in judged if one.mistake is not None} for _, judged in _agents(result)
    ]
    return [
        TruthRow(
            truth=truth_in_words(right),
            counts=tuple(
                (table.get(right, Counter())[said], (right, said) in bad)
                for table, bad in zip(tables, wrong, strict=True)
                for said in ANSWERS
            ),
        )
        for right in tables[0]
    ]


def confusion_table(result: GateResult) -> Table:
    """The confusion matrix for a terminal; a wrong answer is marked by more than its colour."""
    drawn = Table(caption=Text(gate_sentence(result)), caption_justify="left")
    for heading in ("right answer", "agent"):
        drawn.add_column(heading)
    for said in ANSWERS:
        drawn.add_column(_answer_word(said), justify="right")
    agents = [agent for agent, _ in _agents(result)]
    for row in truth_rows(result):
        for number, agent in enumerate(agents):
            counts = row.counts[number * len(ANSWERS) : (number + 1) * len(ANSWERS)]
            drawn.add_row("" if number else row.truth, agent, *(_count_cell(n, bad=bad) for n, bad in counts))
    return drawn


def _count_cell(count: int, *, bad: bool) -> Text:
    if bad:
        return Text(f"✗ {count}", style="bold red")
    return Text(str(count)) if count else Text("·", style="dim")


class FlowRow(Struct, frozen=True, kw_only=True):
    """A row of the matrix: one endpoint of one charter, over all builds of an app."""

    target: str
    charter: str
    endpoint: str
    cells: tuple[str, ...]
    """By kind of fault, `always / once`: `env / pass`."""


def flow_rows(result: GateResult) -> list[FlowRow]:
    """Flow × endpoint × fault, in words."""
    grouped: dict[tuple[str, str, str], dict[tuple[str, str], Cell]] = {}
    for cell in matrix(result.judged):
        place = (cell.target, cell.charter.rpartition("::")[2], cell.endpoint)
        grouped.setdefault(place, {})[cell.fault, cell.often] = cell
    kinds = kinds_of(result)
    return [
        FlowRow(
            target=one_line(target, 80),
            charter=one_line(charter, 120),
            endpoint=one_line(endpoint, 120),
            cells=tuple(_pair(cells.get((k, "always")), cells.get((k, "once"))) for k in kinds),
        )
        for (target, charter, endpoint), cells in grouped.items()
    ]


def kinds_of(result: GateResult) -> list[str]:
    """The kinds of faults that occur, in the order of `KINDS`."""
    used = {one.combination.kind for one in result.judged}
    known = [kind.name for kind in KINDS]
    return [*(kind for kind in known if kind in used), *sorted(used - set(known))]


def _pair(always: Cell | None, once: Cell | None) -> str:
    return "" if always is None and once is None else f"{_cell_words(always)} / {_cell_words(once)}"


def _cell_words(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    counts = {
        "pass": cell.passed,
        "env": cell.env,
        "bug": cell.bug,
        "never fired": cell.never_fired,
        "none": cell.no_verdict,
    }
    return " ".join(word if n == 1 else f"{n} {word}" for word, n in counts.items() if n)


def matrix_table(result: GateResult) -> Table:
    """Flow × endpoint × fault for a terminal of any width."""
    drawn = Table(caption=Text("What was said of the fault always / once: which faults."), show_lines=True)
    drawn.caption_justify = "left"
    for heading in ("flow and endpoint", "what was said"):
        drawn.add_column(heading, overflow="fold")
    kinds = kinds_of(result)
    for row in flow_rows(result):
        place = Text(f"{row.charter} ({row.target})\n{row.endpoint}")
        drawn.add_row(place, Text("\n".join(_by_answers(kinds, row.cells))))
    return drawn


def _by_answers(kinds: Sequence[str], cells: Sequence[str]) -> list[str]:
    """`env / pass: reset, 503`, the kinds of which the same was said together."""
    grouped: dict[str, list[str]] = {}
    for kind, cell in zip(kinds, cells, strict=True):
        if cell:
            grouped.setdefault(cell, []).append(kind)
    return [f"{cell}: {', '.join(alike)}" for cell, alike in grouped.items()]


def render_gate_html(result: GateResult, *, now: datetime) -> str:
    """The gate as a page of its own, fetched from nowhere, beside the report of its runs."""
    return (
        environment()
        .get_template("gate.html.j2")
        .render(
            made_at=when(now),
            sentence=gate_sentence(result),
            shares=share_lines(result),
            headings=headings(result),
            rows=truth_rows(result) if result.judged else [],
            kinds=kinds_of(result),
            flows=flow_rows(result),
            lines=[one_line(line, 1000) for line in (*gate_lines(result), *left_out_lines(result))],
            style=resource("report.css"),
        )
    )
