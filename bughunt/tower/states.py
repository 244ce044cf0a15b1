"""Which state of a RUN, and of a receipt, may follow which: two tables, held by the triggers in `guards/`.

`=`: another column may change while the state stays (a heartbeat). A terminal RUN has no `=`:
nothing in it changes again. A STALE run never runs on: whoever held it may only be told to stop.

The triggers in `guards/` hold this table; a test compares the two by trying every pair.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from bughunt.verdict.judgement import State

__all__ = [
    "LIVE",
    "RECEIPT_TRANSITIONS",
    "SETTLED",
    "TERMINAL",
    "TRANSITIONS",
    "QuestionState",
    "ReceiptState",
]

TABLE = """
    from \\ to     QUEUED  RUNNING  VERIFYING  STALE  DONE  FAILED  CANCELLED  SUPERSEDED
    (new)           yes       -         -        -      -      -        -          -
    QUEUED           =       yes        -       yes     -     yes      yes         -
    RUNNING          -        =        yes      yes     -     yes      yes         -
    VERIFYING        -        -         =       yes    yes    yes      yes         -
    STALE            -        -         -        =      -     yes      yes        yes
    DONE             -        -         -        -      -      -        -          -
    FAILED           -        -         -        -      -      -        -          -
    CANCELLED        -        -         -        -      -      -        -          -
    SUPERSEDED       -        -         -        -      -      -        -          -
"""

TERMINAL = frozenset({State.DONE, State.FAILED, State.CANCELLED, State.SUPERSEDED})

LIVE = frozenset({State.QUEUED, State.RUNNING, State.VERIFYING})
"""Somebody holds a lease on it."""


class QuestionState(StrEnum):
    """Whether somebody still wants to know."""

    OPEN = "OPEN"
    ANSWERED = "ANSWERED"
    """By its latest DONE run."""
    CLOSED = "CLOSED"
    """Nobody wants to know any more."""


class ReceiptState(StrEnum):
    """How far a message has come."""

    RECEIVED = "RECEIVED"
    """Committed; nobody has looked at it yet."""
    PENDING_CONTEXT = "PENDING_CONTEXT"
    """It cannot be told what it is about: a later message or a person will say."""
    FAILED_RETRYABLE = "FAILED_RETRYABLE"
    """Its intake failed and will be tried again."""
    PARTIAL = "PARTIAL"
    """A split of which some parts are tied to a Q, and others wait."""
    APPLIED = "APPLIED"
    """Every part of it is tied to a Q."""
    IGNORED = "IGNORED"
    """It changes nothing that is known or wanted."""


RECEIPT_TABLE = """
    from \\ to            RECEIVED  PENDING_CONTEXT  FAILED_RETRYABLE  PARTIAL  APPLIED  IGNORED
    (new)                  yes            -                -             -        -        -
    RECEIVED                =            yes              yes           yes      yes      yes
    PENDING_CONTEXT         -             =               yes           yes      yes      yes
    FAILED_RETRYABLE        -            yes               =            yes      yes      yes
    PARTIAL                 -             -                -             =       yes       -
    APPLIED                 -             -                -             -        -        -
    IGNORED                 -             -                -             -        -        -
"""

SETTLED = frozenset({ReceiptState.APPLIED, ReceiptState.IGNORED})

S = TypeVar("S", bound=StrEnum)


def _parse(table: str, kind: type[S]) -> frozenset[tuple[S | None, S]]:
    head, *rows = (line.split() for line in table.splitlines() if line.startswith("    "))
    columns = [kind(name) for name in head[3:]]
    return frozenset(
        (None if row[0] == "(new)" else kind(row[0]), to)
        for row in rows
        for to, cell in zip(columns, row[1:], strict=True)
        if cell in ("yes", "=")
    )


TRANSITIONS = _parse(TABLE, State)
"""Every allowed (from, to) of a RUN; None: it is new. `=` counts as a transition to itself."""

RECEIPT_TRANSITIONS = _parse(RECEIPT_TABLE, ReceiptState)
"""Every allowed (from, to) of a receipt."""
