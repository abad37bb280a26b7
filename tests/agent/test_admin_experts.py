"""The experts of the back office solve their tasks in a real browser; what is nearly right is worth nothing."""

import random
from dataclasses import replace

import pytest

from wr1_utils.agent import admin_experts, pocket_experts
from wr1_utils.tasks.admin_templates import TEMPLATES, seed_office
from wr1_utils.tasks.templates import make_tasks

TASKS = sum(make_tasks(TEMPLATES), [])
ONE_EACH = {task.intent_template_id: task for task in TASKS}


def test_every_template_has_an_expert():
    assert set(admin_experts.EXPERTS) == {template.name for template in TEMPLATES}
    assert admin_experts.EXPERTS.items() <= pocket_experts.EXPERTS.items()


def test_one_task_of_each_template_is_solved(check_experts):
    check_experts(ONE_EACH.values())


@pytest.mark.slow
def test_every_task_is_solved(check_experts):
    check_experts(TASKS)


# --- what is nearly right --------------------------------------------------------------------------------------------------------

def other(task, *names):
    """The task with other values of its template, in the places `names`."""
    template, wanted = next(t for t in TEMPLATES if t.name == task.intent_template_id), task.instantiation_dict
    values = next(filling for filling in template.fillings(random.Random(1))
                  if filling.get("field") == wanted.get("field") and all(filling[name] != wanted[name] for name in names))
    return replace(task, instantiation_dict={**wanted, **{name: values[name] for name in names}})


def as_task(template, **filling):
    return replace(ONE_EACH[f"admin_{template}"], instantiation_dict=filling)


def near_misses():
    """Name → (task, what is done instead)."""
    wrong = {                        # template → what is another in a near miss: the record, or the value
        "change_product": (("product",), ("value",)), "price_stock": (("product",), ("stock",), ("price",)),
        "disable_product": (("product",),), "cancel_order": (("order",),),
        "order_status": (("order",), ("status",)), "status_invoice": (("order",), ("status",)),
        "order_comment": (("order",), ("comment",)), "comment_subtotal": (("order",),),
        "order_address": (("order",), ("street",), ("city",), ("zip",)), "customer_phone": (("customer",), ("phone",)),
        "approve_review": (("product", "author"),), "reject_review": (("product", "author"),),
        "open_invoice": (("order",),), "customer_of_order": (("order",),), "sorted_products": (("category",), ("order",)),
        "count_orders": (("source",), ("status",)), "sales_report": (("period",), ("figure",)),
    }
    episodes = {}
    for template, changes in wrong.items():
        task = ONE_EACH[f"admin_{template}"]
        episodes[f"{template}, nothing done"] = task, []
        for names in changes:
            episodes[f"{template}, another {' and '.join(names)}"] = task, [other(task, *names)]
    more = {                         # right, and then something else, too
        "change_product": lambda f: as_task("change_product", product=f["product"], field="stock", value="7"),
        "disable_product": lambda f: as_task("change_product", product=f["product"], field="price", value="1.25"),
        "order_comment": lambda f: as_task("order_comment", order=f["order"], comment="Please ring the bell."),
        "comment_subtotal": lambda f: as_task("order_status", order=f["order"], status="On hold"),
        "order_address": lambda f: as_task("order_comment", order=f["order"], comment="Please ring the bell."),
        "customer_phone": lambda f: as_task("customer_phone", customer=f["customer"], phone=seed_office().customer(f["customer"])["phone"]),
        "order_status": lambda f: as_task("order_status", order=f["order"], status=seed_office().order(f["order"])["status"]),
        "price_stock": lambda f: as_task("disable_product", product=f["product"]),
        "approve_review": lambda f: as_task("reject_review", product=f["product"], author=f["author"]),
        "reject_review": lambda f: as_task("approve_review", product=f["product"], author=f["author"]),
    }
    for template, second in more.items():
        task = ONE_EACH[f"admin_{template}"]
        episodes[f"{template}, and more"] = task, [task, second(task.instantiation_dict)]
    for template in ("disable_product", "cancel_order", "order_status", "approve_review"):
        task = ONE_EACH[f"admin_{template}"]
        names = [name for name in task.instantiation_dict if name != "status"]
        episodes[f"{template}, and another one"] = task, [other(task, *names), task]
    return episodes


@pytest.mark.slow
def test_what_is_nearly_right_is_worth_nothing(play):
    episodes = near_misses()
    outcomes = dict(zip(episodes, play(episodes.values(), between="Dashboard")))
    assert not {name: outcome for name, outcome in outcomes.items() if outcome.score != 0.0}
