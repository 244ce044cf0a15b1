"""One RUN, from its reservation to finality.

message → ... → Q → RUN reserved → loads, recorded as evidence as they happen → verdict → finality gate.
"""

from __future__ import annotations

import asyncio
import hashlib
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from playwright.async_api import Browser

from bughunt.agents import AGENTS
from bughunt.browser.load import LoadOutcome, LoadRequest, take_load
from bughunt.charters import Charter
from bughunt.exceptions import BughuntError, RunTaken
from bughunt.settings import Keep, LoadSettings, Target
from bughunt.tower import (
    EvidenceKind,
    NewEvidence,
    NewQuestion,
    Run,
    RunRequest,
    Tower,
    evidence_of_cause,
    evidence_of_load,
    now_utc,
)
from bughunt.tower.states import TERMINAL
from bughunt.verdict.endings import judge_load
from bughunt.verdict.judgement import Ending, Judgement, Reason, State, Verdict
from bughunt.verdict.noise import learn
from bughunt.verdict.record import Exchange, LoadRecord, Noise, to_json
from bughunt.verdict.rules import RULES_VERSION
from fault_routes import FaultLedger, FaultPlan

__all__ = ["Browsers", "Investigation", "give_up", "investigate", "question_of"]


_LOOK_AGAIN = 0.5
"""Seconds between two looks at a RUN that somebody else carries out."""


class Investigation(Struct, frozen=True, kw_only=True):
    """What is to be found out, and how."""

    charter: Charter
    target: Target
    agent: str
    """A name in `bughunt.agents.AGENTS`."""
    plan: FaultPlan = FaultPlan()
    """What is broken on purpose; not empty: a drill."""
    build: str | None = None
    project: str = "default"
    loading: LoadSettings = LoadSettings()


class Browsers(Protocol):
    """Where a load's browser comes from: `bughunt.browser.pool.BrowserPool`."""

    async def browser(self) -> Browser:
        """A running browser."""
        ...


def question_of(what: Investigation) -> NewQuestion:
    """The Q that this investigation is an attempt at: same charter, target and plan, same Q."""
    return NewQuestion(
        project=what.project,
        charter=what.charter.id,
        question=what.charter.question,
        target=what.target.name or what.target.base_url,
        plan=tuple(fault.spec for fault in what.plan.faults),
        plan_fingerprint=what.plan.fingerprint,
    )


async def investigate(
    what: Investigation, *, tower: Tower, browsers: Browsers, owner: str, reserved: Callable[[Run], None]
) -> Run:
    """Reserve a RUN, take loads until the agent has a judgement, and end the RUN through the gate.

    Where another process is at the very same attempt already, its answer is waited for and returned.
    `reserved` is told of the RUN as soon as it is this owner's, or over. Interrupted, the RUN is CANCELLED.
    Raises TowerUnavailable where evidence could not be written: then nothing is said.
    """
    question = await asyncio.to_thread(tower.ask, question_of(what))
    request = RunRequest(
        question=question.id, agent=what.agent, rules_version=RULES_VERSION, owner=owner, build=what.build
    )
    run = await _held(tower, request)
    if run.state is not State.RUNNING:
        reserved(run)
        return run
    try:
        reserved(run)
        return await _Attempt(what, tower, browsers, run).carry_out()
    except asyncio.CancelledError:
        await _cancelled(tower, run)
        raise


async def _held(tower: Tower, request: RunRequest) -> Run:
    """A RUN for this attempt: started for this owner, or over, since another one carried it out meanwhile."""
    while True:
        run = await asyncio.to_thread(tower.reserve, request)
        if run.state in TERMINAL:
            return run
        starting = asyncio.ensure_future(asyncio.to_thread(tower.start, run.id, request.owner))
        try:
            return await asyncio.shield(starting)
        except RunTaken:
            run = await _ended(tower, run)
        except asyncio.CancelledError:
            with suppress(BughuntError):  # it may have started by now, and nobody would carry it out
                await _cancelled(tower, await starting)
            raise
        if run.state is State.DONE or run.reason not in (None, Reason.HARNESS_ERROR):
            return run


