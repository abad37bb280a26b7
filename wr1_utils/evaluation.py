"""Evaluation of a policy on the test tasks, of which none was trained on (paper, section 4)."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from dataclasses import replace

from wr1_utils.agent.api_engine import ApiPolicy
from wr1_utils.agent.hf_engine import HFPolicy, load_model, load_policy, method_settings, model_folder
from wr1_utils.agent.policy import Policy
from wr1_utils.analysis.tables import METHODS
from wr1_utils.rollout import Rollout
from wr1_utils.runs import Run, open_run, progress
from wr1_utils.score_files import as_json, as_text, score_trajectories
from wr1_utils.settings import EndpointSettings, Settings, SettingsError, project_path
from wr1_utils.tasks import evaluation_tasks
from wr1_utils.tasks.task import Task
from wr1_utils.tasks.webarena_files import WEBARENA, webarena_scoring
from wr1_utils.trajectory import Trajectory, read_trajectories, write_trajectories

CHUNK = 64  # episodes between two saves
LONGEST = 30  # turns of a long rollout


def evaluate(settings: Settings, policy: str) -> Run:
    """Runs a policy on every task of `evaluation.split`: once, greedy unless `evaluation.greedy` is false, or `evaluation.samples` times, sampled.

    policy: a method (`base`, `bc`, `bc_cot`, `filtered_bc`, `awr`, `r1`, `r1_zero`, `r1_cot`), whose weights an earlier notebook made; `name=folder`, any model in
    Hugging Face's format; or `name=endpoint`, the one that the settings' `[endpoint]` names. The run is `eval-<name>-s<seed>`, `samples-…` with several samples, and
    `eval_<split>-…` for another split than `test`; the main table takes the first alone.

    Trajectories go to `run.path("trajectories.parquet")`. What was finished before an interruption is kept and not run again; does nothing if the run is done. Raises
    ModelError if there are no weights or no endpoint is named, SettingsError for a name that cannot be used.
    """
    if settings.evaluation.samples < 1:
        raise SettingsError(f"evaluation.samples must be 1 or more, not {settings.evaluation.samples}.")
    stage, split = "eval" if settings.evaluation.samples == 1 else "samples", settings.evaluation.split
    return _evaluate(settings, policy, stage if split == "test" else f"{stage}_{split}", "Evaluating {}, episode")


def evaluate_long(settings: Settings, method: str, turn_limit: int = LONGEST) -> Run:
    """The same with that turn limit in place of the profile's, as the run `long-<method>-s<seed>`: for what analysis/scaling.py makes of it."""
    settings = replace(settings, episode=replace(settings.episode, turn_limit=turn_limit))
    return _evaluate(settings, method, "long", "Long rollouts of {}, task")


def name_policy(text: str) -> tuple[str, str]:
    """(name, source) of a policy as `evaluate` takes it; the source is "" for a method. Raises SettingsError for a name that cannot be used."""
    name, _, source = (part.strip() for part in text.partition("="))
    if not re.fullmatch(r"\w+", name):
        raise SettingsError(f'The policy "{text}" needs a name of letters, digits and underscores before its source, as in small=data/models/small or big=endpoint.')
    if source and name in METHODS:
        raise SettingsError(f'The policy "{text}" has the name of a method of this kit; give it another one.')
    return name, source


def _evaluate(settings: Settings, policy: str, stage: str, label: str) -> Run:
    name, source = name_policy(policy)
    if source != "endpoint":
        settings = replace(settings, endpoint=EndpointSettings())  # on which nothing depends
    if not source:
        settings = method_settings(settings, name)
    trained = replace(settings, profile=settings.evaluation.weights or settings.profile)
    weights = None if source == "endpoint" else project_path(source) if source else model_folder(trained, name)
    run = open_run(settings, stage, name, weights=weights)
    if run.done:
        print(f"{run.name} is done already")
        return run
    if source == "endpoint":
        player = ApiPolicy(settings.endpoint, name)
    else:
        player = HFPolicy(*load_model(weights, dtype=settings.model.dtype), name) if source else load_policy(trained, name)
    samples, started = settings.evaluation.samples, time.monotonic()
    greedy = settings.evaluation.greedy and samples == 1
    done = play_tasks(settings, run, evaluation_tasks(settings), player, label.format(name), temperature=0.0 if greedy else settings.rl.temperature, group=samples)
    valid = [t for t in done if t.valid]
    successes = sum(t.status == "success" for t in valid)
    both = {}  # of WebArena's benchmarks: the rates by the records as published and as patched, and what they were made with
    for benchmark in (one for one in settings.tasks.benchmarks if one in WEBARENA and stage in ("eval", "long")):
        report = score_trajectories(settings, benchmark, done, webarena_scoring(settings.tasks.scoring))
        print(as_text(report))
        both[benchmark] = {key: value for key, value in json.loads(as_json(report)).items() if key not in ("rows", "missing")}
    run.save_summary(
        {
            "method": name,
            "tasks": len(done) // samples,
            "episodes": len(done),
            "successes": successes,
            "errors": len(done) - len(valid),
            "unscored": sum(t.status == "unscored" for t in done),
            "statuses": dict(Counter(t.status for t in done)),
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
