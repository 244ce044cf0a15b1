"""Taking secrets out of evidence before it is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import TypeVar

import msgspec

from bughunt.tower.actions import without_typing
from bughunt.tower.archives import rewritten
from bughunt.tower.learnt import Learnt
from bughunt.tower.scanning import redacted_json
from bughunt.tower.sensitive import Names, redacted_text

__all__ = ["Redactor"]

Given = TypeVar("Given", str, bytes)

_DEEPEST = 4
"""JSON in strings in JSON is looked into this far; then it counts as text."""

_PASSES = 4
"""What is learnt in one pass is taken out everywhere in the next; more find nothing but by malice."""

_JSON_ENDINGS = (".json", ".network", ".trace", ".stacks", ".har", ".jsonl")


class Redactor:
    """Replaces secrets by `[redacted]`: by their name, by their look, and those that it was told.

    What is hidden by its name is from then on known, and hidden elsewhere too, where it is twelve signs
    or longer.

    `headers` are further names of headers, fields and URL parameters, `values` secrets that are known
    beforehand. A value shorter than four signs is not looked for, nor one within a JSON number.
    """

    def __init__(self, headers: Iterable[str] = (), values: Iterable[str] = ()) -> None:
        self._names = Names(headers)
        self._learnt = Learnt()
        for value in values:
            self._learnt.add(value)

    def __repr__(self) -> str:
        return "Redactor(...)"  # what it knows is secret

    def learn(self, value: str) -> None:
        """Remember a secret met on the way: what is written from now on is without it."""
        self._learnt.add(value)

    def redact(self, data: bytes, media_type: str) -> bytes:
        """The data without secrets; the very same where there are none. Doing it again changes nothing."""
        return self._until_nothing_is_learnt(data, lambda data: self._once(data, media_type))

    def redact_text(self, text: str) -> str:
        """The text without secrets."""
        return self._until_nothing_is_learnt(text, self._plain)

    def _until_nothing_is_learnt(self, given: Given, once: Callable[[Given], Given]) -> Given:
        for _ in range(_PASSES):
            known = self._learnt.forms
            given = once(given)
            if self._learnt.forms is known:
                break
        return given

    def _once(self, data: bytes, media_type: str) -> bytes:
        kind = media_type.partition(";")[0].strip().lower()
        if kind.endswith(("/json", "+json", "/jsonl", "/x-ndjson")):
            return self._json(data)
        if kind.startswith("text/") or kind.endswith(
            ("+xml", "/xml", "/javascript", "/x-www-form-urlencoded")
        ):
            return self._text(data)
        if kind in ("application/zip", "application/x-zip-compressed"):
            packed = rewritten(data, self._entry)
            return self._learnt.blotted(data) if packed is None else packed
        return self._learnt.blotted(data)

    def _plain(self, text: str) -> str:
        return self._learnt.replaced(redacted_text(text, self._names, self._learnt.meet))

    def _json(self, data: bytes) -> bytes:
        text = data.decode("utf-8", "surrogateescape")
        if not self._suspect(text):
            return data
        return self._any_json(text).encode("utf-8", "surrogateescape")

    def _text(self, data: bytes) -> bytes:
        text = data.decode("utf-8", "surrogateescape")
        if not self._suspect(text):
            return data
        return self._string(text).encode("utf-8", "surrogateescape")

    def _suspect(self, text: str) -> bool:
        return _hides(text) or bool(self._names.words_in(text)) or bool(self._learnt.forms_in(text))

    def _any_json(self, text: str) -> str:
        """A JSON document, or JSON lines, or neither: then each line is text."""
        if _is_json(text):
            return self._document(text, _DEEPEST)
        if "\n" not in text.rstrip():
            return self._plain(text)
        return "\n".join(map(self._line, text.split("\n")))

    def _line(self, line: str) -> str:
        if not self._suspect(line):
            return line
        return self._document(line, _DEEPEST) if _is_json(line) else self._plain(line)

    def _document(self, text: str, depth: int) -> str:
        """Most strings of most documents hold nothing: look in each only for what is in the whole."""
        words = self._names.words if _hides(text) else self._names.words_in(text)
        forms = self._learnt.forms if "\\" in text else self._learnt.forms_in(text)

        def redacted(content: str) -> str:
            small = content.lower()
            for word in words:
                if word in small:
                    return self._string(content, depth - 1)
            for form in forms:
                if form in content:
                    return self._string(content, depth - 1)
            return content

        return redacted_json(text, self._names, redacted, self._learnt.meet)

    def _string(self, content: str, depth: int = _DEEPEST) -> str:
        if depth > 0 and content.lstrip()[:1] in ("{", "[") and _is_json(content):
            return self._document(content, depth)
        return self._plain(content)

    def _entry(self, name: str, data: bytes) -> bytes:
        suffix = PurePosixPath(name).suffix
        if suffix == ".trace":
            text = data.decode("utf-8", "surrogateescape")
            data = without_typing(text, self.learn).encode("utf-8", "surrogateescape")
        if suffix in _JSON_ENDINGS:
            return self._json(data)
        if b"\0" in data or not _is_utf8(data):
            return self._learnt.blotted(data)
        return self._text(data)


def _hides(text: str) -> bool:
    """Whether escapes may keep a name or a value from being seen."""
    return "\\u" in text or "\\/" in text


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (ValueError, RecursionError):
        return _is_lenient_json(text)
    return True


def _is_lenient_json(text: str) -> bool:
    """What Python reads as JSON: NaN, and half of a surrogate pair."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
