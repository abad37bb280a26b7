"""One episode of one task in a browser context of its own: `reset()`, `step(reply)`, `score()`, `close()` (Gymnasium's words, async).

A turn: read the reply, do its action, wait until the page is quiet, observe. An invalid reply costs the turn and never ends the
episode; the next observation's notices say what was wrong. Dialogs are accepted and told; a new tab opened by the agent
becomes the current one. Every wait has a limit; what the browser or the site fails at is an InfrastructureError.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass

from playwright.async_api import BrowserContext, Dialog, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from wr1_utils.web.actions import Action, Invalid, parse_reply
from wr1_utils.web.browser import Browser, InfrastructureError, first_line, limited
from wr1_utils.web.execution import ANSWER_S, Hands, execute
from wr1_utils.web.frames import Realm, look_into_frames, merge_realms
from wr1_utils.web.observation import Observation, View, make_view, quarter_tokens
from wr1_utils.web.picture import Picture, take_picture
from wr1_utils.web.place import Place, Visit
from wr1_utils.web.script import load_json
from wr1_utils.web.tabs import Tab, origin, until

WAIT_S = 1.0  # the action Wait, where it names no time
LONGEST_WAIT_S = 5.0
NONE_OPENED = "() => { if (window.__wr1_activity) window.__wr1_activity.opened = 0; }"
CLOSING_S = 0.5  # a tab that a page's script has closed is gone after this
DIALOGS_TOLD = 5  # of one turn; a page may open them without end

__all__ = ["Episode", "InfrastructureError", "StepResult"]


@dataclass(frozen=True)
class StepResult:
    observation: Observation | None  # None when the episode is over
    done: bool
    action: Action | None  # None: the reply was invalid
    error: str | None  # what the agent was told about its reply or action
    seconds: float  # in the browser


class Episode:
    """One attempt at a task. `intent` is known after `reset`; `answer` is the message of `exit`, or None; `steps` counts turns."""

    def __init__(self, browser: Browser, place: Place, task, seed: int, settings, count: Callable[[str], float] = quarter_tokens):
        """`settings` is the whole tree (its `episode` and `model.reply_style` are used); `count` gives the tokens of a text."""
        self.browser, self.place, self.task, self.seed = browser, place, task, seed
        self.limits, self.reply_style, self.count = settings.episode, settings.model.reply_style, count
        self.intent = ""
        self.answer: str | None = None
        self.steps = 0
        self._visit: Visit | None = None
        self._context: BrowserContext | None = None
        self._tabs: list[Tab] = []
        self._tab: Tab | None = None
        self._origins: set[str] = set()
        self._popups = False  # has another tab been opened?
        self._scoring = False
        self._new_tab = asyncio.Event()
        self._new_tabs: list[Tab] = []  # not yet told
        self._notices: list[str] = []
        self._dialogs = 0  # of this turn
        self._view: View | None = None
        self._realms: list[Realm] = []
        self._places: list[tuple[int, int]] = []
        self._anchored = None  # the frame that was scrolled in last
        self._generation = 0

    async def reset(self) -> Observation:
        """Open the task's page in a fresh context. Raises InfrastructureError."""
        await self.close()
        self.answer, self.steps = None, 0
        visit = self.place.enter(self.task, self.seed)
        self._visit = await visit if inspect.isawaitable(visit) else visit
        async with self.browser.active:
            self._context = await self.browser.open(headers=self._visit.headers, cookies=self._visit.cookies, viewport=self.place.viewport)
            self._context.on("page", self._on_page)
            self._context.on("dialog", self._on_dialog)
            swept = self._context.pages
            for page in swept:
                self._on_page(page)
            page = swept[0] if swept else await limited(self._context.new_page(), ANSWER_S, "opening a page")
            self._tab = self._tabs[0]
            if self._visit.geolocation:
                await limited(self._context.grant_permissions(["geolocation"]), ANSWER_S, "allowing the geolocation")
                await limited(self._context.set_geolocation(self._visit.geolocation), ANSWER_S, "setting the geolocation")
            await self._open_start(page, self._visit.start_url)
            for url in self._visit.further_urls:
                await self._open_start(await limited(self._context.new_page(), ANSWER_S, "opening a page"), url)
            if self._visit.further_urls:
                await limited(page.bring_to_front(), ANSWER_S, "bringing the first tab to the front")
            self._new_tab.clear()
            self._new_tabs.clear()
            begin = limited(self.place.begin(page, self.task, self._visit), self.limits.timeout_s, "beginning the task")
            self.intent = await begin or self.task.intent
            return await self._observe()

    async def step(self, reply: str) -> StepResult:
        """One turn. Raises InfrastructureError; RuntimeError before `reset`."""
        if self._view is None:
            raise RuntimeError("the episode has no page yet: call reset() before step()")
        started = time.monotonic()
        self.steps += 1
        action = parse_reply(reply, self.reply_style)
        if isinstance(action, Action) and action.call == "exit":
            self.answer = action.message
            return StepResult(None, True, action, None, time.monotonic() - started)
        if isinstance(action, Action) and action.action == "Wait":
            await asyncio.sleep(_wait_seconds(action.argument))
        async with self.browser.active:
            if isinstance(action, Invalid):
                action, error = None, f"invalid reply ({action.kind}): {action.message}"
            else:
                error = await self._act(action)
            if error:
                self._notices.append(f"error {error}")
            observation = await self._observe()
            done = await limited(self.place.finished(self._tab.page, self.task, self._visit), ANSWER_S, "asking whether the task has ended")
        return StepResult(None if done else observation, done, action, error, time.monotonic() - started)

    async def score(self) -> float | None:
        """The task's reward for the state of things now, by the place's own judge; None: it cannot tell. Raises InfrastructureError."""
        if self._tab is None:
            raise RuntimeError("the episode has no page yet: call reset() before score()")
        self._scoring = True  # what the judge opens is no tab of the agent's
        try:
            async with self.browser.active:
                work = self.place.score(self._tab.page, self._context, self.task, self._visit, self.answer)
                return await limited(work, 3 * self.limits.timeout_s, f"scoring task {self.task.task_id}")
        finally:
            self._scoring = False

    async def screenshot(self) -> bytes:
        """What the current tab shows, as a PNG of the viewport, for people. Raises InfrastructureError."""
        if self._tab is None:
            raise RuntimeError("the episode has no page yet: call reset() before screenshot()")
        async with self.browser.active:
            return await limited(self._tab.page.screenshot(), self.limits.timeout_s, "taking a screenshot")

    async def picture(self, reply: str) -> Picture:
        """What the current tab shows and where the element stands that `reply` acts on, before the step. Raises InfrastructureError."""
        if self._view is None:
            raise RuntimeError("the episode has no page yet: call reset() before picture()")
        action = parse_reply(reply, self.reply_style)
        async with self.browser.active:
            return await take_picture(self._hands(), action if isinstance(action, Action) else None)

    async def close(self) -> None:
        """Close the context and leave the world; never raises and never hangs."""
        context, visit, tabs = self._context, self._visit, self._tabs
        self._context = self._visit = self._tab = self._view = None
        self._tabs, self._new_tabs, self._notices, self._anchored = [], [], [], None
        if context is not None:
            context.remove_listener("page", self._on_page)
            context.remove_listener("dialog", self._on_dialog)
            for tab in tabs:
                tab.leave()
            here = all(frame.url.startswith(("http", "about:srcdoc")) for tab in tabs for frame in tab.page.frames)  # else one is still on its way
            plain = not self._popups and not visit.geolocation
            sweepable = here and len(self._origins) == 1 and plain and not any(tab.gone for tab in tabs)
            await self.browser.close(context, self._origins.pop() if sweepable else "", self.place.same_files)
        self._origins, self._popups = set(), False
        if visit is not None:
            try:
                self.place.leave(visit)
            except Exception:  # a world that cannot be left says so at the next enter
                pass

    async def _open_start(self, page: Page, url: str) -> None:
        """A page that has begun to come but never ends is seen as it is."""
        seconds = self.limits.timeout_s
        try:
            response = await asyncio.wait_for(page.goto(url, wait_until="domcontentloaded", timeout=seconds * 1000), seconds + 1)
        except (TimeoutError, PlaywrightTimeout):
            if self._tabs[-1].commits:
                return
            raise InfrastructureError(f"opening {url} took more than {seconds:.0f} s") from None
        except PlaywrightError as error:
            raise InfrastructureError(f"opening {url} failed: {first_line(error)}") from error
        if response is not None and response.status >= 400:
            raise InfrastructureError(f"opening {url} failed: the site answered {response.status}")

    # ---- acting

    async def _act(self, action: Action) -> str | None:
        if action.call in ("go_backward", "go_forward"):
            return await self._go(action.call == "go_backward")
        if action.action == "Switch Tab":
            return self._switch(action.argument)
        if action.action == "Wait":
            return None
        try:
            if action.action in ("Scroll Down", "Scroll Up"):
                target = self._view.below if action.action == "Scroll Down" else self._view.above
                self._anchored = None if target is None else self._realms[self._places[target][0]].frame
                held = len(self._realms[0].raw["elements"])
                error = await execute(self._hands(), action)
                loaded = error and len((await self._quiet_page())[0].raw["elements"]) > held  # its end was reached, and there it has loaded more
                return None if loaded else error
            return await execute(self._hands(), action)
        except InfrastructureError:
            if self._tab.gone == "closed":  # the action closed its own tab
                return None
            raise

    def _hands(self) -> Hands:
        return Hands(self._tab.page, self._view, self._generation, self._realms, self._places)

    async def _go(self, back: bool) -> str | None:
        tab, seconds = self._tab, self.limits.timeout_s
        if not await limited(tab.has_page(-1 if back else 1), ANSWER_S, "asking for the tab's history"):
            return f"there is no {'earlier' if back else 'later'} page"
        commits = tab.commits
        move = tab.page.go_back if back else tab.page.go_forward
        try:
            await asyncio.wait_for(move(wait_until="domcontentloaded", timeout=seconds * 1000), seconds + 1)
        except (PlaywrightError, TimeoutError) as error:
            if tab.commits == commits:
                return f"going {'back' if back else 'forward'} failed: {first_line(error)}"
        return None

    def _switch(self, argument: str) -> str | None:
        number = int(argument) if argument.strip().isdecimal() else -1
        if not 0 <= number < len(self._tabs):
            return f"there is no tab {argument}; tabs are numbered from 0 to {len(self._tabs) - 1}"
        self._tab = self._tabs[number]
        return None

    # ---- seeing

    async def _observe(self) -> Observation:
        raw, self._places = merge_realms(await self._quiet_page(), self._anchored)
        self._tab.title = raw["title"]
        if self._dialogs > DIALOGS_TOLD:
            self._notices.append(f"{self._dialogs - DIALOGS_TOLD} more dialogs accepted")
        notices, self._notices, self._dialogs = tuple(self._notices), [], 0
        self._view = make_view(raw, style=self.limits.style, page_tokens=self.limits.page_tokens, count=self.count,
                               tabs=tuple(tab.title or tab.page.url for tab in self._tabs), tab=self._tabs.index(self._tab), notices=notices)
        return self._view.observation

    async def _quiet_page(self) -> list[Realm]:
        """Wait until the current page is loaded and quiet, and return what its scripts see. Pages that never get quiet are
        seen after `settle_ms`; a navigation and the end of its document are waited for as long as `timeout_s`. The new tab, if one was opened,
        becomes current."""
        self._generation += 1
        quiet_s = self.limits.settle_ms / 1000
        quiet_until = time.monotonic() + quiet_s
        load_until = time.monotonic() + self.limits.timeout_s
        known = len(self._tabs)
        while True:
            await self._replace_gone_tab()
            if self._new_tab.is_set():
                await self._enter_new_tab(load_until)
                quiet_until = time.monotonic() + quiet_s
            tab, now = self._tab, time.monotonic()
            tab.news.clear()
            commits = tab.commits
            if now > load_until + ANSWER_S:  # it opens tab after tab, or goes from page to page
                raise InfrastructureError(f"the page {tab.page.url} did not come to rest in {self.limits.timeout_s + ANSWER_S:.0f} s")
            request = {"call": "observe", "generation": self._generation, "hidden": list(self.place.hidden), "force": now > quiet_until,
                       "stay": now > load_until or tab.stopped}
            try:
                raw = load_json(await tab.ask(request, ANSWER_S, load_until))
            except TimeoutError:
                if not tab.going:
                    raise InfrastructureError(f"the page {tab.page.url} did not answer for {ANSWER_S:.0f} s") from None
                await self._give_up_next_page(tab)
                continue
            except PlaywrightError as error:
                if not tab.gone and (now > load_until or "navigat" not in str(error) and "destroyed" not in str(error)):
                    raise InfrastructureError(f"the page {tab.page.url} could not be read: {first_line(error)}") from error
                await tab.loaded(load_until)
                await asyncio.sleep(0.01)
                if tab.commits != commits:
                    quiet_until = time.monotonic() + quiet_s
                continue
            busy = raw["busy"]
            if busy["closed"]:  # by the page's script: the browser tells of that a little later
                closing = time.monotonic() + CLOSING_S
                while len(self._tabs) > 1 and not any(one.gone for one in self._tabs) and time.monotonic() < closing:
                    await asyncio.sleep(0.01)
                await self._replace_gone_tab()
            if busy["opened"] and len(self._tabs) == known:
                await until(self._new_tab, load_until)
                if not self._new_tab.is_set():
                    self._notices.append("a new tab was asked for but did not open")
            elif self._new_tab.is_set() or tab.gone:
                continue
            elif "elements" in raw:
                tab.stopped = False
                self._realms, busy = await look_into_frames(tab.page, raw, request)
                if busy is None:
                    self._tell_unreached(tab)
                    return self._realms
                if busy["opened"] and not self._new_tab.is_set():
                    await until(self._new_tab, load_until)
                await asyncio.sleep(min(max(busy["wait"], 1), 1000 * max(quiet_until - now, 0.001)) / 1000)
            elif busy["navigating"] and not request["stay"]:
                while tab.commits == commits and not tab.stopped and not tab.gone and time.monotonic() < load_until:
                    tab.news.clear()
                    await until(tab.news, load_until)
                if tab.commits != commits:
                    await tab.loaded(load_until)
                    quiet_until = time.monotonic() + quiet_s
                elif not tab.stopped and not tab.gone:
                    await self._give_up_next_page(tab)
            elif busy["loading"] and not request["stay"]:  # of a slow site's page only a part has come
                await tab.loaded(load_until)
                await asyncio.sleep(0.01)
                quiet_until = time.monotonic() + quiet_s
            else:
                await asyncio.sleep(min(busy["wait"], 1000 * max(quiet_until - now, 0.001)) / 1000)

    async def _give_up_next_page(self, tab: Tab) -> None:
        self._notices.append("the next page did not answer in time")
        await limited(tab.stay(), ANSWER_S, "giving up the next page")

    def _tell_unreached(self, tab: Tab) -> None:
        """A site that has answered in this episode and is gone is infrastructure; any other that cannot be reached is a dead link."""
        if tab.page.url.startswith("chrome-error:"):
            what = f"the page {tab.unreached} could not be reached"
            if origin(tab.unreached) in self._origins:
                raise InfrastructureError(what)
            self._notices.append(what)

    async def _enter_new_tab(self, deadline: float) -> None:
        """Goes to the tab opened last, unless it has closed again."""
        new = [number for number, tab in enumerate(self._tabs) if tab in self._new_tabs]
        self._new_tab.clear()
        self._new_tabs.clear()
        if not new:
            return
        self._notices += [f"new tab {number} opened" for number in new]
        self._tab = self._tabs[new[-1]]
        if self._tab.opener and not self._tab.opener.gone:  # the tab has come: nothing to wait for when the agent goes back
            with contextlib.suppress(PlaywrightError, TimeoutError):
                await asyncio.wait_for(self._tab.opener.page.evaluate(NONE_OPENED), 1)
        await self._tab.loaded(deadline)
        if self._tab.for_a_download:
            await limited(self._tab.page.close(), ANSWER_S, "closing a tab")

    async def _replace_gone_tab(self) -> None:
        if any(tab.gone == "crashed" for tab in self._tabs):
            raise InfrastructureError("a page of the episode crashed")
        if not self.browser_alive():
            raise InfrastructureError("the browser ended during the episode")
        closed = [tab for tab in self._tabs if tab.gone]
        if not closed:
            return
        self._tabs = [tab for tab in self._tabs if not tab.gone]
        self._notices.append("a tab was closed")
        if not self._tabs:
            page = await limited(self._context.new_page(), ANSWER_S, "opening a page")
            self._new_tab.clear()
            self._new_tabs.clear()
            await self._open_start(page, self._visit.start_url)
        while self._tab not in self._tabs:  # back to the tab that it was opened from
            self._tab = self._tab.opener or self._tabs[-1]

    def browser_alive(self) -> bool:
        browser = self._context.browser if self._context else None
        return browser is not None and browser.is_connected()

    def _on_page(self, page: Page) -> None:
        tab = Tab(page, self._origins, self._tab)
        if self._scoring:
            return
        self._tabs.append(tab)
        if self._tab is not None:  # not the episode's first page
            self._popups = True
            self._new_tabs.append(tab)
            self._new_tab.set()

    async def _on_dialog(self, dialog: Dialog) -> None:
        try:
            self._dialogs += dialog.type != "beforeunload"
            if dialog.type != "beforeunload" and self._dialogs <= DIALOGS_TOLD:
                self._notices.append(f'dialog {dialog.type} "{" ".join(dialog.message.split())}" accepted')
            await asyncio.wait_for(dialog.accept(dialog.default_value) if dialog.type == "prompt" else dialog.accept(), ANSWER_S)
        except (PlaywrightError, TimeoutError):  # the page went away with its dialog
            pass


def _wait_seconds(argument: str | None) -> float:
    try:
        return min(max(float(argument or WAIT_S), 0.0), LONGEST_WAIT_S)
    except ValueError:
        return WAIT_S
