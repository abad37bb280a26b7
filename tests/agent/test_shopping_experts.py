"""The experts solve their tasks in a real browser, through the same grammar and pages as the agent."""

import pytest

from wr1_utils.agent import pocket_experts, shopping_experts
from wr1_utils.tasks.shopping_templates import TEMPLATES
from wr1_utils.tasks.templates import make_tasks

TASKS = sum(make_tasks(TEMPLATES, 0), [])


def test_every_template_has_an_expert():
    assert set(shopping_experts.EXPERTS) == {template.name for template in TEMPLATES}
    assert shopping_experts.EXPERTS.items() <= pocket_experts.EXPERTS.items()


def test_one_task_of_each_template_is_solved(check_experts):
    check_experts({task.intent_template_id: task for task in TASKS}.values())


@pytest.mark.slow
def test_every_task_is_solved(check_experts):
    check_experts(TASKS)
