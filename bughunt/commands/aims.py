"""What is looked at, and by whom, as options say it."""

from __future__ import annotations

from pathlib import Path

from bughunt.agents import AGENTS
from bughunt.exceptions import UsageError
from bughunt.settings import Settings, Target, target_at

__all__ = ["aim_of", "known_agent"]


def aim_of(settings: Settings, base_url: str | None, name: str | None) -> Target:
    """The target that `--base-url` or `--target` means. Raises UsageError unless it is one of them."""
    if (base_url is None) == (name is None):
        raise UsageError("Say which app to look at: one of --base-url URL and --target NAME.")
    target = target_at(base_url) if base_url is not None else settings.target(name or "")
    if target.storage_state is not None and not Path(target.storage_state).is_file():
        raise UsageError(
            f"The storage state {target.storage_state} is missing: sign in once and save it with "
            "context.storage_state(path=...)."
        )
    return target


def known_agent(name: str) -> str:
    """The name of an agent that there is. Raises UsageError."""
    if name not in AGENTS:
        raise UsageError(f"There is no agent {name}: choose {' or '.join(AGENTS)}.")
    return name
