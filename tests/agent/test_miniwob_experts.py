"""The MiniWoB++ experts: every standard page has one, each reads the live page, and all reach reward 1 in real Chromium."""

import asyncio

import pytest

from wr1_utils.agent import miniwob_experts
from wr1_utils.agent.experts import ExpertError
from wr1_utils.agent.miniwob_click_experts import SCROLLED_OUT
from wr1_utils.agent.miniwob_experts import EXPERTS
from wr1_utils.settings import load_settings
from wr1_utils.tasks.miniwob import ALL_PAGES, PAGES, MiniWob, make_tasks
from wr1_utils.tasks.miniwob_needs import beyond_grammar, unseen
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import Episode

MAX_TURNS = 40  # a date eleven months back takes many turns
AT_ONCE = 8


def task(name):
    return make_tasks("train", 1, (name,))[0]


def test_the_standard_pages_and_many_more_have_an_expert():
    """At least sixty, none of a page that is not there, and none of one that the grammar or the page's text is said not to suffice for."""
    assert set(PAGES) <= set(EXPERTS) <= set(ALL_PAGES) and len(EXPERTS) >= 60
    assert not [name for name in EXPERTS if beyond_grammar(name) or unseen(name)]


@pytest.mark.parametrize(
    ("boxes", "acts_on"),
    [
        ([("a",), ("b",), ("c",)], "[0]"),
        ([("a", "checked"), ("b",), ("c",)], "[2]"),
        ([("a", "checked"), ("b", "checked"), ("c", "checked")], "[1]"),
        ([("a", "checked"), ("b",), ("c", "checked")], "[3]"),
    ],
)
def test_what_remains_is_read_off_the_page(observed, boxes, acts_on):
    """Boxes a and c are asked for: the first box in the wrong state is clicked, else Submit."""
    seen = observed(*[("checkbox", label, {"state": tuple(state)}) for label, *state in boxes], ("button", "Submit"))
    reply = miniwob_experts.reply(task("click-checkboxes"), "Select a, c and click Submit.", seen, {})
    assert acts_on in reply.splitlines()[0]


def test_an_expert_that_cannot_go_on_says_so(observed):
    """Another page than the expected one is an ExpertError naming what is missing."""
    with pytest.raises(ExpertError, match="okay"):
        miniwob_experts.reply(task("click-button"), 'Click on the "okay" button.', observed(("button", "no")), {})
    with pytest.raises(ExpertError, match="'grid-coordinate' expects it"):
        miniwob_experts.reply(task("grid-coordinate"), "Click on the grid coordinate (2,2).", observed(("clickable", "circle")), {})
    with pytest.raises(ExpertError, match="no expert for the MiniWoB\\+\\+ page 'drag-box'"):
        miniwob_experts.reply(task("drag-box"), "Drag the smaller box.", observed(("button", "Submit")), {})


@pytest.fixture(scope="module")
def played():
    """Plays tasks by their experts, some at once: task id -> (score, turns, the first action's error)."""
    settings = load_settings("laptop")
    place = MiniWob()
    place.start()

    async def play(browser, task, some):
        episode = Episode(browser, place, task, seed=0, settings=settings)
        memory, turns, error, done = {}, 0, None, False
        async with some:
            try:
                observation = await episode.reset()
                while not done and turns < MAX_TURNS:
                    turns += 1
                    reply = miniwob_experts.reply(task, episode.intent, observation, memory)
                    result = await episode.step(reply)
                    observation, done = result.observation, result.done
                    if result.error and SCROLLED_OUT not in result.error:
                        error = error or result.error
                return await episode.score(), turns, error
            except ExpertError as fault:
                return None, turns, str(fault)
            finally:
                await episode.close()

    async def play_all(tasks):
        browser, some = Browser(settings.browser), asyncio.Semaphore(AT_ONCE)
        await browser.start()
        try:
            return dict(zip([task.task_id for task in tasks], await asyncio.gather(*[play(browser, task, some) for task in tasks])))
        finally:
            await browser.stop()

    yield lambda tasks: asyncio.run(play_all(tasks))
    place.stop()


@pytest.fixture(scope="module")
def first_seed(played):
    """What came of one test episode of every page that has an expert."""
    return played(make_tasks("test", 1, tuple(EXPERTS)))


@pytest.mark.parametrize("name", EXPERTS)
def test_the_expert_solves_its_page(first_seed, name):
    """Through the same episodes, observations and actions as the agent's: success, and no action that failed."""
    score, turns, error = first_seed[f"miniwob.{name}.100000"]
    assert (score, error) == (1.0, None) and turns <= MAX_TURNS


@pytest.mark.slow
def test_the_experts_solve_further_seeds(played):
    """Here an action may fail, if the expert goes on from it: some pages change under it (a field that opens a popup when it is clicked, late suggestions)."""
    outcomes = played([task for task in make_tasks("test", 4, tuple(EXPERTS)) if not task.task_id.endswith(".100000")])
    assert len(outcomes) == 3 * len(EXPERTS)
    assert not {name: outcome for name, outcome in outcomes.items() if outcome[0] != 1.0}
