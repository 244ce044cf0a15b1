"""What can go wrong, by whose fault it is.

BughuntError
├── UsageError             the caller's mistake: exit code 2
│   ├── SettingsError      bughunt.toml, the environment or a flag
│   ├── CharterError       a charter file or a charter in it
│   └── FaultSpecError     (raised by fault_routes, re-raised as a usage error)
├── EnvironmentFailure     the machine does not allow what we need: exit code 4
│   ├── BrowserMissing     no browser to start
│   └── TowerUnavailable   the database cannot be opened or written
│       ├── NewerSchema    it was written by a newer bughunt
│       └── EvidenceNotWritten  a full disk, a read-only folder
└── BrokenInvariant        the tower refused: a bug of ours, exit code 4
    ├── RunIsTerminal
    ├── RunDoneRequiresVerifiedLanding
    └── ...                one for each code of tower/guards (see tower/refusals.py)

Every message says what to do next.
"""

from __future__ import annotations

__all__ = [
    "BrokenInvariant",
    "BrowserMissing",
    "BughuntError",
    "CharterError",
    "EnvironmentFailure",
    "EvidenceNotWritten",
    "NewerSchema",
    "SettingsError",
    "TowerUnavailable",
    "UsageError",
]


class BughuntError(Exception):
    """Any failure that bughunt names itself."""


class UsageError(BughuntError):
    """The caller asked for something that cannot be done as asked."""


class SettingsError(UsageError):
    """A setting in `bughunt.toml`, the environment or a flag is wrong or missing."""


class CharterError(UsageError):
    """A charter file cannot be imported, or what it holds is no charter."""


class EnvironmentFailure(BughuntError):
    """The machine does not allow what is needed."""


class BrowserMissing(EnvironmentFailure):
    """No Chromium could be started."""


class TowerUnavailable(EnvironmentFailure):
    """The tower's database cannot be opened, read or written."""


class NewerSchema(TowerUnavailable):
    """The database was written by a newer bughunt than this one."""


class EvidenceNotWritten(TowerUnavailable):
    """Evidence could not be stored, so nothing may be said on its strength."""


class BrokenInvariant(BughuntError):
    """The tower refused a change that would break an invariant: a bug of ours."""
