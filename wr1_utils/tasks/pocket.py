"""The Pocket Arena as a place for episodes: the local sites, a world for each episode, and scoring in WebArena's format.

It is the place of two benchmarks. The tasks of `pocket`, the shop alone, are on disk, `data/tasks/pocket_train.json` and `pocket_test.json`, as
``python -m wr1_utils.tasks.pocket`` writes them; those of `arena`, all sites, are made in `tasks/arena.py`.

Deviation from WebArena: program_html is looked up in a page of its own, so the agent's page is never touched by scoring.
"""

from pathlib import Path

from playwright.async_api import BrowserContext, Page

from wr1_utils.sites.server import SESSIONS, SITES, WORLD_HEADER, SiteServer
from wr1_utils.tasks.evaluator import score_task
from wr1_utils.tasks.judge import Judge
from wr1_utils.tasks.scoring import fill_placeholders
from wr1_utils.tasks.shopping_templates import TEMPLATES
from wr1_utils.tasks.task import Task, save_tasks
from wr1_utils.tasks.templates import make_tasks
from wr1_utils.web.place import Visit

TASK_FILES = ("pocket_train.json", "pocket_test.json")


class PocketArena:
    """The benchmarks `pocket` and `arena`: one server for all sites and episodes; each episode gets a world of its own."""

    name = "pocket"
    hidden: tuple[str, ...] = ()
    viewport = (1280, 720)
    same_files = False

    def __init__(self, port: int = 0, scoring: str = "wr1", judge: Judge | None = None):
        """`scoring` is a variant of tasks/evaluator.py."""
        self._server, self.scoring, self._judge = SiteServer(port), scoring, judge

    @property
    def site_urls(self) -> dict[str, str]:
        """Site → address, as `scoring` takes it: ``{"SHOPPING": "http://shopping.localhost:8080"}``."""
        return {site.upper(): self._server.url(site) for site in SITES}

    def start(self) -> None:
        """Starts the server, once. Raises SiteServerError when the port is in use."""
        self._server.start()

    def stop(self) -> None:
        self._server.stop()

    def enter(self, task: Task, seed: int) -> Visit:
        """A fresh world for one episode, logged in where the task wants it. Every world starts from the same state, whatever the seed."""
        world = self._server.worlds.create()
        sites = [site for site in task.sites if site in SESSIONS and task.require_login]
        cookies = [{"name": SESSIONS[site][0], "value": SESSIONS[site][1], "url": self._server.url(site)} for site in sites]
        return Visit(start_url=fill_placeholders(task.start_url, self.site_urls), headers={WORLD_HEADER: world.key},
                     cookies=cookies, key=world.key)

    async def begin(self, page: Page, task: Task, visit: Visit) -> str:
        return task.intent

    async def finished(self, page: Page, task: Task, visit: Visit) -> bool:
        """The sites never end an episode by themselves."""
        return False

    async def score(self, page: Page, context: BrowserContext, task: Task, visit: Visit, answer: str | None) -> float | None:
        """1.0 or 0.0 for what the world, the page and the answer are now; None where only a judge model could tell and there is none."""
        return await score_task(task, page, context, self.site_urls, answer, variant=self.scoring, judge=self._judge)

    def leave(self, visit: Visit) -> None:
        """Discards the episode's world; doing it twice does no harm."""
        self._server.worlds.discard(visit.key)


def write_tasks(folder: str | Path, seed: int = 0) -> None:
    """Writes the two task files into `folder`."""
    for name, tasks in zip(TASK_FILES, make_tasks(TEMPLATES, seed)):
        save_tasks(tasks, Path(folder) / name)


if __name__ == "__main__":
    write_tasks("data/tasks")
