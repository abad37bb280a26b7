"""What is noticed about one tab of an episode: where it has been, whether its page came as a download, whether it is gone."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import urlsplit

from playwright.async_api import Page


class Tab:
    """A page with what was noticed about it."""

    def __init__(self, page: Page, origins: set[str], opener: Tab | None):
        self.page = page
        self.opener = opener  # the tab that was current when this one opened
        self.origins = origins  # collects what any frame has shown
        self.title = ""
        self.commits = 0  # documents and same-document addresses of the main frame
        self.stopped = False  # a navigation ended as a download
        self.gone = ""  # "closed" or "crashed"
        self.news = asyncio.Event()
        self._listeners = {"framenavigated": self._on_navigation, "download": lambda _: self._tell(stopped=True),
                           "crash": lambda _: self._tell(gone="crashed"), "close": lambda _: self._tell(gone=self.gone or "closed")}
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def _on_navigation(self, frame) -> None:
        parts = urlsplit(frame.url)
        self.origins.add(f"{parts.scheme}://{parts.netloc}" if parts.netloc else frame.url)
        if frame == self.page.main_frame:
            self._tell(commits=self.commits + 1)

    @property
    def for_a_download(self) -> bool:
        """Was it opened for a file alone? The browser tells the opener of that, and leaves an empty tab."""
        return self.page.url in ("", "about:blank") and (self.stopped or self.opener is not None and self.opener.stopped)

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

    def leave(self) -> None:
        """Hear no more of the page: another episode may get it."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def _tell(self, **changes) -> None:
        vars(self).update(changes)
        self.news.set()


async def until(event: asyncio.Event, deadline: float) -> None:
    """Waits for the event, at most until the deadline."""
    try:
        await asyncio.wait_for(event.wait(), max(deadline - time.monotonic(), 0.01))
    except TimeoutError:
        pass
