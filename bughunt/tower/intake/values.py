"""What goes into the intake and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from msgspec import Struct

__all__ = ["Decision", "Incoming", "OpenQuestion", "Part", "Relation"]


class Relation(StrEnum):
    """How a message relates to what is known."""

    IGNORE = "IGNORE"
    """It changes nothing that is known or wanted."""
    LINK_EXISTING_Q = "LINK_EXISTING_Q"
    """It goes on with a Q, corrects or narrows it, asks about it, or asks to look again."""
    EVIDENCE_OR_ACCEPTANCE = "EVIDENCE_OR_ACCEPTANCE"
    """It brings a fact about a Q, or accepts or rejects its answer."""
    NEW_Q = "NEW_Q"
    """It asks something that no open Q asks."""
    SPLIT_TO_N_Q = "SPLIT_TO_N_Q"
    """It asks several things that can have different answers."""


class OpenQuestion(Struct, frozen=True, kw_only=True):
    """A Q of the message's project that somebody wants to know."""

    id: int
    text: str
    charter: str
    target: str
    last_touched: datetime
    """Aware."""


class Incoming(Struct, frozen=True, kw_only=True):
    """A message, as the intake sees it."""

    text: str
    source: str = ""
    """`chat`, `ci`, `email`, `issue`, `schedule`, ..."""
    thread: tuple[int, ...] = ()
    """The Qs of the thread in which it was written."""
    attachments: tuple[str, ...] = ()
    """The names of its files."""
    runs: Mapping[int, int] = {}
    """The RUNs that it names and that there are, each with its Q."""


class Part(Struct, frozen=True, kw_only=True):
    """One of several things that a message asks."""

    text: str
    links: tuple[int, ...] = ()
    """The Qs that ask it already."""
    relation: Relation | None = None
    """None: it cannot be told."""
    target: str | None = None
    """About which target it asks, where it names one."""


class Decision(Struct, frozen=True, kw_only=True):
    """How a message relates to what is known, and why."""

    relation: Relation | None
    """None: it cannot be told; the message waits for context."""
    links: tuple[int, ...] = ()
    """The Qs to which it belongs."""
    parts: tuple[Part, ...] = ()
    """Of a split; else none."""
    confidence: float = 0.0
    """From 0 to 1."""
    reason: str = ""
    """For people: one sentence."""
    step: str = ""
    """Which step of the cascade decided."""
    target: str | None = None
    """Of a new Q: about which target it asks."""
