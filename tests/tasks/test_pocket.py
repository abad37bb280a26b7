"""The Pocket Arena as a place: worlds come and go, scoring is tight and never touches the agent's page."""

import dataclasses

import pytest

from wr1_utils.settings import load_settings
from wr1_utils.sites.server import SESSIONS, SITES
from wr1_utils.tasks.pocket import PocketArena
from wr1_utils.tasks.shopping_templates import TEMPLATES
from wr1_utils.tasks.templates import make_tasks
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import InfrastructureError
from wr1_utils.web.loop import run

TASKS = sum(make_tasks(TEMPLATES, 0), [])


def task_of(template):
    return next(task for task in TASKS if task.intent_template_id == template)


@pytest.fixture(scope="module")
def arena():
    arena = PocketArena()
    arena.start()
    yield arena
    arena.stop()


@pytest.fixture(scope="module")
def browser():
    browser = Browser(load_settings("smoke").browser)
    run(browser.start())
    yield browser
    run(browser.stop())


def score(arena, browser, task, *statements, path="/", answer="done"):
    """The score of an episode that left its world as the SQL statements leave it and its page at `path`."""
    return scores(arena, browser, [task], *statements, path=path, answer=answer)[0]


def scores(arena, browser, tasks, *statements, path="/", answer="done"):
    """The scores of several tasks, all for the state in which the first one's episode ended."""
    async def play():
        task = tasks[0]
        visit = arena.enter(task, 0)
        database = arena._server.worlds.get(visit.key).database("shopping")
        context = await browser.open(headers=visit.headers, cookies=visit.cookies, viewport=arena.viewport)
        try:
            page = await context.new_page()
            await page.goto(visit.start_url.rstrip("/") + path)
            for statement, *values in statements:
                database.execute(statement, values)
            before = page.url
            results = [await arena.score(page, context, task, visit, answer) for task in tasks]
            assert page.url == before and len(context.pages) == 1
            return results
        finally:
            await browser.close(context)
            arena.leave(visit)

    return run(play())


def test_an_episode_has_a_world_of_its_own_until_it_leaves(arena):
    first, second = arena.enter(TASKS[0], 0), arena.enter(TASKS[0], 0)
    assert first.headers != second.headers and first.start_url == second.start_url
    assert first.start_url.startswith("http://shopping.localhost:")
    arena.leave(first)
    arena.leave(first)
    arena.leave(second)
    assert len(arena._server.worlds) == 0


def test_who_must_log_in_starts_without_the_session(arena):
    for template, cookies in (("log_in", 0), ("cart_add", 1)):
        visit = arena.enter(task_of(template), 0)
        assert len(visit.cookies) == cookies
        arena.leave(visit)


@pytest.mark.parametrize("sites", [(site,) for site in SITES] + [("shopping", "shopping_admin"), ("reddit", "gitlab", "wikipedia")])
def test_a_task_may_name_any_sites_and_is_logged_in_where_there_is_a_login(arena, sites):
    starts = " ".join(f"__{site.upper()}__/login" for site in sites)
    task = dataclasses.replace(TASKS[0], sites=sites, start_url=starts, require_login=True)
    visit = arena.enter(task, 0)
    assert visit.start_url.split() == [f"http://{site}.localhost:{arena._server.port}/login" for site in sites]
    assert [cookie["url"] for cookie in visit.cookies] == [arena.site_urls[site.upper()] for site in sites if site in SESSIONS]
    assert all((cookie["name"], cookie["value"]) in SESSIONS.values() for cookie in visit.cookies)
    arena.leave(visit)
    visit = arena.enter(dataclasses.replace(task, require_login=False), 0)
    assert visit.cookies == []
    arena.leave(visit)


def test_nothing_done_solves_nothing(arena, browser):
    """The seed state and the first page score 0 in every template whose task changes or opens something."""
    tasks = [task_of(template.name) for template in TEMPLATES]
    doing = [task for task in tasks if "string_match" not in task.eval["eval_types"]]
    assert len(doing) >= 15
    for login in (True, False):
        some = [task for task in doing if task.require_login == login]
        assert scores(arena, browser, some) == [0.0] * len(some)


@pytest.mark.parametrize("answer, right", [(None, 0.0), ("", 0.0), ("N/A", 0.0), ("$1.00", 0.0), ("{} or $1.00", 0.0), ("{}", 1.0)])
def test_answers(arena, browser, answer, right):
    task = task_of("product_price")
    answer = answer and answer.format(task.eval["reference_answers"]["exact_match"])
    assert score(arena, browser, task, answer=answer) == right


