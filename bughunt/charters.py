"""Charters: how to look. A charter is a plain Playwright coroutine with a question."""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import inspect
import os
import secrets
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from bughunt.exceptions import CharterError
from fault_routes.patterns import PatternError, compiled

__all__ = ["Charter", "Load", "charter", "load_charters"]

#: File names that hold charters when a folder is given.
CHARTER_FILES = ("charters.py", "charter_*.py", "*_charter.py", "*_charters.py")

CharterFunction = Callable[..., Awaitable[None]]
"""`(page, net)` or `(page, net, load)`; what it awaits is its own business."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a charter may know of the load that it runs in: its third parameter."""

    number: int
    """From 1."""
    unique: str = field(default_factory=lambda: secrets.token_hex(6))
    """A token of this load, for data that must be its own (a user name, an order note)."""


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
) -> Callable[[CharterFunction], Charter]:
    """Make a coroutine `(page, net)` or `(page, net, load)` a charter.

    `question` is what it answers: the charter holds (returns) where the answer is yes, and fails an
    expectation where it is no. `depends_on` lists URL patterns and thereby says that nothing else can make
    the answer wrong. `ignore` lists those that cannot. `timeout` is the deadline of one load in seconds.
    `reset` is a coroutine that puts the world back before a further load. Faults cannot see what a service
    worker fetches, so a load with a fault plan blocks service workers; `service_workers=True` lets them run,
    for an app that does not start without its own.

    Beware of expecting an *absence* (`to_have_count(0)`, `not_to_be_visible()`): it holds on a blank page as
    well, so declare what it rests on: await `net.json(...)` first, or name it in `depends_on`.

    Raises CharterError where the function or an option is not what it should be.
    """

    if callable(question):
        raise CharterError('Write @charter(question="...?"), with the question that the charter answers.')

    def decorate(function: CharterFunction) -> Charter:
        name = getattr(function, "__name__", repr(function))
        _remember(function, name)
        for option, value in (("depends_on", depends_on), ("ignore", ignore), ("tags", tags)):
            if isinstance(value, str):
                raise CharterError(f'The charter {name}: {option} is a list: write {option}=["{value}"].')
        if reset is not None and not inspect.iscoroutinefunction(reset):
            raise CharterError(f"The charter {name}: its reset is no coroutine: write `async def`.")
        _check(function, name, question, timeout, (*(depends_on or ()), *ignore))
        return Charter(
            function=function,
            question=question.strip(),
            name=name,
            file=Path(inspect.getfile(function)).resolve(),
            depends_on=None if depends_on is None else tuple(depends_on),
            ignore=tuple(ignore),
            timeout=timeout,
            tags=tuple(tags),
            service_workers=service_workers,
            reset=reset,
        )

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


def _check(
    function: CharterFunction, name: str, question: str, timeout: float | None, patterns: Iterable[str]
) -> None:
    if not inspect.iscoroutinefunction(function):
        raise CharterError(f"The charter {name} is no coroutine: write `async def {name}(page, net)`.")
    if not 2 <= len(inspect.signature(function).parameters) <= 3:
        raise CharterError(f"The charter {name} must take (page, net) or (page, net, load).")
    if not str(question).strip():
        raise CharterError(f'The charter {name} asks nothing: give it a question, @charter(question="...?").')
    if timeout is not None and timeout <= 0:
        raise CharterError(f"The charter {name} has a timeout of {timeout}: give seconds above 0.")
    for pattern in patterns:
        try:
            compiled(pattern)
        except PatternError as wrong:
            raise CharterError(f"The charter {name} names a pattern that is none: {wrong}") from wrong


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
