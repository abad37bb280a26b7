"""Stage 2, M-GRPO: end-to-end multi-turn reinforcement learning on binary rewards, with TRL's GRPOTrainer (paper, section 3).

One RL step: `tasks_per_step` tasks are drawn, `group_size` trajectories of each are rolled out with the current policy,
advantages are taken within each group, and the policy makes `minibatches` optimizer steps on the trajectories of groups
that are not flat. Every turn is trained on exactly the token ids and the context it was sampled with, against the
log-probs recorded when it was sampled (training/packing.py; `training.context = "flat"` trains as the authors' code does, for an
ablation: training/flat.py). The reference policy is the frozen start of RL. With `model.lora_rank` RL begins with fresh adapters on its
start, behaviour cloning having merged its own into the weights that it saved: the reference is the model without adapters.

Weights that are trained are float32, also where `model.dtype` has the policy compute in bfloat16 (agent/precision.py). The policy samples as it
is trained, so the ratio starts at 1 but for the rounding of sums in another order, which in bfloat16 is coarse; `mismatch_k3` tells of it.

TRL supplies the loop, the optimizer and its schedule, the reference model, checkpoints and resume; what is overridden
here is where the rollouts come from (`_prepare_inputs`) and the loss (`training_step`).

With `rl.overlap` the rollouts of step s + 1 are made while step s is updated, by a copy of the policy as it stood before
that update: one step off-policy, which the ratio against the recorded log-probs corrects. So the weights after u updates
write the rollouts of step u + 2; steps 1 and 2 are both written by the start. A checkpoint keeps the copy too: a run that
was interrupted rolls out again, with the same weights and seeds, what was in flight, and ends where an uninterrupted one does.

Variants differ in their start alone: `r1` starts from behaviour cloning, `r1_zero` from the base model, `r1_cot` from
behaviour cloning on demonstrations whose thoughts are paragraphs (agent/thoughts.py), which takes longer replies.

Deviations from the paper
- Defaults for models of a few million parameters: learning rate 1e-4, β 0.01, several minibatches (paper's code: 1e-6,
  0.001, one); the profile `paper-3b` holds the paper's, `paper-8b` too, but it trains adapters, at ten times the learning rate.
- The learning rate rises over the first two RL steps: Adam's first updates move every weight by the whole of it, whatever its gradient.
- Groups that are flat, or have fewer than two valid members, are counted and not trained on, the KL term included; the
  mean over trajectories is over those trained on.
- The profiles of the small model draw tasks by their success so far (training/drawing.py), from several sets of training tasks.
"""

from __future__ import annotations

import copy
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import torch
from datasets import Dataset
from peft import PeftModel
from safetensors.torch import load_file, save_file
from transformers import PrinterCallback, TrainerCallback, set_seed
from trl import GRPOConfig, GRPOTrainer

from wr1_utils.agent.hf_engine import HFPolicy, load_trainable, method_settings, model_folder, save_final
from wr1_utils.agent.precision import compute_dtype, compute_in, round_weights, trained_weights
from wr1_utils.rollout import Rollout
from wr1_utils.runs import Run, open_run, progress
from wr1_utils.settings import Settings, SettingsError
from wr1_utils.tasks import train_tasks
from wr1_utils.tasks.task import Task
from wr1_utils.training.checkpoints import MarkWhole, newest_checkpoint
from wr1_utils.training.drawing import even_tasks, last_rates, middling_tasks, record_groups
from wr1_utils.training.flat import flat_sequences
from wr1_utils.training.losses import group_advantages, m_grpo_loss, token_weights
from wr1_utils.training.tally import Batch, Tally, deal
from wr1_utils.training.packing import TREE_ATTENTION, PackingError, Sequence, TreeRow, build_row, sequences
from wr1_utils.training.pieces import Loss, evaluate, logits_weight
from wr1_utils.trajectory import Trajectory, write_trajectories

VARIANTS = {"r1": "bc", "r1_zero": "base", "r1_cot": "bc_cot"}  # variant → the method it starts from
WARMUP_STEPS = 2  # RL steps over which the learning rate rises from 0 to its value
SAMPLER = "sampler.safetensors"  # in a checkpoint: the trained weights that write the rollouts of the step after it, with rl.overlap
ROOM = 1024  # tokens that a forward and backward pass may hold where no turn is so long: smaller pieces cost time (training/pieces.py)


