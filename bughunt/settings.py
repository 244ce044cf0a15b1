"""One place for configuration: `bughunt.toml`, the environment, and flags on top.

Secrets come from the environment only: a value `${NAME}` is read from the variable NAME, and fields that
hold secrets accept nothing else.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from publicsuffixlist import PublicSuffixList

from bughunt.exceptions import SettingsError
from bughunt.health import Healthy, find_predicate
from fault_routes.patterns import PatternError, compiled

__all__ = ["Credentials", "Keep", "LoadSettings", "Settings", "Target", "load_settings", "target_at"]

SETTINGS_FILE = "bughunt.toml"

#: Signs from which on a stored value is taken for a secret, whatever it is called.
LONG_ENOUGH_FOR_A_SECRET = 16

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_LOCALE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_SECRET_HEADER = re.compile(r"authorization|cookie|token|secret|api-?key|password|session", re.IGNORECASE)


class Credentials(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """HTTP credentials; the password must be `${NAME}`."""

    username: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials(username={self.username!r}, password='***')"


class Target(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The app under test in one place."""

    name: str = ""
    """The table's name in the settings; the base URL where none is named."""
    base_url: str
    """http(s)://host[:port][/path]."""
    origins: tuple[str, ...] = ()
    """Further origins or hosts that belong to the app."""
    storage_state: str | None = None
    """A Playwright storage state file: how to be signed in."""
    extra_headers: dict[str, str] = {}
    """Sent with every request. Values of secret headers must be `${NAME}`."""
    http_credentials: Credentials | None = None
    locale: str | None = None
    """`de-DE`; None: the browser's own."""
    ignore: tuple[str, ...] = ()
    """URL patterns of exchanges that are never a cause."""
    build_header: str | None = None
    """A response header of the document that names the build."""
    build_meta: str | None = None
    """A `<meta name=...>` of the document that names the build."""
    ignore_https_errors: bool = False
    healthy: str | None = None
    """Which predicate says whether a declared answer is healthy: `graphql`, or `module:function`."""
    secrets: tuple[str, ...] = ()
    """What came from the environment and must never be written down. Not a setting."""

    @property
    def own_hosts(self) -> tuple[str, ...]:
        """The app's hosts for the rules: the base URL's registrable domain, on loopback any port."""
        return (_site(self.base_url), *(_host_of(origin) for origin in self.origins))

    @property
    def healthy_by(self) -> Healthy | None:
        """The predicate that `healthy` names."""
        return None if self.healthy is None else find_predicate(self.healthy)

    def __repr__(self) -> str:
        return f"Target(name={self.name!r}, base_url={self.base_url!r})"


class Keep(StrEnum):
    """What is kept for people of a load that did not hold, beside the network evidence."""

    ALL = "all"
    """Screenshot, aria snapshot, and from the second load on a Playwright trace."""
    PICTURES = "pictures"
    """No trace."""
    NOTHING = "nothing"


class LoadSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How loads are taken."""

    deadline: float = 60.0
    """Seconds that one load may take."""
    pause: float = 1.0
    """Seconds to wait before a further load, so that a burst of errors is over."""
    keep: Keep = Keep.ALL


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of `bughunt.toml`."""

    project: str = "default"
    """Questions of different projects are different questions."""
    db: str = "sqlite:///.bughunt/tower.db"
    """The tower's database. The environment variable BUGHUNT_DB and `--db` go before it."""
    workers: int = 1
    """Investigations at a time."""
    redact: tuple[str, ...] = ()
    """Further header, field and parameter names whose values are never stored."""
    load: LoadSettings = LoadSettings()
    targets: dict[str, Target] = {}
    root: str = "."
    """The folder of the settings file; what is relative is relative to it."""

    def target(self, name: str) -> Target:
        """The target of that name. Raises SettingsError with the names that there are."""
        if name not in self.targets:
            known = ", ".join(self.targets) or f"none; add [targets.{name}] to {SETTINGS_FILE}"
            raise SettingsError(f"There is no target {name}. Known: {known}.")
        return self.targets[name]


