"""Evaluation of a policy on the test tasks, of which none was trained on (paper, section 4)."""

from __future__ import annotations

import json
import time
from dataclasses import replace

from wr1_utils.agent.hf_engine import load_policy, method_settings, model_folder
from wr1_utils.agent.policy import Policy
from wr1_utils.rollout import Rollout
from wr1_utils.runs import Run, open_run, progress
from wr1_utils.score_files import as_json, as_text, score_trajectories
from wr1_utils.settings import Settings
from wr1_utils.tasks import test_tasks
from wr1_utils.tasks.task import Task
from wr1_utils.tasks.webarena_files import WEBARENA, webarena_scoring
from wr1_utils.trajectory import Trajectory, read_trajectories, write_trajectories

CHUNK = 64  # episodes between two saves
LONGEST = 30  # turns of a long rollout


def evaluate(settings: Settings, method: str) -> Run:
    """Runs a method (`base`, `bc`, `bc_cot`, `filtered_bc`, `awr`, `r1`, `r1_zero`, `r1_cot`) once on every test task; greedy unless `evaluation.greedy` is false.

    Trajectories go to `run.path("trajectories.parquet")`. What was finished before an interruption is kept and not run
    again; does nothing if the run is done. Raises ModelError if the method's weights are not made yet.
    """
    return _evaluate(settings, method, "eval", f"Evaluating {method}, task")


def evaluate_long(settings: Settings, method: str, turn_limit: int = LONGEST) -> Run:
    """The same with that turn limit in place of the profile's, as the run `long-<method>-s<seed>`: for what analysis/scaling.py makes of it."""
    settings = replace(settings, episode=replace(settings.episode, turn_limit=turn_limit))
    return _evaluate(settings, method, "long", f"Long rollouts of {method}, task")


def _evaluate(settings: Settings, method: str, stage: str, label: str) -> Run:
    settings = method_settings(settings, method)
    policy = load_policy(settings, method)
    run = open_run(settings, stage, method, weights=model_folder(settings, method))
    if run.done:
        print(f"{run.name} is done already")
        return run
    started = time.monotonic()
    done = play_tasks(settings, run, test_tasks(settings), policy, label, temperature=0.0 if settings.evaluation.greedy else settings.rl.temperature)
    valid = [t for t in done if t.valid]
    successes = sum(t.status == "success" for t in valid)
    both = {}  # of WebArena's benchmarks: the rates by the records as published and as patched, and what they were made with
    for benchmark in (name for name in settings.tasks.benchmarks if name in WEBARENA):
        report = score_trajectories(settings, benchmark, done, webarena_scoring(settings.tasks.scoring))
        print(as_text(report))
        both[benchmark] = {key: value for key, value in json.loads(as_json(report)).items() if key not in ("rows", "missing")}
    run.save_summary(
        {
            "method": method,
            "tasks": len(done),
            "successes": successes,
            "errors": len(done) - len(valid),
            "unscored": sum(t.status == "unscored" for t in done),
            "scoring": ", ".join(sorted({t.scoring for t in done})),
            "success_rate": successes / max(1, len(valid)),
            "turns": sum(len(t.turns) for t in valid) / max(1, len(valid)),
            "seconds": round(time.monotonic() - started, 1),
            **both,
        }
    )
    return run


def play_tasks(settings: Settings, run: Run, tasks: list[Task], policy: Policy, label: str, *, temperature: float, group: int = 1) -> list[Trajectory]:
    """`group` episodes of each task, in order, left in `run.path("trajectories.parquet")`; after an interruption only what is missing is played."""
    partial, show = run.path("partial.parquet"), progress(label)
    done = read_trajectories(partial) if partial.is_file() else []
    if done:
        print(f"{run.name}: continuing after {len(done) // group} of {len(tasks)} tasks")
    show(len(done), group * len(tasks), "")
    size = max(1, CHUNK // group)
    with Rollout(settings) as rollout:
        for first in range(len(done) // group, len(tasks), size):
            new = rollout.run(
                tasks[first : first + size], policy, group=group, temperature=temperature, seed=settings.seed, run=run.name,
                progress=lambda n, _, note: show(group * first + n, group * len(tasks), note), beside=run.path("trajectories.parquet"),
            )  # fmt: skip
            for trajectory in new:
                trajectory.group += first
            done += new
            write_trajectories(partial, done)
    write_trajectories(run.path("trajectories.parquet"), done)
    partial.unlink()
    return done