def train_rl(settings: Settings, variant: str = "r1") -> Run:
    """Trains with M-GRPO for `rl.steps` steps; weights go to `run.checkpoints / "final"`, one metrics row a step.

    Continues from the last whole checkpoint after an interruption, and says so; does nothing if the run is done. Raises
    SettingsError for an unknown variant or if the start (behaviour cloning) is missing.
    """
    if variant not in VARIANTS:
        raise SettingsError(f"There is no RL variant {variant!r}; there are {', '.join(VARIANTS)}.")
    settings = method_settings(settings, variant)
    if settings.training.context == "flat" and not settings.episode.compress:
        raise SettingsError('training.context = "flat" trains with earlier pages left out, which they are not with episode.compress = false; change one of the two.')
    if settings.training.context == "flat" and settings.rl.overlap:
        raise SettingsError('training.context = "flat" takes the policy that sampled to be the one in training, which it is not with rl.overlap; change one of the two.')
    start = model_folder(settings, VARIANTS[variant])
    tasks = train_tasks(settings, settings.rl.task_sets)
    if len(tasks) < settings.rl.tasks_per_step:
        raise SettingsError(f"rl.tasks_per_step is {settings.rl.tasks_per_step}, but there are {len(tasks)} training tasks; lower it.")
    run = open_run(settings, "rl", variant, weights=start)
    if run.done:
        print(f"{run.name} is done already")
        return run
    set_seed(settings.seed)
    model, tokenizer = load_trainable(settings, start)
    started = time.monotonic()
    with Rollout(settings) as rollout:
        trainer = MGRPOTrainer(settings, run, model, tokenizer, tasks, rollout)
        checkpoint = newest_checkpoint(run.checkpoints)
        if checkpoint:
            done = int(checkpoint.name.split("-")[1]) // settings.rl.minibatches
            print(f"{run.name}: continuing after step {done} of {settings.rl.steps}")
            if settings.rl.overlap:
                trainer.policy.model.load_state_dict(load_file(checkpoint / SAMPLER), strict=False)  # strict: frozen weights are not in it
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    save_final(trainer.model, tokenizer, run.checkpoints / "final")
    run.save_summary({"variant": variant, "start": VARIANTS[variant], "seconds": round(time.monotonic() - started, 1), **headline(run)})
    return run


