"""Intervals, tests and sample sizes: never a bare mean.

One seed's success rate has a Wilson interval; over several seeds, whose tasks are the same, a bootstrap interval that resamples tasks with
all their episodes. The difference of two methods on the same tasks has a paired bootstrap interval and a paired test. Over several
benchmarks (or sites) tasks are resampled within each (the stratified bootstrap of Agarwal et al. 2021, arXiv 2108.13264). Where a table
makes several comparisons, their p-values are corrected by Holm's method.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import bootstrap, norm, permutation_test
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_test
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint


@dataclass(frozen=True)
class Difference:
    """A mean difference of success rates (a fraction, not per cent) and its interval, over `tasks` pairs."""

    mean: float
    low: float
    high: float
    tasks: int


@dataclass(frozen=True)
class Rate:
    """A success rate and its interval, as fractions, over `episodes` scored episodes of `tasks` tasks."""

    mean: float
    low: float
    high: float
    tasks: int
    episodes: int


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


def clustered_rate(strata: list[np.ndarray], over_seeds: bool = False, seed: int = 0, resamples: int = 10_000, confidence: float = 0.95) -> Rate:
    """Success rate over tasks and seeds, with the percentile interval of a bootstrap that is stratified and clustered by task.

    `strata`: for each benchmark (or site) the rewards, shape [tasks, seeds], NaN where an episode has no score; all with the same seeds. A
    resample draws, in each, as many tasks as it has, each with its episodes of all seeds: those of one task are alike, and to take them for
    independent ones would make the interval too narrow. The rate is that of all scored episodes.

    `over_seeds`: draw the seeds as well, the same ones for every task (both factors at once: Owen 2007, "The pigeonhole bootstrap"; SciPy's
    bootstrap has one). Without it the interval is about other tasks for these very policies, with it about other training runs too; that is
    rough with few seeds. The same `seed` gives the same interval. Raises ValueError if the seeds differ or no episode has a score.
    """
    tables = [np.asarray(one, dtype=float) for one in strata if len(one)]
    if len({one.shape[1:] for one in tables}) != 1 or tables[0].ndim != 2:
        raise ValueError(f"A clustered rate needs tables [tasks, seeds] with the same seeds, not of the shapes {[one.shape for one in tables]}.")
    episodes = int(sum(np.isfinite(one).sum() for one in tables))
    if not episodes:
        raise ValueError("A clustered rate needs at least one episode with a score.")
    rng, seeds = np.random.default_rng(seed), tables[0].shape[1]
    columns = rng.multinomial(seeds, np.full(seeds, 1 / seeds), resamples) if over_seeds else np.ones((resamples, seeds))  # how often each is drawn
    total, count = np.zeros(resamples), np.zeros(resamples)
    for table in tables:
        rows = rng.multinomial(len(table), np.full(len(table), 1 / len(table)), resamples)
        total += ((rows @ np.nan_to_num(table)) * columns).sum(axis=1)
        count += ((rows @ np.isfinite(table)) * columns).sum(axis=1)
    rates = total[count > 0] / count[count > 0]
    low, high = np.quantile(rates, [(1 - confidence) / 2, (1 + confidence) / 2])
    mean = sum(np.nansum(one) for one in tables) / episodes
    return Rate(float(mean), float(low), float(high), sum(len(one) for one in tables), episodes)


def pass_at_k(samples: int, successes: int, k: int) -> float:
    """pass@k of one task: the chance that one at least of k samples succeeds, from n samples of which c did, 1 − C(n−c, k) / C(n, k).

    Unbiased for every k ≤ n, where 1 − (1 − c/n)^k is too low (Chen et al. 2021, arXiv 2107.03374, equation 1). Raises ValueError for numbers that
    contradict each other.
    """
    if not (0 <= successes <= samples and 1 <= k <= samples):
        raise ValueError(f"pass@k needs 0 <= successes <= samples and 1 <= k <= samples, not {successes} of {samples} and k = {k}.")
    return 1.0 - math.comb(samples - successes, k) / math.comb(samples, k)


# ---- tests -----------------------------------------------------------------------------------------------------------------------


def mcnemar(gained: int, lost: int) -> float:
    """Two-sided exact p-value of McNemar's test (1947): `gained` tasks are solved by the method alone, `lost` by the reference alone.

    Without a task that only one of them solves it is 1. Raises ValueError for a negative number.
    """
    if gained < 0 or lost < 0:
        raise ValueError(f"McNemar's test needs numbers of tasks, not {gained} and {lost}.")
    return float(mcnemar_test([[0, gained], [lost, 0]], exact=True).pvalue) if gained + lost else 1.0


def paired_p(differences: np.ndarray, seed: int = 0, resamples: int = 10_000) -> float:
    """Two-sided p-value for "no difference", from one number a task (reward of the method − of the reference, each its mean over seeds).

    With one seed that is McNemar's test. With more, the signs of the differences are flipped at random, of which McNemar's test is the
    special case. Raises ValueError without a task.
    """
    differences = np.asarray(differences, dtype=float)
    if not len(differences):
        raise ValueError("A paired test needs at least one task that both methods were scored on.")
    moved = differences[differences != 0]
    if np.isin(moved, (-1, 1)).all():
        return mcnemar(int((moved > 0).sum()), int((moved < 0).sum()))
    if len(moved) == 1:
        return 1.0
    return float(permutation_test((moved,), lambda sample, axis: sample.mean(axis=axis), permutation_type="samples", vectorized=True,
                                  n_resamples=resamples, batch=500, rng=np.random.default_rng(seed)).pvalue)


def holm(p_values) -> np.ndarray:
    """The p-values of a table's comparisons, corrected for their number by Holm (1979); NaN stays NaN and does not count."""
    found = np.array(p_values, dtype=float)
    known = np.isfinite(found)
    if known.any():
        found[known] = multipletests(found[known], method="holm")[1]
    return found


