"""From loads to a verdict. Source of the rules: "From loads to a verdict" in docs/explanation/verdicts.md.

    the first load held                        PASS
    two loads with the same mismatch           BUG, intermittent if any load held
    no mismatch, and a load held               PASS, recovered
    no mismatch, and two loads blocked         ENV_ERROR with the causes of every load
    a mismatch that did not come again in 5    ENV_ERROR, unreproduced
    a check error, or an exception that came again in health    no verdict, CHECK_ERROR

ENV_ERROR is never the "else": without a recorded cause there is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from msgspec import Struct
from msgspec.structs import replace

from bughunt.verdict.endings import judge_load
from bughunt.verdict.judgement import (
    Cause,
    CauseKind,
    Ending,
    Judgement,
    Layer,
    Level,
    LoadJudgement,
    Reason,
    State,
    Verdict,
)
from bughunt.verdict.record import LoadRecord
from bughunt.verdict.wording import causes_sentence, failure_sentence
from bughunt.verdict.worlds import in_known_worlds

__all__ = ["MAX_LOADS", "RULES_VERSION", "LoadAgain", "claim", "decide"]

#: Stored with every judgement; raise it with every change of a rule.
RULES_VERSION = 2

#: Loads that count, at most, before a mismatch is called unreproduced.
MAX_LOADS = 5

#: Seconds of a `Retry-After` that are obeyed at most.
LONGEST_RETRY_AFTER = 30.0


class LoadAgain(Struct, frozen=True, kw_only=True):
    """No verdict yet: take another load."""

    why: str
    retry_after: float = 0.0
    """Seconds that a server asked to be left alone for, at most 30."""
    patient: bool = False
    """Let `goto` wait for the document only."""
    control: bool = False
    """Turn the planned faults off: does a resilient charter hold without them?"""


def decide(loads: Sequence[LoadRecord], *, max_loads: int = MAX_LOADS) -> Judgement | LoadAgain:
    """The verdict on these loads, or that another one is needed. Pure; `loads` in the order they were taken.

    Raises ValueError without a load.
    """
    if not loads:
        raise ValueError("There is nothing to decide before the first load.")
    endings = in_known_worlds(loads, tuple(judge_load(load) for load in loads))
    paired = list(zip(loads, endings, strict=True))
    decision = _decide(*_parted(paired, control=False), max_loads)
    if not _blames_the_faults(decision, loads):
        return decision
    return _with_faults_off(decision, paired, max_loads)


_Endings = tuple[LoadJudgement, ...]


def _parted(
    paired: Sequence[tuple[LoadRecord, LoadJudgement]], *, control: bool
) -> tuple[Sequence[LoadRecord], _Endings]:
    chosen = [(load, ended) for load, ended in paired if load.control is control]
    return [load for load, _ in chosen], tuple(ended for _, ended in chosen)


def _blames_the_faults(decision: Judgement | LoadAgain, loads: Sequence[LoadRecord]) -> bool:
    """A BUG of a charter that must hold despite faults which did fire."""
    found = isinstance(decision, Judgement) and decision.verdict is Verdict.BUG
    return found and any(x.fault for load in loads if load.resilient for x in load.exchanges)


def _with_faults_off(
    found: Judgement | LoadAgain, paired: Sequence[tuple[LoadRecord, LoadJudgement]], max_loads: int
) -> Judgement | LoadAgain:
    """The mismatch is the faults' doing only if the charter holds without them: else judge that instead."""
    loads, endings = _parted(paired, control=True)
    if not loads:
        return LoadAgain(why="does the charter hold with the faults off?", control=True)
    without = _decide(loads, endings, max_loads)
    if isinstance(without, LoadAgain):
        return replace(without, control=True)
    everything = tuple(ended for _, ended in paired)
    if without.verdict is not Verdict.PASS:
        return replace(without, endings=everything)
    assert isinstance(found, Judgement)  # who asks has a BUG
    sentence = f"{found.sentence} With the faults off it held (load {loads[-1].number})."
    confirmations = found.confirmations + len(loads)
    return replace(
        found, endings=everything, sentence=sentence, confirmations=confirmations, rule="not resilient"
    )


