"""A tower for all cases of a test process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bughunt.browser.pool import BrowserPool
from bughunt.tower import Tower
from tests.cases.looking import Looking


@pytest.fixture(scope="session")
def tower(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tower]:
    opened = Tower.open(f"sqlite:///{tmp_path_factory.mktemp('cases')}/tower.db")
    yield opened
    opened.close()


@pytest.fixture
def look(tower: Tower, browser_pool: BrowserPool) -> Looking:
    """`await look(url, charter)`: a whole investigation."""
    return Looking(tower, browser_pool)
