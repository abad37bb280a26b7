"""Demonstrations: scripted experts act in the same browser through the same grammar, and are recorded as trajectories.

Deviation from the paper: the paper's demonstrations were written by people and models; these come from one script a
template, which sees only what the policy sees.
"""

from __future__ import annotations

import random
import time

from wr1_utils.agent.hf_engine import load_tokenizer, model_folder
from wr1_utils.rollout import Rollout
from wr1_utils.runs import Run, open_run, progress
from wr1_utils.settings import Settings, SettingsError, check_style, reply_limit
from wr1_utils.tasks import spread, train_tasks
from wr1_utils.tasks.task import Task
from wr1_utils.trajectory import write_trajectories


def collect_demonstrations(settings: Settings) -> Run:
    """Records `demos.count` demonstrations of each benchmark's training tasks, spread evenly over the templates but for those that `demos.left_out` keeps.

    Trajectories go to `run.path("trajectories.parquet")`; failed ones are kept there and not cloned. Does nothing if the
    run is done. Raises SettingsError if `model.reply_style` cannot read replies in `demos.style`.
    """
    check_style(settings)
    run = open_run(settings, "demos", settings.demos.style)
    if run.done:
        print(f"{run.name} is done already")
        return run
    tasks = train_tasks(settings, settings.demos.task_sets)
    chosen = []
    for benchmark in settings.tasks.benchmarks:
        mine = [task for task in tasks if task.benchmark == benchmark]
        mine = leave_out(mine, settings.demos.left_out, settings.seed)
        chosen += spread(mine, settings.demos.count, settings.seed) if settings.demos.count else []
    started = time.monotonic()
    with Rollout(settings) as rollout:
        trajectories = rollout.demonstrate(
            chosen, load_tokenizer(model_folder(settings, "base")), run=run.name, progress=progress("Demonstrations"),
            beside=run.path("trajectories.parquet"),
        )  # fmt: skip
    write_trajectories(run.path("trajectories.parquet"), trajectories)
    good = [t for t in trajectories if t.status == "success"]
    lengths = [len(turn.reply_ids) for t in good for turn in t.turns]
    run.save_summary(
        {
            "demonstrations": len(trajectories),
            "successes": len(good),
            "infrastructure": sum(t.status == "infrastructure" for t in trajectories),
            "turns": sum(len(t.turns) for t in good) / max(1, len(good)),
            "reply_tokens": sum(lengths) / max(1, len(lengths)),
            "too_long": sum(length > reply_limit(settings) for length in lengths),  # replies that the policy has no room to write
            "seconds": round(time.monotonic() - started, 1),
        }
    )
    return run


def leave_out(tasks: list[Task], share: float, seed: int) -> list[Task]:
    """The tasks without those of a share of their templates, rounded to whole templates and drawn with a seed. Raises SettingsError if the share is above 1."""
    if share > 1:
        raise SettingsError(f"demos.left_out is a share of the templates, between 0 and 1, not {share:g}.")
    templates = sorted({str(task.intent_template_id) for task in tasks})
    gone = set(random.Random(f"left out {seed}").sample(templates, round(share * len(templates))))
    return [task for task in tasks if str(task.intent_template_id) not in gone]
