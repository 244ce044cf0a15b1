"""Intervals are Wilson's, and there are none without scipy."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence

import pytest

from bughunt.gating.intervals import available, interval


def test_the_interval_is_wilsons() -> None:
    found = interval(0, 310)
    assert found is not None
    assert (found.count, found.total, found.low) == (0, 310, 0.0)
    assert found.high == pytest.approx(0.01224, abs=1e-5)
    assert interval(0, 0) is None


def test_without_scipy_there_is_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(
        name: str,
        given: Mapping[str, object] | None = None,
        local: Mapping[str, object] | None = None,
        wanted: Sequence[str] = (),
        level: int = 0,
    ) -> object:
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, given, local, wanted, level)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert not available()
    assert interval(0, 310) is None
