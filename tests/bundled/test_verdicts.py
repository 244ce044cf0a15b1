"""The careful agent says of the bundled apps what the registry says: a sample of what `bughunt gate` does."""

from __future__ import annotations

import pytest

from bughunt import Verdict
from tests.bundled.loading import APPS, charters_of
from tests.cases.looking import Looking

#: App, bug, charter: kinds of bugs that no two share, and one charter that a bug must leave alone.
SAMPLE = [
    ("cart", "truncated-json", "shows_the_right_total"),
    ("todo", "loses-the-write", "keeps_an_item"),
    ("todo", "says-saved-unsent", "saves_an_item"),
    ("todo", "counts-done", "tells_what_was_saved"),
    ("search", "a-letter-behind", "shows_what_was_typed_last"),
    ("search", "aborts-at-once", "says_that_nothing_matches"),
    ("login", "opens-to-strangers", "asks_a_stranger_to_sign_in"),
    ("login", "sign-out-keeps-session", "signs_out_for_good"),
    ("login", "accepts-any-password", "refuses_a_wrong_password"),
    ("dashboard", "price-not-shown", "shows_the_last_price"),
    ("shop", "cors-forgotten", "lists_the_catalogue"),
    ("shop", "says-ordered-unsent", "confirms_an_order"),
]


@pytest.mark.parametrize(("name", "bug", "charter"), SAMPLE)
async def test_a_bug_is_seen_where_it_matters_and_nowhere_else(
    look: Looking, name: str, bug: str, charter: str
) -> None:
    bundled = APPS[name]
    with bundled.app(bug=bug) as server:
        seen = await look(server.url, charters_of(bundled)[charter])
    expected = Verdict.BUG if charter in bundled.bugs[bug] else Verdict.PASS
    assert seen.judgement.verdict is expected, seen.judgement
