"""The Pocket Arena as a place for episodes: the local sites, a world for each episode, and scoring in WebArena's format.

It is the place of two benchmarks. The tasks of `pocket`, the shop alone, are on disk, `data/tasks/pocket_train.json` and `pocket_test.json`, as
``python -m wr1_utils.tasks.pocket`` writes them; those of `arena`, all sites, are made in `tasks/arena.py`.

Deviation from WebArena: program_html is looked up in a page of its own, so the agent's page is never touched by scoring.
"""

from pathlib import Path

from playwright.async_api import BrowserContext, Page

from wr1_utils.sites.server import SESSIONS, SITES, WORLD_HEADER, SiteServer
from wr1_utils.tasks import scoring
from wr1_utils.tasks.shopping_templates import TEMPLATES
from wr1_utils.tasks.task import Task, save_tasks
from wr1_utils.tasks.templates import make_tasks
from wr1_utils.web.episode import InfrastructureError, Visit

LIMIT_MS = 15_000                    # for one page that scoring opens
TASK_FILES = ("pocket_train.json", "pocket_test.json")


class PocketArena:
    """The benchmarks `pocket` and `arena`: one server for all sites and episodes; each episode gets a world of its own."""

    name = "pocket"
    hidden: tuple[str, ...] = ()
    viewport = (1280, 720)

    def __init__(self, port: int = 0):
        self._server = SiteServer(port)

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
        return Visit(start_url=scoring.fill_placeholders(task.start_url, self.site_urls), headers={WORLD_HEADER: world.key},
                     cookies=cookies, key=world.key)

    async def begin(self, page: Page, task: Task, visit: Visit) -> str:
        return task.intent

    async def finished(self, page: Page, task: Task, visit: Visit) -> bool:
        """The sites never end an episode by themselves."""
        return False

    async def score(self, page: Page, context: BrowserContext, task: Task, visit: Visit, answer: str | None) -> float | None:
        """1.0 or 0.0: the product over the task's evaluators (None where one cannot be scored)."""
        parts = []
        for kind in task.eval["eval_types"]:
            if kind == "string_match":
                parts.append(scoring.string_match(task.eval["reference_answers"], answer))
            elif kind == "url_match":
                parts.append(scoring.url_match(task.eval["reference_url"], page.url, self.site_urls, task.eval.get("url_note")))
            elif kind == "program_html":
                parts += [await self._check(context, check, page.url) for check in task.eval["program_html"]]
            else:
                raise ValueError(f"{task.task_id}: the Pocket Arena has no evaluator {kind!r}")
        return scoring.combine(parts)

    async def _check(self, context: BrowserContext, check: dict, current_url: str) -> float | None:
        """One program_html check, in a page of its own. None where it wants a helper function, which this place does not have."""
        locator = check.get("locator") or "document.body.innerText"
        if check["url"].startswith("func:") or locator.startswith("func:"):
            return None
        url = current_url if check["url"] == "last" else scoring.fill_placeholders(check["url"], self.site_urls)
        page = await context.new_page()
        try:
            response = await page.goto(url, timeout=LIMIT_MS)
            if response is None or not response.headers.get("content-type", "").startswith("text/html"):      # a refused world, a fault
                raise InfrastructureError(f"the page {url} could not be opened for scoring")
            text = await page.evaluate(f"() => {{ try {{ return String({locator}) }} catch (error) {{ return '' }} }}")
        finally:
            await page.close()
        return scoring.html_match(check["required_contents"], text)

    def leave(self, visit: Visit) -> None:
        """Discards the episode's world; doing it twice does no harm."""
        self._server.worlds.discard(visit.key)


def write_tasks(folder: str | Path, seed: int = 0) -> None:
    """Writes the two task files into `folder`."""
    for name, tasks in zip(TASK_FILES, make_tasks(TEMPLATES, seed)):
        save_tasks(tasks, Path(folder) / name)


if __name__ == "__main__":
    write_tasks("data/tasks")
