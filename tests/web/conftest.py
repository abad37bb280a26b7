"""Pages given as HTML, a browser, and what tests need to act on them: the fixtures `place` and `browser`."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from wr1_utils.settings import load_settings
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import Episode
from wr1_utils.web.loop import run
from wr1_utils.web.place import Visit


class Pages:
    """A place whose pages are given as HTML: `/<name>`; `/slow?s=1.5` answers late, `/slow-body?s=1.5` sends its body late, `/file` is a
    download, `/endless` never comes to its end, those in `kept` may be cached, `/status-404` is not there. HTML in bytes goes without a charset in its header."""

    name, hidden, viewport = "pages", (".hidden-from-agent",), (1280, 720)
    scoring = "page"
    same_files = False

    def __init__(self):
        self.html, self.kept, self.requests, self.stopping = {}, {}, [], threading.Event()

    def start(self):
        place = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if place.stopping.is_set():
                    self.close_connection = True  # one that the browser has kept open
                    return
                path, _, query = self.path.partition("?")
                place.requests.append((self.path, dict(self.headers)))
                if path == "/slow":
                    time.sleep(float(query.partition("=")[2]))
                html = place.kept.get(path) or place.html.get(path[1:], f"<title>{path}</title><p>page {path}</p>")
                body = html if isinstance(html, bytes) else html.encode()
                self.send_response(int(path[8:]) if path.startswith("/status-") else 200)
                self.send_header("Content-Type", "text/html" if isinstance(html, bytes) else "text/html; charset=utf-8")
                if path in place.kept:
                    self.send_header("Cache-Control", "max-age=3600")
                if path == "/file":
                    self.send_header("Content-Disposition", "attachment; filename=f.txt")
                self.send_header("Content-Length", str(len(body) + (path == "/endless")))
                self.end_headers()
                if path == "/slow-body":
                    self.wfile.flush()
                    time.sleep(float(query.partition("=")[2]))
                self.wfile.write(body)
                if path == "/endless":
                    self.wfile.flush()
                    place.stopping.wait(60)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.stopping.set()
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

    def make(self, browser, name, html=None, seed=0, **changes):
        """An episode that starts at the page `name`; `html` sets what stands there, `changes` are settings."""
        if html is not None:
            self.html[name] = html
        return Episode(browser, self, SimpleNamespace(task_id=name, intent="do it"), seed, load_settings("laptop", **changes))

    @staticmethod
    def reply(action, element=None, argument=None):
        parts = [f'action="{action}"']
        parts += [f"argument={json.dumps(argument, ensure_ascii=False)}"] if argument is not None else []
        parts += [f'element="{element}"'] if element is not None else []
        return f"<think>t</think><answer>do({', '.join(parts)})</answer>"

    @staticmethod
    def element(observation, label):
        return next(e for e in observation.elements if e.id is not None and label in e.label)


@pytest.fixture(scope="session")
def place():
    place = Pages()
    place.start()
    yield place
    place.stop()


@pytest.fixture(scope="session")
def browser():
    browser = Browser(load_settings("laptop").browser)
    run(browser.start())
    yield browser
    run(browser.stop())
