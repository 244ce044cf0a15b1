"""Running Python in a process of its own, as another `bughunt` would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def started(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A process that runs the code, with `sys.argv[1:]` as given."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd="/",
    )


def output(code: str, *arguments: object) -> str:
    """What it prints, once it has ended well."""
    process = started(code, *arguments)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return out.strip()
