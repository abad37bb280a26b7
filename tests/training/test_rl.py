"""M-GRPO learns from binary rewards, trains on what was recorded, and an interrupted run ends where an uninterrupted one does.

The episodes here are one-token guesses by a tiny model, so that seconds suffice; real episodes in a browser are in
tests/notebooks and tests/test_rollout.py.
"""

import dataclasses
import shutil
import threading
import tomllib

import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from wr1_utils.agent.hf_engine import HFPolicy, load_model, load_trainable, model_folder, save_final
from wr1_utils.agent.policy import ModelError, Request
from wr1_utils.agent.prompt import context_ids
from wr1_utils.rollout import reply_seed
from wr1_utils.runs import open_run
from wr1_utils.settings import ROOT, SettingsError, load_settings, project_path, with_style
from wr1_utils.tasks.task import Task
from wr1_utils.training import pieces, rl
from wr1_utils.training.packing import TREE_ATTENTION, build_row, forward_logprobs, sequences
from wr1_utils.trajectory import Trajectory, Turn, read_trajectories

TASKS = [Task(str(i), ("shopping",), "", f"guess {i}", "guess", "guess", {}, False, False, {}, "train") for i in range(8)]


class GuessingGame:
    """Stands in for the browser: one turn, reward 1 for an even first token; member 3 of task 0 is lost each time."""

    def __init__(self, settings, stop_after=None):
        self.calls, self.stop_after = 0, stop_after

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, tasks, policy, *, group, temperature, seed, run, beside):
        self.calls += 1
        if self.calls == self.stop_after:
            raise KeyboardInterrupt
        requests = [
            Request([10, 20 + int(t.task_id)], 2, temperature, reply_seed(seed, t.task_id, m, 0)) for t in tasks for m in range(group)
        ]
        return [self._trajectory(i, tasks[i // group], i % group, q, r) for i, (q, r) in enumerate(zip(requests, policy.generate(requests)))]

    def _trajectory(self, i, task, member, request, reply):
        lost = task.task_id == "0" and member == 3
        reward = None if lost else float(reply.ids[0] % 2 == 0)
        status = "infrastructure" if lost else "success" if reward else "failure"
        turn = Turn("", "", "", request.context_ids, reply.ids, reply.logprobs, reply.text, "", "", 0.0, 0.0)
        return Trajectory("r", task.task_id, "pocket", "shopping", "guess", "train", "", i, member, 0, "p", status, reward, None, "", 0.0, [turn])


@pytest.fixture
def settings(tiny_model, tmp_path):
    return load_settings(
        "smoke", results=str(tmp_path / "results"), checkpoints=str(tmp_path / "weights"), model={"path": str(tiny_model), "train_embeddings": True},
        rl=dict(steps=6, tasks_per_step=4, group_size=8, minibatches=2, learning_rate=1e-3, beta=0.01, save_every=1, rows="tree"),
    )  # fmt: skip


@pytest.fixture
def game(monkeypatch):
    monkeypatch.setattr(rl, "train_tasks", lambda settings, sets: TASKS)
    monkeypatch.setattr(rl, "Rollout", GuessingGame)


def with_model(settings, **model):
    return dataclasses.replace(settings, model=dataclasses.replace(settings.model, **model))


ADAPTERS = dict(lora_rank=4, train_embeddings=False)


def final_weights(run):
    return torch.cat([p.flatten() for p in load_model(run.checkpoints / "final")[0].parameters()])


def test_reward_rises_and_every_step_is_told(settings, game):
    run = rl.train_rl(dataclasses.replace(settings, rl=dataclasses.replace(settings.rl, steps=16, learning_rate=5e-3)), "r1_zero")
    metrics = run.metrics()
    assert metrics["step"].tolist() == list(range(1, 17))
    assert metrics["success_rate"].tail(3).mean() > metrics["success_rate"].head(3).mean() + 0.2
    assert metrics["mismatch"].max() < 1e-4 and metrics["mismatch_k3"].max() < 1e-6
    assert {
        "reward", "success_rate", "groups", "flat_groups", "infrastructure", "refused", "turns", "trajectory_tokens", "reply_tokens", "loss", "kl",
        "clip_fraction", "entropy", "seconds_rollout", "seconds_update", "tokens_per_second",
    } <= set(metrics.columns)  # fmt: skip
    assert metrics.notna().all().all() and (metrics[["entropy", "tokens_per_second", "reply_tokens"]] > 0).all().all()
    assert metrics["infrastructure"].sum() == sum(
        sum(not t.valid for t in read_trajectories(f)) for f in run.folder.glob("rollouts/*.parquet")
    ) > 0
    assert run.summary()["steps"] == 16
    assert rl.train_rl(settings, "r1_zero").folder == run.folder  # other settings: a new run, the old one set aside
    assert (run.folder.parent / f"{run.name}.old").is_dir()


@pytest.mark.parametrize("draw, overlap, model", [
    ("even", False, {}), ("middling", False, {}), ("middling", True, {}), ("even", False, ADAPTERS), ("even", True, dict(ADAPTERS, dtype="bfloat16")),
])
def test_an_interrupted_run_ends_where_an_uninterrupted_one_does(draw, overlap, model, settings, game, monkeypatch, capsys, tmp_path):
    """With overlap the fourth rollout, which is interrupted, goes on beside the third update."""
    settings = with_model(dataclasses.replace(settings, rl=dataclasses.replace(settings.rl, draw=draw, overlap=overlap)), **model)
    whole = final_weights(rl.train_rl(settings, "r1_zero"))
    other = dataclasses.replace(settings, results=str(tmp_path / "again"), checkpoints=str(tmp_path / "again-weights"))
    monkeypatch.setattr(rl, "Rollout", lambda s: GuessingGame(s, stop_after=4))
    with pytest.raises(KeyboardInterrupt):
        rl.train_rl(other, "r1_zero")
    cut = tmp_path / "again-weights" / "smoke" / "rl-r1_zero-s0" / "checkpoint-8"
    cut.mkdir()  # a checkpoint whose writing was cut off
    (cut / "model.safetensors").write_bytes(b"half")
    monkeypatch.setattr(rl, "Rollout", GuessingGame)
    run = rl.train_rl(other, "r1_zero")
    assert "continuing after step 3 of 6" in capsys.readouterr().out
    assert run.metrics()["step"].tolist() == list(range(1, 7))
    assert torch.allclose(final_weights(run), whole, atol=1e-6)
    start = torch.cat([p.flatten() for p in load_model(settings.model.path, dtype=settings.model.dtype)[0].parameters()])
    assert (whole - start).abs().max() > 1e-3  # adapters too have moved, and were merged


def written_by(model, run, step: int) -> float:
    """Largest difference between the log-probs recorded in a step's rollouts and those that a model gives."""
    row = build_row(sequences(read_trajectories(run.path(f"rollouts/step-{step:04d}.parquet"))))
    model.set_attn_implementation(TREE_ATTENTION)
    with torch.no_grad():
        return (forward_logprobs(model, row)[0] - row.logprobs).abs().max().item()


def test_with_overlap_a_rollout_is_by_the_policy_one_update_back(settings, game):
    """Steps 1 and 2 are written by the start, step 4 by the weights after two updates, and each is compared with the policy that wrote it."""
    settings = dataclasses.replace(settings, rl=dataclasses.replace(settings.rl, overlap=True, steps=4, learning_rate=5e-3))
    run = rl.train_rl(settings, "r1_zero")
    assert run.metrics()["mismatch"].max() < 1e-4
    model, _ = load_model(settings.model.path)
    assert written_by(model, run, 1) < 1e-4 and written_by(model, run, 2) < 1e-4 and written_by(model, run, 3) > 1e-2
    third, fourth = run.checkpoints / "checkpoint-6", run.checkpoints / "checkpoint-8"  # after so many optimizer steps, two a step
    kept = load_file(third / rl.SAMPLER)
    model.load_state_dict(kept, strict=False)  # a tied output layer is not in the file
    assert written_by(model, run, 4) < 1e-4
    after_three, sampler = load_file(third / "model.safetensors"), load_file(fourth / rl.SAMPLER)
    names = after_three.keys() & sampler.keys()  # of tied weights each file has one name
    assert len(names) > 10 and all(torch.equal(after_three[name], sampler[name]) for name in names)
    assert any(not torch.equal(after_three[name], kept[name]) for name in names)


def test_with_overlap_the_next_rollout_goes_on_beside_the_update(settings, game, monkeypatch):
    """The second rollout waits until the first update has made a step: if it had to come first, both would wait for ever."""
    moved, step = threading.Event(), rl.MGRPOTrainer.training_step

    class Waiting(GuessingGame):
        def run(self, *arguments, **named):
            assert self.calls != 1 or moved.wait(60), "no update was made beside the rollout"
            return super().run(*arguments, **named)

    def training_step(self, *arguments):
        loss = step(self, *arguments)
        moved.set()
        return loss

    monkeypatch.setattr(rl, "Rollout", Waiting)
    monkeypatch.setattr(rl.MGRPOTrainer, "training_step", training_step)
    assert rl.train_rl(dataclasses.replace(settings, rl=dataclasses.replace(settings.rl, overlap=True, steps=2)), "r1_zero").summary()["steps"] == 2


def test_the_committed_runs_trained_on_what_they_sampled():
    """Of every RL run in results/, at every step; those that leave the exact context on purpose (an ablation) are not meant."""
    runs = [run for run in (ROOT / "results").glob("*/rl-*") if 'context = "flat"' not in (run / "settings.toml").read_text(encoding="utf-8")]
    assert {"demo", "laptop"} <= {run.parent.name for run in runs}
    for run in runs:
        metrics = pd.read_csv(run / "metrics.csv")
        assert metrics["mismatch_k3"].abs().max() < 1e-3 and metrics["mismatch"].max() < 1e-3, run


@pytest.mark.parametrize("rows", ["tree", "turns"])
def test_a_batch_cut_into_pieces_gives_the_same_gradient(settings, game, monkeypatch, rows):
    """1×N against N×1, with shared prefixes and without: one gradient."""
    settings = dataclasses.replace(settings, rl=dataclasses.replace(settings.rl, rows=rows, minibatches=1))
    gradients, counts = [], []
    cut = pieces.plan
    monkeypatch.setattr(pieces, "plan", lambda nodes, sizes, room: counts.append(cut(nodes, sizes, room)) or counts[-1])
    for room in (8192, 1):
        monkeypatch.setattr(rl, "ROOM", room)
        model, tokenizer = load_model(settings.model.path)
        run = open_run(settings, "rl", f"split{room}")
        trainer = rl.MGRPOTrainer(settings, run, model, tokenizer, TASKS, GuessingGame(settings))
        assert trainer.training_step(model, []).isfinite()
        gradients.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    assert len(counts[0]) == len(counts[1]) == 1 and all(len(plan) > 16 for plan in counts[2:]) and len(counts) == 4  # of the reference, of the policy
    assert gradients[0].norm() > 0
    assert (gradients[0] - gradients[1]).norm() / gradients[0].norm() < 1e-4


class TwoPages(GuessingGame):
    """Two turns, each with a page of its own, in contexts as a rollout makes them; reward 1 for an even first token of the second reply."""

    def run(self, tasks, policy, *, group, temperature, seed, run, beside):
        jobs = [(task, member, []) for task in tasks for member in range(group)]
        for number, page in enumerate(("[1] link Mugs", "[4] button Buy")):
            requests = [Request(context_ids(policy.tokenizer, "Act on the page.", task.intent, [t.reply_ids for t in turns], f"{page} {task.task_id}"), 6, temperature,
                                reply_seed(seed, task.task_id, member, number)) for task, member, turns in jobs]
            for (_, _, turns), request, reply in zip(jobs, requests, policy.generate(requests)):
                turns.append(Turn("", "", "", request.context_ids, reply.ids, reply.logprobs, reply.text, "", "", 0.0, 0.0))
        reward = lambda turns: float(turns[-1].reply_ids[0] % 2 == 0)  # noqa: E731
        return [Trajectory("r", task.task_id, "pocket", "shopping", "guess", "train", task.intent, i // group, member, 0, "p", "success" if reward(turns) else "failure",
                           reward(turns), None, "", 0.0, turns) for i, (task, member, turns) in enumerate(jobs)]


def test_flat_training_shows_its_mismatch_and_its_ratio_does_not_see_it(settings, game, monkeypatch):
    """The authors' rows: recomputed log-probs are others than recorded, but the ratio, taken on the flat contexts, starts at 1."""
    monkeypatch.setattr(rl, "Rollout", TwoPages)
    settings = dataclasses.replace(settings, rl=dataclasses.replace(settings.rl, steps=1, minibatches=1))
    metrics = {}
    for context in ("exact", "flat"):
        run = rl.train_rl(dataclasses.replace(settings, profile=context, training=dataclasses.replace(settings.training, context=context)), "r1_zero")
        metrics[context] = run.metrics().iloc[0]
    assert metrics["exact"]["mismatch"] < 1e-5 and metrics["flat"]["mismatch"] > 1e-3
    assert metrics["flat"]["clip_fraction"] == metrics["exact"]["clip_fraction"] == 0 and metrics["flat"]["refused"] == 0
    assert metrics["flat"]["loss"] == pytest.approx(metrics["exact"]["loss"], abs=1e-5)  # both −ΣwA at ratio 1
    with pytest.raises(SettingsError, match="episode.compress = false"):
        rl.train_rl(dataclasses.replace(settings, training=dataclasses.replace(settings.training, context="flat"), episode=dataclasses.replace(settings.episode, compress=False)), "r1_zero")


def test_flat_groups_move_nothing(settings, game, monkeypatch):
    monkeypatch.setattr(GuessingGame, "_trajectory", lambda self, *a, _old=GuessingGame._trajectory: dataclasses.replace(_old(self, *a), reward=0.0, status="failure"))
    start = torch.cat([p.flatten() for p in load_model(settings.model.path)[0].parameters()])
    run = rl.train_rl(settings, "r1_zero")
    assert torch.equal(final_weights(run), start)
    assert (run.metrics()["flat_groups"] == 4).all()


def test_r1_cot_starts_from_the_warm_up_on_paragraphs(settings, game, tiny_model):
    """Whatever the profile's own style is; its run says so, and its weights are found by the name of the method."""
    short = dataclasses.replace(settings, rl=dataclasses.replace(settings.rl, steps=1))
    warm_up = open_run(with_style(short, "cot"), "bc", "cot")
    shutil.copytree(tiny_model, warm_up.checkpoints / "final")
    warm_up.save_summary({})
    run = rl.train_rl(short, "r1_cot")
    assert run.name == "rl-r1_cot-s0" and run.summary()["start"] == "bc_cot"
    assert tomllib.loads(run.path("settings.toml").read_text())["demos"]["style"] == "cot"
    assert model_folder(short, "bc_cot") == warm_up.checkpoints / "final" and model_folder(short, "r1_cot") == run.checkpoints / "final"
    assert rl.train_rl(short, "r1_cot").done and not run.folder.with_name(run.name + ".old").exists()  # found again


def test_what_cannot_be_trained_is_said_in_one_sentence(settings, game):
    with pytest.raises(SettingsError, match="no RL variant 'r2'"):
        rl.train_rl(settings, "r2")
    with pytest.raises(ModelError, match="run notebook 02_bc_warmup with profile smoke and style short first"):
        rl.train_rl(settings, "r1")
    with pytest.raises(ModelError, match="no finished weights of 'bc_cot' .* run notebook 02_bc_warmup with profile smoke and style cot first"):
        rl.train_rl(settings, "r1_cot")
    with pytest.raises(SettingsError, match="model.reply_style"):
        rl.train_rl(dataclasses.replace(settings, demos=dataclasses.replace(settings.demos, style="bare")), "r1")
    with pytest.raises(SettingsError, match="tasks_per_step is 9"):
        rl.train_rl(dataclasses.replace(settings, rl=dataclasses.replace(settings.rl, tasks_per_step=9)), "r1_zero")


def test_the_reference_policy_is_the_start_of_rl(settings, game):
    model, tokenizer = load_model(settings.model.path)
    trainer = rl.MGRPOTrainer(settings, open_run(settings, "rl", "ref"), model, tokenizer, TASKS, GuessingGame(settings))
    trainer._new_step(1)
    batch = next(batch for batch in trainer.minibatches if batch)
    model.set_attn_implementation("wr1_tree")
    with torch.no_grad():
        logp, _ = forward_logprobs(model, batch.row, settings.rl.temperature)
        assert torch.allclose(logp, batch.ref_logp, atol=1e-5)
        for p in model.parameters():
            p.add_(0.1 * torch.randn_like(p))
        moved, _ = forward_logprobs(model, batch.row, settings.rl.temperature)
    assert torch.allclose(trainer._reference(batch.row), batch.ref_logp, atol=1e-6)
    assert (moved - batch.ref_logp).abs().max() > 1e-2


@pytest.mark.parametrize("overlap", [False, True])
def test_in_bfloat16_it_samples_as_it_is_trained(settings, game, overlap):
    """Weights are float32 and move by what float32 can tell apart; recorded and recomputed log-probs agree within the bound that runs are held to."""
    rl_settings = dataclasses.replace(settings.rl, steps=3, learning_rate=1e-6, overlap=overlap)
    run = rl.train_rl(with_model(dataclasses.replace(settings, rl=rl_settings), dtype="bfloat16"), "r1_zero")
    metrics, saved, start = run.metrics(), load_model(run.checkpoints / "final")[0], load_model(settings.model.path)[0]
    assert metrics["mismatch_k3"].max() < 1e-3 and metrics["kl"].max() < 1e-3
    moved = torch.cat([(a - b).flatten() for a, b in zip(saved.parameters(), start.parameters())]).abs()
    assert 1e-7 < moved.max() < 1e-5 and (moved > 0).float().mean() > 0.5
    assert next(saved.parameters()).dtype == torch.float32


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_reference_of_adapters_is_the_merged_start(settings, game, dtype):
    """RL after a warm-up with adapters: its start is what was saved, not the bare base; adapters alone get gradients, and KL is 0 until they move."""
    torch.manual_seed(0)
    settings = with_model(settings, dtype=dtype, **ADAPTERS)
    warmed, tokenizer = load_trainable(settings, settings.model.path)
    for p in warmed.parameters():
        if p.requires_grad:
            p.data.add_(0.2 * torch.randn_like(p))
    row = build_row(sequences(GuessingGame(settings).run(TASKS[:2], HFPolicy(warmed, tokenizer, "w"), group=4, temperature=1.0, seed=0, run="w", beside=None)))
    start = save_final(warmed, tokenizer, project_path(settings.checkpoints) / "warmed")
    assert load_file(start / "model.safetensors").keys() == load_file(f"{settings.model.path}/model.safetensors").keys()
    bare, merged = load_trainable(settings, settings.model.path)[0], load_trainable(settings, start)[0]
    for model in (bare, merged):
        model.set_attn_implementation(TREE_ATTENTION)
    with torch.no_grad():
        now, before = forward_logprobs(merged, row)[0], forward_logprobs(bare, row)[0]
    near = 1e-4 if dtype == "float32" else 0.05  # in bfloat16 the merged weights are rounded, and not the adapters apart from the others
    assert (now - row.logprobs).abs().max() < near < (before - row.logprobs).abs().max()

    trainer = rl.MGRPOTrainer(settings, open_run(settings, "rl", "adapters"), merged, tokenizer, TASKS, GuessingGame(settings))
    assert trainer.training_step(merged, []).isfinite() and trainer.ref_model is None and list(merged.peft_config) == ["default"]
    batch = trainer.minibatches[0]
    trained = {name for name, p in merged.named_parameters() if p.grad is not None}
    assert trained and all("lora_" in name for name in trained) and all(p.dtype == torch.float32 for name, p in merged.named_parameters() if "lora_" in name)
    assert trainer.tally.sums["kl"] == 0.0 and torch.equal(trainer._evaluate(merged, batch.row)[0], batch.ref_logp)
    for name, p in merged.named_parameters():
        if "lora_" in name:
            p.data.add_(0.2 * torch.randn_like(p))
    assert torch.equal(trainer._reference(batch.row), batch.ref_logp)
    assert (trainer._evaluate(merged, batch.row)[0] - batch.ref_logp).abs().max() > 1e-2


def test_gradient_checkpointing_gives_the_same_gradient_through_the_trainer(settings, game, monkeypatch):
    """Rows are walked in pieces, whose kept nodes are computed again in the backward pass."""
    monkeypatch.setattr(rl, "ROOM", 1)
    for number, choice in enumerate((dict(dtype="bfloat16"), ADAPTERS)):
        gradients = []
        for on in (False, True):
            torch.manual_seed(0)
            chosen = with_model(settings, gradient_checkpointing=on, **choice)
            model, tokenizer = load_trainable(chosen, settings.model.path)
            assert model.is_activation_checkpointing == on
            trainer = rl.MGRPOTrainer(chosen, open_run(chosen, "rl", f"kept{number}{on}"), model, tokenizer, TASKS, GuessingGame(chosen))
            trainer.training_step(model, [])
            gradients.append(torch.cat([p.grad.flatten() for p in model.parameters() if p.requires_grad]))
        assert gradients[0].norm() > 0 and (gradients[0] - gradients[1]).norm() / gradients[0].norm() < 1e-4
