"""What was typed, as a Playwright trace tells it: the actions in the JSON lines of its `*.trace` entries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from bughunt.tower.sensitive import REPLACEMENT

__all__ = ["without_typing"]

_SECRET_FIELD = re.compile(
    r"(?<![a-z])(?:password|passwd|pwd|passcode|secret|token|otp|pin)(?![a-z])", re.IGNORECASE
)
_WITHIN_A_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# A shortcut, or a key that types nothing: Enter, F5, Shift+Tab, Control+a.
_NAMED_KEY = re.compile(
    r"(?:(?:Control|Alt|Meta|ControlOrMeta)\+)(?:\w+\+)*.|(?:\w+\+)*(?!Key.$|Digit.$|Numpad.$)[A-Z]\w+"
)
_INTO_A_FIELD = frozenset({"fill", "type", "pressSequentially", "press"})
_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?|[\[\]{}]', re.DOTALL)


def without_typing(text: str, learn: Callable[[str], None]) -> str:
    """The JSON lines without what the keyboard typed, nor what was filled into fields that look secret.

    The latter is learnt too, since the page and the log repeat it.
    """
    if '"params"' not in text:
        return text
    return "\n".join(_line(line, learn) for line in text.split("\n"))


def _line(line: str, learn: Callable[[str], None]) -> str:
    if '"params"' not in line or '"method"' not in line:
        return line
    try:
        action = json.loads(line)
    except (ValueError, RecursionError):
        return line
    hidden = dict(_typed(action)) if isinstance(action, dict) else {}
    if not hidden:
        return line
    if not _by_keyboard(action):
        for value in hidden.values():
            learn(value)
    return _replaced(line, hidden)


def _typed(action: dict[str, Any]) -> Iterator[tuple[str, str]]:  # Any: JSON
    """The parameters that say what was typed."""
    params = action.get("params")
    if not isinstance(params, dict) or not (_by_keyboard(action) or _into_a_secret_field(action, params)):
        return
    for name in ("value", "text", "key"):
        value = params.get(name)
        if isinstance(value, str) and value and not (name == "key" and _NAMED_KEY.fullmatch(value)):
            yield name, value


def _by_keyboard(action: dict[str, Any]) -> bool:  # Any: JSON
    """Into which field, nobody knows. Traces call `keyboard.type` the Page's method `keyboardType`."""
    return action.get("class") == "Keyboard" or str(action.get("method")).startswith("keyboard")


def _into_a_secret_field(action: dict[str, Any], params: dict[str, Any]) -> bool:  # Any: JSON
    words = _WITHIN_A_WORD.sub(" ", str(params.get("selector", "")))
    return action.get("method") in _INTO_A_FIELD and _SECRET_FIELD.search(words) is not None


def _replaced(line: str, hidden: dict[str, str]) -> str:
    """The line, to the byte but for these values of its own `params`."""
    parts, at = [], 0
    path: list[str] = []
    key = ""
    for token in _TOKEN.finditer(line):
        if token[0] in "[{":
            path.append(key)
        elif token[0] in "]}":
            path.pop()
        elif token[2] is not None:
            key = token[1]
        elif path == ["", "params"] and key in hidden:
            parts += [line[at : token.start()], json.dumps(REPLACEMENT)]
            at = token.end()
    return "".join([*parts, line[at:]])
