"""The corpus: records of loads with their right verdict, small and without secrets, judged on every test run.

A bundle is one JSON file, named after its charter and a digest of its loads: the same evidence has one file,
and so one right verdict.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bughunt.exceptions import UsageError
from bughunt.rejudging import Said, gist
from bughunt.rejudging import judge as judge_as
from bughunt.tower import InvestigationView, Redactor
from bughunt.verdict.judgement import CauseKind, Judgement, Reason, State, Verdict
from bughunt.verdict.record import Exchange, LoadRecord, to_json
from bughunt.verdict.rules import RULES_VERSION, LoadAgain

__all__ = [
    "Agreed",
    "Case",
    "case_of",
    "file_name",
    "judge",
    "load_corpus",
    "objection",
    "renewed",
    "shrunk",
    "to_bundle",
    "verdict_of",
]

#: Headers of requests that rules read. All others may say who asked.
KEPT_REQUEST_HEADERS = frozenset({"accept", "sec-purpose"})
#: Headers of answers that rules read. All others may say more than a file in a repository should.
KEPT_RESPONSE_HEADERS = frozenset(
    {
        *("content-encoding", "content-length", "content-type", "transfer-encoding"),
        *("date", "retry-after"),
    }
)


class Agreed(Struct, frozen=True, kw_only=True):
    """What the rules said when they agreed with the person."""

    rule: str
    """By which the verdict was found."""
    causes: tuple[CauseKind, ...]
    """Each kind of cause once, in the order of the alphabet."""


class Case(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The loads of one run, and what is right to say of them."""

    charter: str
    """The charter's id, `path::name`."""
    question: str
    verdict: Verdict | None
    """The right one; None: there is none to be given, the charter itself is broken."""
    why: str
    """Why that is right: a person's words."""
    rules_version: int
    """That of the rules when the case was added."""
    agreed: Agreed | None = None
    """On what grounds the verdict is right; None: the rules did not find it when the case was added."""
    loads: tuple[LoadRecord, ...]
    """In the order in which they were taken, without what no rule reads."""


def judge(case: Case) -> Said:
    """What the rules of this version say of a case, as the careful agent would. Pure."""
    return judge_as("careful", case.loads)


def verdict_of(said: Said) -> str:
    """The verdict as `bughunt corpus add` takes it, NONE for none; LOAD AGAIN where it is not found yet."""
    if isinstance(said, LoadAgain):
        return "LOAD AGAIN"
    return said.verdict or "NONE"


def objection(case: Case) -> str:
    """What the rules of this version get wrong about a case, on one line; empty where they get it right."""
    said, right = judge(case), case.verdict or "NONE"
    if verdict_of(said) != right:
        return f"the rules say {_told(said)}, and right is {right}: {case.why}"
    now = _agreed(said)
    if case.agreed in (None, now):
        return ""
    return f"{right} is right, and the rules find it by {_grounds(now)}, no more by {_grounds(case.agreed)}"


def renewed(case: Case) -> Case:
    """The case as it would be added now: without what no rule reads, agreed where the rules say the same."""
    small = replace(case, loads=shrunk(case.loads))
    said = judge(small)
    return replace(small, agreed=_agreed(said) if verdict_of(said) == (case.verdict or "NONE") else None)


def load_corpus(folder: Path) -> dict[str, Case]:
    """Every case of a folder by its file's name. Raises UsageError where a file is no case."""
    return {file.name: _case_in(file) for file in sorted(folder.glob("*.json"))}


def case_of(view: InvestigationView, verdict: Verdict | None, why: str, redactor: Redactor) -> Case:
    """The case that a stored run makes.

    Raises UsageError where no test can be made of the run: it was not the careful agent's, has not ended or
    was ended by our own failure, its loads are not all there, or the rules need another; and where the rules
    say something else of the loads once they are small and redacted.
    """
    _check(view)
    case = Case(
        charter=view.question.key.charter,
        question=view.question.key.question,
        verdict=verdict,
        why=why,
        rules_version=RULES_VERSION,
        loads=shrunk(view.loads),
    )
    redacted = _redacted(case, redactor)
    full = judge_as("careful", view.loads)
    _check_decided(full, view)
    _hold_to(full, judge(redacted), view.name)
    return renewed(redacted)


