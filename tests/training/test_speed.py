"""The comparison of tree rows and turn rows counts the same work and leaves no gradient behind."""

from itertools import permutations
from types import SimpleNamespace

from wr1_utils.agent.hf_engine import load_model
from wr1_utils.training import speed
from wr1_utils.training.packing import Sequence, build_row

ROWS = [Sequence([1, 2, 3, 4], [5, 6], [-1.0, -2.0], 0, 0), Sequence([1, 2, 3, 7], [8], [-1.0], 1, 0)]


def test_work_is_what_one_row_a_turn_holds():
    assert speed.work(ROWS) == 11
    assert build_row(ROWS, share=False).input_ids.numel() == 11 and build_row(ROWS).input_ids.numel() == 8


def test_a_prompt_is_the_same_for_all():
    longer = speed.with_prompt(ROWS, 10, 50)
    assert speed.work(longer) == 31 and longer[0].context_ids[:10] == longer[1].context_ids[:10]
    assert [row.context_ids[10:] for row in longer] == [row.context_ids for row in ROWS]
    assert build_row(longer).input_ids.numel() == 18


def test_episodes_of_a_task_come_side_by_side_and_none_is_lost():
    def played(policy, task, turns=1):
        return SimpleNamespace(policy=policy, task_id=task, turns=[None] * turns)

    runs = [[played("base", "a"), played("base", "b"), played("base", "c", turns=0)], [played("r1", "b"), played("r1", "c"), played("r1", "a")]]
    drawn = speed.group_of_policies(runs, 3)
    assert [t.task_id for t in drawn] in ([*first, *second, *third] for first, second, third in permutations((["a"] * 2, ["b"] * 2, ["c"])))
    assert [t.policy for t in drawn if t.task_id == "a"] == ["base", "r1"]
    assert len({t.task_id for t in speed.group_of_policies(runs, 2)}) == 2 and speed.longest(ROWS) == ROWS[0]


def test_an_update_is_timed_and_changes_nothing(tiny_model):
    model, _ = load_model(tiny_model)
    before = [p.detach().clone() for p in model.parameters()]
    assert speed.update_seconds(model, ROWS, True) > 0
    assert all((p == q).all() and p.grad is None for p, q in zip(model.parameters(), before))
