"""The corpus: records of loads with their right verdict, small and without secrets, judged on every test run.

A bundle is one JSON file, named after its charter and a digest of its loads: the same evidence has one file,
and so one right verdict.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bughunt.exceptions import UsageError
from bughunt.rejudging import Said, gist
from bughunt.rejudging import judge as judge_as
from bughunt.tower import InvestigationView, Redactor
from bughunt.verdict.judgement import Judgement, Verdict
from bughunt.verdict.record import Exchange, LoadRecord, to_json
from bughunt.verdict.rules import RULES_VERSION, LoadAgain

__all__ = ["Case", "case_of", "file_name", "judge", "load_corpus", "shrunk", "to_bundle", "verdict_of"]

#: Headers that say what kind of request it was; all others may say who asked, and no rule reads them.
KEPT_REQUEST_HEADERS = frozenset(
    {
        *("accept", "content-type", "origin", "purpose", "sec-purpose", "upgrade"),
        *("sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site"),
        *("access-control-request-headers", "access-control-request-method"),
    }
)
#: Headers of answers that no rule reads, and that may say more than a file in a repository should.
DROPPED_RESPONSE_HEADERS = frozenset({"set-cookie", "set-cookie2", "server-timing", "nel", "report-to"})


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


def load_corpus(folder: Path) -> dict[str, Case]:
    """Every case of a folder by its file's name. Raises UsageError where a file is no case."""
    return {file.name: _case_in(file) for file in sorted(folder.glob("*.json"))}


def case_of(view: InvestigationView, verdict: Verdict | None, why: str, redactor: Redactor) -> Case:
    """The case that a stored run makes.

    Raises UsageError where the run has no loads, or was not the careful agent's, or where the rules say
    something else of the loads once they are small and redacted.
    """
    if view.run.agent != "careful":
        raise UsageError(f"{view.name} is a claim of the {view.run.agent} agent: add a careful run instead.")
    if not view.loads or [load.number for load in view.loads] != list(range(1, len(view.loads) + 1)):
        raise UsageError(f"Not all loads of {view.name} can be read: add another run of {view.q}.")
    case = Case(
        charter=view.question.key.charter,
        question=view.question.key.question,
        verdict=verdict,
        why=why,
        rules_version=RULES_VERSION,
        loads=tuple(map(shrunk, view.loads)),
    )
    redacted = _redacted(case, redactor)
    _hold_to(judge_as("careful", view.loads), judge(redacted), view.name)
    return redacted


def shrunk(load: LoadRecord) -> LoadRecord:
    """A load without what no rule reads."""
    exchanges = tuple(map(_without_content, load.exchanges))
    return replace(load, exchanges=exchanges, console=(), page_url="", build=None)


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


def _without_content(exchange: Exchange) -> Exchange:
    asked = {name: v for name, v in exchange.request_headers.items() if name.lower() in KEPT_REQUEST_HEADERS}
    told = {
        name: v
        for name, v in exchange.response_headers.items()
        if name.lower() not in DROPPED_RESPONSE_HEADERS
    }
    return replace(exchange, body=None, request_headers=asked, response_headers=told)


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
