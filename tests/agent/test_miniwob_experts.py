"""The MiniWoB++ experts: every page has one, each reads the live page, and all reach reward 1 in real Chromium."""

import asyncio

import pytest

from wr1_utils.agent import miniwob_experts
from wr1_utils.agent.experts import ExpertError
from wr1_utils.settings import load_settings
from wr1_utils.tasks.miniwob import PAGES, MiniWob, make_tasks
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import Episode
from wr1_utils.web.observation import Element, Observation

MAX_TURNS = 8


def page(*elements):
    """An observation of these elements, numbered; (role, label, state...) each."""
    listed = tuple(
        Element(id=number, role=role, label=label, state=tuple(state)) for number, (role, label, *state) in enumerate(elements)
    )
    return Observation(url="", title="", text="", elements=listed, tabs=(), tab=0, notices=())


def task(name):
    return make_tasks("train", 1, (name,))[0]


def test_every_page_has_an_expert():
    """No page without an expert and no expert without a page."""
    assert set(miniwob_experts.EXPERTS) == set(PAGES)


@pytest.mark.parametrize(
    ("boxes", "acts_on"),
    [
        ([("a",), ("b",), ("c",)], "[0]"),
        ([("a", "checked"), ("b",), ("c",)], "[2]"),
        ([("a", "checked"), ("b", "checked"), ("c", "checked")], "[1]"),
        ([("a", "checked"), ("b",), ("c", "checked")], "[3]"),
    ],
)
def test_what_remains_is_read_off_the_page(boxes, acts_on):
    """Boxes a and c are asked for: the first box in the wrong state is clicked, else Submit."""
    seen = page(*[("checkbox", *box) for box in boxes], ("button", "Submit"))
    reply = miniwob_experts.reply(task("click-checkboxes"), "Select a, c and click Submit.", seen, {})
    assert acts_on in reply.splitlines()[0]


def test_an_expert_that_cannot_go_on_says_so():
    """Another page than the expected one is an ExpertError naming what is missing."""
    with pytest.raises(ExpertError, match="okay"):
        miniwob_experts.reply(task("click-button"), 'Click on the "okay" button.', page(("button", "no")), {})


@pytest.fixture(scope="module")
def played():
    """One test episode of every page, played by its expert: task id -> (score, turns, error)."""
    settings = load_settings("laptop")
    place = MiniWob()
    place.start()

    async def play(browser, task):
        episode = Episode(browser, place, task, seed=0, settings=settings)
        observation, memory, turns, error, done = await episode.reset(), {}, 0, None, False
        try:
            while not done and error is None and turns < MAX_TURNS:
                turns += 1
                reply = miniwob_experts.reply(task, episode.intent, observation, memory)
                result = await episode.step(reply)
                observation, done, error = result.observation, result.done, result.error
            return await episode.score(), turns, error
        finally:
            await episode.close()

    async def play_all(tasks):
        browser = Browser(settings.browser)
        await browser.start()
        try:
            return dict(zip([task.task_id for task in tasks], await asyncio.gather(*[play(browser, task) for task in tasks])))
        finally:
            await browser.stop()

    yield asyncio.run(play_all(make_tasks("test", 1)))
    place.stop()


@pytest.mark.parametrize("name", PAGES)
def test_the_expert_solves_its_page(played, name):
    """Through the same episodes, observations and actions as the agent's: success, and no action that failed."""
    score, turns, error = played[f"miniwob.{name}.100000"]
    assert (score, error) == (1.0, None) and turns <= MAX_TURNS
