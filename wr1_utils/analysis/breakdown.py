"""One evaluation in detail: where a policy succeeds, how its episodes ended, what they cost, and pass@k.

Counting is that of tables.py: an episode that infrastructure ended, or that cannot be scored, is an error and in no rate. With one sample a
task a rate has its Wilson interval; with several, whose outcomes are alike, a bootstrap that resamples tasks with all their samples.
"""

from __future__ import annotations

import pandas as pd

from wr1_utils.analysis.stats import clustered_rate, pass_at_k, wilson
from wr1_utils.analysis.tables import AnalysisError, methods_present, write_table
from wr1_utils.runs import Run
from wr1_utils.settings import Settings, project_path
from wr1_utils.tasks import evaluation_tasks
from wr1_utils.tasks.task import Task
from wr1_utils.trajectory import STATUSES, read_trajectories

GROUPS = ("all", "benchmark", "split", "site", "evaluator")


def make_breakdown(settings: Settings, runs: list[Run]) -> dict[str, pd.DataFrame]:
    """Writes `<stage>_breakdown`, `<stage>_costs` and `<stage>_pass_at_k` (CSV, Markdown, LaTeX) of runs of one stage into the profile's results.

    Returns the tables by their names without the stage (see `breakdown_table`, `cost_table`, `pass_table`). Raises AnalysisError without a run.
    """
    if not runs:
        raise AnalysisError("A breakdown needs one evaluation at least; name a policy in methods.")
    episodes = episode_table(runs, evaluation_tasks(settings))
    tables = {"breakdown": breakdown_table(episodes), "costs": cost_table(episodes), "pass_at_k": pass_table(episodes)}
    for name, table in tables.items():
        write_table(table, project_path(settings.results) / settings.profile / f"{runs[0].stage}_{name}")
    return tables


def episode_table(runs: list[Run], tasks: list[Task]) -> pd.DataFrame:
    """One row an episode of the runs: who played what, how it ended (`reward` is NaN for an error), and what it cost.

    `evaluator` is what the task's record names as such, joined by + where there are several. Seconds are those spent in the model and in the
    browser, and `seconds` those from beginning to end; many episodes run at once, so sums are far above the time that passed.
    """
    evaluators = {task.task_id: "+".join(task.eval.get("eval_types", ())) for task in tasks}
    rows = [{"method": run.variant, "seed": run.seed, "benchmark": t.benchmark, "split": t.split, "site": t.site, "evaluator": evaluators.get(t.task_id, "unknown"),
             "task_id": t.task_id, "member": t.member, "status": t.status, "reward": t.reward if t.valid else None, "turns": len(t.turns),
             "context_tokens": t.context_tokens, "reply_tokens": t.reply_tokens, "seconds_model": sum(turn.seconds_model for turn in t.turns),
             "seconds_browser": sum(turn.seconds_browser for turn in t.turns), "seconds": t.seconds}
            for run in runs for t in read_trajectories(run.path("trajectories.parquet"))]
    if not rows:
        raise AnalysisError("The evaluations hold no episode.")
    return pd.DataFrame(rows).astype({"reward": float})


def breakdown_table(episodes: pd.DataFrame) -> pd.DataFrame:
    """A row for each group of tasks and method: over all, and by benchmark, split (seen or unseen template), site and evaluator.

    `group` says by what, `value` which. `success` to `unscored` count the episodes that ended so, `rate` = successes / (episodes − errors).
    """
    rows = []
    for group in GROUPS:
        parts = [("all", episodes)] if group == "all" else episodes.groupby(group, sort=True)
        for value, part in parts:
            for method in methods_present(part):
                rows.append({"group": group, "value": value, "method": method, **_rate(part[part["method"] == method])})
    return pd.DataFrame(rows)


def _rate(part: pd.DataFrame) -> dict:
    """Counts, rate and interval of one method's episodes."""
    scored = part.dropna(subset=["reward"])
    tasks, successes = part["task_id"].nunique(), int((scored["reward"] == 1).sum())
    if len(part) == tasks or scored.empty:
        low, high = wilson(successes, len(scored))
    else:
        found = clustered_rate([of_place.pivot(index="task_id", columns="member", values="reward").to_numpy() for _, of_place in part.groupby("benchmark")])
        low, high = found.low, found.high
    ends = {status: int((part["status"] == status).sum()) for status in STATUSES}
    return {"tasks": tasks, "episodes": len(part), **ends, "errors": len(part) - len(scored), "rate": successes / len(scored) if len(scored) else float("nan"), "low": low, "high": high}


def cost_table(episodes: pd.DataFrame) -> pd.DataFrame:
    """A row for each benchmark and method: means of an episode (turns, tokens read and written, seconds) and `tokens_per_success`, read and written.

    Episodes that infrastructure ended count: they cost too. Tokens are 0 where an endpoint did not tell them; no success: NaN.
    """
    measures = ["turns", "context_tokens", "reply_tokens", "seconds_model", "seconds_browser", "seconds"]
    rows = []
    for benchmark, part in episodes.groupby("benchmark", sort=True):
        for method in methods_present(part):
            own = part[part["method"] == method]
            successes = int((own["reward"] == 1).sum())
            tokens = own["context_tokens"].sum() + own["reply_tokens"].sum()
            rows.append({"benchmark": benchmark, "method": method, "episodes": len(own), **own[measures].mean(),
                         "tokens_per_success": tokens / successes if successes else float("nan")})
    return pd.DataFrame(rows)


def pass_table(episodes: pd.DataFrame) -> pd.DataFrame:
    """A row for each benchmark (and `all`, where there are several), method and k = 1, 2, 4, …: pass@k, the mean over tasks, and its interval.

    The interval comes from resampling tasks; with one sample a task it is Wilson's. A task with fewer than k scored samples is in `left_out`. See `stats.pass_at_k`.
    """
    rows = []
    places = [(name, part) for name, part in episodes.groupby("benchmark", sort=True)]
    for benchmark, part in places + ([("all", episodes)] if len(places) > 1 else []):
        for method in methods_present(part):
            counts = part[part["method"] == method].groupby(["benchmark", "task_id"])["reward"].agg(["count", "sum"]).astype(int)
            most = int(counts["count"].max())
            for k in sorted({*(2**power for power in range(most.bit_length())), most} - {0}):
                enough = counts[counts["count"] >= k]
                values = pd.Series([pass_at_k(n, c, k) for n, c in enough.itertuples(index=False)], enough.index)
                found = clustered_rate([one.to_numpy()[:, None] for _, one in values.groupby("benchmark")])
                low, high = (found.low, found.high) if most > 1 else wilson(values.sum(), len(values))
                rows.append({"benchmark": benchmark, "method": method, "k": k, "tasks": len(enough), "left_out": len(counts) - len(enough),
                             "rate": found.mean, "low": low, "high": high})
    return pd.DataFrame(rows, columns=["benchmark", "method", "k", "tasks", "left_out", "rate", "low", "high"])
