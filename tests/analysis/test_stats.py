import numpy as np
import pytest

from wr1_utils.analysis.stats import paired_difference, wilson


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
