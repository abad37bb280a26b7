"""How long the tasks of the benchmark `arena` are: its experts play all of them once. ``python -m wr1_utils.expert_turns`` writes
`results/arena/turns.csv` with its twins and, beside them, `environment.json`.
"""

import json
import os
from pathlib import Path

import pandas as pd

from wr1_utils.agent.hf_engine import load_tokenizer, model_folder
from wr1_utils.analysis.tables import write_table
from wr1_utils.rollout import Rollout
from wr1_utils.runs import environment_stamp, progress
from wr1_utils.settings import load_settings, project_path
from wr1_utils.tasks import test_tasks, train_tasks
from wr1_utils.tasks.arena import site_of
from wr1_utils.tasks.task import SPLITS, Task
from wr1_utils.trajectory import Trajectory

EPISODES = 16  # at once


def turn_table(tasks: list[Task], trajectories: list[Trajectory]) -> pd.DataFrame:
    """One row a template: template, site, splits, tasks, solved; turns_mean, turns_min and turns_max of the solved ones (empty if there are none)."""
    rows = pd.DataFrame([{"template": str(task.intent_template_id), "site": site_of(task), "split": task.split, "solved": played.status == "success",
                          "turns": len(played.turns) if played.status == "success" else float("nan")} for task, played in zip(tasks, trajectories)])
    table = rows.groupby(["template", "site"], sort=False).agg(
        splits=("split", lambda found: " ".join(split for split in SPLITS if split in set(found))), tasks=("solved", "size"), solved=("solved", "sum"),
        turns_mean=("turns", "mean"), turns_min=("turns", "min"), turns_max=("turns", "max")).reset_index()
    return table.astype({"turns_min": "Int64", "turns_max": "Int64"})


def play_all(folder: Path) -> list[Trajectory]:
    """Plays all tasks once at the limits of the profile laptop, writes the table and the stamp into `folder`, and gives the episodes not solved."""
    os.environ.setdefault("WR1_COMMAND", "python -m wr1_utils.expert_turns")
    settings = load_settings("laptop", **{"tasks.benchmarks": ("arena",), "rollout.episodes": EPISODES})
    stamp, tasks = environment_stamp(), train_tasks(settings) + test_tasks(settings)
    with Rollout(settings) as rollout:
        played = rollout.demonstrate(tasks, load_tokenizer(model_folder(settings, "base")), progress=progress("Experts"))
    write_table(turn_table(tasks, played), folder / "turns")
    (folder / "environment.json").write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")
    return [one for one in played if one.status != "success"]


if __name__ == "__main__":
    for one in play_all(project_path("results/arena")):
        print(f"{one.task_id}: {one.status} after {len(one.turns)} turns {one.error}")
