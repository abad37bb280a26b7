"""Settings side by side, counted by hand; what is missing is said and the rest is compared."""

import dataclasses
import re

import pandas as pd
import pytest

from wr1_utils.analysis import ablations
from wr1_utils.analysis.ablations import ABLATIONS, ablation_table, compact_ablation, make_ablation, make_demonstrations_curve, paper_ablation
from wr1_utils.analysis.paper import paper_results
from wr1_utils.analysis.tables import AnalysisError
from wr1_utils.demonstrations import leave_out
from wr1_utils.runs import open_run
from wr1_utils.settings import PROFILES, ROOT, load_settings, to_dict
from wr1_utils.tasks import train_tasks
from wr1_utils.trajectory import Trajectory, Turn, write_trajectories


def episodes(setting, stage, rewards, turns=2, seed=0, benchmark="pocket"):
    rows = [{"method": "r1", "seed": seed, "benchmark": benchmark, "split": "seen_template", "site": "shopping", "task_id": f"{benchmark}{n}", "reward": reward, "turns": turns, "reply_tokens": 10}
            for n, reward in enumerate(rewards)]
    return pd.DataFrame(rows).astype({"reward": float}).assign(setting=setting, stage=stage, profile="laptop", changed="", mismatch=None)


def test_the_table_by_hand():
    """Exact solves 1 of 4 tasks and then 3; flat 1 and then 1, of 3 that could be scored."""
    table = ablation_table(pd.concat([
        episodes("exact", "before RL", [1, 0, 0, 0]), episodes("exact", "after RL", [1, 1, 1, 0], turns=5),
        episodes("flat", "before RL", [1, 0, 0, 0]), episodes("flat", "after RL", [1, 0, 0, None])]), "exact", resamples=1000)
    assert list(zip(table["setting"], table["stage"])) == [("exact", "before RL"), ("exact", "after RL"), ("flat", "before RL"), ("flat", "after RL")]
    assert set(table["benchmark"]) == {"pocket"} and set(table["reference"]) == {"exact"}
    assert list(table["successes"]) == [1, 3, 1, 1] and list(table["errors"]) == [0, 0, 0, 1] and list(table["rate"]) == pytest.approx([1 / 4, 3 / 4, 1 / 4, 1 / 3])
    assert list(table["turns"]) == [2, 5, 2, 2] and list(table["reply_tokens"]) == [5, 2, 5, 5]  # 10 tokens an episode
    assert list(table["gain"].fillna(9)) == [9, 0.5, 9, 0]  # of the three tasks scored at both stages: 1, 0, 0 and 1, 0, 0
    assert list(table["difference"].fillna(9)) == pytest.approx([9, 9, 0, -2 / 3])
    low, high = table.iloc[3][["difference_low", "difference_high"]]
    assert low == -1 and high == 0 and 0 < table.iloc[3]["difference_p"] <= 1


def test_places_come_in_order_and_seeds_are_pooled():
    parts = [episodes(setting, "after RL", [seed, 1], seed=seed, benchmark=benchmark) for setting in ("paper", "constant") for benchmark in ("pocket", "miniwob") for seed in (0, 1)]
    table = ablation_table(pd.concat(parts), "paper", resamples=100)
    assert list(zip(table["benchmark"], table["setting"])) == [(place, setting) for place in ("miniwob", "pocket", "all") for setting in ("paper", "constant")]
    assert set(table["seeds"]) == {2} and list(table["tasks"]) == [4, 4, 4, 4, 8, 8] and list(table["successes"]) == [3, 3, 3, 3, 6, 6]
    assert table["gain"].isna().all() and set(table["difference"].dropna()) == {0}


# ---- from the runs of profiles ---------------------------------------------------------------------------------------------------


@pytest.fixture
def settings(tmp_path):
    return load_settings("laptop", results=str(tmp_path / "results"), checkpoints=str(tmp_path / "weights"))


def finish(settings, method, solved, suffix="", **changes):
    """A finished evaluation of four tasks in `<profile>-<suffix>`, of which the first ones are solved."""
    settings = dataclasses.replace(settings, profile="-".join(filter(None, [settings.profile, suffix])), **changes)
    turn = Turn(url="", title="", observation="", context_ids=[1], reply_ids=[1, 2, 3], logprobs=[], reply="", action="", error="", seconds_model=0.0, seconds_browser=0.0)
    run = open_run(settings, "eval", method)
    write_trajectories(run.path("trajectories.parquet"), [
        Trajectory(run="", task_id=f"t{n}", benchmark="pocket", site="shopping", template="", split="seen_template", intent="", group=0, member=0, seed=0, policy="",
                   status="success" if n < solved else "failure", reward=float(n < solved), answer=None, error="", seconds=0.0, turns=[turn, turn]) for n in range(4)])
    run.save_summary({})


