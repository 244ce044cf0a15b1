"""What holds for every app: its bugs are known by name, switched on one at a time, and off by default."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from target_apps import APPS
from target_apps.server import AppServer
from tests.target_apps.asking import client_of, serving
from tests.target_apps.test_login import sign_in

EACH_BUG = [(name, bug) for name, app in APPS.items() for bug in app.BUGS]

#: Where the app itself answers with its page, so that its script may know of the bug.
PAGES = {"todo": "/lists/mine", "login": "/account"}

#: What is wrong with these is wrong in the server; the tests of the app look at it there.
IN_THE_SERVER = {
    ("cart", "truncated-json"),
    ("todo", "loses-the-write"),
    ("todo", "delete-does-nothing"),
    ("login", "accepts-any-password"),
    ("login", "opens-to-strangers"),
    ("login", "sign-out-keeps-session"),
    ("login", "script-missing"),
    ("login", "nickname-not-kept"),
    ("shop", "cors-forgotten"),
    ("shop", "truncated-catalogue"),
    ("shop", "forgets-quantity"),
}


@pytest.fixture(params=APPS)
def app(request: pytest.FixtureRequest) -> type[AppServer]:
    return APPS[request.param]


def test_each_app_is_known_by_the_name_of_its_package() -> None:
    assert {name: app.__module__ for name, app in APPS.items()} == {n: f"target_apps.{n}" for n in APPS}


def test_each_bug_says_what_a_user_would_see(app: type[AppServer]) -> None:
    assert 3 <= len(app.BUGS) <= 7
    assert all(wrong.endswith(".") and wrong[0].isupper() for wrong in app.BUGS.values())


def test_an_unknown_bug_is_refused_with_the_known_ones(app: type[AppServer]) -> None:
    with pytest.raises(ValueError, match="no bug 'sums-worng'") as refused:
        app(bug="sums-worng")
    assert all(name in str(refused.value) for name in app.BUGS)


@pytest.mark.parametrize(("name", "bug"), [pair for pair in EACH_BUG if pair not in IN_THE_SERVER])
def test_a_bug_of_the_page_is_told_to_a_script_that_knows_it(name: str, bug: str) -> None:
    path = PAGES.get(name, "/")
    with serving(APPS[name]) as client:
        cookie = sign_in(client) if name == "login" else ""
        assert b"data-bug" not in client.get(path, cookie=cookie).body
    with serving(APPS[name], bug) as client:
        cookie = sign_in(client) if name == "login" else ""
        page = client.get(path, cookie=cookie).text
        assert f'<html lang="en" data-bug="{bug}"' in page
        source = "/account.js" if name == "login" else "/app.js"
        code = page if name == "cart" else client.get(source).text
        assert f'"{bug}"' in code.replace(f'data-bug="{bug}"', "")


def test_no_page_takes_anything_from_the_internet(app: type[AppServer]) -> None:
    with serving(app) as client:
        text = client.get("/").text
    assert "https://" not in text
    assert "//cdn" not in text


def test_the_command_lists_the_bugs_and_serves_the_one_that_is_asked_for() -> None:
    command = [sys.executable, "-m", "target_apps.todo"]
    told = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=20, check=True)
    assert all(bug in told.stdout for bug in APPS["todo"].BUGS)
    wrong = subprocess.run(
        [*command, "--bug", "none"], capture_output=True, text=True, timeout=20, check=False
    )
    assert wrong.returncode == 2
    assert "adds-twice" in wrong.stderr
    with subprocess.Popen([*command, "--bug", "adds-twice"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with client_of(_Running(url)) as client:
            assert 'data-bug="adds-twice"' in client.get("/lists/mine").text
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=10) == 0


class _Running(AppServer):
    """A server that another process runs."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    @property
    def url(self) -> str:
        return self._url