def test_a_question_without_an_answer_wants_it_said(arena, browser):
    task = task_of("no_such_product")
    assert score(arena, browser, task, answer="N/A") == 1.0
    assert score(arena, browser, task, answer=None) == score(arena, browser, task, answer="$5.00") == 0.0


def test_urls(arena, browser):
    task = task_of("open_category")
    right = task.eval["reference_url"].removeprefix("__SHOPPING__")
    assert score(arena, browser, task, path=right) == 1.0
    assert score(arena, browser, task, path=right.split("?")[0]) == 0.0
    assert score(arena, browser, task, path=right.split("?")[0] + "?sort=name") == 0.0


ADD = "INSERT INTO cart (customer, product, choice, quantity) SELECT 1, id, ?, ? FROM products WHERE name = ?"


def test_the_cart_must_hold_just_what_was_asked_for(arena, browser):
    task = task_of("cart_add")
    name = task.instantiation_dict["product"]
    assert score(arena, browser, task, (ADD, "", 1, name)) == 1.0
    assert score(arena, browser, task, (ADD, "", 2, name)) == 0.0
    assert score(arena, browser, task, (ADD, "", 1, name), ("UPDATE cart SET quantity = 9 WHERE id = 1",)) == 0.0
    assert score(arena, browser, task, (ADD, "", 1, name), ("DELETE FROM cart WHERE id = 1",)) == 0.0
    choice = task_of("cart_add_option")
    wrong = next(c for c in ("Small", "Medium", "Large", "Red", "Green", "Blue") if c != choice.instantiation_dict["choice"])
    assert score(arena, browser, choice, (ADD, wrong, 1, choice.instantiation_dict["product"])) == 0.0


def test_an_account_with_another_change_fails(arena, browser):
    task = task_of("change_phone")
    right = ("UPDATE customers SET phone = ? WHERE id = 1", task.instantiation_dict["phone"])
    assert score(arena, browser, task, right) == 1.0
    assert score(arena, browser, task, right, ("UPDATE customers SET newsletter = 1 WHERE id = 1",)) == 0.0
    assert score(arena, browser, task, right, ("UPDATE customers SET zip = '11111' WHERE id = 1",)) == 0.0


def test_a_locator_that_finds_nothing_is_empty_text(arena, browser):
    check = {"url": "__SHOPPING__/cart", "locator": 'document.querySelector("#none").outerText', "required_contents": {"exact_match": "x"}}
    task = dataclasses.replace(task_of("cart_add"), eval={"eval_types": ["program_html"], "program_html": [check]})
    assert score(arena, browser, task) == 0.0
    whole = {**check, "locator": None, "required_contents": {"must_include": ["Update cart"]}}
    assert score(arena, browser, dataclasses.replace(task, eval={"eval_types": ["program_html"], "program_html": [whole]})) == 1.0
    helper = {**check, "locator": "func:shopping_get_something()"}
    assert score(arena, browser, dataclasses.replace(task, eval={"eval_types": ["program_html"], "program_html": [helper]})) is None


def test_a_page_that_a_site_refuses_to_the_user_is_scored(arena, browser):
    """It is a page (403) of a site, unlike the refusal of an unknown world."""
    checks = [{"url": "__GITLAB__/otis/puzzle-solver/-/edit", "locator": "", "required_contents": {"must_include": [text]}}
              for text in ("Not allowed", "Project name")]
    for check, right in zip(checks, (1.0, 0.0)):
        task = dataclasses.replace(TASKS[0], sites=("gitlab",), start_url="__GITLAB__", require_login=True,
                                   eval={"eval_types": ["program_html"], "program_html": [check]})
        assert score(arena, browser, task) == right


def test_a_missing_world_is_no_failure_of_the_agent(arena, browser):
    async def play():
        visit = arena.enter(TASKS[0], 0)
        context = await browser.open(headers=visit.headers, cookies=visit.cookies, viewport=arena.viewport)
        page = await context.new_page()
        await page.goto(visit.start_url)
        arena.leave(visit)
        try:
            await arena.score(page, context, task_of("cart_add"), visit, "done")
        finally:
            await browser.close(context)

    with pytest.raises(InfrastructureError):
        run(play())
