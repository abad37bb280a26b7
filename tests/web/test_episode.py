"""Every page of the shared cases, seen and acted on in real Chromium, through the Episode alone."""

import asyncio
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from wr1_utils.settings import load_settings
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import Episode, InfrastructureError, Visit
from wr1_utils.web.loop import run

CASES = {case["id"]: case for case in json.loads((Path(__file__).parents[1] / "cases" / "pages.json").read_text(encoding="utf-8"))}
SETTINGS = load_settings("laptop")


class Pages:
    """A place whose pages are given as HTML: `/<name>`; `/slow?s=1.5` answers late, `/file` is a download."""

    name, hidden, viewport = "pages", (".hidden-from-agent",), (1280, 720)

    def __init__(self):
        self.html, self.requests = {}, []

    def start(self):
        place = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                path, _, query = self.path.partition("?")
                place.requests.append((self.path, dict(self.headers)))
                if path == "/slow":
                    time.sleep(float(query.partition("=")[2]))
                body = place.html.get(path[1:], f"<title>{path}</title><p>page {path}</p>").encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                if path == "/file":
                    self.send_header("Content-Disposition", "attachment; filename=f.txt")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def enter(self, task, seed):
        return Visit(f"http://127.0.0.1:{self.server.server_address[1]}/{task.task_id}", {"X-World": f"w{seed}"}, [], task.task_id)

    async def begin(self, page, task, visit):
        return ""

    async def finished(self, page, task, visit):
        return False

    async def score(self, page, context, task, visit, answer):
        return float(answer == "right")

    def leave(self, visit):
        pass


@pytest.fixture(scope="module")
def place():
    place = Pages()
    place.start()
    yield place
    place.stop()


@pytest.fixture(scope="module")
def browser():
    browser = Browser(SETTINGS.browser)
    run(browser.start())
    yield browser
    run(browser.stop())


def reply(action, element=None, argument=None):
    parts = [f'action="{action}"']
    parts += [f"argument={json.dumps(argument, ensure_ascii=False)}"] if argument is not None else []
    parts += [f'element="{element}"'] if element is not None else []
    return f"<think>t</think><answer>do({', '.join(parts)})</answer>"


def element(observation, label):
    return next(e for e in observation.elements if e.id is not None and label in e.label)


def make(browser, place, name, html=None, seed=0, **changes):
    if html is not None:
        place.html[name] = html
    settings = load_settings("laptop", **changes)
    return Episode(browser, place, SimpleNamespace(task_id=name, intent="do it"), seed, settings)


async def play(browser, place, case):
    """One case: what the page shows and hides, then its steps with what each must bring."""
    episode = make(browser, place, case["id"], case["html"])
    try:
        observation = await episode.reset()
        for text in case["shows"]:
            assert text in observation.text
        for text in case["hides"]:
            assert text not in observation.text
        for step in case["steps"]:
            observation = await play_step(episode, observation, step)
    finally:
        await episode.close()


async def play_step(episode, observation, step):
    number = element(observation, step["on"]).id if "on" in step else None
    url, started = observation.url, time.monotonic()
    try:
        result = await episode.step(reply(step["do"], number, step.get("argument")))
    except InfrastructureError:
        assert step.get("infrastructure_or_error") and time.monotonic() - started < step["within_s"]
        return observation
    assert time.monotonic() - started < step.get("within_s", 10)
    seen = result.observation
    wants_error = "error" in step or "error_names" in step
    assert bool(result.error) == wants_error, result.error
    for text in step.get("error_names", [step["error"]] if "error" in step else []):
        assert text in result.error and text in seen.text
    for text in step.get("then_shows", []):
        assert text in seen.text
    for text in step.get("then_hides", []):
        assert text not in seen.text
    if "then_value" in step:
        assert element(seen, step["on"]).value == step["then_value"]
    if "then_title" in step:
        assert seen.title == step["then_title"]
    if "then_tabs" in step:
        assert len(seen.tabs) == step["then_tabs"] and any("tab" in notice for notice in seen.notices)
    if "then_url_ends" in step:
        assert seen.url.endswith(step["then_url_ends"])
    if step.get("then_same_url"):
        assert seen.url == url
    if step.get("then_scrolled"):
        assert await episode._tab.page.evaluate("() => [...document.querySelectorAll('*')].some(e => e.scrollTop > 0)")
    return seen


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("busy-loop", "late-navigation")])
def test_shared_case(browser, place, name):
    started = time.monotonic()
    run(play(browser, place, CASES[name]), timeout=30)
    assert name != "endless-polling" or time.monotonic() - started < 2


def test_late_navigation_is_caught_every_time(browser, place):
    """A navigation begun by a 50 ms timer is waited for, twenty times of twenty."""
    async def all_of_them():
        await asyncio.gather(*(play(browser, place, CASES["late-navigation"]) for _ in range(20)))
    run(all_of_them(), timeout=60)
