"""What a message does: the marks of thanks, requests, facts, judgements and lists, in both languages.

They are what the classifier of `learning.py` weighs; alone none of them decides. `data/cues.toml` has them.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from pathlib import PurePath

from bughunt.tower.intake.text import Reading
from bughunt.tower.intake.values import Incoming

__all__ = ["marks_of"]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    file = resources.files("bughunt.tower.intake") / "data" / "cues.toml"
    cues = tomllib.loads(file.read_text(encoding="utf-8"))
    flags = re.IGNORECASE | re.MULTILINE
    return {name: re.compile("|".join(told), flags) for name, told in cues.items()}


_KINDS = {
    "seen": {".png", ".jpg", ".jpeg", ".gif", ".webp", ".mp4", ".mov", ".webm", ".avi"},
    "recorded": {".har", ".log", ".txt", ".zip", ".csv", ".xlsx", ".json", ".pdf", ".pcap", ".trace"},
}
_NAMES = re.compile(r"\b(?:Q|RUN)[- ]?\d{1,18}", re.IGNORECASE | re.ASCII)
_ORNAMENTS = re.compile(r"logo|signature|邀请|banner|icon", re.IGNORECASE)


def marks_of(message: Incoming, reading: Reading) -> dict[str, float]:
    """The marks of what a message does, each from 0 to about 3."""
    text = _NAMES.sub("Q", reading.text)  # a number of a Q is no build and no measured value
    found = {name: float(min(len(pattern.findall(text)), 3)) for name, pattern in _patterns().items()}
    names = [name for name in message.attachments if not _ORNAMENTS.search(name)]
    suffixes = {PurePath(name).suffix.lower() for name in names}
    found |= {f"file_{kind}": float(bool(suffixes & ends)) for kind, ends in _KINDS.items()}
    found["ends_asking"] = float(bool(re.search(r"[?？]\W*$|吗\W*$", text.strip())))
    found["short"] = float(len(reading.things) < 6)
    found["tiny"] = float(len(reading.things) < 3)
    found["long"] = float(len(text) > 300)
    found["targets"] = float(min(len(reading.targets), 3))
    found |= {
        f"from_{source}": float(message.source == source) for source in ("ci", "email", "issue", "schedule")
    }
    return found
