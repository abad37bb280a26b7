"""The experts of the forum, and those of the tasks over several sites, solve their tasks in a real browser as the agent would."""

import pytest

from wr1_utils.agent import multi_experts, pocket_experts, reddit_experts
from wr1_utils.tasks import multi_templates, reddit_templates
from wr1_utils.tasks.templates import make_tasks

BOTH = {"reddit": (reddit_templates.TEMPLATES, reddit_experts.EXPERTS), "multi": (multi_templates.TEMPLATES, multi_experts.EXPERTS)}
TASKS = {name: sum(make_tasks(templates, 0), []) for name, (templates, _) in BOTH.items()}


@pytest.mark.parametrize("name", BOTH)
def test_every_template_has_an_expert(name):
    templates, experts = BOTH[name]
    assert set(experts) == {template.name for template in templates}
    assert experts.items() <= pocket_experts.EXPERTS.items()


@pytest.mark.parametrize("name", BOTH)
def test_one_task_of_each_template_is_solved(name, check_experts):
    outcomes = check_experts({task.intent_template_id: task for task in TASKS[name]}.values())
    turns = {len(outcome.actions) for outcome in outcomes}
    assert min(turns) <= 3 and max(turns) >= 9
    assert {action for outcome in outcomes for action in outcome.actions} >= {"Click", "Type", "Search"}
    assert (name == "multi") == any("Switch Tab" in outcome.actions for outcome in outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTH)
def test_every_task_is_solved(name, check_experts):
    check_experts(TASKS[name], page=1_900)        # about 650 tokens: long comments
