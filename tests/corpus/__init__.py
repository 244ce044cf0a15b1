"""The corpus: each JSON file here is a run with its right verdict."""

from __future__ import annotations

from pathlib import Path

from bughunt.corpus import load_corpus

__all__ = ["CASES", "FOLDER"]

FOLDER = Path(__file__).parent

#: Every case by its file's name.
CASES = load_corpus(FOLDER)
