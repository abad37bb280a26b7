"""Stage 1, behaviour cloning: supervised fine-tuning on expert turns, with TRL's SFTTrainer (paper, "Behavior cloning").

Each batch is a handful of demonstrations, packed as one exact row (training/packing.py): an action is trained on the
context that the expert's episode had at that turn, earlier pages compressed, and loss falls on the reply alone.
With `model.lora_rank` adapters are trained (the paper trains all weights), and merged into the weights that are saved.

Deviation from the paper: with `bc.replay` each batch also holds so many turns on the random pages of the base training (training/pretrain.py). The small
model otherwise forgets, while it learns the sites, to find and copy what it has not seen; the paper's instruct model keeps that. And with `bc.renamed` a
share of the demonstrations is trained on with other names (training/renaming.py), anew in each epoch.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace

import torch
from datasets import Dataset
from transformers import PrinterCallback, TrainerCallback, set_seed
from trl import SFTConfig, SFTTrainer

from wr1_utils.agent.hf_engine import load_trainable, save_final
from wr1_utils.runs import Run, find_run, open_run, progress
from wr1_utils.settings import Settings, SettingsError, check_style, project_path
from wr1_utils.training.checkpoints import MarkWhole, newest_checkpoint
from wr1_utils.training.losses import bc_loss
from wr1_utils.training.packing import TREE_ATTENTION, Sequence, build_row, forward_logprobs, sequences
from wr1_utils.training.pretrain import deployed_turn
from wr1_utils.training.renaming import find_names, rename
from wr1_utils.trajectory import Trajectory, read_trajectories


def train_bc(settings: Settings) -> Run:
    """Clones the demonstrations of `demos-<style>-s<seed>` into the model; weights go to `run.checkpoints / "final"`.

    Continues from the last whole checkpoint after an interruption; does nothing if the run is done. Raises SettingsError
    if there are no demonstrations or they are in a style that `model.reply_style` cannot read, ModelError if there is no model.
    """
    check_style(settings)
    run = open_run(settings, "bc", settings.demos.style)
    if run.done:
        print(f"{run.name} is done already")
        return run
    demos = [t for t in read_demonstrations(settings) if t.status == "success"]
    if not demos:
        raise SettingsError("There is no successful demonstration to clone; run notebook 01_tasks_and_demonstrations with demos.count above 0.")
    set_seed(settings.seed)
    model, tokenizer = load_trainable(settings, project_path(settings.model.path), settings.model.gguf_file)
    clone(settings, run, model, tokenizer, demos, settings.bc.epochs, settings.bc.learning_rate, renamed=settings.bc.renamed)
    return run


def clone(settings: Settings, run: Run, model, tokenizer, trajectories: list[Trajectory], epochs: int, learning_rate: float,
          weights: list[float] | None = None, renamed: float = 0.0, **summary) -> None:  # fmt: skip
    """Fine-tunes the model on the replies of trajectories, each with its weight (default 1), in batches of `bc.batch_size`, a share `renamed` of
    them with other names; finishes the run.

    Weights go to `run.checkpoints / "final"`, one metrics row a step; what `summary` holds is saved with the run's summary.
    Continues from the last whole checkpoint.
    """
    model.set_attn_implementation(TREE_ATTENTION)
    started = time.monotonic()
    names = find_names(trajectories) if renamed else []
    table = torch.tensor(weights if weights is not None else [1.0] * len(trajectories))

    def batch(rows: list[dict]) -> dict:
        chosen = [r["trajectory"] for r in rows]
        replayed = replay(settings, tokenizer, chosen)
        row = build_row(as_sequences(settings.seed, tokenizer, trajectories, names, chosen, renamed) + replayed)
        return {"row": row, "weights": torch.cat([table[chosen], torch.ones(len(replayed))])[row.trajectory]}

    trainer = _BCTrainer(
        model=model,
        args=SFTConfig(
            output_dir=str(run.checkpoints),
            num_train_epochs=epochs,
            per_device_train_batch_size=settings.bc.batch_size,
            learning_rate=learning_rate,
            warmup_steps=settings.bc.warmup_steps,
            lr_scheduler_type="cosine",
            weight_decay=0.0,
            max_grad_norm=1.0,
            logging_steps=1,
            save_strategy="epoch",
            save_total_limit=1,
            seed=settings.seed,
            bf16=False,  # this and the next are the model's own doing: load_trainable
            activation_checkpointing=False,
            report_to="none",
            disable_tqdm=True,
            max_length=None,
            remove_unused_columns=False,
            dataset_kwargs={"skip_prepare_dataset": True},
            dataloader_pin_memory=False,
        ),
        train_dataset=Dataset.from_dict({"trajectory": list(range(len(trajectories)))}),
        data_collator=batch,
        processing_class=tokenizer,
        callbacks=[MarkWhole(), _Metrics(run, started)],
    )
    trainer.remove_callback(PrinterCallback)
    checkpoint = newest_checkpoint(run.checkpoints)
    if checkpoint:
        print(f"{run.name}: continuing from {checkpoint.name}")
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    save_final(trainer.model, tokenizer, run.checkpoints / "final")
    losses = run.metrics()["loss"]
    run.save_summary(
        {
            **summary,
            "demonstrations": len(trajectories),
            "turns": sum(len(t.turns) for t in trajectories),
            "steps": trainer.state.global_step,
            "first_loss": float(losses.iloc[0]),
            "last_loss": float(losses.tail(10).mean()),
            "seconds": round(time.monotonic() - started, 1),
        }
    )


def replay(settings: Settings, tokenizer, chosen: list[int]) -> list[Sequence]:
    """`bc.replay` turns on random pages of the base training, to stand after the trajectories `chosen` in their batch; the same ones for the same batch."""
    rng = random.Random(f"{settings.seed} replay {chosen}")
    turns = (deployed_turn(rng, tokenizer) for _ in range(settings.bc.replay))
    return [Sequence(context, reply, [], len(chosen) + number, 0) for number, (context, reply) in enumerate(turns)]


def as_sequences(seed: int, tokenizer, trajectories: list[Trajectory], names: list[frozenset[str]], chosen: list[int], renamed: float) -> list[Sequence]:
    """The turns of the trajectories `chosen` as they were recorded or, about a share `renamed` of them, with other names; the same for the same batch."""
    rng = random.Random(f"{seed} renamed {chosen}")
    turns = []
    for number, index in enumerate(chosen):
        if rng.random() < renamed:
            turns += rename(trajectories[index], names[index], tokenizer, rng, number)
        else:
            turns += [replace(turn, trajectory=number) for turn in sequences([trajectories[index]])]
    return turns


def read_demonstrations(settings: Settings) -> list[Trajectory]:
    """The recorded demonstrations of the profile. Raises SettingsError if notebook 01 has not been run."""
    demos = find_run(settings, "demos", settings.demos.style)
    if not demos.done:
        raise SettingsError(f"There are no demonstrations in {demos.folder}; run notebook 01_tasks_and_demonstrations with style {settings.demos.style} first.")
    return read_trajectories(demos.path("trajectories.parquet"))


class _BCTrainer(SFTTrainer):
    """SFTTrainer on TreeRows: only the loss is ours."""

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None) -> torch.Tensor:
        """The weighted mean negative log-likelihood of the batch's reply tokens, a scalar."""
        logp, _ = forward_logprobs(model, inputs["row"])
        return bc_loss(logp, inputs["weights"].to(logp.device))


class _Metrics(TrainerCallback):
    """Writes one row of metrics a step and shows the progress."""

    def __init__(self, run: Run, started: float):
        self.run, self.started, self.show = run, started, progress("BC warm-up, step")

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            row = {"loss": logs["loss"], "learning_rate": logs["learning_rate"], "seconds": round(time.monotonic() - self.started, 2)}
            self.run.log_metrics(state.global_step, row)
            self.show(state.global_step, state.max_steps, f"loss {logs['loss']:.3f}")
