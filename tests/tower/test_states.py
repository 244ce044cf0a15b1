"""The drawn table of transitions and the triggers say the same."""

from __future__ import annotations

from itertools import product

from bughunt.tower.states import LIVE, TERMINAL, TRANSITIONS
from bughunt.verdict.judgement import State
from tests.tower.raw import Raw


def test_every_pair_of_states(raw: Raw) -> None:
    for before, after in product(State, State):
        assert _moves(raw, before, after) == ((before, after) in TRANSITIONS), f"{before} -> {after}"


def test_every_first_state(raw: Raw) -> None:
    for state in State:
        question = raw.question(f"first {state}")
        assert _inserts(raw, question, state) == ((None, state) in TRANSITIONS), state


def test_terminal_states_lead_nowhere() -> None:
    assert not [pair for pair in TRANSITIONS if pair[0] in TERMINAL]
    assert set(State) == TERMINAL | LIVE | {State.STALE}


def _moves(raw: Raw, before: State, after: State) -> bool:
    question = raw.question(f"{before} {after}")
    run = raw.run_in(before, question)
    if before is State.VERIFYING:
        raw.proof_of_pass(run)
    code = raw.refusal(lambda: raw.update("run", run, {"state": after, **raw.ending(after, question)}))
    return code not in ("RUN_IS_TERMINAL", "RUN_TRANSITION_REFUSED")


def _inserts(raw: Raw, question: int, state: State) -> bool:
    return raw.refusal(lambda: raw.run(question, **({"state": state} | raw.ending(state, question)))) is None
