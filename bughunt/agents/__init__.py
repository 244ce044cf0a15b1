"""Agents: how loads are taken until something may be said."""

from bughunt.agents.careful import careful
from bughunt.agents.naive import naive
from bughunt.agents.protocol import Agent, Sleep, TakeLoad

__all__ = ["AGENTS", "Agent", "Sleep", "TakeLoad", "careful", "naive"]

#: The agents by the names that the command line knows.
AGENTS: dict[str, Agent] = {"careful": careful, "naive": naive}
