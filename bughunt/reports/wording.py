"""Short words for kinds, endings and levels: what badges and labels say."""

from __future__ import annotations

from collections.abc import Sequence

from bughunt.verdict.judgement import CauseKind, Ending, Level

__all__ = ["ENDING_WORDS", "KIND_WORDS", "LEVEL_WORDS", "on_loads"]

KIND_WORDS: dict[CauseKind, str] = {
    CauseKind.NETWORK: "network error",
    CauseKind.NO_ANSWER: "no answer",
    CauseKind.STALLED: "stalled",
    CauseKind.STATUS: "server error",
    CauseKind.ACCESS: "access refused",
    CauseKind.GAVE_UP: "page gave up",
    CauseKind.LATE: "came too late",
    CauseKind.MALFORMED: "spoilt answer",
    CauseKind.WRONG_CONTENT: "wrong content",
    CauseKind.UNHEALTHY: "unhealthy answer",
    CauseKind.CERTIFICATE: "bad certificate",
    CauseKind.SOCKET: "stream broke",
    CauseKind.SILENT: "stream silent",
    CauseKind.NOT_DEPLOYED: "not deployed",
    CauseKind.STATE_UNKNOWN: "state unknown",
    CauseKind.MOVED: "data changed",
    CauseKind.DOCUMENT: "page not to be had",
    CauseKind.CRASH: "crash",
    CauseKind.UNREPRODUCED: "did not come again",
}

ENDING_WORDS: dict[Ending, str] = {
    Ending.HELD: "held",
    Ending.MISMATCH: "mismatch",
    Ending.BLOCKED: "blocked",
    Ending.CHECK_ERROR: "check error",
    Ending.UNCLEAR: "unclear",
    Ending.HELD_UP: "held up, not counted",
    Ending.HARNESS_ERROR: "harness error",
}

LEVEL_WORDS: dict[Level, str] = {
    Level.E0: "a claim",
    Level.E1: "a log of what was done",
    Level.E2: "what the page showed",
    Level.E3: "with the complete network record",
    Level.E4: "seen in the target, nothing left unexplained",
    Level.E5: "repeated by an independent load",
}


def on_loads(numbers: Sequence[int]) -> str:
    """`load 1`, `loads 1 and 2`."""
    known = [str(number) for number in sorted(set(numbers))]
    if len(known) < 2:
        return f"load {known[0]}" if known else "no load"
    return f"loads {', '.join(known[:-1])} and {known[-1]}"
