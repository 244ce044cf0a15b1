"""Wilson score intervals, by scipy, which is an extra."""

from __future__ import annotations

from bughunt.gating.values import Interval

__all__ = ["MISSING", "available", "interval"]

MISSING = "No confidence intervals: they need scipy, pip install 'bughunt[stats]'."
"""What to tell where scipy is not installed."""


def available() -> bool:
    """Whether scipy is installed."""
    try:
        import scipy.stats  # noqa: F401 - is it there?
    except ImportError:
        return False
    return True


def interval(count: int, total: int) -> Interval | None:
    """The 95 % interval of this share; None without scipy, or out of nothing."""
    if not total or not available():
        return None
    from scipy.stats import binomtest

    found = binomtest(count, total).proportion_ci(confidence_level=0.95, method="wilson")
    return Interval(count=count, total=total, low=float(found.low), high=float(found.high))
