"""An RL step's minibatches are a function of its number and seed; its metrics are worked out by hand."""

import math
import time

import pytest
import torch

from wr1_utils.training.packing import Sequence, build_row
from wr1_utils.training.tally import Batch, Tally, deal
from wr1_utils.trajectory import Trajectory, Turn


def test_dealing_keeps_groups_whole_and_loses_nobody():
    groups = [[(g, m) for m in range(4)] for g in range(6)]
    parts = deal(groups, 3, seed=0)
    assert sorted(x for p in parts for x in p) == sorted(x for g in groups for x in g)
    assert [len(p) for p in parts] == [8, 8, 8]
    assert all(len({m for m in p if m[0] == g}) in (0, 4) for p in parts for g in range(6))
    assert [len(p) for p in deal([[1, 2, 3, 4]], 2, seed=0)] == [2, 2]
    assert deal([], 2, seed=0) == [[], []]


def trajectory(status, reward, turns, benchmark="pocket", error=""):
    turn = Turn("u", "t", "page", [1, 2], [3, 4], [-1.0, -1.0], "r", "", error, 0.1, 0.1)
    about = dict(run="r", site="shopping", template="t", split="train", intent="i", group=0, member=0, seed=0, policy="p")
    return Trajectory(
        task_id="1", benchmark=benchmark, status=status, reward=reward, answer=None, error="", seconds=1.0,
        turns=[turn] * turns, **about,
    )  # fmt: skip


def test_metrics_by_hand():
    trajectories = [
        trajectory("success", 1.0, 2),
        trajectory("failure", 0.0, 4, error="there is no element [9]"),
        trajectory("infrastructure", None, 1),
        trajectory("success", 1.0, 1, "miniwob"),
    ]
    tally = Tally(3, trajectories, groups=2, flat_groups=1, refused=0, seconds_rollout=8.0, seconds_policy=3.0)
    with tally.timed("backward"):
        time.sleep(0.05)
    row = build_row([Sequence([1, 2], [3, 4], [-1.0, -1.0], 0, 0)])
    logp = torch.tensor([-1.0, -1.0 + math.log(1.5)])  # ratios 1 and 1.5
    batch = Batch(row, torch.tensor([1.0, 1.0]), torch.tensor([0.5, 0.5]), torch.tensor([-1.0, -1.0 + math.log(1.5)]), row.logprobs)
    tally.add(batch, logp, torch.tensor([0.2, 0.4]), loss=-0.7, clip=0.2)
    tally.compare(row, logp)
    metrics = tally.metrics(seconds_update=2.0)
    assert metrics["reward"] == metrics["success_rate"] == pytest.approx(2 / 3)
    assert metrics["success_rate_pocket"] == 0.5 and metrics["success_rate_miniwob"] == 1
    assert metrics["infrastructure"] == 1 and metrics["flat_groups"] == 1
    assert metrics["turns"] == pytest.approx(7 / 3) and metrics["trajectory_tokens"] == pytest.approx(14 / 3)
    assert metrics["reply_tokens"] == 2 and metrics["error_turns"] == pytest.approx(4 / 7)
    assert metrics["clip_fraction"] == 0.5 and metrics["kl"] == pytest.approx(0)
    assert metrics["entropy"] == pytest.approx(0.3)
    assert metrics["mismatch"] == pytest.approx(math.log(1.5) / 2)
    assert (metrics["seconds_rollout"], metrics["seconds_update"], metrics["seconds_policy"]) == (8, 2, 3)
    assert 0.05 <= metrics["seconds_backward"] < 1 and metrics["seconds_forward"] == metrics["seconds_reference"] == metrics["seconds_optimizer"] == 0
    # KL(recorded ‖ recomputed): d = log 1.5 on one of two tokens, 1.5 − log 1.5 − 1
    assert metrics["mismatch_k3"] == pytest.approx((1.5 - math.log(1.5) - 1) / 2, rel=1e-5)
    assert metrics["tokens_per_second"] == pytest.approx((4 + 14) / 10)


def test_what_was_not_measured_has_no_number():
    """A step whose groups are all flat trains on nothing: no KL, and no mismatch that would look like a good one."""
    metrics = Tally(1, [trajectory("success", 1.0, 1)], groups=1, flat_groups=1, refused=0, seconds_rollout=1.0).metrics(1.0)
    assert all(math.isnan(metrics[name]) for name in ("kl", "entropy", "clip_fraction", "mismatch", "mismatch_k3"))
    assert metrics["loss"] == 0 and metrics["success_rate"] == 1
