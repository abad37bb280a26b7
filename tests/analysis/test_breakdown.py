"""An evaluation in detail, on episodes small enough to count by hand."""

import numpy as np
import pandas as pd
import pytest

from wr1_utils.analysis.breakdown import breakdown_table, cost_table, episode_table, make_breakdown, pass_table
from wr1_utils.analysis.stats import wilson
from wr1_utils.analysis.tables import AnalysisError
from wr1_utils.runs import open_run
from wr1_utils.settings import load_settings
from wr1_utils.tasks import evaluation_tasks
from wr1_utils.trajectory import Trajectory, Turn, write_trajectories

STATUS = {"s": "success", "f": "failure", "t": "turn_limit", "i": "infrastructure"}


def episode(task, member, end, benchmark="pocket", split="seen_template", ids=(1, 2), tokens=0):
    status = STATUS[end]
    turn = Turn(url="", title="", observation="", context_ids=[5] * 10 if ids else [], reply_ids=list(ids), logprobs=[], reply="", action="", error="", seconds_model=2.0,
                seconds_browser=0.5, context_tokens=tokens, reply_tokens=tokens)
    return Trajectory(run="", task_id=task, benchmark=benchmark, site="shopping" if benchmark == "pocket" else "miniwob", template="t", split=split, intent="", group=0,
                      member=member, seed=0, policy="p", status=status, reward=None if end == "i" else float(end == "s"), answer=None, error="", seconds=9.0, turns=[turn, turn])


def run_of(tmp_path, name, trajectories, stage="eval", **overrides):
    settings = load_settings("smoke", results=str(tmp_path), checkpoints=str(tmp_path), **overrides)
    run = open_run(settings, stage, name)
    write_trajectories(run.path("trajectories.parquet"), trajectories)
    return settings, run


@pytest.fixture
def episodes(tmp_path):
    tasks = evaluation_tasks(load_settings("smoke"))
    text = next(t.task_id for t in tasks if t.eval["eval_types"] == ["string_match"])
    page = next(t.task_id for t in tasks if t.eval["eval_types"] == ["program_html"])
    seen = [episode(text, 0, "s"), episode(page, 0, "t", split="unseen_template"), episode("gone", 0, "i"), episode("m", 0, "s", "miniwob")]
    return episode_table([run_of(tmp_path, "base", seen)[1], run_of(tmp_path, "big", [episode(text, 0, "f", ids=(), tokens=7)])[1]], tasks)


def test_rates_by_place_split_site_and_evaluator(episodes):
    table = breakdown_table(episodes).set_index(["group", "value", "method"])
    whole = table.loc[("all", "all", "base")]
    assert (whole["tasks"], whole["episodes"], whole["errors"], whole["success"], whole["turn_limit"], whole["infrastructure"]) == (4, 4, 1, 2, 1, 1)
    assert whole["rate"] == 2 / 3 and (whole["low"], whole["high"]) == wilson(2, 3)
    assert table.loc[("benchmark", "miniwob", "base"), "rate"] == 1 and table.loc[("split", "unseen_template", "base"), "rate"] == 0
    assert table.loc[("evaluator", "string_match", "base"), "rate"] == 1 and table.loc[("evaluator", "program_html", "base"), "rate"] == 0
    assert table.loc[("evaluator", "unknown", "base"), "episodes"] == 2 and table.loc[("evaluator", "unknown", "base"), "rate"] == 1
    assert table.loc[("site", "shopping", "big"), "rate"] == 0


def test_costs_are_means_of_an_episode_and_an_endpoint_tells_its_tokens(episodes):
    costs = cost_table(episodes).set_index(["benchmark", "method"])
    base, big = costs.loc[("pocket", "base")], costs.loc[("pocket", "big")]
    assert (base["episodes"], base["turns"], base["context_tokens"], base["reply_tokens"]) == (3, 2, 20, 4)
    assert (base["seconds_model"], base["seconds_browser"], base["seconds"], base["tokens_per_success"]) == (4, 1, 9, 3 * 24)
    assert (big["context_tokens"], big["reply_tokens"]) == (14, 14) and np.isnan(big["tokens_per_success"])


def test_pass_at_k_over_tasks(tmp_path):
    """Task a succeeds in 1 of 4 samples and b in 2 of 3 scored ones: pass@2 is the mean of 1/2 and 1; for k = 4, b has too few."""
    ends = [("a", "sfff"), ("b", "ssfi")]
    seen = [episode(task, member, end) for task, ends in ends for member, end in enumerate(ends)]
    episodes = episode_table([run_of(tmp_path, "r1", seen)[1]], [])
    table = pass_table(episodes).set_index("k")
    assert list(table.index) == [1, 2, 4] and list(table["left_out"]) == [0, 0, 1]
    assert table["rate"].tolist() == pytest.approx([(1 / 4 + 2 / 3) / 2, (1 / 2 + 1) / 2, 1.0])
    assert table.loc[1, "low"] == pytest.approx(1 / 4) and table.loc[1, "high"] == pytest.approx(2 / 3)  # two tasks: both the one, or both the other
    whole = breakdown_table(episodes).iloc[0]
    assert (whole["tasks"], whole["episodes"], whole["rate"]) == (2, 8, 3 / 7)
    assert (whole["low"], whole["high"]) == pytest.approx((1 / 4, 2 / 3))


def test_the_tables_are_written_by_the_stage_of_the_runs(tmp_path):
    settings, run = run_of(tmp_path, "base", [episode("a", m, "s") for m in range(2)], "samples", **{"evaluation.samples": 2})
    tables = make_breakdown(settings, [run])
    for name, table in tables.items():
        assert pd.read_csv(tmp_path / "smoke" / f"samples_{name}.csv").shape == table.shape
    assert set(tables) == {"breakdown", "costs", "pass_at_k"} and tables["pass_at_k"]["k"].tolist() == [1, 2]
    with pytest.raises(AnalysisError, match="one evaluation at least"):
        make_breakdown(settings, [])
