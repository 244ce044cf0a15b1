"""Writes every case anew, as it would be added now: `python -m tests.corpus.renewing`.

For when a rule was renamed, or another cause is rightly named: verdicts and the words of people stay. Look at
what has changed before you commit it.
"""

from __future__ import annotations

from bughunt.corpus import file_name, renewed, to_bundle
from tests.corpus import CASES, FOLDER

__all__ = ["renew"]


def renew() -> None:
    """A case whose loads have become smaller gets a file of another name."""
    for name, case in CASES.items():
        new = renewed(case)
        (FOLDER / name).unlink()
        (FOLDER / file_name(new)).write_bytes(to_bundle(new))


if __name__ == "__main__":
    renew()
