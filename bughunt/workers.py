"""Many investigations at a time, in this process: an asyncio pool over one browser."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from msgspec import Struct

from bughunt.exceptions import BughuntError
from bughunt.investigation import Browsers, Investigation, give_up, investigate
from bughunt.tower import Run, Tower

__all__ = ["Finished", "new_owner", "run_all"]

log = logging.getLogger(__name__)


class Finished(Struct, frozen=True, kw_only=True):
    """What became of one investigation."""

    investigation: Investigation
    run: Run | None
    """None: it could not even be reserved."""
    failure: str | None = None
    """Our own failure, one line; None: the RUN ended as judged."""


def new_owner() -> str:
    """A name for this process that no other one has, now or later."""
    return f"{os.uname().nodename}:{os.getpid()}:{secrets.token_hex(4)}"


async def run_all(
    investigations: Sequence[Investigation],
    *,
    tower: Tower,
    browsers: Browsers,
    owner: str,
    workers: int = 1,
    done: Callable[[Finished], None] = lambda finished: None,
) -> list[Finished]:
    """Carry out all of them, `workers` at a time, and return what became of each, in the order given.

    One that fails because of us does not keep the others from being carried out.
    """
    results: list[Finished | None] = [None] * len(investigations)
    waiting = iter(enumerate(investigations))

    async def work() -> None:
        for index, investigation in waiting:
            results[index] = finished = await _one(investigation, tower, browsers, owner)
            done(finished)

    with heartbeat(tower, owner):
        async with asyncio.TaskGroup() as group:
            for _ in range(min(workers, len(investigations))):
                group.create_task(work())
    return [finished for finished in results if finished is not None]


async def _one(investigation: Investigation, tower: Tower, browsers: Browsers, owner: str) -> Finished:
    reserved: list[Run] = []
    try:
        run = await investigate(
            investigation, tower=tower, browsers=browsers, owner=owner, reserved=reserved.append
        )
    except Exception as error:
        log.warning("investigation failed", exc_info=error, extra={"action": "investigation_failed"})
        if not reserved:
            return Finished(investigation=investigation, run=None, failure=str(error))
        told = await give_up(tower, reserved[0], error)
        return Finished(investigation=investigation, run=reserved[0], failure=told)
    return Finished(investigation=investigation, run=run)


@contextmanager
def heartbeat(tower: Tower, owner: str) -> Iterator[None]:
    """Keep the leases of `owner` alive within the block.

    From a thread of its own: a charter that blocks the event loop must not look like a dead process.
    """
    over = threading.Event()

    def beat() -> None:
        while not over.wait(tower.lease.total_seconds() / 3):
            with suppress(BughuntError):  # a busy database now is no reason to stop; the next beat may pass
                tower.heartbeat(owner)

    thread = threading.Thread(target=beat, name="bughunt-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
