"""Playwright's public classes, wrapped once, on import, so that a charter's calls are recorded as its steps.

A call is recorded where a charter makes it (a context variable tells); everywhere else the wrapper only
passes it on.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from playwright import async_api
from playwright.async_api import Error as PlaywrightError

from bughunt.browser.steps import Asked, StepLog
from bughunt.verdict.record import PAGE_LOADING, Step

__all__ = ["recording"]

#: Playwright's classes whose awaited methods are steps.
_LOOKED_AT = (
    *("Page", "Frame", "Locator", "ElementHandle", "Keyboard", "Mouse", "Touchscreen"),
    *("PageAssertions", "LocatorAssertions", "APIResponseAssertions"),
)

#: What the charter asks by itself, past the page.
_ASKS = frozenset({"fetch", "get", "head", "post", "put", "patch", "delete"})

#: What can make a page navigate or send, as opposed to looking at it.
_ACTS = frozenset(
    {
        *("goto", "reload", "go_back", "go_forward", "set_content", "set_input_files", "select_option"),
        *("click", "dblclick", "tap", "press", "press_sequentially", "type", "fill", "clear", "insert_text"),
        *("check", "uncheck", "set_checked", "drag_to", "drag_and_drop", "drop", "dispatch_event"),
        *("focus", "hover", "down", "up", "move", "wheel", "evaluate", "evaluate_handle"),
    }
)

#: What types text into a field.
_TYPES = frozenset({"fill", "type", "press_sequentially"})

#: Milliseconds in which a field that was just typed into is found again.
_FIELD_IS_THERE = 500

#: What answers at once, so that more time would not have helped.
_NEVER_WAITS = frozenset(
    {"wait_for_timeout", "is_visible", "is_hidden", "count", "all", "content", "to_be_ok"}
)

_current: ContextVar[StepLog | None] = ContextVar("bughunt_steps", default=None)
_inside: ContextVar[bool] = ContextVar("bughunt_inside_step", default=False)


@contextmanager
def recording(log: StepLog) -> Iterator[None]:
    """Within the block, what this task awaits of Playwright is recorded in `log`."""
    token = _current.set(log)
    try:
        yield
    finally:
        _current.reset(token)


def _wrapped(kind: str, name: str, original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    acts, waits = name in _ACTS, name not in _NEVER_WAITS

    @functools.wraps(original)
    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:  # Any: whatever Playwright takes
        log = _current.get()
        if log is None or _inside.get():
            return await original(self, *args, **kwargs)
        if log.patient and f"{kind}.{name}" in PAGE_LOADING:
            args, kwargs = _for_the_document_only(name, args, kwargs)
        token = _inside.set(True)
        try:
            with log.step(f"{kind}.{name}", _target(self, args), waits=waits, acts=acts):
                answer = await original(self, *args, **kwargs)
            if name in _TYPES and isinstance(self, async_api.Page | async_api.Frame | async_api.Locator):
                log.secrets |= await _typed_secrets(self, args, kwargs)
            return answer
        finally:
            _inside.reset(token)

    return call


async def _typed_secrets(
    subject: async_api.Page | async_api.Frame | async_api.Locator,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> set[str]:
    """What was just typed, if the field is one for passwords."""
    written = (*args, *kwargs.values())
    if isinstance(subject, async_api.Locator):
        field = subject
    else:
        selector = kwargs.get("selector", args[0] if args else "*")
        written = tuple(value for value in written if value is not selector)
        field = subject.locator(str(selector))
    typed = {value for value in written if isinstance(value, str) and value}
    try:
        kind = await field.first.get_attribute("type", timeout=_FIELD_IS_THERE)
    except PlaywrightError:
        return typed  # the page has moved on: better one word too many than a password kept
    return typed if kind == "password" else set()


def _for_the_document_only(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A page-loading call, told not to wait for what the document embeds."""
    if name == "wait_for_load_state":
        return ("domcontentloaded",), {key: value for key, value in kwargs.items() if key != "state"}
    return args, {**kwargs, "wait_until": "domcontentloaded"}


def _wrapped_request(name: str, original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """A request of the charter's own is a step, and its log is told what became of it."""
    recorded = _wrapped("APIRequestContext", name, original)

    @functools.wraps(original)
    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:  # Any: whatever Playwright takes
        log = _current.get()
        if log is None or _inside.get():
            return await original(self, *args, **kwargs)
        method = str(kwargs.get("method") or ("GET" if name == "fetch" else name)).upper()
        began = log.now()
        try:
            answer = await recorded(self, *args, **kwargs)
        except PlaywrightError as error:
            said = error.message.strip().partition("\n")[0]
            url = _target(self, args)
            log.on_asked(Asked(method=method, url=url, began=began, ended=log.now(), failure=said))
            raise
        log.on_asked(
            Asked(
                method=method,
                url=answer.url,
                began=began,
                ended=log.now(),
                status=answer.status,
                headers=answer.headers,
            )
        )
        return answer

    return call


def _wrapped_manager(kind: str, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:  # Any: whatever Playwright takes
        manager, log = original(self, *args, **kwargs), _current.get()
        if log is None:
            return manager
        return _RecordedManager(manager, log.step(f"{kind}.{name}", _target(self, args)))

    return call


class _RecordedManager:
    """`async with page.expect_response(...)`, recorded from its beginning to the end of its wait."""

    def __init__(self, manager: Any, step: AbstractContextManager[Step]) -> None:
        self._manager = manager
        self._step = step

    async def __aenter__(self) -> Any:
        self._step.__enter__()
        return await self._manager.__aenter__()

    async def __aexit__(self, *raised: Any) -> None:
        try:
            await self._manager.__aexit__(*raised)
        except BaseException as error:
            self._step.__exit__(type(error), error, error.__traceback__)
            raise
        self._step.__exit__(None, None, None)  # what the block itself raised is not the wait's failure


def _target(subject: Any, args: tuple[Any, ...]) -> str:
    """What a step is about: the locator's selector, else the first text argument."""
    if isinstance(subject, async_api.Keyboard):
        return ""  # what is typed may be a password
    inner = getattr(subject, "_impl_obj", None)
    # Playwright shows a locator's selector in its repr only.
    locator = getattr(inner, "_actual_locator", inner)
    selector = getattr(locator, "_selector", None)
    if isinstance(selector, str):
        return selector
    return next((value for value in args if isinstance(value, str)), "")[:200]


def _wrap_playwright() -> None:
    for name in _ASKS:
        original = getattr(async_api.APIRequestContext, name)
        setattr(async_api.APIRequestContext, name, _wrapped_request(name, original))
    for looked_at in (getattr(async_api, name) for name in _LOOKED_AT):
        for name, method in list(vars(looked_at).items()):
            if not name.startswith("_") and inspect.iscoroutinefunction(method):
                setattr(looked_at, name, _wrapped(looked_at.__name__, name, method))
            elif name.startswith("expect_"):
                setattr(looked_at, name, _wrapped_manager(looked_at.__name__, name, method))


_wrap_playwright()
