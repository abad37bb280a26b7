import hashlib
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from PIL import Image

from wr1_utils.analysis import figures
from wr1_utils.analysis.dynamics import dynamics_table
from wr1_utils.analysis.tables import AnalysisError, reward_curve_table
from wr1_utils.settings import ROOT

COMMITTED = sorted(png for png in (ROOT / "results").rglob("*.png") if png.with_suffix(".pdf").is_file() and not png.parent.name.endswith(".old"))


@pytest.fixture
def curve(tmp_path):
    metrics = pd.DataFrame({"step": range(1, 9), "success_rate": [0.1 * n for n in range(8)], "success_rate_pocket": [0.1] * 8, "success_rate_miniwob": [0.5] * 8})
    reward_curve_table(metrics).to_csv(tmp_path / "reward_curve.csv", index=False)
    return tmp_path / "reward_curve.csv"


@pytest.fixture
def main(tmp_path):
    rows = [(place, split, "all", method, "0", rate, rate - 0.1, rate + 0.1) for place in ("pocket", "miniwob") for split in ("test", "unseen_template")
            for method, rate in (("base", 0.1), ("bc", 0.4), ("r1", 0.7))]
    pd.DataFrame(rows, columns=["benchmark", "split", "site", "method", "seed", "rate", "low", "high"]).to_csv(tmp_path / "main.csv", index=False)
    return tmp_path / "main.csv"


def test_each_figure_is_a_png_and_a_pdf_beside_its_csv(curve, main, tmp_path):
    pd.DataFrame({"step": [1, 2, 3], "loss": [2.0, 1.0, 0.5]}).to_csv(tmp_path / "metrics.csv", index=False)
    for draw, csv, name in ((figures.draw_reward_curve, curve, "reward_curve"), (figures.draw_success_rates, main, "success_rates"),
                            (figures.draw_loss, tmp_path / "metrics.csv", "loss")):
        png = draw(csv)
        assert png == tmp_path / f"{name}.png" and png.read_bytes().startswith(b"\x89PNG")
        assert png.with_suffix(".pdf").read_bytes().startswith(b"%PDF")


def test_the_same_csv_gives_the_same_bytes(curve):
    png = figures.draw_reward_curve(curve)
    before = png.read_bytes(), png.with_suffix(".pdf").read_bytes()
    figures.draw_reward_curve(curve)
    assert (png.read_bytes(), png.with_suffix(".pdf").read_bytes()) == before


def test_every_method_and_place_has_a_colour_of_its_own():
    assert set(figures.METHOD_COLOURS) == set(figures.METHODS)
    for colours in (figures.METHOD_COLOURS, figures.BENCHMARK_COLOURS):
        assert len(set(colours.values())) == len(colours)


def test_a_csv_that_cannot_be_drawn_is_named(tmp_path, curve):
    with pytest.raises(AnalysisError, match="no such file"):
        figures.draw_reward_curve(tmp_path / "none.csv")
    with pytest.raises(AnalysisError, match="column 'loss' is missing"):
        figures.draw_loss(curve)
    (tmp_path / "empty.csv").write_text("step,loss\n")
    with pytest.raises(AnalysisError, match="no row"):
        figures.draw_loss(tmp_path / "empty.csv")


# ---- the data behind a figure ----------------------------------------------------------------------------------------------------


@pytest.fixture
def drawn(monkeypatch):
    """A function (draw, csv) that gives the axes of a figure instead of saving it."""
    kept = []
    monkeypatch.setattr(figures, "_save", lambda figure, csv, name: kept.append(figure))

    def axes_of(draw, csv):
        draw(csv)
        return kept[-1].axes

    return axes_of


def line(axes, label):
    (found,) = [one for one in axes.lines if one.get_label() == label]
    return found.get_xdata(), found.get_ydata()


