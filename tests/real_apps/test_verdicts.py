"""On web applications that nobody here wrote: PASS in health, BUG where it was seeded, else ENV_ERROR."""

from __future__ import annotations

import pytest

from tests.cases.looking import Looked, Looking
from tests.real_apps import jupyterlab, mitmweb, optuna_dashboard
from tests.real_apps.conftest import Start
from tests.real_apps.trying import Case, cases
from tests.servers.rewriting import RewritingProxy

pytestmark = pytest.mark.real_apps

CASES = [
    case for app in (optuna_dashboard, mitmweb, jupyterlab) for trial in app.TRIALS for case in cases(trial)
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
async def test_the_verdict_is_what_the_application_and_its_network_deserve(
    case: Case, look: Looking, start: Start
) -> None:
    rules = () if case.rule is None else (case.rule,)
    async with RewritingProxy(await start(case.trial.app), *rules) as proxy:
        looked = await look(proxy.url, case.trial.charter)
        assert [rule for rule in rules if not proxy.met(rule)] == []
    said = looked.judgement
    assert (said.verdict, said.recovered) == (case.verdict, case.recovered), _explained(looked)


def _explained(looked: Looked) -> str:
    """What was seen of each load, for whoever reads the failure."""
    lines = [cause.reason for cause in looked.judgement.causes]
    for record in looked.records:
        lines.append(f"load {record.number}, {record.ended:.1f} s: {record.failure}")
        lines += [
            f"  {x.started:.2f} {x.method} {x.url} {x.status} {x.failure}"
            for x in record.exchanges
            if x.failure or x.status is None or x.status >= 400
        ]
        lines += [f"  {x}" for x in record.sockets]
    return "\n".join(lines)
