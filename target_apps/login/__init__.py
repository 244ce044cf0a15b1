"""Signing in: a session by cookie, and behind it an account page with its own API.

Without a session the page leads to the sign-in page, and the API answers 401. What a person changes in the
account belongs to the session, so that those who try the app at the same time do not meet.
"""

from __future__ import annotations

import secrets
import threading
from http import HTTPStatus
from typing import ClassVar, TypedDict

from target_apps.messages import Request, Response, as_json, page, plain, redirect, script, stylesheet
from target_apps.server import AppServer, Routes

__all__ = ["ACCOUNTS", "PASSWORDS", "Account", "LoginServer"]


class Account(TypedDict):
    name: str
    mail: str
    nickname: str


ACCOUNTS: dict[str, Account] = {
    "ada": {"name": "Ada Lovelace", "mail": "ada@engine.example", "nickname": "countess"},
    "grace": {"name": "Grace Hopper", "mail": "grace@compiler.example", "nickname": "amazing"},
}
PASSWORDS = {"ada": "difference", "grace": "nanosecond"}

COOKIE = "session={token}; Path=/; HttpOnly; SameSite=Lax"


class LoginServer(AppServer):
    """`with LoginServer() as server:` serves the sign-in page and the account page."""

    BUGS: ClassVar = {
        "accepts-any-password": "A wrong password signs in as well.",
        "opens-to-strangers": "The account page shows somebody's account without signing in.",
        "sign-out-keeps-session": "After signing out the account page still opens.",
        "forgets-mail": "The account page shows no mail address.",
        "script-missing": "The account page stays empty: its script is not there (404).",
        "nickname-not-kept": "A new nickname is said to be saved, and the old one is back after a reload.",
    }

    def __init__(self, *, port: int = 0, bug: str | None = None) -> None:
        super().__init__(port=port, bug=bug)
        self._sessions: dict[str, Account] = {}
        self._lock = threading.Lock()

    def routes(self) -> Routes:
        sign_in, account = page(__name__, "sign_in.html"), page(__name__, "account.html", bug=self.bug)
        style = stylesheet()
        scripts = {name: script(__name__, f"{name}.js") for name in ("sign_in", "account")}
        routes: Routes = {
            ("GET", "/"): lambda request: redirect("/account"),
            ("GET", "/sign-in"): lambda request: sign_in,
            ("GET", "/account"): lambda request: account if self._account(request) else redirect("/sign-in"),
            ("GET", "/looks.css"): lambda request: style,
            ("GET", "/sign_in.js"): lambda request: scripts["sign_in"],
            ("GET", "/account.js"): lambda request: scripts["account"],
            ("POST", "/api/session"): self._sign_in,
            ("DELETE", "/api/session"): self._sign_out,
            ("GET", "/api/account"): self._read,
            ("PUT", "/api/account/nickname"): self._rename,
        }
        gone = ("GET", "/account.js") if self.bug == "script-missing" else None
        return {where: endpoint for where, endpoint in routes.items() if where != gone}

    def _sign_in(self, request: Request) -> Response:
        user, password = request.sent.get("user"), request.sent.get("password")
        if not isinstance(user, str) or user not in ACCOUNTS or not self._fits(user, password):
            return plain("The name or the password is wrong.", status=HTTPStatus.UNAUTHORIZED)
        token = secrets.token_urlsafe(16)
        with self._lock:
            self._sessions[token] = ACCOUNTS[user].copy()
        return Response(status=HTTPStatus.CREATED, headers={"Set-Cookie": COOKIE.format(token=token)})

    def _fits(self, user: str, password: object) -> bool:
        return self.bug == "accepts-any-password" or password == PASSWORDS[user]

    def _sign_out(self, request: Request) -> Response:
        if self.bug == "sign-out-keeps-session":
            return Response(status=HTTPStatus.NO_CONTENT)
        with self._lock:
            self._sessions.pop(request.cookies.get("session", ""), None)
        return Response(
            status=HTTPStatus.NO_CONTENT, headers={"Set-Cookie": COOKIE.format(token="") + "; Max-Age=0"}
        )

    def _read(self, request: Request) -> Response:
        account = self._account(request)
        return as_json(account) if account else plain("Sign in first.", status=HTTPStatus.UNAUTHORIZED)

    def _rename(self, request: Request) -> Response:
        account, nickname = self._account(request), request.sent.get("nickname")
        if account is None:
            return plain("Sign in first.", status=HTTPStatus.UNAUTHORIZED)
        if not isinstance(nickname, str) or not nickname.strip():
            return plain("A nickname has at least one letter.", status=HTTPStatus.BAD_REQUEST)
        if self.bug != "nickname-not-kept":
            account["nickname"] = nickname.strip()
        return as_json({**account, "nickname": nickname.strip()})

    def _account(self, request: Request) -> Account | None:
        with self._lock:
            found = self._sessions.get(request.cookies.get("session", ""))
        return ACCOUNTS["ada"].copy() if found is None and self.bug == "opens-to-strangers" else found
