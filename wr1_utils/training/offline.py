"""The paper's cheap baselines between behaviour cloning and reinforcement learning: Filtered BC and AWR.

Both roll out the warmed-up policy once, on training tasks, and fine-tune it on what it did: Filtered BC on the successful
trajectories alone, AWR (advantage-weighted regression, arXiv 1910.00177) on all of them, each with the weight
min(exp(A / λ), 20). The rows are those of the other stages, so every reply is trained on the context it was sampled with.

Deviations from the paper
- The paper takes its figures for these baselines from earlier work, whose trajectories came from other policies.
- AWR's advantage is the reward less the mean reward of the task's group; there is no value network.
"""

from __future__ import annotations

from transformers import set_seed

from wr1_utils.agent.hf_engine import load_policy, load_trainable, model_folder
from wr1_utils.evaluation import play_tasks
from wr1_utils.runs import Run, open_run
from wr1_utils.settings import Settings, SettingsError, check_style
from wr1_utils.tasks import train_tasks
from wr1_utils.training.bc import clone
from wr1_utils.training.drawing import even_tasks
from wr1_utils.training.losses import awr_weights
from wr1_utils.trajectory import Trajectory, read_trajectories

METHODS = ("filtered_bc", "awr")


def train_offline(settings: Settings, method: str) -> Run:
    """Trains `filtered_bc` or `awr` from the warmed-up policy; weights go to `run.checkpoints / "final"`.

    The rollouts, `offline.tasks` × `offline.group_size`, are the same for both methods and are made once. Resumes after an interruption;
    does nothing if the run is done. Raises SettingsError for an unknown method or if no rollout succeeded, ModelError without a warm-up.
    """
    if method not in METHODS:
        raise SettingsError(f"There is no offline method {method!r}; there are {', '.join(METHODS)}.")
    check_style(settings)
    start = model_folder(settings, "bc")
    trajectories = read_trajectories(collect_rollouts(settings).path("trajectories.parquet"))
    run = open_run(settings, "offline", method, weights=start)
    if run.done:
        print(f"{run.name} is done already")
        return run
    kept, weights = weighted(trajectories, method, settings.offline.temperature)
    if not kept:
        raise SettingsError(f"None of the {len(trajectories)} rollouts of the warmed-up policy succeeded, so {method} has nothing to learn from; "
                            "raise offline.tasks or demos.count.")
    set_seed(settings.seed)
    model, tokenizer = load_trainable(settings, start)
    clone(settings, run, model, tokenizer, kept, settings.offline.epochs, settings.offline.learning_rate, weights, rollouts=len(trajectories))
    return run


def collect_rollouts(settings: Settings) -> Run:
    """`offline.group_size` sampled episodes of each of `offline.tasks` training tasks by the warmed-up policy, in the run `rollouts-bc-s<seed>`."""
    run = open_run(settings, "rollouts", "bc", weights=model_folder(settings, "bc"))
    if run.done:
        print(f"{run.name} is done already")
        return run
    tasks = even_tasks(train_tasks(settings, settings.rl.task_sets), 1, settings.offline.tasks, settings.seed)
    done = play_tasks(settings, run, tasks, load_policy(settings, "bc"), "Rollouts of the warm-up", temperature=settings.rl.temperature,
                      group=settings.offline.group_size)  # fmt: skip
    valid = [t for t in done if t.valid]
    run.save_summary({"tasks": len(tasks), "rollouts": len(done), "infrastructure": len(done) - len(valid), "successes": sum(t.status == "success" for t in valid)})
    return run


def weighted(trajectories: list[Trajectory], method: str, temperature: float) -> tuple[list[Trajectory], list[float]]:
    """The valid trajectories that a method trains on, with their weights. [] and [] if none of them succeeded."""
    groups: dict[int, list[Trajectory]] = {}
    for trajectory in trajectories:
        if trajectory.valid and trajectory.turns:
            groups.setdefault(trajectory.group, []).append(trajectory)
    kept = [t for group in groups.values() for t in group]
    if method == "filtered_bc" or not any(t.status == "success" for t in kept):
        good = [t for t in kept if t.status == "success"]
        return good, [1.0] * len(good)
    return kept, [weight for group in groups.values() for weight in awr_weights([t.reward for t in group], temperature)]
