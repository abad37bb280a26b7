"""The experts of the forum, and those of the tasks over several sites, solve their tasks in a real browser as the agent would."""

import asyncio

import pytest

from wr1_utils.agent import multi_experts, pocket_experts, reddit_experts
from wr1_utils.agent.experts import ExpertError
from wr1_utils.settings import load_settings
from wr1_utils.tasks import multi_templates, reddit_templates
from wr1_utils.tasks.pocket import PocketArena
from wr1_utils.tasks.templates import make_tasks
from wr1_utils.web.actions import parse_reply
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import Episode
from wr1_utils.web.loop import run

BOTH = {"reddit": (reddit_templates.TEMPLATES, reddit_experts.EXPERTS), "multi": (multi_templates.TEMPLATES, multi_experts.EXPERTS)}
TASKS = {name: sum(make_tasks(templates, 0), []) for name, (templates, _) in BOTH.items()}
PAGE_CHARACTERS = 1_600            # about 500 tokens


@pytest.mark.parametrize("name", BOTH)
def test_every_template_has_an_expert(name):
    templates, experts = BOTH[name]
    assert set(experts) == {template.name for template in templates}
    assert experts.items() <= pocket_experts.EXPERTS.items()


def play(tasks):
    """Task id → (score, actions, longest page in characters), or what went wrong."""
    settings = load_settings("laptop")

    async def one(browser, place, task):
        episode, memory, longest, actions = Episode(browser, place, task, 0, settings), {}, 0, []
        try:
            observation = await episode.reset()
            for _ in range(settings.episode.turn_limit):
                longest = max(longest, len(observation.text))
                reply = pocket_experts.reply(task, episode.intent, observation, memory)
                actions.append(parse_reply(reply).action)
                result = await episode.step(reply)
                if result.error:
                    return result.error
                if result.done:
                    return await episode.score(), actions, longest
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


@pytest.mark.parametrize("name", BOTH)
def test_one_task_of_each_template_is_solved(name):
    outcomes = play(list({task.intent_template_id: task for task in TASKS[name]}.values()))
    check(outcomes)
    turns = {len(actions) for _, actions, _ in outcomes.values()}
    assert min(turns) <= 3 and max(turns) >= 9
    assert {action for _, actions, _ in outcomes.values() for action in actions} >= {"Click", "Type", "Search"}
    assert (name == "multi") == any("Switch Tab" in actions for _, actions, _ in outcomes.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTH)
def test_every_task_is_solved(name):
    check(play(TASKS[name]))
