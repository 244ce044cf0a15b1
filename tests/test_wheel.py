"""The built wheel works where a user's own folder is named like one of our packages."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.servers.misbehaving import refusing_url

ROOT = Path(__file__).parents[1]

CHARTERS = """
from bughunt import charter
from reports import TITLE

@charter(question=TITLE)
async def is_there(page, net):
    await page.goto("/")
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; its dependencies are those that the tests run with."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    venv.create(folder / "env", with_pip=False)
    site = folder / "env" / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    (wheel,) = folder.glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site, wheel]
    subprocess.run(install, check=True, capture_output=True)
    # A path in a .pth file is searched last, and the .pth of an editable install there is not read.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "env" / "bin" / "python"


def _run(python: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [python, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_the_wheel_works_beside_a_folder_named_reports(python: Path, tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "__init__.py").write_text("TITLE = 'Is it there?'")
    (tmp_path / "charters.py").write_text(CHARTERS)
    where = _run(python, tmp_path, "-c", "import bughunt; print(bughunt.__file__)")
    assert Path(where.stdout.strip()).is_relative_to(python.parents[1]), where.stderr
    run = ("-m", "bughunt", "run", "charters.py", "--base-url", "data:text/html,x")
    refused = _run(python, tmp_path, *run)
    assert (refused.returncode, refused.stdout) == (2, ""), refused.stderr
    with refusing_url() as nobody:
        done = _run(python, tmp_path, *run[:-1], nobody, "--json", "--report", "out")
    assert '"verdict": "ENV_ERROR"' in done.stdout, done.stderr
    assert "Is it there?" in (tmp_path / "out" / "report.html").read_text()
