"""What a tab notices, with a page that is told what happens to it."""

import asyncio
import time
from types import SimpleNamespace

import pytest

from wr1_utils.web.tabs import Tab, until


class Page:
    """Takes listeners, tells them, and comes when `come` is set."""

    def __init__(self, url="http://shop.localhost:80/"):
        self.url, self.main_frame, self.listeners, self.come = url, SimpleNamespace(url=url), {}, asyncio.Event()

    def on(self, event, listener):
        self.listeners[event] = listener

    def remove_listener(self, event, listener):
        assert self.listeners.pop(event) is listener

    def tell(self, event, what=None):
        self.listeners[event](what)

    async def wait_for_load_state(self, state, timeout):
        await asyncio.wait_for(self.come.wait(), timeout / 1000)


@pytest.fixture
def tab():
    return Tab(Page(), set(), None)


def test_it_counts_the_pages_of_the_main_frame_and_collects_the_origins_of_all(tab):
    tab.page.tell("framenavigated", tab.page.main_frame)
    tab.page.tell("framenavigated", SimpleNamespace(url="https://bank.localhost/pay?x=1"))
    tab.page.tell("framenavigated", SimpleNamespace(url="about:srcdoc"))
    assert tab.commits == 1 and tab.origins == {"http://shop.localhost:80", "https://bank.localhost", "about:srcdoc"} and tab.news.is_set()


def test_a_crash_is_not_forgotten_when_the_page_closes_too(tab):
    tab.page.tell("crash")
    tab.page.tell("close")
    assert tab.gone == "crashed"


def test_an_empty_tab_whose_opener_got_a_file_was_opened_for_it(tab):
    opened = Tab(Page("about:blank"), set(), tab)
    assert not opened.for_a_download
    tab.page.tell("download")
    assert opened.for_a_download and not tab.for_a_download


def test_it_hears_no_more_once_it_is_left(tab):
    tab.leave()
    assert not tab.page.listeners


@pytest.mark.parametrize("event", ["come", "download", "crash", "nothing"])
def test_a_page_is_waited_for_until_it_has_come_or_never_will(event):
    async def wait():
        tab, started = Tab(Page(), set(), None), time.monotonic()
        waiting = asyncio.ensure_future(tab.loaded(started + (0.3 if event == "nothing" else 60)))
        await asyncio.sleep(0)
        assert not waiting.done()
        if event == "come":
            tab.page.come.set()
        elif event != "nothing":
            tab.page.tell(event)
        await waiting
        return time.monotonic() - started

    assert asyncio.run(wait()) < 30


def test_until():
    async def wait():
        event, started = asyncio.Event(), time.monotonic()
        await until(event, started + 0.05)
        late = time.monotonic() - started
        event.set()
        await until(event, started + 60)
        return late, time.monotonic() - started

    late, then = asyncio.run(wait())
    assert late >= 0.05 and then < 30
