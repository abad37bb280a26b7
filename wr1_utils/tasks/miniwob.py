"""MiniWoB++ (Liu et al. 2018, arXiv 1802.08802): the pages of the package `miniwob`, served from 127.0.0.1.

A task is one page and one seed; the page makes its problem from the seed, says what to do, and gives the reward.
Deviations from the benchmark:
- The episode is not ended by time, and the reward is the raw one (not scaled by time).
- Success is a raw reward of exactly 1; partial reward is no success.
- The agent does not see the instruction bar (it is the intent), the reward display, the click canvas and the cover.
- What its authors register as an environment is called a page here. All 125 run; a profile trains and tests on PAGES, on those with an
  expert, or on those that it names (`tasks.miniwob_envs`). What each asks of an agent is in miniwob_needs.py.
"""

from __future__ import annotations

import difflib
import functools
import importlib.util
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.async_api import BrowserContext, Page

from wr1_utils.errors import WR1Error
from wr1_utils.tasks.miniwob_needs import NEEDS
from wr1_utils.tasks.task import Task
from wr1_utils.web.browser import InfrastructureError, limited
from wr1_utils.web.place import Visit

ALL_PAGES = tuple(NEEDS)
PAGES = (  # what the committed results were made on; a text observation shows these in full
    "click-test-2",
    "click-button",
    "click-link",
    "click-dialog",
    "click-dialog-2",
    "click-tab",
    "click-option",
    "click-checkboxes",
    "click-button-sequence",
    "click-collapsible-nodelay",
    "click-collapsible-2-nodelay",
    "click-tab-2",
    "focus-text-2",
    "enter-text",
    "enter-text-dynamic",
    "enter-password",
    "login-user",
    "login-user-popup",
    "choose-list",
    "read-table",
    "read-table-2",
    "multi-orderings",
    "form-sequence-2",
    "search-engine",
    "phone-book",
)
FIRST_SEED = {"train": 0, "test": 100_000}
LIMIT_S = 15.0
START_EPISODE = """async seed => {
  const until = async holds => { while (!holds()) await new Promise(done => setTimeout(done, 5)); };
  await until(() => typeof core !== "undefined" && core.cover_div);  // the page's own onload has run
  core.EPISODE_MAX_TIME = 2e9;  // milliseconds; a timer cannot hold much more
  Math.seedrandom(seed);
  core.startEpisodeReal();
  await until(() => WOB_TASK_READY);
  const said = core.getUtterance();  // pages in natural language also name its fields
  return typeof said === "string" ? said : said.utterance;
}"""


def make_tasks(split: str, per_page: int, names: tuple[str, ...] | None = None) -> list[Task]:
    """`per_page` tasks of each page (all PAGES, or `names` out of ALL_PAGES), seeds from 0 for "train" and from 100000 for "test".

    Test tasks have the split `seen_template`. Raises WR1Error for an unknown split or page, or so many tasks that
    train and test would share seeds.
    """
    if split not in FIRST_SEED:
        raise WR1Error(f"MiniWoB++ has no split {split!r}; it has train and test.")
    if not 0 <= per_page <= FIRST_SEED["test"]:
        raise WR1Error(f"MiniWoB++ can make 0 to {FIRST_SEED['test']} tasks of a page, not {per_page}.")
    names = PAGES if names is None else tuple(names)
    for name in names:
        if name not in ALL_PAGES:
            near = difflib.get_close_matches(name, ALL_PAGES, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(ALL_PAGES)}."
            raise WR1Error(f"There is no MiniWoB++ page {name!r} here; {hint}")
    first = FIRST_SEED[split]
    task_split = "train" if split == "train" else "seen_template"
    return [_task(name, seed, task_split) for name in names for seed in range(first, first + per_page)]


