"""Signing in opens the account, and only to whoever signed in, unless a bug is switched on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from target_apps.login import LoginServer
from tests.target_apps.asking import Client, serving


@pytest.fixture
def login() -> Iterator[Client]:
    with serving(LoginServer) as client:
        yield client


def sign_in(client: Client, user: str = "ada", password: str = "difference") -> str:
    """The cookie of a new session."""
    answer = client("POST", "/api/session", {"user": user, "password": password})
    assert answer.status == 201
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    return str(cookie.partition(";")[0])


def test_a_stranger_is_led_to_the_sign_in_page_and_the_api_is_shut(login: Client) -> None:
    page = login.get("/account")
    assert (page.status, page.headers["Location"]) == (303, "/sign-in")
    assert login.get("/sign-in").status == 200
    assert login.get("/api/account").status == 401
    assert login("PUT", "/api/account/nickname", {"nickname": "x"}).status == 401


def test_who_signed_in_gets_the_page_and_their_own_account(login: Client) -> None:
    ada, grace = sign_in(login), sign_in(login, "grace", "nanosecond")
    assert login.get("/account", cookie=ada).status == 200
    assert login.get("/account.js").status == 200
    assert login.get("/api/account", cookie=ada).json["mail"] == "ada@engine.example"
    assert login.get("/api/account", cookie=grace).json["name"] == "Grace Hopper"


@pytest.mark.parametrize(
    "sent",
    [
        {"user": "ada", "password": "nanosecond"},
        {"user": "bob", "password": "difference"},
        {"user": "ada"},
        {},
    ],
)
def test_a_wrong_name_or_password_opens_nothing(login: Client, sent: dict[str, str]) -> None:
    answer = login("POST", "/api/session", sent)
    assert (answer.status, answer.headers["Set-Cookie"]) == (401, None)


def test_a_new_nickname_belongs_to_the_session(login: Client) -> None:
    one, other = sign_in(login), sign_in(login)
    assert login("PUT", "/api/account/nickname", {"nickname": " queen "}, cookie=one).status == 200
    assert login.get("/api/account", cookie=one).json["nickname"] == "queen"
    assert login.get("/api/account", cookie=other).json["nickname"] == "countess"
    assert login("PUT", "/api/account/nickname", {"nickname": " "}, cookie=one).status == 400


def test_signing_out_ends_the_session(login: Client) -> None:
    cookie = sign_in(login)
    answer = login("DELETE", "/api/session", cookie=cookie)
    assert answer.status == 204
    assert "Max-Age=0" in answer.headers["Set-Cookie"]
    assert login.get("/api/account", cookie=cookie).status == 401


def test_the_bug_of_the_password_takes_any() -> None:
    with serving(LoginServer, "accepts-any-password") as client:
        assert sign_in(client, "ada", "a guess")


def test_the_bug_of_the_door_shows_somebodys_account_to_strangers() -> None:
    with serving(LoginServer, "opens-to-strangers") as client:
        assert client.get("/account").status == 200
        assert client.get("/api/account").json["name"] == "Ada Lovelace"


def test_the_bug_of_signing_out_keeps_the_session() -> None:
    with serving(LoginServer, "sign-out-keeps-session") as client:
        cookie = sign_in(client)
        answer = client("DELETE", "/api/session", cookie=cookie)
        assert (answer.status, answer.headers["Set-Cookie"]) == (204, None)
        assert client.get("/api/account", cookie=cookie).status == 200


def test_the_bug_of_the_script_is_a_404() -> None:
    with serving(LoginServer, "script-missing") as client:
        assert client.get("/account.js").status == 404
        assert client.get("/sign_in.js").status == 200


def test_the_bug_of_the_nickname_confirms_and_forgets() -> None:
    with serving(LoginServer, "nickname-not-kept") as client:
        cookie = sign_in(client)
        answer = client("PUT", "/api/account/nickname", {"nickname": "queen"}, cookie=cookie)
        assert answer.json["nickname"] == "queen"
        assert client.get("/api/account", cookie=cookie).json["nickname"] == "countess"
