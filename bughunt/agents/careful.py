"""The careful agent: loads again until the rules allow a verdict."""

from __future__ import annotations

from bughunt.agents.protocol import Sleep, TakeLoad
from bughunt.verdict.judgement import Judgement
from bughunt.verdict.record import LoadRecord
from bughunt.verdict.rules import decide

__all__ = ["careful"]


async def careful(take: TakeLoad, *, pause: float, sleep: Sleep) -> Judgement:
    """Take loads, waiting out bursts between them, until `decide` gives a judgement.

    The first load goes without a trace, which would cost a passing run a tenth of its time: whatever is
    found on it needs a further load anyway, and that one is traced.
    """
    loads: list[LoadRecord] = [await take(traced=False)]
    while not isinstance(decision := decide(loads), Judgement):
        await sleep(max(pause, decision.retry_after))
        loads.append(await take(patient=decision.patient, control=decision.control))
    return decision
