"""Labelled messages: what ships can be read, and what is wrong with another file is said in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bughunt.bench.intake import score
from bughunt.exceptions import UsageError
from bughunt.tower.intake.examples import read_examples, shipped_examples

HERE = Path(__file__).parent


def test_what_ships_covers_each_label_in_both_languages() -> None:
    shipped = shipped_examples()
    for label in {example.label for example in shipped}:
        texts = [example.message.text for example in shipped if example.label == label]
        assert any(text.isascii() for text in texts)
        assert any("\u4e00" <= sign <= "\u9fff" for text in texts for sign in text)


@pytest.mark.parametrize(
    ("messages", "contexts"),
    [("held_out.jsonl", "contexts.json"), ("unseen.jsonl", "unseen_contexts.json")],
)
def test_messages_that_nothing_was_learnt_from_are_understood(messages: str, contexts: str) -> None:
    """Of other products; the figures that are asked for are floors."""
    found = score(read_examples(HERE / messages, HERE / contexts))
    assert found.accuracy >= 0.85
    assert found.filler_opened_q == 0
    assert found.certain_wrong_links_per_100 <= 1
    assert sum(rating.messages for rating in found.ratings) == found.messages


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 1"),
        ('{"id": "x"}', "line 1"),
        (
            json.dumps({"id": "x", "context": "none", "source": "", "text": "", "label": "IGNORE"}),
            "no context",
        ),
        (json.dumps({"id": "x", "context": "shop", "source": "", "text": "", "label": "LATER"}), "no label"),
        (
            json.dumps(
                {"id": "x", "context": "shop", "source": "", "text": "", "label": "IGNORE", "links": ["12"]}
            ),
            "write Q-12",
        ),
    ],
    ids=["json", "fields", "context", "label", "link"],
)
def test_a_file_that_is_none(tmp_path: Path, line: str, told: str) -> None:
    gold, contexts = tmp_path / "gold.jsonl", tmp_path / "contexts.json"
    gold.write_text(line)
    contexts.write_text('{"shop": {"product": "shop", "questions": []}}')
    with pytest.raises(UsageError, match=told):
        read_examples(gold, contexts)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_examples(tmp_path / "gold.jsonl", tmp_path / "contexts.json")
