"""Training dynamics: reward, trajectory length and number of interactions against the RL step, and the phases that a rule finds in them.

The rule. A curve is cut into phases of at least `SHORTEST` steps; in each it is a straight line plus noise, fitted by least squares, and
the lines need not meet. Of all cuts, that with the least

    BIC = n log(RSS / n) + (2 k + 3 (k − 1)) log n

is taken, for n steps, k phases and the residual sum of squares RSS: a line counts for two numbers, and a change point for three, because its
place is chosen among many. The noise of different steps is taken as independent. Noise around one line is cut in at most one of twenty
runs of 20 steps, and more rarely in longer ones (tested).

Reads `metrics.csv` of RL runs, never a model.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student

from wr1_utils.analysis.tables import AnalysisError, write_table
from wr1_utils.settings import Settings, project_path

MEASURES = ("reward", "trajectory_tokens", "turns")  # columns of metrics.csv: means over a step's valid trajectories
SHORTEST = 5  # steps of a phase
CHANGE_POINT = 3  # numbers that a change point counts for


@dataclass(frozen=True)
class Phase:
    """Positions `first` to `last` (both in it) of a curve, and the values of the fitted line there."""

    first: int
    last: int
    start: float
    end: float


def find_phases(values, shortest: int = SHORTEST) -> list[Phase]:
    """The phases of a curve (one number a step) by the rule above; a curve of fewer than 2 × `shortest` steps is one phase.

    Raises ValueError if there is no value, one of them is no finite number, or `shortest` is under 3 (a line goes through any two points).
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError("Phases are found in a curve of at least one number, all of them finite.")
    if shortest < 3:
        raise ValueError(f"A phase must have at least 3 steps, not {shortest}.")
    count = len(values)
    most = max(1, count // shortest)
    cost = _line_costs(values)
    least = np.full((most + 1, count + 1), np.inf)  # [phases, end]: the least RSS of the first `end` values in so many phases
    cut = np.zeros((most + 1, count + 1), dtype=int)  # where the last of these phases begins
    least[1] = cost[0]
    for phases in range(2, most + 1):
        for end in range(phases * shortest, count + 1):
            sums = least[phases - 1, : end - shortest + 1] + cost[: end - shortest + 1, end]
            cut[phases, end] = int(sums.argmin())
            least[phases, end] = sums[cut[phases, end]]
    rounding = max(1e-10 * values.var(), (1e-15 * np.abs(values).max()) ** 2, 1e-300)
    rss = np.maximum(least[1:, count], count * rounding)  # no fit is better than perfect
    k = np.arange(1, most + 1)
    phases = 1 + int((count * np.log(rss / count) + (2 * k + CHANGE_POINT * (k - 1)) * np.log(count)).argmin())
    edges = [count]
    for number in range(phases, 0, -1):
        edges.append(int(cut[number, edges[-1]]))
    edges.reverse()
    return [_fit(values, first, end) for first, end in zip(edges, edges[1:])]


def dynamics_table(metrics: dict[int, pd.DataFrame]) -> pd.DataFrame:
    """The rows of `dynamics_<variant>.csv`, from each seed's metrics: measure, step, seed, value, low, high, phase, fit.

    For each measure come the rows of every seed, and then those of `mean`, over the seeds at each step that all of them have: only
    these have a phase (from 1) and the fitted line's value `fit`, and, with two seeds or more, the 95 % Student interval of the mean. A
    step without a valid trajectory in some seed is left out. Raises AnalysisError if no step is left.
    """
    parts = []
    for measure in MEASURES:
        curves = pd.DataFrame({seed: metrics[seed].set_index("step")[measure] for seed in sorted(metrics)})
        parts += [pd.DataFrame({"step": curve.index, "seed": str(seed), "value": curve.to_numpy()}).assign(measure=measure)
                  for seed, curve in ((seed, curves[seed].dropna()) for seed in curves)]
        shared = curves.dropna()
        if shared.empty:
            raise AnalysisError(f"The seeds {', '.join(map(str, curves))} have no step in common that has a value of {measure}; let their training go on.")
        mean, count = shared.mean(axis=1), shared.shape[1]
        half = student.ppf(0.975, count - 1) * shared.std(axis=1, ddof=1) / np.sqrt(count) if count > 1 else np.nan
        phases = find_phases(mean)
        parts.append(pd.DataFrame({
            "step": shared.index, "seed": "mean", "value": mean.to_numpy(), "low": (mean - half).to_numpy(), "high": (mean + half).to_numpy(),
            "phase": np.concatenate([np.full(one.last - one.first + 1, number) for number, one in enumerate(phases, 1)]),
            "fit": np.concatenate([np.linspace(one.start, one.end, one.last - one.first + 1) for one in phases])}).assign(measure=measure))
    table = pd.concat(parts, ignore_index=True)
    return table[["measure", "step", "seed", "value", "low", "high", "phase", "fit"]].astype({"phase": "Int64"})


def phase_table(dynamics: pd.DataFrame) -> pd.DataFrame:
    """The rows of `phases_<variant>.csv`, from those of `dynamics_table`: measure, phase, first_step, last_step, and the line's values there."""
    rows = []
    for measure, of_measure in dynamics[dynamics["seed"] == "mean"].groupby("measure", sort=False):
        for phase, part in of_measure.groupby("phase"):
            rows.append({"measure": measure, "phase": int(phase), "first_step": int(part["step"].iloc[0]), "last_step": int(part["step"].iloc[-1]),
                         "from": part["fit"].iloc[0], "to": part["fit"].iloc[-1]})
    return pd.DataFrame(rows)


def make_dynamics(settings: Settings, variant: str) -> Path:
    """Write `dynamics_<variant>.csv`, and `phases_<variant>` as CSV, Markdown and LaTeX, from the metrics of the profile's RL runs of every seed.

    Runs that are still training count with the steps that they have. Returns the first file's path; raises AnalysisError if there is no such run.
    """
    folder = project_path(settings.results) / settings.profile
    metrics = {}
    for file in sorted(folder.glob(f"rl-{variant}-s*/metrics.csv")):
        name = re.fullmatch(rf"rl-{re.escape(variant)}-s(\d+)", file.parent.name)  # not those set aside, *.old
        if name:
            metrics[int(name[1])] = pd.read_csv(file)
    if not metrics:
        raise AnalysisError(f"There is no RL run of {variant} with a step in {folder}; run the notebook 03_rl_training with profile={folder.name} and variant={variant} first.")
    table = dynamics_table(metrics)
    write_table(phase_table(table), folder / f"phases_{variant}")
    path = folder / f"dynamics_{variant}.csv"
    table.to_csv(path, index=False, float_format="%.6f", lineterminator="\n")
    return path


def _line_costs(values: np.ndarray) -> np.ndarray:
    """[first, end]: residual sum of squares of the least-squares line through values[first:end]; infinite where end <= first."""
    count = len(values)
    y, x = values - values.mean(), np.arange(count) - (count - 1) / 2
    sums = [np.concatenate([[0.0], np.cumsum(one)]) for one in (np.ones(count), x, y, x * x, x * y, y * y)]
    n, sx, sy, sxx, sxy, syy = (one[None, :] - one[:, None] for one in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        vx, vy, vxy = sxx - sx**2 / n, syy - sy**2 / n, sxy - sx * sy / n
        rss = vy - np.where(n > 1, vxy**2 / vx, 0.0)
    return np.where(n > 0, np.maximum(rss, 0.0), np.inf)


def _fit(values: np.ndarray, first: int, end: int) -> Phase:
    if end - first == 1:
        return Phase(first, first, float(values[first]), float(values[first]))
    slope, level = np.polyfit(np.arange(end - first), values[first:end], 1)
    return Phase(first, end - 1, float(level), float(level + slope * (end - first - 1)))
