"""What the lookup samples ask for can be read off their pages, and the way has the stages that it should have."""

import random
from collections import Counter

from wr1_utils.training.pocket_lookup import lookup
from wr1_utils.training.pocket_parts import NOT_FOUND
from wr1_utils.web.actions import Action, parse_reply


def samples(number):
    rng = random.Random(0)
    return [lookup(rng, rng.randint(3, 40)) for _ in range(number)]


def test_every_reply_parses_and_names_what_stands_on_the_page():
    kinds = Counter()
    for sample in samples(400):
        reply, page = sample.messages[-1]["content"], sample.messages[-2]["content"]
        action = parse_reply(reply, "think")
        assert isinstance(action, Action), reply
        kinds[action.action or action.call] += 1
        if action.element is not None:
            line = reply.split("# Element: ")[1].split("</think>")[0]
            assert line in page and line.endswith(f"[{action.element}]")
        elif "# Answer: row " in reply:
            row = reply.split("# Answer: ")[1].split("</think>")[0]
            assert row in page.splitlines() and row.endswith(f"| {action.message}")
    assert min(kinds[name] for name in ("Search", "Click", "Type", "exit")) > 10


def test_what_is_searched_for_stands_in_the_instruction():
    for sample in samples(300):
        action = parse_reply(sample.messages[-1]["content"], "think")
        if action.action == "Search":
            task = sample.messages[1]["content"].splitlines()[0]
            assert action.argument.lower() in task.lower()


def test_a_thing_that_is_not_found_ends_with_not_found_on_a_page_without_it():
    lost = [sample for sample in samples(600) if sample.messages[-1]["content"] == NOT_FOUND]
    assert lost
    for sample in lost:
        searched = parse_reply(sample.messages[2]["content"], "think").argument
        page = sample.messages[-2]["content"].splitlines()
        assert not any(f"link {searched} [" in line for line in page)
