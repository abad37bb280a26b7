"""Which tasks an RL step takes is a function of the step's number, the seed and the groups so far; estimates are worked out by hand."""

from collections import Counter
from types import SimpleNamespace

import pytest

from wr1_utils.training.drawing import even_tasks, expected_success, last_rates, middling_tasks, record_groups


def task(number, template="t"):
    return SimpleNamespace(task_id=f"{template}.{number}", benchmark="pocket", intent_template_id=template)


def test_every_task_comes_once_before_any_comes_again():
    tasks = list("abcdefg")
    drawn = [t for step in range(1, 8) for t in even_tasks(tasks, step, 4, seed=3)]
    for start in range(0, 28, 7):
        assert sorted(drawn[start : start + 7]) == tasks
    assert even_tasks(tasks, 5, 4, seed=3) == drawn[16:20]
    assert even_tasks(tasks, 1, 7, seed=4) != drawn[:7]


def test_expected_success_by_hand():
    tasks = [task(0), task(1), task(2), task(0, "new")]
    expected = expected_success(tasks, {"t.0": 1.0, "t.1": 0.25})
    template = (1 + 0.25 + 0.5) / 3
    assert expected["t.2"] == pytest.approx(template)
    assert expected["t.0"] == pytest.approx((2 * 1 + template) / 3)
    assert expected["t.1"] == pytest.approx((2 * 0.25 + template) / 3)
    assert expected["new.0"] == 0.5


def test_templates_of_two_benchmarks_with_one_name_are_two():
    one, other = task(0), SimpleNamespace(task_id="o.0", benchmark="miniwob", intent_template_id="t")
    assert expected_success([one, other], {"t.0": 0.0})["o.0"] == 0.5


def test_middling_tasks_are_drawn_more_often_and_none_twice_in_a_step():
    tasks = [task(n, f"t{n % 3}") for n in range(60)]  # template t0 always succeeds, t1 half of the time, t2 never
    rates = {t.task_id: {"t0": 1.0, "t1": 0.5, "t2": 0.0}[t.intent_template_id] for t in tasks}
    drawn = Counter()
    for step in range(1, 101):
        chosen = middling_tasks(tasks, step, 10, 0, rates)
        assert len({t.task_id for t in chosen}) == 10
        drawn.update(t.intent_template_id for t in chosen)
    assert drawn["t1"] > 6 * max(drawn["t0"], drawn["t2"])  # weights 0.27 against 0.024 and 0.026
    assert min(drawn["t0"], drawn["t2"]) > 10  # and nothing is dropped


def test_a_draw_depends_on_step_and_seed_and_not_on_the_order_of_the_tasks():
    tasks = [task(n) for n in range(40)]
    names = lambda *given: [t.task_id for t in middling_tasks(*given)]  # noqa: E731
    first = names(tasks, 1, 8, 0, {})
    assert names(tasks[::-1], 1, 8, 0, {}) == first
    assert names(tasks, 2, 8, 0, {}) != first != names(tasks, 1, 8, 1, {})


def member(task_id, status):
    return SimpleNamespace(task_id=task_id, status=status, valid=status != "infrastructure")


def test_groups_are_recorded_and_a_step_done_again_replaces_its_rows(tmp_path):
    file = tmp_path / "groups.csv"
    assert last_rates(file, 5) == {}
    half = [member("a", "success"), member("a", "failure"), member("a", "infrastructure")]
    record_groups(file, 1, [half, [member("b", "infrastructure")]])
    record_groups(file, 2, [[member("a", "success")]])
    assert last_rates(file, 2) == {"a": 0.5}  # b had no valid member
    assert last_rates(file, 3) == {"a": 1.0}
    record_groups(file, 2, [[member("c", "failure")]])
    assert last_rates(file, 3) == {"a": 0.5, "c": 0.0}
    assert file.read_text().splitlines()[0] == "step,task_id,successes,valid"
