"""Filtered BC keeps the successes, AWR weights all of them; both start from the warm-up and share its rollouts."""

import math

import pytest

from wr1_utils.agent.hf_engine import load_model, load_tokenizer, save_final
from wr1_utils.agent.policy import ModelError
from wr1_utils.agent.prompt import context_ids, reply_ids
from wr1_utils.runs import open_run
from wr1_utils.settings import SettingsError, load_settings
from wr1_utils.training import offline
from wr1_utils.trajectory import Trajectory, Turn, write_trajectories


def episode(tokenizer, group: int, member: int, status: str) -> Trajectory:
    """One turn that clicks the group's element, or, in a failure, the next one."""
    text = f'<answer>do(action="Click", element="{group + (status != "success")}")</answer>'
    ids = reply_ids(tokenizer, text)
    turn = Turn("u", "t", "page", context_ids(tokenizer, "Act.", f"go {group}", [], f"link Go [{group}]"), ids, [-1.0] * len(ids), text, "", "", 0.0, 0.0)
    reward = None if status == "infrastructure" else float(status == "success")
    about = dict(run="d", benchmark="pocket", site="shopping", template="t", split="train", intent="go", seed=0)
    return Trajectory(task_id=str(group), group=group, member=member, policy="bc", status=status, reward=reward, answer=None, error="", seconds=0.1, turns=[turn], **about)


@pytest.fixture
def settings(tiny_model, tmp_path):
    """A finished warm-up (the tiny model itself) and its rollouts: three groups of four with 1, 4 and 0 successes."""
    settings = load_settings("smoke", results=str(tmp_path / "results"), checkpoints=str(tmp_path / "weights"), model={"path": str(tiny_model), "train_embeddings": True},
                             offline={"epochs": 2, "learning_rate": 3e-3}, bc={"batch_size": 4})  # fmt: skip
    warmed = open_run(settings, "bc", "short")
    save_final(*load_model(tiny_model), warmed.checkpoints / "final")
    warmed.save_summary({})
    tokenizer = load_tokenizer(tiny_model)
    statuses = ("success", "failure", "turn_limit", "failure"), ("success",) * 4, ("failure", "infrastructure", "failure", "failure")
    run = open_run(settings, "rollouts", "bc", weights=warmed.checkpoints / "final")
    write_trajectories(run.path("trajectories.parquet"), [episode(tokenizer, g, m, s) for g, group in enumerate(statuses) for m, s in enumerate(group)])
    run.save_summary({})
    return settings


def rollouts(settings):
    return offline.read_trajectories(offline.collect_rollouts(settings).path("trajectories.parquet"))


def test_filtered_bc_takes_the_successes(settings):
    kept, weights = offline.weighted(rollouts(settings), "filtered_bc", 0.5)
    assert [(t.group, t.member) for t in kept] == [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3)] and weights == [1.0] * 5


def test_awr_weights_by_hand(settings):
    kept, weights = offline.weighted(rollouts(settings), "awr", 0.5)
    low, flat = math.exp(-0.25 / 0.5), [1.0]
    assert len(kept) == 11  # without the one lost to infrastructure
    assert weights == pytest.approx([math.exp(0.75 / 0.5), low, low, low, *flat * 4, *flat * 3])


@pytest.mark.parametrize("method, trained", [("filtered_bc", 5), ("awr", 11)])
def test_a_baseline_starts_from_the_warm_up_and_learns(settings, method, trained):
    run = offline.train_offline(settings, method)
    summary = run.summary()
    assert summary["rollouts"] == 12 and summary["demonstrations"] == trained
    assert summary["last_loss"] < summary["first_loss"]
    assert (run.checkpoints / "final" / "config.json").is_file() and run.name == f"offline-{method}-s0"
    assert offline.model_folder(settings, method) == run.checkpoints / "final"


def test_what_is_missing_is_said(settings, tmp_path):
    with pytest.raises(SettingsError, match="no offline method 'ppo'; there are filtered_bc, awr"):
        offline.train_offline(settings, "ppo")
    with pytest.raises(ModelError, match="run notebook 02_bc_warmup"):
        offline.train_offline(load_settings("smoke", results=str(tmp_path / "none"), checkpoints=str(tmp_path / "none"), model=vars(settings.model)), "awr")
    failed = [t for t in rollouts(settings) if t.status != "success"]
    write_trajectories(offline.collect_rollouts(settings).path("trajectories.parquet"), failed)
    with pytest.raises(SettingsError, match="None of the 7 rollouts"):
        offline.train_offline(settings, "awr")
    with pytest.raises(ModelError, match="02_bc_warmup with profile smoke and method awr"):
        offline.model_folder(settings, "awr")
