import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from wr1_utils.analysis import tables
from wr1_utils.analysis.tables import AnalysisError
from wr1_utils.runs import find_run
from wr1_utils.settings import ROOT, load_settings
from wr1_utils.tasks.task import Task
from wr1_utils.trajectory import Trajectory, Turn, write_trajectories


def episode(task_id, reward, benchmark="pocket", split="unseen_template", turns=2, status=""):
    turn = Turn("http://shopping.localhost/", "Shop", "page Shop", [1, 2, 3], [4] * 5, [], "exit()", "exit()", "", 0.1, 0.1)
    status = status or {1.0: "success", 0.0: "failure", None: "infrastructure"}[reward]
    site = "shopping" if benchmark == "pocket" else benchmark
    return Trajectory("run", task_id, benchmark, site, "1", split, "Buy a mug", 0, 0, 0, "p", status, reward, None, "", 1.0, [turn] * turns)


def evaluation(folder: Path, method: str, episodes: list[Trajectory], seed: int = 0) -> None:
    run = folder / f"eval-{method}-s{seed}"
    write_trajectories(run / "trajectories.parquet", episodes)
    (run / "summary.json").write_text(json.dumps({}))


@pytest.fixture
def folder(tmp_path) -> Path:
    """base 0 of 4, bc 1 of 3 and an error, r1 3 of 4 in the Pocket Arena; bc 1 and r1 2 of 2 on MiniWoB++."""
    made = tmp_path / "smoke"
    seen = {"split": "seen_template"}
    web = {"benchmark": "miniwob"}
    evaluation(made, "base", [episode(str(n), 0.0) for n in range(3)] + [episode("3", 0.0, **seen), episode("m0", 0.0, **web), episode("m1", 0.0, **web)])
    evaluation(made, "bc", [episode("0", 1.0), episode("1", 0.0, turns=4), episode("2", None), episode("3", 0.0, **seen),
                            episode("m0", 1.0, **web), episode("m1", 0.0, **web)])
    evaluation(made, "r1", [episode("0", 1.0), episode("1", 1.0), episode("2", 0.0), episode("3", 1.0, **seen),
                            episode("m0", 1.0, **web), episode("m1", 1.0, **web)])
    return made


def row(table: pd.DataFrame, **wanted) -> pd.Series:
    for name, value in wanted.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_main_table_counts_by_hand(folder):
    table = tables.main_table(tables.load_evaluations(folder))
    assert list(table.columns) == ["benchmark", "split", "site", "method", "seed", "tasks", "successes", "errors", "rate", "low", "high", "turns", "reply_tokens"]
    assert set(table["split"]) == {"test", "seen_template", "unseen_template"} and set(table["site"]) == {"all", "shopping", "miniwob"}
    bc = row(table, benchmark="pocket", split="test", site="all", method="bc")
    assert (bc["tasks"], bc["successes"], bc["errors"], bc["seed"]) == (4, 1, 1, "0")
    assert bc["rate"] == pytest.approx(1 / 3)  # the error is neither success nor failure
    assert (bc["low"], bc["high"]) == pytest.approx((0.0615, 0.7923), abs=1e-4)  # Wilson, 1 of 3, worked by hand
    assert bc["turns"] == pytest.approx((2 + 4 + 2) / 3) and bc["reply_tokens"] == 5
    assert row(table, benchmark="pocket", split="unseen_template", site="shopping", method="r1")["successes"] == 2
    assert list(table["method"].unique()) == ["base", "bc", "r1"]


def test_an_unscored_episode_is_an_error_and_a_cut_one_a_failure(tmp_path):
    evaluation(tmp_path, "bc", [episode("0", None, status="failure"), episode("1", 0.0, status="turn_limit")])
    found = row(tables.main_table(tables.load_evaluations(tmp_path)), split="test", site="all")
    assert (found["tasks"], found["errors"], found["rate"]) == (2, 1, 0)


def test_several_seeds_are_pooled_without_counting_tasks_twice_in_the_interval(tmp_path):
    evaluation(tmp_path, "r1", [episode(str(n), 1.0) for n in range(10)], seed=0)
    evaluation(tmp_path, "r1", [episode(str(n), 0.0) for n in range(10)], seed=1)
    table = tables.main_table(tables.load_evaluations(tmp_path))
    pooled = row(table, split="test", site="all", seed="pooled")
    assert (pooled["tasks"], pooled["successes"], pooled["rate"]) == (20, 10, 0.5)
    assert (pooled["low"], pooled["high"]) == pytest.approx((0.2366, 0.7634), abs=1e-4)  # Wilson of 5 of 10


def test_comparisons_pair_tasks_and_leave_out_those_without_a_score(folder):
    table = tables.comparison_table(tables.load_evaluations(folder))
    assert list(table["benchmark"]) == ["miniwob", "pocket", "all"] * 2
    r1 = row(table, benchmark="pocket", method="r1", reference="bc")
    assert (r1["tasks"], r1["unpaired"]) == (3, 1)
    assert r1["difference"] == pytest.approx(2 / 3) and r1["low"] == pytest.approx(0) and r1["high"] == 1
    assert (r1["gained"], r1["lost"], r1["p"]) == (2, 0, 0.5)  # McNemar by hand: 2 / 2^2
    assert row(table, benchmark="all", method="bc")["p_holm"] == 1 == table["p_holm"].max() and (table["p_holm"] >= table["p"]).all()
    both = row(table, benchmark="all", method="r1")
    assert both["tasks"] == 5 and both["difference"] == pytest.approx(3 / 5)


