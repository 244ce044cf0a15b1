"""The bundled charters by name."""

from __future__ import annotations

from bughunt import Charter
from bughunt.bundled import BUNDLED, BundledApp
from bughunt.charters import load_charters

APPS: dict[str, BundledApp] = {bundled.name: bundled for bundled in BUNDLED}


def charters_of(bundled: BundledApp) -> dict[str, Charter]:
    """An app's charters, in the order of the file."""
    found = load_charters([str(bundled.charters)], root=bundled.charters.parent)
    return {charter.name: charter for charter in found}
