import numpy as np
import pytest

from wr1_utils.analysis.stats import clustered_rate, holm, mcnemar, paired_difference, paired_p, pass_at_k, pilot, power, power_table, tasks_needed, wilson


@pytest.mark.parametrize(
    "successes, trials, low, high",
    [
        (74, 165, 0.375, 0.525),  # 44.8 % on the 165 tasks of WebArena-Lite
        (70, 165, 0.351, 0.501),  # 42.4 %
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_equals_published_intervals(successes, trials, low, high):
    found = wilson(successes, trials)
    places = 3 if trials == 165 else 4
    assert (round(found[0], places), round(found[1], places)) == (low, high)


def test_wilson_without_trials_is_unknown_and_nonsense_is_refused():
    assert all(np.isnan(wilson(0, 0)))
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)


def test_paired_difference_has_the_interval_of_resampling_tasks():
    # 4 tasks, one gained: resampled means are k/4 with k ~ Binomial(4, 1/4); P(k=0) = 0.316, P(k>=3) = 0.051, P(k=4) = 0.004.
    found = paired_difference([np.array([1.0, 0, 0, 0])])
    assert (found.mean, found.low, found.high, found.tasks) == (0.25, 0.0, 0.75, 4)


def test_paired_difference_approaches_the_normal_interval():
    """With many tasks the percentile interval is mean ± 1.96 standard errors."""
    differences = np.array([1.0] * 300 + [-1.0] * 100 + [0.0] * 600)
    error = 1.96 * differences.std() / np.sqrt(1000)
    found = paired_difference([differences])
    assert found.low == pytest.approx(0.2 - error, abs=0.004) and found.high == pytest.approx(0.2 + error, abs=0.004)


def test_resampling_stays_within_benchmarks():
    """Benchmarks that each answer alike leave nothing to chance, whatever their mixture; one pooled sample would vary."""
    found = paired_difference([np.ones(6), np.zeros(2)])
    assert (found.mean, found.low, found.high) == (0.75, 0.75, 0.75)
    mixed = paired_difference([np.array([1.0, 1, 1, 1, 1, 1, 0, 0])])
    assert mixed.low < 0.75 < mixed.high


def test_a_benchmark_of_one_task_is_counted_but_does_not_vary():
    found = paired_difference([np.array([1.0, 0.0]), np.array([1.0])])
    assert found.mean == pytest.approx(2 / 3) and found.low == pytest.approx(1 / 3) and found.high == 1
    assert np.isnan(paired_difference([np.array([1.0])]).low)


def test_same_seed_same_interval():
    differences = [np.random.default_rng(5).choice([-1.0, 0, 1], 37)]
    assert paired_difference(differences, seed=3) == paired_difference(differences, seed=3)


def test_no_task_is_an_error():
    with pytest.raises(ValueError, match="at least one task"):
        paired_difference([np.array([])])


# ---- rates over tasks and seeds


def solved(rng, tasks, seeds):
    """Rewards of tasks that differ much in how hard they are: their mean success rate is 0.4."""
    return (rng.random((tasks, seeds)) < rng.beta(0.4, 0.6, tasks)[:, None]).astype(float)


def test_the_clustered_interval_covers_the_true_rate_in_95_of_100_simulations():
    """And one that takes a task's episodes for independent ones does not."""
    rng, covered, naive = np.random.default_rng(1), 0, 0
    for number in range(1000):
        rewards = solved(rng, 165, 3)
        found = clustered_rate([rewards], seed=number, resamples=400)
        covered += found.low <= 0.4 <= found.high
        low, high = wilson(rewards.sum(), rewards.size)
        naive += low <= 0.4 <= high
    assert 930 <= covered <= 970
    assert naive < 900


def test_the_paired_interval_covers_the_true_difference_in_95_of_100_simulations():
    rng, covered = np.random.default_rng(2), 0
    for number in range(600):
        differences = rng.choice([1.0, -1.0, 0.0], 120, p=[0.25, 0.15, 0.6])
        found = paired_difference([differences[:80], differences[80:]], seed=number, resamples=400)
        covered += found.low <= 0.1 <= found.high
    assert 0.93 <= covered / 600 <= 0.97


def test_a_rate_of_tasks_with_all_their_seeds_by_hand():
    # Two tasks, one solved with both seeds, one never: a resample has 0, 1 or 2 solved tasks with 1/4, 1/2, 1/4.
    found = clustered_rate([np.array([[1.0, 1.0], [0.0, 0.0]])])
    assert (found.mean, found.low, found.high, found.tasks, found.episodes) == (0.5, 0.0, 1.0, 2, 4)
    # Nothing varies between the tasks; the seeds differ wholly, and count only where other training runs are asked about.
    by_seed = [np.array([[1.0, 0.0]] * 5)]
    fixed, drawn = clustered_rate(by_seed), clustered_rate(by_seed, over_seeds=True)
    assert (fixed.low, fixed.high) == (0.5, 0.5) and (drawn.mean, drawn.low, drawn.high) == (0.5, 0.0, 1.0)


def test_a_rate_is_resampled_within_its_strata_and_leaves_out_what_has_no_score():
    one, other = np.ones((6, 2)), np.zeros((2, 2))
    found = clustered_rate([one, other])
    assert (found.mean, found.low, found.high) == (0.75, 0.75, 0.75)
    one[0, 1] = np.nan
    missing = clustered_rate([one, other])
    assert missing.mean == 11 / 15 and missing.episodes == 15 and missing.low < 11 / 15 < missing.high
    assert clustered_rate([one, other], seed=3) == clustered_rate([one, other], seed=3)
    with pytest.raises(ValueError, match="same seeds"):
        clustered_rate([one, np.zeros((2, 3))])
    with pytest.raises(ValueError, match="at least one episode"):
        clustered_rate([np.full((2, 2), np.nan)])


# ---- tests


@pytest.mark.parametrize("gained, lost, p", [
    (1, 7, 2 * 9 / 256),  # by hand: 2 · (C(8,0) + C(8,1)) / 2^8
    (5, 0, 2 / 32),
    (3, 3, 1.0),
    (0, 0, 1.0),
    (16, 6, 0.0525),  # the exact test of a much-printed table (59, 6, 16, 80)
])
def test_mcnemar_equals_published_values(gained, lost, p):
    assert mcnemar(gained, lost) == mcnemar(lost, gained) == pytest.approx(p, abs=5e-5)


def test_mcnemar_approaches_the_statistic_of_agrestis_table():
    """Approval ratings (Agresti, Categorical Data Analysis, table 10.1): (150 - 86)^2 / 236 = 17.36, of which chi-squared gives p = 3.1e-5."""
    assert mcnemar(86, 150) == pytest.approx(3.1e-5, rel=0.25)
    with pytest.raises(ValueError, match="-1 and 2"):
        mcnemar(-1, 2)


def test_flipping_signs_is_mcnemars_test_where_there_is_one_seed():
    assert paired_p(np.array([1.0] * 7 + [-1.0] + [0.0] * 9)) == mcnemar(7, 1)
    # Of three differences 1/2, 1/2 and 1 all eight sign patterns are equally likely; two are as far from 0 as this one.
    assert paired_p(np.array([0.5, 0.5, 1.0])) == pytest.approx(2 / 8)
    assert paired_p(np.zeros(5)) == paired_p(np.array([0.5, 0.0])) == 1
    with pytest.raises(ValueError, match="at least one task"):
        paired_p(np.array([]))


def test_the_paired_test_finds_nothing_as_often_as_it_should():
    rng = np.random.default_rng(3)
    found = sum(paired_p(rng.choice([-1, -0.5, 0, 0.5, 1], 40), seed=n, resamples=300) < 0.05 for n in range(300))
    assert 4 <= found <= 27  # 5 % of 300, give or take three standard errors


def test_holm_by_hand():
    # Sorted .005 .01 .03 .04, times 4, 3, 2, 1: .02 .03 .06 .04, and none below the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7])[1] == 1
    assert holm([0.02, np.nan, 0.5]) == pytest.approx([0.04, np.nan, 0.5], nan_ok=True) and len(holm([])) == 0


# ---- power


def test_tasks_for_two_points_by_hand():
    # (1.95996 · sqrt(0.2) + 0.84162 · sqrt(0.2 - 0.0004))^2 / 0.02^2 = (0.87652 + 0.37600)^2 / 0.0004
    assert tasks_needed(0.02, 0.2) == 3923
    assert tasks_needed(-0.02, 0.2) == 3923
    # Ten points at the same discordance: (0.87652 + 0.84162 · sqrt(0.19))^2 / 0.01 = 154.5
    assert tasks_needed(0.1, 0.2) == 155
    assert power(155, 0.1, 0.2) >= 0.8 > power(154, 0.1, 0.2)


def test_seeds_help_as_far_as_chance_is_the_seeds():
    assert tasks_needed(0.02, 0.2, seeds=5, seed_share=0.0) == tasks_needed(0.02, 0.2)
    # All of it: a fifth of the variance 0.1996 and the difference itself remain.
    spread = 0.1996 / 5
    by_hand = ((1.959964 * np.sqrt(spread + 0.0004) + 0.841621 * np.sqrt(spread)) / 0.02) ** 2
    assert tasks_needed(0.02, 0.2, seeds=5, seed_share=1.0) == int(np.ceil(by_hand))
    table = power_table(0.02, 0.2, seed_share=0.5)
    assert list(table["seeds"]) == [1, 2, 3, 5, 10] and table["tasks"].is_monotonic_decreasing and table["tasks"][0] == 3923
    assert (table["episodes"] == table["seeds"] * table["tasks"]).all()


@pytest.mark.parametrize("seeds", [1, 4])
def test_so_many_tasks_find_the_difference_in_80_of_100_simulations(seeds):
    """Half of the tasks are solved with 0.9 by the method and 0.6 by the reference, the others with 0.3 and 0.4: ten points.

    By hand: the seeds' share of the variance is (0.09 + 0.24 + 0.21 + 0.24) / 2 = 0.39, the tasks' own 0.2^2 = 0.04.
    """
    discordance, seed_share = 0.43 + 0.1**2, 0.39 / 0.43
    tasks, rng, found = tasks_needed(0.1, discordance, seeds, seed_share), np.random.default_rng(4), 0
    for _ in range(1000):
        chances = np.where(rng.random(tasks) < 0.5, [[0.9], [0.6]], [[0.3], [0.4]])[:, :, None]
        method, reference = rng.random((2, tasks, seeds)) < chances
        means = method.mean(axis=1) - reference.mean(axis=1)
        found += means.mean() > 1.959964 * np.sqrt((means**2).mean() / tasks)
    assert found / 1000 == pytest.approx(0.8, abs=0.04)


def test_a_pilot_tells_how_much_is_the_seeds():
    rng = np.random.default_rng(5)
    all_chance = pilot((rng.random((4000, 3)) < 0.5).astype(float), (rng.random((4000, 3)) < 0.5).astype(float))
    assert all_chance[0] == pytest.approx(0.5, abs=0.02) and all_chance[1] == pytest.approx(1.0, abs=0.05)
    fixed = np.repeat(np.array([[1.0], [0.0], [1.0], [0.0]]), 3, axis=1)
    assert pilot(fixed, fixed[::-1]) == (1.0, 0.0)  # the same with each seed
    gaps = fixed.copy()
    gaps[0, 0] = np.nan
    assert pilot(gaps, np.zeros((4, 3))) == (pytest.approx(1 / 3), 0.0)
    assert np.isnan(pilot(fixed[:, :1], fixed[:, :1])[1])


def test_power_refuses_what_cannot_be():
    with pytest.raises(ValueError, match="at most the discordance"):
        tasks_needed(0.3, 0.2)
    with pytest.raises(ValueError, match="at most the discordance"):
        tasks_needed(0.0, 0.2)
    with pytest.raises(ValueError, match="seed share"):
        power(100, 0.1, 0.2, seed_share=2)
    with pytest.raises(ValueError, match="of one shape"):
        pilot(np.zeros((2, 1)), np.zeros((2, 2)))


@pytest.mark.parametrize("samples, successes, k, expected", [
    (4, 1, 2, 1 / 2),  # of the 6 pairs of 4 samples, 3 hold the one success
    (5, 2, 2, 7 / 10),  # 3 of the 10 pairs hold none of the two
    (10, 3, 1, 3 / 10),  # pass@1 is the mean
    (4, 0, 4, 0.0), (4, 4, 1, 1.0), (4, 2, 3, 1.0),  # two failures cannot fill three places
])
def test_pass_at_k_counts_the_draws_without_a_success(samples, successes, k, expected):
    assert pass_at_k(samples, successes, k) == pytest.approx(expected, abs=1e-12)


def test_pass_at_k_is_unbiased():
    """Over all outcomes of n = 5 samples at p = 0.3, its mean is 1 − 0.7^k."""
    from scipy.stats import binom

    for k in (1, 2, 5):
        mean = sum(binom.pmf(c, 5, 0.3) * pass_at_k(5, c, k) for c in range(6))
        assert mean == pytest.approx(1 - 0.7**k)


@pytest.mark.parametrize("samples, successes, k", [(4, 5, 1), (4, 1, 5), (4, 1, 0), (4, -1, 1)])
def test_pass_at_k_refuses_numbers_that_contradict_each_other(samples, successes, k):
    with pytest.raises(ValueError, match="pass@k needs"):
        pass_at_k(samples, successes, k)