def test_the_reward_curve_shows_the_numbers_of_its_csv(drawn, curve):
    (axes,) = drawn(figures.draw_reward_curve, curve)
    table = pd.read_csv(curve)
    for place, label in (("all", "all tasks"), ("pocket", "Pocket Arena"), ("miniwob", "MiniWoB++")):
        steps, values = line(axes, label)
        rows = table[table["benchmark"] == place]
        assert list(steps) == list(rows["step"]) and list(values) == pytest.approx(list(100 * rows["running_mean"]))


def test_the_bars_are_the_rates_and_intervals_of_the_test_rows(drawn, main):
    (axes,) = drawn(figures.draw_success_rates, main)
    heights = {bars.get_label(): [bar.get_height() for bar in bars] for bars in axes.containers if hasattr(bars, "patches")}
    assert heights == {"Base": pytest.approx([10, 10]), "BC": pytest.approx([40, 40]), "R1": pytest.approx([70, 70])}
    ends = sorted({round(float(y)) for lines in axes.collections for segment in lines.get_segments() for y in segment[:, 1]})
    assert ends == [0, 20, 30, 50, 60, 80]


def metrics(*rewards):
    return {seed: pd.DataFrame({"step": range(1, 13), "reward": reward, "trajectory_tokens": 40.0, "turns": 3.0}) for seed, reward in enumerate(rewards)}


def dynamics(folder, *rewards):
    dynamics_table(metrics(*rewards)).to_csv(folder / "dynamics_r1.csv", index=False)
    return folder / "dynamics_r1.csv"


def test_one_seed_is_shown_without_a_band_and_says_so(drawn, tmp_path):
    reward, *others = drawn(figures.draw_training_dynamics, dynamics(tmp_path, [0.0] * 6 + [1.0] * 6))
    assert len(others) == 2 and not reward.collections
    assert list(line(reward, "a seed")[1]) == [0.0] * 6 + [1.0] * 6
    assert list(line(reward, "fitted line of a phase")[1]) == pytest.approx([0] * 6)
    assert [float(one.get_xdata()[0]) for one in reward.lines if one.get_linestyle() == ":"] == [6.5]  # the change of phase
    assert reward.figure.legends[0].get_title().get_text() == "one seed (0): no band"


def test_several_seeds_are_thin_lines_with_the_interval_of_their_mean(drawn, tmp_path):
    csv = dynamics(tmp_path, [0.2] * 12, [0.4] * 12, [0.6] * 12)
    reward = drawn(figures.draw_training_dynamics, csv)[0]
    assert [one.get_ydata()[0] for one in reward.lines if one.get_linewidth() < 1 and one.get_linestyle() == "-"] == [0.2, 0.4, 0.6]
    assert list(line(reward, "mean of 3 seeds")[1]) == pytest.approx([0.4] * 12)
    band = reward.collections[0].get_paths()[0].vertices[:, 1]
    row = pd.read_csv(csv, dtype={"seed": str}).query("seed == 'mean' and measure == 'reward'").iloc[0]
    assert (band.min(), band.max()) == pytest.approx((row["low"], row["high"]))
    assert reward.figure.legends[0].get_title().get_text() == ""


def comparisons(folder, low, p_holm):
    rows = [("pocket", "bc", "base", 0.1, -0.05, 0.25, 0.4), ("all", "bc", "base", 0.1, 0.02, 0.2, 0.3), ("all", "r1", "bc", 0.2, low, 0.3, p_holm)]
    pd.DataFrame(rows, columns=["benchmark", "method", "reference", "difference", "low", "high", "p_holm"]).to_csv(folder / "comparisons.csv", index=False)
    return folder / "comparisons.csv"


