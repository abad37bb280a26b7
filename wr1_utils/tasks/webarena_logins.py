"""Logins to WebArena's sites: made by Playwright, kept outside the repository, tried and renewed when stale.

An account is `user` and `password` of the environment's SHOPPING_USER, SHOPPING_PASSWORD and so on, or of a TOML file:

    [shopping]
    user = "…"
    password = "…"
    login_page = "/login"       # these two only where the site is laid out otherwise than WebArena's
    member_page = "/orders"     # a page that sends visitors who are not logged in elsewhere, or asks them for a password
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import time
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from wr1_utils.settings import ROOT, SettingsError, WebArenaSettings, near_miss
from wr1_utils.web.browser import Browser, InfrastructureError, limited

PAGE_S = 60.0  # limit of opening one page of a site; a site that has just started is slow
PAGES = {  # site → where one logs in, and a page for members alone
    "shopping": ("/customer/account/login/", "/wishlist/"),
    "shopping_admin": ("", "/dashboard"),
    "reddit": ("/login", "/submit"),
    "gitlab": ("/users/sign_in", "/-/profile"),
}


@dataclass(frozen=True)
class Account:
    user: str
    password: str
    login_page: str
    member_page: str


class LoginRefused(InfrastructureError):
    """A site did not take an account; it is not the agent's fault."""


def read_accounts(settings: WebArenaSettings) -> dict[str, Account]:
    """Site → account, of the sites that have a login and for which one is given. The environment's goes before the file's. Raises SettingsError."""
    tables = _read_file(settings.accounts) if settings.accounts else {}
    accounts = {}
    for site, (login_page, member_page) in PAGES.items():
        given = {key: os.environ[f"{site.upper()}_{key.upper()}"] for key in ("user", "password") if os.environ.get(f"{site.upper()}_{key.upper()}")}
        found = {"login_page": login_page, "member_page": member_page, **tables.get(site, {}), **given}
        if found.get("user") and found.get("password"):
            accounts[site] = Account(**found)
    return accounts


def _read_file(name: str) -> dict[str, dict[str, str]]:
    path = Path(name).expanduser()
    if path.resolve().is_relative_to(ROOT):
        raise SettingsError("webarena.accounts is a file in the repository; keep passwords outside it.")
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f'webarena.accounts is "{name}", but there is no such file; give a TOML file with a table for each site, or "".') from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name} is not valid TOML: {error}.") from None
    known = [field.name for field in fields(Account)]
    for site, table in tables.items():
        if site not in PAGES or not isinstance(table, dict):
            raise SettingsError(f"{name} has {site!r}{near_miss(site, PAGES)}; it should have tables called {', '.join(PAGES)}.")
        for key, value in table.items():
            if key not in known or not isinstance(value, str):
                raise SettingsError(f"[{site}] in {name} has {key!r}{near_miss(key, known)}; it should have texts called {', '.join(known)}.")
    return tables


class Logins:
    """Cookies of logged-in sessions, one for each address and account. `browser` is used when one must be made or tried."""

    def __init__(self, settings: WebArenaSettings, browser: Browser):
        """Raises SettingsError if an account cannot be read or logins would be kept in the repository."""
        self.accounts, self.browser = read_accounts(settings), browser
        self.folder, self.fresh_s = Path(settings.login_folder).expanduser(), settings.login_hours * 3600
        if self.folder.resolve().is_relative_to(ROOT):
            raise SettingsError("webarena.login_folder is in the repository; sessions do not belong there, give a folder outside it.")
        self._locks: dict[Path, asyncio.Lock] = {}

    async def cookies(self, site: str, address: str, doubtful: bool = False) -> list[dict]:
        """The session's cookies, as Playwright takes them; [] for a site without a login.

        A kept session is tried first where it was last seen to work more than `login_hours` ago, or is `doubtful` (the site was reset). Raises
        LoginRefused when the site does not take the account or there is none, InfrastructureError when it does not answer.
        """
        if site not in PAGES:
            return []
        if site not in self.accounts:
            raise LoginRefused(f"{site} has no account; set {site.upper()}_USER and {site.upper()}_PASSWORD")
        kept = self._path(site, address)
        async with self._locks.setdefault(kept, asyncio.Lock()):
            state = _read_state(kept)
            if state and not doubtful and time.time() - kept.stat().st_mtime < self.fresh_s:
                return state["cookies"]
            if state is None or not await self._works(site, address, state):
                state = await self._log_in(site, address)
            self._keep(kept, state)
            return state["cookies"]

    def _path(self, site: str, address: str) -> Path:
        name = hashlib.sha256(f"{address} {self.accounts[site].user}".encode()).hexdigest()[:16]
        return self.folder / f"{site}-{name}.json"

    def _keep(self, path: Path, state: dict) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}.part")
        with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(state, file)
        os.replace(scratch, path)

    async def _works(self, site: str, address: str, state: dict) -> bool:
        async with self._context() as context:
            await context.add_cookies(state["cookies"])
            return await self._is_member(context, site, address)

    async def _is_member(self, context: BrowserContext, site: str, address: str) -> bool:
        """Does the page for members open, without being sent elsewhere or asked for a password in its place?"""
        account, page = self.accounts[site], await context.new_page()
        wanted = address.rstrip("/") + account.member_page
        response = await limited(page.goto(wanted, wait_until="domcontentloaded", timeout=PAGE_S * 1000), PAGE_S + 1, f"opening {wanted}")
        if response is not None and response.status >= 500:
            raise InfrastructureError(f"opening {wanted} failed: the site answered {response.status}")
        asked = await limited(page.locator("input[type=password]:visible").count(), PAGE_S, f"looking at {wanted}")
        there, path = (urlsplit(url).path.rstrip("/") + "/" for url in (page.url, wanted))
        return (response is None or response.ok) and not asked and there.startswith(path)

    async def _log_in(self, site: str, address: str) -> dict:
        account, url = self.accounts[site], address.rstrip("/") + self.accounts[site].login_page
        async with self._context() as context:
            page = await context.new_page()
            response = await limited(page.goto(url, wait_until="domcontentloaded", timeout=PAGE_S * 1000), PAGE_S + 1, f"opening {url}")
            if response is not None and response.status >= 500:
                raise InfrastructureError(f"opening {url} failed: the site answered {response.status}")
            form = page.locator("form:has(input[type=password]:visible)").first
            try:
                await form.wait_for(timeout=10_000)
            except PlaywrightError:
                raise LoginRefused(f"{url} shows no form with a password; is it the login page of {site}?") from None
            name = form.locator("input[type=text]:visible, input[type=email]:visible, input:not([type]):visible").first
            password = form.locator("input[type=password]:visible").first
            await limited(name.fill(account.user), PAGE_S, f"typing the user of {site}")
            await limited(password.fill(account.password), PAGE_S, f"typing the password of {site}")
            with contextlib.suppress(PlaywrightError):  # a page that comes late, or not at all, is judged by the page for members
                async with page.expect_navigation(wait_until="commit", timeout=PAGE_S * 1000):
                    await password.press("Enter")
            if not await self._is_member(context, site, address):
                raise LoginRefused(f"{site} at {address} did not take the account of {site.upper()}_USER: its page for members does not open after the login")
            return await limited(context.storage_state(), PAGE_S, f"reading the session of {site}")

    @contextlib.asynccontextmanager
    async def _context(self):
        context = await self.browser.open()
        try:
            yield context
        finally:
            await self.browser.close(context)


def _read_state(path: Path) -> dict | None:
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        return state if isinstance(state.get("cookies"), list) else None
    except (OSError, ValueError, AttributeError):
        return None
