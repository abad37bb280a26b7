"""The two styles of an observation on real pages: what the compact one saves, and that both show the same."""

import dataclasses
import re

import pytest
from tokenizers import Tokenizer

from wr1_utils.settings import load_settings, project_path
from wr1_utils.tasks.miniwob import MiniWob, make_tasks
from wr1_utils.tasks.pocket import PocketArena
from wr1_utils.tasks.task import load_tasks
from wr1_utils.web.episode import Episode
from wr1_utils.web.loop import run

WOB_PAGES = ("click-test-2", "login-user", "choose-list", "click-checkboxes", "search-engine", "read-table")
START_PAGES = {  # of the arena's sites, below the site's address
    "shopping": ("/", "/search?q=mug"), "shopping_admin": ("/",), "reddit": ("/",), "gitlab": ("/",), "map": ("/",), "wikipedia": ("/",)}


@pytest.fixture(scope="module")
def pages(browser):
    """Each real page in both styles, without a budget: [(name, compact, paper)]."""
    settings = load_settings("laptop", **{"episode.page_tokens": 1_000_000})
    styles = [dataclasses.replace(settings, episode=dataclasses.replace(settings.episode, style=style)) for style in ("compact", "paper")]

    async def look(place, task):
        seen = []
        for style in styles:
            episode = Episode(browser, place, task, 0, style)
            try:
                seen.append(await episode.reset())
            finally:
                await episode.close()
        return (task.start_url, *seen)

    found, arena, wob = [], PocketArena(), MiniWob()
    tasks = {task.sites[0]: task for task in load_tasks(project_path("data/tasks/arena_test.json")) if len(task.sites) == 1}
    try:
        arena.start()
        wob.start()
        for site, paths in START_PAGES.items():
            for path in paths:
                task = next(task for name, task in tasks.items() if name == site or site == "wikipedia")
                task = dataclasses.replace(task, sites=(site,), require_login=site != "wikipedia", start_url=f"__{site.upper()}__{path}")
                found.append(run(look(arena, task), timeout=300))
        for task in make_tasks("train", 1, WOB_PAGES):
            found.append(run(look(wob, task), timeout=300))
    finally:
        arena.stop()
        wob.stop()
    return found


def test_compact_has_a_third_fewer_tokens(pages):
    """Over all pages together, by the small model's own tokenizer, and by words and runs of signs, the pieces that byte-level tokenizers of
    larger models never join (the median word is one token there). No page is longer in the compact style, and characters are 3 in 10 fewer."""
    tokenizer = Tokenizer.from_file(str(project_path("data/models/pocket-base/tokenizer.json")))
    counts = {"tokens": (lambda text: len(tokenizer.encode(text).ids), 2 / 3), "pieces": (lambda text: len(re.findall(r"\w+|[^\w\s]+", text)), 2 / 3),
              "characters": (len, 0.7)}
    for name, (count, share) in counts.items():
        sizes = [(page, count(compact.text), count(paper.text)) for page, compact, paper in pages]
        assert all(compact < paper for _, compact, paper in sizes), (name, sizes)
        assert sum(compact for _, compact, _ in sizes) <= share * sum(paper for _, _, paper in sizes), (name, sizes)


def test_both_styles_show_the_same_elements(pages):
    for name, compact, paper in pages:
        assert [(e.id, e.role, e.label, e.value) for e in compact.elements] == [(e.id, e.role, e.label, e.value) for e in paper.elements], name
