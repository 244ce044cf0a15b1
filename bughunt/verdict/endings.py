"""How a load ends. Source of the rules: "How a load ends" in docs/explanation/verdicts.md."""

from __future__ import annotations

from collections.abc import Iterable

from bughunt.verdict.causality import Causality, is_claimed
from bughunt.verdict.judgement import Cause, CauseKind, Ending, Layer, LoadJudgement
from bughunt.verdict.record import (
    PAGE_LOADING,
    Acknowledgement,
    Crash,
    Exchange,
    Failure,
    FailureKind,
    LoadRecord,
    Step,
)
from bughunt.verdict.sayings import Testimony
from bughunt.verdict.wording import (
    cause_reason,
    causes_sentence,
    contradiction_sentence,
    failure_sentence,
    hint,
    socket_reason,
)

__all__ = ["judge_load"]

#: Causes that explain why something was *not shown*. Where the charter held, it was.
_ONLY_EXPLAIN_A_FAILURE = frozenset({CauseKind.LATE, CauseKind.MOVED})

#: What is still open when the charter has seen enough (a long poll) has not failed.
_NOT_OVER = frozenset({CauseKind.NO_ANSWER, CauseKind.STALLED})

NOTHING_SEEN = "the charter held without having asked the target for anything: let it open a page of it"


def judge_load(load: LoadRecord) -> LoadJudgement:
    """How a load ended, by the first rule that applies. Pure."""
    failure = load.failure
    if failure is not None and failure.kind is FailureKind.HARNESS:
        return _ended(load, Ending.HARNESS_ERROR, "harness", failure_sentence(failure))
    if load.crash is not None:
        return _blocked(load, "crash", (_cause_of_crash(load.crash, load),))
    evidence = _Evidence(load)
    return evidence.held() if failure is None else evidence.failed(failure)


class _Evidence:
    """What the exchanges of one load say, all together."""

    def __init__(self, load: LoadRecord) -> None:
        self._load = load
        self._causality = Causality(load)
        self._testimony = Testimony(load, self._causality)

    def held(self) -> LoadJudgement:
        """The charter returned."""
        blocking = (*self._causes(filter(self._is_blocking, self._load.exchanges)), *self._broken_sockets())
        if blocking:
            return _blocked(self._load, "declared exchange", blocking)
        contradiction = self._contradiction()
        if contradiction is not None:
            return contradiction
        if not any(x.status is not None and self._of_the_target(x) for x in self._load.exchanges):
            return _ended(self._load, Ending.CHECK_ERROR, "target not seen", NOTHING_SEEN)
        beside = tuple(
            cause
            for cause in self._causes(x for x in self._load.exchanges if self._stands_beside(x))
            if cause.kind not in _NOT_OVER
        )
        said = f"the charter held although {causes_sentence(beside)}" if beside else "the charter held"
        return LoadJudgement(
            load=self._load.number,
            ending=Ending.HELD,
            rule="held",
            reason=said,
            causes=beside,
            degraded=bool(beside),
        )

    def failed(self, failure: Failure) -> LoadJudgement:
        """The charter raised, or was stopped."""
        causes = (
            *self._causes(x for x in self._load.exchanges if self._causality.causal(x)),
            *self._broken_sockets(),
            *self._moved(),
        )
        if causes:
            rule = "declared exchange" if any(cause.declared for cause in causes) else "causal exchange"
            return _blocked(self._load, rule, causes)
        if failure.kind is FailureKind.NET_JSON and any(self._left_behind(x) for x in self._load.exchanges):
            said = failure_sentence(failure)
            return _ended(self._load, Ending.UNCLEAR, "moved on", said, _signature(failure, None))
        return _failed_in_health(self._load, failure)

    def _is_blocking(self, exchange: Exchange) -> bool:
        """Even if the charter held; a write that the page says has arrived is looked at by itself."""
        if self._causality.acknowledged(exchange):
            return self._testimony.says(exchange) in _NOT_OVER or self._is_tried_again(exchange)
        return self._causality.declared(exchange)

    def _is_tried_again(self, write: Exchange) -> bool:
        """The page has sent it anew, and nobody knows yet what will become of that."""
        claims = (claim for claim in self._load.acknowledgements if claim.exchange == write.id)
        tries = (x for claim in claims for x in self._writes(claim) if x.id != write.id)
        return any(x.status is None and x.failure is None for x in tries)

    def _contradiction(self) -> LoadJudgement | None:
        """The charter held, and so the page says that a write arrived which failed, or which never left."""
        for claim in self._load.acknowledgements:
            writes = self._writes(claim)
            if all(map(self._write_failed, writes)):
                said = contradiction_sentence(claim, writes[-1] if writes else None)
                signature = f"L{claim.line} Network.acknowledged {claim.pattern}"
                return _ended(self._load, Ending.MISMATCH, "contradiction", said, signature)
        return None

    def _writes(self, claim: Acknowledgement) -> list[Exchange]:
        """The write that was waited for, and what the page sent of its kind after it: again, or late."""
        claimed = {a.exchange for a in self._load.acknowledgements}
        by_time = sorted(self._load.exchanges, key=lambda x: x.started)
        since = next((x.started for x in by_time if x.id == claim.exchange), claim.ended)
        return [
            x
            for x in by_time
            if x.id == claim.exchange or (x.started >= since and x.id not in claimed and is_claimed(x, claim))
        ]

    def _write_failed(self, write: Exchange) -> bool:
        """For certain: what is still under way may yet arrive."""
        refused = write.status is not None and write.status >= 400
        lost = write.failure is not None and write.failure != "net::ERR_ABORTED"
        said = self._testimony.says(write)
        return refused or lost or write.healthy is False or said not in {None, *_NOT_OVER}

    def _broken_sockets(self) -> tuple[Cause, ...]:
        """Where the charter held, only what it declares kept it from knowing."""
        said = ((s, self._testimony.socket_says(s)) for s in self._load.sockets)
        return tuple(
            Cause(
                kind=kind,
                load=self._load.number,
                reason=socket_reason(kind, socket),
                url=socket.url,
                failure=socket.failure,
                declared=self._causality.declares_url(socket.url),
            )
            for socket, kind in said
            if kind is not None and (self._load.failure or self._causality.declares_url(socket.url))
        )

    def _left_behind(self, exchange: Exchange) -> bool:
        """A declared request that ended because the page moved on: nobody knows its answer."""
        aborted = exchange.failure == "net::ERR_ABORTED" and (exchange.status or 0) < 400
        return aborted and self._causality.declared(exchange) and self._testimony.says(exchange) is None

    def _of_the_target(self, exchange: Exchange) -> bool:
        return self._causality.document(exchange) or self._causality.own(exchange)

    def _stands_beside(self, exchange: Exchange) -> bool:
        """An own exchange that counts, although the answer did not hang on it."""
        return self._causality.own(exchange) and self._causality.counts(exchange)

    def _causes(self, exchanges: Iterable[Exchange]) -> tuple[Cause, ...]:
        said = ((x, self._testimony.says(x)) for x in exchanges)
        return tuple(
            self._cause(kind, x)
            for x, kind in said
            if isinstance(kind, CauseKind) and (self._load.failure or kind not in _ONLY_EXPLAIN_A_FAILURE)
        )

    def _moved(self) -> tuple[Cause, ...]:
        moved = (self._testimony.moved(declaration) for declaration in self._load.declarations)
        return tuple(self._cause(CauseKind.MOVED, x) for x in moved if x is not None)

    def _cause(self, kind: CauseKind, exchange: Exchange) -> Cause:
        declared = self._causality.declared(exchange)
        return Cause(
            kind=kind,
            load=self._load.number,
            reason=cause_reason(kind, exchange, self._load),
            method=exchange.method,
            url=exchange.url,
            status=exchange.status,
            failure=exchange.failure,
            fault=exchange.fault,
            exchange=exchange.id,
            declared=declared,
            hint=hint(kind, exchange, self._load, declared=declared),
        )


