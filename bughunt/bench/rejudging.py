"""How long it takes to judge many stored runs again, beside reading the same evidence.

The runs of the demo are taken once in a real browser and stored as many times as it takes to fill a tower,
through the gates like any other run.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path

from msgspec import Struct

from bughunt.bench import demo
from bughunt.browser.pool import BrowserPool
from bughunt.rejudging import rejudge
from bughunt.settings import LoadSettings
from bughunt.tower import EvidenceKind, InvestigationView, NewEvidence, RunRequest, Tower
from bughunt.workers import new_owner, run_all
from target_apps.cart import CartServer

__all__ = ["Cost", "measure", "store_copies"]

#: Measurements, of which the median counts.
ROUNDS = 3

#: What a view reads, but for the judgement, which ending a run adds.
_COPIED = frozenset({EvidenceKind.NETWORK, EvidenceKind.LOAD, EvidenceKind.CAUSE, EvidenceKind.FIRING})


class Cost(Struct, frozen=True, kw_only=True):
    """What judging again costs."""

    runs: int
    loads: int
    seconds: float
    """To read the evidence of all runs and judge them again."""
    reading_seconds: float
    """To read the same evidence."""
    reading_ratio: float
    """The one by the other."""


def measure(runs: int = 1000) -> Cost:
    """Store so many runs and judge them again."""
    with tempfile.TemporaryDirectory(prefix="bughunt-bench-") as folder:
        with closing(Tower.open(f"sqlite:///{folder}/taken.db")) as taken:
            asyncio.run(_take(taken))
            with closing(Tower.open(f"sqlite:///{folder}/tower.db")) as tower:
                store_copies(taken, tower, runs)
        return _measured(Path(folder) / "tower.db")


def store_copies(taken: Tower, tower: Tower, runs: int) -> None:
    """Store that many runs in `tower`: those of `taken` over and over."""
    found = [view for view in taken.views() if view.judgement is not None]
    evidence = {view.run.id: _evidence_of(taken, view) for view in found}
    owner = new_owner()
    for view in islice(cycle(found), runs):
        _store(tower, view, evidence[view.run.id], owner)


async def _take(tower: Tower) -> None:
    with CartServer() as cart:
        wanted = demo.investigations(cart.url, LoadSettings(pause=0.0))
        async with BrowserPool.open() as browsers:
            await run_all(
                wanted,
                tower=tower,
                browsers=browsers,
                owner=new_owner(),
                workers=4,
                done=lambda finished: None,
            )


def _evidence_of(tower: Tower, view: InvestigationView) -> list[NewEvidence]:
    return [
        NewEvidence(
            kind=item.kind,
            data=tower.evidence_bytes(item),
            media_type=item.media_type,
            load=item.load,
            ending=item.ending,
            signature=item.signature,
            cause=item.cause,
            layer=item.layer,
        )
        for item in view.evidence
        if item.kind in _COPIED
    ]


def _store(tower: Tower, view: InvestigationView, evidence: Sequence[NewEvidence], owner: str) -> None:
    judgement, run = view.judgement, view.run
    assert judgement is not None
    question = tower.ask(view.question.key)
    request = RunRequest(question=question.id, agent=run.agent, rules_version=run.rules_version, owner=owner)
    stored = tower.start(tower.reserve(request).id, owner)
    seen_at, seen = run.landed_at, run.landing_note
    tower.finish(stored.id, owner, judgement, landed_at=seen_at, landing_note=seen, evidence=evidence)


def _measured(place: Path) -> Cost:
    with closing(Tower.open(f"sqlite:///{place}")) as tower:
        views = tower.views()
        reading = statistics.median(_timed(tower.views) for _ in range(ROUNDS))
        seconds = statistics.median(_timed(lambda: rejudge(tower)) for _ in range(ROUNDS))
    return Cost(
        runs=len(views),
        loads=sum(len(view.loads) for view in views),
        seconds=round(seconds, 3),
        reading_seconds=round(reading, 3),
        reading_ratio=round(seconds / reading, 2),
    )


def _timed(task: Callable[[], object]) -> float:
    began = time.perf_counter()
    task()
    return time.perf_counter() - began
