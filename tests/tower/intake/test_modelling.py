"""A model's answer is taken as it was asked for, or not at all."""

from __future__ import annotations

import json

import pytest

from bughunt.tower.intake import ModelAnswerRefused, Relation, decision_from_model
from tests.tower.intake.making import QUESTIONS

GOOD = {"relation": "LINK_EXISTING_Q", "links": [12], "confidence": 0.7, "reason": "It says so."}


def test_a_good_answer() -> None:
    said = decision_from_model(json.dumps(GOOD).encode(), QUESTIONS)
    assert (said.relation, said.links, said.step) == (Relation.LINK_EXISTING_Q, (12,), "model")


def test_a_model_may_be_unsure() -> None:
    answer = {"relation": None, "confidence": 0.2, "reason": "It could be two."}
    assert decision_from_model(json.dumps(answer).encode(), QUESTIONS).relation is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"relation": "GUESS"},
        {"confidence": 1.5},
        {"confidence": "high"},
        {"links": [99]},
        {"links": []},
        {"relation": "IGNORE"},
        {"relation": "NEW_Q"},
        {"relation": "SPLIT_TO_N_Q", "links": []},
        {"relation": "SPLIT_TO_N_Q", "links": [], "parts": [{"text": "one", "relation": "NEW_Q"}]},
        {"relation": "SPLIT_TO_N_Q", "links": [], "parts": [{"text": "a", "relation": "IGNORE"}] * 2},
        {
            "relation": "SPLIT_TO_N_Q",
            "links": [],
            "parts": [{"text": "a", "relation": "LINK_EXISTING_Q"}] * 2,
        },
        {"relation": "SPLIT_TO_N_Q", "links": [], "parts": [{"text": "a", "links": [99]}] * 2},
        {"because": "of that"},
    ],
    ids=str,
)
def test_an_answer_of_another_form_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ModelAnswerRefused):
        decision_from_model(json.dumps(GOOD | wrong).encode(), QUESTIONS)


@pytest.mark.parametrize("data", [b"", b"[]", b"Sure! Here it is: {}", b"\xff", b"{}"])
def test_what_is_no_answer_is_refused(data: bytes) -> None:
    with pytest.raises(ModelAnswerRefused):
        decision_from_model(data, QUESTIONS)
