"""Messages and people on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Shell


def received(shell: Shell, *arguments: str) -> dict[str, Any]:
    done = shell("tower", "receive", *arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_a_message_is_received_and_shown(shell: Shell) -> None:
    told = received(
        shell, "Does the footer on staging show the opening hours?", "--key", "k-1", "--source", "chat"
    )
    assert (told["state"], told["relation"]) == ("APPLIED", "NEW_Q")
    shown = shell("show", "R-1")
    assert "R-1 APPLIED: NEW_Q of Q-1" in shown.out
    assert json.loads(shell("show", "R-1", "--json").out)["key"] == "k-1"


def test_the_same_key_again_repeats_it_and_another_text_is_refused(shell: Shell) -> None:
    first = received(shell, "thanks!", "--key", "k-1")
    assert received(shell, "thanks!", "--key", "k-1") == first
    done = shell("tower", "receive", "Is it so?", "--key", "k-1")
    assert (done.code, done.out) == (2, "")
    assert "SHA-256" in done.err


def test_what_waits_is_listed_and_a_person_settles_it(shell: Shell) -> None:
    received(shell, "any news?")
    assert shell("tower", "waiting").code == 3
    assert "R-1" in shell("tower", "waiting").out
    said = shell("tower", "resolve", "R-1", "--new", "--target", "staging", "--who", "anna")
    assert (said.code, said.out.strip()) == (0, "R-1 APPLIED: NEW_Q of Q-1 (said so)")
    assert shell("tower", "reconcile").code == 0


def test_a_file_comes_with_its_message_and_can_be_saved(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "a b;c.log"
    file.write_bytes(b"what happened")
    received(shell, "See the log, please.", "--attach", str(file))
    shown = shell("show", "R-1", "--save", str(tmp_path / "out"))
    assert [path.read_bytes() for path in (tmp_path / "out").iterdir()] == [b"what happened"]
    assert "a_b_c.log" in shown.out


def test_a_message_does_not_steer_the_terminal(shell: Shell) -> None:
    received(shell, "\x1b[31mred \u202e and back")
    for words in (("show", "R-1"), ("tower", "waiting")):
        out = shell(*words).out
        assert "\x1b[31m" not in out
        assert "\u202e" not in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("tower", "receive", ""), "no text"),
        (("tower", "receive", "x", "--key", "two words"), "key"),
        (("tower", "receive", "x", "--at", "2026-01-01T00:00:00"), "time zone"),
        (("tower", "receive", "x", "--at", "soon"), "no time"),
        (("tower", "receive", "x", "--attach", "nowhere.har"), "cannot be read"),
        (("tower", "resolve", "Q-1", "--new"), "write R-1"),
        (("tower", "resolve", "R-1"), "Say one of"),
        (("tower", "resolve", "R-1", "--new", "--evidence"), "--link"),
        (("tower", "decide", "RUN-1", "MAYBE", "--statement", "x"), "PASS or BUG"),
        (("tower", "decide", "RUN-1", "BUG", "--statement", "x"), "no RUN-1"),
        (("tower", "close", "Q-1", "--why", " "), "--why"),
        (("show", "R-9"), "no R-9"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_done_is_said_in_one_line(shell: Shell, words: tuple[str, ...], told: str) -> None:
    received(shell, "thanks!")
    done = shell(*words)
    assert (done.code, done.out) == (2, "")
    assert told in done.error


def test_the_audit_of_a_sound_tower(shell: Shell) -> None:
    received(shell, "thanks!")
    assert shell("tower", "audit").code == 0
    told = json.loads(shell("tower", "audit", "--json").out)
    assert (told["sound"], told["totals"]["receipts"], told["metrics"]["m3_unsettled"]) == (True, 1, 0)
    verified = shell("tower", "verify")
    assert (verified.code, "0 wrong" in verified.out) == (0, True)


def test_only_looking_makes_no_tower(shell: Shell) -> None:
    for words in ("waiting", "audit", "verify", "reconcile"):
        assert shell("tower", words).code == 2
