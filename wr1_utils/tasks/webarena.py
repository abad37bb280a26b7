"""WebArena-Lite and WebArena (arXiv 2307.13854) as places for episodes: the real tasks, on sites that run elsewhere.

Each site has one address or several, its copies (settings `webarena.…`, or the environment's SHOPPING, SHOPPING_ADMIN, REDDIT, GITLAB, MAP, WIKIPEDIA,
HOMEPAGE). An episode has a copy of each site that it can change to itself where there are several copies or a reset command; the command is
run for each of these sites before the episode starts. Without either, episodes share the sites, and `start` says which tasks suffer from that.

Deviations from WebArena:
- G rollouts of a task do not share one site that nothing resets (their issue 6), if only one of the two ways above is given.
- An episode is logged in on all sites of its task, as in BrowserGym; there the record's `storage_state` leaves out some.
- Scoring opens pages of its own (see evaluator.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
import os
import signal
import sys
import tempfile
from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Page

from wr1_utils.settings import Settings, SettingsError, WebArenaSettings
from wr1_utils.tasks.evaluator import score_task
from wr1_utils.tasks.judge import open_judge
from wr1_utils.tasks.scoring import fill_placeholders
from wr1_utils.tasks.task import Task
from wr1_utils.tasks.webarena_files import webarena_scoring, webarena_tasks
from wr1_utils.tasks.webarena_helpers import webarena_helpers
from wr1_utils.tasks.webarena_logins import PAGES, Logins
from wr1_utils.web.browser import Browser, InfrastructureError, limited
from wr1_utils.web.loop import run
from wr1_utils.web.place import Visit

SITES = ("shopping", "shopping_admin", "reddit", "gitlab", "map", "wikipedia")  # those that tasks name
READ_ONLY = ("map", "wikipedia")  # nobody can change them: all episodes share them, and they are never reset
COPY_S = 3600.0  # longest wait for a free copy of a site
ANSWER_S = 20.0  # limit of opening a page to see whether a site is there


def given_addresses(settings: WebArenaSettings) -> dict[str, list[str]]:
    """Site → the addresses of its copies as they are written, for the sites (and the homepage) that have one; see `address_fault`."""
    given = {site: (getattr(settings, site) or os.environ.get(site.upper(), "")).split() for site in (*SITES, "homepage")}
    return {site: [address.rstrip("/") for address in addresses] for site, addresses in given.items() if addresses}


def address_fault(address: str) -> str:
    """Why an address is none, "" if it is one."""
    if not address.startswith(("http://", "https://")):
        return "it should begin with http:// or https://"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port  # the port is read to see that it is one
        return "" if host else "it names no host"
    except ValueError as error:
        return f"it is no URL ({error})"


def site_addresses(settings: WebArenaSettings) -> dict[str, list[str]]:
    """The same, all of them good. Raises SettingsError for what is no address."""
    addresses = given_addresses(settings)
    for site, some in addresses.items():
        for address in some:
            if fault := address_fault(address):
                raise SettingsError(f"The address of {site} is {address!r}; {fault}.")
    return addresses


def changes_state(task: Task) -> bool:
    """May doing the task change what a site keeps? Those that are scored by what pages hold, and those whose record wants a reset."""
    return task.require_reset or "program_html" in task.eval["eval_types"]


def disturbance(settings: Settings, tasks: list[Task]) -> str:
    """The warning that tasks will disturb one another, with those tasks; "" where a reset command keeps them apart."""
    changing = [task for task in tasks if changes_state(task)]
    if settings.webarena.reset_command or not changing:
        return ""
    parts = []
    for split, some in itertools.groupby(sorted(changing, key=lambda task: task.split != "train"), key=lambda task: task.split == "train"):
        parts.append(f"  {'training' if split else 'test'} tasks: {_ranges([int(task.task_id.rpartition('.')[2]) for task in some])}")
    copied = all(len(copies) > 1 for site, copies in site_addresses(settings.webarena).items() if site in SITES and site not in READ_ONLY)
    how = "what one episode changes is still there for the next one on its copy" if copied else "what one episode changes, all later ones and those beside it see"
    return (f"WARNING: no reset hook. {len(changing)} of {len(tasks)} tasks may change the state of a site, and nothing puts it back: {how}. Their scores, "
            "and those of tasks that ask about that state, depend on what ran before.\n" + "\n".join(parts)
            + "\n  Remedy: webarena.reset_command (a shell command for each site and episode), and several addresses of each site to keep episodes apart.")


def _ranges(numbers: list[int]) -> str:
    """1, 2, 3, 7 as "1–3, 7"."""
    numbers = sorted(numbers)
    groups = [list(group) for _, group in itertools.groupby(numbers, key=lambda number, place=itertools.count(): number - next(place))]
    return ", ".join(str(group[0]) if len(group) == 1 else f"{group[0]}–{group[-1]}" for group in groups)


@dataclass(frozen=True)
class _Stay:
    """What one episode has: the address of each site, and the copies that are its own."""

    urls: dict[str, str]
    own: dict[str, str]


class WebArena:
    """A benchmark of WebArena's as a place for episodes (see `Place` in web/place.py)."""

    hidden: tuple[str, ...] = ()
    viewport = (1280, 720)
    same_files = False

    def __init__(self, settings: Settings, benchmark: str):
        """`settings` is the whole tree. Raises SettingsError for an address, an account file or a login folder that cannot be used."""
        self.name, self.scoring = benchmark, webarena_scoring(settings.tasks.scoring)
        self.settings, self._judge = settings, open_judge(settings.judge)
        self.addresses = site_addresses(settings.webarena)
        self._browser = Browser(settings.browser)  # for logins
        self.logins = Logins(settings.webarena, self._browser)
        self._free: dict[str, asyncio.Queue] = {site: asyncio.Queue() for site in self._own_sites(self.addresses)}
        for site, free in self._free.items():
            for address in self.addresses[site]:
                free.put_nowait(address)
        self._stays: dict[str, _Stay] = {}
        self._numbers = itertools.count()

    def start(self) -> None:
        """Makes or tries every login, and warns where episodes will disturb one another. Raises SettingsError that names what is missing or refused."""
        missing = [site.upper() for site in SITES if site not in self.addresses]
        if missing:
            raise SettingsError(f"The sites of {self.name} have no address: set {', '.join(missing)} in the environment, or webarena.{missing[0].lower()} and so "
                                f"on in the profile; wr1 doctor --benchmark {self.name} checks them.")
        tasks = webarena_tasks(self.settings.webarena, self.name, "test", self.scoring)
        if self.name == "webarena-lite":
            tasks += webarena_tasks(self.settings.webarena, self.name, "train", self.scoring)
        warning = disturbance(self.settings, tasks)
        if warning:
            print(warning, file=sys.stderr, flush=True)
        try:
            run(self._log_in_everywhere())
        except InfrastructureError as error:
            self.stop()
            raise SettingsError(f"{self.name} cannot start: {error}; wr1 doctor --benchmark {self.name} checks every site and login.") from None

    async def _log_in_everywhere(self) -> None:
        for site in PAGES:
            for address in self.addresses[site]:
                await self.logins.cookies(site, address, doubtful=True)

    def stop(self) -> None:
        run(self._browser.stop())

    def _own_sites(self, sites) -> list[str]:
        """Those of which an episode has a copy to itself, always in the same order, so that no two episodes wait for each other."""
        apart = bool(self.settings.webarena.reset_command)
        return [site for site in SITES if site in sites and site not in READ_ONLY and (apart or len(self.addresses[site]) > 1)]

    async def enter(self, task: Task, seed: int) -> Visit:
        """Waits for free copies of the task's sites, resets them and sees to the logins. Raises InfrastructureError."""
        own: dict[str, str] = {}
        try:
            for site in self._own_sites(task.sites):
                try:
                    own[site] = await asyncio.wait_for(self._free[site].get(), COPY_S)
                except TimeoutError:
                    raise InfrastructureError(f"no copy of {site} became free in {COPY_S:.0f} s") from None
            if self.settings.webarena.reset_command:
                await asyncio.gather(*(self._reset(site, address, task, seed) for site, address in own.items()))
            urls = {site.upper(): own.get(site, copies[0]) for site, copies in self.addresses.items()}
            cookies = []
            if task.require_login:
                for site in task.sites:
                    doubtful = site in own and bool(self.settings.webarena.reset_command)
                    cookies += await self.logins.cookies(site, urls[site.upper()], doubtful)
        except BaseException:
            self._give_back(own)
            raise
        key = f"{self.name}-{next(self._numbers)}"
        self._stays[key] = _Stay(urls, own)
        first, *further = fill_placeholders(task.start_url, urls).split(" |AND| ")
        return Visit(first, {}, cookies, key, tuple(further), task.geolocation)

    async def _reset(self, site: str, address: str, task: Task, seed: int) -> None:
        """Runs the reset command for one site, and waits until the site answers. Raises InfrastructureError."""
        limit = self.settings.webarena.reset_s
        told = {"WR1_SITE": site, "WR1_ADDRESS": address, "WR1_TASK": task.task_id, "WR1_SEED": str(seed)}
        fault = ""
        with tempfile.TemporaryFile() as errors:  # no pipe: what the command leaves running would hold it open
            process = await asyncio.create_subprocess_shell(
                self.settings.webarena.reset_command, env={**os.environ, **told}, start_new_session=True,
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=errors)
            try:
                async with asyncio.timeout(limit):
                    if await process.wait():
                        errors.seek(0)
                        last = (errors.read().decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
                        raise InfrastructureError(f"the reset command failed for {site} at {address} (exit {process.returncode}): {last}")
                    while fault := await site_fault(self._browser, address):
                        await asyncio.sleep(1)
            except TimeoutError:
                why = f"the site did not come back ({fault})" if fault else "the reset command did not end"
                raise InfrastructureError(f"resetting {site} at {address} took more than {limit:.0f} s: {why}") from None
            finally:
                if process.returncode is None:
                    with contextlib.suppress(ProcessLookupError):  # it ended just now
                        os.killpg(process.pid, signal.SIGKILL)
                    await process.wait()

    async def begin(self, page: Page, task: Task, visit: Visit) -> str:
        return task.intent

    async def finished(self, page: Page, task: Task, visit: Visit) -> bool:
        """The sites never end an episode by themselves."""
        return False

    async def score(self, page: Page, context: BrowserContext, task: Task, visit: Visit, answer: str | None) -> float | None:
        """1.0 or 0.0 for what the sites, the page and the answer are now; None where only a judge model could tell and there is none."""
        urls = self._stays[visit.key].urls
        admin = self.logins.accounts.get("shopping_admin")
        helpers = webarena_helpers(urls, (admin.user, admin.password) if admin else None)
        return await score_task(with_addresses(task, urls), page, context, urls, answer, helpers, variant=self.scoring, judge=self._judge)

    def leave(self, visit: Visit) -> None:
        """Gives the episode's copies back; doing it twice does no harm."""
        stay = self._stays.pop(visit.key, None)
        if stay:
            self._give_back(stay.own)

    def _give_back(self, own: dict[str, str]) -> None:
        for site, address in own.items():
            self._free[site].put_nowait(address)


def with_addresses(task: Task, urls: dict[str, str]) -> Task:
    """The task with addresses for placeholders in all that it is scored by: what pages must hold names sites too."""
    def filled(part):
        if isinstance(part, dict):
            return {key: filled(value) for key, value in part.items()}
        if isinstance(part, list):
            return [filled(value) for value in part]
        return fill_placeholders(part, urls) if isinstance(part, str) else part

    return dataclasses.replace(task, eval=filled(task.eval))


async def site_fault(browser: Browser, address: str) -> str:
    """Why a site does not answer in the browser, "" if it does; whatever page it shows will do, a fault of the server (5xx) will not."""
    context = await browser.open()
    try:
        page = await limited(context.new_page(), ANSWER_S, "opening a page")
        response = await limited(page.goto(address, wait_until="commit", timeout=ANSWER_S * 1000), ANSWER_S + 1, f"opening {address}")
        return f"it answered {response.status}" if response is not None and response.status >= 500 else ""
    except InfrastructureError as error:
        return str(error)
    finally:
        await browser.close(context)
