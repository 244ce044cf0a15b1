"""Texts from pages, charters and records, made fit to be shown: cleaned, shortened, put into words.

What a page says about itself may hold anything: NUL, lone surrogates, signs that turn the reading direction
of what follows, megabytes. No report lets those through.
"""

from __future__ import annotations

import re
from datetime import datetime
from urllib.parse import urlsplit

__all__ = ["clean", "clip", "counted", "one_line", "place", "seconds", "size", "when"]

#: Controls (but for tab, newline and return), surrogates, non-characters, overrides of the reading direction.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
_SPACES = re.compile(r"\s+")


def clean(text: str) -> str:
    """The text with U+FFFD for each sign that XML forbids, UTF-8 cannot hold or that misleads a reader."""
    return _UNFIT.sub("\ufffd", text)


def clip(text: str, limit: int) -> str:
    """The text, cut after `limit` signs with a note of how many there were."""
    return text if len(text) <= limit else f"{text[:limit]} … ({len(text):,} characters in all)"


def one_line(text: str, limit: int = 300) -> str:
    """The text cleaned, on one line, cut after `limit` signs."""
    line = _SPACES.sub(" ", clean(text[: 4 * limit])).strip()
    return line if len(line) <= limit else f"{line[:limit]}…"


def place(url: str, base_url: str) -> str:
    """What a tester calls a URL: without its origin where that is the target's own."""
    try:
        parts, base = urlsplit(url), urlsplit(base_url)
    except ValueError:
        return url
    if not parts.netloc:
        return url
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return path if parts.netloc == base.netloc else parts.netloc + path


def seconds(duration: float) -> str:
    """A duration in words: 5.0 s, 80 ms, 2 min 5 s."""
    if duration >= 120:
        return f"{int(duration // 60)} min {duration % 60:.0f} s"
    if duration >= 0.9995:
        return f"{duration:.1f} s"
    return f"{max(duration, 0.0) * 1000:.0f} ms"


def size(count: int) -> str:
    """A number of bytes in words: 812 B, 1.4 kB, 2.0 MB."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def when(moment: datetime | None) -> str:
    """A moment as people write it; a dash where there was none."""
    return "–" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S %Z}".strip()


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """`1 load`, `2 loads`."""
    return f"{count} {singular if count == 1 else plural or singular + 's'}"
