"""The experts of the site gitlab solve their tasks in a real browser, through the same grammar and pages as the agent."""

import pytest

from wr1_utils.agent import gitlab_experts, pocket_experts
from wr1_utils.tasks.gitlab_templates import TEMPLATES
from wr1_utils.tasks.templates import make_tasks

TASKS = sum(make_tasks(TEMPLATES, 0), [])
PAGE_CHARACTERS = 1_900            # about 650 tokens


def test_every_template_has_an_expert():
    assert set(gitlab_experts.EXPERTS) == {template.name for template in TEMPLATES}
    assert gitlab_experts.EXPERTS.items() <= pocket_experts.EXPERTS.items()


def test_one_task_of_each_template_is_solved(check_experts):
    check_experts({task.intent_template_id: task for task in TASKS}.values(), PAGE_CHARACTERS)


@pytest.mark.slow
def test_every_task_is_solved(check_experts):
    check_experts(TASKS, PAGE_CHARACTERS)


def test_tasks_take_from_one_turn_to_ten(check_experts):
    names = ("gitlab_visibility", "gitlab_new_issue")
    outcomes = check_experts([next(task for task in TASKS if task.intent_template_id == name) for name in names], PAGE_CHARACTERS)
    assert [len(outcome.actions) for outcome in outcomes] == [1, 10]
