"""The corpus: every case is judged rightly, and what is added is small, without secrets, and the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from bughunt.corpus import (
    case_of,
    file_name,
    judge,
    load_corpus,
    objection,
    renewed,
    shrunk,
    to_bundle,
    verdict_of,
)
from bughunt.exceptions import UsageError
from bughunt.rejudging import gist
from bughunt.tower import InvestigationView, Redactor, Tower
from bughunt.verdict.judgement import CauseKind, Reason, Verdict
from bughunt.verdict.record import ConsoleLine, Failure, FailureKind, LoadRecord, Probe, to_json
from bughunt.verdict.rules import RULES_VERSION, claim
from tests.corpus import CASES, FOLDER
from tests.corpus.storing import ME, a_case, as_judged, network, reserved, store

HELD = a_case(Verdict.PASS, rule="held")
WRONG = a_case(Verdict.BUG, loads=2)
BLOCKED = a_case(Verdict.ENV_ERROR, rule="blocked twice")
REFUSED = next(c for c in CASES.values() if any(x.status == 403 for x in c.loads[0].exchanges))
NOTHING = Redactor()


@pytest.mark.parametrize("name", CASES)
def test_the_right_verdict(name: str) -> None:
    """What the rules say of a recorded run is what a person found right, and on the same grounds."""
    assert objection(CASES[name]) == ""


def test_every_case_says_on_what_grounds_it_is_right() -> None:
    assert [name for name, case in CASES.items() if case.agreed is None] == []


def test_another_verdict_is_objected_to_with_the_persons_words() -> None:
    case = replace(WRONG, verdict=Verdict.PASS, why="It is as agreed with the shop.")
    assert objection(case) == (
        "the rules say BUG (mismatch, healthy network), and right is PASS: It is as agreed with the shop."
    )


def test_the_right_verdict_on_other_grounds_is_objected_to() -> None:
    assert BLOCKED.agreed is not None
    case = replace(BLOCKED, agreed=replace(BLOCKED.agreed, causes=(CauseKind.CRASH,)))
    causes = ", ".join(BLOCKED.agreed.causes)
    assert objection(case) == (
        f"ENV_ERROR is right, and the rules find it by blocked twice ({causes}), no more by "
        "blocked twice (crash)"
    )
    assert objection(replace(BLOCKED, agreed=replace(BLOCKED.agreed, rule="blocked thrice"))) != ""


def test_grounds_are_held_to_only_where_the_rules_agreed() -> None:
    assert objection(replace(BLOCKED, agreed=None)) == ""


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
    assert to_bundle(renewed(case)) == (FOLDER / name).read_bytes()
    assert len((FOLDER / name).read_bytes()) < 32_000


#: What a page sent: four digits, of which there are few enough to try them all.
PIN = sha256(b'{"pin": 4711}').hexdigest()
CAME = sha256(b"{}").hexdigest()
MARK = "0123456789abcdef"


def talkative(load: LoadRecord, secret: str = "") -> LoadRecord:
    """The same load with all that no rule reads, and digests of what was sent and of what came."""
    first, *rest = load.exchanges
    headers = {"cookie": "sid=1234567890", "user-agent": "chromium", "Sec-Purpose": "prefetch"}
    told = first.response_headers | {"Set-Cookie": "sid=1234567890", "x-note": "hunter1", "Date": "today"}
    wordy = replace(
        first,
        body='{"items": []}',
        request_headers=headers,
        response_headers=told,
        frame_url=f"about:blank#{secret}",
        asked=PIN,
        digest=CAME,
        html_mark=MARK,
    )
    return replace(
        load,
        exchanges=(wordy, *rest),
        probes=(*load.probes, Probe(exchange=first.id, url=first.url, status=200, html_mark=MARK)),
        console=(ConsoleLine(kind="log", text="hello", at=0.1),),
        page_url="http://shop.test/cart",
        build="b7",
    )


def test_a_small_load_has_only_what_rules_read() -> None:
    (small,) = shrunk([talkative(HELD.loads[0])])
    first = small.exchanges[0]
    assert (small.console, small.page_url, small.build) == ((), "", None)
    assert (first.body, first.request_headers) == (None, {"Sec-Purpose": "prefetch"})
    assert {name.lower() for name in first.response_headers} == {"content-length", "content-type", "date"}


def test_digests_become_ordinals_and_equal_ones_equal_ones_over_all_loads() -> None:
    loads = [talkative(load) for load in WRONG.loads]
    sent = replace(loads[0].exchanges[1], asked=CAME, digest=PIN, html_mark=None)
    small = shrunk([replace(loads[0], exchanges=(loads[0].exchanges[0], sent)), loads[1]])
    marks = [[(x.asked, x.digest, x.html_mark) for x in load.exchanges[:2]] for load in small]
    assert marks[0] == [("1", "1", "1"), ("2", "2", None)]
    assert marks[1][0] == marks[0][0]
    assert {probe.html_mark for load in small for probe in load.probes if probe.html_mark} == {"1"}


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
    exchanges = (*others, replace(refused, url=f"{refused.url}?page=alpha-1111"), well)
    assert load.failure is not None
    failure = replace(load.failure, at=load.failure.at + 5.0)  # long after, so that nothing came too late
    return replace(load, exchanges=exchanges, failure=failure, ended=load.ended + 5.0)


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
        assert case.agreed is not None
        assert (case.agreed.rule, case.agreed.causes) == ("mismatch, healthy network", ())

    def test_a_person_may_know_better_than_the_rules(self, tower: Tower) -> None:
        """Then it is not said on what grounds they are to find it."""
        case = case_of(self.view(tower), Verdict.ENV_ERROR, "The cache was stale.", NOTHING)
        assert (case.verdict, verdict_of(judge(case)), case.agreed) == ("ENV_ERROR", "BUG", None)

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
        assert case.loads[0].exchanges[0].frame_url == "about:blank#[redacted]"

    def test_nothing_in_a_bundle_lets_what_was_sent_be_guessed(self, tower: Tower) -> None:
        """No digest, and no header but those that rules read."""
        data = to_bundle(case_of(self.view(tower), Verdict.BUG, "The total is wrong.", NOTHING)).decode()
        assert [said for said in (PIN, CAME, MARK, "hunter1", "sid=", 'chromium"') if said in data] == []

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
        self.refused(tower.view(run.id), "Not all loads of RUN-1 can be read")

    def refused(self, view: InvestigationView, told: str) -> None:
        """Whatever is said to be right."""
        for verdict in (*Verdict, None):
            with pytest.raises(UsageError, match=told):
                case_of(view, verdict, "It is so.", NOTHING)

    def test_a_run_that_has_not_ended_is_refused(self, tower: Tower) -> None:
        run = reserved(tower)
        tower.add_evidence(run.id, ME, [network(HELD.loads[0])])
        self.refused(tower.view(run.id), "RUN-1 is RUNNING, it came to no end: add another run of Q-1")
        tower.cancel(run.id, ME, "Interrupted.")
        self.refused(tower.view(run.id), "RUN-1 is CANCELLED")

    def test_a_run_that_was_stopped_by_our_own_failure_is_refused(self, tower: Tower) -> None:
        """NONE would be right of it, and never wrong."""
        run = reserved(tower)
        tower.add_evidence(run.id, ME, [network(HELD.loads[0])])
        tower.fail(run.id, ME, Reason.HARNESS_ERROR, "The disk is full.")
        self.refused(tower.view(run.id), "RUN-1 was stopped by our own failure")

    def test_a_run_of_which_the_rules_say_so_now_is_refused(self, tower: Tower) -> None:
        ours = Failure(kind=FailureKind.HARNESS, type="OSError", message="No space left.", at=1.0)
        run = store(tower, [replace(HELD.loads[0], failure=ours)], as_judged(HELD))
        self.refused(tower.view(run.id), "A load of RUN-1 was stopped by our own failure")

    def test_a_run_that_needs_another_load_by_the_present_rules_is_refused(self, tower: Tower) -> None:
        """No verdict could pass."""
        run = store(tower, BLOCKED.loads[:1], as_judged(HELD))
        self.refused(
            tower.view(run.id), r"another load after those of RUN-1 \(load 1: .*add another run of Q-1"
        )


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
