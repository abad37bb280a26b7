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
