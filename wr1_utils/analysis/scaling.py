"""Test-time scaling: success against the turn limit, for every limit from one set of long rollouts, by cutting them.

Why cutting is valid. A policy never sees the limit: a turn's context is the system prompt, the task, the earlier replies and the page
(agent/prompt.py), and its draw is greedy or seeded by run, task, member and turn (`reply_seed` in rollout.py). The page, too, knows
nothing of it. So the first L turns of a long rollout are, turn for turn, the rollout with the limit L, which then ends: solved if the
episode had ended by then, by its own `exit` or because the page ended it, and was judged a success; failed otherwise, because an episode that
meets the limit is not judged at all (rollout.py). Two rollouts of one policy still differ where a page does something at its own
time, or where the last bits of a batch's sums decide between two tokens; tests/analysis/test_scaling.py compares with true short runs.

One set of rollouts also makes the limits comparable task by task: what is solved within L turns is solved within any more.
"""

from pathlib import Path

import pandas as pd

from wr1_utils.analysis.stats import paired_difference, wilson
from wr1_utils.analysis.tables import TEST_SPLITS, AnalysisError, write_table
from wr1_utils.runs import find_run
from wr1_utils.settings import Settings
from wr1_utils.trajectory import Trajectory, read_trajectories

TURN_LIMITS = (5, 10, 15, 20, 25, 30)


def cut_reward(trajectory: Trajectory, limit: int) -> float | None:
    """The reward that the trajectory would have earned with that turn limit; None if it has none (infrastructure, unscored).

    An episode without a reward has none at any limit, so that every limit is judged on the same episodes. Raises AnalysisError if the
    limit is under 1, or the trajectory was itself stopped by a lower one, so that nobody knows how it would have gone on.
    """
    if limit < 1:
        raise AnalysisError(f"A turn limit must be at least 1, not {limit}.")
    if trajectory.status == "turn_limit" and len(trajectory.turns) < limit:
        raise AnalysisError(f"The episode of {trajectory.task_id} was stopped after {len(trajectory.turns)} turns: it says nothing of the turn limit {limit}; roll it out with that limit or more.")
    if not trajectory.valid:
        return None
    return trajectory.reward if len(trajectory.turns) <= limit else 0.0


def turn_limit_table(rollouts: dict[str, list[Trajectory]], limits: tuple[int, ...] = TURN_LIMITS) -> pd.DataFrame:
    """The rows of `turn_limits.csv`, from the long rollouts of each method, one a task.

    Columns: benchmark (each, and `all` if there are several), method, limit, tasks, successes, errors, rate, low, high (95 % Wilson),
    turns (mean turns that an episode uses), and `gain`, `gain_low`, `gain_high`: the rate minus that at the lowest limit, task by task, with its 95 % bootstrap
    interval. Counting is that of analysis/tables.py. Raises AnalysisError as `cut_reward` does, or if there is no limit.
    """
    limits = sorted(set(limits))
    if not limits:
        raise AnalysisError("Success against the turn limit needs at least one limit.")
    rows = []
    names = sorted({t.benchmark for trajectories in rollouts.values() for t in trajectories})
    for benchmark in [*names, *(["all"] if len(names) > 1 else [])]:
        for method, trajectories in rollouts.items():
            chosen = [t for t in trajectories if benchmark in (t.benchmark, "all")]
            scored = pd.DataFrame({limit: [cut_reward(t, limit) for t in chosen] for limit in limits}, dtype=float)
            scored["benchmark"] = [t.benchmark for t in chosen]
            scored["turns"] = [len(t.turns) for t in chosen]
            scored = scored[scored[limits[0]].notna()]
            for limit in limits:
                rows.append({"benchmark": benchmark, "method": method, "limit": limit, "tasks": len(chosen), "errors": len(chosen) - len(scored),
                             **_rate(scored[limit]), "turns": scored["turns"].clip(upper=limit).mean(), **_gain(scored, limit, limits[0])})
    columns = ["benchmark", "method", "limit", "tasks", "successes", "errors", "rate", "low", "high", "turns", "gain", "gain_low", "gain_high"]
    return pd.DataFrame(rows, columns=columns)


def make_turn_limits(settings: Settings, methods: tuple[str, ...] = ("base", "bc", "r1"), limits: tuple[int, ...] = TURN_LIMITS) -> Path:
    """Write `turn_limits` (CSV, Markdown, LaTeX) from the finished long rollouts `long-<method>-s<seed>` of the profile; returns the CSV's path.

    Raises AnalysisError if a method has none, and says what to run.
    """
    rollouts = {}
    for method in methods:
        run = find_run(settings, "long", method)
        if not run.done:
            raise AnalysisError(f"There are no finished long rollouts of {method} in {run.folder}; wr1.evaluate_long(settings, {method!r}) makes them.")
        rollouts[method] = [t for t in read_trajectories(run.path("trajectories.parquet")) if t.split in TEST_SPLITS]
    return write_table(turn_limit_table(rollouts, limits), run.folder.parent / "turn_limits")


def _rate(rewards: pd.Series) -> dict:
    successes, trials = int((rewards == 1).sum()), len(rewards)
    low, high = wilson(successes, trials)
    return {"successes": successes, "rate": successes / trials if trials else float("nan"), "low": low, "high": high}


def _gain(scored: pd.DataFrame, limit: int, lowest: int) -> dict:
    if scored.empty:
        return {"gain": float("nan"), "gain_low": float("nan"), "gain_high": float("nan")}
    differences = scored[limit] - scored[lowest]
    found = paired_difference([part.to_numpy() for _, part in differences.groupby(scored["benchmark"])])
    return {"gain": found.mean, "gain_low": found.low, "gain_high": found.high}
