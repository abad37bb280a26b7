"""What is noticed about one tab of an episode: where it has been, whether its page came as a download, whether it is gone."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from playwright.async_api import Page

from wr1_utils.web.script import ask


class Tab:
    """A page with what was noticed about it."""

    def __init__(self, page: Page, origins: set[str], opener: Tab | None):
        self.page = page
        self.opener = opener  # the tab that was current when this one opened
        self.origins = origins  # collects what any frame has shown
        self.title = ""
        self.commits = 0  # documents and same-document addresses of the main frame
        self.going = None  # the request of a navigation that has brought no page yet; meanwhile the browser runs no script of ours
        self.stopped = False  # a navigation ended as a download, or the site answered that there is no new page
        self.unreached = ""  # address of the last page that could not be reached
        self.gone = ""  # "closed" or "crashed"
        self.news = asyncio.Event()
        self._listeners = {"framenavigated": self._on_navigation, "request": self._on_request, "response": self._on_response,
                           "requestfailed": self._on_failure, "download": lambda _: self._tell(stopped=True),
                           "crash": lambda _: self._tell(gone="crashed"), "close": lambda _: self._tell(gone=self.gone or "closed")}
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def _on_request(self, request) -> None:
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self._tell(going=request)

    def _on_response(self, response) -> None:
        if response.request == self.going and response.status in (204, 205):  # the page stays
            self._tell(stopped=True)

    def _on_failure(self, request) -> None:
        if request == self.going:
            self._tell(going=None, unreached=self.unreached if request.failure == "net::ERR_ABORTED" else request.url)

    def _on_navigation(self, frame) -> None:
        self.origins.add(origin(frame.url))
        if frame == self.page.main_frame:
            self._tell(commits=self.commits + 1, going=None)

    @property
    def for_a_download(self) -> bool:
        """Was it opened for a file alone? The browser tells the opener of that, and leaves an empty tab."""
        return self.page.url in ("", ":", "about:blank") and (self.stopped or self.opener is not None and self.opener.stopped)

    async def loaded(self, deadline: float) -> None:
        """Waits until the page has come, at most until the deadline; one that comes as a download never does."""
        seconds = max(deadline - time.monotonic(), 0.1)
        load = asyncio.ensure_future(self.page.wait_for_load_state("domcontentloaded", timeout=seconds * 1000))
        load.add_done_callback(lambda done: done.cancelled() or done.exception())  # what has not come in time is seen as it is
        try:
            while not (load.done() or self.stopped or self.for_a_download or self.gone) and time.monotonic() < deadline:
                await asyncio.wait({load}, timeout=0.1)
        finally:
            load.cancel()

    async def ask(self, request: dict, seconds: float, deadline: float) -> str:
        """The answer of the page's script; TimeoutError when it takes more than `seconds`, or until the deadline where a navigation holds it up."""
        answer = asyncio.ensure_future(ask(self.page, request))
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        answer_until = time.monotonic() + seconds
        try:
            while not answer.done():
                if time.monotonic() > (deadline if self.going else answer_until):
                    raise TimeoutError
                await asyncio.wait({answer}, timeout=0.1)
            return answer.result()
        finally:
            answer.cancel()

    async def has_page(self, step: int) -> bool:
        """Is there a page `step` entries further (-1: before) in its history? The empty page that each tab begins with is none."""
        async with self._devtools() as devtools:
            history = await devtools.send("Page.getNavigationHistory")
        number = history["currentIndex"] + step
        return 0 <= number < len(history["entries"]) and history["entries"][number]["url"] != "about:blank"

    async def stay(self) -> None:
        """Give up the page that is to come."""
        async with self._devtools() as devtools:
            await devtools.send("Page.stopLoading")

    @asynccontextmanager
    async def _devtools(self):
        session = await self.page.context.new_cdp_session(self.page)
        try:
            yield session
        finally:
            await session.detach()

    def leave(self) -> None:
        """Hear no more of the page: another episode may get it."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def _tell(self, **changes) -> None:
        vars(self).update(changes)
        self.news.set()


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else url


async def until(event: asyncio.Event, deadline: float) -> None:
    """Waits for the event, at most until the deadline."""
    try:
        await asyncio.wait_for(event.wait(), max(deadline - time.monotonic(), 0.01))
    except TimeoutError:
        pass
