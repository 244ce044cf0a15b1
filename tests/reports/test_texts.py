"""Markdown, JSON and terminal tables: what they hold, and what no text can make of them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence

import pytest
from rich.console import Console

from bughunt.reports import (
    FORMATS,
    DemoRow,
    DemoTable,
    Outcome,
    demo_json,
    demo_table,
    details,
    headline,
    investigation_json,
    outcome_of,
    render,
    render_demo_markdown,
    render_json,
    render_markdown,
    summary_table,
    tally,
)
from bughunt.reports.markdown import markdown_text
from bughunt.reports.texts import clean, clip, place, seconds, size
from bughunt.reports.wording import ENDING_WORDS, KIND_WORDS, LEVEL_WORDS
from bughunt.tower.values import InvestigationView
from bughunt.verdict.judgement import CauseKind, Ending, Level, State, Verdict
from tests.reports import samples

NASTY = "a|b\n| --- |\r`x` <img src=x> [l](javascript:a) ![i](http://evil.test/) **b** @team #12 $x$\x1b[31m"


def printed(*told: object) -> str:
    """What a terminal would show."""
    stream = io.StringIO()
    Console(file=stream, width=160, force_terminal=False).print(*told)
    return stream.getvalue()


def nasty() -> InvestigationView:
    """A BUG with hostile words in all places."""
    named = {"question": NASTY, "charter": f"a.py::{NASTY}", "target": NASTY}
    return samples.bug(1, NASTY, key=named, plan=(NASTY,), unfired=(NASTY,))


# Markdown


def test_markdown_has_a_row_for_each_run_and_a_paragraph_for_what_needs_a_person() -> None:
    text = render_markdown([samples.passed(1), samples.bug(2), samples.env_error(3)])
    assert text.startswith("## BugHunt: 1 BUG, 1 ENV_ERROR, 1 PASS\n")
    assert len(re.findall(r"^\| .*RUN|^\| (?:✅|❌|⚠️) ", text, re.MULTILINE)) == 3
    assert "RUN-2" in text
    assert "RUN-1" not in text
    assert "on both loads" in text


def test_no_text_breaks_out_of_a_markdown_table() -> None:
    text = render_markdown([nasty()])
    (row,) = [line for line in text.splitlines() if line.startswith("| ❌")]
    assert len(re.findall(r"(?<!\\)\|", row)) == 8
    assert "<img" not in text
    assert not re.search(r"(?<!\\)[`\[]", text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@team", "@\u200bteam"),
        ("#12", "#\u200b12"),
        ("a|b", "a\\|b"),
        ("a\nb", "a b"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("http://evil.test", "http&#58;//evil.test"),
        ("www.evil.test", "www&#46;evil.test"),
        ("$x$", "&#36;x&#36;"),
        ("\\", "\\\\"),
        ("snake_case", "snake\\_case"),
    ],
)
def test_markdown_shows_text_literally(text: str, shown: str) -> None:
    assert markdown_text(text) == shown


def test_markdown_of_nothing_says_so() -> None:
    assert render_markdown([]) == "## BugHunt: no investigation\n\n0 investigations.\n"


# JSON


def test_json_has_the_keys_that_programs_rely_on() -> None:
    found = investigation_json(samples.env_error(4, "reset@**/api/cart"))
    promised = ["charter", "question", "q", "run", "state", "verdict", "level"]
    promised += ["loads", "confirmations", "rule", "reason", "causes"]
    assert list(found)[: len(promised)] == promised
    assert (found["q"], found["run"], found["state"], found["verdict"]) == (
        "Q-4",
        "RUN-4",
        "FAILED",
        "ENV_ERROR",
    )
    assert (found["reason"], found["loads"], found["drill"]) == ("ENV_ERROR", 2, True)
    assert [cause["load"] for cause in found["causes"]] == [1, 2]
    assert found["causes"][0].items() >= {
        "kind": "network", "method": "GET", "url": "http://shop.test/api/cart", "status": None,
        "failure": "net::ERR_CONNECTION_RESET", "fault": "reset@**/api/cart",
    }.items()  # fmt: skip


@pytest.mark.parametrize("state", list(State))
def test_json_of_a_run_without_a_judgement(state: State) -> None:
    found = investigation_json(samples.without_judgement(state))
    assert (found["verdict"], found["rule"], found["loads"], found["causes"]) == (None, None, 0, [])
    json.dumps(found)


def test_json_is_fit_for_utf8_whatever_the_page_says() -> None:
    text = render_json([samples.bug(1, "\ud800\x00"), samples.passed(2, plan=("a", "b"), unfired=("b",))])
    document = json.loads(text.encode())
    assert len(document["investigations"]) == 2
    assert document["unfired_faults"] == ["b"]


def test_json_of_the_demo_has_rows_and_what_was_wrong() -> None:
    found = json.loads(json.dumps(demo_json(samples.demo_sample())))
    assert list(found) == ["rows", "false_bugs", "missed_bugs"]
    assert found["false_bugs"] == {"naive": 4, "careful": 0}
    assert found["missed_bugs"] == {"naive": 0, "careful": 0}
    assert list(found["rows"][0]) == [
        "scenario",
        "truth",
        "naive",
        "careful",
        "loads",
        "confirmations",
        "causes",
    ]
    assert len(found["rows"][2]["causes"]) == 2


# Terminal


def test_the_terminal_reads_no_text_as_markup_or_control() -> None:
    bug = samples.bug(2, "[red]x[/] [link=http://e]", key={"charter": "a.py::[blue]y[/]"})
    shown = printed(summary_table([nasty(), bug]), *filter(None, map(details, [nasty(), bug])))
    assert "\x1b" not in shown
    assert "[red]x[/]" in shown
    assert "[blue]y[/]" in shown


def test_the_terminal_shows_loads_causes_and_counts() -> None:
    shown = printed(summary_table([samples.bug(1), samples.env_error(2, "reset@**/api/cart")]))
    for told in ("RUN-1", "1 (+1)", "ENV_ERROR drill", "1 BUG, 1 ENV_ERROR"):
        assert told in shown
    assert "no investigation" in printed(summary_table([]))


def test_the_terminal_says_why_a_run_is_no_plain_pass() -> None:
    assert details(samples.passed(1)) is None
    told = details(samples.env_error(2, "reset@**/api/cart"))
    assert told is not None
    assert told.plain.startswith("RUN-2 ENV_ERROR cart_total: ")
    assert "network error" in told.plain


def test_the_demo_marks_wrong_answers_by_more_than_colour() -> None:
    shown = printed(demo_table(samples.demo_sample()))
    assert shown.count("✗ BUG") == 4
    assert "False BUG reports: naive 4, careful 0." in shown
    assert "False BUG reports: naive 4, careful 0." in render_demo_markdown(samples.demo_sample())


def test_an_env_error_misses_no_bug() -> None:
    said: Sequence[tuple[Verdict | None, Verdict | None]] = [
        (Verdict.PASS, Verdict.ENV_ERROR),
        (Verdict.BUG, None),
    ]
    rows = tuple(
        DemoRow(scenario="bug", truth=Verdict.BUG, naive=naive, careful=careful, loads=1)
        for naive, careful in said
    )
    missed = DemoTable(rows=rows).missed_bugs
    assert (missed.naive, missed.careful) == (1, 0)


# What all formats share


def test_claims_are_no_verdicts() -> None:
    views = [samples.claimed(samples.mismatch(), 1), samples.claimed(samples.held(), 2), samples.bug(3)]
    assert [outcome_of(view) for view in views] == [Outcome.CLAIMS_BUG, Outcome.CLAIMS_PASS, Outcome.BUG]
    assert headline(views) == "1 BUG; unverified: 1 claims BUG, 1 claims PASS"
    assert tally(views)[Outcome.BUG] == 1


def test_a_judgement_that_was_not_stored_as_final_is_no_verdict() -> None:
    judgement = samples.judged(samples.held())
    run = samples.run_of(None, 1, state=State.RUNNING)
    assert outcome_of(samples.view(judgement, [samples.held()], run=run)) is Outcome.UNFINISHED


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_renders_everything(name: str) -> None:
    views, shelf = samples.rich_sample()
    text = render(name, views, evidence_bytes=shelf, now=samples.NOW, demo=samples.demo_sample())
    assert "RUN-3" in text


def test_every_kind_ending_and_level_has_its_words() -> None:
    assert set(KIND_WORDS) == set(CauseKind)
    assert set(ENDING_WORDS) == set(Ending)
    assert set(LEVEL_WORDS) == set(Level)


def test_words_for_amounts_and_places() -> None:
    assert [seconds(n) for n in (0.0, 0.08, 1.0, 61.2, 125.0)] == [
        "0 ms",
        "80 ms",
        "1.0 s",
        "61.2 s",
        "2 min 5 s",
    ]
    assert [size(n) for n in (812, 1400, 2_000_000, 3_000_000_000)] == ["812 B", "1.4 kB", "2.0 MB", "3.0 GB"]
    assert place("http://shop.test/a?b=1", "http://shop.test") == "/a?b=1"
    assert place("https://cdn.test/a", "http://shop.test") == "cdn.test/a"
    assert place("http://[", "http://shop.test") == "http://["
    assert clip("abcdef", 3) == "abc … (6 characters in all)"
    assert clean("a\x00\n\tב") == "a\ufffd\n\tב"