def _decide(loads: Sequence[LoadRecord], endings: _Endings, max_loads: int) -> Judgement | LoadAgain:
    counted = tuple(e for e in endings if e.ending is not Ending.HELD_UP)
    held = any(e.ending is Ending.HELD for e in counted)
    mismatches = _by_signature(counted, Ending.MISMATCH)
    blocked = [e for e in counted if e.ending is Ending.BLOCKED]
    level = _level(loads)

    if any(e.ending is Ending.HARNESS_ERROR for e in counted):
        return _no_verdict(endings, level, Reason.HARNESS_ERROR, "harness")
    if any(e.ending is Ending.CHECK_ERROR for e in counted):
        return _no_verdict(endings, level, Reason.CHECK_ERROR, "check error")
    if mismatches and mismatches.most_common(1)[0][1] >= 2:
        return _bug(endings, counted, mismatches.most_common(1)[0][0], intermittent=held)
    if held and not mismatches:
        return _passed(endings, counted)
    if len(blocked) >= 2 and not mismatches:
        return _env_error(endings, counted, level, "blocked twice")
    repeated = _by_signature(counted, Ending.UNCLEAR)
    if repeated and repeated.most_common(1)[0][1] >= 2:
        return _no_verdict(endings, level, Reason.CHECK_ERROR, "exception came again")
    if len(counted) >= max_loads:
        return _at_the_limit(endings, counted, level)
    return _again(loads, endings)


def claim(load: LoadRecord) -> Judgement:
    """What an agent claims that looks once and verifies nothing: whatever looks like a bug is one. Pure."""
    ended = judge_load(load)
    if ended.ending is Ending.HARNESS_ERROR:
        return _no_verdict((ended,), _level((load,)), Reason.HARNESS_ERROR, "harness")
    looks_right = load.failure is None and load.crash is None
    saw = failure_sentence(load.failure) if load.failure else ended.reason
    return Judgement(
        rules_version=RULES_VERSION,
        state=State.FAILED,
        verdict=Verdict.PASS if looks_right else Verdict.BUG,
        reason=Reason.UNVERIFIED,
        level=_level((load,)),
        rule="claim",
        sentence=f"Claimed after one load, not verified: {_stop(saw)}",
        loads=1,
        endings=(ended,),
    )


def _level(loads: Sequence[LoadRecord]) -> Level:
    """E3 with a complete network record; E1 where there was not even a page to record."""
    return Level.E3 if any(load.exchanges for load in loads) else Level.E1


def _by_signature(endings: Sequence[LoadJudgement], ending: Ending) -> Counter[str]:
    return Counter(e.signature or "" for e in endings if e.ending is ending)


def _passed(endings: tuple[LoadJudgement, ...], counted: Sequence[LoadJudgement]) -> Judgement:
    last = next(e for e in counted if e.ending is Ending.HELD)
    recovered = len(counted) > 1
    lead_in = (
        f"The charter held on load {last.load}, after {_before(counted)}."
        if recovered
        else "The charter held."
    )
    return Judgement(
        rules_version=RULES_VERSION,
        state=State.DONE,
        verdict=Verdict.PASS,
        reason=None,
        level=Level.E4,
        rule="recovered" if recovered else "held",
        sentence=lead_in + _asides(endings, last),
        loads=len(counted),
        causes=_all_causes(counted),
        endings=endings,
        recovered=recovered,
        degraded=last.degraded,
    )


def _before(counted: Sequence[LoadJudgement]) -> str:
    earlier = [e for e in counted if e.ending is not Ending.HELD]
    return "; ".join(e.reason for e in earlier)


def _asides(endings: Sequence[LoadJudgement], last: LoadJudgement) -> str:
    said = f" Degraded: {last.reason}." if last.degraded else ""
    held_up = next((e for e in endings if e.ending is Ending.HELD_UP), None)
    return said + (f" Load {held_up.load} was not counted: {held_up.reason}." if held_up else "")


def _bug(
    endings: tuple[LoadJudgement, ...],
    counted: Sequence[LoadJudgement],
    signature: str,
    *,
    intermittent: bool,
) -> Judgement:
    first = next(i for i, e in enumerate(counted) if e.signature == signature)
    same = [e for e in counted if e.ending is Ending.MISMATCH and e.signature == signature]
    contradicts = same[0].rule == "contradiction"
    now_and_then = " It comes and goes: other loads held." if intermittent else ""
    return Judgement(
        rules_version=RULES_VERSION,
        state=State.DONE,
        verdict=Verdict.BUG,
        reason=None,
        level=Level.E5,
        rule="contradiction" if contradicts else "mismatch, healthy network",
        sentence=f"{_stop(same[0].reason)} The same on loads {' and '.join(str(e.load) for e in same)}"
        f"{'' if contradicts else ', while everything that it rests on was answered well'}.{now_and_then}",
        loads=first + 1,
        confirmations=len(counted) - first - 1,
        causes=_all_causes(counted),
        endings=endings,
        intermittent=intermittent,
    )


