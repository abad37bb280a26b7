"""MiniWoB++ as a place: seeded tasks, raw reward, nothing that leaks it, no end by time."""

import asyncio
import urllib.request

import pytest
from playwright.async_api import async_playwright

from wr1_utils.errors import WR1Error
from wr1_utils.tasks.miniwob import ALL_PAGES, PAGES, MiniWob, make_tasks
from wr1_utils.web.browser import find_browser


def test_train_and_test_seeds_are_apart():
    """No page and seed of the test tasks is ever trained on, and each task has its own id."""
    train, test = make_tasks("train", 50), make_tasks("test", 50)
    ids = [task.task_id for task in train + test]
    assert len(set(ids)) == len(ids) == 100 * len(PAGES)
    assert train[0].task_id == f"miniwob.{PAGES[0]}.0" and test[0].task_id == f"miniwob.{PAGES[0]}.100000"
    assert {task.split for task in train} == {"train"} and {task.split for task in test} == {"seen_template"}
    assert all(task.benchmark == "miniwob" and task.intent_template in PAGES for task in train)
    assert [task.intent_template_id for task in make_tasks("train", 2, ("click-tab", "enter-text"))] == [
        "click-tab", "click-tab", "enter-text", "enter-text",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("dev", 1), "train and test"), (("train", 100_001), "100000"), (("train", 1, ("click-buton",)), "'click-button'")],
)
def test_wrong_requests_are_refused(arguments, said):
    """The message says what there is."""
    with pytest.raises(WR1Error, match=said):
        make_tasks(*arguments)


def test_a_port_in_use_is_said():
    """One sentence naming the port; start() twice is one server."""
    first = MiniWob()
    first.start()
    first.start()
    try:
        port = first.server.server_address[1]
        with pytest.raises(WR1Error, match=f"port {port}"):
            MiniWob(port).start()
        url = f"http://127.0.0.1:{port}/miniwob/click-test.html"
        with urllib.request.urlopen(url) as response:
            assert "max-age" in response.headers["Cache-Control"]
    finally:
        first.stop()
        first.stop()


@pytest.fixture(scope="module")
def miniwob():
    """(run, open): run waits for a coroutine, open starts a task on a new page and gives page, visit and intent."""
    place = MiniWob()
    place.start()
    loop = asyncio.new_event_loop()
    playwright = loop.run_until_complete(async_playwright().start())
    browser = loop.run_until_complete(playwright.chromium.launch(executable_path=find_browser("").path))

    async def open_task(task):
        page = await browser.new_page()
        visit = place.enter(task, seed=0)
        await page.goto(visit.start_url, wait_until="commit")
        return page, visit, await place.begin(page, task, visit)

    yield place, loop.run_until_complete, open_task
    loop.run_until_complete(browser.close())
    loop.run_until_complete(playwright.stop())
    loop.close()
    place.stop()


def test_the_seed_makes_the_problem(miniwob):
    """One task is one problem each time; other seeds are other problems."""
    place, run, open_task = miniwob
    tasks = make_tasks("train", 4, ("enter-text-dynamic",))

    async def utterances():
        return [(await open_task(task))[2] for task in [*tasks, *tasks]]

    said = run(utterances())
    assert said[:4] == said[4:] and len(set(said)) == 4
    assert all(text.startswith('Enter "') for text in said)


def test_a_task_in_free_language_is_what_is_said_and_not_its_parts(miniwob):
    """Some pages give what they ask for with its fields, which would be the answer."""
    _, run, open_task = miniwob
    (task,) = make_tasks("train", 1, ("email-inbox-forward-nl",))
    assert run(open_task(task))[2] == "Give Bobine the message you received from Cora,"


@pytest.mark.parametrize(("button", "reward"), [("#subbtn", 1.0), ("#subbtn2", 0.0)])
def test_the_page_ends_the_episode_and_its_raw_reward_is_the_score(miniwob, button, reward):
    """Raw 1 is success, raw -1 is none; before the end there is no success, and no clock is running out."""
    place, run, open_task = miniwob
    (task,) = make_tasks("test", 1, ("click-test-2",))

    async def play():
        page, visit, _ = await open_task(task)
        assert not await place.finished(page, task, visit)
        assert await place.score(page, page.context, task, visit, "done") == 0.0
        assert await page.evaluate("core.EPISODE_MAX_TIME") > 1e9
        await page.click(button)
        assert await place.finished(page, task, visit)
        return await place.score(page, page.context, task, visit, None)

    assert run(play()) == reward


def test_partial_reward_is_no_success(miniwob):
    """Some right boxes give a raw reward between 0 and 1, and that is a failure."""
    place, run, open_task = miniwob
    (task,) = make_tasks("train", 1, ("click-checkboxes",))

    async def play():
        page, visit, _ = await open_task(task)
        await page.evaluate("core.endEpisode(0.5)")
        assert await place.finished(page, task, visit)
        return await place.score(page, page.context, task, visit, None)

    assert run(play()) == 0.0


def test_leaving_the_page_is_a_failure_not_an_error(miniwob):
    """An agent that went away gets 0.0."""
    place, run, open_task = miniwob
    (task,) = make_tasks("test", 1, ("click-test-2",))

    async def play():
        page, visit, _ = await open_task(task)
        await page.goto("about:blank")
        return await place.finished(page, task, visit), await place.score(page, page.context, task, visit, None)

    assert run(play()) == (False, 0.0)


@pytest.mark.parametrize("names", [PAGES, pytest.param(tuple(page for page in ALL_PAGES if page not in PAGES), marks=pytest.mark.slow)],
                         ids=["standard", "others"])
def test_what_leaks_is_hidden(miniwob, names):
    """Every page says in plain text what it wants, and without the hidden parts none shows its instruction, reward, timer or cover."""
    place, run, open_task = miniwob

    async def left_over(task, some):
        async with some:
            page, _, intent = await open_task(task)
            await page.evaluate("s => document.querySelectorAll(s).forEach(e => e.remove())", ", ".join(place.hidden))
            text = await page.evaluate("document.body.innerText")
            await page.close()
        return task, intent, text

    async def all_left_over():
        some = asyncio.Semaphore(8)
        return await asyncio.gather(*[left_over(task, some) for task in make_tasks("train", 1, names)])

    for task, intent, text in run(all_left_over()):
        assert isinstance(intent, str) and intent and intent not in text, task.task_id
        assert not any(word in text for word in ("Last reward", "Time left", "START")), task.task_id