def shrunk(loads: Sequence[LoadRecord]) -> tuple[LoadRecord, ...]:
    """The loads of a run without what no rule reads.

    Of what was sent and what came, rules only ask whether it is the same. So digests, by which a short secret
    could be guessed, become ordinals: equal ones equal ones, over all loads.
    """
    sent, came, pages = _Ordinals(), _Ordinals(), _Ordinals()

    def small(x: Exchange) -> Exchange:
        return replace(
            x,
            body=None,
            request_headers=_only(KEPT_REQUEST_HEADERS, x.request_headers),
            response_headers=_only(KEPT_RESPONSE_HEADERS, x.response_headers),
            asked=sent.of(x.asked),
            digest=came.of(x.digest),
            html_mark=pages.of(x.html_mark),
        )

    return tuple(
        replace(
            load,
            exchanges=tuple(map(small, load.exchanges)),
            probes=tuple(replace(probe, html_mark=pages.of(probe.html_mark)) for probe in load.probes),
            console=(),
            page_url="",
            build=None,
        )
        for load in loads
    )


def to_bundle(case: Case) -> bytes:
    """The file's bytes: equal cases give equal ones."""
    return msgspec.json.format(to_json(case), indent=1) + b"\n"


def file_name(case: Case) -> str:
    """`cart_total-1a2b3c4d5e6f.json`: the charter's name, and a digest of its loads."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", case.charter.rpartition("::")[2]).strip("-") or "charter"
    digest = hashlib.sha256(b"\n".join(map(to_json, case.loads))).hexdigest()
    return f"{name[:60]}-{digest[:12]}.json"


def _case_in(file: Path) -> Case:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Case)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is no case of a corpus: {error}. Add it again from its run.") from error


class _Ordinals:
    """Numbers from 1, one for each text in the order in which they are met."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, text: str | None) -> str | None:
        return None if text is None else self._known.setdefault(text, str(len(self._known) + 1))


def _only(names: Collection[str], headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() in names}


def _check(view: InvestigationView) -> None:
    run = view.run
    if run.agent != "careful":
        raise UsageError(f"{view.name} is a claim of the {run.agent} agent: add a careful run instead.")
    if run.state not in {State.DONE, State.FAILED}:
        raise UsageError(f"{view.name} is {run.state}, it came to no end: add another run of {view.q}.")
    if run.reason is Reason.HARNESS_ERROR:
        raise UsageError(f"{view.name} was stopped by our own failure: add another run of {view.q}.")
    if not view.loads or [load.number for load in view.loads] != list(range(1, len(view.loads) + 1)):
        raise UsageError(f"Not all loads of {view.name} can be read: add another run of {view.q}.")


def _check_decided(said: Said, view: InvestigationView) -> None:
    """Of what the rules do not decide, no verdict can be right or wrong."""
    if isinstance(said, LoadAgain):
        raise UsageError(
            f"The rules of this version need another load after those of {view.name} ({said.why}): "
            f"add another run of {view.q}."
        )
    if said.reason is Reason.HARNESS_ERROR:
        raise UsageError(
            f"A load of {view.name} was stopped by our own failure: add another run of {view.q}."
        )


def _agreed(said: Said) -> Agreed | None:
    if isinstance(said, LoadAgain):
        return None
    return Agreed(rule=said.rule, causes=tuple(sorted({cause.kind for cause in said.causes})))


def _grounds(agreed: Agreed | None) -> str:
    """`blocked twice (network, status)`."""
    if agreed is None:
        return "nothing"
    return f"{agreed.rule} ({', '.join(agreed.causes) or 'no cause'})"


def _redacted(case: Case, redactor: Redactor) -> Case:
    """Redacted once more, by the settings of today."""
    data = redactor.redact(to_json(case), "application/json")
    try:
        return msgspec.json.decode(data, type=Case)
    except msgspec.ValidationError as error:
        raise UsageError(f"Redacted, this run is no record any more ({error}): nothing was added.") from error


def _hold_to(full: Said, small: Said, name: str) -> None:
    if gist(full) == gist(small):
        return
    raise UsageError(
        f"{name} cannot be made small: the rules say {_told(full)} of its full record, and {_told(small)} of "
        "the small one. Nothing was added."
    )


def _told(said: Said) -> str:
    return f"{verdict_of(said)} ({said.rule})" if isinstance(said, Judgement) else verdict_of(said)
