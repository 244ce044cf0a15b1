"""Whom something that was recorded blames: the environment, by a kind of cause; the product; or nobody."""

from __future__ import annotations

from enum import StrEnum

from bughunt.verdict.judgement import CauseKind

__all__ = ["PRODUCT", "Says"]


class _Product(StrEnum):
    PRODUCT = "product"


#: The product itself is to blame for how this exchange ended.
PRODUCT = _Product.PRODUCT

Says = CauseKind | _Product | None
"""A kind of environment cause, `PRODUCT`, or None: nothing."""
