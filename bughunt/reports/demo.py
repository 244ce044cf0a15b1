"""The demo's table: known scenarios, what is true of each, and what each agent said."""

from __future__ import annotations

from msgspec import Struct

from bughunt.verdict.judgement import Cause, Verdict

__all__ = ["AgentCounts", "DemoRow", "DemoTable"]


class AgentCounts(Struct, frozen=True, kw_only=True):
    """How often each agent was wrong in one way."""

    naive: int
    careful: int


class DemoRow(Struct, frozen=True, kw_only=True):
    """One scenario and the two agents' answers."""

    scenario: str
    """`reset, once`"""
    truth: Verdict
    """What a right answer is."""
    naive: Verdict | None
    """What the naive agent claimed; None: it came to no verdict."""
    careful: Verdict | None
    """The careful agent's verdict; None: it came to none."""
    loads: int
    """The careful agent's, without confirmations."""
    confirmations: int = 0
    causes: tuple[Cause, ...] = ()
    """The careful agent's."""

    @property
    def loads_in_words(self) -> str:
        """`2`, or `1 (+1)` with confirmations."""
        return f"{self.loads}" + (f" (+{self.confirmations})" if self.confirmations else "")


class DemoTable(Struct, frozen=True, kw_only=True):
    """All scenarios. What the agents got wrong follows from the rows."""

    rows: tuple[DemoRow, ...]

    @property
    def false_bugs(self) -> AgentCounts:
        """BUG was said where there is none."""
        return AgentCounts(
            naive=sum(_invented(row.truth, row.naive) for row in self.rows),
            careful=sum(_invented(row.truth, row.careful) for row in self.rows),
        )

    @property
    def missed_bugs(self) -> AgentCounts:
        """PASS was said where there is a bug. ENV_ERROR leaves the question open: it misses nothing."""
        return AgentCounts(
            naive=sum(_missed(row.truth, row.naive) for row in self.rows),
            careful=sum(_missed(row.truth, row.careful) for row in self.rows),
        )

    @property
    def sentence(self) -> str:
        """What the agents got wrong, in one line."""
        false, missed = self.false_bugs, self.missed_bugs
        return (
            f"False BUG reports: naive {false.naive}, careful {false.careful}. "
            f"Missed bugs: naive {missed.naive}, careful {missed.careful}."
        )


def _invented(truth: Verdict, said: Verdict | None) -> bool:
    return said is Verdict.BUG and truth is not Verdict.BUG


def _missed(truth: Verdict, said: Verdict | None) -> bool:
    return truth is Verdict.BUG and said is Verdict.PASS
