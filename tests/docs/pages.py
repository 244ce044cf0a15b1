"""The documentation as its tests see it: pages, sections, tables and fenced blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(?P<signs>#+) (?P<words>.+)$")
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: Path
    language: str
    title: str
    """What it says of itself: `title="charters.py"`; else empty."""
    text: str


def all_pages() -> list[Path]:
    """Every page of the documentation, and those beside the code that link to it."""
    beside = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
    return [*sorted(DOCS.rglob("*.md")), *(page for page in beside if page.exists())]


def blocks(page: Path, language: str | None = None) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = []
    for fence in _FENCE.finditer(page.read_text(encoding="utf-8")):
        name, _, rest = fence["info"].strip().partition(" ")
        title = re.search(r'title="([^"]+)"', rest)
        found.append(Block(page, name, title[1] if title else "", fence["text"]))
    return [block for block in found if language in (None, block.language)]


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    """Where the page's links lead."""
    return [found["target"] for found in _LINK.finditer(prose(page))]


def headings(page: Path) -> list[str]:
    """The page's headings, as they are written."""
    found = (_HEADING.match(line) for line in prose(page).splitlines())
    return [heading["words"] for heading in found if heading]


def anchors(page: Path) -> set[str]:
    """What a link may name after `#`."""
    return {re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-") for words in headings(page)}


def section(page: str, heading: str) -> list[str]:
    """The lines beneath a heading of a page in `docs/`, to the next heading."""
    lines = iter(prose(DOCS / page).splitlines())
    for line in lines:
        found = _HEADING.match(line)
        if found and found["words"] == heading:
            break
    else:
        raise AssertionError(f"{page} has no heading {heading!r}")
    beneath = []
    for line in lines:
        if _HEADING.match(line):
            break
        beneath.append(line)
    return beneath


def table(page: str, heading: str) -> list[list[str]]:
    """The cells of the table beneath a heading, without its head."""
    rows = [line.strip("|") for line in section(page, heading) if line.startswith("|")]
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)] for row in rows]
    return cells[2:]


def terms(page: str, heading: str) -> list[str]:
    """What the first cells of that table have in backticks, in order; none without a table."""
    found = [term for row in table(page, heading) for term in _CODE.findall(row[0])]
    assert len(found) == len(set(found)), f"{page}, {heading}: a term is there twice"
    return found
