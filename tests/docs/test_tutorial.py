"""The tutorial does what it says: its files are written, its commands run, their output compared."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from bughunt.cli import main
from tests.docs.pages import DOCS, ROOT, Block, blocks

TUTORIAL = DOCS / "tutorial.md"
#: Where the tutorial has its cart.
URL = "http://127.0.0.1:8000"
PORT = "--port 8000"
#: A reader's terminal, for whose width tables are drawn.
WIDTH = "100"

#: What a terminal shows as a bar that goes away.
_PROGRESS = re.compile(r"^[A-Z_]+ +\w+ \((careful|naive)\).*\n", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A command and what the tutorial says that it prints."""

    text: str
    expected: str


@dataclass
class Terminal:
    """A reader's terminal in the folder that they made."""

    folder: Path
    code: int = 0

    def type(self, command: str) -> str:
        """What the command prints; of errors and tables, tables first."""
        words = shlex.split(command)
        printed, self.code = _bughunt(words[1:]) if words[0] == "bughunt" else self._shell(command)
        return printed

    def _shell(self, command: str) -> tuple[str, int]:
        done = subprocess.run(
            ["bash", "-c", f"(exit {self.code})\n{command}"],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stdout, done.returncode


def _bughunt(arguments: list[str]) -> tuple[str, int]:
    """The `bughunt` command, in this process: starting another one takes longer than most of them."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["bughunt", *arguments]),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    code = ended.value.code
    assert isinstance(code, int)
    return out.getvalue() + _PROGRESS.sub("", err.getvalue()), code


def _commands(block: Block) -> list[Command]:
    """Each `$ ` line with the lines beneath it."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not parts[0], f"a console block begins with a command: {parts[0]!r}"
    split = (part.partition("\n") for part in parts[1:])
    return [Command(text, expected) for text, _, expected in split]


def _is_as_told(printed: str, expected: str) -> bool:
    """Whether they are alike; `...` stands for anything, also for lines."""
    pattern = re.escape(_trimmed(expected)).replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, _trimmed(printed), re.DOTALL) is not None


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


@contextmanager
def _in_the_background(command: str, folder: Path) -> Iterator[str]:
    """The tutorial's server on a free port; its URL is the first line that it prints."""
    words = shlex.split(command.replace(PORT, "--port 0"))
    assert words[0] == "python"
    with subprocess.Popen(
        [sys.executable, *words[1:]],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def _write(block: Block, folder: Path, url: str) -> None:
    text = block.text.replace(URL, url)
    if block.title == "bughunt.toml":
        text += "\n[load]\npause = 0.0\n"  # nobody reads along here
    (folder / block.title).write_text(text, encoding="utf-8")


@pytest.mark.thorough
def test_the_tutorial_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the cart's start to the files for CI, in one go: each command rests on those before it."""
    told = blocks(TUTORIAL)
    served = next(block for block in told if PORT in block.text)
    (start,) = _commands(served)
    assert start.expected.strip() == URL
    terminal = Terminal(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", WIDTH)
    monkeypatch.delenv("BUGHUNT_DB", raising=False)
    with _in_the_background(start.text, tmp_path) as url:
        for block in told:
            if block.title:
                _write(block, tmp_path, url)
            elif block.language == "console" and block is not served:
                for command in _commands(block):
                    printed = terminal.type(command.text)
                    assert _is_as_told(printed, command.expected), f"$ {command.text}\n{printed}"


def test_every_block_of_the_tutorial_is_accounted_for() -> None:
    """A file has a title, a command a prompt; what sets a machine up (`sh`) is not typed by a test."""
    for block in blocks(TUTORIAL):
        assert block.title or block.language in {"console", "sh"}, block


def test_dots_stand_for_anything_and_all_else_for_itself() -> None:
    assert _is_as_told("a\nb\nc [1.]\n", "a\n...\nc [1.]\n")
    assert not _is_as_told("a\nc [12\n", "a\n...\nc [1.]\n")
    assert not _is_as_told("a\nb\n", "a\n")
