"""How a load ends. Source of the rules: "How a load ends" in docs/explanation/verdicts.md."""

from __future__ import annotations

from bughunt.verdict.causality import Causality
from bughunt.verdict.judgement import Cause, CauseKind, Ending, LoadJudgement
from bughunt.verdict.record import Exchange, Failure, FailureKind, LoadRecord, Step
from bughunt.verdict.sayings import Testimony
from bughunt.verdict.wording import cause_reason, causes_sentence, failure_sentence, hint

__all__ = ["judge_load"]

#: The steps that wait for a page to load, and so for whatever it embeds.
_PAGE_LOADING = frozenset(
    {"Page.goto", "Page.reload", "Page.go_back", "Page.go_forward", "Page.wait_for_load_state"}
)

#: Causes that explain why something was *not shown*. Where the charter held, it was.
_ONLY_EXPLAIN_A_FAILURE = frozenset({CauseKind.LATE, CauseKind.MOVED})


def judge_load(load: LoadRecord) -> LoadJudgement:
    """How a load ended, by the first rule that applies. Pure."""
    failure = load.failure
    if failure is not None and failure.kind is FailureKind.HARNESS:
        return _ended(load, Ending.HARNESS_ERROR, "harness", failure_sentence(failure))
    if load.crash is not None:
        return _ended(load, Ending.BLOCKED, "crash", _crash(load).reason, causes=(_crash(load),))
    causes = _causes(load)
    blocking = causes if failure else tuple(c for c in causes if c.declared)
    if blocking:
        rule = "declared exchange" if any(c.declared for c in blocking) else "causal exchange"
        return _ended(load, Ending.BLOCKED, rule, causes_sentence(blocking), causes=blocking)
    if failure is None:
        return _held(load, causes)
    return _failed_in_health(load, failure)


def _failed_in_health(load: LoadRecord, failure: Failure) -> LoadJudgement:
    said = failure_sentence(failure)
    if failure.kind is FailureKind.SELECTOR:
        return _ended(load, Ending.CHECK_ERROR, "selector", f"the charter's selector is wrong: {said}")
    step = _failed_step(load)
    if _held_up(load, failure, step):
        return _ended(
            load, Ending.HELD_UP, "held up", f"{step.name if step else 'goto'} waited for what is not causal"
        )
    if failure.kind in {FailureKind.ASSERTION, FailureKind.TIMEOUT, FailureKind.NET_JSON}:
        return _ended(load, Ending.MISMATCH, "mismatch in health", said, signature=_signature(failure, step))
    what = "the deadline passed" if failure.kind is FailureKind.DEADLINE else failure.type
    return _ended(
        load, Ending.UNCLEAR, "exception in health", said, signature=_signature(failure, step, what)
    )


def _held(load: LoadRecord, causes: tuple[Cause, ...]) -> LoadJudgement:
    own = tuple(c for c in causes if c.kind not in _ONLY_EXPLAIN_A_FAILURE and _own(load, c))
    said = f"the charter held although {causes_sentence(own)}" if own else "the charter held"
    return _ended(load, Ending.HELD, "held", said, causes=own, degraded=bool(own))


def _ended(
    load: LoadRecord,
    ending: Ending,
    rule: str,
    reason: str,
    *,
    signature: str | None = None,
    causes: tuple[Cause, ...] = (),
    degraded: bool = False,
) -> LoadJudgement:
    return LoadJudgement(
        load=load.number,
        ending=ending,
        rule=rule,
        reason=reason,
        signature=signature,
        causes=causes,
        degraded=degraded,
    )


def _causes(load: LoadRecord) -> tuple[Cause, ...]:
    """Every environment cause among the load's causal exchanges."""
    causality = Causality(load)
    testimony = Testimony(load, causality)
    found = []
    for exchange in load.exchanges:
        if causality.causal(exchange):
            said = testimony.says(exchange)
            if isinstance(said, CauseKind):
                found.append(_cause(said, exchange, load, declared=causality.declared(exchange)))
    for declaration in load.declarations:
        moved = testimony.moved(declaration) if load.failure else None
        if moved is not None:
            found.append(_cause(CauseKind.MOVED, moved, load, declared=True))
    return tuple(c for c in found if load.failure or c.kind not in _ONLY_EXPLAIN_A_FAILURE)


def _cause(kind: CauseKind, exchange: Exchange, load: LoadRecord, *, declared: bool) -> Cause:
    return Cause(
        kind=kind,
        load=load.number,
        reason=cause_reason(kind, exchange, load),
        method=exchange.method,
        url=exchange.url,
        status=exchange.status,
        failure=exchange.failure,
        fault=exchange.fault,
        exchange=exchange.id,
        declared=declared,
        hint=hint(kind, exchange),
    )


def _crash(load: LoadRecord) -> Cause:
    what = load.crash.what if load.crash else "browser"
    return Cause(kind=CauseKind.CRASH, load=load.number, layer="browser", reason=f"the {what} crashed")


def _own(load: LoadRecord, cause: Cause) -> bool:
    causality = Causality(load)
    return any(x.id == cause.exchange and causality.own(x) for x in load.exchanges)


def _failed_step(load: LoadRecord) -> Step | None:
    if load.failure is None or load.failure.step is None:
        return None
    return load.steps[load.failure.step]


def _held_up(load: LoadRecord, failure: Failure, step: Step | None) -> bool:
    """`goto` timed out on a document that is whole, because something that is not causal never came."""
    if (
        load.patient
        or failure.kind is not FailureKind.TIMEOUT
        or step is None
        or step.name not in _PAGE_LOADING
    ):
        return False
    documents = [x for x in load.exchanges if x.main_document and x.page == 0]
    pending = any(x.ended is None or x.ended > failure.at for x in load.exchanges if not x.main_document)
    return bool(documents) and documents[-1].finished and pending


def _signature(failure: Failure, step: Step | None, what: str = "") -> str:
    """Equal for two failures iff they are the same one: line, matcher and locator; values may differ."""
    lines = ">".join(str(n) for n in failure.lines)
    return " ".join(
        part for part in (f"L{lines}", step.name if step else "", step.target if step else "", what) if part
    )