def test_runs_of_two_profiles_lie_side_by_side_and_what_differs_is_named(settings, capsys):
    for method, solved in (("bc", 1), ("r1", 3)):
        finish(settings, method, solved)
    assert make_ablation(settings, "context") is None
    said = capsys.readouterr().out
    assert "ablation_context, flat: there is no finished evaluation of bc, r1 in laptop-flat; ./wr1 run --profile data/profiles/ablations/laptop-flat.toml makes it." in said
    assert "nothing to compare yet" in said
    finish(settings, "r1", 2, "flat", training=dataclasses.replace(settings.training, context="flat"), rl=dataclasses.replace(settings.rl, steps=7))
    run = open_run(dataclasses.replace(settings, profile="laptop-flat"), "rl", "r1")
    for step, mismatch in ((1, 0.2), (2, 0.4)):
        run.log_metrics(step, {"mismatch": mismatch})
    csv = make_ablation(settings, "context")
    assert "no finished evaluation of bc in laptop-flat" in capsys.readouterr().out
    table = pd.read_csv(csv)
    assert list(zip(table["profile"], table["method"], table["successes"])) == [("laptop", "bc", 1), ("laptop", "r1", 3), ("laptop-flat", "r1", 2)]
    assert table["changed"].fillna("").tolist() == ["", "", "rl.steps, training.context"]
    assert table["mismatch"].fillna(9).tolist() == pytest.approx([9, 9, 0.3])
    assert csv.name == "ablation_context.csv" and csv.with_suffix(".md").is_file() and csv.with_suffix(".tex").is_file()
    assert "| flat      | after RL  |   2 of 4 |" in compact_ablation(csv) and "+50.0" in compact_ablation(csv)


def test_what_wr1_run_does_not_make_is_said_with_its_notebooks(settings, capsys):
    for method in ("base", "bc", "r1"):
        finish(settings, method, 2)
    table = pd.read_csv(make_ablation(settings, "initialisation"))
    assert list(table["setting"]) == ["R1", "R1", "R1-Zero"] and list(table["method"]) == ["bc", "r1", "base"]
    zero, cot = capsys.readouterr().out.splitlines()
    assert zero.endswith("of r1_zero in laptop; .venv/bin/papermill notebooks/03_rl_training.ipynb out.ipynb -p profile laptop -p variant r1_zero && "
                         ".venv/bin/papermill notebooks/04_evaluation.ipynb out.ipynb -p profile laptop -p methods r1_zero makes it.")
    for command in ("01_tasks_and_demonstrations.ipynb out.ipynb -p profile laptop -p style cot", "02_bc_warmup.ipynb out.ipynb -p profile laptop -p style cot", "-p methods bc_cot,r1_cot"):
        assert command in cot
    for notebook in re.findall(r"notebooks/\w+\.ipynb", zero + cot):
        assert (ROOT / notebook).is_file()


