"""A to-do list with writes: add, tick off, delete. The page says "Saved" only when the server has said so.

Each list has its own address, `/lists/<any name>`, and comes to be when something is added to it.
"""

from __future__ import annotations

import secrets
import threading
from collections import defaultdict
from http import HTTPStatus
from typing import ClassVar, TypedDict

from target_apps.messages import Request, Response, as_json, page, plain, redirect, script, stylesheet
from target_apps.server import AppServer, Routes

__all__ = ["Todo", "TodoServer"]


class Todo(TypedDict):
    id: str
    text: str
    done: bool


class TodoServer(AppServer):
    """`with TodoServer() as server:` serves any number of lists."""

    BUGS: ClassVar = {
        "says-saved-unsent": "An added item is shown as saved, though nothing was sent.",
        "loses-the-write": "An added item is shown as saved, and gone after a reload.",
        "adds-twice": "Each item is added twice.",
        "counts-done": "The count of open items counts the ticked ones too.",
        "tick-without-value": "Ticking fails: the page sends no `done`, and the server refuses with 400.",
        "delete-does-nothing": "A deleted item is back after a reload.",
    }

    def __init__(self, *, port: int = 0, bug: str | None = None) -> None:
        super().__init__(port=port, bug=bug)
        self._lists: defaultdict[str, list[Todo]] = defaultdict(list)
        self._lock = threading.Lock()

    def routes(self) -> Routes:
        document, style, code = page(__name__, bug=self.bug), stylesheet(), script(__name__)
        items, item = "/api/lists/{list}/items", "/api/lists/{list}/items/{item}"
        return {
            ("GET", "/"): lambda request: redirect(f"/lists/{secrets.token_hex(4)}"),
            ("GET", "/lists/{list}"): lambda request: document,
            ("GET", "/looks.css"): lambda request: style,
            ("GET", "/app.js"): lambda request: code,
            ("GET", items): self._read,
            ("POST", items): self._add,
            ("PATCH", item): self._tick,
            ("DELETE", item): self._delete,
        }

    def _read(self, request: Request) -> Response:
        with self._lock:
            return as_json({"items": self._lists.get(request.parameters["list"], [])})

    def _add(self, request: Request) -> Response:
        text = request.sent.get("text")
        if not isinstance(text, str) or not text.strip():
            return plain("An item needs a text.", status=HTTPStatus.BAD_REQUEST)
        todo: Todo = {"id": secrets.token_hex(4), "text": text.strip(), "done": False}
        if self.bug != "loses-the-write":
            with self._lock:
                self._lists[request.parameters["list"]].append(todo)
        return as_json(todo, status=HTTPStatus.CREATED)

    def _tick(self, request: Request) -> Response:
        done = request.sent.get("done")
        if not isinstance(done, bool):
            return plain("Say whether it is done.", status=HTTPStatus.BAD_REQUEST)
        with self._lock:
            todo = self._found(request)
            if todo is None:
                return plain("There is no such item.", status=HTTPStatus.NOT_FOUND)
            todo["done"] = done
            return as_json(todo)

    def _delete(self, request: Request) -> Response:
        with self._lock:
            todo = self._found(request)
            if todo is None:
                return plain("There is no such item.", status=HTTPStatus.NOT_FOUND)
            if self.bug != "delete-does-nothing":
                self._lists[request.parameters["list"]].remove(todo)
        return Response(status=HTTPStatus.NO_CONTENT)

    def _found(self, request: Request) -> Todo | None:
        todos = self._lists.get(request.parameters["list"], [])
        return next((todo for todo in todos if todo["id"] == request.parameters["item"]), None)
