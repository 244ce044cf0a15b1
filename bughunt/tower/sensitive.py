"""Which names stand for secrets, and how secrets look in text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from urllib.parse import unquote

__all__ = ["REPLACEMENT", "Meet", "Names", "bare", "redacted_text"]

REPLACEMENT = "[redacted]"

_HEADER_PARTS = ("authorization", "cookie", "token", "secret", "apikey", "session", "csrf", "xsrf", "passw")
_HEADER_WORD = re.compile(r"(?<![a-z0-9])auth(?![a-z0-9])", re.IGNORECASE)
_FIELD_PARTS = ("password", "passwd", "passphrase", "csrf", "xsrf", "secretkey")
_FIELD_ENDS = (
    *("pwd", "token", "secret", "apikey", "accesskey", "privatekey", "signingkey", "authorization"),
    *("cookie", "sessionid", "sessid", "sessionkey", "jwt", "bearer", "signature"),
)
_FIELDS = frozenset({"session", "sid", "ticket", "sig", "auth", "otp", "pin"})
"""As they stand: much else ends in these."""
_PARAMETERS = frozenset({"code"})
"""Secrets in a URL only, where OAuth puts them."""
_SHORT_WORDS = tuple(f"{name}{sep}" for name in sorted(_FIELDS - {"session"}) for sep in "=:\"'\\")
_WORDS = (
    *("passw", "passphrase", "pwd", "token", "secret", "authoriz", "cookie", "sess", "csrf", "xsrf", "jwt"),
    *("bearer", "basic", "eyj", "@"),
    *(f"{which}{sep}key" for which in ("api", "access", "private", "signing") for sep in ("", *"-_. ")),
    *("signature", "-auth", "auth-"),
    *_SHORT_WORDS,
    *(f"{sep}{name}=" for name in sorted(_PARAMETERS) for sep in "?&#;"),
)
"""Whatever is a secret by name or look has one of these near it, in small letters."""

_SEPARATORS = str.maketrans("", "", "-_. ")


def _plain(name: str) -> str:
    return name.lower().translate(_SEPARATORS)


class Names:
    """The names whose values are secrets: ours, and those that the settings add."""

    def __init__(self, added: Iterable[str] = ()) -> None:
        added = list(added)
        self._added = frozenset(plain for plain in map(_plain, added) if plain)
        self._fields: dict[str, bool] = {}
        self._headers: dict[str, bool] = {}
        self.words = (*_WORDS, *(max(re.split(r"[-_. ]", name.lower()), key=len) for name in added if name))

    def words_in(self, text: str) -> list[str]:
        """The words found in the text; none: nothing in it is a secret by name or look."""
        small = text.lower()
        found = [word for word in self.words if word in small]
        # JSON in a string has other signs after its names than the same on its own.
        return [*found, *_SHORT_WORDS] if any(word in found for word in _SHORT_WORDS) else found

    def field(self, name: str) -> bool:
        """Whether a JSON key, form field or URL parameter of this name holds a secret."""
        known = self._fields.get(name)
        if known is None:
            plain = _plain(name)
            known = (
                plain in self._added
                or plain in _FIELDS
                or plain.endswith(_FIELD_ENDS)
                or any(part in plain for part in _FIELD_PARTS)
            )
            _remember(self._fields, name, known)
        return known

    def header(self, name: str) -> bool:
        """Whether a header or cookie of this name holds a secret; broader, since headers are few."""
        known = self._headers.get(name)
        if known is None:
            plain = _plain(name)
            known = (
                plain in self._added
                or any(part in plain for part in _HEADER_PARTS)
                or _HEADER_WORD.search(name) is not None
            )
            _remember(self._headers, name, known)
        return known

    def parameter(self, name: str) -> bool:
        """Whether a parameter of this name, in a URL for sure, holds a secret."""
        return self.field(name) or _plain(name) in _PARAMETERS


def _remember(cache: dict[str, bool], name: str, known: bool) -> None:
    if len(cache) < 10_000:  # names come from pages: they may be without end
        cache[name] = known


# `name=value` of a query, a fragment, a form or a cookie.
_PARAMETER = re.compile(r"(?<![^\s?&;#\"'(<,{\[])([A-Za-z_][\w.%-]{0,80})=([^&#;\s\"'<>\\]+)")
# A header, or a field of YAML, on a line of its own.
_LINE = re.compile(
    r"^([\t <>*-]{0,20})([A-Za-z][\w-]{0,60})([ \t]{0,8}:[ \t]{0,8})(\S[^\r\n]*)", re.MULTILINE
)
# "name": "value", 'name': 'value', name: 'value'.
_PAIR = re.compile(r"""(["']?)([A-Za-z_][\w-]{0,60})\1(\s{0,8}:\s{0,8})(["'])((?:(?!\4)[^\\\n]|\\.)*+)\4""")
# What an aria snapshot shows of a field: - textbox "Password": hunter2
_FIELD = re.compile(r"^([ \t]*-[ \t]*textbox[ \t]+\"([^\"\n]*)\"[^:\n]*:[ \t]*)(\S[^\r\n]*)", re.MULTILINE)
_USERINFO = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]{0,30}://)[^\s/?#@\"'<>\\]+@")
_SCHEME = re.compile(r"\b(bearer|basic)(\s+)(?=[^\s\"']*[0-9=])[A-Za-z0-9._~+/=-]{16,}", re.IGNORECASE)
_JWT = re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")
_TAG = re.compile(r"<(?:input|meta)\b[^<>]{0,2000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(\s)([a-z-]+)(\s*=\s*)(\"[^\"]*\"|'[^']*')", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(?:bearer|basic|token)\s+(\S+)", re.IGNORECASE)

Meet = Callable[[str], None]
"""Told of each value that is hidden by its name."""


def bare(value: str) -> str:
    """What a header's or field's value says, without quotes and without a scheme before credentials."""
    value = value.strip().strip("\"'")
    scheme = _CREDENTIALS.fullmatch(value)
    return scheme[1] if scheme else value


def redacted_text(text: str, names: Names, meet: Meet) -> str:
    """The text without what its names or its look give away as a secret."""
    if not names.words_in(text):
        return text
    # A URL with brackets in its authority is no URL any more.
    text = _USERINFO.sub(r"\1redacted@", text)
    text = _TAG.sub(lambda tag: _tag(tag[0], names, meet), text)
    text = _PARAMETER.sub(
        _where(lambda m: _parameter(m, names), r"\1=[redacted]", lambda m: meet(unquote(m[2]))), text
    )
    text = _PAIR.sub(
        _where(
            lambda m: names.field(m[2]) and m[5] != "",
            r"\1\2\1\3\4[redacted]\4",
            lambda m: meet(bare(m[5])),
        ),
        text,
    )
    text = _LINE.sub(
        _where(lambda m: _heads_line(m[2], names), r"\1\2\3[redacted]", lambda m: meet(bare(m[4]))), text
    )
    text = _FIELD.sub(_where(lambda m: names.field(m[2]), r"\1[redacted]", lambda m: meet(bare(m[3]))), text)
    text = _SCHEME.sub(r"\1\2[redacted]", text)
    return _JWT.sub(REPLACEMENT, text)


def _heads_line(name: str, names: Names) -> bool:
    return names.field(name) or ("-" in name and names.header(name))


def _parameter(found: re.Match[str], names: Names) -> bool:
    name = unquote(found[1])
    before = found.string[found.start() - 1 : found.start()]
    return names.parameter(name) if before and before in "?&#;" else names.field(name)


def _where(
    holds: Callable[[re.Match[str]], bool], template: str, told: Callable[[re.Match[str]], None] | None = None
) -> Callable[[re.Match[str]], str]:
    def replaced(found: re.Match[str]) -> str:
        if not holds(found):
            return found[0]
        if told is not None:
            told(found)
        return found.expand(template)

    return replaced


def _tag(tag: str, names: Names, meet: Meet) -> str:
    """A form field or meta element without its value, where its name or type makes that a secret."""
    attributes = {found[2].lower(): found[4][1:-1] for found in _ATTRIBUTE.finditer(tag)}
    label = attributes.get("name", "")
    if attributes.get("type", "").lower() != "password" and not names.field(label):
        return tag
    return _ATTRIBUTE.sub(
        _where(
            lambda m: m[2].lower() in ("value", "content") and len(m[4]) > 2,
            r'\1\2\3"[redacted]"',
            lambda m: meet(html.unescape(m[4][1:-1])),
        ),
        tag,
    )
