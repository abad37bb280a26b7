"""One Chromium for many episodes: finding it, starting it, a clean context for each episode, and replacing it when it fails.

A new context means a new renderer process, as dear as several turns. So the context of an episode that kept to one page and one origin is swept and
used again: its page is emptied, its history, cookies, storage and cache are deleted (the cache not where every episode gets the same files, which would
be read and compiled anew each time). Any other is closed.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path

import playwright
from playwright.async_api import BrowserContext, async_playwright
from playwright.async_api import Error as PlaywrightError

from wr1_utils.errors import WR1Error
from wr1_utils.web.script import PREPARE

START_S = 60.0  # limit of starting the browser
OPEN_S = 30.0  # limit of opening a context
CLOSE_S = 4.0  # limit of each step of closing one; a browser that needs longer is replaced
SWEEP_S = 2.0  # limit of sweeping one; it is closed instead when that takes longer
EMPTY_SESSION = "() => { window.name = ''; try { sessionStorage.clear(); } catch (error) {} }"
SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--disable-background-networking", "--disable-component-update", "--disable-features=Translate,MediaRouter,PaintHolding",
    "--disable-gpu", "--in-process-gpu", "--no-first-run", "--no-pings", "--mute-audio", "--process-per-site",
)  # --in-process-gpu: there is nothing but software to draw with, and a process of its own for it takes a tenth more CPU time a turn;
# --process-per-site: one renderer for each site of a context; contexts never share one


class InfrastructureError(RuntimeError):
    """The browser or a site failed, not the agent: the episode has no reward."""


class BrowserNotFound(WR1Error):
    """No browser to use, or the one that the settings name does not exist."""


@dataclass(frozen=True)
class BrowserPath:
    path: str
    source: str  # "settings", "playwright" or "system"


def find_browser(setting: str = "", headless: bool = True) -> BrowserPath:
    """The browser to start: the settings' own path or program name, else Playwright's download, else one of the system.

    Raises BrowserNotFound.
    """
    if setting:
        path = shutil.which(os.path.expanduser(setting))
        if path is None:
            raise BrowserNotFound(f'browser.path is "{setting}", but there is no such program; give a browser\'s path, or "" to find one.')
        return BrowserPath(path, "settings")
    own = _playwright_browser(headless)
    if own:
        return BrowserPath(own, "playwright")
    for name in (SHELLS if headless else ()) + BROWSERS:
        path = shutil.which(name)
        if path:
            return BrowserPath(path, "system")
    raise BrowserNotFound("no Chromium was found; run `playwright install chromium-headless-shell`, or install the system's package "
                          "chromium-headless-shell or chromium.")


def _playwright_browser(headless: bool) -> str | None:
    """The program that this version of Playwright has downloaded, if it has."""
    folder = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or "~/.cache/ms-playwright"
    listing = Path(playwright.__file__).parent / "driver" / "package" / "browsers.json"
    revisions = {entry["name"]: entry["revision"] for entry in json.loads(listing.read_text(encoding="utf-8"))["browsers"]}
    for kind in ("chromium-headless-shell", "chromium") if headless else ("chromium",):
        home = Path(folder).expanduser() / f"{kind.replace('-', '_')}-{revisions.get(kind)}"
        for name in ("*/headless_shell", "*/chrome-headless-shell", "*/chrome"):
            for program in sorted(home.glob(name)):
                if os.access(program, os.X_OK):
                    return str(program)
    return None


async def limited(work: Awaitable, seconds: float, what: str):
    """Await with a limit; a browser's error or the end of the time is an InfrastructureError that says what was tried."""
    try:
        return await asyncio.wait_for(work, seconds)
    except TimeoutError:
        raise InfrastructureError(f"{what} took more than {seconds:.0f} s") from None
    except PlaywrightError as error:
        raise InfrastructureError(f"{what} failed: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


@dataclass(eq=False)
class _Process:
    """One started Chromium with its Playwright driver."""
    driver: object
    browser: object
    contexts: set = field(default_factory=set)  # in use
    idle: list = field(default_factory=list)  # swept: (viewport, context)
    failed: bool = False


class Browser:
    """One Chromium for any number of episodes. `active` bounds how many pages work at the same moment.

    A browser that died, or could not close a context, is replaced at the next `open`; contexts of the failed one that still
    work keep it until they end.
    """

    def __init__(self, settings):
        """`settings` is the tree's `browser`: path, active_pages, headless, launch_args."""
        self.settings = settings
        self.active = asyncio.Semaphore(settings.active_pages)
        self._lock = asyncio.Lock()
        self._processes: list[_Process] = []

    async def start(self) -> None:
        """Start the browser if it does not run. Raises BrowserNotFound, InfrastructureError."""
        await self._running()

    async def stop(self) -> None:
        """End every browser that was started; never raises and never hangs."""
        processes, self._processes = self._processes, []
        for process in processes:
            await self._end(process)

    async def open(self, *, headers: dict | None = None, cookies: list | None = None, viewport=(1280, 720)) -> BrowserContext:
        """An isolated context: a new one, without a page, or a swept one with one empty page. Raises BrowserNotFound, InfrastructureError."""
        process = await self._running()
        try:
            context = next((kept for size, kept in process.idle if size == viewport), None)
            if context:
                process.idle.remove((viewport, context))
                process.contexts.add(context)
                await limited(context.set_extra_http_headers(headers or {}), OPEN_S, "preparing a browser context")
            else:
                context = await limited(process.browser.new_context(
                    viewport={"width": viewport[0], "height": viewport[1]}, extra_http_headers=headers or None, accept_downloads=False,
                    service_workers="block", locale="en-US", timezone_id="UTC", reduced_motion="reduce"), OPEN_S, "opening a browser context")
                process.contexts.add(context)
                await limited(context.add_init_script(PREPARE), OPEN_S, "preparing a browser context")
            if cookies:
                await limited(context.add_cookies(cookies), OPEN_S, "setting the cookies of a browser context")
        except InfrastructureError:
            process.failed = True
            raise
        return context

    async def close(self, context: BrowserContext, origin: str = "", same_files: bool = False) -> None:
        """Close a context; never raises and never hangs. A browser that cannot close it is replaced.

        `origin`: the only one that the context's only page has shown; then the context is kept for another episode if it can be swept.
        `same_files`: its cache stays.
        """
        process = next((p for p in self._processes if context in p.contexts), None)
        if process is None:
            return
        process.contexts.discard(context)
        if origin and not process.failed and len(context.pages) == 1:
            try:
                await asyncio.wait_for(_sweep(context, origin, same_files), SWEEP_S)
                size = context.pages[0].viewport_size
                process.idle.append(((size["width"], size["height"]), context))
                return
            except (TimeoutError, PlaywrightError):
                pass
        try:
            await asyncio.wait_for(context.close(), CLOSE_S)
        except (TimeoutError, PlaywrightError):
            process.failed = True
        if not process.browser.is_connected():
            process.failed = True
        if process.failed and not process.contexts and process in self._processes:
            self._processes.remove(process)
            await self._end(process)

    async def _running(self) -> _Process:
        async with self._lock:
            for process in self._processes:
                if not process.failed and process.browser.is_connected():
                    return process
            process = await self._launch()
            self._processes.append(process)
            return process

    async def _launch(self) -> _Process:
        program = find_browser(self.settings.path, self.settings.headless)
        driver = await limited(async_playwright().start(), START_S, "starting Playwright")
        try:
            browser = await limited(driver.chromium.launch(
                executable_path=program.path, headless=self.settings.headless, args=[*ARGUMENTS, *self.settings.launch_args],
                timeout=START_S * 1000, handle_sigint=False), START_S, f"starting the browser {program.path}")
        except BaseException:
            await _quietly(driver.stop())
            raise
        return _Process(driver, browser)

    async def _end(self, process: _Process) -> None:
        await _quietly(process.browser.close())
        await _quietly(process.driver.stop())


async def _sweep(context: BrowserContext, origin: str, same_files: bool) -> None:
    """Empties the context's page and deletes what an episode can leave behind in a context."""
    page = context.pages[0]
    await page.evaluate(EMPTY_SESSION)
    await page.mouse.move(-10, -10)
    await page.goto("about:blank")
    await context.clear_cookies()
    session = await context.new_cdp_session(page)
    await session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    if not same_files:
        await session.send("Network.clearBrowserCache")
    await session.send("Page.resetNavigationHistory")
    await session.detach()


async def _quietly(work: Awaitable) -> None:
    try:
        await asyncio.wait_for(work, CLOSE_S)
    except Exception:  # teardown has nobody to tell
        pass
