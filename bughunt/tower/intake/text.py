"""What a text says, as far as counting goes: its words and things, the targets it names, its clauses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources

__all__ = ["LOOKED_AT", "Reading", "clauses", "own_words", "plain_words", "read", "targets_in", "things_in"]

LOOKED_AT = 8000
"""Signs of a text that are looked at: what a message wants, it says before."""

_WORD = re.compile(r"[a-z0-9]+(?:[-'][a-z0-9]+)*")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_QUOTED = re.compile(r"^\s*>.*$", re.MULTILINE)
_CLAUSE = re.compile(r"[.!?;,:。！？；，：（）()\n]+|\s[-–—]\s|…")

_TARGET = re.compile(
    r"(?<![\w-])(preview[-_ ]?\d+|[a-z]{2,12}-(?:staging|production|prod)|staging|production|prod"
    r"|uat|pre-?prod|(?:(?<=on )|(?<=in )|(?<=@)|(?<=@ ))(?:live|qa|sit|canary)"
    r"|(?:qa|sit)(?= ?环境))(?![\w-])",
    re.IGNORECASE | re.ASCII,
)
_HAN_TARGETS = {"生产": "production", "线上": "production", "正式环境": "production", "预发": "staging"}
_LEFT_OUT = re.compile(
    r"\bnot (?:asking|about|on|for|talking)\b|\b(?:leave|skip|ignore)\b.{0,12}\b(?:out|alone)|\balready\b"
    r"|taken care of|不用[动管测看跑]|不必|已经?(?:有|在|测|跑|看)|别[动管]|除外|以外",
    re.IGNORECASE,
)
"""What says that a target is not the one that is meant."""
_SAME_TARGET = {"prod": "production", "live": "production", "preprod": "staging", "pre-prod": "staging"}


def own_words(text: str) -> str:
    """The text without what it quotes, as far as it is looked at."""
    shown = text[:LOOKED_AT]
    return _QUOTED.sub("", shown).strip() or shown.strip()


def clauses(text: str) -> list[str]:
    """What stands between the stops."""
    return [clause.strip() for clause in _CLAUSE.split(text) if clause.strip()]


def targets_in(text: str, known: Iterable[str] = ()) -> dict[str, str]:
    """The targets that a text names, each with the clause that names it; known ones whatever their form."""
    found: dict[str, str] = {}
    names = [re.escape(name) for name in known if not _TARGET.fullmatch(name)]
    own = re.compile(rf"(?<![\w-])(?:{'|'.join(names)})(?![\w-])", re.IGNORECASE) if names else None
    for clause in clauses(text):
        small = clause.lower()
        hits = [match[0].lower().replace("_", "-") for match in _TARGET.finditer(small)]
        hits += [match[0] for match in own.finditer(clause)] if own else []
        hits += [target for word, target in _HAN_TARGETS.items() if word in clause]
        for hit in hits:
            found.setdefault(_SAME_TARGET.get(hit, hit), clause)
    meant = {target: clause for target, clause in found.items() if not _LEFT_OUT.search(clause)}
    return meant or found


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(_data("stop_words.txt").split())


def _data(name: str) -> str:
    return (resources.files("bughunt.tower.intake") / "data" / name).read_text(encoding="utf-8")


@cache
def _glossary() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """What words of Latin letters, and what Chinese ones, stand for."""
    latin: dict[str, set[str]] = {}
    han: dict[str, set[str]] = {}
    for line in _data("glossary.txt").splitlines():
        if line and not line.startswith("#"):
            thing, _, names = line.partition(":")
            thing = thing if thing.startswith("~") else f"={thing}"
            for name in names.split():
                into = han if _HAN.search(name) else latin
                into.setdefault(name if into is han else " ".join(map(_stem, name.split("-"))), set()).add(
                    thing
                )
    return latin, han


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=4096)
def things_in(text: str) -> frozenset[str]:
    """What a text is about: things of the glossary (`=cart`, `~show`), words, pairs of Chinese signs."""
    latin, han = _glossary()
    small = re.sub(r"[_/]", " ", text[:LOOKED_AT].lower())
    words = [_stem(word) for word in _WORD.findall(small.replace("-", " "))]
    found = {word for word in words if word not in _stop_words() and len(word) > 1 and not word.isdigit()}
    for size in (1, 2):
        for at in range(len(words) - size + 1):
            found |= latin.get(" ".join(words[at : at + size]), set())
    for run in _HAN.findall(small):
        found |= {run[at : at + 2] for at in range(len(run) - 1)} - _stop_words()
        found |= {thing for name, things in han.items() if name in run for thing in things}
    return frozenset(found)


@lru_cache(maxsize=4096)
def plain_words(text: str) -> str:
    """The text in small letters, without the words that are everywhere."""
    return " ".join(word for word in text.lower().split() if word.strip(",.?!:;'\"") not in _stop_words())


class Reading:
    """One message, read."""

    def __init__(self, text: str, known_targets: Iterable[str]) -> None:
        self.text = own_words(text)
        self.whole = text[:LOOKED_AT]
        self.clauses = clauses(self.text)
        self.targets = targets_in(self.text, known_targets)
        self.things = things_in(self.text)


def read(text: str, known_targets: Iterable[str] = ()) -> Reading:
    """Read a message."""
    return Reading(text, known_targets)
