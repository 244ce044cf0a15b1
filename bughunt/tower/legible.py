"""Text as any database keeps it, and whether a person could see anything in it."""

from __future__ import annotations

import re

__all__ = ["READABLE_FORM", "TIME_FORM", "is_readable", "storable"]

_UNSEEN = (
    *((1, 32), (127, 160), 173, 847, 1564, (4447, 4448), 5760, (6068, 6069), (6155, 6159)),
    *((8192, 8207), (8232, 8239), (8287, 8303), 10240, 12288, 12644, (65024, 65039), 65279, 65440),
    *((65520, 65531), (113824, 113827), (119155, 119162), (917504, 921599)),
)
"""What `readable` of guards/*/form.sql does not count: a test holds the two to the same signs."""

_SEEN = re.compile(
    "[^\0" + "".join(chr(x) if isinstance(x, int) else f"{chr(x[0])}-{chr(x[1])}" for x in _UNSEEN) + "]"
)


_HALVES = re.compile("[\ud800-\udfff]")


READABLE_FORM = (
    "*[^" + "".join(chr(x) if isinstance(x, int) else f"{chr(x[0])}-{chr(x[1])}" for x in _UNSEEN) + "]*"
)
"""The same for SQLite's GLOB: `form.readable`."""

TIME_FORM = "____-__-__T__:__:__.______Z".replace("_", "[0-9]")
"""How a time is kept, for GLOB: `form.time`."""


def is_readable(text: str) -> bool:
    """Whether it has a sign that a person could see."""
    return _SEEN.search(text) is not None


def storable(text: str) -> str:
    """The text without what no database keeps: a NUL is shown as one, half of a pair as U+FFFD."""
    return _HALVES.sub("\ufffd", text.replace("\0", "\u2400"))
