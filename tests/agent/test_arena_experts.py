"""Every task of the whole set is solved by its expert in a real browser."""

from pathlib import Path

import pytest

from wr1_utils.tasks.task import load_tasks

DATA = Path(__file__).parents[2] / "data" / "tasks"


@pytest.mark.slow
@pytest.mark.parametrize("part", ["train", "test"])
def test_every_task_is_solved(part, check_experts):
    outcomes = check_experts(load_tasks(DATA / f"arena_{part}.json"), page=1_900)
    turns = {len(outcome.actions) for outcome in outcomes}
    assert min(turns) == 1 and max(turns) >= 10
