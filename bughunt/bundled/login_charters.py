"""What an account's holder wants to know of signing in. Each load has a session of its own."""

from __future__ import annotations

from playwright.async_api import Page, expect

from bughunt import Load, Network, charter

__all__ = [
    "asks_a_stranger_to_sign_in",
    "keeps_a_new_nickname",
    "refuses_a_wrong_password",
    "shows_the_account",
    "signs_out_for_good",
]

#: Milliseconds that expectations wait: twice what the app allows itself.
WAIT = 2000
#: Milliseconds that an action may take: pages have what they act on from the start, but machines are busy.
ACT = 5_000

SESSION = "**/api/session"
ACCOUNT = "**/api/account"


@charter(question="Does a person who signs in see their account?")
async def shows_the_account(page: Page, net: Network) -> None:
    await _sign_in(page, net)
    account = await net.json(ACCOUNT, timeout=WAIT / 1000)
    await expect(page.get_by_test_id("name")).to_have_text(account["name"], timeout=WAIT)
    await expect(page.get_by_test_id("mail")).to_have_text("ada@engine.example", timeout=WAIT)


@charter(question="Is a stranger asked to sign in?")
async def asks_a_stranger_to_sign_in(page: Page, net: Network) -> None:
    await page.goto("/account")
    await _is_at(page, "Sign in")


@charter(question="Is a wrong password refused?")
async def refuses_a_wrong_password(page: Page, net: Network) -> None:
    await page.goto("/sign-in")
    await _fill_in(page, "a guess")
    refusal = page.get_by_test_id("status")
    await expect(refusal).to_have_text("The name or the password is wrong.", timeout=WAIT)


@charter(question="Is the account closed after signing out?")
async def signs_out_for_good(page: Page, net: Network) -> None:
    await _sign_in(page, net)
    await net.json(ACCOUNT, timeout=WAIT / 1000)
    await page.get_by_role("button", name="Sign out").click(timeout=ACT)
    await net.acknowledged(SESSION, method="DELETE")
    await _is_at(page, "Sign in")
    await page.goto("/account")
    await _is_at(page, "Sign in")


@charter(question="Is a new nickname there after a reload?")
async def keeps_a_new_nickname(page: Page, net: Network, load: Load) -> None:
    await _sign_in(page, net)
    await net.json(ACCOUNT, timeout=WAIT / 1000)
    await page.get_by_label("Nickname").fill(load.unique, timeout=ACT)
    await page.get_by_role("button", name="Save").click(timeout=ACT)
    await net.acknowledged("**/api/account/nickname", method="PUT")
    await expect(page.get_by_test_id("status")).to_have_text("Saved", timeout=WAIT)
    await page.reload()
    await net.json(ACCOUNT, timeout=WAIT / 1000)
    await expect(page.get_by_label("Nickname")).to_have_value(load.unique, timeout=WAIT)


async def _sign_in(page: Page, net: Network) -> None:
    await page.goto("/sign-in")
    await _fill_in(page, "difference")
    await net.acknowledged(SESSION, method="POST")
    await _is_at(page, "Your account")


async def _fill_in(page: Page, password: str) -> None:
    await page.get_by_label("Name").fill("ada", timeout=ACT)
    await page.get_by_label("Password").fill(password, timeout=ACT)
    await page.get_by_role("button", name="Sign in").click(timeout=ACT)


async def _is_at(page: Page, heading: str) -> None:
    await expect(page.get_by_role("heading", level=1)).to_have_text(heading, timeout=WAIT)
