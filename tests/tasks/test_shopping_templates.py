"""The tasks of the Pocket Arena: well-formed, the same every time, and nothing of the test set in the training set."""

from collections import Counter
from pathlib import Path

from wr1_utils.tasks.shopping_templates import TEMPLATES, seed_shop
from wr1_utils.tasks.task import load_tasks
from wr1_utils.tasks.templates import make_tasks

DATA = Path(__file__).parents[2] / "data" / "tasks"


def test_the_committed_files_are_what_make_tasks_makes():
    train, test = make_tasks(TEMPLATES, 0)
    assert load_tasks(DATA / "pocket_train.json") == train
    assert load_tasks(DATA / "pocket_test.json") == test


def test_no_intent_and_no_filling_is_in_both_sets():
    train, test = make_tasks(TEMPLATES, 0)
    assert not {task.intent for task in train} & {task.intent for task in test}

    def filled(tasks):
        return {(task.intent_template_id, frozenset(map(str, task.instantiation_dict.values()))) for task in tasks}

    assert not filled(train) & filled(test)
    assert len({task.intent for task in train + test}) == len(train + test)


def test_sizes_and_splits():
    train, test = make_tasks(TEMPLATES, 0)
    assert len(train) >= 300 and len(test) >= 90
    assert {task.split for task in train} == {"train"}
    trained = {task.intent_template_id for task in train}
    for task in test:
        assert task.split == ("seen_template" if task.intent_template_id in trained else "unseen_template")
    unseen = {task.intent_template_id for task in test} - trained
    assert unseen == {"order_shipping", "cart_add_two"}
    kinds = Counter(kind for template in {task.intent_template_id: task for task in train}.values() for kind in template.eval["eval_types"])
    assert set(kinds) == {"string_match", "url_match", "program_html"}


def test_another_seed_gives_other_tasks():
    assert {task.intent for task in make_tasks(TEMPLATES, 0)[0]} != {task.intent for task in make_tasks(TEMPLATES, 1)[0]}


def test_every_intent_is_filled_and_short():
    for task in sum(make_tasks(TEMPLATES, 0), []):
        assert "{{" not in task.intent and len(task.intent) <= 100, task.intent
        assert 1 <= len(next(t for t in TEMPLATES if t.name == task.intent_template_id).phrasings) <= 3


def test_products_that_are_asked_for_in_vain_do_not_exist():
    names = {product["name"] for product in seed_shop().products}
    for task in sum(make_tasks(TEMPLATES, 0), []):
        product = task.instantiation_dict.get("product")
        assert product is None or (product in names) == (task.intent_template_id != "no_such_product")
