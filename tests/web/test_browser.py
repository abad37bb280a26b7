"""Finding a browser, and going on after one has died."""

import asyncio
import os
import signal
import stat

import pytest

from wr1_utils.settings import load_settings
from wr1_utils.web.browser import Browser, BrowserNotFound, InfrastructureError, find_browser, limited
from wr1_utils.web.loop import run


def program(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_settings_come_first_and_are_checked(tmp_path):
    own = program(tmp_path / "mine")
    assert find_browser(own).path == own and find_browser(own).source == "settings"
    with pytest.raises(BrowserNotFound, match="browser.path"):
        find_browser(str(tmp_path / "missing"))


def test_system_browsers_in_order(tmp_path, monkeypatch):
    """Without Playwright's download the system's headless shell comes before its chromium; with a window only the latter serves."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    with pytest.raises(BrowserNotFound, match="install"):
        find_browser()
    full = program(tmp_path / "chromium")
    assert find_browser().path == full
    shell = program(tmp_path / "chromium-headless-shell")
    assert find_browser().path == shell and find_browser(headless=False).path == full


def test_limit_is_an_infrastructure_fault():
    with pytest.raises(InfrastructureError, match="looking took more than"):
        run(limited(asyncio.sleep(10), 0.05, "looking"))


def browser_processes():
    """Ids of the browsers that this process has started (not their renderers)."""
    found, parents = [], {os.getpid()}
    listing = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                listing[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
    while parents:
        parents = {pid for pid, parent in listing.items() if parent in parents}
        found += parents
    def command(pid):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    return [pid for pid in found if b"--remote-debugging-pipe" in command(pid) and b"--type=" not in command(pid)]


def test_a_dead_browser_is_replaced():
    """What runs in it fails as infrastructure; the next context opens in a new browser."""
    browser = Browser(load_settings("laptop").browser)

    async def whole():
        before = set(browser_processes())
        context = await browser.open()
        page = await context.new_page()
        for pid in set(browser_processes()) - before:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(InfrastructureError):
            await limited(page.evaluate("1 + 1"), 5, "asking the page")
        await browser.close(context)
        context = await browser.open(headers={"X-World": "w1"})
        page = await context.new_page()
        assert await page.evaluate("1 + 1") == 2
        await browser.close(context)
        assert len(browser._processes) == 1
    try:
        run(whole(), timeout=60)
    finally:
        run(browser.stop())


STAINS = """<title>stain</title><button onclick="
  document.cookie = 'seen=1; max-age=9999'; localStorage.seen = 1; sessionStorage.seen = 1; window.name = 'seen';
  indexedDB.open('seen'); caches.open('seen'); history.pushState({}, '', '?seen'); document.title = 'stained'">Stain</button>"""
TRACES = """async () => [document.cookie, localStorage.length, sessionStorage.length, window.name, history.length, document.title,
  (await indexedDB.databases()).length, (await caches.keys()).length, document.querySelector('button').matches(':hover')].join()"""


def test_a_swept_context_holds_nothing_of_the_episode_before(place):
    """The second episode gets the context of the first, and finds it as the first did; its requests carry its own world."""
    browser = Browser(load_settings("laptop").browser)

    async def play(seed, stain):
        episode = place.make(browser, "stains", STAINS, seed=seed)
        seen = await episode.reset()
        before = await episode._tab.page.evaluate(TRACES)
        if stain:
            await episode.step(place.reply("Click", place.element(seen, "Stain").id))
            assert (await episode._tab.page.evaluate(TRACES)) != before
            assert await episode.score() == 0.0
        context = episode._context
        await episode.close()
        return before, context

    async def whole():
        first, context = await play(1, stain=True)
        second, again = await play(2, stain=True)
        third, last = await play(3, stain=False)
        assert first == second == third and context is again is last
        step = await place.make(browser, "stains").reset()
        assert step.title == "stain"
    try:
        run(whole(), timeout=60)
    finally:
        run(browser.stop())
    worlds = [headers["X-World"] for path, headers in place.requests if path == "/stains"]
    assert worlds[:3] == ["w1", "w2", "w3"]


@pytest.mark.parametrize("same_files", [False, True])
def test_the_cache_stays_where_every_episode_gets_the_same_files(place, monkeypatch, same_files):
    """A file that may be kept is asked for again by the next episode in a swept context, unless the place says that it is the same for all."""
    monkeypatch.setattr(place, "same_files", same_files)
    place.kept["/script"] = "document.title"
    before = len(place.requests)
    browser = Browser(load_settings("laptop").browser)

    async def whole():
        contexts = []
        for seed in (1, 2):
            episode = place.make(browser, "styled", "<title>styled</title><script src=/script></script><p>text", seed=seed)
            await episode.reset()
            contexts.append(episode._context)
            await episode.close()
        assert contexts[0] is contexts[1]
    try:
        run(whole(), timeout=60)
    finally:
        run(browser.stop())
    assert [path for path, _ in place.requests[before:]].count("/script") == (1 if same_files else 2)


@pytest.mark.parametrize("html", [
    "<button onclick=\"window.open('/other')\">Go</button>",                                          # a second tab
    "<button onclick=\"document.body.innerHTML = '<iframe src=&quot;http://localhost:1/&quot;>'\">Go</button>",   # a second origin
])
def test_a_context_that_cannot_be_swept_is_closed(place, html):
    browser = Browser(load_settings("laptop").browser)

    async def play():
        episode = place.make(browser, "unswept", html)
        seen = await episode.reset()
        await episode.step(place.reply("Click", place.element(seen, "Go").id))
        context = episode._context
        await episode.close()
        return context

    async def whole():
        contexts = [await play(), await play()]
        assert contexts[0] is not contexts[1]
        assert len(browser._processes) == 1
    try:
        run(whole(), timeout=60)
    finally:
        run(browser.stop())