def load_settings(folder: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of `bughunt.toml` in `folder` (the working folder) or the nearest folder above it.

    Without a file, the defaults. Raises SettingsError, one clear line.
    """
    environment = os.environ if environment is None else environment
    start = (folder or Path.cwd()).resolve()
    file = next((f / SETTINGS_FILE for f in (start, *start.parents) if (f / SETTINGS_FILE).is_file()), None)
    settings = Settings(root=str(start)) if file is None else _read(file)
    settings = _with(settings, db=environment.get("BUGHUNT_DB") or _below(settings.root, settings.db))
    targets = {
        name: _checked(name, target, settings, environment) for name, target in settings.targets.items()
    }
    _check_numbers(settings)
    return _with(settings, targets=targets)


def _check_numbers(settings: Settings) -> None:
    if settings.workers < 1:
        raise SettingsError(f"workers = {settings.workers}: at least 1.")
    if settings.load.deadline <= 0:
        raise SettingsError(f"[load] deadline = {settings.load.deadline:g}: give seconds above 0.")
    if settings.load.pause < 0:
        raise SettingsError(f"[load] pause = {settings.load.pause:g}: give seconds, 0 for none.")


def target_at(base_url: str) -> Target:
    """A target without settings, named by its URL. Raises SettingsError for a URL that is none."""
    _check_url(base_url, "--base-url")
    return Target(name=base_url.rstrip("/"), base_url=base_url)


def _read(file: Path) -> Settings:
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
        _refuse(raw, "root")
        targets = {name: _read_target(name, table) for name, table in raw.pop("targets", {}).items()}
        return _with(msgspec.convert({**raw, "root": str(file.parent)}, Settings), targets=targets)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as wrong:
        raise SettingsError(f"{file.name}: {wrong}.") from wrong
    except AttributeError as wrong:
        raise SettingsError(f"{file.name}: targets are tables: write [targets.NAME].") from wrong
    except OSError as wrong:
        raise SettingsError(f"{file.name} cannot be read: {wrong.strerror}.") from wrong


def _read_target(name: str, table: Mapping[str, object]) -> Target:
    _refuse(table, "name", "secrets", where=f"[targets.{name}] ")
    try:
        return msgspec.convert(table, Target)
    except msgspec.ValidationError as wrong:
        raise SettingsError(f"{SETTINGS_FILE}: [targets.{name}] {wrong}.") from wrong


def _refuse(table: Mapping[str, object], *names: str, where: str = "") -> None:
    """What is filled in by us is no setting."""
    for name in names:
        if name in table:
            raise SettingsError(f"{SETTINGS_FILE}: {where}{name} is no setting: remove it.")


def _below(root: str, db: str) -> str:
    """A relative SQLite file is relative to the settings' folder, wherever the command is typed."""
    scheme = "sqlite:///"
    if not db.startswith(scheme) or db.startswith(scheme + "/"):
        return db
    return f"{scheme}{Path(root) / db.removeprefix(scheme)}"


def _with(settings: Settings, **changes: object) -> Settings:
    return msgspec.structs.replace(settings, **changes)


def _checked(name: str, target: Target, settings: Settings, environment: Mapping[str, str]) -> Target:
    where = f"[targets.{name}]"
    _check_url(target.base_url, f"{where} base_url")
    if target.locale is not None and not _LOCALE.fullmatch(target.locale):
        raise SettingsError(f"{where} locale: {target.locale} is none: write de-DE.")
    for pattern in target.ignore:
        try:
            compiled(pattern)
        except PatternError as wrong:
            raise SettingsError(f"{where} ignore: {wrong}.") from wrong
    if target.healthy is not None:
        find_predicate(target.healthy, Path(settings.root))
    credentials = target.http_credentials
    if credentials is not None:
        credentials = Credentials(
            username=_expanded(credentials.username, environment, where),
            password=_secret(credentials.password, environment, f"{where} http_credentials.password"),
        )
    return msgspec.structs.replace(
        target,
        name=name,
        secrets=_secrets_of(target, Path(settings.root), environment),
        http_credentials=credentials,
        extra_headers={k: _header(k, v, environment, where) for k, v in target.extra_headers.items()},
        storage_state=None
        if target.storage_state is None
        else str(Path(settings.root) / target.storage_state),
    )


def _secrets_of(target: Target, root: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    texts = [*target.extra_headers.values()]
    if target.http_credentials is not None:
        texts.append(target.http_credentials.password)
    names = [name for text in texts for name in _VARIABLE.findall(text)]
    given = [environment[name] for name in names if environment.get(name)]
    return (*given, *(_stored_secrets(root / target.storage_state) if target.storage_state else ()))


def _stored_secrets(state: Path) -> Iterator[str]:
    """What a storage state signs in with: cookies that scripts may not read, and whatever is long."""
    try:
        stored = json.loads(state.read_text(encoding="utf-8"))
        entries = [
            *stored.get("cookies", ()),
            *(e for o in stored.get("origins", ()) for e in o["localStorage"]),
        ]
        for entry in entries:
            if entry.get("httpOnly") or len(entry["value"]) >= LONG_ENOUGH_FOR_A_SECRET:
                yield entry["value"]
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return  # a file that is missing or none is told of when it is used


def _header(name: str, value: str, environment: Mapping[str, str], where: str) -> str:
    if _SECRET_HEADER.search(name):
        return _secret(value, environment, f"{where} extra_headers.{name}")
    return _expanded(value, environment, where)


def _secret(value: str, environment: Mapping[str, str], where: str) -> str:
    if not _VARIABLE.search(value):
        raise SettingsError(f"{where} holds a secret: write ${{NAME}} and set the variable NAME instead.")
    return _expanded(value, environment, where)


def _expanded(value: str, environment: Mapping[str, str], where: str) -> str:
    missing = [name for name in _VARIABLE.findall(value) if name not in environment]
    if missing:
        raise SettingsError(f"{where} needs the environment variable {missing[0]}, which is not set.")
    return _VARIABLE.sub(lambda match: environment[match.group(1)], value)


def _check_url(url: str, where: str) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as wrong:
        raise SettingsError(f"{where}: {url} is no URL: {wrong}.") from wrong
    if parts.scheme not in {"http", "https"}:
        near = f"http://{url.partition('//')[2] or url}"
        raise SettingsError(f"{where}: {url} has no http:// or https:// in front. Did you mean {near}?")
    if parts.username or parts.password:
        raise SettingsError(f"{where} holds a user name or password: use http_credentials of a target.")
    if not parts.hostname:
        raise SettingsError(f"{where}: {url} names no host.")


def _site(url: str) -> str:
    """The registrable domain of a URL's host; the host itself where there is none (loopback, an address)."""
    host = (urlsplit(url).hostname or "").lower()
    return _suffixes().privatesuffix(host) or host if not _is_address(host) else host


def _host_of(origin: str) -> str:
    """A host as it stands in URLs: without the port that goes without saying."""
    parts = urlsplit(origin if "//" in origin else f"//{origin}")
    usual = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    return parts.netloc.lower().removesuffix(usual) if usual else parts.netloc.lower()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()