@pytest.mark.parametrize("low, p_holm, title", [(0.1, 0.01, "Beyond chance over all tasks (95 % interval):\nR1 − BC: +20.0 points (+10.0 to +30.0)"), (0.1, 0.06, ""), (-0.01, 0.01, "")])
def test_differences_are_shown_with_intervals_and_stated_only_where_these_and_the_test_support_it(drawn, tmp_path, low, p_holm, title):
    (axes,) = drawn(figures.draw_comparisons, comparisons(tmp_path, low, p_holm))
    assert [text.get_text() for text in axes.get_yticklabels()] == ["R1 − BC, all tasks", "BC − Base, all tasks", "BC − Base, Pocket Arena"]  # from below
    points = [container.lines[0] for container in axes.containers]
    assert [float(one.get_xdata()[0]) for one in points] == pytest.approx([20, 10, 10])
    assert [one.get_markerfacecolor() == "white" for one in points] == [low < 0, False, True]  # hollow where the interval has 0 in it
    ends = [[float(x) for x in container.lines[2][0].get_segments()[0][:, 0]] for container in axes.containers]
    assert ends == [pytest.approx([100 * low, 30]), pytest.approx([2, 20]), pytest.approx([-5, 25])]
    assert (axes.figure.get_suptitle() or "") == title


def test_lines_and_bars_are_told_apart_without_colours(drawn, curve, main):
    (axes,) = drawn(figures.draw_reward_curve, curve)
    assert len({one.get_linestyle() for one in axes.lines if not one.get_label().startswith("_")}) == 3
    (axes,) = drawn(figures.draw_success_rates, main)
    hatches = [bars[0].get_hatch() for bars in axes.containers if hasattr(bars, "patches")]
    assert all(one != other for one, other in zip(hatches, hatches[1:]))  # neighbours


def turn_limits(folder, gain_low):
    rows = [(place, method, limit, rate, rate - 0.05, rate + 0.05, rate - 0.2, gain_low, 0.4) for place in ("pocket", "all") for method in ("bc", "r1")
            for limit, rate in ((5, 0.2), (30, 0.4))]
    columns = ["benchmark", "method", "limit", "rate", "low", "high", "gain", "gain_low", "gain_high"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "turn_limits.csv", index=False)
    return folder / "turn_limits.csv"


def test_turn_limits_show_the_rates_and_state_a_gain_only_if_its_interval_supports_it(drawn, tmp_path):
    panels = drawn(figures.draw_turn_limits, turn_limits(tmp_path, 0.1))
    assert [axes.get_title() for axes in panels] == ["Pocket Arena", "all tasks"]
    for axes in panels:
        assert [list(container.lines[0].get_ydata()) for container in axes.containers] == [pytest.approx([20, 40])] * 2
        assert [float(y) for y in axes.containers[0].lines[2][0].get_segments()[0][:, 1]] == pytest.approx([15, 25])
    assert panels[0].figure.get_suptitle() == "More turns help R1: +20.0 points from 5 to 30 turns\n(95 % interval +10.0 to +40.0)"
    assert drawn(figures.draw_turn_limits, turn_limits(tmp_path, 0.0))[0].figure.get_suptitle() == ""


def ablation(folder, name, low, settings=("exact", "flat")):
    rows = [(place, setting, stage, settings[0], rate, rate - 0.05, rate + 0.05, 12.5, 3.5, *((-0.1, low, -0.01) if setting != settings[0] and stage == "after RL" else (None,) * 3))
            for place in ("pocket", "all") for setting in settings for stage, rate in (("before RL", 0.2), ("after RL", 0.4 if setting == settings[0] else 0.3))]
    columns = ["benchmark", "setting", "stage", "reference", "rate", "low", "high", "reply_tokens", "turns", "difference", "difference_low", "difference_high"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / f"{name}.csv", index=False)
    return folder / f"{name}.csv"


def test_an_ablation_shows_three_measures_before_and_after_over_all_tasks(drawn, tmp_path):
    success, tokens, turns = drawn(figures.draw_ablation, ablation(tmp_path, "ablation_context", -0.2))
    for axes, before, after in ((success, [20, 20], [40, 30]), (tokens, [12.5] * 2, [12.5] * 2), (turns, [3.5] * 2, [3.5] * 2)):
        heights = {bars.get_label(): [bar.get_height() for bar in bars] for bars in axes.containers if hasattr(bars, "patches")}
        assert heights == {"before RL": pytest.approx(before), "after RL": pytest.approx(after)}
    assert sorted({round(float(y)) for lines in success.collections for segment in lines.get_segments() for y in segment[:, 1]}) == [15, 25, 35, 45]
    assert success.figure.get_suptitle() == "flat − exact, after RL: -10.0 points (95 % interval -20.0 to -1.0)"


