"""Hints for a word that is not known."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` was probably meant to be, or None.

    The browser's own way to write an error (`net::ERR_CONNECTION_RESET`) and signs between the parts
    of a word are looked through.
    """
    plain_words = {_plain(candidate): candidate for candidate in known}
    close = difflib.get_close_matches(_plain(word), plain_words, n=1)
    return plain_words[close[0]] if close else None


def hint(word: str, known: Iterable[str]) -> str:
    """`did you mean 'times'?`, or the list of what is known where nothing is near."""
    words = sorted(known)
    meant = nearest(word, words)
    return f"did you mean {meant!r}?" if meant else f"known are {', '.join(words)}"


def _plain(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", re.sub(r"^(net::)?err_", "", word.lower()))
