"""Raw SQL cannot make the tower say what it does not know. Each refusal has its code."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.tower.raw import AT, BUG, ENV_ERROR, LANDED, LATER, REFUSED, Raw

INVISIBLE = "".join(
    chr(code)
    for first, last in (
        *((0x01, 0x20), (0x7F, 0xA0), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160)),
        *((0x1680, 0x1680), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2000, 0x200F), (0x2028, 0x202F)),
        *((0x205F, 0x206F), (0x2800, 0x2800), (0x3000, 0x3000), (0x3164, 0x3164), (0xFE00, 0xFE0F)),
        *((0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A)),
        (0xE0000, 0xE01EF),
    )
    for code in range(first, last + 1)
)
"""Controls, spaces, breaks, and what Unicode ignores by default."""

TERMINAL = ("DONE", "FAILED", "CANCELLED", "SUPERSEDED")
REPLACE = "INSERT OR REPLACE"


class TestDone:
    """I5: DONE stands on evidence."""

    def test_pass_with_its_evidence(self, raw: Raw) -> None:
        run = raw.run_in("VERIFYING")
        raw.proof_of_pass(run)
        raw.update("run", run, LANDED)
        assert raw.rows("SELECT state, verdict FROM run") == [("DONE", "PASS")]

    def test_bug_with_its_evidence(self, raw: Raw) -> None:
        run = raw.run_in("VERIFYING")
        raw.proof_of_bug(run)
        raw.update("run", run, BUG)
        assert raw.rows("SELECT state, verdict FROM run") == [("DONE", "BUG")]

    @pytest.mark.parametrize("verb", ["INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE"])
    @pytest.mark.parametrize("landing", [LANDED, BUG], ids=["pass", "bug"])
    def test_inserted_at_once(self, raw: Raw, landing: dict[str, object], verb: str) -> None:
        question = raw.question()
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.run(question, verb, **landing)

    @pytest.mark.parametrize("landing", [LANDED, BUG], ids=["pass", "bug"])
    def test_without_any_evidence(self, raw: Raw, landing: dict[str, object]) -> None:
        run = raw.run_in("VERIFYING")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, landing)

    @pytest.mark.parametrize("without", ["network", "load", "judgement"])
    def test_pass_without_one_piece(self, raw: Raw, without: str) -> None:
        run = raw.run_in("VERIFYING")
        if without != "network":
            raw.evidence(run, 1, "network", load=1)
        if without != "load":
            raw.evidence(run, 2, "load", load=1, ending="held")
        if without != "judgement":
            raw.evidence(run, 3, "judgement")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED)

    def test_pass_with_the_network_of_another_load(self, raw: Raw) -> None:
        run = raw.run_in("VERIFYING")
        raw.evidence(run, 1, "network", load=1)
        raw.evidence(run, 2, "load", load=2, ending="held")
        raw.evidence(run, 3, "judgement")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED)

    @pytest.mark.parametrize("ending", ["mismatch", "blocked", "check_error", "unclear", "held_up"])
    def test_pass_with_no_load_that_held(self, raw: Raw, ending: str) -> None:
        run = raw.run_in("VERIFYING")
        raw.evidence(run, 1, "network", load=1)
        raw.evidence(run, 2, "load", load=1, ending=ending)
        raw.evidence(run, 3, "judgement")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED)

    def test_evidence_of_another_run_does_not_count(self, raw: Raw) -> None:
        raw.proof_of_pass(raw.run_in("VERIFYING"))
        run = raw.run_in("VERIFYING")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED)

    def test_evidence_without_bytes_does_not_count(self, raw: Raw) -> None:
        run = raw.run_in("VERIFYING")
        raw.evidence(run, 1, "network", load=1, size=0, body=b"")
        raw.evidence(run, 2, "load", load=1, ending="held")
        raw.evidence(run, 3, "judgement")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED)

    @pytest.mark.parametrize(
        "second",
        [
            {"signature": "line 10"},
            {"signature": None},
            {"ending": "held"},
            {"ending": "blocked"},
            {"load": 3},
        ],
        ids=["another line", "no signature", "held", "blocked", "no network record"],
    )
    def test_bug_whose_second_load_is_not_the_same(self, raw: Raw, second: dict[str, object]) -> None:
        run = raw.run_in("VERIFYING")
        if second.get("ending"):
            second = second | {"signature": None}
        raw.proof_of_bug(run, **second)
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, BUG)

    def test_bug_twice_without_a_signature(self, raw: Raw) -> None:
        run = raw.run_in("VERIFYING")
        for load in (1, 2):
            raw.evidence(run, load * 2, "network", load=load)
            raw.evidence(run, load * 2 + 1, "load", load=load, ending="mismatch")
        raw.evidence(run, 9, "judgement")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, BUG)

    def test_bug_on_one_load(self, raw: Raw) -> None:
        run = raw.run_in("VERIFYING")
        raw.evidence(run, 1, "network", load=1)
        raw.evidence(run, 2, "load", load=1, ending="mismatch", signature="line 9")
        raw.evidence(run, 3, "judgement")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, BUG)

    @pytest.mark.parametrize(
        "change",
        [
            {"verdict": None},
            {"verdict": "ENV_ERROR"},
            {"verdict": "pass"},
            {"verdict": "PASS "},
            {"verdict": "BUG", "level": "E5"},
            {"level": None},
            {"level": "E3"},
            {"level": "e4"},
            {"level": "E9"},
            {"landed_at": None},
            {"landing_note": None},
            {"terminal_at": None},
            {"reason": "ENV_ERROR"},
            {"reason": ""},
            {"gate_version": None},
            {"gate_version": 0},
            {"gate_version": 1},
        ],
        ids=str,
    )
    def test_with_one_column_wrong(self, raw: Raw, change: dict[str, object]) -> None:
        run = raw.run_in("VERIFYING")
        raw.proof_of_pass(run)
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED | change)

    def test_bug_at_a_level_that_is_enough_for_a_pass_only(self, raw: Raw) -> None:
        run = raw.run_in("VERIFYING")
        raw.proof_of_bug(run)
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, BUG | {"level": "E4"})

    @pytest.mark.parametrize(
        "blank",
        [
            "",
            " ",
            "\t",
            "\n",
            "\r\n",
            "\x0b\f",
            "\xa0",
            "\u2003\u200b\u3000",
            "\ufeff",
            INVISIBLE,
        ],
        ids=lambda blank: ascii(blank)[:30],
    )
    def test_landing_note_that_says_nothing(self, raw: Raw, blank: str) -> None:
        run = raw.run_in("VERIFYING")
        raw.proof_of_pass(run)
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED | {"landing_note": blank})

    def test_each_sign_that_nobody_sees_is_blank(self, raw: Raw) -> None:
        assert [hex(ord(sign)) for sign in INVISIBLE if raw.is_readable(sign)] == []

    @pytest.mark.parametrize(
        "note", ["-", "]", "^", "a", "\u00e9", "\u200b\u4e2d", "\U0001f600", " \tx"], ids=ascii
    )
    def test_a_note_of_one_sign_that_is_seen(self, raw: Raw, note: str) -> None:
        run = raw.run_in("VERIFYING")
        raw.proof_of_pass(run)
        raw.update("run", run, LANDED | {"landing_note": note})

    @pytest.mark.parametrize("signature", ["line 9", None], ids=["with a signature", "without"])
    def test_pass_beside_the_same_mismatch_twice(self, raw: Raw, signature: str | None) -> None:
        """The rules call that a BUG that comes and goes."""
        run = raw.run_in("VERIFYING")
        raw.proof_of_pass(run)
        for load in (2, 3):
            raw.evidence(run, 8 + load, "load", load=load, ending="mismatch", signature=signature)
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED)

    def test_pass_beside_two_different_mismatches(self, raw: Raw) -> None:
        run = raw.run_in("VERIFYING")
        raw.proof_of_pass(run)
        for load in (2, 3):
            raw.evidence(run, 8 + load, "load", load=load, ending="mismatch", signature=f"line {load}")
        raw.update("run", run, LANDED)

    @pytest.mark.parametrize("kind", ["load", "network", "judgement"])
    def test_a_digest_alone_proves_nothing_but_a_network_record_in_a_blob(self, raw: Raw, kind: str) -> None:
        run = raw.run_in("VERIFYING")
        raw.evidence(run, 1, "network", load=1, **({"body": None} if kind == "network" else {}))
        raw.evidence(run, 2, "load", load=1, ending="held", **({"body": None} if kind == "load" else {}))
        raw.evidence(run, 3, "judgement", **({"body": None} if kind == "judgement" else {}))
        if kind == "network":
            raw.update("run", run, LANDED)
            return
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED)

    @pytest.mark.parametrize("state", ["done", "Done", "DONE ", "", "FINISHED", None, 1])
    def test_by_another_spelling(self, raw: Raw, state: object) -> None:
        run = raw.run_in("VERIFYING")
        raw.proof_of_pass(run)
        with raw.refuses("RUN_TRANSITION_REFUSED"):
            raw.update("run", run, LANDED | {"state": state})

    @pytest.mark.parametrize("verb", ["UPDATE OR IGNORE", "UPDATE OR REPLACE", "UPDATE OR FAIL"])
    def test_whatever_the_conflict_clause(self, raw: Raw, verb: str) -> None:
        run = raw.run_in("VERIFYING")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED, verb)

    def test_with_a_landing_time_that_is_none(self, raw: Raw) -> None:
        run = raw.run_in("VERIFYING")
        raw.proof_of_pass(run)
        with raw.refuses("RUN_IS_MALFORMED"):
            raw.update("run", run, LANDED | {"landed_at": "yesterday"})


class TestEnvError:
    """I6: ENV_ERROR is never the "else" branch."""

    @pytest.mark.parametrize("state", ["QUEUED", "RUNNING", "VERIFYING"])
    def test_with_a_cause_and_two_loads(self, raw: Raw, state: str) -> None:
        run = raw.run_in(state)
        raw.proof_of_env_error(run)
        raw.update("run", run, ENV_ERROR)
        assert raw.rows("SELECT verdict FROM run") == [("ENV_ERROR",)]

    @pytest.mark.parametrize("layer", ["browser", "model"])
    def test_one_load_is_enough_when_browser_or_model_is_to_blame(self, raw: Raw, layer: str) -> None:
        run = raw.run_in("RUNNING")
        raw.proof_of_env_error(run, loads=1, layer=layer)
        raw.update("run", run, ENV_ERROR)

    def test_without_a_cause(self, raw: Raw) -> None:
        run = raw.run_in("RUNNING")
        for load in (1, 2):
            raw.evidence(run, load, "load", load=load, ending="blocked")
        with raw.refuses("RUN_ENV_ERROR_REQUIRES_CAUSE"):
            raw.update("run", run, ENV_ERROR)

    def test_on_one_load(self, raw: Raw) -> None:
        run = raw.run_in("RUNNING")
        raw.proof_of_env_error(run, loads=1)
        with raw.refuses("RUN_ENV_ERROR_REQUIRES_CAUSE"):
            raw.update("run", run, ENV_ERROR)

    def test_cause_without_bytes_does_not_count(self, raw: Raw) -> None:
        run = raw.run_in("RUNNING")
        for load in (1, 2):
            raw.evidence(run, load, "load", load=load, ending="blocked")
        raw.evidence(run, 3, "cause", cause="network", layer="network", size=0, body=b"")
        with raw.refuses("RUN_ENV_ERROR_REQUIRES_CAUSE"):
            raw.update("run", run, ENV_ERROR)

    def test_when_every_load_held(self, raw: Raw) -> None:
        run = raw.run_in("RUNNING")
        for load in (1, 2):
            raw.evidence(run, load, "load", load=load, ending="held")
        raw.evidence(run, 3, "cause", cause="network", layer="network")
        with raw.refuses("RUN_ENV_ERROR_REQUIRES_CAUSE"):
            raw.update("run", run, ENV_ERROR)

    def test_of_a_mismatch_that_did_not_come_again(self, raw: Raw) -> None:
        run = raw.run_in("RUNNING")
        raw.evidence(run, 1, "load", load=1, ending="mismatch", signature="line 9")
        raw.evidence(run, 2, "load", load=2, ending="held")
        raw.evidence(run, 3, "cause", cause="unreproduced", layer="product")
        raw.update("run", run, ENV_ERROR)

    @pytest.mark.parametrize("verdict", [None, "PASS", "BUG"])
    def test_with_another_verdict(self, raw: Raw, verdict: str | None) -> None:
        run = raw.run_in("RUNNING")
        raw.proof_of_env_error(run)
        with raw.refuses("RUN_ENV_ERROR_REQUIRES_CAUSE"):
            raw.update("run", run, ENV_ERROR | {"verdict": verdict})

    def test_inserted_at_once(self, raw: Raw) -> None:
        question = raw.question()
        with raw.refuses("RUN_ENV_ERROR_REQUIRES_CAUSE"):
            raw.run(question, **ENV_ERROR)


class TestEnds:
    """What the other ends of a RUN need."""

    def test_failed_needs_a_reason(self, raw: Raw) -> None:
        run = raw.run_in("RUNNING")
        with raw.refuses("RUN_FAILED_REQUIRES_REASON"):
            raw.update("run", run, {"state": "FAILED", "terminal_at": LATER})

    @pytest.mark.parametrize("reason", ["", "env_error", "BAD LUCK"])
    def test_failed_needs_a_reason_that_there_is(self, raw: Raw, reason: object) -> None:
        run = raw.run_in("RUNNING")
        with raw.refuses("RUN_VERDICT_REFUSED"):
            raw.update("run", run, {"state": "FAILED", "reason": reason, "terminal_at": LATER})

    @pytest.mark.parametrize("reason", ["CHECK_ERROR", "HARNESS_ERROR"])
    @pytest.mark.parametrize("verdict", ["PASS", "BUG", "ENV_ERROR"])
    def test_our_own_failures_have_no_verdict(self, raw: Raw, reason: str, verdict: str) -> None:
        run = raw.run_in("RUNNING")
        end = {"state": "FAILED", "reason": reason, "verdict": verdict, "terminal_at": LATER}
        with raw.refuses("RUN_VERDICT_REFUSED"):
            raw.update("run", run, end)

    @pytest.mark.parametrize("reason", ["UNVERIFIED", "CLAIM_UNREVIEWED"])
    def test_a_claim_claims_something(self, raw: Raw, reason: str) -> None:
        run = raw.run_in("RUNNING")
        end = {"state": "FAILED", "reason": reason, "terminal_at": LATER}
        with raw.refuses("RUN_VERDICT_REFUSED"):
            raw.update("run", run, end)
        raw.update("run", run, end | {"verdict": "BUG", "level": "E2"})

    @pytest.mark.parametrize(
        "landing", [{"landed_at": AT}, {"landing_note": "seen"}, {"gate_version": 1}], ids=str
    )
    def test_what_failed_did_not_land(self, raw: Raw, landing: dict[str, object]) -> None:
        run = raw.run_in("RUNNING")
        end = {"state": "FAILED", "reason": "HARNESS_ERROR", "terminal_at": LATER}
        with raw.refuses("RUN_VERDICT_REFUSED"):
            raw.update("run", run, end | landing)

    @pytest.mark.parametrize("level", ["E4", "E5"])
    @pytest.mark.parametrize("reason", ["UNVERIFIED", "ENV_ERROR", "CHECK_ERROR", "HARNESS_ERROR"])
    def test_what_failed_was_not_verified(self, raw: Raw, reason: str, level: str) -> None:
        run = raw.run_in("RUNNING")
        raw.proof_of_env_error(run)
        verdict = {"UNVERIFIED": "BUG", "ENV_ERROR": "ENV_ERROR"}.get(reason)
        end = {"state": "FAILED", "reason": reason, "verdict": verdict, "terminal_at": LATER}
        with raw.refuses("RUN_VERDICT_REFUSED"):
            raw.update("run", run, end | {"level": level})
        raw.update("run", run, end | {"level": "E3"})

    @pytest.mark.parametrize("state", ["CANCELLED", "SUPERSEDED"])
    @pytest.mark.parametrize(
        "claim", [{"verdict": "PASS"}, {"reason": "ENV_ERROR"}, {"level": "E4"}], ids=str
    )
    def test_what_was_given_up_says_nothing(self, raw: Raw, state: str, claim: dict[str, object]) -> None:
        question = raw.question()
        run = raw.run_in("STALE", question)
        end = raw.ending(state, question) | claim
        with raw.refuses("RUN_VERDICT_REFUSED"):
            raw.update("run", run, end)

    @pytest.mark.parametrize("state", ["FAILED", "CANCELLED", "SUPERSEDED"])
    def test_an_end_has_its_time(self, raw: Raw, state: str) -> None:
        question = raw.question()
        run = raw.run_in("STALE", question)
        end = raw.ending(state, question) | {"terminal_at": None}
        with raw.refuses("RUN_TERMINAL_REQUIRES_TIME"):
            raw.update("run", run, end)

    @pytest.mark.parametrize(
        "early",
        [
            {"verdict": "PASS"},
            {"level": "E4"},
            {"reason": "ENV_ERROR"},
            {"landed_at": AT},
            {"landing_note": "seen"},
            {"terminal_at": AT},
            {"gate_version": 2},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("state", ["QUEUED", "RUNNING", "VERIFYING", "STALE"])
    def test_no_verdict_before_the_end(self, raw: Raw, state: str, early: dict[str, object]) -> None:
        run = raw.run_in(state)
        with raw.refuses("RUN_VERDICT_BEFORE_TERMINAL"):
            raw.update("run", run, early)

    def test_a_new_run_has_no_verdict(self, raw: Raw) -> None:
        question = raw.question()
        with raw.refuses("RUN_VERDICT_BEFORE_TERMINAL"):
            raw.run(question, verdict="PASS")

    @pytest.mark.parametrize("which", ["itself", "of another Q", "nobody", "none", "older"])
    def test_superseded_by_a_later_run_of_the_same_question(self, raw: Raw, which: str) -> None:
        question = raw.question()
        older = raw.run(question)
        run = raw.run_in("STALE", question)
        successor = {"itself": run, "of another Q": raw.run_in("QUEUED"), "nobody": 999, "older": older}
        end = {"state": "SUPERSEDED", "terminal_at": LATER, "superseded_by": successor.get(which)}
        with raw.refuses("RUN_SUPERSEDED_BY_NO_SUCCESSOR"):
            raw.update("run", run, end)

    def test_only_what_is_superseded_names_a_successor(self, raw: Raw) -> None:
        question = raw.question()
        run = raw.run_in("STALE", question)
        end = {"state": "CANCELLED", "terminal_at": LATER, "superseded_by": raw.run(question)}
        with raw.refuses("RUN_SUPERSEDED_BY_NO_SUCCESSOR"):
            raw.update("run", run, end)


class TestTerminal:
    """I4: what is over stays as it is."""

    @pytest.mark.parametrize("state", TERMINAL)
    @pytest.mark.parametrize(
        "change",
        [
            {"state": "RUNNING"},
            {"state": "QUEUED", "verdict": None, "terminal_at": None},
            {"verdict": "BUG"},
            {"landing_note": "seen elsewhere"},
            {"owner": "somebody"},
            {"lease_until": LATER},
            {"superseded_by": None},
            {"id": 77},
        ],
        ids=str,
    )
    def test_a_terminal_run_never_changes(self, raw: Raw, state: str, change: dict[str, object]) -> None:
        run = raw.run_in(state)
        with raw.refuses("RUN_IS_TERMINAL"):
            raw.update("run", run, change)

    @pytest.mark.parametrize("state", ["QUEUED", "RUNNING", "STALE", *TERMINAL])
    def test_no_run_is_deleted(self, raw: Raw, state: str) -> None:
        run = raw.run_in(state)
        with raw.refuses("RUN_IS_NEVER_DELETED"):
            raw.execute("DELETE FROM run WHERE id = :id", {"id": run})

    @pytest.mark.parametrize("state", ["QUEUED", "DONE"])
    def test_no_run_is_replaced(self, raw: Raw, state: str) -> None:
        question = raw.question()
        run = raw.run_in(state, question)
        with raw.refuses("RUN_IS_NEVER_DELETED"):
            raw.run(question, REPLACE, id=run)

    def test_not_all_runs_either(self, raw: Raw) -> None:
        raw.run_in("QUEUED")
        with raw.refuses("RUN_IS_NEVER_DELETED"):
            raw.execute("DELETE FROM run")

    @pytest.mark.parametrize("state", TERMINAL)
    def test_nothing_is_added_to_it(self, raw: Raw, state: str) -> None:
        run = raw.run_in(state)
        with raw.refuses("EVIDENCE_AFTER_TERMINAL"):
            raw.evidence(run, 50)


class TestIdentity:
    """A RUN stays the attempt that it was, and a Q the question."""

    @pytest.mark.parametrize(
        "change",
        [
            {"id": 500},
            {"question_id": 2},
            {"project": "another"},
            {"idempotency_key": "k"},
            {"agent": "naive"},
            {"rules_version": 2},
            {"build": "7"},
            {"created_at": LATER},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("verb", ["UPDATE", "UPDATE OR REPLACE"])
    def test_of_a_run(self, raw: Raw, change: dict[str, object], verb: str) -> None:
        run = raw.run_in("RUNNING")
        raw.question("second")
        with raw.refuses("RUN_IDENTITY_IS_FIXED"):
            raw.update("run", run, change, verb)

    def test_a_run_that_began_stays_with_its_owner(self, raw: Raw) -> None:
        run = raw.run_in("QUEUED")
        raw.update("run", run, {"owner": "another"})
        raw.update("run", run, {"state": "RUNNING", "started_at": AT})
        with raw.refuses("RUN_IDENTITY_IS_FIXED"):
            raw.update("run", run, {"owner": "a third"})
        with raw.refuses("RUN_IDENTITY_IS_FIXED"):
            raw.update("run", run, {"started_at": LATER})

    @pytest.mark.parametrize(
        "change",
        [
            {"id": 500},
            {"project": "another"},
            {"charter": "another"},
            {"target": "another"},
            {"plan_fingerprint": "f00d"},
            {"plan": '["reset"]'},
            {"drill": 1},
            {"created_at": LATER},
        ],
        ids=str,
    )
    def test_of_a_question(self, raw: Raw, change: dict[str, object]) -> None:
        question = raw.question()
        with raw.refuses("QUESTION_IDENTITY_IS_FIXED"):
            raw.update("question", question, change)

    @pytest.mark.parametrize("verb", ["INSERT", REPLACE])
    def test_one_question_for_one_key(self, raw: Raw, verb: str) -> None:
        raw.question()
        with raw.refuses("QUESTION_KEY_IS_UNIQUE"):
            raw.question(verb=verb)

    def test_a_question_is_not_replaced(self, raw: Raw) -> None:
        question = raw.question()
        with raw.refuses("QUESTION_IDENTITY_IS_FIXED"):
            raw.question("another", REPLACE, id=question)

    @pytest.mark.parametrize("verb", ["INSERT", REPLACE])
    def test_one_run_for_one_idempotency_key(self, raw: Raw, verb: str) -> None:
        question = raw.question()
        raw.run(question, idempotency_key="nightly 1")
        with raw.refuses("RUN_KEY_IS_UNIQUE"):
            raw.run(question, verb, idempotency_key="nightly 1")

    def test_runs_without_a_key_do_not_meet(self, raw: Raw) -> None:
        question = raw.question()
        raw.run(question)
        raw.run(question)

    @pytest.mark.parametrize("how", ["insert", "update"])
    def test_a_question_is_answered_by_a_done_run_only(self, raw: Raw, how: str) -> None:
        if how == "insert":
            with raw.refuses("QUESTION_ANSWER_REQUIRES_DONE_RUN"):
                raw.question(state="ANSWERED")
            return
        question = raw.question()
        raw.run_in("FAILED", question)
        with raw.refuses("QUESTION_ANSWER_REQUIRES_DONE_RUN"):
            raw.update("question", question, {"state": "ANSWERED"})
        raw.run_in("DONE", question)
        raw.update("question", question, {"state": "ANSWERED"})


class TestOrphans:
    """I3: nothing stands without what it belongs to, whether foreign keys are checked or not."""

    def test_run_without_question(self, raw: Raw) -> None:
        with raw.refuses("RUN_WITHOUT_QUESTION"):
            raw.run(4711)

    def test_run_of_a_question_of_another_project(self, raw: Raw) -> None:
        question = raw.question()
        with raw.refuses("RUN_WITHOUT_QUESTION"):
            raw.run(question, project="another")

    def test_evidence_without_run(self, raw: Raw) -> None:
        with raw.refuses("EVIDENCE_WITHOUT_RUN"):
            raw.evidence(4711)

    def test_tombstone_without_evidence(self, raw: Raw) -> None:
        with raw.refuses("TOMBSTONE_WITHOUT_EVIDENCE"):
            raw.tombstone(4711)

    def test_a_question_with_runs_is_not_deleted(self, raw: Raw) -> None:
        question = raw.question()
        raw.run(question)
        with raw.refuses("QUESTION_IS_NEVER_DELETED"):
            raw.execute("DELETE FROM question WHERE id = :id", {"id": question})


class TestEvidence:
    """I7: what was recorded stays as it was recorded."""

    @pytest.mark.parametrize(
        "change",
        [{"digest": "cd" * 32}, {"body": b"abc"}, {"run_id": 2}, {"seq": 9}, {"id": 500}, {"kind": "load"}],
        ids=str,
    )
    @pytest.mark.parametrize("verb", ["UPDATE", "UPDATE OR REPLACE", "UPDATE OR IGNORE"])
    def test_never_changed(self, raw: Raw, change: dict[str, object], verb: str) -> None:
        evidence = raw.evidence(raw.run_in("RUNNING"))
        with raw.refuses("EVIDENCE_IS_IMMUTABLE"):
            raw.update("evidence", evidence, change, verb)

    @pytest.mark.parametrize("state", ["RUNNING", "DONE"])
    def test_never_deleted(self, raw: Raw, state: str) -> None:
        run = raw.run_in(state)
        if state == "RUNNING":
            raw.evidence(run)
        with raw.refuses("EVIDENCE_IS_IMMUTABLE"):
            raw.execute("DELETE FROM evidence WHERE run_id = :run", {"run": run})

    @pytest.mark.parametrize(
        ("by", "code"), [("id", "EVIDENCE_IS_IMMUTABLE"), ("seq", "EVIDENCE_SEQ_IS_UNIQUE")]
    )
    def test_never_replaced(self, raw: Raw, by: str, code: str) -> None:
        run = raw.run_in("RUNNING")
        evidence = raw.evidence(run)
        with raw.refuses(code):
            if by == "id":
                raw.evidence(run, 2, verb=REPLACE, id=evidence)
            else:
                raw.evidence(run, 1, verb=REPLACE)

    @pytest.mark.parametrize("verb", ["INSERT", REPLACE])
    @pytest.mark.parametrize("kind", ["load", "network"])
    def test_a_load_is_recorded_once(self, raw: Raw, kind: str, verb: str) -> None:
        run = raw.run_in("RUNNING")
        ending: dict[str, object] = {"ending": "held"} if kind == "load" else {}
        raw.evidence(run, 1, kind, load=1, **ending)
        with raw.refuses("EVIDENCE_LOAD_IS_UNIQUE"):
            raw.evidence(run, 2, kind, verb, load=1, **ending)

    def test_other_kinds_come_often_in_one_load(self, raw: Raw) -> None:
        run = raw.run_in("RUNNING")
        raw.evidence(run, 1, "exchanges", load=1)
        raw.evidence(run, 2, "exchanges", load=1)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"digest": "ab"},
            {"digest": "AB" * 32},
            {"digest": "zz" * 32},
            {"digest": None},
            {"size": -1},
            {"size": "three"},
            {"body": b"four"},
            {"kind": "proof"},
            {"kind": "Load"},
            {"kind": None},
            {"kind": "load"},
            {"kind": "load", "load": 1},
            {"kind": "load", "load": 0, "ending": "held"},
            {"kind": "load", "load": 1, "ending": "HELD"},
            {"kind": "load", "load": 1, "ending": "mismatch", "signature": " "},
            {"kind": "load", "load": 1, "ending": "mismatch", "signature": ""},
            {"kind": "load", "load": 1, "ending": "mismatch", "signature": "\u200b"},
            {"kind": "network", "load": -1},
            {"media_type": ""},
            {"kind": "network"},
            {"kind": "cause"},
            {"kind": "cause", "cause": "network", "layer": "weather"},
            {"kind": "cause", "cause": " ", "layer": "network"},
            {"at": "now"},
            {"seq": 0},
            {"id": -1},
        ],
        ids=str,
    )
    def test_malformed(self, raw: Raw, wrong: dict[str, object]) -> None:
        run = raw.run_in("RUNNING")
        with raw.refuses("EVIDENCE_IS_MALFORMED"):
            raw.insert("evidence", _row(run) | wrong)


def _row(run: int) -> dict[str, object]:
    return {
        "run_id": run,
        "seq": 1,
        "kind": "note",
        "media_type": "text/plain",
        "digest": "ab" * 32,
        "size": 3,
        "at": AT,
    }


class TestTombstones:
    def _evidence(self, raw: Raw) -> int:
        run = raw.run_in("RUNNING")
        evidence = raw.evidence(run)
        raw.update("run", run, {"state": "CANCELLED", "terminal_at": LATER})
        return evidence

    def test_says_what_was_there(self, raw: Raw) -> None:
        raw.tombstone(self._evidence(raw))

    @pytest.mark.parametrize("wrong", [{"digest": "cd" * 32}, {"size": 4}], ids=str)
    def test_and_nothing_else(self, raw: Raw, wrong: dict[str, object]) -> None:
        evidence = self._evidence(raw)
        with raw.refuses("TOMBSTONE_MUST_MATCH_EVIDENCE"):
            raw.tombstone(evidence, **wrong)

    @pytest.mark.parametrize("wrong", [{"why": " "}, {"why": "\u2063"}, {"at": "now"}, {"id": 0}], ids=ascii)
    def test_malformed(self, raw: Raw, wrong: dict[str, object]) -> None:
        evidence = self._evidence(raw)
        with raw.refuses("TOMBSTONE_IS_MALFORMED"):
            raw.tombstone(evidence, **wrong)

    def test_not_while_the_run_goes_on(self, raw: Raw) -> None:
        evidence = raw.evidence(raw.run_in("RUNNING"))
        with raw.refuses("TOMBSTONE_BEFORE_TERMINAL"):
            raw.tombstone(evidence)

    def test_append_only(self, raw: Raw) -> None:
        evidence = self._evidence(raw)
        tombstone = raw.tombstone(evidence)
        with raw.refuses("TOMBSTONE_IS_IMMUTABLE"):
            raw.tombstone(evidence, REPLACE)
        with raw.refuses("TOMBSTONE_IS_IMMUTABLE"):
            raw.update("tombstone", tombstone, {"why": "another"})
        with raw.refuses("TOMBSTONE_IS_IMMUTABLE"):
            raw.execute("DELETE FROM tombstone")


class TestMalformed:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"state": "open"},
            {"state": "WEIRD"},
            {"state": None},
            {"text": ""},
            {"text": " \n"},
            {"text": "\u200b"},
            {"drill": 2},
            {"drill": 1},
            {"plan": '["reset"]'},
            {"plan_fingerprint": "f00d"},
            {"project": None},
            {"created_at": "2026-03-01"},
            {"id": 0},
        ],
        ids=str,
    )
    def test_question(self, raw: Raw, wrong: dict[str, object]) -> None:
        with raw.refuses("QUESTION_IS_MALFORMED"):
            raw.question(**wrong)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"agent": ""},
            {"owner": None},
            {"rules_version": "one"},
            {"lease_until": "soon"},
            {"id": -1},
            {"created_at": "then"},
        ],
        ids=str,
    )
    def test_run(self, raw: Raw, wrong: dict[str, object]) -> None:
        question = raw.question()
        with raw.refuses("RUN_IS_MALFORMED"):
            raw.run(question, **wrong)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"lease_until": "soon"},
            {"owner": ""},
            {"state": "RUNNING", "started_at": "just now"},
            {"state": "CANCELLED", "terminal_at": "over"},
            {"state": "FAILED", "reason": "UNVERIFIED", "verdict": "ODD", "terminal_at": LATER},
            {"state": "FAILED", "reason": "CHECK_ERROR", "level": "E9", "terminal_at": LATER},
        ],
        ids=str,
    )
    def test_change_of_a_run(self, raw: Raw, wrong: dict[str, object]) -> None:
        run = raw.run_in("QUEUED")
        with raw.refuses("RUN_IS_MALFORMED"):
            raw.update("run", run, wrong)

    @pytest.mark.parametrize("wrong", [{"state": "WEIRD"}, {"text": "\t"}, {"text": "\u2060"}], ids=ascii)
    def test_change_of_a_question(self, raw: Raw, wrong: dict[str, object]) -> None:
        question = raw.question()
        with raw.refuses("QUESTION_IS_MALFORMED"):
            raw.update("question", question, wrong)


class TestSecondParties:
    """E5 without two loads of its own: another worker repeated it, or a person looked at it."""

    def test_another_worker_repeats_a_pass(self, raw: Raw) -> None:
        raw.update("run", _repeated(raw), LANDED | {"level": "E5", "second_party": "worker"})

    def test_a_worker_does_not_repeat_itself(self, raw: Raw) -> None:
        run = _repeated(raw, owner="me")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED | {"level": "E5", "second_party": "worker"})

    def test_what_did_not_hold_is_not_repeated(self, raw: Raw) -> None:
        question = raw.question()
        run = _verifying(raw, question, cites=raw.run_in("CANCELLED", question))
        raw.proof_of_pass(run)
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED | {"level": "E5", "second_party": "worker"})

    def test_nobody_is_no_second_party(self, raw: Raw) -> None:
        run = _verifying(raw, raw.question())
        raw.proof_of_pass(run)
        for party in (None, "worker", "person", "friend"):
            with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
                raw.update("run", run, LANDED | {"level": "E5", "second_party": party})

    @pytest.mark.parametrize("landing", [LANDED | {"level": "E5"}, BUG], ids=["pass", "bug"])
    def test_a_person_decides_a_run_by_its_record(self, raw: Raw, landing: dict[str, object]) -> None:
        question = raw.question()
        run = _verifying(raw, question, agent="person", cites=raw.run_in("DONE", question))
        raw.evidence(run, 1, "judgement")
        raw.update("run", run, landing | {"second_party": "person"})

    @pytest.mark.parametrize("landing", [LANDED | {"level": "E5"}, BUG], ids=["pass", "bug"])
    def test_not_without_a_record(self, raw: Raw, landing: dict[str, object]) -> None:
        question = raw.question()
        run = _verifying(raw, question, agent="person", cites=raw.run_in("CANCELLED", question))
        raw.evidence(run, 1, "judgement")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, landing | {"second_party": "person"})

    def test_an_agent_is_no_person(self, raw: Raw) -> None:
        question = raw.question()
        run = _verifying(raw, question, cites=raw.run_in("DONE", question))
        raw.evidence(run, 1, "judgement")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, BUG | {"second_party": "person"})

    def test_cites_a_run_of_its_own_question(self, raw: Raw) -> None:
        elsewhere = raw.run_in("DONE")
        question = raw.question()
        for cited in (elsewhere, 999):
            with raw.refuses("RUN_CITES_ANOTHER_QUESTION"):
                raw.run(question, cites=cited)

    def test_two_loads_that_held_need_nobody(self, raw: Raw) -> None:
        run = _verifying(raw, raw.question())
        raw.proof_of_pass(run)
        raw.evidence(run, 11, "network", load=2)
        raw.evidence(run, 12, "load", load=2, ending="held")
        raw.update("run", run, LANDED | {"level": "E5"})


def _verifying(raw: Raw, question: int, **values: object) -> int:
    run = raw.run(question, **values)
    raw.update("run", run, {"state": "RUNNING"})
    raw.update("run", run, {"state": "VERIFYING"})
    return run


def _repeated(raw: Raw, owner: str = "another") -> int:
    """A RUN with the proof of a PASS, which cites one that `me` brought to the same end."""
    question = raw.question()
    run = _verifying(raw, question, owner=owner, cites=raw.run_in("DONE", question))
    raw.proof_of_pass(run)
    return run


@pytest.mark.parametrize(
    "pragma", ["ignore_check_constraints = ON", "recursive_triggers = ON", "foreign_keys = OFF"]
)
def test_a_connection_of_another_mind_meets_the_same_gate(place: Path, pragma: str) -> None:
    """What a raw connection can switch off, the triggers do not rely on."""
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA {pragma}")
        raw = Raw(connection)
        run = raw.run_in("VERIFYING")
        raw.evidence(run, 1, "network", load=1)
        raw.evidence(run, 2, "load", load=1, ending="held")
        raw.evidence(run, 3, "judgement", size=0, body=b"")
        with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
            raw.update("run", run, LANDED)
        with raw.refuses("RUN_TRANSITION_REFUSED"):
            raw.update("run", run, LANDED | {"state": "done"})


ON_SQLITE = pytest.mark.parametrize("raw_database", ["sqlite", "sqlite without checks"], indirect=True)


@ON_SQLITE
def test_a_landing_note_of_which_nobody_sees_more_than_nothing(raw: Raw) -> None:
    """PostgreSQL keeps no NUL at all."""
    run = raw.run_in("VERIFYING")
    raw.proof_of_pass(run)
    with raw.refuses("RUN_DONE_REQUIRES_VERIFIED_LANDING"):
        raw.update("run", run, LANDED | {"landing_note": "\x00seen"})


@ON_SQLITE
def test_a_new_row_with_bytes_for_text(raw: Raw) -> None:
    """SQLite would take them, and compares them as different; PostgreSQL has only text there."""
    with raw.refuses("QUESTION_IS_MALFORMED"):
        raw.question(charter=b"blob")
    question = raw.question()
    with raw.refuses("RUN_IS_MALFORMED"):
        raw.run(question, agent=b"x")
    with raw.refuses("EVIDENCE_IS_MALFORMED"):
        raw.evidence(raw.run(question), body="abc")


@ON_SQLITE
@pytest.mark.parametrize("column", ["state", "verdict", "level", "reason", "landing_note", "owner"])
def test_text_in_disguise(raw: Raw, column: str) -> None:
    run = raw.run_in("VERIFYING")
    raw.proof_of_pass(run)
    with raw.refuses("RUN_IS_MALFORMED"):
        raw.update("run", run, LANDED | {column: b"DONE"})


def test_refusals_are_errors_of_integrity(raw: Raw) -> None:
    """So that no driver takes them for a reason to try again."""
    with pytest.raises(REFUSED, match=r"^RUN_WITHOUT_QUESTION\b"):
        raw.run(1)
