"""The naive agent: looks once, and reports what looks like a bug as one. The baseline, unverified."""

from __future__ import annotations

from bughunt.agents.protocol import Sleep, TakeLoad
from bughunt.verdict.judgement import Judgement
from bughunt.verdict.rules import claim

__all__ = ["naive"]


async def naive(take: TakeLoad, *, pause: float, sleep: Sleep) -> Judgement:
    """One load, one claim."""
    return claim(await take())
