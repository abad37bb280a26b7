"""Behaviour cloning lowers the loss on what the expert wrote, resumes, and says what is missing."""

import dataclasses
import math
import re

import pytest
import torch

from wr1_utils.agent.hf_engine import load_model, load_tokenizer
from wr1_utils.agent.policy import ModelError
from wr1_utils.agent.prompt import context_ids, reply_ids
from wr1_utils.runs import open_run
from wr1_utils.settings import SettingsError, load_settings, with_style
from wr1_utils.training import bc
from wr1_utils.training.packing import TREE_ATTENTION, build_row, forward_logprobs, sequences
from wr1_utils.trajectory import Trajectory, Turn, write_trajectories


def demonstration(tokenizer, number: int, status: str = "success") -> Trajectory:
    """Two turns that click what the task names."""
    turns, replies = [], []
    for _ in range(2):
        text = f'<answer>do(action="Click", element="{number}")</answer>'
        context = context_ids(tokenizer, "Act.", f"go {number}", replies, f"link Go [{number}]")
        replies.append(reply_ids(tokenizer, text))
        turns.append(Turn("u", "t", "page", context, replies[-1], [], text, "", "", 0.0, 0.0))
    return trajectory_of(turns, number, status)


def trajectory_of(turns: list[Turn], number: int = 0, status: str = "success") -> Trajectory:
    about = dict(run="d", benchmark="pocket", site="shopping", template="t", split="train", intent="go", group=number, member=0, seed=0)
    reward = float(status == "success")
    return Trajectory(task_id=str(number), policy="expert", status=status, reward=reward, answer=None, error="", seconds=0.1, turns=turns, **about)


@pytest.fixture
def settings(tiny_model, tmp_path):
    settings = load_settings(
        "smoke", results=str(tmp_path / "results"), checkpoints=str(tmp_path / "weights"), model={"path": str(tiny_model), "train_embeddings": True},
        bc=dict(epochs=3, batch_size=4, learning_rate=3e-3),
    )  # fmt: skip
    tokenizer = load_tokenizer(tiny_model)
    run = open_run(settings, "demos", settings.demos.style)
    write_trajectories(run.path("trajectories.parquet"), [demonstration(tokenizer, n) for n in range(12)] + [demonstration(tokenizer, 99, "failure")])
    run.save_summary({})
    return settings


def loss_of(folder, demos):
    model, _ = load_model(folder)
    model.set_attn_implementation(TREE_ATTENTION)
    with torch.no_grad():
        return -forward_logprobs(model, build_row(sequences(demos)))[0].mean().item()


def test_the_loss_falls_from_chance_on_replies_alone(settings, tiny_model):
    run = bc.train_bc(settings)
    metrics, summary = run.metrics(), run.summary()
    assert summary["demonstrations"] == 12 and summary["turns"] == 24 and summary["steps"] == 9  # the failed one is left out
    assert metrics["step"].tolist() == list(range(1, 10))
    demos = [demonstration(load_tokenizer(tiny_model), n) for n in range(12)]
    before, after = loss_of(tiny_model, demos), loss_of(run.checkpoints / "final", demos)
    assert before == pytest.approx(math.log(load_tokenizer(tiny_model).vocab_size), rel=0.2)
    assert after < before - 1


@pytest.mark.parametrize("model, more", [({}, dict(replay=2, renamed=0.5)), (dict(lora_rank=4, train_embeddings=False, gradient_checkpointing=True), {})])
def test_an_interrupted_warm_up_ends_where_an_uninterrupted_one_does(model, more, settings, monkeypatch, tmp_path, capsys):
    settings = dataclasses.replace(settings, model=dataclasses.replace(settings.model, **model), bc=dataclasses.replace(settings.bc, **more))
    whole = bc.train_bc(settings)
    again = dataclasses.replace(settings, checkpoints=str(tmp_path / "again"), seed=settings.seed)
    (whole.folder / "summary.json").unlink()
    log = bc._Metrics.on_log

    def stop(self, args, state, control, logs=None, **kwargs):
        log(self, args, state, control, logs, **kwargs)
        if state.global_step == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(bc._Metrics, "on_log", stop)
    with pytest.raises(KeyboardInterrupt):
        bc.train_bc(again)
    monkeypatch.setattr(bc._Metrics, "on_log", log)
    run = bc.train_bc(again)
    assert "continuing from checkpoint-3" in capsys.readouterr().out
    weights = [torch.cat([p.flatten() for p in load_model(r.checkpoints / "final")[0].parameters()]) for r in (whole, run)]
    assert torch.allclose(*weights, atol=1e-6)


