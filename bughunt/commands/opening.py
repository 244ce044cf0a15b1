"""Opening the tower that a command works on. No browser is loaded for it."""

from __future__ import annotations

from collections.abc import Sequence

from bughunt.exceptions import UsageError
from bughunt.settings import Settings, Target
from bughunt.tower import Redactor, Tower
from bughunt.tower.opening import place_of

__all__ = ["open_tower", "redactor_of"]


def open_tower(
    settings: Settings, url: str | None = None, targets: Sequence[Target] = (), *, must_exist: bool = False
) -> Tower:
    """The tower of the settings or of `--db`, knowing which secrets must never be written.

    Raises UsageError where there is none and `must_exist`: who only reads makes no database by a slip.
    """
    chosen = url or settings.db
    place = place_of(chosen)
    if must_exist and place is not None and not place.exists():
        raise UsageError(f"There is no tower at {place}: run something first, or name it with --db.")
    return Tower.open(chosen, redactor=redactor_of(settings, targets))


def redactor_of(settings: Settings, targets: Sequence[Target] = ()) -> Redactor:
    """What takes out the secrets that the settings and these targets name."""
    secrets = [secret for target in (*settings.targets.values(), *targets) for secret in target.secrets]
    return Redactor(headers=settings.redact, values=secrets)
