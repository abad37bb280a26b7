"""Sixteen episodes of one state-changing task at once, each in a world of its own, all succeed; in one world they do not."""

from collections import Counter
from pathlib import Path

import pytest

from wr1_utils.tasks.task import load_tasks

DATA = Path(__file__).parents[2] / "data" / "tasks"
EPISODES = 16
TASKS = {task.intent_template_id: task for part in ("test", "train") for task in load_tasks(DATA / f"arena_{part}.json")
         if "program_html" in task.eval["eval_types"]}       # template → a task of it
QUICK = ("cart_add", "reddit_comment")  # in one world the carts and the comments of all sixteen add up; taking a favourite away sixteen times would not show


def scores(play, template, one_world=False):
    """How often each score came out; what went wrong, where an episode had no score."""
    task = TASKS[template]
    return Counter(one.fault or one.score for one in play([(task, [task])] * EPISODES, at_once=EPISODES, one_world=one_world))


def test_each_kind_of_change_is_among_the_tasks():
    assert len(TASKS) >= 60 and {site for task in TASKS.values() for site in task.sites} >= {"shopping", "shopping_admin", "reddit", "gitlab", "map"}


@pytest.mark.parametrize("template", [pytest.param(template, marks=[] if template in QUICK else pytest.mark.slow) for template in TASKS])
def test_sixteen_episodes_of_one_task_all_succeed(play, template):
    assert scores(play, template) == {1.0: EPISODES}


@pytest.mark.parametrize("template", QUICK)
def test_without_worlds_they_disturb_one_another(play, template):
    """The same with worlds switched off."""
    assert scores(play, template, one_world=True)[1.0] < EPISODES
