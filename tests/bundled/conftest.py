"""The bundled apps are looked at as the verdict cases are."""

from __future__ import annotations

from tests.cases.conftest import look, tower

__all__ = ["look", "tower"]