async def _ended(tower: Tower, run: Run) -> Run:
    """The RUN that somebody else holds, once it is over, or nobody holds it any more."""
    while True:
        await asyncio.sleep(
            _LOOK_AGAIN
        )  # first, since clocks differ: whose lease ran out here may hold it there
        run = await asyncio.to_thread(tower.run, run.id)
        if run.state in TERMINAL or run.lease_until <= now_utc():
            return run


async def _cancelled(tower: Tower, run: Run) -> None:
    with suppress(BughuntError):  # it ended meanwhile, or the disk is full: then its lease closes it
        await asyncio.shield(asyncio.to_thread(tower.cancel, run.id, run.owner, "Interrupted."))


class _Attempt:
    """One RUN under way."""

    def __init__(self, what: Investigation, tower: Tower, browsers: Browsers, run: Run) -> None:
        self._what = what
        self._tower = tower
        self._browsers = browsers
        self._run = run
        self._ledger = FaultLedger(what.plan)
        self._written_firings = 0
        self._written_exchanges: set[tuple[int, bool, bool]] = set()
        self._loads: list[LoadOutcome] = []
        self._writing = asyncio.Lock()
        self._known_noise: tuple[Noise, ...] | None = None

    async def carry_out(self) -> Run:
        agent = AGENTS[self._what.agent]
        judgement = await agent(self._take_load, pause=self._what.loading.pause, sleep=asyncio.sleep)
        telling = _telling(self._loads, judgement)
        return await asyncio.to_thread(
            self._tower.finish,
            self._run.id,
            self._run.owner,
            judgement,
            landed_at=_seen_at(telling) if telling else None,
            landing_note=_landing(self._what, self._loads, judgement, telling) if telling else None,
            evidence=[evidence_of_cause(cause) for cause in judgement.causes],
        )

    async def _take_load(
        self, *, patient: bool = False, traced: bool = True, control: bool = False
    ) -> LoadRecord:
        number = len(self._loads) + 1
        await self._begin_load(number, patient=patient, control=control)
        keep = self._what.loading.keep
        if self._what.charter.resilient:
            self._ledger.reset_counters()  # each load of it meets the faults anew
        outcome = await take_load(
            await self._browsers.browser(),
            LoadRequest(
                charter=self._what.charter,
                target=self._what.target,
                number=number,
                ledger=FaultLedger(FaultPlan()) if control else self._ledger,
                control=control,
                deadline=self._what.loading.deadline,
                patient=patient,
                keep=Keep.PICTURES if keep is Keep.ALL and not traced else keep,
                on_exchanges=lambda exchanges: self._write_progress(number, exchanges),
                noise=self._noise,
            ),
        )
        self._loads.append(outcome)
        self._written_exchanges.clear()
        for secret in (*outcome.secrets, *(outcome.artifacts.secrets if outcome.artifacts else ())):
            self._tower.redactor.learn(secret)
        await self._write(_load_evidence(outcome), load=number)
        return outcome.record

    async def _noise(self) -> tuple[Noise, ...]:
        """What this charter's passing runs have taught, asked once, where a load did not hold."""
        if self._known_noise is None:
            passing = await asyncio.to_thread(self._tower.passing_loads, self._run.question)
            self._known_noise = learn(passing)
        return self._known_noise

    async def _begin_load(self, number: int, *, patient: bool, control: bool) -> None:
        told = {"number": number, "patient": patient, "control": control}
        started = _json_evidence(EvidenceKind.LOAD_STARTED, told, load=number)
        if number == 1:
            await self._write([_json_evidence(EvidenceKind.CONDITIONS, _conditions(self._what)), started])
            return
        if number == 2:
            self._run = await asyncio.to_thread(self._tower.verify, self._run.id, self._run.owner)
        await self._write([started])

    async def _write(self, items: Sequence[NewEvidence], *, load: int | None = None) -> None:
        """Write evidence, and with a load's the firings since the last time; one transaction at a time."""
        async with self._writing:
            fired = self._ledger.firings[self._written_firings :] if load else ()
            firings = [_json_evidence(EvidenceKind.FIRING, firing, load=load) for firing in fired]
            await asyncio.to_thread(
                self._tower.add_evidence, self._run.id, self._run.owner, [*items, *firings]
            )
            self._written_firings += len(fired)

    async def _write_progress(self, number: int, exchanges: Sequence[Exchange]) -> None:
        """What has come of a long load so far is written already: a killed process leaves it behind."""
        stages = {(x.id, x.responded is not None, x.ended is not None): x for x in exchanges}
        new = [x for stage, x in stages.items() if stage not in self._written_exchanges]
        if new:
            self._written_exchanges |= stages.keys()
            progress = _json_evidence(EvidenceKind.EXCHANGES, msgspec.to_builtins(new), load=number)
            # A load that ends meanwhile must not break the writing off.
            await asyncio.shield(self._write([progress], load=number))


