"""What a person says of a message that waits, or of a RUN that is over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

from msgspec import structs
from sqlalchemy import Connection

from bughunt.exceptions import UsageError
from bughunt.tower import settling, writing
from bughunt.tower.intake import Decision, Part, Relation
from bughunt.tower.legible import is_readable, storable
from bughunt.tower.states import SETTLED, TERMINAL
from bughunt.tower.transitions import Change
from bughunt.tower.values import Receipt, Run, RunRequest, SecondParty
from bughunt.verdict.judgement import Judgement, Level, State, Verdict
from bughunt.verdict.rules import RULES_VERSION

__all__ = ["PERSON", "decided", "judgement_of", "not_borne", "resolved"]

PERSON = "person"
"""The agent of a RUN that is a person's decision, and the step of a receipt that a person settled."""


def resolved(connection: Connection, receipt_id: int, decision: Decision, change: Change) -> Receipt:
    """The receipt, settled as a person said: what of it is tied already stays so."""
    settling.one_at_a_time(connection, settling.get_receipt(connection, receipt_id).project)
    receipt = settling.get_receipt(connection, receipt_id, lock=True)
    if receipt.state in SETTLED:
        raise UsageError(f"{receipt.name} is {receipt.state} already: nothing is left to say of it.")
    context = settling.context_of(connection, receipt)
    open_ones = {question.id for question in context.questions}
    strangers = [link for link in decision.links if link not in open_ones]
    if strangers:
        raise UsageError(f"Q-{strangers[0]} is no open question of the project {receipt.project}.")
    said = structs.replace(decision, confidence=1.0, step=PERSON, reason=decision.reason or change.why)
    after = settling.applied(connection, context, _of_all_parts(receipt, said), change)
    if after is None:
        raise UsageError(f"{receipt.name} was looked at meanwhile: look at it again, then say.")
    return after


def _of_all_parts(receipt: Receipt, said: Decision) -> Decision:
    """Of a message in parts, what is said is said of those that wait."""
    if receipt.parts is None:
        return said
    part = Part(text="", links=said.links, relation=said.relation, target=said.target)
    tied = {related.part: Part(text="") for related in receipt.relations}
    parts = tuple(tied.get(number, part) for number in range(1, receipt.parts + 1))
    return structs.replace(said, relation=Relation.SPLIT_TO_N_Q, links=(), parts=parts)


def judgement_of(who: str, verdict: Verdict, statement: str) -> Judgement:
    """What a person says of a RUN, as a judgement. Raises UsageError where it says nothing."""
    if verdict not in (Verdict.PASS, Verdict.BUG):
        raise UsageError(f"A person decides PASS or BUG; what stays {verdict} needs no decision.")
    if not is_readable(who) or not is_readable(statement):
        raise UsageError("A decision needs who decides and a statement of what was seen.")
    return Judgement(
        rules_version=RULES_VERSION,
        state=State.DONE,
        verdict=verdict,
        reason=None,
        level=Level.E5,
        rule="person",
        sentence=f"{storable(who)}: {storable(statement)}",
        loads=0,
        endings=(),
    )


def decided(
    connection: Connection,
    run_id: int,
    who: str,
    judgement: Judgement,
    evidence: Sequence[writing.Prepared],
    now: datetime,
) -> Run:
    """The decision, as a RUN that cites the one it decides. In the same words again, it is the same RUN."""
    cited = writing.get_run(connection, run_id)
    if cited.state not in TERMINAL:
        raise UsageError(f"RUN-{run_id} is {cited.state}: wait for its end, then decide.")
    owner = f"person:{storable(who)}"
    request = RunRequest(
        question=cited.question,
        agent=PERSON,
        rules_version=judgement.rules_version,
        owner=owner,
        build=cited.build,
        idempotency_key=_key(run_id, judgement),
        cites=run_id,
        why=f"a decision about RUN-{run_id}",
    )
    run = writing.reserve(connection, request, now, now)
    if run.state is State.DONE:
        return run
    change = Change(at=now, who=owner, why=f"looked at RUN-{run_id}")
    run = writing.move(connection, run, State.RUNNING, change, started_at=now)
    writing.add(connection, run.id, evidence, now)
    run = writing.move(connection, run, State.VERIFYING, change)
    return _done(connection, run, judgement, now)


def not_borne(run_id: int, verdict: Verdict) -> UsageError:
    """What a person is told whose decision the gate refuses."""
    needed = "load that held" if verdict is Verdict.PASS else "network record"
    return UsageError(f"RUN-{run_id} has no {needed}, so nobody can say {verdict} of it: run it again.")


def _key(run_id: int, judgement: Judgement) -> str:
    told = f"{judgement.verdict} {judgement.sentence}".encode()
    return f"decision:RUN-{run_id}:{sha256(told).hexdigest()[:24]}"


def _done(connection: Connection, run: Run, judgement: Judgement, now: datetime) -> Run:
    done = writing.move(
        connection,
        run,
        State.DONE,
        Change(at=now, who=run.owner, why=judgement.sentence),
        terminal_at=now,
        verdict=judgement.verdict,
        level=judgement.level,
        landed_at=now,
        landing_note=f"A person looked at RUN-{run.cites}. {judgement.sentence}",
        gate_version=writing.GATE_VERSION,
        second_party=SecondParty.PERSON,
    )
    writing.answer(connection, done, now)
    return done