def test_replayed_turns_stand_beside_each_batch(settings, tiny_model, monkeypatch):
    """The same batch has the same ones; they are in the agent's own format, weigh 1 each token, and are learned."""
    replaying = dataclasses.replace(settings, bc=dataclasses.replace(settings.bc, replay=3))
    tokenizer = load_tokenizer(tiny_model)
    turns = bc.replay(replaying, tokenizer, [5, 2])
    assert [turn.trajectory for turn in turns] == [2, 3, 4] and turns == bc.replay(replaying, tokenizer, [5, 2]) != bc.replay(replaying, tokenizer, [2, 5])
    for turn in turns:
        assert tokenizer.decode(turn.context_ids).endswith("<|im_start|>assistant\n")
        assert re.fullmatch(r"(?s)<think>.*</think>\n<answer>.*</answer><\|im_end\|>", tokenizer.decode(turn.reply_ids))
    assert bc.replay(settings, tokenizer, [5, 2]) == []

    seen, loss = [], bc.bc_loss
    monkeypatch.setattr(bc, "bc_loss", lambda logp, weights: seen.append(weights) or loss(logp, weights))
    run = bc.train_bc(replaying)
    assert run.summary()["steps"] == 9 and run.summary()["demonstrations"] == 12
    assert all(weights.eq(1).all() for weights in seen) and len(seen[0]) > 4 * 2 * len(demonstration(tokenizer, 1).turns[0].reply_ids)
    others = [trajectory_of([Turn("u", "t", "page", turn.context_ids, turn.reply_ids, [], "", "", "", 0.0, 0.0)]) for turn in turns]
    assert loss_of(run.checkpoints / "final", others) < loss_of(tiny_model, others) - 0.5


def test_a_share_of_the_demonstrations_has_other_names(settings, tiny_model):
    """The others are as they were recorded; each keeps its number in the batch."""
    tokenizer, demos = load_tokenizer(tiny_model), bc.read_demonstrations(settings)
    recorded, names = sequences(demos), [frozenset({"go"})] * len(demos)
    assert bc.as_sequences(0, tokenizer, demos, names, list(range(len(demos))), 0.0) == recorded
    some = bc.as_sequences(0, tokenizer, demos, names, list(range(len(demos))), 0.5)
    assert [(turn.trajectory, turn.turn) for turn in some] == [(turn.trajectory, turn.turn) for turn in recorded]
    same = {turn.trajectory for turn, before in zip(some, recorded, strict=True) if turn.context_ids == before.context_ids}
    assert 0 < len(same) < len(demos)
    assert some == bc.as_sequences(0, tokenizer, demos, names, list(range(len(demos))), 0.5)


def test_what_is_missing_is_said(settings, tmp_path):
    with pytest.raises(SettingsError, match="01_tasks_and_demonstrations with style short first"):
        bc.train_bc(dataclasses.replace(settings, results=str(tmp_path / "nothing")))
    with pytest.raises(SettingsError, match="demos-cot-s0; run notebook 01_tasks_and_demonstrations with style cot first"):
        bc.train_bc(with_style(settings, "cot"))
    with pytest.raises(SettingsError, match='demos.style is "bare"'):
        bc.train_bc(dataclasses.replace(settings, demos=dataclasses.replace(settings.demos, style="bare")))
    with pytest.raises(SettingsError, match="set model.train_embeddings = false"):
        bc.train_bc(dataclasses.replace(settings, model=dataclasses.replace(settings.model, lora_rank=4)))
    with pytest.raises(ModelError, match="no model folder"):
        bc.train_bc(dataclasses.replace(settings, model=dataclasses.replace(settings.model, path=str(tmp_path / "gone"))))


def test_adapters_learn_and_are_saved_merged(settings, tiny_model):
    """In bfloat16 too what is saved are all weights, in float32: the embeddings those of the start, each linear layer with what its adapter learned."""
    run = bc.train_bc(dataclasses.replace(settings, model=dataclasses.replace(settings.model, lora_rank=4, train_embeddings=False, dtype="bfloat16")))
    before, after = (dict(load_model(folder)[0].named_parameters()) for folder in (tiny_model, run.checkpoints / "final"))
    assert before.keys() == after.keys() and all(p.dtype == torch.float32 for p in after.values())
    moved = {name for name in before if not torch.equal(before[name].bfloat16().float(), after[name])}
    assert moved == {name for name in before if name.endswith("_proj.weight")}
    assert run.metrics()["loss"].iloc[-1] < run.metrics()["loss"].iloc[0] - 0.1


def test_frozen_embeddings_stay_and_the_rest_learns(settings, tiny_model):
    run = bc.train_bc(dataclasses.replace(settings, model=dataclasses.replace(settings.model, train_embeddings=False)))
    before, after = (dict(load_model(folder)[0].named_parameters()) for folder in (tiny_model, run.checkpoints / "final"))
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed and "model.embed_tokens.weight" not in changed and "lm_head.weight" not in changed
    assert any("layers.0" in name for name in changed)
