"""Where a message that asks or tells something belongs: to open questions, to new ones, or it must wait."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import structs

from bughunt.tower.intake.likeness import Alike, most_alike
from bughunt.tower.intake.seeing import Sight, look_at
from bughunt.tower.intake.text import read, targets_in
from bughunt.tower.intake.values import Decision, Incoming, OpenQuestion, Part, Relation

__all__ = ["GOING_ON", "PENDING", "TOLD_OF", "Chances", "ignored", "link", "placed", "unsure"]

Chances = Mapping[str, float]
"""How likely each relation is, and `PENDING_CONTEXT`: what the classifier says."""

PENDING = "PENDING_CONTEXT"

ALIKE = 0.38
"""The likeness above which a message is about an open question though it names none."""

AHEAD = 0.08
"""How much more alike than the next one that question must be."""

BESIDE = 0.15
"""The likeness below which a part of a message is about something else."""

SEVERAL = 0.25
"""How likely a split must be where a message has several asking parts."""

GOING_ON = ("again", "goes_on", "status", "narrows", "holds", "accepts", "rejects", "saw", "file", "build")
"""Marks of what goes on with the question of a thread; without one it may be small talk."""

_REPEATING = ("again", "goes_on", "status")
"""Marks of what asks the same question once more."""

TOLD_OF = ("accepts", "rejects", "file", "saw")
"""Marks of what tells something of the question of its thread."""

_JUDGING = (*TOLD_OF, "ended", "broken", "measured")

_LINKING = (Relation.LINK_EXISTING_Q, Relation.EVIDENCE_OR_ACCEPTANCE)


def placed(sight: Sight, questions: Sequence[OpenQuestion], chances: Chances | None) -> Decision:
    """The decision about a message that is no filler; `chances` is None where no classifier is installed."""
    if chances is None:
        return _by_marks(sight)
    label = max((label for label in chances if label != Relation.IGNORE), key=lambda label: chances[label])
    if len(questions) == 1 and _goes_on(sight) and chances[Relation.LINK_EXISTING_Q] > 0.02:
        reason = "It goes on, and one question is open."
        return link(Relation.LINK_EXISTING_Q, (questions[0].id,), 0.6, reason, "acts")
    if label == PENDING and _plainly_alike(sight):
        label = max(_LINKING, key=lambda relation: chances[relation])
    if label == Relation.LINK_EXISTING_Q and _asks_apart(sight, questions, chances):
        return _split(sight, questions, chances)
    if label in (Relation.NEW_Q, Relation.SPLIT_TO_N_Q):
        return _asked(sight, questions, chances)
    if label in _LINKING:
        return _linked(sight, Relation(label), chances)
    return unsure("What it refers to cannot be told.", "acts", chances.get(PENDING, 0.0))


def unsure(reason: str, step: str, confidence: float = 0.0) -> Decision:
    """It waits for context."""
    return Decision(relation=None, reason=reason, step=step, confidence=confidence)


def ignored(sure: float) -> Decision:
    return Decision(
        relation=Relation.IGNORE,
        confidence=sure,
        reason="It asks nothing and tells nothing.",
        step="filler",
    )


def _by_marks(sight: Sight) -> Decision:
    """Without a classifier: what names a question or stands in its thread, and plainly repeats or judges."""
    names, marks = sight.references, sight.marks
    links = names.links or names.thread
    asks, tells = any(marks[name] for name in _REPEATING), any(marks[name] for name in _JUDGING)
    if not links or asks == tells or len(sight.parts) > 1 or _is_elsewhere(sight):
        return unsure(
            "What it asks or tells cannot be told without the extra: pip install 'bughunt[intake]'.", "extra"
        )
    relation = Relation.LINK_EXISTING_Q if asks else Relation.EVIDENCE_OR_ACCEPTANCE
    reason = "It names them or stands in their thread."
    return link(relation, _on_targets(links, sight), 0.6, reason, "marks")


def _is_elsewhere(sight: Sight) -> bool:
    """Whether it may be about another target or question than those that it names."""
    shifted = any(sight.marks[name] for name in ("fresh", "narrows", "names_elsewhere", "expects"))
    asks = sight.marks["ends_asking"] and not sight.marks["status"]
    return shifted or bool(asks) or _leaves_thread(sight)


def _plainly_alike(sight: Sight) -> bool:
    """Whether a vague message has the words of just one open question."""
    if sight.references.unknown or not sight.alike or sight.alike[0].likeness < ALIKE:
        return False
    return len(sight.alike) == 1 or sight.alike[0].likeness - sight.alike[1].likeness >= 2 * AHEAD


def _asks_apart(sight: Sight, questions: Sequence[OpenQuestion], chances: Chances) -> bool:
    """Whether a message like an open question asks something beside it."""
    if len(sight.parts) < 2 or sight.references.links:
        return False
    if chances[Relation.SPLIT_TO_N_Q] >= SEVERAL:
        return True
    best = sight.alike[0].question
    like = [most_alike(read(part), questions) for part in sight.parts]
    own = [next(item.likeness for item in found if item.question.id == best.id) for found in like]
    return not sight.references.thread and max(own) >= ALIKE and min(own) < BESIDE


def _goes_on(sight: Sight) -> bool:
    """Whether a vague message goes on with something: where one question is open, it can only mean that."""
    asks = any(sight.marks[name] for name in _REPEATING)
    return asks and sight.marks["short"] > 0 and not sight.references.unknown and not sight.reading.targets


def _asked(sight: Sight, questions: Sequence[OpenQuestion], chances: Chances) -> Decision:
    asking = chances.get(Relation.NEW_Q, 0.0) + chances.get(Relation.SPLIT_TO_N_Q, 0.0)
    if not sight.parts and (asking < chances.get(Relation.IGNORE, 0.0) or not _wants(sight)):
        return unsure("It may ask something, or nothing at all.", "acts", 0.4)
    if len(sight.parts) >= 2 and chances[Relation.SPLIT_TO_N_Q] >= SEVERAL:
        return _split(sight, questions, chances)
    best = _alike(sight)
    if best is None:
        return Decision(
            relation=Relation.NEW_Q,
            target=_target(sight),
            confidence=asking,
            reason="It asks what no open question asks.",
            step="acts",
        )
    if sight.reading.targets or _only_target(best, sight):
        return Decision(
            relation=Relation.LINK_EXISTING_Q,
            links=(best,),
            confidence=min(asking, sight.alike[0].likeness + 0.2, 0.79),
            reason=f"It asks the same as Q-{best}.",
            step="likeness",
        )
    return unsure(f"It may ask the same as Q-{best}, and names no target.", "likeness", 0.5)


def _wants(sight: Sight) -> bool:
    return bool(sight.marks["wants"] or sight.marks["expects"] or sight.marks["fresh"])


def _alike(sight: Sight) -> int | None:
    """The open question that a message asks again in other words; on another target it is another one."""
    here = [item for item in sight.alike if item.target >= 0]
    if not here or here[0].likeness < ALIKE:
        return None
    others = [item for item in here[1:] if item.question.charter != here[0].question.charter]
    if others and here[0].likeness - others[0].likeness < AHEAD:
        return None
    return here[0].question.id


def _only_target(best: int, sight: Sight) -> bool:
    charter = next(item.question.charter for item in sight.alike if item.question.id == best)
    return (
        sum(item.question.charter == charter for item in sight.alike) == 1 and sight.alike[0].likeness > 0.6
    )


def _target(sight: Sight) -> str | None:
    return next(iter(sight.reading.targets), None)


def _split(sight: Sight, questions: Sequence[OpenQuestion], chances: Chances) -> Decision:
    whole = _target(sight)
    parts = tuple(_part(sight.message, text, whole, questions) for text in sight.parts)
    return Decision(
        relation=Relation.SPLIT_TO_N_Q,
        parts=parts,
        confidence=min(chances[Relation.SPLIT_TO_N_Q], 0.79 if any(part.links for part in parts) else 1.0),
        reason=f"It asks {len(parts)} things that can have different answers.",
        step="lists",
    )


def _part(message: Incoming, text: str, target: str | None, questions: Sequence[OpenQuestion]) -> Part:
    known = {question.target for question in questions}
    own = next(iter(targets_in(text, known)), target)
    shown = f"{text} ({own})" if own and own not in text else text
    sight = look_at(structs.replace(message, text=shown, attachments=()), questions)
    same = _alike(sight)
    if same is not None and sight.alike[0].target == 1:
        sure = sight.alike[0].likeness > ALIKE + 2 * AHEAD
        return Part(text=text, links=(same,), relation=Relation.LINK_EXISTING_Q) if sure else Part(text=text)
    return Part(text=text, relation=Relation.NEW_Q, target=own)


def _linked(sight: Sight, relation: Relation, chances: Chances) -> Decision:
    names, sure = sight.references, chances[relation]
    if names.links:
        if names.elsewhere and relation is Relation.LINK_EXISTING_Q and not names.charters:
            return _new_elsewhere(names.elsewhere[0], sure)
        return link(
            relation, _on_targets(names.links, sight), min(sure, 0.97), "It names them.", "references"
        )
    if names.thread and sight.marks["thread_elsewhere"] and _asks_instead(sight, chances):
        return _new_elsewhere(next(iter(sight.reading.targets)), 0.5)
    if names.thread and not _leaves_thread(sight):
        plain = any(sight.marks[name] for name in GOING_ON)
        return link(
            relation, names.thread, min(sure, 0.95 if plain else 0.7), "It stands in their thread.", "thread"
        )
    here = [item for item in sight.alike if item.target >= 0]
    if here and here[0].likeness >= _needed(here, sight):
        return _most_alike(sight, relation, sure)
    if sight.alike and sight.alike[0].target == -1 and sight.alike[0].likeness >= ALIKE and _wants(sight):
        return _new_elsewhere(next(iter(sight.reading.targets)), 0.5)
    if (
        sight.parts
        and sight.reading.targets
        and not sight.marks["status"]
        and chances[Relation.NEW_Q] + chances[Relation.SPLIT_TO_N_Q] >= 0.2
    ):
        return Decision(
            relation=Relation.NEW_Q,
            target=_target(sight),
            confidence=0.5,
            reason="It asks something, and no open question is like it.",
            step="likeness",
        )
    if chances[Relation.IGNORE] >= 0.35 and sight.marks["names_nothing"] and not sight.reading.targets:
        return ignored(chances[Relation.IGNORE])
    return unsure("It is about something known, but not plainly about which open question.", "likeness", 0.5)


def _asks_instead(sight: Sight, chances: Chances) -> bool:
    asking = chances[Relation.NEW_Q] + chances[Relation.SPLIT_TO_N_Q]
    return asking >= 0.2 and bool(re.search(r"[?？]", sight.reading.text))


def _needed(here: Sequence[Alike], sight: Sight) -> float:
    """How like a message must be that is about something known: less where the rest is far behind."""
    ahead = here[0].likeness - (here[1].likeness if len(here) > 1 else 0.0)
    if here[0].target == 1 and ahead >= AHEAD:
        return 0.14
    if len(sight.alike) == 1 or ahead >= 2 * AHEAD:
        return 0.25
    return 0.32


def _most_alike(sight: Sight, relation: Relation, sure: float) -> Decision:
    here = [item for item in sight.alike if item.target >= 0]
    first = here[0]
    rivals = [item for item in here[1:] if first.likeness - item.likeness < AHEAD / 2]
    if rivals and not (first.target == 1 and rivals[0].target != 1):
        return unsure(f"It may be about Q-{first.question.id} or Q-{rivals[0].question.id}.", "likeness", 0.5)
    confidence = min(sure, first.likeness + 0.2, 0.79)
    return link(relation, (first.question.id,), confidence, "It is about the same.", "likeness")


def _leaves_thread(sight: Sight) -> bool:
    """Whether a message in a thread is plainly about something else."""
    meant = [item for item in sight.alike if item.question.id in sight.references.thread]
    return bool(re.search(r"\bnot this one\b|不是这[个条]|另一个", sight.reading.text)) or (
        bool(meant) and meant[0].likeness < 0.15 and sight.alike[0].likeness > 0.55
    )


def _on_targets(links: tuple[int, ...], sight: Sight) -> tuple[int, ...]:
    """Of several named questions those on the named targets, where that leaves any."""
    targets = {item.question.id: item.question.target for item in sight.alike}
    here = tuple(link for link in links if targets[link] in sight.reading.targets)
    return here if here and not sight.references.numbers else links


def _new_elsewhere(target: str, sure: float) -> Decision:
    return Decision(
        relation=Relation.NEW_Q,
        target=target,
        confidence=sure,
        reason=f"A known question is wanted on {target}, where nobody asks it yet.",
        step="references",
    )


def link(relation: Relation, links: tuple[int, ...], sure: float, reason: str, step: str) -> Decision:
    return Decision(relation=relation, links=links, confidence=sure, reason=reason, step=step)
