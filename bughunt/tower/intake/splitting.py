"""Of how many questions a message consists: by its list, by its asking clauses, by its targets."""

from __future__ import annotations

import re

from bughunt.tower.intake.text import Reading, targets_in, things_in

__all__ = ["items_of", "parts_of", "scheduled"]

_ITEM = re.compile(
    r"(?:^|(?<=[\s：:；;，,。、]))[ \t]*"
    r"(?:[-*•][ \t]+|[(（]\d{1,2}[)）][ \t]*|\d{1,2}(?:[)）、]|\.(?=[ \t]))[ \t]*|[(（][a-h][)）][ \t]*"
    r"|[①-⑳][ \t]*|[一二三四五六七八]、|其[一二三四五六][，,])",
    re.MULTILINE,
)
_A_NOT_A = "[看行对好算发认给存变弹跳记收显]不[看行对好算发认给存变弹跳记收显]"
"""What Chinese asks by saying a word and its denial: 看不看."""
_ASKS = re.compile(
    rf"[?？]|会不会|能不能|是不是|有没有|能否|是否|可不可以|要不要|{_A_NOT_A}|到底|有无|几张|多少|哪个"
    r"|还是(?=[^不没少有那这老]{1,12}[？?，。]?$)|[吗么](?=[\s，。；;？?]|$)|\bwhether\b|\bworks or not\b"
    r"|^\W*(?:(?:and|n|or|so|then|also|but|hi|hello|hey|morning)\b\W*)*"
    r"(?:is|are|does|do|did|can|could|will|has|have|must|may)\b",
    re.IGNORECASE | re.MULTILINE,
)
_LISTED = re.compile(
    r"\b(?:check|find out|answers?|questions?|know|confirm|verify|list|please|cleared up|things|points)"
    r"|请|确认|检查|验证|核实|验收|回归|结论|看\s*\d|点[：:]|个(?:事|点|问题)",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"^\W*(?:[\w-]{2,16} ?[上里] ?)?"
    r"(?:(?:can|could|would) (?:u|you|somebody|someone|anybody)(?! \w+ \w+ \w+ \w+ \w+)"
    r"|holds or not|true or not|yes or no|right|rite|ok|or (?:doesn't|isn't|not)|does it(?: there)?|is it"
    r"|why|thoughts|any ideas?|do you know|would that be|对吗|对吧|行吗|可以吗|好吗|是吗|现在拦了没|真的"
    r"|(?:麻烦|帮|请)?(?:忙)?看(?:一?下|看|一眼))\b.{0,14}$",
    re.IGNORECASE,
)
_VERBS = "does|is|are|can|do|will|has"
_BREAK = re.compile(
    r"(?<=[?？])|[.!;。！；\n]+(?=\s|$|[^\d])|[,，]?\s*(?:还有|另外|顺便|以及|再有)|\s*[,，]\s*(?=(?:and|n)\b)"
    rf"|\band (?=(?:{_VERBS}|must|may|whether|one|the|a)\b)|\bn (?=(?:{_VERBS})\b)|[,:]\s*(?=(?:{_VERBS})\b)"
    rf"|[,，、](?=[^,，。]{{0,12}}(?:会不会|能不能|是不是|有没有|能否|是否|{_A_NOT_A}))",
    re.IGNORECASE,
)
_BOTH = re.compile(r"\bboth\b|\beach\b|\bon \S+ and on \S+|都|分别|各|两个环境", re.IGNORECASE)


def items_of(text: str) -> tuple[str, list[str], str]:
    """What stands before a list, its items, and what is said after it on lines of its own."""
    starts = list(_ITEM.finditer(text))
    if len(starts) < 2:
        return text, [], ""
    ends = [*(match.start() for match in starts[1:]), len(text)]
    items = [text[match.end() : end].strip(" \t\n;；，,、") for match, end in zip(starts, ends, strict=True)]
    last, _, after = items[-1].partition("\n")
    return text[: starts[0].start()], [*items[:-1], last], after.strip()


def parts_of(reading: Reading) -> list[str]:
    """The questions that a message asks, one by one, in its own words; one or none: it is no split."""
    before, items, after = items_of(reading.text)
    if items and not _is_way_to(before, items, after):
        return items
    asks = _asking(after if items and after else reading.text)
    if len(asks) < 2 and len(reading.targets) >= 2 and _BOTH.search(reading.text):
        return [f"[{target}] {reading.text}" for target in reading.targets]
    return asks


def _is_way_to(before: str, items: list[str], after: str) -> bool:
    """Whether a list tells the steps to one question, and asks nothing by itself."""
    asking = sum(bool(_ASKS.search(item)) for item in items)
    if asking * 2 >= len(items) and asking >= 2:
        return False
    return bool(
        _asking(after) or _asking(before) or re.search(r"步骤|steps|how I would|for this one", before)
    ) or not (_LISTED.search(before))


def _asking(text: str) -> list[str]:
    """The asking pieces of a text, without tags and what says the same again."""
    found: list[str] = []
    for piece in filter(None, (piece and piece.strip(" ,，、") for piece in _BREAK.split(text))):
        if not _ASKS.search(piece) or _TAG.search(piece) or len(things_in(piece)) < 2:
            continue
        if found and _says_again(piece, found[-1]):
            continue
        found.append(piece)
    return found


def _says_again(piece: str, before: str) -> bool:
    one, two = things_in(piece), things_in(before)
    return len(one & two) >= 0.6 * min(len(one), len(two))


def scheduled(text: str) -> list[tuple[str, str]]:
    """The charters and targets that a schedule's line names, in pairs: `cart_total staging`."""
    found = []
    for clause in re.split(r"[;；\n]+", text):
        for target in targets_in(clause):
            at = clause.lower().find(target)
            before = clause[:at].rstrip(" (（[@/") if at > 0 else ""
            if named := re.search(r"([A-Za-z][A-Za-z0-9_]*)\s*$", before):
                found.append((named[1], target))
    return found
