"""Whether a load met the world that the first one met, or one that an earlier load may have changed.

Source of the rule: "After a write" in docs/explanation/verdicts.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bughunt.verdict.causality import Causality
from bughunt.verdict.judgement import Cause, CauseKind, Ending, LoadJudgement
from bughunt.verdict.record import SAFE_METHODS, Exchange, FaultEffect, LoadRecord
from bughunt.verdict.wording import cause_reason

__all__ = ["in_known_worlds"]

#: What a gateway answers when it does not know what became of a request, and a server that broke at it.
_UNKNOWN_STATUS = frozenset({500, 502, 504})


def in_known_worlds(
    loads: Sequence[LoadRecord], endings: Sequence[LoadJudgement]
) -> tuple[LoadJudgement, ...]:
    """The endings, each mismatch in a world that nobody knows turned into a blocked load. Pure."""
    changed_by: tuple[LoadRecord, Exchange] | None = None
    known: list[LoadJudgement] = []
    for load, ended in zip(loads, endings, strict=True):
        unknown = changed_by is not None and not load.fresh and ended.ending is Ending.MISMATCH
        known.append(_state_unknown(ended, *changed_by) if unknown and changed_by else ended)
        if ended.ending is Ending.BLOCKED:
            writes = filter(_Writes(load).may_have_arrived, load.exchanges)
            write = min(writes, key=lambda x: x.started, default=None)
            changed_by = changed_by if write is None else (load, write)
    return tuple(known)


class _Writes:
    """The writes of one load whose fate nobody knows."""

    def __init__(self, load: LoadRecord) -> None:
        self._causality = Causality(load)

    def may_have_arrived(self, x: Exchange) -> bool:
        """A write of the app's own that was never answered, failed in the network, or broke the server."""
        if x.method in SAFE_METHODS or not self._is_of_the_app(x) or _never_sent(x):
            return False
        if x.fault_effect is FaultEffect.LOSE:
            return True
        if x.status is not None and x.status >= 400:
            return x.status in _UNKNOWN_STATUS
        broke_off = x.failure is not None and x.failure != "net::ERR_ABORTED"  # which is the page's own doing
        return x.status is None or broke_off

    def _is_of_the_app(self, x: Exchange) -> bool:
        causality = self._causality
        if causality.declared(x) or causality.acknowledged(x) or x.main_document:
            return True
        return causality.own(x) and (x.resource_type == "api" or causality.counts(x))


def _never_sent(x: Exchange) -> bool:
    """A planned fault took its place before it left: only one that lets the server answer first does not."""
    return x.fault is not None and x.fault_effect in {FaultEffect.ABORT, FaultEffect.ANSWER}


def _state_unknown(ended: LoadJudgement, earlier: LoadRecord, write: Exchange) -> LoadJudgement:
    cause = Cause(
        kind=CauseKind.STATE_UNKNOWN,
        load=ended.load,
        reason=cause_reason(CauseKind.STATE_UNKNOWN, write, earlier),
        method=write.method,
        url=write.url,
        hint=f"give the charter reset= or load.unique; what it saw: {ended.reason}",
    )
    return msgspec.structs.replace(
        ended,
        ending=Ending.BLOCKED,
        rule="state unknown",
        reason=cause.reason,
        causes=(cause,),
        signature=None,
    )