def _failed_in_health(load: LoadRecord, failure: Failure) -> LoadJudgement:
    said = failure_sentence(failure)
    if failure.kind is FailureKind.SELECTOR:
        return _ended(load, Ending.CHECK_ERROR, "selector", f"the charter's selector is wrong: {said}")
    step = _failed_step(load)
    signature = _signature(failure, step)
    if step is not None and _held_up(load, failure, step):
        if load.patient:
            return _ended(load, Ending.UNCLEAR, "held up again", said, signature)
        return _ended(load, Ending.HELD_UP, "held up", f"{step.name} waited for what is not causal")
    if failure.kind in {FailureKind.ASSERTION, FailureKind.TIMEOUT, FailureKind.NET_JSON}:
        return _ended(load, Ending.MISMATCH, "mismatch in health", said, signature)
    return _ended(load, Ending.UNCLEAR, "exception in health", said, f"{signature} {failure.type}")


def _ended(
    load: LoadRecord, ending: Ending, rule: str, reason: str, signature: str | None = None
) -> LoadJudgement:
    return LoadJudgement(load=load.number, ending=ending, rule=rule, reason=reason, signature=signature)


def _blocked(load: LoadRecord, rule: str, causes: tuple[Cause, ...]) -> LoadJudgement:
    reason = causes_sentence(causes)
    return LoadJudgement(load=load.number, ending=Ending.BLOCKED, rule=rule, reason=reason, causes=causes)


def _cause_of_crash(crash: Crash, load: LoadRecord) -> Cause:
    reason = f"the {crash.what} crashed"
    return Cause(kind=CauseKind.CRASH, load=load.number, layer=Layer.BROWSER, reason=reason)


def _failed_step(load: LoadRecord) -> Step | None:
    if load.failure is None or load.failure.step is None:
        return None
    return load.steps[load.failure.step]


def _held_up(load: LoadRecord, failure: Failure, step: Step) -> bool:
    """A page timed out on a document that is whole, because something that is not causal never came."""
    if failure.kind is not FailureKind.TIMEOUT or step.name not in PAGE_LOADING:
        return False
    pages = (x for x in load.exchanges if x.main_document and x.page == 0)
    documents = sorted(pages, key=lambda x: x.started)
    pending = any(x.ended is None or x.ended > failure.at for x in load.exchanges if not x.main_document)
    return bool(documents) and documents[-1].finished and pending


def _signature(failure: Failure, step: Step | None) -> str:
    """Equal for two failures iff they are the same one: line, matcher and locator; values may differ."""
    lines = ">".join(str(number) for number in failure.lines)
    return " ".join(part for part in (f"L{lines}", *((step.name, step.target) if step else ())) if part)
