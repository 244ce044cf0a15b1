"""The gate's result as JSON, as tables and as a page; no text in it can become markup."""

from __future__ import annotations

import io
import json
import re

import msgspec
import pytest
from rich.console import Console

from bughunt.gating.planning import KINDS
from bughunt.gating.values import Combination, GateResult, Judged, Mistake, Subject, Unproved
from bughunt.reports import gate
from bughunt.reports.gate import (
    confusion_table,
    gate_json,
    gate_lines,
    gate_sentence,
    left_out_lines,
    matrix_table,
    render_gate_html,
    share_lines,
)
from bughunt.verdict.judgement import Verdict
from tests.reports import samples

PASS, BUG, ENV_ERROR = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR
NASTY = "<script>alert(1)</script>[bold]x[/]\x1b[31m\ud800"


def judged(
    said: Verdict | None,
    *right: Verdict,
    mistake: Mistake | None = None,
    kind: str = "reset",
    once: bool = False,
    fired: bool = True,
    target: str = "staging",
) -> Judged:
    drill = Combination(
        subject=Subject(target=target, charter="charters/cart.py::cart_total"),
        endpoint="**/api/cart",
        kind=kind,
        once=once,
        spec=f"{kind}{':times=1' if once else ''}@**/api/cart",
    )
    return Judged(
        combination=drill,
        right=right,
        said=said,
        fired=fired,
        disturbed=False,
        left_open=False,
        mistake=mistake,
        run="RUN-7",
        sentence="It is.",
    )


RESULT = GateResult(
    agent="careful",
    judged=(
        judged(ENV_ERROR, ENV_ERROR),
        judged(PASS, PASS, once=True),
        judged(BUG, ENV_ERROR, mistake=Mistake.FALSE_BUG, kind="503"),
        judged(PASS, BUG, mistake=Mistake.MISSED_BUG, once=True, kind="503"),
        judged(PASS, PASS, kind="slow", fired=False),
    ),
    compared=(judged(BUG, ENV_ERROR, mistake=Mistake.FALSE_BUG),),
    left_out=("**/live is a WebSocket, which no route can break.",),
    healthy_runs=2,
    seconds=83.2,
)


def printed(*told: object, width: int = 200) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=False)
    for one in told:
        console.print(one)
    return stream.getvalue()


def test_json_has_what_a_program_asks_for() -> None:
    told = gate_json(RESULT)
    assert (told["combinations"], told["false_bugs"], told["missed_bugs"]) == (5, 1, 1)
    assert [one["fault"] for one in told["unfired_faults"]] == ["slow@**/api/cart"]
    assert [one["mistake"] for one in told["wrong"]] == ["false BUG", "missed bug"]
    assert told["confusion"][0] == {"truth": "PASS", "PASS": 2, "BUG": 0, "ENV_ERROR": 0, "none": 0}
    assert told["matrix"][0] == {
        "target": "staging", "charter": "charters/cart.py::cart_total", "endpoint": "**/api/cart",
        "fault": "reset", "often": "always",
        "passed": 0, "env": 1, "bug": 0, "never_fired": 0, "no_verdict": 0,
    }  # fmt: skip
    assert told["intervals"]["false_bugs"]["total"] == 3
    assert told["compared"]["false_bugs"] == 1
    assert told["seconds"] == 83.2
    json.dumps(told)


def test_a_false_bug_is_counted_even_if_the_fault_never_fired_but_not_in_the_share() -> None:
    unfired = judged(BUG, PASS, mistake=Mistake.FALSE_BUG, fired=False)
    told = gate_json(GateResult(agent="careful", judged=(unfired, judged(PASS, PASS))))
    assert told["false_bugs"] == len(told["wrong"]) == 1
    assert (told["intervals"]["false_bugs"]["count"], told["intervals"]["false_bugs"]["total"]) == (0, 1)


def test_json_has_no_interval_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "interval", lambda count, total: None)
    assert gate_json(RESULT)["intervals"] == {"false_bugs": None, "missed_bugs": None}
    assert share_lines(RESULT)[0].told == "1 of 3"


