"""How often the intake decides labelled messages rightly, on products that it did not learn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from bughunt.tower.intake import Decision, Relation
from bughunt.tower.intake.cascade import CERTAIN, PENDING
from bughunt.tower.intake.deciding import decide_by, learnt_from
from bughunt.tower.intake.examples import Example, shipped_examples

__all__ = ["LABELS", "Miss", "Rating", "Score", "score"]

LABELS = (*map(str, Relation), PENDING)


class Rating(Struct, frozen=True, kw_only=True):
    """How well one label is decided."""

    label: str
    messages: int
    precision: float | None
    """Of those decided so, the share that is so; None: none was."""
    recall: float | None
    """Of those that are so, the share that was decided so."""


class Miss(Struct, frozen=True, kw_only=True):
    """A message that was decided otherwise than it is labelled."""

    id: str
    text: str
    label: str
    links: tuple[int, ...]
    decided: str
    decided_links: tuple[int, ...]
    confidence: float
    step: str


class Score(Struct, frozen=True, kw_only=True):
    """What the intake is worth on these messages."""

    messages: int
    accuracy: float
    ratings: tuple[Rating, ...]
    confusion: dict[str, dict[str, int]]
    """By label, then by what was decided."""
    filler_opened_q: int
    """Messages labelled IGNORE of which a Q was made."""
    confidence_bound: float
    """A decision at or above it counts as certain."""
    certain: int
    certain_wrong_links: int
    """Certain decisions that tie a message to a Q to which it does not belong."""
    certain_wrong_links_per_100: float
    right_links: float | None
    """Of the messages decided rightly that belong to a Q, the share tied to just those Qs."""
    right_parts: float | None
    """Of the splits decided rightly, the share with the right number of parts."""
    misses: tuple[Miss, ...]


def score(examples: Sequence[Example]) -> Score:
    """Decide them all; what is learnt for a message is learnt without its product."""
    decisions = _decisions(examples)
    pairs = list(zip(examples, decisions, strict=True))
    right = [(e, d) for e, d in pairs if _label(d) == e.label]
    certain = [(e, d) for e, d in pairs if d.confidence >= CERTAIN]
    wrong = sum(bool(_links(d) - e.links) for e, d in certain)
    confusion = Counter((e.label, _label(d)) for e, d in pairs)
    return Score(
        messages=len(pairs),
        accuracy=len(right) / len(pairs),
        ratings=tuple(_rating(label, confusion) for label in LABELS),
        confusion={label: {other: confusion[label, other] for other in LABELS} for label in LABELS},
        filler_opened_q=sum(confusion[Relation.IGNORE, opened] for opened in ("NEW_Q", "SPLIT_TO_N_Q")),
        confidence_bound=CERTAIN,
        certain=len(certain),
        certain_wrong_links=wrong,
        certain_wrong_links_per_100=100 * wrong / len(certain) if certain else 0.0,
        right_links=_share([_links(d) == e.links for e, d in right if e.links]),
        right_parts=_share([len(d.parts) == e.parts for e, d in right if e.parts > 1]),
        misses=tuple(_miss(e, d) for e, d in pairs if _label(d) != e.label),
    )


def _decisions(examples: Sequence[Example]) -> list[Decision]:
    """Cross-validated: nothing of a message's own product, and no text of the file, is learnt from."""
    shipped = shipped_examples()
    texts = {example.message.text for example in examples}
    contexts = {example.context for example in examples}
    known = {example.context for example in shipped}
    # A text that ships is left out where it is asked about: with all that is of its product.
    others = [e for e in shipped if e.message.text not in texts or e.context in contexts]
    anew = learnt_from(others)
    classifiers = {
        context: learnt_from([e for e in others if e.context != context]) if context in known else anew
        for context in contexts
    }
    return [decide_by(classifiers[e.context], e.message, e.questions) for e in examples]


def _label(decision: Decision) -> str:
    return PENDING if decision.relation is None else str(decision.relation)


def _links(decision: Decision) -> set[int]:
    return {*decision.links, *(link for part in decision.parts for link in part.links)}


def _share(rights: Sequence[bool]) -> float | None:
    return sum(rights) / len(rights) if rights else None


def _rating(label: str, confusion: Counter[tuple[str, str]]) -> Rating:
    right = confusion[label, label]
    decided = sum(confusion[other, label] for other in LABELS)
    messages = sum(confusion[label, other] for other in LABELS)
    return Rating(
        label=label,
        messages=messages,
        precision=right / decided if decided else None,
        recall=right / messages if messages else None,
    )


def _miss(example: Example, decision: Decision) -> Miss:
    return Miss(
        id=example.id,
        text=example.message.text,
        label=example.label,
        links=tuple(sorted(example.links)),
        decided=_label(decision),
        decided_links=tuple(sorted(_links(decision))),
        confidence=decision.confidence,
        step=decision.step,
    )
