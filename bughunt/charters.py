"""Charters: how to look. A charter is a plain Playwright coroutine with a question."""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import inspect
import os
import secrets
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from bughunt.exceptions import CharterError
from bughunt.health import Healthy
from fault_routes.patterns import PatternError, compiled

__all__ = ["Charter", "Load", "charter", "load_charters"]

#: File names that hold charters when a folder is given.
CHARTER_FILES = ("charters.py", "charter_*.py", "*_charter.py", "*_charters.py")

CharterFunction = Callable[..., Awaitable[None]]
"""`(page, net)` or `(page, net, load)`; what it awaits is its own business."""


class Load:
    """What a charter may know of the load that it runs in: its third parameter."""

    def __init__(self, number: int) -> None:
        self.number = number
        """From 1."""
        self.token = secrets.token_hex(6)
        self.used_unique = False

    @property
    def unique(self) -> str:
        """A token of this load, for data that must be its own (a user name, an order note).

        Whoever uses it meets no trace of earlier loads, and that is remembered.
        """
        self.used_unique = True
        return self.token


@dataclass(frozen=True, kw_only=True)
class Charter:
    """A question and the coroutine that looks for its answer."""

    function: CharterFunction
    question: str
    """What somebody wants to know, as they would ask it."""
    name: str
    file: Path
    id: str = ""
    """`path::name`, the path relative to the project's folder; set when the file is loaded."""
    depends_on: tuple[str, ...] | None = None
    """URL patterns; given, they close the list of what the answer may hang on."""
    ignore: tuple[str, ...] = ()
    """URL patterns of exchanges that are never a cause."""
    timeout: float | None = None
    """Seconds that one load may take; None: the setting."""
    tags: tuple[str, ...] = ()
    service_workers: bool = False
    """Let the app's service workers run under a fault plan, though they hide requests from it."""
    reset: Callable[..., Awaitable[None]] | None = None
    """Puts the world back before a further load; may take Playwright's `APIRequestContext`."""
    healthy: Healthy | None = None
    """Whether a declared response is healthy, whatever its status says; None: the target's setting."""
    resilient: bool = False
    """It must hold despite the planned faults."""
    ticket: str | None = None
    """Where the BUG that it finds is known already."""
    known_until: date | None = None
    """The last day on which that BUG does not fail a run."""

    async def __call__(self, *args: Any) -> None:  # Any: whatever the coroutine takes
        """Run the coroutine as it was written."""
        await self.function(*args)

    @property
    def takes_load(self) -> bool:
        """Whether the coroutine has the third parameter, `load: Load`."""
        return len(inspect.signature(self.function).parameters) > 2


def charter(
    question: str,
    *,
    depends_on: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    timeout: float | None = None,
    tags: Sequence[str] = (),
    service_workers: bool = False,
    reset: Callable[..., Awaitable[None]] | None = None,
    healthy: Healthy | None = None,
    resilient: bool = False,
    ticket: str | None = None,
    known_until: date | str | None = None,
) -> Callable[[CharterFunction], Charter]:
    """Make a coroutine `(page, net)` or `(page, net, load)` a charter.

    `question` is what it answers: the charter holds (returns) where the answer is yes, and fails an
    expectation where it is no. `depends_on` lists URL patterns and thereby says that nothing else can make
    the answer wrong. `ignore` lists those that cannot. `timeout` is the deadline of one load in seconds.
    `reset` is a coroutine that puts the world back before a further load. Faults cannot see what a service
    worker fetches, so a load with a fault plan blocks service workers; `service_workers=True` lets them run,
    for an app that does not start without its own.

    `healthy` is asked about each declared `Answer` below 400; one that it refuses counts as a failure of the
    environment. A `resilient` charter must hold *despite* the planned faults: its BUG needs that the fault
    fired, that the mismatch came twice, and that the charter holds with the faults off. `ticket` and
    `known_until` (a day, `2026-12-31`) say that a BUG is known: it is shown as such, and fails no run until
    that day is over.

    Beware of expecting an *absence* (`to_have_count(0)`, `not_to_be_visible()`): it holds on a blank page as
    well, so declare what it rests on: await `net.json(...)` first, or name it in `depends_on`.

    Raises CharterError where the function or an option is not what it should be.
    """

    if callable(question):
        raise CharterError('Write @charter(question="...?"), with the question that the charter answers.')

    def decorate(function: CharterFunction) -> Charter:
        name = getattr(function, "__name__", repr(function))
        _remember(function, name)
        _check_function(function, name)
        for option, value in (("depends_on", depends_on), ("ignore", ignore), ("tags", tags)):
            if isinstance(value, str):
                raise CharterError(f'The charter {name}: {option} is a list: write {option}=["{value}"].')
        made = Charter(
            function=function,
            question=str(question).strip(),
            name=name,
            file=Path(inspect.getfile(function)).resolve(),
            depends_on=None if depends_on is None else tuple(depends_on),
            ignore=tuple(ignore),
            timeout=timeout,
            tags=tuple(tags),
            service_workers=service_workers,
            reset=reset,
            healthy=healthy,
            resilient=resilient,
            ticket=_ticket(ticket, name),
            known_until=_day(known_until, name),
        )
        _check(made)
        return made

    return decorate


#: Where each charter of a file was first written: a second one of the same name would replace it unseen.
_WRITTEN: dict[tuple[str, str], int] = {}