def _task(name: str, seed: int, split: str) -> Task:
    return Task(
        task_id=f"miniwob.{name}.{seed}",
        sites=("miniwob",),
        start_url=f"__MINIWOB__/miniwob/{name}.html",
        intent="",
        intent_template=name,
        intent_template_id=name,
        instantiation_dict={"seed": seed},
        require_login=False,
        require_reset=False,
        eval={"eval_types": ["page_reward"]},
        split=split,
    )


class MiniWob:
    """The benchmark as a place for episodes: one static server for all of them, pages keep their own state."""

    name = "miniwob"
    hidden = ("#query", "#reward-display", "#click-canvas", "#sync-task-cover")
    viewport = (480, 480)
    same_files = True
    scoring = "page"  # the page itself gives the reward

    def __init__(self, port: int = 0):
        self.port = port  # 0 = any free port
        self.server: ThreadingHTTPServer | None = None

    def start(self) -> None:
        """Start the server (at once done when it runs). Raises WR1Error when it cannot."""
        if self.server is not None:
            return
        handler = functools.partial(_QuietHandler, directory=str(html_folder()))
        try:
            self.server = _Server(("127.0.0.1", self.port), handler)
        except OSError as error:
            raise WR1Error(
                f"MiniWoB++ cannot be served on port {self.port} of 127.0.0.1 ({error.strerror}); "
                "set another port, or 0 for any free one."
            ) from None
        threading.Thread(target=self.server.serve_forever, name="miniwob-server", daemon=True).start()

    def stop(self) -> None:
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def enter(self, task: Task, seed: int) -> Visit:
        """Where the episode starts. The problem follows from the task's own seed, not from the episode's."""
        if self.server is None:
            raise InfrastructureError("The MiniWoB++ server is not running; call start() first.")
        base = f"http://127.0.0.1:{self.server.server_address[1]}"
        return Visit(start_url=task.start_url.replace("__MINIWOB__", base), headers={}, cookies=[], key=task.task_id)

    async def begin(self, page: Page, task: Task, visit: Visit) -> str:
        """Start the seeded problem on the loaded page; returns what the page asks for."""
        return await _evaluate(page, START_EPISODE, task.instantiation_dict["seed"])

    async def finished(self, page: Page, task: Task, visit: Visit) -> bool:
        """Has the page ended the episode?"""
        return await _evaluate(page, "() => typeof WOB_DONE_GLOBAL !== 'undefined' && WOB_DONE_GLOBAL")

    async def score(
        self, page: Page, context: BrowserContext, task: Task, visit: Visit, answer: str | None
    ) -> float | None:
        """1.0 if the page ended the episode with a raw reward of 1, else 0.0 (also when the agent has left the page)."""
        done = await self.finished(page, task, visit)
        return float(done and await _evaluate(page, "() => WOB_RAW_REWARD_GLOBAL") == 1)

    def leave(self, visit: Visit) -> None:
        """Nothing to discard: the state was in the page."""


def html_folder() -> Path:
    """The folder `html` of the package `miniwob`, found without importing it. Raises WR1Error when it is missing."""
    spec = importlib.util.find_spec("miniwob")
    if spec is None or not spec.submodule_search_locations:
        raise WR1Error("The package miniwob is not installed; `pip install miniwob` brings the MiniWoB++ pages.")
    return Path(next(iter(spec.submodule_search_locations))) / "html"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address) -> None:
        """A browser context that closes in the middle of a file is no error."""


class _QuietHandler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open
    disable_nagle_algorithm = True  # else each file waits 40 ms for an acknowledgement

    def log_message(self, *args) -> None:
        """No line per request."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()


async def _evaluate(page: Page, script: str, argument: object = None):
    """`page.evaluate` with a limit, once more if the page was just being replaced. Raises InfrastructureError."""
    what = f"asking the page {page.url}"
    try:
        return await limited(page.evaluate(script, argument), LIMIT_S, what)
    except InfrastructureError as error:
        if "context was destroyed" not in str(error):
            raise
    return await limited(page.evaluate(script, argument), LIMIT_S, what)
