"""The notebooks of the way at the profile `smoke`, through papermill, in order, into folders of their own."""

import os
import shutil

import papermill
import pandas as pd
import pytest

from wr1_utils.notebook import recorded
from wr1_utils.settings import ROOT

NAMES = {path.stem[:2]: path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
READS_RESULTS, READS_WEIGHTS = ("01", "02", "03", "04", "05", "06", "07", "08"), ("01", "02", "03", "04", "07")


def execute(number: str, folder, **parameters) -> dict:
    """Run a notebook at `smoke` with its results and weights in `folder`; what it recorded."""
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # the kernel of this environment
    given = {"profile": "smoke"}
    if number in READS_RESULTS:
        given["results"] = str(folder / "results")
    if number in READS_WEIGHTS:
        given["checkpoints"] = str(folder / "checkpoints")
    target = folder / f"{NAMES[number]}.ipynb"
    papermill.execute_notebook(str(ROOT / "notebooks" / target.name), str(target), {**given, **parameters}, kernel_name="python3", progress_bar=False,
                               cwd=str(ROOT))
    return recorded(target)


def failure(number: str, folder, **parameters) -> str:
    """The error that stops the notebook."""
    with pytest.raises(papermill.PapermillExecutionError) as caught:
        execute(number, folder, **parameters)
    return caught.value.evalue


@pytest.fixture(scope="module")
def way(tmp_path_factory):
    """(folder, what each notebook recorded) after 00 to 05, 07 (few turns, of the base model and R1) and 08."""
    folder = tmp_path_factory.mktemp("way")
    given = {"07": {"methods": "base,r1", "limits": [2, 4, 6]}}
    return folder, {number: execute(number, folder, **given.get(number, {})) for number in ("00", "01", "02", "03", "04", "05", "07", "08")}


def test_an_episode_by_hand_in_both_places(way):
    numbers = way[1]["00"]
    assert (numbers["missing"], numbers["shop_reward"], numbers["miniwob_reward"]) == (0, 0.0, 1.0)
    assert numbers["pictures"] == 3 * 6


def test_experts_solve_the_tasks_and_no_test_task_is_trained_on(way):
    numbers = way[1]["01"]
    assert numbers["train_tasks"] == numbers["test_tasks"] == 8 and numbers["shared_tasks"] == 0
    assert numbers["successes"] == numbers["demonstrations"] == 8 and numbers["infrastructure"] == 0


def test_behaviour_cloning_runs(way):
    """Two steps on eight demonstrations; that the loss falls is tested in tests/training/test_bc.py, with a tiny model."""
    numbers = way[1]["02"]
    assert numbers["demonstrations"] == 8 and numbers["steps"] == 2
    assert 0 < numbers["last_loss"] < 1 and 0 < numbers["first_loss"] < 1  # the base model writes well-formed replies already


def test_reinforcement_learning_trains_on_what_it_sampled(way):
    folder, numbers = way[0], way[1]["03"]
    assert (numbers["variant"], numbers["start"], numbers["steps"]) == ("r1", "bc", 2)
    assert numbers["largest_mismatch_k3"] < 1e-6
    curve = pd.read_csv(folder / "results" / "smoke" / "rl-r1-s0" / "reward_curve.csv")
    assert set(curve["benchmark"]) >= {"all"} and set(curve["step"]) == {1, 2}
    assert (folder / "results" / "smoke" / "rl-r1-s0" / "reward_curve.png").is_file()


def test_the_main_table_holds_what_was_evaluated(way):
    folder, numbers = way[0], way[1]["04"]
    main = pd.read_csv(folder / "results" / "smoke" / "main.csv")
    test = main[(main["split"] == "test") & (main["site"] == "all")]
    assert sorted(zip(test["benchmark"], test["method"])) == [(place, method) for place in ("miniwob", "pocket") for method in ("base", "bc", "r1")]
    for method, rows in test.groupby("method"):
        assert rows["tasks"].sum() == numbers[f"{method}_tasks"] == 8
        assert rows["successes"].sum() == numbers[f"{method}_successes"] and rows["errors"].sum() == numbers[f"{method}_errors"] == 0
    assert way[1]["08"]["rows"] == len(main)


def test_tables_and_figures_are_written(way):
    made = {path.name for path in (way[0] / "results" / "smoke").iterdir()}
    assert made >= {f"{name}.{kind}" for name in ("main", "comparisons") for kind in ("csv", "md", "tex")} | {"success_rates.pdf", "success_rates.png"}


def test_training_dynamics_of_one_seed(way):
    """Two steps are one phase, and one seed has no interval."""
    assert way[1]["05"] == {"seeds": 1, "reward_phases": 1, "trajectory_tokens_phases": 1, "turns_phases": 1}
    folder = way[0] / "results" / "smoke"
    assert pd.read_csv(folder / "dynamics_r1.csv")["low"].isna().all()
    assert {path.name for path in folder.glob("*_r1.*")} == {f"dynamics_r1.{kind}" for kind in ("csv", "pdf", "png")} | {f"phases_r1.{kind}" for kind in ("csv", "md", "tex")}


def test_success_against_the_turn_limit_agrees_with_the_evaluation_at_its_limit(way):
    """The profile's turn limit is 4: cutting rollouts of 6 turns there gives what notebook 04 counted."""
    folder, numbers = way[0] / "results" / "smoke", way[1]["04"]
    table = pd.read_csv(folder / "turn_limits.csv")
    overall = table[table["benchmark"] == "all"].set_index(["method", "limit"])
    assert [overall.loc[(method, 4), "successes"] for method in ("base", "r1")] == [numbers["base_successes"], numbers["r1_successes"]]
    assert way[1]["07"]["errors"] == 0 and set(overall.index.get_level_values("limit")) == {2, 4, 6}
    assert all(list(rows["rate"]) == sorted(rows["rate"]) for _, rows in table.groupby(["benchmark", "method"]))
    assert (folder / "turn_limits.png").is_file() and (folder / "long-r1-s0" / "trajectories.parquet").is_file()


def test_without_the_runs_of_ablations_the_notebook_says_what_is_missing(tmp_path):
    assert execute("06", tmp_path) == {"comparisons": 0}
    said = (tmp_path / "06_ablations.ipynb").read_text(encoding="utf-8")
    assert "./wr1 run --profile data/profiles/ablations/smoke-flat.toml" in said and "notebooks/03_rl_training.ipynb out.ipynb -p profile smoke -p variant r1_zero" in said


def test_ablations_of_the_runs_that_there_are(tmp_path):
    """Of copies of committed runs: R1 beside the base model, from which R1-Zero would start; the same as if it were flat; a curve of two numbers of demonstrations."""
    for name, runs in (("smoke", ("eval-base-s0", "eval-bc-s0", "eval-r1-s0", "bc-short-s0")), ("smoke-flat", ("eval-bc-s0", "eval-r1-s0"))):
        for run in runs:
            shutil.copytree(ROOT / "results" / "laptop" / run, tmp_path / "results" / name / run)
    numbers = execute("06", tmp_path)
    assert numbers == {"comparisons": 3, "ablation_initialisation_settings": 2, "ablation_context_settings": 2, "demonstrations_curve_settings": 2}
    folder = tmp_path / "results" / "smoke"
    table = pd.read_csv(folder / "ablation_context.csv")
    assert (table["difference"].dropna() == 0).all() and set(table["profile"]) == {"smoke", "smoke-flat"} and table["changed"].isna().all()
    for name in ("ablation_initialisation", "ablation_context", "demonstrations_curve"):
        assert {path.suffix for path in folder.glob(f"{name}.*")} == {".csv", ".md", ".tex", ".pdf", ".png"}


def test_reinforcement_learning_runs_alone_from_the_base_model(tmp_path):
    assert execute("03", tmp_path, variant="r1_zero")["start"] == "base"


def test_reinforcement_learning_from_paragraphs(tmp_path):
    """01 and 02 with style cot, then r1_cot, and both evaluated; a missing start names the notebook and its parameter."""
    small = {"overrides": {"tasks.benchmarks": ["pocket"], "demos.count": 3, "rl.steps": 1, "tasks.test_limit": 1}}
    assert "02_bc_warmup with profile smoke and style cot" in failure("03", tmp_path, variant="r1_cot", **small)
    assert execute("01", tmp_path, style="cot", **small)["successes"] == 3
    assert execute("02", tmp_path, style="cot", **small)["demonstrations"] == 3
    assert execute("03", tmp_path, variant="r1_cot", **small)["start"] == "bc_cot"
    assert execute("04", tmp_path, methods="bc_cot,r1_cot", **small)["r1_cot_tasks"] == 1
    tables = {f"eval_{name}.{kind}" for name in ("breakdown", "costs", "pass_at_k") for kind in ("csv", "md", "tex")}
    assert {path.name for path in (tmp_path / "results" / "smoke").iterdir()} == {"demos-cot-s0", "bc-cot-s0", "rl-r1_cot-s0", "eval-bc_cot-s0", "eval-r1_cot-s0"} | tables


def test_any_policy_with_several_samples_on_another_benchmark(tmp_path, tiny_model):
    """A folder's model beside the base model on MiniWoB++ alone: results apart from the profile's, pass@1 and pass@2."""
    few = {"overrides": {"tasks.miniwob_envs": ["click-button", "click-test-2"]}}
    numbers = execute("04", tmp_path, methods=f"base,tiny={tiny_model}", benchmark="miniwob", split="seen_template", samples=2, **few)
    assert numbers["base_tasks"] == numbers["tiny_tasks"] > 0 and numbers["base_errors"] == 0 and numbers["tiny_successes"] == 0
    folder = tmp_path / "results" / "smoke-on-miniwob"
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {"samples_seen_template-base-s0", "samples_seen_template-tiny-s0"}
    assert set(pd.read_csv(folder / "samples_seen_template_pass_at_k.csv")["k"]) == {1, 2}


@pytest.mark.parametrize("number, first", [("02", "01_tasks_and_demonstrations"), ("03", "02_bc_warmup"), ("05", "03_rl_training"), ("08", "04_evaluation")])
def test_a_notebook_opened_too_early_says_which_to_run(number, first, tmp_path):
    assert first in failure(number, tmp_path)


def test_a_parameter_that_the_notebook_does_not_have_stops_it(tmp_path):
    assert "varient" in failure("03", tmp_path, varient="r1")
    assert "profile" in failure("08", tmp_path, profile="smok")
