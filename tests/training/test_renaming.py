"""Demonstrations with other names: what counts as a name, and that a renamed demonstration still agrees with itself."""

import random
import re

import pytest

from wr1_utils.agent.hf_engine import load_tokenizer
from wr1_utils.settings import load_settings, project_path
from wr1_utils.training.packing import sequences
from wr1_utils.training.renaming import KEPT, find_names, rename, words
from wr1_utils.trajectory import Trajectory, Turn

PRODUCTS = ("Amber Lamp", "Velvet Scarf", "Cedar Mug", "Ivory Bench", "Coral Kite", "Misty Ball")
AUTHORS = ("Boris", "Greta", "Ruth", "Silas", "Emma", "Nora")


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(project_path(load_settings("laptop").model.path))


def demonstration(tokenizer, number: int) -> Trajectory:
    """Who reviewed a product: search for it, read the author; the page names the next product, too, and an order with a number."""
    product, other, author = PRODUCTS[number], PRODUCTS[(number + 1) % 6], AUTHORS[number]
    task = f"Who reviewed {product} of order {1020 + number}?"
    pages = [f"page Shop\ntextbox Search = \"\" [1]\nlink {other} [120]", f"page Shop: {product}\nrow Review | {author} | 4512\nlink Order {1020 + number} [3]\nlink {other} [4]"]
    replies = [f'<think># Element: Search = "" [1]</think>\n<answer>do(action="Search", argument="{product}", element="120")</answer>',
               f'<think># Answer: row Review | {author} | {1020 + number}</think>\n<answer>exit(message="{author}")</answer>']
    turns = []
    for at, (page, reply) in enumerate(zip(pages, replies, strict=True)):
        context = f"<|im_start|>user\nTask: {task}\n{page}<|im_end|>\n<|im_start|>assistant\n"
        turns.append(Turn(url="", title="", observation=page, context_ids=tokenizer(context).input_ids, reply_ids=tokenizer(reply + "<|im_end|>").input_ids,
                          logprobs=[], reply=reply, action="", error="", seconds_model=0.0, seconds_browser=0.0))
    return Trajectory(run="demos", task_id=f"t{number}", benchmark="arena", site="shopping", template="review", split="train", intent=task, group=0, member=0,
                      seed=0, policy="expert", status="success", reward=1.0, answer=author, error="", seconds=0.0, turns=turns)


@pytest.fixture(scope="module")
def demos(tokenizer):
    return [demonstration(tokenizer, number) for number in range(6)]


def test_names_are_what_few_demonstrations_of_a_template_say(demos):
    """The product, its order and the author; of the page beside them the product of another task. Not the words that all replies or the task's form share."""
    assert find_names(demos)[0] == {"amber", "lamp", "1020", "boris", "velvet", "scarf"}


def test_words_that_only_the_page_tells_are_no_names_where_there_are_few_demonstrations(demos):
    assert find_names(demos[:3])[0] >= {"amber", "lamp", "1020"} and "boris" not in find_names(demos[:3])[0]


def test_a_name_is_the_same_everywhere_and_ids_stay(demos, tokenizer):
    names = find_names(demos)[0]
    turns = rename(demos[0], names, tokenizer, random.Random(1), 7)
    texts = [(tokenizer.decode(turn.context_ids), tokenizer.decode(turn.reply_ids)) for turn in turns]
    product, order = re.search(r"Who reviewed (\w+ \w+) of order (\d+)\?", texts[0][0]).groups()
    author = re.search(r'message="(\w+)"', texts[1][1]).group(1)
    assert not words([product, author]) & {"amber", "lamp", "boris", "velvet", "scarf"} and product.istitle() and author.istitle() and order != "1020"
    assert texts[0][1] == f'<think># Element: Search = "" [1]</think>\n<answer>do(action="Search", argument="{product}", element="120")</answer><|im_end|>'
    assert texts[1][1] == f'<think># Answer: row Review | {author} | {order}</think>\n<answer>exit(message="{author}")</answer><|im_end|>'
    other = re.search(r"link (\w+ \w+) \[120\]", texts[0][0]).group(1)
    assert texts[1][0] == (f"<|im_start|>user\nTask: Who reviewed {product} of order {order}?\npage Shop: {product}\nrow Review | {author} | 4512\nlink Order {order} [3]\n"
                           f"link {other} [4]<|im_end|>\n<|im_start|>assistant\n")
    assert [(turn.trajectory, turn.turn, turn.logprobs) for turn in turns] == [(7, 0, []), (7, 1, [])]


def test_the_same_seed_gives_the_same_names_and_another_gives_others(demos, tokenizer):
    names = find_names(demos)[0]
    one, again, other = (rename(demos[0], names, tokenizer, random.Random(seed), 0) for seed in (1, 1, 2))
    assert one == again != other


def test_nothing_to_rename_leaves_every_id_as_it_was_recorded(demos, tokenizer):
    assert rename(demos[0], frozenset(), tokenizer, random.Random(1), 0) == sequences(demos[:1])


def test_words_of_the_format_are_never_names(demos):
    assert {"search", "element", "exit", "scroll", "row", "link"} <= KEPT and not set().union(*find_names(demos)) & KEPT
