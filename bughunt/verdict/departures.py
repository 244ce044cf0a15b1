"""What a page drops because it is left: no sign of a network that is broken.

Source of the rules: "What a causal exchange says" in docs/explanation/verdicts.md.
"""

from __future__ import annotations

from bughunt.verdict.record import PAGE_LOADING, Exchange, LoadRecord

__all__ = ["Departures"]

#: Seconds between an abort and an action or a navigation that explains it.
NAVIGATION_WINDOW = 0.3


class Departures:
    """Answers, for one load, which aborted requests were left behind by a navigation or an action."""

    def __init__(self, load: LoadRecord) -> None:
        self._load = load
        documents = (x for x in load.exchanges if x.main_document)
        self._documents = sorted(documents, key=lambda x: x.started)

    def explain(self, x: Exchange, *, lost_write: bool) -> bool:
        """Whether being left explains its abort; of a lost write, only what the charter did just then."""
        if self._when_answered(x) or self._after_action(x):
            return True
        return not lost_write and any(self._by_charter(doc) and _ended_by(doc, x) for doc in self._documents)

    def by_any_navigation(self, x: Exchange) -> bool:
        """Whether a navigation, whoever caused it, ended it."""
        return any(_ended_by(document, x) for document in self._documents)

    def _when_answered(self, x: Exchange) -> bool:
        """All of it had come, or its headers had and the page moved on at once, without reading the rest."""
        if x.responded is None:
            return False
        whole = x.announced is not None and x.received is not None and x.received >= x.announced
        return whole or any(
            0 <= document.started - x.responded <= NAVIGATION_WINDOW and _ended_by(document, x)
            for document in self._documents
        )

    def _after_action(self, x: Exchange) -> bool:
        """The charter did something (a click that leaves a view), and the page dropped what it had asked.

        Only where the charter held: a page that gives up on a slow network may do so at any moment, that of
        an action too.
        """
        return self._load.failure is None and any(
            step.acts and step.name not in PAGE_LOADING and _near(step.ended, x.ended)
            for step in self._load.steps
        )

    def _by_charter(self, document: Exchange) -> bool:
        """A step caused this navigation: no step that gave up, and a page-loading one its first only."""
        if document.navigation_of is None:
            return False
        step = self._load.steps[document.navigation_of]
        if step.name in PAGE_LOADING:
            first = next(doc for doc in self._documents if doc.navigation_of == step.index)
            return first is document
        return self._load.failure is None or self._load.failure.step != step.index


def _ended_by(document: Exchange, x: Exchange) -> bool:
    """A navigation that began after the request ended it, at the latest when its document came."""
    if x.ended is None or document.started < x.started:
        return False
    came = max(document.started, document.responded or 0.0)
    return document.started - NAVIGATION_WINDOW <= x.ended <= came + NAVIGATION_WINDOW


def _near(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= NAVIGATION_WINDOW