def test_a_share_is_told_with_its_interval() -> None:
    assert [line.told for line in share_lines(RESULT)][:2] == [
        "1 of 3, 33.3 % (95 %: 6.1 % to 79.2 %)",
        "1 of 1, 100.0 % (95 %: 20.7 % to 100.0 %)",
    ]


def test_the_confusion_table_has_both_agents_and_marks_what_is_wrong() -> None:
    told = printed(confusion_table(RESULT))
    assert told.count("careful") == told.count("naive") == 3
    assert told.count("✗ 1") == 3


def test_the_matrix_tells_always_and_once_by_kind() -> None:
    told = printed(matrix_table(RESULT))
    for words in ("env / pass: reset", "bug / pass: 503", "never fired / –: slow"):
        assert words in told


def test_both_tables_can_be_read_at_80_columns() -> None:
    alike = tuple(
        judged(PASS if once else ENV_ERROR, PASS if once else ENV_ERROR, kind=kind.name, once=once)
        for kind in KINDS
        for once in (False, True)
    )
    result = msgspec.structs.replace(RESULT, judged=alike, compared=RESULT.judged)
    told = printed(matrix_table(result), confusion_table(result), width=80)
    words = re.sub(r"[\s│]+", " ", told)
    assert "env / pass: reset, 503, slow, no_answer, truncated_json, html," in words.replace(
        "**/api/cart ", ""
    )
    assert "cart_total (staging)" in words
    assert "…" not in told
    assert "\xa0" not in told


def test_the_sentence_counts_what_is_wrong() -> None:
    assert gate_sentence(RESULT) == (
        "5 drills in 83.2 s: 1 false BUG, 1 missed bug, 0 other wrong answers, 1 fault never fired."
    )


def test_what_proves_nothing_says_so() -> None:
    lost = Unproved(
        subject=Subject(target="staging", charter="cart.py::total", known_bug=True),
        expected=BUG,
        said=PASS,
        run="RUN-1",
        sentence="The charter held.",
    )
    result = GateResult(agent="careful", unproved=(lost,))
    assert gate_sentence(result) == "Nothing is proved: 1 charter failed the healthy run."
    (line,) = gate_lines(result)
    assert line == (
        "RUN-1 total (staging) should have been BUG in the healthy run, and was PASS: The charter held. "
        "Mended? Then it is no known bug any more."
    )
    assert gate_sentence(GateResult(agent="careful")).startswith("Nothing is proved: there was nothing")


def test_each_wrong_answer_has_its_line() -> None:
    lines = list(gate_lines(RESULT))
    assert lines[0] == (
        "RUN-7 false BUG: cart_total (staging) under 503@**/api/cart, right is ENV_ERROR: It is."
    )
    assert list(left_out_lines(RESULT))[-1] == "Left out: **/live is a WebSocket, which no route can break."


def test_the_page_has_it_all_and_runs_nothing() -> None:
    page = render_gate_html(RESULT, now=samples.NOW)
    for words in ("1 false BUG", "env / pass", "careful: ENV_ERROR", "6.1", "RUN-7 missed bug"):
        assert words in page
    assert "<script" not in page
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page


def _nasty() -> GateResult:
    one = judged(BUG, PASS, mistake=Mistake.FALSE_BUG, target=NASTY)
    return GateResult(agent="careful", judged=(msgspec.structs.replace(one, sentence=NASTY),))


def test_no_text_becomes_markup() -> None:
    page = render_gate_html(_nasty(), now=samples.NOW)
    page.encode()
    assert "<script" not in page
    msgspec.json.encode(gate_json(_nasty()))
    told = printed(matrix_table(_nasty()), confusion_table(_nasty()))
    assert "\x1b" not in told
    assert "[bold]" in told


def test_each_column_of_the_confusion_matrix_has_its_heading() -> None:
    assert {len(row.counts) for row in gate.truth_rows(RESULT)} == {len(gate.headings(RESULT))}
