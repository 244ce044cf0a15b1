"""What is received, what is refused before anything is stored, and that the same key is the same message."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256

import pytest

from bughunt.exceptions import MessageRefused, ReceiptKeyReused
from bughunt.tower import Attached, Redactor, Tower
from bughunt.tower.receiving import FILE_LIMIT, FILES_LIMIT, TEXT_LIMIT
from bughunt.tower.states import ReceiptState
from tests.tower.making import BEGAN, Clock, a_message

HAR = b'{"log": {"version": "1.2", "entries": []}}'


def test_the_arrival_is_a_fact_before_anybody_understands_it(tower: Tower, clock: Clock) -> None:
    clock.passes(5)
    receipt, new = tower.record(a_message("Is the total right?", reference="chat/7", thread="chat/6"))
    assert new
    assert tower.receipt(receipt.id) == receipt
    assert (receipt.state, receipt.attempts) == (ReceiptState.RECEIVED, 0)
    assert (receipt.occurred_at, receipt.received_at) == (BEGAN, clock.now)
    assert (receipt.reference, receipt.thread, receipt.summary) == ("chat/7", "chat/6", "Is the total right?")
    assert receipt.text_digest == sha256(b"Is the total right?").hexdigest()


def test_the_same_key_repeats_what_came_of_it_and_changes_nothing(tower: Tower, clock: Clock) -> None:
    first = tower.receive(a_message("Is the total right?"))
    clock.passes(60)
    assert tower.receive(a_message("Is the total right?", summary="Another")) == first
    assert tower.receipt(first.id) == first


def test_the_same_key_with_another_text_names_both_hashes(tower: Tower) -> None:
    first = tower.receive(a_message("One"))
    with pytest.raises(ReceiptKeyReused) as refused:
        tower.receive(a_message("Two"))
    assert sha256(b"One").hexdigest() in str(refused.value)
    assert sha256(b"Two").hexdigest() in str(refused.value)
    assert tower.receipt(first.id) == first


def test_the_same_key_in_another_project_is_another_message(tower: Tower) -> None:
    assert tower.receive(a_message()).id != tower.receive(a_message(project="bank")).id


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"text": ""}, "no text"),
        ({"text": " \n\u200b\ufe0f\u3164"}, "no text"),
        ({"text": "x" * (TEXT_LIMIT + 1)}, "262,145 bytes"),
        ({"text": "界" * (TEXT_LIMIT // 3 + 1)}, "attach it"),
        ({"key": ""}, "key"),
        ({"key": "two words"}, "key"),
        ({"key": "schlüssel"}, "key"),
        ({"key": "k\n"}, "key"),
        ({"key": "k" * 201}, "key"),
        ({"occurred_at": BEGAN.replace(tzinfo=None)}, "time zone"),
        ({"occurred_at": datetime.fromisoformat("0001-01-01T00:00:00+14:00")}, "can be kept"),
        ({"occurred_at": datetime.fromisoformat("9999-12-31T23:59:59-14:00")}, "can be kept"),
        ({"project": " "}, "project"),
        ({"source": ""}, "source"),
        ({"thread": "t" * 501}, "thread"),
        ({"attachments": (Attached(name="", data=b""),)}, "file name"),
        ({"attachments": (Attached(name="a.bin", data=bytes(FILE_LIMIT + 1)),)}, "a.bin"),
        ({"attachments": (Attached(name="a", data=b""),) * (FILES_LIMIT + 1)}, "21 attachments"),
        *(
            ({"attachments": (Attached(name="a.HAR", data=data),)}, "no HAR")
            for data in (b"", b"{}", b"PK\x03\x04", b'{"log": []}', b'{"log": {"entries": {}}}', b"\xff\xfe{")
        ),
        ({"attachments": (Attached(name="a.har", data=b"[" * 100_000),)}, "no HAR"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_what_cannot_be_received_is_refused_before_anything_is_stored(
    tower: Tower, wrong: dict[str, object], told: str
) -> None:
    with pytest.raises(MessageRefused, match=told):
        tower.receive(a_message(**wrong))
    assert tower.waiting() == []
    assert tower.receive(a_message()).id == 1


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\0b", "a\u2400b"),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("\udcff\udcfe bytes", "\ufffd\ufffd bytes"),
        ("\x1b[31mred\x07", "\x1b[31mred\x07"),
        ("\u202eright to left", "\u202eright to left"),
    ],
    ids=ascii,
)
def test_broken_text_is_stored_and_its_hash_is_that_of_what_arrived(
    tower: Tower, text: str, kept: str
) -> None:
    receipt = tower.receive(a_message(text, source=f"s{text}", reference=text, thread=text, summary=text))
    assert tower.receipt(receipt.id).text == kept
    assert receipt.text_digest == sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    assert tower.receive(a_message(text)) == receipt


def test_secrets_are_taken_out_of_a_message_and_of_its_files(url: str, clock: Clock) -> None:
    tower = Tower.open(url, clock=clock, redactor=Redactor(values=["hunter2hunter2"]))
    har = Attached(name="a.har", data=HAR.replace(b"[]", b'[{"x": "hunter2hunter2"}]'))
    receipt = tower.receive(a_message("It is hunter2hunter2 here.", attachments=(har,)))
    assert receipt.text == "It is [redacted] here."
    [file] = tower.attachments(receipt.id)
    assert b"hunter2" not in tower.attachment_bytes(file)
    tower.close()


def test_files_are_kept_small_and_large(tower: Tower) -> None:
    files = (Attached(name="a.har", data=HAR), Attached(name="film.mp4", data=bytes(100_000)))
    receipt = tower.receive(a_message(attachments=files))
    kept = tower.attachments(receipt.id)
    assert [(file.name, file.size) for file in kept] == [("a.har", len(HAR)), ("film.mp4", 100_000)]
    assert [tower.attachment_bytes(file) for file in kept] == [HAR, bytes(100_000)]


def test_a_long_text_has_a_short_summary(tower: Tower) -> None:
    receipt = tower.receive(a_message("word\n" * 200))
    assert receipt.summary.startswith("word word")
    assert len(receipt.summary) == 200


def test_a_secret_is_not_cut_in_half_by_a_summary(url: str, clock: Clock) -> None:
    tower = Tower.open(url, clock=clock, redactor=Redactor(values=["hunter2hunter2"]))
    receipt = tower.receive(a_message("x" * 190 + " hunter2hunter2"))
    assert "hunt" not in receipt.summary
    tower.close()
