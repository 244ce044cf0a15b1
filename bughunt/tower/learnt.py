"""Secrets that were met while looking: cookie values, what was typed into a password field."""

from __future__ import annotations

import base64
import html
import json
import re
from threading import Lock
from urllib.parse import quote, quote_plus

from bughunt.tower.sensitive import REPLACEMENT

__all__ = ["ORDINARY", "SHORTEST", "Learnt"]

SHORTEST = 4
"""A shorter value is everywhere by chance."""

_SHORTEST_MET = 12
"""A shorter value under a telling name may be a word that means no harm elsewhere."""

_MOST_MET = 250
"""A page with thousands of tokens must not make every later search slow; each is hidden in its place."""

_SHORTEST_CORE = 5
_SHORTEST_IN_BINARY = 6
ORDINARY = frozenset({"true", "false", "null", "none", "undefined", "http", "https"})
"""Cookies hold such words, and no secret is among them."""

# `"auth": "https://..."` or `"/api/session"`: hidden elsewhere too, it would spoil the URLs of a record.
_PLACE = re.compile(r"[a-z][a-z0-9+.-]*://.*|\.{0,2}(?:/[a-z._-]*)+", re.DOTALL)
_AUTHORITY = re.compile(r"(://[^\s/?#\"'<>]*?)\[redacted\]")


class Learnt:
    """Values to find in any text, in the forms that they take on their way. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._values: frozenset[str] = frozenset()
        self._met = 0
        self._forms: tuple[str, ...] = ()

    def add(self, value: str) -> None:
        """Remember a secret."""
        if len(value) < SHORTEST or value.lower() in ORDINARY or value in REPLACEMENT:
            return
        with self._lock:
            if value in self._values:
                return
            self._values |= {value}
            forms = {form for form in _forms_of(value) if form not in REPLACEMENT}
            self._forms = tuple(sorted(forms.union(self._forms), key=lambda form: (-len(form), form)))

    def meet(self, value: str) -> None:
        """Remember a value that a telling name stood above, if it is one that only a secret would be."""
        if len(value) < _SHORTEST_MET or self._met >= _MOST_MET or value in self._values:
            return
        if REPLACEMENT in value or _PLACE.fullmatch(value):
            return
        self._met += 1
        self.add(value)

    @property
    def forms(self) -> tuple[str, ...]:
        """All that is looked for, the longest first."""
        return self._forms

    def forms_in(self, text: str) -> list[str]:
        """What of it stands in the text as it is."""
        return [form for form in self._forms if form in text]

    def replaced(self, text: str) -> str:
        """The text without them. What was replaced before is left alone, also where a value overlaps it."""
        found = self.forms_in(text)
        if not found:
            return text
        pattern = re.compile("|".join(map(re.escape, found)))
        parts = [pattern.sub(REPLACEMENT, part) for part in text.split(REPLACEMENT)]
        return _with_readable_urls(REPLACEMENT.join(parts))

    def blotted(self, data: bytes) -> bytes:
        """Bytes of no known form without them, the length kept, so that most formats stay readable."""
        for form in (form.encode("utf-8", "surrogatepass") for form in self._forms):
            if len(form) >= _SHORTEST_IN_BINARY and form in data:
                data = data.replace(form, b"*" * len(form))
        return data


def _with_readable_urls(text: str) -> str:
    """Brackets in a URL's authority mean an IPv6 address."""
    while (readable := _AUTHORITY.sub(r"\1redacted", text)) != text:
        text = readable
    return text


def _forms_of(value: str) -> set[str]:
    percent = {quote(value, safe="", errors="replace"), quote(value, errors="replace")}
    percent.add(quote_plus(value, errors="replace"))
    forms = {value, html.escape(value), json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    forms |= percent | {re.sub("%..", lambda code: code[0].lower(), form) for form in percent}
    return forms | _base64_cores(value.encode("utf-8", "replace"))


def _base64_cores(data: bytes) -> set[str]:
    """What base64 makes of the value wherever it starts, without the signs that its neighbours share."""
    cores = set()
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + data).decode().rstrip("=")
        whole = (offset + len(data)) * 8 // 6
        core = encoded[-(-offset * 8 // 6) : whole]
        if len(core) >= _SHORTEST_CORE:
            cores |= {core, core.replace("+", "-").replace("/", "_")}
    return cores
