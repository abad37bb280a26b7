"""Scoring after changes that are made by the sites' own forms: the fixture `scores`."""

import asyncio

import httpx
import pytest

from wr1_utils.settings import load_settings
from wr1_utils.sites.server import SESSIONS, make_app
from wr1_utils.tasks.pocket import PocketArena
from wr1_utils.tasks.scoring import fill_placeholders
from wr1_utils.web.browser import Browser
from wr1_utils.web.loop import run

AT_ONCE = 3


@pytest.fixture(scope="module")
def scores():
    """Gives the scores of a task's episodes that sent these forms and ended where the task wants it to.

    ``scores(task, way, way …)``; a way is a list of (path, fields) or (path, fields, site), else on the task's first site.
    """
    arena, browser = PocketArena(), Browser(load_settings("smoke").browser)
    arena.start()
    run(browser.start())

    async def play(task, forms):
        visit = arena.enter(task, 0)
        context = await browser.open(headers=visit.headers, cookies=visit.cookies, viewport=arena.viewport)
        transport = httpx.ASGITransport(app=make_app(arena._server.worlds))
        try:
            page = await context.new_page()
            await page.goto(fill_placeholders(task.eval["reference_url"] or task.start_url, arena.site_urls))
            for path, fields, *site in forms:
                at = (site or task.sites)[0]
                cookies = dict([SESSIONS[at]]) if at in SESSIONS else {}
                async with httpx.AsyncClient(transport=transport, base_url=f"http://{at}.localhost", headers=visit.headers,
                                             cookies=cookies) as client:
                    assert (await client.post(path, data=fields)).status_code in (204, 303), (path, fields)
            return await arena.score(page, context, task, visit, "done")
        finally:
            await browser.close(context)
            arena.leave(visit)

    async def all_ways(task, ways):
        some = asyncio.Semaphore(AT_ONCE)

        async def in_turn(forms):
            async with some:
                return await play(task, forms)

        return await asyncio.gather(*map(in_turn, ways))

    yield lambda task, *ways: run(all_ways(task, ways))
    run(browser.stop())
    arena.stop()
