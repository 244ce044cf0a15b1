"""URL patterns with the meaning that Playwright's globs have, and two things that testers expect.

`*` stands for anything but `/`, `**` for anything, `{a,b}` for a or b, a backslash takes the next sign
literally. `?` and `[` are literal. What Playwright's own globs do not do:

- a pattern that starts neither with `*` nor with a scheme is a path from the root of any origin:
  `/api/cart` matches `http://shop.test/api/cart`;
- a pattern without `?` matches whatever the query is: `**/api/cart` matches `/api/cart?page=2` too.

No fragment ever counts: none reaches a server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import quote

_PART = re.compile(r"\\.|\*\*+/?|.", re.DOTALL)
_SPECIAL = frozenset("$^+.*()|\\?{}[]")
_ANY_ORIGIN = "[^/?#]+://[^/?#]*"
_HOST_AND_PORT = re.compile(r"[\w.-]+:\d+(/|$)")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|[^/]*://", re.IGNORECASE)
_ORIGIN = re.compile(r"[^/]*://[^/?#]*")
_DEFAULT_PORT = re.compile(r"(?<=^http)(://.*):80$|(?<=^https)(://.*):443$")


class PatternError(ValueError):
    """A URL pattern that cannot be understood. The message says what to write instead."""


def matches(pattern: str, url: str) -> bool:
    """Whether the absolute `url` is one that `pattern` means.

    Raises:
        PatternError: `pattern` is empty or has an unbalanced brace.
    """
    regex = compiled(pattern)
    return any(regex.fullmatch(candidate) for candidate in _candidates(pattern, url))


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """`pattern` as a regular expression for a whole URL; raises PatternError."""
    return re.compile(_source(pattern))


def union(patterns: Iterable[str]) -> re.Pattern[str]:
    """One expression that finds every URL which any of `patterns` matches, and hardly any other.

    It is a sieve: ask `matches` about what it lets through. JavaScript reads it the same way, so that
    Playwright can sieve outside of Python. Raises PatternError.
    """
    sources = "|".join(compiled(pattern).pattern for pattern in dict.fromkeys(patterns))
    return re.compile(f"^(?:{sources})(?:[?#].*)?$")


def _candidates(pattern: str, url: str) -> Iterator[str]:
    yield url
    without_fragment = url.partition("#")[0]
    yield without_fragment
    if "?" not in pattern:
        yield without_fragment.partition("?")[0]


def _source(pattern: str) -> str:
    if not pattern:
        raise PatternError("the URL pattern is empty: write for example **/api/cart")
    if pattern != pattern.strip() or not pattern.isprintable():
        raise PatternError(
            f"the URL pattern {pattern!r} has blanks around it or unprintable signs: remove them"
        )
    if _HOST_AND_PORT.match(pattern):
        raise PatternError(f"the URL pattern {pattern!r} has a host but no scheme: write http://{pattern}")
    if pattern.startswith("*"):
        return _translated(pattern)
    if _SCHEME.match(pattern):
        return _translated(_with_plain_origin(pattern))
    return _ANY_ORIGIN + _translated(pattern if pattern.startswith(("/", "{/")) else f"/{pattern}")


def _with_plain_origin(pattern: str) -> str:
    """The origin as a browser writes it: small letters, no default port, `/` for no path."""
    found = _ORIGIN.match(pattern)
    if not found:
        return pattern
    rest = pattern[found.end() :]
    origin = _DEFAULT_PORT.sub(lambda port: port[1] or port[2], found[0].lower())
    has_path = rest.startswith("/") or found[0].endswith(("*", "}", "://"))
    return f"{origin}{'' if has_path else '/'}{rest}"


def _translated(glob: str) -> str:
    source: list[str] = []
    depth = 0
    before = ""
    for part in _PART.findall(glob):
        depth += {"{": 1, "}": -1}.get(part, 0)
        if depth not in (0, 1):
            raise PatternError(
                f"the URL pattern {glob!r} has a brace too many: write for example **/{{a,b}}/*"
            )
        source.append(_part_source(part, before=before, in_group=depth == 1))
        before = part[-1]
    if depth:
        raise PatternError(f"the URL pattern {glob!r} has a '{{' without its '}}': close it, or write \\{{")
    return "".join(source)


def _part_source(part: str, *, before: str, in_group: bool) -> str:
    if part.startswith("**"):
        return _double_star(part, before)
    if part == "," and in_group:
        return "|"
    signs = {"*": "[^/]*", "{": "(?:", "}": ")"}
    return signs.get(part) or _literal(part[-1])


def _double_star(part: str, before: str) -> str:
    """`/**/` also stands for a single `/`."""
    if not part.endswith("/"):
        return ".*"
    return "(?:.+/|)" if before == "/" else ".*/"


def _literal(sign: str) -> str:
    """`sign` itself; what a browser escapes in a URL is found in either form."""
    if sign == " " or not sign.isascii():
        return f"(?:{sign}|{quote(sign)})"
    return f"\\{sign}" if sign in _SPECIAL else sign
