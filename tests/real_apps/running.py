"""Starting an application of .venv-apps on a free port of loopback, and stopping it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN = ROOT / ".venv-apps" / "bin"
SEEDS = Path(__file__).parent / "seeds"

#: Seconds in which an application must answer, on a machine that is busy.
STARTING = 60.0
#: Seconds in which it must end when told to.
ENDING = 10.0


@dataclass(frozen=True, kw_only=True)
class App:
    """How one application is made ready and started."""

    name: str
    distribution: str
    """Its name in the package index."""
    ready_at: str
    """A path that answers below 400 once the application serves."""
    seed: Callable[[Path], Awaitable[None]]
    """Fills its data folder."""
    command: Callable[[Path, int], Sequence[str]]
    """Its arguments for a data folder and a port, the program of .venv-apps first."""


@contextlib.asynccontextmanager
async def running(app: App, folder: Path) -> AsyncIterator[str]:
    """The URL of the application, which runs on data of its own in `folder` until the block is left."""
    await app.seed(folder)
    port = _free_port()
    log = folder / "app.log"
    with log.open("wb") as output:
        program, *arguments = app.command(folder, port)
        process = await asyncio.create_subprocess_exec(
            BIN / program,
            *arguments,
            stdout=output,
            stderr=output,
            stdin=asyncio.subprocess.DEVNULL,
            env=_environment(folder),
            start_new_session=True,
        )
    try:
        await _served(app, port, process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        await _stopped(process)


async def run_seed(name: str, *arguments: str, folder: Path) -> None:
    """Run a script of `seeds/` in the applications' environment. Raises where it fails."""
    process = await asyncio.create_subprocess_exec(
        BIN / "python",
        SEEDS / name,
        *arguments,
        env=_environment(folder),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()


def _environment(folder: Path) -> dict[str, str]:
    """No settings of whoever runs the tests reach the application."""
    return {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(folder), "LANG": "C.UTF-8"}


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def _served(app: App, port: int, process: asyncio.subprocess.Process, log: Path) -> None:
    async with asyncio.timeout(STARTING):
        while not await _answers(app.ready_at, port):
            assert process.returncode is None, f"{app.name} ended: {log.read_text(errors='replace')}"
            await asyncio.sleep(0.05)


async def _answers(path: str, port: int) -> bool:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        return False
    try:
        writer.write(f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        status = (await reader.readline()).split(b" ")[1:2]
        return bool(status) and int(status[0]) < 400
    except ConnectionError:
        return False
    finally:
        writer.close()


async def _stopped(process: asyncio.subprocess.Process) -> None:
    """Its whole group: a notebook server has kernels."""
    _tell(process, signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), ENDING)
    _tell(process, signal.SIGKILL)
    await process.wait()


def _tell(process: asyncio.subprocess.Process, what: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, what)