def test_twins_hold_the_very_digits_of_the_csv(folder):
    csv = tables.write_table(tables.main_table(tables.load_evaluations(folder)), folder / "main")
    cells = [line.split(",") for line in csv.read_text().splitlines()]
    pipes = [[cell.strip() for cell in line.strip("|").split("|")] for line in csv.with_suffix(".md").read_text().splitlines()]
    ampersands = [line.removesuffix(r"\\").split("&") for line in csv.with_suffix(".tex").read_text().splitlines() if "&" in line]
    assert pipes[:1] + pipes[2:] == cells
    assert [[cell.strip().replace("\\_", "_") for cell in line] for line in ampersands] == cells


def test_a_small_p_value_is_not_written_as_zero(tmp_path):
    csv = tables.write_table(pd.DataFrame({"p": [0.0, 2.5e-9, 0.25, None]}), tmp_path / "t")
    assert csv.read_text().split() == ["p", "0.000000", "2.50e-09", "0.250000", '""']


def test_compact_table_is_made_from_the_csvs_alone(folder):
    settings = load_settings("smoke", results=str(folder.parent))
    assert tables.make_tables(settings) == folder
    for run in folder.glob("eval-*"):
        (run / "trajectories.parquet").unlink()
    text = tables.compact_table(folder)
    assert "| Pocket Arena | BC" in text and "| MiniWoB++    | R1" in text
    line = next(line for line in text.splitlines() if line.startswith("| Pocket Arena | BC "))
    assert [cell.strip() for cell in line.strip("|").split("|")] == ["Pocket Arena", "BC", "1", "4", "1", "33.3", "6.1 to 79.2"]
    assert "R1 − BC" in text and "+66.7" in text


def test_unfinished_and_set_aside_evaluations_are_no_results(folder):
    (folder / "eval-r1-s0" / "summary.json").unlink()
    (folder / "eval-bc-s0").rename(folder / "eval-bc-s0.old")
    assert set(tables.load_evaluations(folder)["method"]) == {"base"}
    with pytest.raises(AnalysisError, match="of r1 .* 04_evaluation with profile=smoke and methods=r1"):
        tables.load_evaluations(folder, methods=("base", "r1"))


def test_missing_results_say_which_notebook_to_run(tmp_path):
    with pytest.raises(AnalysisError, match="04_evaluation"):
        tables.load_evaluations(tmp_path / "smoke")
    with pytest.raises(AnalysisError, match="08_main_results"):
        tables.compact_table(tmp_path)
    with pytest.raises(AnalysisError, match="03_rl_training with variant=r1"):
        tables.make_reward_curve(find_run(load_settings("smoke", results=str(tmp_path)), "rl", "r1"))


def test_reward_curve_has_the_raw_rate_and_a_running_mean_of_each_place():
    metrics = pd.DataFrame({"step": [1, 2, 3], "success_rate": [0.0, 0.5, 1.0], "success_rate_pocket": [0.0, 1.0, 1.0]})
    table = tables.reward_curve_table(metrics, window=2)
    assert list(table["benchmark"]) == ["all"] * 3 + ["pocket"] * 3
    assert list(table["running_mean"]) == [0, 0.25, 0.75, 0, 0.5, 1]


def test_readme_markers_are_filled_and_the_rest_kept(folder, tmp_path):
    tables.make_tables(load_settings("smoke", results=str(folder.parent)))
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- begin table smoke -->\nold\n<!-- end table smoke -->\nafter\n")
    once = tables.update_readme(readme, folder.parent)
    assert once == f"before\n<!-- begin table smoke -->\n{tables.compact_table(folder)}\n<!-- end table smoke -->\nafter\n"
    assert tables.update_readme(readme, folder.parent) == once == readme.read_text()


def test_the_readme_shows_the_numbers_of_the_committed_results(tmp_path):
    """No number of the README's tables is typed by hand. Compared as tracked by git, so that a demo run of one's own does not matter."""
    readme = _tracked("README.md")
    profiles = re.findall(r"<!-- begin table (\w+) -->", readme)
    assert "demo" in profiles
    for profile in profiles:
        (tmp_path / profile).mkdir()
        for name in ("main.csv", "comparisons.csv"):
            (tmp_path / profile / name).write_text(_tracked(f"results/{profile}/{name}"))
    assert tables.fill_markers(readme, lambda profile: tables.compact_table(tmp_path / profile)) == readme


def _tracked(path: str) -> str:
    found = subprocess.run(["git", "-C", str(ROOT), "show", f":{path}"], capture_output=True, text=True, encoding="utf-8")
    return found.stdout if found.returncode == 0 else (ROOT / path).read_text(encoding="utf-8")


def test_analysis_needs_no_model():
    code = "import sys, wr1_utils.analysis.tables, wr1_utils.analysis.figures; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_tasks_and_episodes_are_counted_by_template():
    tasks = [Task(str(n), ("shopping",), "__SHOPPING__/", f"Buy mug {n}", "Buy {{x}}", 7, {}, False, False, {}, "train") for n in range(3)]
    counted = row(tables.count_tasks(tasks), benchmark="pocket", split="train", template="7")
    assert (counted["tasks"], counted["example"]) == (3, "Buy mug 0")
    counted = row(tables.count_episodes([episode("0", 1.0), episode("1", 0.0, turns=4), episode("2", None)]), template="1")
    assert tuple(counted[["episodes", "successes", "errors"]]) == (3, 1, 1) and counted["turns"] == pytest.approx(8 / 3)