def _remember(function: CharterFunction, name: str) -> None:
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & inspect.CO_NESTED:
        return
    first = _WRITTEN.setdefault((code.co_filename, code.co_qualname), code.co_firstlineno)
    if first != code.co_firstlineno:
        raise CharterError(
            f"Two charters are named {name} (lines {first} and {code.co_firstlineno}): rename one."
        )


def _check_function(function: CharterFunction, name: str) -> None:
    if not inspect.iscoroutinefunction(function):
        raise CharterError(f"The charter {name} is no coroutine: write `async def {name}(page, net)`.")
    if not 2 <= len(inspect.signature(function).parameters) <= 3:
        raise CharterError(f"The charter {name} must take (page, net) or (page, net, load).")


def _check(made: Charter) -> None:
    where = f"The charter {made.name}"
    if not made.question:
        raise CharterError(f'{where} asks nothing: give it a question, @charter(question="...?").')
    if made.timeout is not None and made.timeout <= 0:
        raise CharterError(f"{where} has a timeout of {made.timeout}: give seconds above 0.")
    if made.reset is not None and not inspect.iscoroutinefunction(made.reset):
        raise CharterError(f"{where}: its reset is no coroutine: write `async def`.")
    if inspect.iscoroutinefunction(made.healthy):
        raise CharterError(f"{where}: healthy is a plain function of an Answer: write `def`.")
    if (made.ticket is None) != (made.known_until is None):
        raise CharterError(f"{where}: a known bug has both ticket= and known_until=, the day it ends.")
    for pattern in (*(made.depends_on or ()), *made.ignore):
        try:
            compiled(pattern)
        except PatternError as wrong:
            raise CharterError(f"{where} names a pattern that is none: {wrong}") from wrong


def _ticket(given: object, name: str) -> str | None:
    if given is None or (isinstance(given, str) and given.strip()):
        return given
    raise CharterError(f'The charter {name}: ticket={given!r} names none: write ticket="SHOP-12".')


def _day(given: object, name: str) -> date | None:
    """A day; no datetime, though each is a date to Python: it compares with none."""
    no_day = f"The charter {name}: known_until={given!r} is no day: write 2026-12-31."
    try:
        day = date.fromisoformat(given) if isinstance(given, str) else given
    except ValueError as wrong:
        raise CharterError(no_day) from wrong
    if day is None or (isinstance(day, date) and not isinstance(day, datetime)):
        return day
    raise CharterError(no_day)


def load_charters(wanted: Sequence[str], *, root: Path) -> list[Charter]:
    """The charters in `PATH` or `PATH::NAME` for each of `wanted`, in order, each once.

    A folder stands for the files in it that are named like charters. `root` is the project's folder: ids
    are relative to it. Raises CharterError, one clear line, for whatever is missing or broken.
    """
    found: dict[str, Charter] = {}
    for spec in wanted:
        path_text, _, name = spec.partition("::")
        path = Path(path_text)
        if not path.exists():
            raise CharterError(f"There is no {path_text}: give a charter file, a folder, or FILE::NAME.")
        files = _files_in(path) if path.is_dir() else [path]
        chosen = [c for file in files for c in _charters_in(file, root)]
        for one in _named(chosen, name, path_text):
            found[one.id] = one
    return list(found.values())


def _files_in(folder: Path) -> list[Path]:
    files = sorted({file for pattern in CHARTER_FILES for file in folder.rglob(pattern)})
    if not files:
        raise CharterError(f"No charter file in {folder}: name them {', '.join(CHARTER_FILES)}.")
    return files


def _named(charters: list[Charter], name: str, path: str) -> list[Charter]:
    if not name:
        return charters
    chosen = [c for c in charters if c.name == name]
    if not chosen:
        names = [c.name for c in charters]
        near = difflib.get_close_matches(name, names, n=1)
        hint = f" Did you mean {near[0]}?" if near else f" It has {', '.join(names)}."
        raise CharterError(f"{path} has no charter {name}.{hint}")
    return chosen


def _charters_in(file: Path, root: Path) -> list[Charter]:
    file = file.resolve()
    module = _import(file)
    own = [c for c in vars(module).values() if isinstance(c, Charter) and c.file == file]
    if not own:
        raise CharterError(f"{file.name} holds no charter: decorate an async function with @charter(...).")
    shown = Path(os.path.relpath(file, root)).as_posix()
    return [replace(c, id=f"{shown}::{c.name}") for c in dict.fromkeys(own)]


def _import(file: Path) -> ModuleType:
    """Import a charter file under a name of its own; its folder is importable, as with a script."""
    name = f"bughunt_charters_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise CharterError(f"{file.name} is no Python file: a charter file ends in .py.")
    module = importlib.util.module_from_spec(spec)
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except CharterError as wrong:
        del sys.modules[name]
        raise CharterError(f"{file.name}: {wrong}") from wrong
    except (Exception, SystemExit) as broken:
        del sys.modules[name]
        line = _line_in(broken, file)
        said = " ".join(str(broken).split())
        raise CharterError(f"{file.name} does not import: {type(broken).__name__}: {said}{line}") from broken
    return module


def _line_in(broken: BaseException, file: Path) -> str:
    if isinstance(broken, SyntaxError):
        return f" (line {broken.lineno})"
    traceback, line = broken.__traceback__, None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == str(file):
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return f" (line {line})" if line else ""