# ---- how many tasks and seeds ----------------------------------------------------------------------------------------------------


def power(tasks: int, difference: float, discordance: float, seeds: int = 1, seed_share: float = 0.0, alpha: float = 0.05) -> float:
    """The chance to find a true difference of success rates (a fraction) on so many paired tasks, at a two-sided level `alpha`.

    discordance: the share of tasks that, in one run of each, only one of the two methods solves. seed_share: how much of the variance of a
    task's difference is chance that another seed draws anew (0 to 1); that part shrinks with the number of `seeds`, the rest is the tasks' own
    (see `pilot`). The formula is that of Miettinen (1968) and Connor (1987) for McNemar's test, with the discordance that remains over the seeds.
    Raises ValueError for values that contradict each other.
    """
    null, true = _spreads(difference, discordance, seeds, seed_share)
    return float(norm.cdf((abs(difference) * np.sqrt(tasks) - norm.ppf(1 - alpha / 2) * null) / true)) if true else 1.0


def tasks_needed(difference: float, discordance: float, seeds: int = 1, seed_share: float = 0.0, wanted: float = 0.8, alpha: float = 0.05) -> int:
    """How many paired tasks it takes to find a difference with the chance `wanted`; the other arguments and errors are those of `power`."""
    null, true = _spreads(difference, discordance, seeds, seed_share)
    return int(np.ceil(((norm.ppf(1 - alpha / 2) * null + norm.ppf(wanted) * true) / difference) ** 2))


def power_table(difference: float, discordance: float, seed_share: float = 0.0, seeds=(1, 2, 3, 5, 10), wanted: float = 0.8) -> pd.DataFrame:
    """"How many tasks and seeds to see 2 points?" as a table: for each number of seeds the tasks, and the episodes of each method."""
    rows = [{"difference": difference, "discordance": discordance, "seed_share": seed_share, "power": wanted, "seeds": one,
             "tasks": tasks_needed(difference, discordance, one, seed_share, wanted)} for one in seeds]
    return pd.DataFrame(rows).assign(episodes=lambda table: table["seeds"] * table["tasks"])


def pilot(method: np.ndarray, reference: np.ndarray) -> tuple[float, float]:
    """(discordance, seed_share) for `power`, from rewards [tasks, seeds] of both methods; seed_share is NaN with one seed.

    Tasks with a score missing are left out. Raises ValueError if the shapes differ or no task is whole.
    """
    method, reference = np.asarray(method, dtype=float), np.asarray(reference, dtype=float)
    if method.ndim != 2 or method.shape != reference.shape:
        raise ValueError(f"A pilot needs rewards [tasks, seeds] of one shape, not {method.shape} and {reference.shape}.")
    differences = (method - reference)[np.isfinite(method - reference).all(axis=1)]
    if not len(differences):
        raise ValueError("A pilot needs at least one task that both methods were scored on with every seed.")
    discordance = float((differences != 0).mean())
    if differences.shape[1] == 1:
        return discordance, float("nan")
    whole = differences.var()
    return discordance, float(min(differences.var(axis=1, ddof=1).mean() / whole, 1.0)) if whole else 0.0


def _spreads(difference: float, discordance: float, seeds: int, seed_share: float) -> tuple[float, float]:
    """Standard deviation of a task's mean difference over the seeds, if there is no true difference and if it is `difference`."""
    if not 0 < abs(difference) <= discordance <= 1:
        raise ValueError(f"A difference must be above 0 and at most the discordance, and that at most 1, not {difference} and {discordance}.")
    if seeds < 1 or not 0 <= seed_share <= 1:
        raise ValueError(f"Power needs 1 seed or more and a seed share from 0 to 1, not {seeds} and {seed_share}.")
    variance = (discordance - difference**2) * (1 - seed_share + seed_share / seeds)
    return float(np.sqrt(variance + difference**2)), float(np.sqrt(variance))
