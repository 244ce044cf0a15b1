"""The documentation names what there is, all of it and nothing else."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer

import bughunt
import fault_routes
from bughunt import charters, cli, exceptions
from bughunt.agents import AGENTS
from bughunt.exit_codes import ExitCode
from bughunt.reports import FORMATS, Outcome, cause_json, investigation_json, runs_json
from bughunt.reports.wording import KIND_WORDS
from bughunt.settings import Credentials, LoadSettings, Settings, Target, load_settings
from bughunt.tower import EvidenceKind
from bughunt.tower.refusals import REFUSALS
from bughunt.verdict import endings, rules, worlds
from bughunt.verdict.judgement import CauseKind, Ending, Level, Reason, State, Verdict
from fault_routes import ABORT_CODES, RESOURCE_TYPES, parse_fault, specs
from tests.docs.pages import (
    DOCS,
    ROOT,
    Block,
    all_pages,
    anchors,
    blocks,
    headings,
    links,
    prose,
    section,
    table,
    terms,
)
from tests.reports import samples

COMMANDS = "reference/commands.md"
VERDICTS = "reference/verdicts.md"
FAULTS = "reference/faults.md"
PAGES = all_pages()


def _shown(page: Path) -> str:
    return str(page.relative_to(ROOT))


# Commands


def _walk(command: Any, name: str = "bughunt") -> Iterator[tuple[str, Any]]:
    yield name, command
    for part, below in getattr(command, "commands", {}).items():
        yield from _walk(below, f"{name} {part}")


ALL_COMMANDS: dict[str, Any] = dict(_walk(typer.main.get_command(cli.app)))


def _options_of(command: Any) -> set[str]:
    """Options by each of their names, arguments by what stands for them in the help."""
    return {
        name
        for parameter in command.params
        for name in ([parameter.metavar] if parameter.param_type_name == "argument" else parameter.opts)
    }


@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_every_option_of_a_command_is_documented_and_no_other(name: str) -> None:
    told = {term.split(" ")[0] for term in terms(COMMANDS, f"`{name}`")}
    assert told == _options_of(ALL_COMMANDS[name])


def test_no_command_is_documented_that_is_not_there() -> None:
    told = [words.strip("`") for words in headings(DOCS / COMMANDS) if words.startswith("`bughunt")]
    assert sorted(told) == sorted(ALL_COMMANDS)


def test_choices_are_told_in_full() -> None:
    assert f"--format {'|'.join(FORMATS)}" in terms(COMMANDS, "`bughunt report`")
    assert f"--agent {'|'.join(AGENTS)}" in terms(COMMANDS, "`bughunt run`")


def test_json_is_as_told() -> None:
    view = samples.env_error()
    assert set(terms(COMMANDS, "INVESTIGATION")) == set(investigation_json(view))
    assert view.judgement is not None
    assert set(terms(COMMANDS, "CAUSE")) == set(cause_json(view.judgement.causes[0]))
    told = blocks(DOCS / COMMANDS, "text")[0].text
    assert re.findall(r'"(\w+)"', told) == [*runs_json([view]), "exit_code"]


def test_every_exit_code_is_documented() -> None:
    assert terms(COMMANDS, "Exit codes") == [str(int(code)) for code in ExitCode]
    assert [row[0] for row in table("how-to/ci.md", "The exit code")] == [str(int(c)) for c in ExitCode]


def _command_lines() -> Iterator[tuple[str, str]]:
    """Every `bughunt ...` that a page tells to type, and every one in its running text."""
    for page in PAGES:
        typed = [block.text for block in blocks(page) if block.language in {"sh", "console", ""}]
        for text in (*typed, *re.findall(r"`([^`\n]+)`", prose(page))):
            for line in text.replace("\\\n", " ").splitlines():
                if re.match(r"(\$ )?bughunt [a-z-]", line):
                    yield _shown(page), line.removeprefix("$ ")


def test_commands_in_all_pages_are_such() -> None:
    lines = list(_command_lines())
    assert lines
    for page, line in lines:
        words = line.split()
        deepest = max(n for n in (3, 2, 1) if " ".join(words[:n]) in ALL_COMMANDS)
        name = " ".join(words[:deepest])
        assert deepest > 1 or words[1].startswith("--"), f"{page}: {line}"
        used = {word for word in words[2:] if re.match(r"--?[a-z]", word)}
        known = _options_of(ALL_COMMANDS[name]) | {"--help"}
        assert used <= known, f"{page}: {line}"


def test_faults_in_all_pages_can_be_parsed() -> None:
    listed = [line for block in blocks(DOCS / FAULTS, "text") for line in block.text.splitlines() if line]
    given = [
        spec.strip("'\"")
        for _, line in _command_lines()
        for spec in re.findall(r"--fault ('[^']+'|\S+)", line)
        if spec != "SPEC"
    ]
    assert given
    for spec in [one for one in listed if not one.startswith("KIND")] + given:
        assert parse_fault(spec).spec, spec


# Settings


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Top level", Settings),
        ("`[load]`", LoadSettings),
        ("`[targets.NAME]`", Target),
        ("`[targets.NAME.http_credentials]`", Credentials),
    ],
)
def test_every_setting_is_documented_and_no_other(heading: str, kind: type[msgspec.Struct]) -> None:
    told = terms("reference/settings.md", heading)
    assert sorted(told) == sorted(field.name for field in msgspec.structs.fields(kind))


@pytest.mark.parametrize(("heading", "kind"), [("Top level", Settings), ("`[load]`", LoadSettings)])
def test_the_defaults_are_as_told(heading: str, kind: type[msgspec.Struct]) -> None:
    defaults = {field.name: field.default for field in msgspec.structs.fields(kind)}
    for name, told, _ in table("reference/settings.md", heading):
        if told:
            default = defaults[name.strip("`")]
            assert told.strip("`") == msgspec.json.encode(default).decode(), name


def test_every_environment_variable_is_documented_and_no_other() -> None:
    sources = [file.read_text(encoding="utf-8") for file in (ROOT / "bughunt").rglob("*.py")]
    read = {name for text in sources for name in re.findall(r'"((?:BUGHUNT|ANTHROPIC)_[A-Z_]+)"', text)}
    assert set(terms("reference/settings.md", "Environment variables")) == read


def _tables_of_settings() -> list[Block]:
    return [block for page in PAGES for block in blocks(page, "toml")]


@pytest.mark.parametrize("block", _tables_of_settings(), ids=lambda block: _shown(block.page))
def test_settings_in_all_pages_can_be_loaded(block: Block, tmp_path: Path) -> None:
    (tmp_path / "bughunt.toml").write_text(block.text, encoding="utf-8")
    needed = re.findall(r"\$\{(\w+)\}", block.text)
    assert load_settings(tmp_path, dict.fromkeys(needed, "a value")).root == str(tmp_path)


# Faults


def test_every_kind_of_fault_is_documented_and_no_other() -> None:
    told = {term.split("=")[0] for term in terms(FAULTS, "Kinds") if not term.isdigit()}
    assert told == (set(specs._PLAIN_KINDS) | set(specs._VALUED_KINDS)) - set(ABORT_CODES)


def test_every_abort_code_option_and_resource_type_is_documented_and_no_other() -> None:
    assert _first(FAULTS, "Abort codes") == list(ABORT_CODES)
    assert set(_first(FAULTS, "Options")) == specs._OPTIONS
    assert set(_first(FAULTS, "Resource types")) == RESOURCE_TYPES


def _first(page: str, heading: str) -> list[str]:
    """The first cells of a table."""
    return [row[0].strip("`") for row in table(page, heading)]


# Verdicts


@pytest.mark.parametrize(
    ("page", "heading", "kind"),
    [
        (VERDICTS, "Verdicts of a run", Verdict),
        (VERDICTS, "States", State),
        (VERDICTS, "Reasons", Reason),
        (VERDICTS, "Levels", Level),
        (VERDICTS, "Endings", Ending),
        (VERDICTS, "Causes", CauseKind),
        ("how-to/read-a-report.md", "Outcomes", Outcome),
        ("reference/evidence.md", "Kinds", EvidenceKind),
    ],
)
def test_every_member_is_documented_and_no_other(page: str, heading: str, kind: type[StrEnum]) -> None:
    assert sorted(_first(page, heading)) == sorted(kind)


def test_causes_are_called_as_reports_call_them() -> None:
    told = {row[0].strip("`"): row[1] for row in table(VERDICTS, "Causes")}
    assert told == {str(kind): words for kind, words in KIND_WORDS.items()}


def _constants(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from _constants(node.body)
        yield from _constants(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def _place_of_rule(called: ast.expr, module: Any) -> int | None:
    """Which argument of a function of the module is the rule."""
    function = getattr(module, called.id, None) if isinstance(called, ast.Name) else None
    if not inspect.isfunction(function):
        return None
    parameters = list(inspect.signature(function).parameters)
    return parameters.index("rule") if "rule" in parameters else None


def _rules_in(module: Any) -> set[str]:
    """Every text that a module gives to a judgement as its rule: whatever is passed as `rule`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "rule":
                    found.update(_constants(keyword.value))
            if (place := _place_of_rule(node.func, module)) is not None and len(node.args) > place:
                found.update(_constants(node.args[place]))
        elif isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "rule" for target in node.targets
        ):
            found.update(_constants(node.value))
    return found


