"""Secrets in JSON, found and replaced in the text itself.

Nothing is decoded and encoded again, so what is no secret stays as it was to the byte, a valid document
stays valid, and JSON lines need no special case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from bughunt.tower.sensitive import REPLACEMENT, Meet, Names, bare
from bughunt.verdict.judgement import CauseKind, Ending, Level, Reason, State, Verdict
from bughunt.verdict.record import FailureKind

__all__ = ["redacted_json"]

_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?|[\[\]{}]|[^\s\[\]{},:"]++', re.DOTALL)
_QUOTED = json.dumps(REPLACEMENT)
_LABELS = ("name", "key", "header")
_FIELD_LABELS = ("selector", "target", "type")
_VALUES = ("value", "text", "__playwright_value_")
_COOKIE_FACTS = frozenset({"name", "domain", "path", "expires", "httpOnly", "secure", "sameSite", "size"})

_ENUMS: tuple[type[StrEnum], ...] = (CauseKind, Ending, FailureKind, Level, Reason, State, Verdict)
_OWN_WORDS = frozenset(str(word) for enum in _ENUMS for word in enum)
_ENDINGS = frozenset(map(str, Ending))
_OWN_KEYS = frozenset({"kind", "ending", "level", "reason", "state", "verdict"})
"""Under these keys our own words stay, though one be somebody's password: records must stay readable."""


class _Frame:
    """An object or array that is open while the scan passes through it."""

    __slots__ = ("cookies", "headers", "hidden", "key", "query", "secret_key", "tells", "values", "verdict")

    def __init__(
        self, *, hidden: bool = False, headers: bool = False, cookies: bool = False, query: bool = False
    ) -> None:
        self.hidden = hidden
        """Whether all in it is secret."""
        self.headers = headers
        self.cookies = cookies
        self.query = query
        """Whether the names in it are those of URL parameters."""
        self.verdict = False
        """Whether it says how a load ended: then its signature is a mismatch's, and no secret."""
        self.key: str | None = None
        self.secret_key = False
        self.tells = False
        """Whether it is a name and a value, and the name says that the value is a secret."""
        self.values: list[tuple[int, int]] = []

    def within(self) -> _Frame:
        """The frame for what opens under the present key."""
        key = (self.key or "").lower()
        return _Frame(
            hidden=self.hidden or self.secret_key,
            headers=self.headers or key.endswith("headers"),
            cookies=self.cookies or key == "cookies",
            query=self.query or key == "querystring",
        )


class _Key(NamedTuple):
    """What is known of a key; the same few come again and again."""

    name: str
    field: bool
    header: bool
    clean: str


class _Scan:
    def __init__(self, text: str, names: Names, redacted: Callable[[str], str], meet: Meet) -> None:
        self.text = text
        self.meet = meet
        self.names = names
        self.redacted = redacted
        self.edits: dict[int, tuple[int, str]] = {}
        self.frames = [_Frame()]
        self.keys: dict[str, _Key] = {}

    def run(self) -> str:
        """The text with every secret replaced."""
        for token in _TOKEN.finditer(self.text):
            first = self.text[token.start()]
            if first == '"':
                if token[2] is None:
                    self._string(token)
                else:
                    self._key(token)
            elif first in "{[":
                self.frames.append(self.frames[-1].within())
            elif first in "}]":
                self._close()
            elif first in "-0123456789":
                self._value(token, "0")
        return self._edited()

    def _key(self, token: re.Match[str]) -> None:
        known = self.keys.get(token[1])
        if known is None:
            known = self.keys[token[1]] = self._judged(_content(token[1]))
        frame = self.frames[-1]
        frame.key = known.name
        frame.secret_key = known.field or (frame.headers and known.header)
        if frame.verdict and known.name == "signature":
            frame.secret_key = False
        if known.clean != known.name:
            self.edits[token.start()] = (token.end(1) + 1, json.dumps(known.clean))

    def _judged(self, name: str) -> _Key:
        """A plain word as a key is a field of somebody's format, whatever else it is."""
        clean = name if name.isidentifier() and name.islower() else self.redacted(name)
        return _Key(name, self.names.field(name), self.names.header(name), clean)

    def _string(self, token: re.Match[str]) -> None:
        raw = token[1]
        content = _content(raw)
        if self._value(token, content):
            return
        frame = self.frames[-1]
        if frame.key in _OWN_KEYS and content in _OWN_WORDS:
            frame.verdict = frame.verdict or (frame.key == "ending" and content in _ENDINGS)
            return
        clean = self.redacted(content)
        if clean != content:
            self.edits[token.start()] = (token.end(), json.dumps(clean, ensure_ascii=raw.isascii()))

    def _value(self, token: re.Match[str], content: str) -> bool:
        """Replace a string or number where its place makes it a secret; remember it where its name may."""
        frame = self.frames[-1]
        key = frame.key
        if content and (frame.hidden or frame.secret_key or (frame.cookies and key not in _COOKIE_FACTS)):
            self._hide(token.start(), token.end())
            if token[1] is not None and (frame.secret_key or (frame.hidden and key is None)):
                self.meet(bare(content))
            return True
        if key in _VALUES:
            frame.values.append((token.start(), token.end()))
        elif key in _LABELS:
            frame.tells = frame.tells or self._tells(frame, content)
        elif key in _FIELD_LABELS:
            frame.tells = frame.tells or self.names.field(content.strip("\"'[](){}#.$ "))
        return False

    def _tells(self, frame: _Frame, name: str) -> bool:
        known = self.names.parameter(name) if frame.query else self.names.field(name)
        return known or self.names.header(name)

    def _close(self) -> None:
        if len(self.frames) == 1:
            return
        frame = self.frames.pop()
        if frame.tells:
            for start, end in frame.values:
                if self.text[start:end] != '""':
                    self._hide(start, end)
                    if self.text[start] == '"':
                        self.meet(bare(_content(self.text[start + 1 : end - 1])))

    def _hide(self, start: int, end: int) -> None:
        self.edits[start] = (end, _QUOTED)

    def _edited(self) -> str:
        if not self.edits:
            return self.text
        parts, at = [], 0
        for start, (end, new) in sorted(self.edits.items()):
            parts += [self.text[at:start], new]
            at = end
        return "".join([*parts, self.text[at:]])


def _content(raw: str) -> str:
    """What a string token means; a broken escape means itself."""
    if "\\" not in raw:
        return raw
    try:
        return str(json.loads(f'"{raw}"', strict=False))
    except ValueError:
        return raw


def redacted_json(text: str, names: Names, redacted: Callable[[str], str], meet: Meet) -> str:
    """JSON text in which secrets are replaced: by the key above them, or in strings by `redacted`."""
    return _Scan(text, names, redacted, meet).run()