def _stop(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?")) else sentence + "."


def _env_error(
    endings: tuple[LoadJudgement, ...],
    counted: Sequence[LoadJudgement],
    level: Level,
    rule: str,
    extra: tuple[Cause, ...] = (),
) -> Judgement:
    causes = (*_all_causes(counted), *extra)
    return Judgement(
        rules_version=RULES_VERSION,
        state=State.FAILED,
        verdict=Verdict.ENV_ERROR,
        reason=Reason.ENV_ERROR,
        level=level,
        rule=rule,
        sentence=f"The answer could not be seen: {causes_sentence(causes)}.",
        loads=len(counted),
        causes=causes,
        endings=endings,
    )


def _at_the_limit(
    endings: tuple[LoadJudgement, ...], counted: Sequence[LoadJudgement], level: Level
) -> Judgement:
    lone = [e for e in counted if e.ending is Ending.MISMATCH]
    if not lone:
        return _no_verdict(endings, level, Reason.CHECK_ERROR, "no two loads alike")
    unreproduced = tuple(
        Cause(
            kind=CauseKind.UNREPRODUCED,
            load=e.load,
            layer=Layer.PRODUCT,
            reason=f"a mismatch that did not come again in {len(counted)} loads: {e.reason}",
            hint="may be a rare bug: the mismatch was seen with a healthy network",
        )
        for e in lone
    )
    return _env_error(endings, counted, level, "unreproduced", unreproduced)


def _no_verdict(endings: tuple[LoadJudgement, ...], level: Level, reason: Reason, rule: str) -> Judgement:
    wanted = {
        Reason.HARNESS_ERROR: (Ending.HARNESS_ERROR,),
        Reason.CHECK_ERROR: (Ending.CHECK_ERROR, Ending.UNCLEAR),
    }
    told = next((e.reason for e in reversed(endings) if e.ending in wanted[reason]), endings[-1].reason)
    lead_in = "The check itself is broken" if reason is Reason.CHECK_ERROR else "BugHunt itself failed"
    return Judgement(
        rules_version=RULES_VERSION,
        state=State.FAILED,
        verdict=None,
        reason=reason,
        level=level,
        rule=rule,
        sentence=f"{lead_in}: {_stop(told)}",
        loads=len([e for e in endings if e.ending is not Ending.HELD_UP]),
        causes=_all_causes(endings),
        endings=endings,
    )


def _all_causes(endings: Sequence[LoadJudgement]) -> tuple[Cause, ...]:
    return tuple(cause for e in endings for cause in e.causes)


def _again(loads: Sequence[LoadRecord], endings: Sequence[LoadJudgement]) -> LoadAgain:
    held_up = any(e.ending is Ending.HELD_UP for e in endings)
    return LoadAgain(
        why=f"load {endings[-1].load}: {endings[-1].reason}",
        retry_after=_retry_after(loads[-1], endings[-1]),
        patient=held_up,
    )


def _retry_after(load: LoadRecord, ended: LoadJudgement) -> float:
    """The longest `Retry-After` in seconds among the causes of the last load, at most 30."""
    blamed = {cause.exchange for cause in ended.causes}
    asked = [_seconds_asked(x.response_headers, load.began_at) for x in load.exchanges if x.id in blamed]
    return min(max(asked, default=0.0), LONGEST_RETRY_AFTER)


def _seconds_asked(headers: dict[str, str], began_at: str) -> float:
    """A `Retry-After`, a number or a date (RFC 9110, 10.2.3), in seconds; 0 where there is none."""
    known = {name.lower(): value.strip() for name, value in headers.items()}
    value = known.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
        now = parsedate_to_datetime(known["date"]) if "date" in known else datetime.fromisoformat(began_at)
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, (_aware(until) - _aware(now)).total_seconds())


def _aware(instant: datetime) -> datetime:
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
