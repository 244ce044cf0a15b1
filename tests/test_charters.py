"""Charters: what makes one, how a file of them is loaded, and one clear line for each thing that is wrong."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from bughunt import Charter, Load, charter
from bughunt.charters import load_charters
from bughunt.exceptions import CharterError

GOOD = """
from bughunt import charter

@charter(question="Does the cart show the right total?", tags=["cart"])
async def cart_total(page, net):
    pass

@charter("Can it be ordered?")
async def can_order(page, net, load):
    pass
"""


async def looks(page: Any, net: Any) -> None:
    """A coroutine that a charter can be made of."""


def problem(raising: Any) -> str:
    """The one line that is said."""
    with pytest.raises(CharterError) as wrong:
        raising()
    message = str(wrong.value)
    assert len(message.splitlines()) == 1, message
    return message


def loaded(folder: Path, *wanted: str) -> list[Charter]:
    """The charters of these specs, the paths relative to a folder."""
    return load_charters([str(folder / one) for one in wanted], root=folder)


def write(folder: Path, text: str, name: str = "charters.py") -> Path:
    """A charter file."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


# One charter


def test_a_charter_keeps_what_it_was_given() -> None:
    async def reset() -> None: ...

    made = charter(
        "  Does it?  ", depends_on=["**/a"], ignore=["**/b"], timeout=5.0, tags=["x"], reset=reset
    )(looks)
    assert (made.question, made.name, made.timeout, made.tags) == ("Does it?", "looks", 5.0, ("x",))
    assert (made.depends_on, made.ignore, made.reset) == (("**/a",), ("**/b",), reset)
    assert made.file == Path(__file__).resolve()


def test_a_list_is_open_where_none_is_given_and_closed_where_an_empty_one_is() -> None:
    assert charter("?")(looks).depends_on is None
    assert charter("?", depends_on=[])(looks).depends_on == ()


async def test_a_charter_can_be_called_as_it_was_written() -> None:
    seen: list[Any] = []

    async def notes(page: Any, net: Any) -> None:
        seen.extend([page, net])

    await charter("?")(notes)("page", "net")
    assert seen == ["page", "net"]


def test_a_third_parameter_asks_for_the_load() -> None:
    async def with_load(page: Any, net: Any, load: Load) -> None: ...

    assert charter("?")(with_load).takes_load
    assert not charter("?")(looks).takes_load


def test_each_load_has_a_token_of_its_own() -> None:
    assert Load(number=1).unique != Load(number=1).unique


def sync(page: Any, net: Any) -> None: ...


async def one(page: Any) -> None: ...


async def four(page: Any, net: Any, load: Any, more: Any) -> None: ...


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (sync, "The charter sync is no coroutine: write `async def sync(page, net)`."),
        (one, "The charter one must take (page, net) or (page, net, load)."),
        (four, "The charter four must take (page, net) or (page, net, load)."),
    ],
)
def test_a_function_that_can_be_no_charter_is_refused(function: Any, said: str) -> None:
    assert problem(lambda: charter("Does it?")(function)) == said


@pytest.mark.parametrize("question", ["", "  \n"])
def test_a_charter_without_a_question_is_refused(question: str) -> None:
    assert "asks nothing" in problem(lambda: charter(question)(looks))


@pytest.mark.parametrize("timeout", [0, -1.0])
def test_a_timeout_that_is_none_is_refused(timeout: float) -> None:
    assert "give seconds above 0" in problem(lambda: charter("?", timeout=timeout)(looks))


@pytest.mark.parametrize("given", ["depends_on", "ignore"])
@pytest.mark.parametrize("pattern", ["", "**/{cart", "localhost:8000/api", " **/cart"])
def test_a_pattern_that_is_none_is_refused(given: str, pattern: str) -> None:
    patterns: dict[str, Any] = {given: [pattern]}
    assert "names a pattern that is none" in problem(lambda: charter("?", **patterns)(looks))


@pytest.mark.parametrize("given", ["depends_on", "ignore", "tags"])
def test_a_text_where_a_list_is_due_is_refused(given: str) -> None:
    """A text is a sequence of texts too, of its letters."""
    text: dict[str, Any] = {given: "**/api/cart"}
    assert given in problem(lambda: charter("?", **text)(looks))


def test_a_reset_that_is_no_coroutine_is_refused() -> None:
    not_awaitable: Any = lambda: None  # noqa: E731
    assert "reset" in problem(lambda: charter("?", reset=not_awaitable)(looks))


@pytest.mark.parametrize("until", [date(2026, 12, 31), "2026-12-31"])
def test_a_known_bug_has_a_ticket_and_a_last_day(until: date | str) -> None:
    made = charter("?", ticket="SHOP-12", known_until=until)(looks)
    assert (made.ticket, made.known_until) == ("SHOP-12", date(2026, 12, 31))


@pytest.mark.parametrize("until", [datetime(2026, 12, 31, tzinfo=UTC), 20261231, "", "tomorrow"])
def test_a_last_day_that_is_no_day_is_refused(until: Any) -> None:
    """A moment too: no day equals it, and none comes before or after it."""
    said = problem(lambda: charter("?", ticket="SHOP-12", known_until=until)(looks))
    assert said == f"The charter looks: known_until={until!r} is no day: write 2026-12-31."


