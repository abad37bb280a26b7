import random

import pytest

from wr1_utils.training import pocket_tasks
from wr1_utils.training.pocket_parts import SKILL_NAMES
from wr1_utils.web.actions import Action, parse_reply


def _samples(make, number, *args):
    rng = random.Random(0)
    return [make(rng, rng.randint(3, 40), *args) for _ in range(number)]


@pytest.mark.parametrize("make", [pocket_tasks.dense, pocket_tasks.deployment])
def test_every_reply_parses_and_what_it_names_stands_on_the_page(make):
    """No reply may ask for what cannot be read: its element line is on the page, in whole, with the id that is acted on."""
    for sample in _samples(make, 300):
        page = next(message["content"] for message in reversed(sample.messages) if "\npage " in message["content"] or message["content"].startswith("page "))
        for message in sample.messages if sample.train_all else sample.messages[-1:]:
            if message["role"] != "assistant":
                continue
            action = parse_reply(message["content"], "think")
            assert isinstance(action, Action), (message, action)
            if action.element is not None:
                line = message["content"].split("# Element: ")[1].split("</think>")[0]
                assert line in page and line.endswith(f"[{action.element}]")


def test_deployment_has_the_agents_format():
    for sample in _samples(pocket_tasks.deployment, 200):
        roles = [message["role"] for message in sample.messages]
        assert roles == ["system"] + ["user", "assistant"] * (len(roles) // 2)
        users = [message["content"] for message in sample.messages if message["role"] == "user"]
        assert users[0].startswith("Task: ") and not any(user.startswith("Task: ") for user in users[1:])
        for user in users[:-1]:
            assert user.endswith(pocket_tasks.PLACEHOLDER)
        assert "page " in users[-1] and pocket_tasks.PLACEHOLDER not in users[-1]


@pytest.mark.parametrize("skill", SKILL_NAMES)
def test_each_skill_can_be_asked_for(skill):
    for sample in _samples(pocket_tasks.deployment, 5, skill):
        assert sample.skill == skill and len(sample.messages) == 3


def test_noted_values_are_reported_from_the_note():
    """A value of an earlier page is carried in the thought; the final answer copies it from there."""
    for sample in _samples(pocket_tasks.deployment, 2000):
        if sample.skill == "note":
            line = sample.messages[-1]["content"].split("# Answer: ")[1].split("</think>")[0]
            assert any(f"# Note: {line}" in message["content"] for message in sample.messages[:-1] if message["role"] == "assistant")


def test_samples_are_a_function_of_the_seed():
    assert [s.messages for s in _samples(pocket_tasks.deployment, 20)] == [s.messages for s in _samples(pocket_tasks.deployment, 20)]
