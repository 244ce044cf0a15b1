"""Which state of a RUN may follow which: TABLE, held by the triggers in `guards/`.

`=`: another column may change while the state stays (a heartbeat). A terminal RUN has no `=`:
nothing in it changes again. A STALE run never runs on: whoever held it may only be told to stop.

The triggers in `guards/` hold this table; a test compares the two by trying every pair.
"""

from __future__ import annotations

from bughunt.verdict.judgement import State

__all__ = ["LIVE", "TERMINAL", "TRANSITIONS"]

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


def _parse(table: str) -> frozenset[tuple[State | None, State]]:
    head, *rows = (line.split() for line in table.splitlines() if line.startswith("    "))
    columns = [State(name) for name in head[3:]]
    return frozenset(
        (None if row[0] == "(new)" else State(row[0]), to)
        for row in rows
        for to, cell in zip(columns, row[1:], strict=True)
        if cell in ("yes", "=")
    )


TRANSITIONS = _parse(TABLE)
"""Every allowed (from, to); None: the RUN is new. `=` counts as a transition to itself."""