@pytest.mark.parametrize(
    ("heading", "modules"),
    [("Rules for a load", [endings, worlds]), ("Rules for a run", [rules])],
    ids=["load", "run"],
)
def test_every_rule_is_documented_and_no_other(heading: str, modules: list[Any]) -> None:
    named = set().union(*map(_rules_in, modules))
    assert len(named) > 5
    assert set(_first(VERDICTS, heading)) == named


# Exceptions, evidence, charters


def _exceptions_in(module: Any) -> set[str]:
    return {name for name in module.__all__ if _is_exception(getattr(module, name))}


def _is_exception(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def test_every_exception_is_documented_and_no_other() -> None:
    page = "reference/exceptions.md"
    assert _exceptions_in(exceptions) == set(exceptions.__all__)
    refusals = {kind.__name__ for kind in REFUSALS.values()}
    assert set(_first(page, "Refusals of the database")) == refusals
    assert set(_first(page, "In general")) == _exceptions_in(exceptions) - refusals
    elsewhere = (_exceptions_in(bughunt) | _exceptions_in(fault_routes)) - _exceptions_in(exceptions)
    assert set(_first(page, "Elsewhere")) == elsewhere


def test_exit_codes_of_exceptions_are_as_told() -> None:
    for name, code, *_ in table("reference/exceptions.md", "In general"):
        kind = getattr(exceptions, name.strip("`"))
        ends_with = ExitCode.USAGE if issubclass(kind, exceptions.UsageError) else ExitCode.HARNESS
        assert code == ("" if kind is exceptions.BughuntError else str(int(ends_with))), name


def test_every_refusal_of_the_database_is_documented_and_no_other() -> None:
    assert _first("reference/evidence.md", "What the database refuses") == list(REFUSALS)


def test_every_option_of_a_charter_is_documented_and_no_other() -> None:
    told = _first("how-to/write-charters.md", "Options of `@charter`")
    assert told == list(inspect.signature(charters.charter).parameters)
    named = "\n".join(section("how-to/write-charters.md", "Where charters lie"))
    assert all(f"`{pattern}`" in named for pattern in charters.CHARTER_FILES)


# All pages


@pytest.mark.parametrize("page", PAGES, ids=_shown)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} is not there"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


def test_every_page_is_in_the_index() -> None:
    listed = {(DOCS / link).resolve() for link in links(DOCS / "README.md")}
    assert listed >= {page.resolve() for page in DOCS.rglob("*.md")} - {DOCS / "README.md"}


@pytest.mark.parametrize("page", PAGES, ids=_shown)
def test_python_in_all_pages_compiles(page: Path) -> None:
    for block in blocks(page, "python"):
        compile(block.text, _shown(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def _charter_files() -> list[Block]:
    written = (block for page in PAGES for block in blocks(page, "python"))
    return [block for block in written if "@charter" in block.text]


@pytest.mark.parametrize("block", _charter_files(), ids=lambda block: _shown(block.page))
def test_charters_in_all_pages_can_be_loaded(block: Block, tmp_path: Path) -> None:
    (tmp_path / "charters.py").write_text(block.text, encoding="utf-8")
    assert charters.load_charters([str(tmp_path / "charters.py")], root=tmp_path)
