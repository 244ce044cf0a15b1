"""Settings: what the file, the environment and a URL give, and one clear line for each mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from bughunt.exceptions import SettingsError
from bughunt.settings import Settings, Target, load_settings, target_at

TARGET = '[targets.staging]\nbase_url = "https://shop.example.org"\n'


def settings(folder: Path, text: str, **environment: str) -> Settings:
    """The settings of a file with this text, and an environment with nothing else in it."""
    (folder / "bughunt.toml").write_text(text)
    return load_settings(folder, environment)


def staging(folder: Path, more: str, **environment: str) -> Target:
    """A target with these further settings."""
    return settings(folder, TARGET + more, **environment).target("staging")


def problem(reading: Any) -> str:
    """The one line that is said."""
    with pytest.raises(SettingsError) as wrong:
        reading()
    message = str(wrong.value)
    assert len(message.splitlines()) == 1, message
    return message


# What there is


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    found = load_settings(tmp_path, {})
    assert (found.project, found.workers, found.targets) == ("default", 1, {})
    assert (found.load.deadline, found.load.pause) == (60.0, 1.0)
    assert found.root == str(tmp_path.resolve())


def test_the_file_is_found_from_a_folder_below_it(tmp_path: Path) -> None:
    (tmp_path / "bughunt.toml").write_text('project = "shop"\n')
    below = tmp_path / "qa" / "cart"
    below.mkdir(parents=True)
    found = load_settings(below, {})
    assert (found.project, found.root) == ("shop", str(tmp_path.resolve()))


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    below = tmp_path / "qa"
    below.mkdir()
    (tmp_path / "bughunt.toml").write_text('project = "far"\n')
    (below / "bughunt.toml").write_text('project = "near"\n')
    assert load_settings(below, {}).project == "near"


def test_everything_that_can_be_set_is_read(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        'project = "shop"\nworkers = 4\nredact = ["x-shop"]\n[load]\ndeadline = 30\npause = 0.5\n' + TARGET,
    )
    assert (found.project, found.workers, found.redact) == ("shop", 4, ("x-shop",))
    assert (found.load.deadline, found.load.pause) == (30.0, 0.5)
    assert found.target("staging").name == "staging"


def test_the_environments_database_goes_before_the_files(tmp_path: Path) -> None:
    text = 'db = "postgresql:///shop"\n'
    assert settings(tmp_path, text).db == "postgresql:///shop"
    assert settings(tmp_path, text, BUGHUNT_DB="sqlite:///other.db").db == "sqlite:///other.db"


def test_an_empty_variable_names_no_database(tmp_path: Path) -> None:
    assert settings(tmp_path, 'db = "postgresql:///shop"\n', BUGHUNT_DB="").db == "postgresql:///shop"


@pytest.mark.parametrize("text", ["", 'db = "sqlite:///.bughunt/tower.db"\n'])
def test_a_database_file_is_relative_to_the_settings_file(tmp_path: Path, text: str) -> None:
    assert settings(tmp_path, text).db == f"sqlite:///{tmp_path.resolve()}/.bughunt/tower.db"


def test_a_storage_state_is_relative_to_the_file(tmp_path: Path) -> None:
    target = staging(tmp_path, 'storage_state = "state.json"\n')
    assert target.storage_state == str(tmp_path.resolve() / "state.json")


# What is wrong


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("project = \n", "bughunt.toml: "),
        ("projct = 'shop'\n", "projct"),
        ("workers = 'two'\n", "$.workers"),
        ("workers = 0\n", "workers = 0: at least 1."),
        ("[load]\ndeadlin = 3\n", "deadlin"),
        ("[load]\ndeadline = 0\n", "deadline"),
        ("[load]\ndeadline = -1\n", "deadline"),
        ("[load]\npause = -1\n", "pause"),
        ("[targets.a]\nlocale = 'de'\n", "base_url"),
        ("[targets.a]\nbase_url = 'shop.test'\n", "Did you mean http://shop.test?"),
        ("[targets.a]\nbase_url = 'localhost:3000'\n", "Did you mean http://localhost:3000?"),
        ("[targets.a]\nbase_url = '//shop.test'\n", "Did you mean http://shop.test?"),
        ("[targets.a]\nbase_url = 'http://'\n", "names no host"),
        ("[targets.a]\nbase_url = 'http://shop.test:x'\n", "is no URL"),
        ("[targets.a]\nbase_url = 'http://[::1'\n", "is no URL"),
        (TARGET + "origin = ['x']\n", "origin"),
        (TARGET + "secrets = ['x']\n", "secrets is no setting"),
        (TARGET + "ignore = ['**/{a']\n", "**/{a"),
        (TARGET + "http_credentials = {username = 'ann'}\n", "password"),
    ],
)
def test_a_setting_that_is_wrong_is_told_on_one_line(tmp_path: Path, text: str, said: str) -> None:
    assert said in problem(lambda: settings(tmp_path, text))


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "bughunt.toml").write_bytes(b"\xff\xfe\x00")
    assert problem(lambda: load_settings(tmp_path, {})).startswith("bughunt.toml: ")


def test_a_target_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    found = settings(tmp_path, TARGET)
    assert problem(lambda: found.target("prod")) == "There is no target prod. Known: staging."
    assert "add [targets.prod]" in problem(lambda: Settings().target("prod"))


@pytest.mark.parametrize(
    ("url", "suggestion"),
    [
        ("shop.test", "http://shop.test"),
        ("ftp://shop.test", "http://shop.test"),
        ("htp://shop.test", "http://shop.test"),
    ],
)
def test_a_base_url_without_http_gets_a_suggestion_that_works(url: str, suggestion: str) -> None:
    message = problem(lambda: target_at(url))
    assert message.startswith("--base-url: ")
    assert message.endswith(f"Did you mean {suggestion}?")


def test_a_base_url_alone_is_a_target_named_by_it() -> None:
    target = target_at("http://127.0.0.1:8000/")
    assert (target.name, target.base_url) == ("http://127.0.0.1:8000", "http://127.0.0.1:8000/")


# Secrets


SIGNED_IN = (
    'extra_headers = {Authorization = "Bearer ${TOKEN}", X-Tester = "qa-${WHO}"}\n'
    'http_credentials = {username = "${WHO}", password = "${PASSWORD}"}\n'
)
ENVIRONMENT = {"TOKEN": "t0ken", "WHO": "ann", "PASSWORD": "pa55"}


def test_secrets_come_from_the_environment(tmp_path: Path) -> None:
    target = staging(tmp_path, SIGNED_IN, **ENVIRONMENT)
    assert target.extra_headers == {"Authorization": "Bearer t0ken", "X-Tester": "qa-ann"}
    assert target.http_credentials is not None
    assert (target.http_credentials.username, target.http_credentials.password) == ("ann", "pa55")


def test_what_came_from_the_environment_is_known_as_secret(tmp_path: Path) -> None:
    assert {"t0ken", "pa55"} <= set(staging(tmp_path, SIGNED_IN, **ENVIRONMENT).secrets)


@pytest.mark.parametrize(
    "more",
    [
        'extra_headers = {Authorization = "Bearer t0ken"}\n',
        'extra_headers = {X-Api-Key = "t0ken"}\n',
        'extra_headers = {Cookie = "sid=t0ken"}\n',
        'http_credentials = {username = "ann", password = "t0ken"}\n',
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(tmp_path: Path, more: str) -> None:
    message = problem(lambda: staging(tmp_path, more))
    assert "write ${NAME}" in message
    assert "t0ken" not in message


@pytest.mark.parametrize("missing", ["TOKEN", "WHO", "PASSWORD"])
def test_a_variable_that_is_not_set_is_named(tmp_path: Path, missing: str) -> None:
    environment = {name: value for name, value in ENVIRONMENT.items() if name != missing}
    message = problem(lambda: staging(tmp_path, SIGNED_IN, **environment))
    assert f"needs the environment variable {missing}, which is not set." in message


def test_no_representation_shows_a_secret(tmp_path: Path) -> None:
    found = settings(tmp_path, TARGET + SIGNED_IN, **ENVIRONMENT)
    target = found.target("staging")
    for shown in (repr(found), repr(target), str(target), repr(target.http_credentials), f"{target}"):
        assert "t0ken" not in shown
        assert "pa55" not in shown


def test_settings_do_not_change(tmp_path: Path) -> None:
    for value in (Settings(), target_at("http://shop.test")):
        with pytest.raises(AttributeError):
            value.project = "other"  # type: ignore[union-attr]
    assert msgspec.structs.asdict(Settings())["project"] == "default"


# Own hosts


@pytest.mark.parametrize(
    ("base_url", "own"),
    [
        ("https://shop.example.org/start", "example.org"),
        ("https://example.co.uk", "example.co.uk"),
        ("https://www.example.co.uk:8443", "example.co.uk"),
        ("https://ann.github.io", "ann.github.io"),
        ("http://localhost:3000", "localhost"),
        ("http://127.0.0.1:8000", "127.0.0.1"),
        ("http://[::1]:8000", "::1"),
        ("http://10.1.2.3", "10.1.2.3"),
        ("http://intranet/", "intranet"),
        ("https://SHOP.Example.ORG", "example.org"),
    ],
)
def test_the_own_host_is_the_registrable_domain_or_the_host_itself(base_url: str, own: str) -> None:
    assert target_at(base_url).own_hosts == (own,)


@pytest.mark.parametrize(
    ("origin", "own"),
    [
        ("https://api.example.net", "api.example.net"),
        ("https://api.example.net:8443/v1", "api.example.net:8443"),
        ("API.example.net", "api.example.net"),
        ("https://api.example.net:443", "api.example.net"),
    ],
)
def test_further_origins_are_own_hosts_as_a_browser_writes_them(origin: str, own: str) -> None:
    assert Target(base_url="http://shop.test", origins=(origin,)).own_hosts == ("shop.test", own)
