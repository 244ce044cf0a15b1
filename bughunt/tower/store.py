"""What all of a tower works with: its database, its blobs, its clock, and what must never be written."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Self

from sqlalchemy import Connection, Engine

from bughunt.exceptions import EvidenceDamaged
from bughunt.tower import receiving
from bughunt.tower.blobs import Blobs, FileBlobs, TableBlobs
from bughunt.tower.intake import decide
from bughunt.tower.opening import connected, name_of, open_engine, place_of
from bughunt.tower.redaction import Redactor
from bughunt.tower.refusals import translated
from bughunt.tower.settling import Intake

__all__ = ["INLINE_LIMIT", "Store", "now_utc"]

INLINE_LIMIT = 32 * 1024
"""Bytes of JSON or text up to which evidence lies in its row: one file and two syncs less."""


def now_utc() -> datetime:
    """The present moment, aware."""
    return datetime.now(UTC)


class Store:
    """One database and its blobs. Methods may be called from any thread; each is one short transaction."""

    def __init__(
        self,
        engine: Engine,
        name: str,
        blobs: Blobs,
        *,
        clock: Callable[[], datetime] = now_utc,
        lease: timedelta = timedelta(seconds=30),
        redactor: Redactor | None = None,
        intake: Intake = decide,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.name = name
        self.blobs = blobs
        self.redactor = redactor or Redactor()
        self._engine = engine
        self._writer = engine.execution_options(begin="BEGIN IMMEDIATE")
        self._arrivals = receiving.Arrivals(engine)
        self._clock = clock
        self._intake = intake
        self._jitter = jitter
        self.lease = lease

    @classmethod
    def open(
        cls,
        url: str,
        *,
        clock: Callable[[], datetime] = now_utc,
        lease: timedelta = timedelta(seconds=30),
        redactor: Redactor | None = None,
        intake: Intake = decide,
    ) -> Self:
        """Open the tower at `sqlite:///path` or `postgresql://...`, made or brought up to date where needed.

        `intake` tells what messages mean; with a model, it is `functools.partial(decide, model=...)`.
        """
        engine, place, name = open_engine(url), place_of(url), name_of(url)
        blobs = TableBlobs(engine, name) if place is None else FileBlobs(place.with_suffix(".blobs"))
        return cls(engine, name, blobs, clock=clock, lease=lease, redactor=redactor, intake=intake)

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def _bytes(self, digest: str, body: bytes | None, where: str) -> bytes:
        if body is None:
            return self.blobs.read(digest)
        if sha256(body).hexdigest() != digest:
            raise EvidenceDamaged(f"{where} was changed in {self.name} after it was written: restore a copy")
        return body

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with translated(self.name), connected(self._engine) as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with (
            translated(self.name),
            connected(self._writer) as connection,
            connection.begin(),
        ):
            yield connection