def headline(run: Run) -> dict:
    """First and last tenth of a run's success rate on its own training tasks, and what it cost."""
    metrics = run.metrics()
    tenth = max(1, len(metrics) // 10)
    return {
        "steps": len(metrics),
        "success_rate_first": float(metrics["success_rate"].head(tenth).mean()),
        "success_rate_last": float(metrics["success_rate"].tail(tenth).mean()),
        "seconds_a_step": float((metrics["seconds_rollout"] + metrics["seconds_update"]).mean()),
        "largest_mismatch_k3": float(metrics["mismatch_k3"].fillna(0.0).max()),  # a step without training has none
    }


class MGRPOTrainer(GRPOTrainer):
    """GRPOTrainer whose rollouts are web episodes and whose loss is M-GRPO on packed rows."""

    def __init__(self, settings: Settings, run: Run, model, tokenizer, tasks: list[Task], rollout: Rollout):
        rl = settings.rl
        if rl.tasks_per_step * rl.group_size % rl.minibatches:
            raise SettingsError(
                f"rl.minibatches = {rl.minibatches} must divide rl.tasks_per_step × rl.group_size = {rl.tasks_per_step * rl.group_size}."
            )
        self.settings, self.run, self.tasks, self.web = settings, run, tasks, rollout
        sampler = model
        if rl.overlap:  # before TRL wraps `forward`: a copy of that would call the model in training. What is frozen is shared
            sampler = copy.deepcopy(model, {id(p): p for p in model.parameters() if not p.requires_grad})
            round_weights(sampler)
        self.policy = HFPolicy(sampler, tokenizer, run.name)
        super().__init__(
            model=model,
            reward_funcs=lambda **_: [],  # TRL wants one; rewards come with the trajectories
            args=GRPOConfig(
                output_dir=str(run.checkpoints),
                max_steps=rl.steps * rl.minibatches,
                per_device_train_batch_size=rl.tasks_per_step * rl.group_size // rl.minibatches,
                steps_per_generation=rl.minibatches,
                num_generations=rl.group_size,
                learning_rate=rl.learning_rate,
                lr_scheduler_type="constant_with_warmup",
                warmup_steps=min(WARMUP_STEPS, rl.steps - 1) * rl.minibatches,
                adam_beta2=0.99,
                weight_decay=0.0,
                max_grad_norm=1.0,
                beta=0.0 if isinstance(model, PeftModel) else rl.beta,  # for TRL: is a reference model needed? (see _reference)
                temperature=rl.temperature,
                logging_strategy="no",
                save_steps=rl.save_every * rl.minibatches,
                save_total_limit=2,
                ignore_data_skip=True,
                seed=settings.seed,
                bf16=False,  # this and the next are the model's own doing: load_trainable
                activation_checkpointing=False,
                report_to="none",
                disable_tqdm=True,
                remove_unused_columns=False,
                dataloader_pin_memory=False,
            ),
            train_dataset=Dataset.from_dict({"prompt": [task.task_id for task in tasks]}),  # only counts the steps: see _tasks_of_step
            processing_class=tokenizer,
            callbacks=[MarkWhole()],
        )
        if self.ref_model is not None:
            compute_in(self.ref_model, compute_dtype(model))
            round_weights(self.ref_model)
        self.remove_callback(PrinterCallback)
        self.add_callback(_StepEnd(self))
        self.written = 0.0  # seconds that the policy took for the rollouts so far
        self.ahead: Future | None = None  # the trajectories of the next step, being rolled out
        self.show = progress(f"RL {run.variant}, step")

    # ---- rollouts --------------------------------------------------------------------------------------------------

    def _prepare_inputs(self, inputs: list[dict]) -> Batch | None:
        """The minibatch of this optimizer step; new rollouts when a new RL step begins. `inputs` is not used."""
        minibatches = self.settings.rl.minibatches
        if self.state.global_step % minibatches == 0:
            self._new_step(self.state.global_step // minibatches + 1)
        return self.minibatches[self.state.global_step % minibatches]

    def _new_step(self, step: int) -> None:
        rl, started = self.settings.rl, time.monotonic()
        self.show(step - 1, rl.steps, f"rolling out {rl.tasks_per_step} × {rl.group_size}")
        trajectories = self.ahead.result() if self.ahead else self._roll_out(step, self._tasks_of_step(step))
        write_trajectories(self._rollout_file(step), trajectories)
        self.refused = 0
        groups = [trajectories[i : i + rl.group_size] for i in range(0, len(trajectories), rl.group_size)]
        record_groups(self.run.path("groups.csv"), step, groups)
        advantages = [group_advantages([t.reward if t.valid else None for t in group]) for group in groups]
        trained = [
            [(t, a) for t, a in zip(group, adv) if t.valid and self._trainable(t)]
            for group, adv in zip(groups, advantages)
            if any(adv)
        ]
        self.tally = Tally(
            step, trajectories, groups=len(groups), flat_groups=len(groups) - len(trained),
            refused=self.refused, seconds_rollout=time.monotonic() - started, seconds_policy=self.policy.seconds - self.written,
        )  # fmt: skip
        self.written = self.policy.seconds
        parts = deal(trained, rl.minibatches, seed=self.settings.seed * 1_000_003 + step)
        self.update_started = time.monotonic()
        self.minibatches = [self._batch(part) for part in parts]
        if rl.overlap:
            self._roll_out_ahead(step)

    def _rollout_file(self, step: int) -> Path:
        return self.run.path(f"rollouts/step-{step:04d}.parquet")

    def _roll_out(self, step: int, tasks: list[Task]) -> list[Trajectory]:
        rl = self.settings.rl
        return self.web.run(
            tasks, self.policy, group=rl.group_size, temperature=rl.temperature,
            seed=self.settings.seed * 1_000_003 + step, run=self.run.name, beside=self._rollout_file(step),
        )  # fmt: skip

    def _roll_out_ahead(self, step: int) -> None:
        """Begins the rollouts of the step after `step`, which is about to be updated, by a copy of the policy as it is now.

        The weights that wrote the rollouts of `step` are in the copy until then, and are asked for the mismatch: those in training are newer.
        """
        sampler = self.policy.model
        if batch := self.minibatches[0]:
            self.tally.compare(batch.row, self._evaluate(sampler, batch.row)[0])
        sampler.load_state_dict(trained_weights(self.model), strict=False)
        self.ahead = None
        if step < self.settings.rl.steps:
            thread = ThreadPoolExecutor(1, "rollout")
            self.ahead = thread.submit(self._roll_out, step + 1, self._tasks_of_step(step + 1))
            thread.shutdown(wait=False)  # once it is done

    def _tasks_of_step(self, step: int) -> list[Task]:
        rl = self.settings.rl
        if rl.draw == "even":
            return even_tasks(self.tasks, step, rl.tasks_per_step, self.settings.seed)
        rates = last_rates(self.run.path("groups.csv"), step)
        return middling_tasks(self.tasks, step, rl.tasks_per_step, self.settings.seed, rates)

    def _trainable(self, trajectory: Trajectory) -> bool:
        """True if every turn can be trained exactly; otherwise the trajectory is refused, and why is printed."""
        try:
            return bool(self._sequences([trajectory]))
        except PackingError as fault:
            print(f"not trained on: {fault}")
            self.refused += 1
            return False

    def _sequences(self, trajectories: list[Trajectory]) -> list[Sequence]:
        if self.settings.training.context == "flat":
            return flat_sequences(trajectories, self.processing_class, self.settings.model.system_prompt)
        return sequences(trajectories)

    def _batch(self, part: list[tuple[Trajectory, float]]) -> Batch | None:
        """One minibatch as a packed row with everything the loss needs; None for an empty one."""
        if not part:
            return None
        trajectories, advantages = zip(*part)
        row = build_row(self._sequences(list(trajectories)), share=self.settings.rl.rows == "tree").to(self.accelerator.device)
        weights = token_weights(row.trajectory, row.turn, len(part), self.settings.rl.normalizer, self.settings.episode.turn_limit)
        table = torch.tensor(advantages, device=self.accelerator.device)
        return Batch(row, table[row.trajectory], weights, self._reference(row), self._old(row))

    def _evaluate(self, model, row: TreeRow, loss: Loss | None = None, **timed) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probs and entropies of a row's trained tokens and the loss, whose gradient is added up (training/pieces.py)."""
        model.set_attn_implementation(TREE_ATTENTION)
        return evaluate(model, row, self.settings.rl.temperature, ROOM, logits_weight(model), loss, **timed)

    def _reference(self, row: TreeRow) -> torch.Tensor | None:
        """(M,) log-probs of the reference policy, the frozen start of RL."""
        if not self.settings.rl.beta:
            return None
        reference, start = (self.model, self.model.disable_adapter()) if self.ref_model is None else (self.ref_model, nullcontext())
        with self.tally.timed("reference"), start:
            return self._evaluate(reference, row)[0]

    def _old(self, row: TreeRow) -> torch.Tensor:
        """(M,) log-probs of the policy that sampled: as it recorded them, but those at flat contexts were never recorded, and no step was made yet."""
        return self._evaluate(self.model, row)[0] if self.settings.training.context == "flat" else row.logprobs

    # ---- update ----------------------------------------------------------------------------------------------------

    def training_step(self, model, inputs: list[dict], num_items_in_batch=None) -> torch.Tensor:
        """One optimizer step's gradient, summed over the pieces of the minibatch's row: how it is cut changes nothing.

        A minibatch without trajectories leaves all gradients None, so that the optimizer moves nothing.
        """
        rl = self.settings.rl
        batch = self._prepare_inputs(inputs)
        model.train()
        if batch is None:
            return torch.zeros((), device=self.accelerator.device)
        fresh = not rl.overlap and self.state.global_step % rl.minibatches == 0  # the policy is still the one that wrote the replies

        def loss(chosen: torch.Tensor, logp: torch.Tensor) -> torch.Tensor:
            reference = None if batch.ref_logp is None else batch.ref_logp[chosen]
            old, advantages, weights = batch.old_logp[chosen], batch.advantages[chosen], batch.weights[chosen]
            return m_grpo_loss(logp, old, advantages, weights, rl.clip, rl.beta, reference)

        logp, entropy, total = self._evaluate(model, batch.row, loss, timed=self.tally.timed)
        self.tally.add(batch, logp, entropy, total.item(), rl.clip)
        if fresh:
            self.tally.compare(batch.row, logp)
        return total

    def end_step(self) -> None:
        """Writes the step's metrics, once its last minibatch has moved the weights."""
        metrics = self.tally.metrics(time.monotonic() - self.update_started)
        self.run.log_metrics(self.tally.step, metrics)
        self.show(self.tally.step, self.settings.rl.steps, f"success {100 * metrics['success_rate']:.0f} %, {metrics['turns']:.1f} turns")

    def _save_checkpoint(self, model, trial) -> None:
        super()._save_checkpoint(model, trial)
        if self.settings.rl.overlap:
            save_file(trained_weights(self.policy.model), self.run.checkpoints / f"checkpoint-{self.state.global_step}" / SAMPLER)


class _StepEnd(TrainerCallback):
    """Times the optimizer, and tells the trainer when an RL step is over."""

    def __init__(self, trainer: MGRPOTrainer):
        self.trainer = trainer

    def on_pre_optimizer_step(self, args, state, control, **kwargs):
        self.timing = self.trainer.tally.timed("optimizer")
        self.timing.__enter__()

    def on_optimizer_step(self, args, state, control, **kwargs):
        self.timing.__exit__(None, None, None)

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % self.trainer.settings.rl.minibatches == 0:
            self.trainer.end_step()