@pytest.mark.parametrize("ticket", ["", " \n", 12])
def test_a_ticket_that_names_nothing_is_refused(ticket: Any) -> None:
    said = problem(lambda: charter("?", ticket=ticket, known_until="2026-12-31")(looks))
    assert said == f'The charter looks: ticket={ticket!r} names none: write ticket="SHOP-12".'


@pytest.mark.parametrize("given", [{"ticket": "SHOP-12"}, {"known_until": "2026-12-31"}])
def test_a_ticket_and_a_last_day_go_together(given: Any) -> None:
    assert "both ticket= and known_until=" in problem(lambda: charter("?", **given)(looks))


# Files of charters


def test_a_file_gives_its_charters_in_order_with_ids_relative_to_the_root(tmp_path: Path) -> None:
    write(tmp_path, GOOD, "qa/shop.py")
    assert [c.id for c in loaded(tmp_path, "qa/shop.py")] == [
        "qa/shop.py::cart_total",
        "qa/shop.py::can_order",
    ]


def test_a_file_outside_of_the_root_is_named_from_there(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD)
    ids = [c.id for c in load_charters([str(file)], root=tmp_path / "elsewhere")]
    assert ids[0] == f"../{file.name}::cart_total"


def test_one_charter_of_a_file_can_be_named(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    assert [c.name for c in loaded(tmp_path, "charters.py::can_order")] == ["can_order"]


def test_a_charter_that_is_asked_for_twice_comes_once(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    names = [c.name for c in loaded(tmp_path, "charters.py::can_order", "charters.py")]
    assert names == ["can_order", "cart_total"]


def test_a_folder_gives_the_files_that_are_named_like_charters(tmp_path: Path) -> None:
    for name in ("charters.py", "a/charter_cart.py", "b/cart_charter.py", "b/shop_charters.py", "helper.py"):
        write(tmp_path, GOOD, name)
    files = [c.id.partition("::")[0] for c in load_charters([str(tmp_path)], root=tmp_path)]
    assert sorted(set(files)) == [
        "a/charter_cart.py",
        "b/cart_charter.py",
        "b/shop_charters.py",
        "charters.py",
    ]


def test_a_file_can_import_what_lies_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", ["", *sys.path])
    write(tmp_path, "QUESTION = 'Does it?'\n", "beside_these_charters.py")
    write(
        tmp_path,
        "from bughunt import charter\nfrom beside_these_charters import QUESTION\n"
        "@charter(QUESTION)\nasync def asks(page, net): ...\n",
    )
    assert [c.question for c in loaded(tmp_path, "charters.py")] == ["Does it?"]


def test_charters_that_a_file_only_imports_are_not_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", ["", *sys.path])
    write(tmp_path, GOOD, "others_than_these.py")
    write(
        tmp_path,
        "from others_than_these import cart_total\nfrom bughunt import charter\n"
        "@charter('?')\nasync def asks(page, net): ...\n",
    )
    assert [c.name for c in loaded(tmp_path, "charters.py")] == ["asks"]


def test_two_files_of_one_name_are_two_files(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write(tmp_path, GOOD, f"{folder}/charters.py")
    assert len(loaded(tmp_path, "a/charters.py", "b/charters.py")) == 4


SAID: Sequence[tuple[str, str, str]] = [
    ("def broken(:\n", "charters.py", "does not import: SyntaxError"),
    ("import no_such_module\n", "charters.py", "does not import: ModuleNotFoundError: No module named"),
    ("\n\nraise ValueError('no')\n", "charters.py", "does not import: ValueError: no (line 3)"),
    ("raise ValueError('one\\ntwo')\n", "charters.py", "does not import: ValueError: one"),
    ("import sys\nsys.exit(3)\n", "charters.py", "does not import: SystemExit: 3 (line 2)"),
    ("async def cart_total(page, net): ...\n", "charters.py", "holds no charter"),
    ("", "charters.py", "holds no charter"),
    ("hello", "charters.txt", "is no Python file"),
    ("from bughunt import charter\n@charter('?')\ndef f(page, net): ...\n", "charters.py", "no coroutine"),
]


@pytest.mark.parametrize(("text", "name", "said"), SAID, ids=[said for *_, said in SAID])
def test_a_file_that_cannot_be_used_is_told_on_one_line(
    tmp_path: Path, text: str, name: str, said: str
) -> None:
    write(tmp_path, text, name)
    assert said in problem(lambda: loaded(tmp_path, name))


def test_a_file_that_was_broken_can_be_loaded_once_it_is_mended(tmp_path: Path) -> None:
    write(tmp_path, "raise ValueError\n")
    problem(lambda: loaded(tmp_path, "charters.py"))
    write(tmp_path, GOOD)
    assert len(loaded(tmp_path, "charters.py")) == 2


def test_a_path_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "gone.py: give a charter file" in problem(lambda: loaded(tmp_path, "gone.py"))


def test_a_folder_without_charters_is_told(tmp_path: Path) -> None:
    write(tmp_path, GOOD, "helper.py")
    assert "No charter file in" in problem(lambda: load_charters([str(tmp_path)], root=tmp_path))


@pytest.mark.parametrize(
    ("name", "said"), [("cart_totl", "Did you mean cart_total?"), ("x", "It has cart_total, can_order.")]
)
def test_a_name_that_is_not_there_is_told_with_those_that_are(tmp_path: Path, name: str, said: str) -> None:
    write(tmp_path, GOOD)
    assert problem(lambda: loaded(tmp_path, f"charters.py::{name}")).endswith(said)
