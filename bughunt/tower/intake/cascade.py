"""From a message to a decision: step by step, the plainest first; what no step can tell waits for context."""

from __future__ import annotations

from collections.abc import Sequence

from bughunt.tower.intake.placing import GOING_ON, PENDING, TOLD_OF, Chances, ignored, link, placed, unsure
from bughunt.tower.intake.seeing import Sight
from bughunt.tower.intake.splitting import scheduled
from bughunt.tower.intake.values import Decision, OpenQuestion, Part, Relation

__all__ = ["CERTAIN", "PENDING", "Chances", "decided"]

CERTAIN = 0.8
"""The confidence above which a decision counts as certain: one in a hundred of those may link wrongly."""

_IDLE = ("thanks", "praise", "courtesy", "acknowledges", "takes_back", "absent", "private", "machine")
"""Marks of what asks nothing and tells nothing."""

_TELLING = (*GOING_ON, "measured", "wants")


def decided(sight: Sight, questions: Sequence[OpenQuestion], chances: Chances | None) -> Decision:
    """The decision about a message; `chances` is None where no classifier is installed."""
    return (
        _by_schedule(sight, questions)
        or _by_wrong_name(sight)
        or _by_sibling(sight)
        or _by_another_target(sight)
        or _by_filler(sight, chances)
        or placed(sight, questions, chances)
    )


def _by_schedule(sight: Sight, questions: Sequence[OpenQuestion]) -> Decision | None:
    """A schedule names charters with their targets, and asks them."""
    if sight.message.source != "schedule":
        return None
    pairs = scheduled(sight.reading.text)
    known = {(q.charter.rpartition("::")[2], q.target): q.id for q in questions} | {
        (q.charter, q.target): q.id for q in questions
    }
    links = tuple(dict.fromkeys(known[pair] for pair in pairs if pair in known))
    fresh = [pair for pair in dict.fromkeys(pairs) if pair not in known]
    if links and not fresh:
        return Decision(
            relation=Relation.LINK_EXISTING_Q,
            links=links,
            reason="A schedule asks them again.",
            step="schedule",
            confidence=0.95,
        )
    if len(pairs) == 1 and fresh:
        return Decision(
            relation=Relation.NEW_Q,
            target=fresh[0][1],
            reason="A schedule asks it first.",
            step="schedule",
            confidence=0.95,
        )
    if pairs:
        parts = tuple(_scheduled_part(pair, known.get(pair)) for pair in dict.fromkeys(pairs))
        return Decision(
            relation=Relation.SPLIT_TO_N_Q,
            parts=parts,
            reason="A schedule asks several.",
            step="schedule",
            confidence=0.95,
        )
    return None


def _scheduled_part(pair: tuple[str, str], known: int | None) -> Part:
    text = f"{pair[0]} {pair[1]}"
    if known is not None:
        return Part(text=text, links=(known,), relation=Relation.LINK_EXISTING_Q)
    return Part(text=text, relation=Relation.NEW_Q, target=pair[1])


def _by_wrong_name(sight: Sight) -> Decision | None:
    """A number of no open question says that something known is meant, but not what."""
    names = sight.references
    if names.unknown and not names.links:
        return unsure(f"Q-{names.unknown[0]} is no open question of this project.", "references", 0.9)
    if names.contradicted or _means_another(sight):
        return unsure(f"Q-{names.numbers[0]} is named, and another question is meant.", "references", 0.7)
    if names.ambiguous and not sight.reading.targets:
        return unsure(
            "The charter is asked on several targets, and none of them is named.", "references", 0.8
        )
    return None


def _means_another(sight: Sight) -> bool:
    """Whether one number is named, and the words are plainly those of another open question."""
    if len(sight.references.numbers) != 1 or sight.references.charters:
        return False
    best = sight.alike[0]
    named = next(item for item in sight.alike if item.question.id == sight.references.numbers[0])
    if best.question.charter == named.question.charter:
        return False
    return best.likeness >= 0.22 and named.likeness <= best.likeness / 3


def _by_sibling(sight: Sight) -> Decision | None:
    """A number, wanted on the target of another question of the same charter: that one is meant."""
    names, targets = sight.references, sight.reading.targets
    asked = [item.question for item in sight.alike if item.question.id in names.numbers]
    if len(asked) != 1 or not targets or asked[0].target in targets:
        return None
    siblings = [
        item.question.id
        for item in sight.alike
        if item.question.charter == asked[0].charter and item.question.target in targets
    ]
    if not siblings or not (sight.marks["wants"] or sight.marks["fresh"]):
        return None
    reason = f"It wants Q-{asked[0].id} on another target, where it is asked already."
    return link(Relation.LINK_EXISTING_Q, tuple(siblings), 0.7, reason, "references")


def _by_another_target(sight: Sight) -> Decision | None:
    """A known charter or question, wanted on a target where nobody asks it yet."""
    names = sight.references
    wants = sight.marks["wants"] or sight.marks["fresh"] or sight.parts
    if names.elsewhere and not names.numbers and wants:
        target = names.elsewhere[0]
        return Decision(
            relation=Relation.NEW_Q,
            target=target,
            confidence=0.85,
            reason=f"A known charter is wanted on {target}, where nobody asks it yet.",
            step="references",
        )
    return None


def _by_filler(sight: Sight, chances: Chances | None) -> Decision | None:
    """Thanks, greetings and the like, which ask for nothing and tell nothing."""
    marks = sight.marks
    polite = marks["thanks"] or marks["acknowledges"] or marks["courtesy"] or marks["absent"]
    plain = polite and marks["short"] and not sight.parts and not any(marks[name] for name in _TELLING)
    sure = 0.0 if chances is None else chances.get(Relation.IGNORE, 0.0)
    if plain and marks["tiny"]:
        sure = max(sure, 0.9)
    if sight.references.links and not polite:
        return None
    if sure < 0.9 and _may_tell_something(sight, polite=bool(polite)):
        return None
    if plain and sure >= 0.35:
        return ignored(sure)
    needed = 0.4 if any(marks[name] for name in _IDLE) else 0.6
    if (sure >= needed and _first(chances) in (None, Relation.IGNORE)) or sure >= 0.9:
        return ignored(sure)
    return None


def _may_tell_something(sight: Sight, *, polite: bool) -> bool:
    """A fact that is taken for courtesy would be lost; one that waits is not."""
    marks = sight.marks
    judged = sight.references.thread and any(marks[name] for name in TOLD_OF)
    seen = marks["saw"] and (marks["wants"] or marks["measured"] or marks["build"])
    somewhere = bool(sight.reading.targets) and (marks["build"] or marks["saw"])
    return bool(judged or seen or somewhere or (not polite and (marks["again"] or marks["vague"])))


def _first(chances: Chances | None) -> str | None:
    return None if chances is None else max(chances, key=lambda label: chances[label])
