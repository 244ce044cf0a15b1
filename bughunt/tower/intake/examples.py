"""Labelled messages: those that ship with bughunt, which the classifier learns from, and files of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib import resources
from pathlib import Path

import msgspec
from msgspec import Struct

from bughunt.exceptions import UsageError
from bughunt.tower.intake.values import Incoming, OpenQuestion

__all__ = ["Example", "read_examples", "shipped_examples"]

LABELS = frozenset(
    {"IGNORE", "LINK_EXISTING_Q", "EVIDENCE_OR_ACCEPTANCE", "NEW_Q", "SPLIT_TO_N_Q", "PENDING_CONTEXT"}
)


class Example(Struct, frozen=True, kw_only=True):
    """A message with its right answer."""

    id: str
    context: str
    message: Incoming
    questions: tuple[OpenQuestion, ...]
    label: str
    """A Relation, or `PENDING_CONTEXT`."""
    links: frozenset[int]
    parts: int


class _Question(Struct):
    q: str
    question: str
    charter: str
    target: str
    last_touched: datetime


class _Context(Struct):
    questions: list[_Question]


class _Line(Struct):
    id: str
    context: str
    source: str
    text: str
    label: str
    reply_to: str | None = None
    attachments: list[str] = []
    links: list[str] = []
    parts: int = 1


def shipped_examples() -> list[Example]:
    """Those that come with bughunt."""
    folder = resources.files("bughunt.tower.intake") / "data"
    contexts = (folder / "contexts.json").read_bytes()
    return _examples((folder / "examples.jsonl").read_bytes(), contexts)


def read_examples(gold: Path, contexts: Path) -> list[Example]:
    """Those of two files. Raises UsageError where they cannot be read, naming the line."""
    try:
        return _examples(gold.read_bytes(), contexts.read_bytes())
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, ValueError) as error:
        raise UsageError(f"{gold} and {contexts} are no labelled messages: {error}.") from error


def _examples(gold: bytes, contexts: bytes) -> list[Example]:
    known = msgspec.json.decode(contexts, type=dict[str, _Context])
    questions = {name: tuple(map(_question, context.questions)) for name, context in known.items()}
    lines = [line for line in gold.splitlines() if line.strip()]
    return [_example(line, number, questions) for number, line in enumerate(lines, start=1)]


def _question(told: _Question) -> OpenQuestion:
    return OpenQuestion(
        id=_number(told.q),
        text=told.question,
        charter=told.charter,
        target=told.target,
        last_touched=told.last_touched,
    )


def _number(name: str) -> int:
    if not name.startswith("Q-") or not name[2:].isdigit():
        raise ValueError(f"{name!r} is no question: write Q-12")
    return int(name[2:])


def _example(line: bytes, number: int, contexts: Mapping[str, Sequence[OpenQuestion]]) -> Example:
    try:
        told = msgspec.json.decode(line, type=_Line)
    except msgspec.DecodeError as error:
        raise ValueError(f"line {number}: {error}") from error
    if told.context not in contexts:
        raise ValueError(f"line {number}: there is no context {told.context!r}")
    if told.label not in LABELS:
        raise ValueError(f"line {number}: there is no label {told.label!r}")
    message = Incoming(
        text=told.text,
        source=told.source,
        thread=() if told.reply_to is None else (_number(told.reply_to),),
        attachments=tuple(told.attachments),
    )
    return Example(
        id=told.id,
        context=told.context,
        message=message,
        questions=tuple(contexts[told.context]),
        label=told.label,
        links=frozenset(map(_number, told.links)),
        parts=told.parts,
    )
