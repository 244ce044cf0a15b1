"""What is tried on each application: a charter, how it may be broken, and what must be said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bughunt import Charter, Verdict
from tests.real_apps.running import App
from tests.servers.answers import Answer, Json, NeverAnswer, Reset
from tests.servers.rewriting import Break, Rewrite, Rule

BREAKAGES: dict[str, Answer] = {
    "503": Json({"reason": "down for maintenance"}, status=503),
    "reset": Reset(),
    "silent": NeverAnswer(),
}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One charter on one application."""

    app: App
    charter: Charter
    api: str
    """The URL pattern of what its answer comes from."""
    method: str
    bug: Rewrite
    """Seeds a bug on the way to the browser."""
    heals: frozenset[str] = frozenset()
    """After which of BREAKAGES the application itself asks again, so that one load is enough."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A trial under one rule of the proxy."""

    trial: Trial
    what: str
    rule: Rule | None
    verdict: Verdict
    recovered: bool = False

    @property
    def name(self) -> str:
        return f"{self.trial.app.name} {self.trial.charter.name} {self.what}"


def cases(trial: Trial) -> Iterator[Case]:
    yield Case(trial=trial, what="healthy", rule=None, verdict=Verdict.PASS)
    yield Case(trial=trial, what="bug", rule=trial.bug, verdict=Verdict.BUG)
    for what, answer in BREAKAGES.items():
        always = Break(pattern=trial.api, method=trial.method, answer=answer)
        yield Case(trial=trial, what=f"{what} always", rule=always, verdict=Verdict.ENV_ERROR)
        once = Break(pattern=trial.api, method=trial.method, answer=answer, times=1)
        yield Case(
            trial=trial,
            what=f"{what} once",
            rule=once,
            verdict=Verdict.PASS,
            recovered=what not in trial.heals,
        )
