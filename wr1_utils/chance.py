"""What the test tasks of the benchmark `arena` give to agents that do not think: one that clicks anywhere, and one that always answers "N/A".

``python -m wr1_utils.chance`` writes `results/arena/chance/solved.csv` with its twins and, beside them, `environment.json`.
"""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from wr1_utils.agent.experts import click, exit_with
from wr1_utils.agent.hf_engine import load_tokenizer, model_folder
from wr1_utils.analysis.tables import write_table
from wr1_utils.rollout import Rollout
from wr1_utils.runs import environment_stamp, progress
from wr1_utils.settings import load_settings, project_path
from wr1_utils.tasks import test_tasks
from wr1_utils.tasks.task import Task
from wr1_utils.trajectory import Trajectory
from wr1_utils.web.observation import Observation

CLICKS = 9  # at most; with the exit, the turns of the profile laptop


def random_clicks(task: Task, intent: str, observation: Observation, memory: dict) -> str:
    """Clicks one to CLICKS times on any element that has an id, then exits without an answer. The task alone decides the draws."""
    if not memory:
        draw = random.Random(task.task_id)
        memory |= {"draw": draw, "left": draw.randint(1, CLICKS)}
    there = [element for element in observation.elements if element.id is not None]
    if not memory["left"] or not there:
        return exit_with("", "nothing")
    memory["left"] -= 1
    return click(memory["draw"].choice(there))


def always_na(task: Task, intent: str, observation: Observation, memory: dict) -> str:
    """Answers "N/A" at once."""
    return exit_with("N/A", "N/A")


AGENTS: dict[str, Callable[..., str]] = {"random clicks": random_clicks, "always N/A": always_na}


def play(agent: str, tasks: list[Task]) -> list[Trajectory]:
    """One episode of each task by one of AGENTS, at the limits of the profile laptop."""
    settings = load_settings("laptop", **{"tasks.benchmarks": ("arena",), "rollout.episodes": 16})
    with Rollout(settings) as rollout:
        return rollout.play(tasks, AGENTS[agent], agent, load_tokenizer(model_folder(settings, "base")), progress=progress(agent.capitalize()))


def solved_table(played: dict[str, list[Trajectory]]) -> pd.DataFrame:
    """One row an agent: agent, tasks, solved, errors (episodes without a reward), percent of the others, and which tasks were solved."""
    rows = []
    for agent, trajectories in played.items():
        solved, scored = [one for one in trajectories if one.status == "success"], [one for one in trajectories if one.valid]
        rows.append({"agent": agent, "tasks": len(trajectories), "solved": len(solved), "errors": len(trajectories) - len(scored),
                     "percent": 100 * len(solved) / max(1, len(scored)), "solved_tasks": " ".join(one.task_id for one in solved)})
    return pd.DataFrame(rows)


def record(folder: Path) -> pd.DataFrame:
    """Plays all test tasks with both agents, writes the table and the stamp into `folder`, and gives the table."""
    os.environ.setdefault("WR1_COMMAND", "python -m wr1_utils.chance")
    stamp, tasks = environment_stamp(), test_tasks(load_settings("laptop", **{"tasks.benchmarks": ("arena",)}))
    table = solved_table({agent: play(agent, tasks) for agent in AGENTS})
    write_table(table, folder / "solved")
    (folder / "environment.json").write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")
    return table


if __name__ == "__main__":
    print(record(project_path("results/arena/chance")).drop(columns="solved_tasks").to_string(index=False))
