"""Which open questions a message names outright: by number, RUN, charter, or the thread that it stands in."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from bughunt.tower.intake.text import Reading
from bughunt.tower.intake.values import Incoming, OpenQuestion

__all__ = ["References", "named_by"]

_RUN = re.compile(r"(?<![\w-])RUN[- ]?(\d{1,18})(?!\w)", re.IGNORECASE | re.ASCII)
_Q = re.compile(r"(?<![A-Za-z0-9_-])Q[- ]?(\d{1,18})(?![A-Za-z0-9_])", re.IGNORECASE | re.ASCII)
_IDENTIFIER = re.compile(r"(?<![\w./-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?![\w/-])", re.ASCII)


_SET_ASIDE = re.compile(r"(?:\b(?:not|instead of|rather than|unlike)|不是|而非|并非)\s*$", re.IGNORECASE)
"""What stands before a number that is not meant."""
_BETWEEN = re.compile(r"[,，、&+;；/\n]|\band\b|\bplus\b|\bn\b|[和与及跟]", re.IGNORECASE)
"""What stands between names that are listed."""


class References(Struct, frozen=True, kw_only=True):
    """What a message names."""

    numbers: tuple[int, ...] = ()
    """Open questions, by their number or by one of their RUNs."""
    unknown: tuple[int, ...] = ()
    """Numbers of no open question of the project."""
    charters: tuple[int, ...] = ()
    """Open questions, by their charter and the target that is named with it."""
    ambiguous: bool = False
    """A charter is named that several targets have, and none of them."""
    elsewhere: tuple[str, ...] = ()
    """Targets on which a named charter is not asked yet."""
    strangers: tuple[str, ...] = ()
    """Names like those of charters that no open question has."""
    contradicted: bool = False
    """A number and a charter stand side by side, and the number's question has another charter."""
    thread: tuple[int, ...] = ()
    """The open questions of its thread."""

    @property
    def links(self) -> tuple[int, ...]:
        """The questions that are named, in the order of how plainly."""
        return tuple(dict.fromkeys((*self.numbers, *self.charters)))


def named_by(message: Incoming, reading: Reading, questions: Sequence[OpenQuestion]) -> References:
    """What this message names of these open questions."""
    ids = {question.id for question in questions}
    numbers = _numbers_in(reading.text)
    runs = [int(number) for number in _RUN.findall(reading.text)]
    numbers += [message.runs[run] for run in runs if run in message.runs]
    lost = [run for run in runs if run not in message.runs]
    charters, ambiguous, elsewhere = _by_charter(reading, questions)
    names = {name for question in questions for name in _names_of(question)}
    return References(
        numbers=tuple(dict.fromkeys(number for number in numbers if number in ids)),
        unknown=tuple(dict.fromkeys([number for number in numbers if number not in ids] + lost)),
        charters=charters,
        ambiguous=ambiguous,
        elsewhere=elsewhere,
        strangers=tuple(name for name in _IDENTIFIER.findall(reading.text) if name not in names),
        contradicted=_contradicts(reading.text, numbers, charters, questions),
        thread=tuple(question for question in message.thread if question in ids),
    )


def _numbers_in(text: str) -> list[int]:
    """The numbers that a text names; those that it sets aside only where it names no other."""
    found = [
        (int(match[1]), bool(_SET_ASIDE.search(text, max(0, match.start() - 20), match.start())))
        for match in _Q.finditer(text)
    ]
    return [number for number, aside in found if not aside] or [number for number, _ in found]


def _contradicts(
    text: str, numbers: Sequence[int], charters: Sequence[int], questions: Sequence[OpenQuestion]
) -> bool:
    """Whether one number and one charter are named without a sign that two things are meant."""
    charter_of = {question.id: question.charter for question in questions}
    named = {charter_of[number] for number in numbers if number in charter_of}
    said = {charter_of[number] for number in charters}
    if len(named) != 1 or len(said) != 1 or named == said:
        return False
    name = next(iter(said)).rpartition("::")[2]
    number, place = next(_Q.finditer(text), None), text.find(name)
    if number is None or place < 0:
        return False
    between = (
        text[number.end() : place] if number.end() <= place else text[place + len(name) : number.start()]
    )
    return not _BETWEEN.search(between)


def _names_of(question: OpenQuestion) -> set[str]:
    """A charter's whole id, and its name alone where that is no common word."""
    name = question.charter.rpartition("::")[2]
    return {question.charter, name} if "_" in name else {question.charter}


def _by_charter(
    reading: Reading, questions: Sequence[OpenQuestion]
) -> tuple[tuple[int, ...], bool, tuple[str, ...]]:
    links: list[int] = []
    elsewhere: list[str] = []
    ambiguous = False
    by_name: dict[str, list[OpenQuestion]] = {}
    for question in questions:
        for name in _names_of(question):
            by_name.setdefault(name, []).append(question)
    for name, asked in by_name.items():
        if not re.search(rf"(?<![\w/]){re.escape(name)}(?![\w/])", reading.text):
            continue
        targets = _targets_beside(name, reading)
        here = [question for question in asked if not targets or question.target in targets]
        elsewhere += [target for target in targets if target not in {q.target for q in asked}]
        ambiguous = ambiguous or (len(here) > 1 and not targets)
        links += [question.id for question in here] if targets or len(here) == 1 else []
    return tuple(dict.fromkeys(links)), ambiguous, tuple(dict.fromkeys(elsewhere))


def _targets_beside(name: str, reading: Reading) -> set[str]:
    """The targets named in the same clause as a charter; else those of the whole message."""
    beside = {target for target, clause in reading.targets.items() if name in clause}
    return beside or set(reading.targets)
