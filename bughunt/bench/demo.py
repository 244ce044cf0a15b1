"""The chapter's experiment: seven scenarios, a naive agent and a careful one, real browser runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec import Struct

from bughunt.bench import cart_charters
from bughunt.charters import Charter
from bughunt.investigation import Investigation
from bughunt.reports import DemoRow, DemoTable
from bughunt.settings import LoadSettings, Target
from bughunt.tower import InvestigationView
from bughunt.verdict.judgement import Verdict
from fault_routes import FaultPlan, parse_fault

__all__ = ["SCENARIOS", "Scenario", "investigations", "table"]

AGENTS = ("naive", "careful")


class Scenario(Struct, frozen=True, kw_only=True):
    """One row of the experiment."""

    name: str
    truth: Verdict
    buggy: bool = False
    faults: tuple[str, ...] = ()


SCENARIOS = (
    Scenario(name="healthy", truth=Verdict.PASS),
    Scenario(name="product bug", truth=Verdict.BUG, buggy=True),
    Scenario(name="reset, always", truth=Verdict.ENV_ERROR, faults=("reset@**/api/cart",)),
    Scenario(name="503, always", truth=Verdict.ENV_ERROR, faults=("503@**/api/cart",)),
    Scenario(name="slow 2 s, always", truth=Verdict.ENV_ERROR, faults=("slow@**/api/cart",)),
    Scenario(name="reset, once", truth=Verdict.PASS, faults=("reset_once@**/api/cart",)),
    Scenario(
        name="product bug + reset once", truth=Verdict.BUG, buggy=True, faults=("reset_once@**/api/cart",)
    ),
)


def investigations(base_url: str, loading: LoadSettings) -> list[Investigation]:
    """Each scenario under each agent, in the order of the table."""
    return [_investigation(s, agent, base_url, loading) for s in SCENARIOS for agent in AGENTS]


def _investigation(scenario: Scenario, agent: str, base_url: str, loading: LoadSettings) -> Investigation:
    return Investigation(
        charter=_charter(buggy=scenario.buggy),
        target=Target(name="cart", base_url=base_url),
        agent=agent,
        plan=FaultPlan(faults=tuple(parse_fault(spec) for spec in scenario.faults)),
        project="demo",
        loading=loading,
    )


def _charter(*, buggy: bool) -> Charter:
    chosen = cart_charters.cart_total_buggy if buggy else cart_charters.cart_total
    return replace(chosen, id=f"{cart_charters.__name__}::{chosen.name}")


def table(views: Sequence[InvestigationView]) -> DemoTable:
    """The table of the runs of `investigations`, in the same order."""
    triples = zip(SCENARIOS, views[::2], views[1::2], strict=True)
    return DemoTable(rows=tuple(_row(scenario, naive, careful) for scenario, naive, careful in triples))


def _row(scenario: Scenario, naive: InvestigationView, careful: InvestigationView) -> DemoRow:
    judged = careful.judgement
    return DemoRow(
        scenario=scenario.name,
        truth=scenario.truth,
        naive=naive.run.verdict,
        careful=careful.run.verdict,
        loads=judged.loads if judged else 0,
        confirmations=judged.confirmations if judged else 0,
        causes=judged.causes if judged else (),
    )