def _conditions(what: Investigation) -> dict[str, Any]:  # Any: JSON
    return {
        "agent": what.agent,
        "base_url": what.target.base_url,
        "build": what.build,
        "question": what.charter.question,
        "charter_digest": hashlib.sha256(what.charter.file.read_bytes()).hexdigest(),
        "deadline": what.charter.timeout or what.loading.deadline,
        "pause": what.loading.pause,
        "plan": [fault.spec for fault in what.plan.faults],
        "rules_version": RULES_VERSION,
        "resilient": what.charter.resilient,
        "known_as": what.charter.ticket,
        "known_until": what.charter.known_until and what.charter.known_until.isoformat(),
    }


def _json_evidence(kind: EvidenceKind, value: Any, *, load: int | None = None) -> NewEvidence:
    return NewEvidence(kind=kind, data=msgspec.json.encode(value), load=load)


def _load_evidence(outcome: LoadOutcome) -> list[NewEvidence]:
    record, artifacts = outcome.record, outcome.artifacts
    load = record.number
    found = [
        NewEvidence(kind=EvidenceKind.NETWORK, data=to_json(record), load=load),
        evidence_of_load(judge_load(record)),
    ]
    if artifacts is None:
        return found
    pictures = (
        (EvidenceKind.SCREENSHOT, artifacts.screenshot, "image/png", "png"),
        (EvidenceKind.ARIA, artifacts.aria and artifacts.aria.encode(), "text/plain", "aria.txt"),
        (EvidenceKind.TRACE, artifacts.trace, "application/zip", "trace.zip"),
    )
    found += [
        NewEvidence(kind=kind, data=data, media_type=media_type, load=load, name=f"load-{load}.{suffix}")
        for kind, data, media_type, suffix in pictures
        if data
    ]
    return found


def _seen_at(load: LoadRecord) -> datetime:
    """When a load had shown what it did."""
    return datetime.fromisoformat(load.began_at) + timedelta(seconds=load.ended)


def _telling(loads: Sequence[LoadOutcome], judgement: Judgement) -> LoadRecord | None:
    """The last load that shows what the judgement says, no control load after it; None: nothing landed."""
    if judgement.state is not State.DONE:
        return None
    ending = Ending.MISMATCH if judgement.verdict is Verdict.BUG else Ending.HELD
    records = [x.record for x in reversed(loads)]
    return next((record for record in records if judge_load(record).ending is ending), records[0])


def _landing(
    what: Investigation, loads: Sequence[LoadOutcome], judgement: Judgement, seen: LoadRecord
) -> str:
    """Where and what was seen, in the target itself."""
    build = what.build or next((x.record.build for x in reversed(loads) if x.record.build), None)
    parts = [
        f"{judgement.verdict} seen at {seen.page_url or what.target.base_url}",
        f"build {build}" if build else "build not named",
        f"load {seen.number}",
        seen.browser,
    ]
    return ", ".join(parts)


async def give_up(tower: Tower, run: Run, error: Exception) -> str:
    """End a RUN that our own failure stopped, with the traceback as evidence where it is a bug of ours.

    Where even that cannot be written, the RUN's lease will run out. Returns what to tell the user, one line.
    """
    named = isinstance(error, BughuntError)
    said = str(error) if named else f"{type(error).__name__}: {error}"
    note = said if named else "".join(traceback.format_exception(error))
    try:
        await asyncio.to_thread(tower.fail, run.id, run.owner, Reason.HARNESS_ERROR, note)
    except RunTaken:
        return said
    except BughuntError:
        return f"{said} RUN-{run.id} is left open; the next start closes it once its lease has run out."
    return f"{said} (RUN-{run.id}: HARNESS_ERROR)"