def test_an_ablation_states_no_difference_whose_interval_holds_0(drawn, tmp_path):
    csv = ablation(tmp_path, "ablation_context", -0.2)
    csv.write_text(csv.read_text().replace("-0.01", "0.01"))
    assert drawn(figures.draw_ablation, csv)[0].figure.get_suptitle() == ""


def test_the_demonstrations_curve_orders_the_numbers(drawn, tmp_path):
    panels = drawn(figures.draw_demonstrations_curve, ablation(tmp_path, "demonstrations_curve", -0.2, settings=("100", "0", "40")))
    assert [axes.get_title() for axes in panels] == ["Pocket Arena", "all tasks"]
    before, after = panels[0].containers
    assert list(before.lines[0].get_xdata()) == [0, 40, 100] and list(after.lines[0].get_ydata()) == pytest.approx([30, 30, 40])
    assert [label.get_text() for label in panels[0].get_xticklabels()] == ["0", "40", "100"]


# ---- wr1 figures -----------------------------------------------------------------------------------------------------------------


def source(png):
    with Image.open(png) as image:
        return image.info["Source"]


def test_a_figure_names_its_csv_and_its_hash(curve):
    png = figures.draw_reward_curve(curve)
    assert source(png) == "reward_curve.csv sha256:" + hashlib.sha256(curve.read_bytes()).hexdigest()
    assert curve.name.encode() in png.with_suffix(".pdf").read_bytes()


def test_every_committed_figure_is_redrawn_from_the_csvs_alone_without_torch(tmp_path):
    """In a copy that holds nothing but the CSVs, in a process of its own, in under a minute: the same figures, of the same data."""
    for csv in (ROOT / "results").rglob("*.csv"):
        (tmp_path / csv.relative_to(ROOT / "results")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(csv, tmp_path / csv.relative_to(ROOT / "results"))
    script = ("import sys; from wr1_utils.analysis.figures import draw_all; print(*draw_all(sys.argv[1]), sep='\\n'); "
              "heavy = {'torch', 'transformers', 'playwright'} & set(sys.modules); assert not heavy, heavy")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, cwd=ROOT, timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert answer.returncode == 0, answer.stderr
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 60  # of processor time: other work on the machine does not count
    redrawn = {Path(name).relative_to(tmp_path): Path(name) for name in answer.stdout.split("\n") if name}
    committed = {png.relative_to(ROOT / "results"): png for png in COMMITTED}
    assert committed and committed.keys() == redrawn.keys()
    for name, png in committed.items():
        assert source(png) == source(redrawn[name]), f"{name} was drawn from other data than those beside it; ./wr1 figures draws it again"
        old, new = imread(png), imread(redrawn[name])
        assert old.shape == new.shape and np.abs(old - new).mean() < 0.02, name  # another release of Matplotlib may smooth edges otherwise


def test_runs_set_aside_are_left_out_and_nothing_to_draw_is_said(tmp_path):
    with pytest.raises(AnalysisError, match="no CSV of a figure"):
        figures.draw_all(tmp_path)
    for name in ("bc-short-s0", "bc-short-s0.old"):
        (tmp_path / "smoke" / name).mkdir(parents=True)
        (tmp_path / "smoke" / name / "metrics.csv").write_text("step,loss\n1,2.0\n2,1.0\n")
    assert figures.draw_all(tmp_path) == [tmp_path / "smoke" / "bc-short-s0" / "loss.png"]
    assert not (tmp_path / "smoke" / "bc-short-s0.old" / "loss.png").exists()
