"""The corpus: every case is judged rightly, and what is added is small, without secrets, and the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from bughunt.corpus import case_of, file_name, judge, load_corpus, shrunk, to_bundle, verdict_of
from bughunt.exceptions import UsageError
from bughunt.rejudging import gist
from bughunt.tower import InvestigationView, Redactor, Tower
from bughunt.verdict.judgement import Verdict
from bughunt.verdict.record import ConsoleLine, LoadRecord, to_json
from bughunt.verdict.rules import RULES_VERSION, claim
from tests.corpus import CASES, FOLDER
from tests.corpus.storing import a_case, as_judged, network, reserved, store

HELD = a_case(Verdict.PASS, rule="held")
WRONG = a_case(Verdict.BUG, loads=2)
BLOCKED = a_case(Verdict.ENV_ERROR, rule="blocked twice")
REFUSED = next(c for c in CASES.values() if any(x.status == 403 for x in c.loads[0].exchanges))
NOTHING = Redactor()


@pytest.mark.parametrize("name", CASES)
def test_the_right_verdict(name: str) -> None:
    """What the rules say of a recorded run is what a person found right."""
    case = CASES[name]
    assert verdict_of(judge(case)) == (case.verdict or "NONE"), case.why


def test_every_verdict_has_its_cases() -> None:
    """A degraded, a recovered and an intermittent one among them, and ENV_ERRORs of many kinds."""
    judged = [as_judged(case) for case in CASES.values()]
    assert {said.verdict for said in judged} == {*Verdict, None}
    for flag in ("recovered", "degraded", "intermittent"):
        assert any(getattr(said, flag) for said in judged), flag
    kinds = {cause.kind for said in judged if said.verdict is Verdict.ENV_ERROR for cause in said.causes}
    assert len(kinds) >= 8


@pytest.mark.parametrize("name", CASES)
def test_a_file_holds_what_its_name_says_and_no_more_than_rules_read(name: str) -> None:
    """Made again, it would be the same file, byte for byte."""
    case = CASES[name]
    assert file_name(case) == name
    assert to_bundle(case) == (FOLDER / name).read_bytes()
    assert tuple(map(shrunk, case.loads)) == case.loads
    assert len((FOLDER / name).read_bytes()) < 32_000


def talkative(load: LoadRecord, secret: str = "") -> LoadRecord:
    """The same load with all that no rule reads."""
    first, *rest = load.exchanges
    headers = {"cookie": "sid=1234567890", "user-agent": "chromium", "Sec-Purpose": "prefetch"}
    told = first.response_headers | {"Set-Cookie": "sid=1234567890", "x-note": secret}
    wordy = replace(first, body='{"items": []}', request_headers=headers, response_headers=told)
    return replace(
        load,
        exchanges=(wordy, *rest),
        console=(ConsoleLine(kind="log", text="hello", at=0.1),),
        page_url="http://shop.test/cart",
        build="b7",
    )


def test_a_small_load_has_only_what_rules_read() -> None:
    small = shrunk(talkative(HELD.loads[0]))
    assert (small.console, small.page_url, small.build) == ((), "", None)
    assert (small.exchanges[0].body, small.exchanges[0].request_headers) == (
        None,
        {"Sec-Purpose": "prefetch"},
    )
    assert "Set-Cookie" not in small.exchanges[0].response_headers
    assert small.exchanges[0].response_headers["content-type"].startswith("text/html")
    assert small.exchanges[1:] == HELD.loads[0].exchanges[1:]


def with_another_page(load: LoadRecord) -> LoadRecord:
    """A load whose refused request names a page, and in which another page was answered well after it."""
    refused = next(x for x in load.exchanges if x.status == 403)
    assert refused.ended is not None
    well = replace(
        refused,
        id=len(load.exchanges),
        url=f"{refused.url}?page=beta-2222",
        status=200,
        failure=None,
        finished=True,
        started=refused.ended + 0.01,
        asked_mark=None,
        known_mark=None,
        responded=refused.ended + 0.02,
        ended=refused.ended + 0.03,
    )
    others = tuple(x for x in load.exchanges if x is not refused)
    return replace(load, exchanges=(*others, replace(refused, url=f"{refused.url}?page=alpha-1111"), well))


class TestAdding:
    @pytest.fixture
    def tower(self, tmp_path: Path) -> Iterator[Tower]:
        with closing(Tower.open(f"sqlite:///{tmp_path}/tower.db")) as opened:
            yield opened

    def view(self, tower: Tower, secret: str = "") -> InvestigationView:
        loads = [talkative(load, secret) for load in WRONG.loads]
        return tower.view(store(tower, loads, as_judged(WRONG)).id)

    def test_a_run_becomes_a_case(self, tower: Tower) -> None:
        case = case_of(self.view(tower), Verdict.BUG, "The total is wrong.", NOTHING)
        assert (case.charter, case.question) == ("cart.py::BUG", "Is the total right?")
        assert (case.verdict, case.why, case.rules_version) == ("BUG", "The total is wrong.", RULES_VERSION)
        assert gist(judge(case)) == gist(as_judged(WRONG))

    def test_a_person_may_know_better_than_the_rules(self, tower: Tower) -> None:
        case = case_of(self.view(tower), Verdict.ENV_ERROR, "The cache was stale.", NOTHING)
        assert (case.verdict, verdict_of(judge(case))) == ("ENV_ERROR", "BUG")

    def test_the_same_evidence_has_one_file_whatever_is_said_of_it(self, tower: Tower) -> None:
        view = self.view(tower)
        one = case_of(view, Verdict.BUG, "It is wrong.", NOTHING)
        other = case_of(view, Verdict.ENV_ERROR, "The cache was stale.", NOTHING)
        assert file_name(one) == file_name(other)
        assert file_name(one).startswith("BUG-")
        assert to_bundle(one) == to_bundle(case_of(view, Verdict.BUG, "It is wrong.", NOTHING))

    def test_what_the_settings_hide_today_is_hidden(self, tower: Tower) -> None:
        view = self.view(tower, secret="hunter2hunter2")
        case = case_of(view, Verdict.BUG, "The total is wrong.", Redactor(values=["hunter2hunter2"]))
        assert b"hunter2" not in to_bundle(case)
        assert case.loads[0].exchanges[0].response_headers["x-note"] == "[redacted]"

    def test_a_case_that_redaction_would_turn_is_refused(self, tower: Tower) -> None:
        """Where two requests differ in a secret alone, the one looks as if it had healed the other."""
        loads = tuple(with_another_page(load) for load in REFUSED.loads)
        case = replace(REFUSED, loads=loads)
        view = tower.view(store(tower, loads, as_judged(case)).id)
        assert case_of(view, Verdict.ENV_ERROR, "It was refused.", NOTHING).verdict == "ENV_ERROR"
        with pytest.raises(UsageError, match=r"the rules say ENV_ERROR .* and BUG .* Nothing was added"):
            case_of(view, Verdict.ENV_ERROR, "It was refused.", Redactor(values=["alpha-1111", "beta-2222"]))

    def test_a_naive_claim_is_refused(self, tower: Tower) -> None:
        run = store(tower, BLOCKED.loads[:1], claim(BLOCKED.loads[0]), agent="naive")
        with pytest.raises(UsageError, match="a claim of the naive agent"):
            case_of(tower.view(run.id), Verdict.BUG, "It is wrong.", NOTHING)

    def test_a_run_with_a_load_that_is_not_there_is_refused(self, tower: Tower) -> None:
        run = store(tower, BLOCKED.loads, as_judged(BLOCKED), records=[network(BLOCKED.loads[1])])
        for number in (run.id, reserved(tower).id):
            with pytest.raises(UsageError, match=f"Not all loads of RUN-{number} can be read"):
                case_of(tower.view(number), Verdict.BUG, "It is wrong.", NOTHING)


@pytest.mark.parametrize("content", [b"{}", b"no json", b'\xff"', to_json(HELD.loads[0])])
def test_a_file_that_is_no_case_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "strange.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"strange\.json is no case of a corpus"):
        load_corpus(tmp_path)


def test_a_corpus_is_read_by_file_name(tmp_path: Path) -> None:
    (tmp_path / file_name(HELD)).write_bytes(to_bundle(HELD))
    (tmp_path / "README.md").write_text("What this is.")
    assert load_corpus(tmp_path) == {file_name(HELD): HELD}
    assert load_corpus(tmp_path / "none") == {}
