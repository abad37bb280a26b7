"""The experts of the site gitlab solve their tasks in a real browser, through the same grammar and pages as the agent."""

import asyncio

import pytest

from wr1_utils.agent import gitlab_experts, pocket_experts
from wr1_utils.agent.experts import ExpertError
from wr1_utils.settings import load_settings
from wr1_utils.tasks.gitlab_templates import TEMPLATES
from wr1_utils.tasks.pocket import PocketArena
from wr1_utils.tasks.templates import make_tasks
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import Episode
from wr1_utils.web.loop import run

TASKS = sum(make_tasks(TEMPLATES, 0), [])
PAGE_CHARACTERS = 1_900            # about 650 tokens


def test_every_template_has_an_expert():
    assert set(gitlab_experts.EXPERTS) == {template.name for template in TEMPLATES}


def play(tasks):
    """Task id → (score, turns, longest page in characters), or what went wrong."""
    settings = load_settings("laptop")

    async def one(browser, place, task):
        episode, memory, longest = Episode(browser, place, task, 0, settings), {}, 0
        try:
            observation = await episode.reset()
            for _ in range(settings.episode.turn_limit):
                longest = max(longest, len(observation.text))
                result = await episode.step(pocket_experts.reply(task, episode.intent, observation, memory))
                if result.error:
                    return result.error
                if result.done:
                    return await episode.score(), episode.steps, longest
                observation = result.observation
            return "turn limit"
        except ExpertError as error:
            return str(error)
        finally:
            await episode.close()

    async def everyone():
        place, browser, some = PocketArena(), Browser(settings.browser), asyncio.Semaphore(8)
        place.start()

        async def in_turn(task):
            async with some:
                return await one(browser, place, task)

        try:
            return dict(zip([task.task_id for task in tasks], await asyncio.gather(*map(in_turn, tasks))))
        finally:
            await browser.stop()
            place.stop()

    return run(everyone())


def check(outcomes):
    failed = {task_id: outcome for task_id, outcome in outcomes.items() if outcome[0] != 1.0}
    assert not failed
    assert max(outcome[2] for outcome in outcomes.values()) <= PAGE_CHARACTERS


def test_one_task_of_each_template_is_solved():
    check(play(list({task.intent_template_id: task for task in TASKS}.values())))


@pytest.mark.slow
def test_every_task_is_solved():
    check(play(TASKS))


def test_tasks_take_from_one_turn_to_ten():
    outcomes = play([next(task for task in TASKS if task.intent_template_id == name) for name in ("gitlab_visibility", "gitlab_new_issue")])
    assert [outcome[1] for outcome in outcomes.values()] == [1, 10]
