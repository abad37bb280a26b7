"""Sixteen episodes of one state-changing task at once, each in a world of its own, all succeed and change nothing but their own worlds.

With worlds switched off the same check fails, whatever the task. What is asked sixteen times may leave the one world as it should be (a favorite stays
one), so that scores alone do not show it; but that world takes what all sixteen send, and none of them sent all of that.
"""

from pathlib import Path

import pytest

from wr1_utils.tasks.task import load_tasks

DATA = Path(__file__).parents[2] / "data" / "tasks"
EPISODES = 16
TASKS = {task.intent_template_id: task for part in ("test", "train") for task in load_tasks(DATA / f"arena_{part}.json")
         if "program_html" in task.eval["eval_types"]}       # template → a task of it
QUICK = ("cart_add", "reddit_comment")
EACH = [pytest.param(template, marks=[] if template in QUICK else pytest.mark.slow) for template in TASKS]


def problems(play, template, episodes, one_world=False):
    """What was wrong with each of the episodes at once that did not succeed, or whose world was asked for other changes than the episode's own."""
    task = TASKS[template]
    return [one.fault or f"score {one.score}; sent {dict(one.sent)}, its world took {dict(one.taken)}"
            for one in play([(task, [task])] * episodes, at_once=episodes, one_world=one_world)
            if one.score != 1.0 or not one.sent or one.sent != one.taken]


def test_each_kind_of_change_is_among_the_tasks():
    assert len(TASKS) >= 60 and {site for task in TASKS.values() for site in task.sites} >= {"shopping", "shopping_admin", "reddit", "gitlab", "map"}


@pytest.mark.parametrize("template", EACH)
def test_sixteen_episodes_of_one_task_all_succeed(play, template):
    assert problems(play, template, EPISODES) == []


@pytest.mark.parametrize("template", EACH)
def test_without_worlds_they_disturb_one_another(play, template):
    """The same with worlds switched off; three are enough to do so, and sixteen do it all the more."""
    assert problems(play, template, EPISODES if template in QUICK else 3, one_world=True) != []
