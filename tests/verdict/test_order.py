"""Judging is deterministic: what was recorded in no order may stand in any, and one verdict follows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import asdict, fields, replace

from bughunt.rejudging import judge
from bughunt.verdict.judgement import Judgement
from bughunt.verdict.record import Exchange, FailureKind, LoadRecord
from tests.corpus import CASES
from tests.verdict.making import (
    APP,
    aborted,
    declaration,
    document,
    exchange,
    failed,
    failure,
    load,
    mismatch,
    step,
)

ORDERS = 100

#: Steps have an order, which their index tells, and other fields name them by it.
ORDERED = frozenset({"steps"})

Unordered = dict[str, tuple[Any, ...]]
"""Events by the name of the record's field. Any: each field has a type of its own."""


def unordered(record: LoadRecord) -> Unordered:
    """All that a record holds several of, in no order but that of their times."""
    names = [field.name for field in fields(LoadRecord) if field.name not in ORDERED]
    return {name: value for name in names if isinstance(value := getattr(record, name), tuple)}


def in_another_order(record: LoadRecord, chance: random.Random) -> LoadRecord:
    """The same events, each kind of them shuffled."""
    return replace(record, **{n: tuple(chance.sample(v, len(v))) for n, v in unordered(record).items()})


def numbered_anew(record: LoadRecord, chance: random.Random) -> tuple[LoadRecord, dict[int, int]]:
    """The same exchanges under other numbers, and which number was which."""
    old = [x.id for x in record.exchanges]
    new = dict(zip(old, chance.sample(range(len(old)), len(old)), strict=True))
    renamed = {
        name: tuple(_renumbered(event, new) for event in events) for name, events in unordered(record).items()
    }
    return replace(record, **renamed), {number: was for was, number in new.items()}


def _renumbered(event: Any, new: dict[int, int]) -> Any:  # Any: events of each kind
    if isinstance(event, Exchange):
        return replace(event, id=new[event.id])
    names = getattr(event, "exchange", None)
    return event if names is None else replace(event, exchange=new[names])


def essence(loads: Sequence[LoadRecord], was: Sequence[dict[int, int]] | None = None) -> object:
    """What is said of some loads, but for the order in which causes are told."""
    said = judge("careful", loads)
    if not isinstance(said, Judgement):
        return said.patient, said.retry_after
    causes = [asdict(cause) for cause in said.causes]
    for cause in causes:
        if was is not None and cause["exchange"] is not None:
            cause["exchange"] = was[cause["load"] - 1][cause["exchange"]]
    told = frozenset(tuple(cause.items()) for cause in causes)
    endings = tuple((ended.ending, ended.rule, ended.signature) for ended in said.endings)
    return said.verdict, said.reason, said.rule, said.degraded, said.intermittent, endings, told


def hold_in_every_order(loads: Sequence[LoadRecord]) -> None:
    expected = essence(loads)
    for seed in range(ORDERS):
        chance = random.Random(seed)
        shuffled = [in_another_order(record, chance) for record in loads]
        assert essence(shuffled) == expected, f"in order {seed}"
        renumbered = [numbered_anew(record, chance) for record in shuffled]
        said = essence([record for record, _ in renumbered], [was for _, was in renumbered])
        assert said == expected, f"in order {seed}, numbered anew"


@pytest.mark.parametrize("name", CASES)
def test_a_recorded_run_has_one_verdict_in_every_order(name: str) -> None:
    hold_in_every_order(CASES[name].loads)


TWO_DOCUMENTS = (
    document(id=0, navigation_of=0),
    document(f"{APP}/cart", id=1, navigation_of=0, started=2.0, responded=2.1, ended=2.2),
)


def made(name: str, *exchanges: Exchange, **given: Any) -> Any:  # Any: pytest's own type of a parameter
    return pytest.param(load(*exchanges, **given), id=name)


@pytest.mark.parametrize(
    "record",
    [
        made(
            "the last document is the one that a page timed out on",
            document(id=0, failure="net::ERR_ABORTED", status=None, finished=False, ended=0.5),
            document(f"{APP}/b", id=1, started=0.5, responded=0.6, ended=0.7),
            exchange(f"{APP}/ad.png", id=2, resource_type="image", ended=None, finished=False),
            steps=(step("Page.goto", acts=True),),
            failure=failure(FailureKind.TIMEOUT),
        ),
        made(
            "the first document of a step is the one that the charter asked for",
            *TWO_DOCUMENTS,
            aborted(0.5, id=2, started=1.6),
            steps=(step("Page.goto", acts=True, began=0.0, ended=0.5), step(index=1)),
            failure=failure(step=1),
        ),
        made(
            "the first change of what was read is the one that is told",
            document(),
            exchange(id=1, digest="one"),
            exchange(id=2, digest="two", started=2.0, responded=2.1, ended=2.2),
            exchange(id=3, digest="three", started=3.0, responded=3.1, ended=3.2),
            declarations=(declaration(exchange=1),),
            steps=(step(),),
            failure=failure(),
        ),
        made(
            "several causes",
            document(),
            failed("net::ERR_CONNECTION_RESET", id=1),
            exchange(id=2, status=503, started=1.0),
            exchange(id=3, started=1.0),
            steps=(step(),),
            failure=failure(),
        ),
    ],
)
def test_a_load_has_one_ending_in_every_order(record: LoadRecord) -> None:
    """Where a rule takes the first or the last of several, it goes by their times."""
    hold_in_every_order([record, replace(record, number=2)])


def test_the_first_write_whose_fate_nobody_knows_is_the_one_that_is_told() -> None:
    """A later mismatch met a world that it may have changed."""
    writes = [
        failed(
            "net::ERR_CONNECTION_RESET", f"{APP}/{name}", id=at, method="POST", started=float(at), ended=9.0
        )
        for at, name in enumerate(("orders", "payments", "mails"), start=1)
    ]
    hold_in_every_order([load(document(), *writes), mismatch(2), mismatch(3)])