def test_the_curve_takes_its_numbers_from_the_warm_ups(settings, capsys):
    """20 of each place were asked for and 40 cloned; the next start has 100; the profiles without a run are named."""
    finish(settings, "base", 0)
    for suffix, number, solved in (("", 40, 1), ("demos-50", 100, 2)):
        open_run(dataclasses.replace(settings, profile="-".join(filter(None, ["laptop", suffix]))), "bc", "short").save_summary({"demonstrations": number})
        finish(settings, "bc", solved, suffix, demos=dataclasses.replace(settings.demos, count=number // 2))
    finish(settings, "r1", 3)
    csv = make_demonstrations_curve(settings)
    table = pd.read_csv(csv)
    assert list(zip(table["setting"], table["stage"], table["successes"])) == [(0, "before RL", 0), (40, "before RL", 1), (40, "after RL", 3), (100, "before RL", 2)]
    assert set(table["reference"]) == {40} and list(table["changed"].fillna("")) == ["", "", "", "demos.count"]
    said = capsys.readouterr().out
    assert "./wr1 run --profile data/profiles/ablations/laptop-demos-400.toml" in said and "no finished evaluation of r1 in laptop-demos-50" in said


def test_without_any_run_everything_is_said_and_nothing_written(settings, capsys, tmp_path):
    assert [make_ablation(settings, name) for name in ABLATIONS] == [None] * len(ABLATIONS) and make_demonstrations_curve(settings) is None
    assert not (tmp_path / "results").exists() and "./wr1 run --profile laptop makes it" in capsys.readouterr().out
    small = dataclasses.replace(settings, profile="smoke")
    assert make_ablation(small, "normalizer") is None
    assert 'smoke-constant.toml (a profile to be written first: extends = "smoke"' in capsys.readouterr().out


def test_an_unknown_ablation_is_refused(settings):
    with pytest.raises(AnalysisError, match="no ablation 'contxt'.*did you mean 'context'"):
        make_ablation(settings, "contxt")


# ---- the profiles, and the paper's numbers ---------------------------------------------------------------------------------------

CHANGES = {
    "bare": {"demos.style": "bare", "model.reply_style": "bare"}, "constant": {"rl.normalizer": "constant"}, "whole": {"episode.compress": False},
    "flat": {"training.context": "flat"}, **{f"demos-{n}": {"demos.count": n} for n in (25, 50, 100)},
    "demos-200": {"demos.count": 200, "demos.task_sets": 2}, "demos-400": {"demos.count": 400, "demos.task_sets": 3},
}


def flat(tree, prefix=""):
    return {name: value for key, one in tree.items() for name, value in (flat(one, f"{prefix}{key}.") if isinstance(one, dict) else {prefix + key: one}).items()}


def test_a_profile_of_an_ablation_changes_what_it_is_about_and_nothing_else():
    files = {file.stem: file for file in (PROFILES / "ablations").glob("*.toml")}
    assert set(files) == {f"laptop-{suffix}" for suffix in CHANGES}
    assert {arm.suffix for arms in ABLATIONS.values() for arm in arms} <= {"", *CHANGES}
    laptop = flat(to_dict(load_settings("laptop")))
    for suffix, wanted in CHANGES.items():
        settings = load_settings(str(files[f"laptop-{suffix}"]))
        changed = flat(to_dict(settings))
        assert settings.run.methods == ("r1",) and settings.run.seeds == (0,)  # whatever more laptop makes
        assert {name: changed[name] for name in changed if changed[name] != laptop[name] and not name.startswith("run.")} == {"profile": f"laptop-{suffix}", **wanted}


def test_there_are_as_many_tasks_as_are_to_be_demonstrated():
    for file in (PROFILES / "ablations").glob("laptop-demos-*.toml"):
        settings = load_settings(str(file))
        tasks = train_tasks(settings, settings.demos.task_sets)
        for benchmark in settings.tasks.benchmarks:
            mine = [task for task in tasks if task.benchmark == benchmark]
            assert len(leave_out(mine, settings.demos.left_out, settings.seed)) >= settings.demos.count


def test_what_the_paper_reports():
    start = paper_ablation("initialisation").set_index(["setting", "stage"])["rate"]
    assert dict(start) == {("R1", "before RL"): 20.0, ("R1", "after RL"): 33.9, ("R1-Zero", "before RL"): 6.1, ("R1-Zero", "after RL"): 4.8,
                           ("R1-CoT", "before RL"): 24.5, ("R1-CoT", "after RL"): 30.3}
    thinking = paper_ablation("thinking")
    assert len(thinking) == 6 and set(thinking["source"]) == {"second hand"} and set(thinking["setting"]) == {arm.setting for arm in ABLATIONS["thinking"]}
    prompted = paper_results().query("method == 'prompting' and site == 'all'").set_index("model")["rate"]
    assert all(row.rate == prompted[row.model] for row in thinking[thinking["setting"] == "thinking"].itertuples())  # the main table has them too
    assert paper_ablation("context").empty


def test_a_slip_in_the_typed_numbers_is_named(tmp_path):
    (tmp_path / "typed.csv").write_text(ablations.PAPER_ABLATIONS.read_text().replace("second hand", "hearsay", 1))
    with pytest.raises(AnalysisError, match="line 2: .*'hearsay'"):
        paper_ablation("thinking", tmp_path / "typed.csv")
