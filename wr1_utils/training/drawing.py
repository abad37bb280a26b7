"""Which tasks an RL step rolls out.

Deviation from the paper: with `rl.draw = "middling"` tasks are drawn more often the nearer their success so far is to one half,
since a group that fails, or succeeds, as a whole teaches nothing. `"even"` takes every task once before any comes again.
"""

from __future__ import annotations

import csv
import math
import random
from pathlib import Path

from wr1_utils.tasks.task import Task

FLOOR = 0.02  # weight of a task that never, or always, succeeded, where one of middling success has 0.25
OWN, TEMPLATE = 2.0, 1.0  # how much a task's own last success rate counts, and its template's


def even_tasks(tasks: list, step: int, count: int, seed: int) -> list:
    """The tasks of RL step `step` (from 1): the tasks in a seeded order, every one once before any comes again.

    A function of its arguments alone, so a resumed run draws what an uninterrupted one would have drawn.
    """
    drawn, first = [], (step - 1) * count
    for position in range(first, first + count):
        if not drawn or position % len(tasks) == 0:
            order = list(range(len(tasks)))
            random.Random(f"{seed}/{position // len(tasks)}").shuffle(order)
        drawn.append(tasks[order[position % len(tasks)]])
    return drawn


def middling_tasks(tasks: list[Task], step: int, count: int, seed: int, rates: dict[str, float]) -> list[Task]:
    """`count` different tasks for RL step `step`, drawn with weight p(1 − p) + FLOOR, p from `expected_success`.

    `rates`: task_id → success rate of the task's last group so far. A function of its arguments alone. Drawing without replacement
    by the largest u^(1/w), u uniform (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006).
    """
    expected = expected_success(tasks, rates)
    key = {}
    for task in tasks:
        weight = expected[task.task_id] * (1 - expected[task.task_id]) + FLOOR
        key[task.task_id] = math.log(random.Random(f"{seed}/{step}/{task.task_id}").random()) / weight
    return sorted(tasks, key=lambda task: key[task.task_id], reverse=True)[:count]


def expected_success(tasks: list[Task], rates: dict[str, float]) -> dict[str, float]:
    """task_id → expected success: the task's last rate (weight OWN) and its template's mean rate (weight TEMPLATE).

    A task not met yet has its template's mean; a template not met yet counts as 1/2, and as one further task of rate 1/2 else.
    """
    of_template: dict[tuple[str, str], list[float]] = {}
    for task in tasks:
        if task.task_id in rates:
            of_template.setdefault((task.benchmark, str(task.intent_template_id)), []).append(rates[task.task_id])
    expected = {}
    for task in tasks:
        met = of_template.get((task.benchmark, str(task.intent_template_id)), [])
        template = (sum(met) + 0.5) / (len(met) + 1)
        own = rates.get(task.task_id)
        expected[task.task_id] = template if own is None else (OWN * own + TEMPLATE * template) / (OWN + TEMPLATE)
    return expected


def last_rates(file: Path, before: int) -> dict[str, float]:
    """task_id → success rate of its last group in a step below `before`, from the file that `record_groups` wrote; {} without one."""
    if not file.is_file():
        return {}
    with open(file, newline="", encoding="utf-8") as rows:
        return {
            row["task_id"]: int(row["successes"]) / int(row["valid"])
            for row in csv.DictReader(rows)
            if int(row["step"]) < before and int(row["valid"])
        }


def record_groups(file: Path, step: int, groups: list[list]) -> None:
    """Writes one row a group of trajectories (step, task_id, successes, valid) after those of earlier steps.

    Rows of this step or later ones, left by an interrupted run, are replaced.
    """
    kept = []
    if file.is_file():
        with open(file, newline="", encoding="utf-8") as rows:
            kept = [row for row in csv.DictReader(rows) if int(row["step"]) < step]
    for group in groups:
        valid = [t for t in group if t.valid]
        kept.append({"step": step, "task_id": group[0].task_id, "successes": sum(t.status == "success" for t in valid), "valid": len(valid)})
    scratch = file.with_name(file.name + ".tmp")
    with open(scratch, "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, ["step", "task_id", "successes", "valid"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
    scratch.replace(file)
