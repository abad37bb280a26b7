"""Phases: known change points are found, noise has none; and the tables of one seed and of several."""

import numpy as np
import pandas as pd
import pytest

from wr1_utils.analysis.dynamics import dynamics_table, find_phases, make_dynamics, phase_table
from wr1_utils.analysis.tables import AnalysisError
from wr1_utils.settings import load_settings

RISE, PLATEAU, HIGHER = np.linspace(0.2, 0.6, 10), np.full(18, 0.4), np.full(20, 0.75)  # 48 steps, changes after 10 and 28


def starts(values, **given):
    return [phase.first for phase in find_phases(values, **given)]


def test_lines_without_noise_are_cut_where_they_change():
    phases = find_phases(np.concatenate([RISE, PLATEAU, HIGHER]))
    assert [(phase.first, phase.last) for phase in phases] == [(0, 9), (10, 27), (28, 47)]
    assert [(phase.start, phase.end) for phase in phases] == [pytest.approx(pair) for pair in ((0.2, 0.6), (0.4, 0.4), (0.75, 0.75))]


@pytest.mark.parametrize("seed", range(5))
def test_change_points_are_found_in_noise(seed):
    noise = np.random.default_rng(seed).normal(scale=0.03, size=48)
    found = starts(np.concatenate([RISE, PLATEAU, HIGHER]) + noise)
    assert len(found) == 3 and abs(found[1] - 10) <= 1 and abs(found[2] - 28) <= 1


def test_a_slow_rise_is_one_phase_and_no_staircase():
    noise = np.random.default_rng(0).normal(scale=0.05, size=48)
    assert starts(np.linspace(0, 1, 48) + noise) == [0]


@pytest.mark.parametrize("steps", [20, 48])
def test_noise_alone_is_seldom_cut(steps):
    draws = np.random.default_rng(0)
    cut = [len(find_phases(draws.normal(size=steps))) > 1 for _ in range(200)]
    assert np.mean(cut) <= 0.05


def test_the_cut_is_that_of_least_bic_over_all_cuts():
    """Against every cut of 14 noisy steps into one or two phases, with NumPy's line fit."""
    values = np.random.default_rng(3).normal(size=14) + np.repeat([0.0, 8.0], [6, 8])

    def rss(part):
        at = np.arange(len(part))
        return float(((part - np.polyval(np.polyfit(at, part, 1), at)) ** 2).sum())

    bic = {(): 14 * np.log(rss(values) / 14) + 2 * np.log(14)}
    bic |= {(at,): 14 * np.log((rss(values[:at]) + rss(values[at:])) / 14) + 7 * np.log(14) for at in range(5, 10)}
    assert tuple(starts(values)[1:]) == min(bic, key=bic.get) != ()


def test_short_and_flat_curves_are_one_phase():
    assert [(p.first, p.last, p.start, p.end) for p in find_phases([0.5])] == [(0, 0, 0.5, 0.5)]
    assert starts([0, 0, 0, 0, 1, 1, 1, 1, 1]) == [0]  # 9 steps: no two phases of 5
    assert starts([0] * 5 + [1] * 5) == [0, 5]
    assert starts([0.25] * 30) == starts([0.1] * 30) == starts([0.0] * 30) == [0]


def test_the_units_of_a_curve_do_not_matter():
    curve = np.concatenate([RISE, PLATEAU]) + np.random.default_rng(1).normal(scale=0.03, size=28)
    assert starts(curve) == starts(1000 * curve + 50) == starts(1e-9 * curve) == [0, 10]


@pytest.mark.parametrize("values, given", [([], {}), ([1.0, float("nan")], {}), ([[1.0]], {}), ([1.0, 2.0], {"shortest": 2})])
def test_what_has_no_phases_is_refused(values, given):
    with pytest.raises(ValueError):
        find_phases(values, **given)


def metrics(reward, first=1):
    return pd.DataFrame({"step": range(first, first + len(reward)), "reward": reward, "trajectory_tokens": [40.0] * len(reward), "turns": [3.0] * len(reward)})


def test_one_seed_has_no_interval():
    table = dynamics_table({4: metrics([0.0] * 5 + [1.0] * 5)})
    assert set(table["seed"]) == {"4", "mean"} and table["low"].isna().all()
    reward = table[(table["measure"] == "reward") & (table["seed"] == "mean")]
    assert list(reward["phase"]) == [1] * 5 + [2] * 5 and reward["fit"].to_list() == pytest.approx([0] * 5 + [1] * 5)
    phases = phase_table(table)
    assert phases[phases["measure"] == "reward"].drop(columns="measure").to_numpy().tolist() == [[1, 1, 5, pytest.approx(0), pytest.approx(0)], [2, 6, 10, pytest.approx(1), pytest.approx(1)]]
    assert len(phases[phases["measure"] == "turns"]) == 1


def test_several_seeds_have_a_mean_and_an_interval_where_all_have_a_value():
    """Worked by hand: 0.2, 0.4, 0.6 have the mean 0.4 and the standard error 0.2 / √3; t(2 degrees of freedom, 97.5 %) = 4.30265."""
    table = dynamics_table({0: metrics([0.2, 0.3, 0.9]), 1: metrics([0.4, float("nan")]), 10: metrics([0.6, 0.5])})
    reward = table[table["measure"] == "reward"]
    assert [len(rows) for _, rows in reward.groupby("seed", sort=False)] == [3, 1, 2, 1]
    mean = reward[reward["seed"] == "mean"].iloc[0]
    assert (mean["step"], mean["value"]) == (1, pytest.approx(0.4))
    assert (mean["low"], mean["high"]) == pytest.approx((0.4 - 4.30265 * 0.2 / 3**0.5, 0.4 + 4.30265 * 0.2 / 3**0.5), abs=1e-5)
    with pytest.raises(AnalysisError, match="seeds 0, 1 have no step in common"):
        dynamics_table({0: metrics([0.5]), 1: metrics([0.5], first=2)})


def test_files_are_made_from_the_runs_of_every_seed(tmp_path):
    settings = load_settings("smoke", results=str(tmp_path))
    with pytest.raises(AnalysisError, match="03_rl_training with profile=smoke and variant=r1"):
        make_dynamics(settings, "r1")
    for name in ("rl-r1-s0", "rl-r1-s1", "rl-r1-s1.old", "rl-r1_zero-s2"):
        (tmp_path / "smoke" / name).mkdir(parents=True)
        metrics([0.1] * 6).to_csv(tmp_path / "smoke" / name / "metrics.csv", index=False)
    path = make_dynamics(settings, "r1")
    assert path == tmp_path / "smoke" / "dynamics_r1.csv" and set(pd.read_csv(path)["seed"]) == {"0", "1", "mean"}
    assert {file.name for file in path.parent.iterdir() if file.is_file()} == {"dynamics_r1.csv", "phases_r1.csv", "phases_r1.md", "phases_r1.tex"}
