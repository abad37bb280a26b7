"""Intervals: never a bare mean.

A success rate has a Wilson interval; the difference of two methods on the same tasks has a paired bootstrap interval, which resamples
tasks, and, over several benchmarks, tasks within each benchmark (the stratified bootstrap of Agarwal et al. 2021, arXiv 2108.13264).
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import bootstrap
from statsmodels.stats.proportion import proportion_confint


@dataclass(frozen=True)
class Difference:
    """A mean difference of success rates (a fraction, not per cent) and its interval, over `tasks` pairs."""

    mean: float
    low: float
    high: float
    tasks: int


def wilson(successes: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval (Wilson 1927) of a success rate, as fractions; (nan, nan) without a trial.

    Raises ValueError if `successes` is not between 0 and `trials`.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"A success rate needs 0 <= successes <= trials, not {successes} of {trials}.")
    if trials == 0:
        return float("nan"), float("nan")
    low, high = proportion_confint(successes, trials, alpha=1 - confidence, method="wilson")
    return float(low), float(high)


def paired_difference(strata: list[np.ndarray], seed: int = 0, resamples: int = 10_000, confidence: float = 0.95) -> Difference:
    """Mean of the differences of paired rewards with the percentile interval of a stratified bootstrap over tasks.

    `strata`: for each benchmark the differences, shape [tasks], one number a task (reward of the method − reward of the reference).
    Each resample draws, in every benchmark, as many tasks as it has, with replacement; the statistic is the mean over all tasks.
    The same seed gives the same interval. Raises ValueError if no benchmark has a task.
    """
    samples = [np.asarray(one, dtype=float) for one in strata if len(one)]
    count = sum(len(one) for one in samples)
    if not count:
        raise ValueError("A paired difference needs at least one task that both methods were scored on.")
    mean = float(sum(one.sum() for one in samples) / count)
    varying = [one for one in samples if len(one) > 1]  # a benchmark of one task never varies, and SciPy refuses samples of one
    fixed = sum(one.sum() for one in samples if len(one) == 1)
    if not varying:
        return Difference(mean, float("nan"), float("nan"), count)

    def mean_over_tasks(*parts, axis):  # parts: per benchmark [resamples, tasks] -> [resamples]
        return (sum(part.sum(axis=axis) for part in parts) + fixed) / count

    interval = bootstrap(varying, mean_over_tasks, n_resamples=resamples, confidence_level=confidence, method="percentile",
                         vectorized=True, batch=500, rng=np.random.default_rng(seed)).confidence_interval
    return Difference(mean, float(interval.low), float(interval.high), count)
