"""Which names stand for secrets, and how secrets look in text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from urllib.parse import unquote

__all__ = ["REPLACEMENT", "Names", "redacted_text"]

REPLACEMENT = "[redacted]"

_HEADER_PARTS = ("authorization", "cookie", "token", "secret", "apikey", "session", "csrf", "xsrf", "passw")
_FIELD_PARTS = ("password", "passwd", "passphrase", "csrf", "xsrf", "secretkey")
_FIELD_ENDS = (
    *("pwd", "token", "secret", "apikey", "accesskey", "privatekey", "signingkey", "authorization"),
    *("cookie", "sessionid", "sessid", "sessionkey", "jwt", "bearer"),
)
_WORDS = (
    *("passw", "passphrase", "pwd", "token", "secret", "authoriz", "cookie", "sess", "csrf", "xsrf", "jwt"),
    *("bearer", "basic", "eyj", "@"),
    *(f"{which}{sep}key" for which in ("api", "access", "private", "signing") for sep in ("", *"-_. ")),
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
        return [word for word in self.words if word in small]

    def field(self, name: str) -> bool:
        """Whether a JSON key, form field or URL parameter of this name holds a secret."""
        known = self._fields.get(name)
        if known is None:
            plain = _plain(name)
            known = (
                plain in self._added
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
            known = plain in self._added or any(part in plain for part in _HEADER_PARTS)
            _remember(self._headers, name, known)
        return known


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


def redacted_text(text: str, names: Names) -> str:
    """The text without what its names or its look give away as a secret."""
    if not names.words_in(text):
        return text
    # A URL with brackets in its authority is no URL any more.
    text = _USERINFO.sub(r"\1redacted@", text)
    text = _TAG.sub(lambda tag: _tag(tag[0], names), text)
    text = _PARAMETER.sub(_where(lambda m: names.field(unquote(m[1])), r"\1=[redacted]"), text)
    text = _PAIR.sub(_where(lambda m: names.field(m[2]) and m[5] != "", r"\1\2\1\3\4[redacted]\4"), text)
    text = _LINE.sub(_where(lambda m: _heads_line(m[2], names), r"\1\2\3[redacted]"), text)
    text = _FIELD.sub(_where(lambda m: names.field(m[2]), r"\1[redacted]"), text)
    text = _SCHEME.sub(r"\1\2[redacted]", text)
    return _JWT.sub(REPLACEMENT, text)


def _heads_line(name: str, names: Names) -> bool:
    return names.field(name) or ("-" in name and names.header(name))


def _where(holds: Callable[[re.Match[str]], bool], template: str) -> Callable[[re.Match[str]], str]:
    return lambda found: found.expand(template) if holds(found) else found[0]


def _tag(tag: str, names: Names) -> str:
    """A form field or meta element without its value, where its name or type makes that a secret."""
    attributes = {found[2].lower(): found[4][1:-1] for found in _ATTRIBUTE.finditer(tag)}
    label = attributes.get("name", "")
    if attributes.get("type", "").lower() != "password" and not names.field(label):
        return tag
    return _ATTRIBUTE.sub(
        _where(lambda m: m[2].lower() in ("value", "content") and len(m[4]) > 2, r'\1\2\3"[redacted]"'), tag
    )
