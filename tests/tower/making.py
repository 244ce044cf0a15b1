"""Values that tests put into a tower, each with sane defaults."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bughunt.tower import (
    EvidenceKind,
    Message,
    NewEvidence,
    NewQuestion,
    Question,
    Run,
    RunRequest,
    Tower,
    evidence_of_cause,
    evidence_of_load,
)
from bughunt.verdict.judgement import (
    Cause,
    CauseKind,
    Ending,
    Judgement,
    Level,
    LoadJudgement,
    Reason,
    State,
    Verdict,
)
from bughunt.verdict.record import Exchange, LoadRecord, Scope, to_json

BEGAN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ME = "process-1"
OTHER = "process-2"
PLAN = ("reset@**/api/cart", "503@**/api/user")


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = BEGAN

    def __call__(self) -> datetime:
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def a_question(charter: str = "cart.py::total", **values: object) -> NewQuestion:
    defaults = {"project": "shop", "question": "Is the total right?", "target": "https://shop.test"}
    return NewQuestion(charter=charter, **(defaults | values))  # type: ignore[arg-type]  # values by name


def a_drill() -> NewQuestion:
    return a_question(plan=PLAN, plan_fingerprint="f00d")


def a_message(text: str = "Is the total right on staging?", **values: object) -> Message:
    defaults = {"project": "shop", "source": "chat", "key": "k-1", "text": text, "occurred_at": BEGAN}
    return Message(**(defaults | values))  # type: ignore[arg-type]  # values by name


def a_request(question: Question, **values: object) -> RunRequest:
    defaults = {"agent": "careful", "rules_version": 1, "owner": ME}
    return RunRequest(question=question.id, **(defaults | values))  # type: ignore[arg-type]  # values by name


def a_load(number: int = 1, *exchanges: Exchange) -> LoadRecord:
    scope = Scope(base_url="https://shop.test", own_hosts=("shop.test",))
    return LoadRecord(
        number=number, began_at="2026-03-01T12:00:00Z", scope=scope, ended=1.25, exchanges=exchanges
    )


def network(number: int = 1) -> NewEvidence:
    return NewEvidence(kind=EvidenceKind.NETWORK, data=to_json(a_load(number)), load=number)


def passed() -> Judgement:
    held = LoadJudgement(load=1, ending=Ending.HELD, rule="held", reason="The charter held.")
    return Judgement(
        rules_version=1,
        state=State.DONE,
        verdict=Verdict.PASS,
        reason=None,
        level=Level.E4,
        rule="first_held",
        sentence="The first load held.",
        loads=1,
        endings=(held,),
    )


def bug(*signatures: str) -> Judgement:
    endings = tuple(
        LoadJudgement(load=number, ending=Ending.MISMATCH, rule="mismatch", reason="288", signature=signature)
        for number, signature in enumerate(signatures or ("line 9", "line 9"), start=1)
    )
    return Judgement(
        rules_version=1,
        state=State.DONE,
        verdict=Verdict.BUG,
        reason=None,
        level=Level.E5,
        rule="twice",
        sentence="The same mismatch twice.",
        loads=1,
        confirmations=1,
        endings=endings,
    )


def env_error(*, causes: bool = True, loads: int = 2, layer: str = "network") -> Judgement:
    found = tuple(
        Cause(kind=CauseKind.NETWORK, load=number, reason="reset", layer=layer)
        for number in range(1, loads + 1)
    )
    endings = tuple(
        LoadJudgement(load=number, ending=Ending.BLOCKED, rule="cause", reason="reset")
        for number in range(1, loads + 1)
    )
    return Judgement(
        rules_version=1,
        state=State.FAILED,
        verdict=Verdict.ENV_ERROR,
        reason=Reason.ENV_ERROR,
        level=Level.E3,
        rule="blocked_twice",
        sentence="The environment was broken.",
        loads=loads,
        causes=found if causes else (),
        endings=endings,
    )


def begun(tower: Tower, question: NewQuestion | None = None, **values: object) -> Run:
    """A RUN that has started."""
    asked = tower.ask(question or a_question())
    request = a_request(asked, **values)
    return tower.start(tower.reserve(request).id, request.owner)


def finished(tower: Tower, run: Run, judgement: Judgement | None = None, **values: object) -> Run:
    """That RUN, ended as judged with all the evidence that this needs."""
    judged = judgement or passed()
    records = [network(ending.load) for ending in judged.endings]
    landing = {"landed_at": BEGAN, "landing_note": "https://shop.test/cart shows 487.00"}
    proof = [*records, *proof_of(judged)]
    return tower.finish(run.id, run.owner, judged, evidence=proof, **(landing | values))  # type: ignore[arg-type]


def proof_of(judged: Judgement) -> list[NewEvidence]:
    """The rows that the gates look for: one for each load that was judged, one for each cause."""
    return [
        *(evidence_of_load(ended) for ended in judged.endings),
        *(evidence_of_cause(cause) for cause in judged.causes),
    ]
