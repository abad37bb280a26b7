"""Figures, each drawn from one CSV alone and saved as PDF and PNG beside it, in one style and in colours that colour-blind people tell apart.

The colours are those of Okabe and Ito, "Color Universal Design" (2008). The same CSV gives the same bytes.
"""

from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from wr1_utils.analysis.tables import BENCHMARK_NAMES, METHOD_NAMES, METHODS, AnalysisError

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
METHOD_COLOURS = {"base": "#999999", "bc": "#E69F00", "r1": "#0072B2", "filtered_bc": "#F0E442", "awr": "#56B4E9", "r1_zero": "#009E73", "r1_cot": "#CC79A7", "bc_cot": "#D55E00"}
BENCHMARK_COLOURS = {"all": "#000000", "pocket": "#0072B2", "arena": "#CC79A7", "miniwob": "#D55E00", "webarena-lite": "#009E73", "webarena": "#56B4E9"}
_STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True, "grid.color": "#DDDDDD",
          "legend.frameon": False, "lines.linewidth": 2, "pdf.fonttype": 42, "savefig.dpi": 150, "figure.facecolor": "white"}


def draw_reward_curve(csv: str | Path) -> Path:
    """Success rate against the RL step, from `reward_curve.csv`: a light line of the raw values and a running mean for each place.

    Writes `reward_curve.pdf` and `.png` beside the CSV and returns the PNG's path, as the other functions here do under their names.
    """
    table = _read(csv, "step", "benchmark", "success_rate", "running_mean")
    with matplotlib.rc_context(_STYLE):
        figure, axes = _canvas(6.4, 3.8)
        for number, (place, rows) in enumerate(table.groupby("benchmark", sort=False)):
            colour = BENCHMARK_COLOURS.get(place, _COLOURS[number % len(_COLOURS)])
            axes.plot(rows["step"], 100 * rows["success_rate"], color=colour, alpha=0.3, linewidth=1)
            axes.plot(rows["step"], 100 * rows["running_mean"], color=colour, label=BENCHMARK_NAMES.get(place, place), marker="." if len(rows) < 3 else None)
        axes.set(xlabel="RL step", ylabel="success rate of rollouts, %", ylim=(-2, 102))
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.legend(title="running mean", loc="best")
        return _save(figure, Path(csv).with_name("reward_curve"))


def draw_success_rates(csv: str | Path) -> Path:
    """Success rate of each method on the test tasks of each place with its 95 % Wilson interval, from `main.csv`."""
    table = _read(csv, "benchmark", "split", "site", "method", "seed", "rate", "low", "high")
    table = table[(table["split"] == "test") & (table["site"] == "all")]
    pooled = table.groupby(["benchmark", "method"])["seed"].transform(lambda seeds: "pooled" if "pooled" in set(seeds) else seeds.iloc[0])
    table = table[table["seed"] == pooled]
    places = list(table["benchmark"].unique())
    methods = sorted(table["method"].unique(), key=lambda one: METHODS.index(one) if one in METHODS else len(METHODS))
    with matplotlib.rc_context(_STYLE):
        figure, axes = _canvas(1.6 + 2.2 * len(places), 3.8)
        width = 0.8 / len(methods)
        for number, method in enumerate(methods):
            rows = table[table["method"] == method].set_index("benchmark").reindex(places)
            where = [place + (number - (len(methods) - 1) / 2) * width for place in range(len(places))]
            spread = [100 * (rows["rate"] - rows["low"]).clip(lower=0), 100 * (rows["high"] - rows["rate"]).clip(lower=0)]
            bars = axes.bar(where, 100 * rows["rate"], width * 0.9, yerr=spread, color=METHOD_COLOURS.get(method, _COLOURS[number % len(_COLOURS)]),
                            label=METHOD_NAMES.get(method, method), error_kw={"ecolor": "#333333", "capsize": 3, "linewidth": 1})
            axes.bar_label(bars, ["" if pd.isna(rate) else f"{100 * rate:.0f}" for rate in rows["rate"]], padding=2, fontsize=8)
        axes.set(ylabel="success rate on test tasks, %", ylim=(0, 110))
        axes.set_xticks(range(len(places)), [BENCHMARK_NAMES.get(place, place) for place in places])
        axes.grid(axis="x", visible=False)
        axes.legend(ncols=len(methods), loc="lower center", bbox_to_anchor=(0.5, 1.0))
        return _save(figure, Path(csv).with_name("success_rates"))


def draw_loss(csv: str | Path) -> Path:
    """Loss against the optimizer step, from the `metrics.csv` of a behaviour cloning run; saved as `loss`."""
    table = _read(csv, "step", "loss")
    with matplotlib.rc_context(_STYLE):
        figure, axes = _canvas(6.4, 3.2)
        axes.plot(table["step"], table["loss"], color=_COLOURS[0], alpha=0.3, linewidth=1)
        window = max(1, len(table) // 20)
        axes.plot(table["step"], table["loss"].rolling(window, min_periods=1).mean(), color=_COLOURS[0], marker="." if len(table) < 3 else None)
        axes.set(xlabel="optimizer step", ylabel="loss, nats a token", ylim=(0, None))
        return _save(figure, Path(csv).with_name("loss"))


def _read(csv: str | Path, *columns: str) -> pd.DataFrame:
    """Raises AnalysisError if there is no such file, or a column or every row is missing."""
    if not Path(csv).is_file():
        raise AnalysisError(f"{csv}: there is no such file to draw from; run the notebook that writes it first.")
    table = pd.read_csv(csv, dtype={"seed": str})
    missing = [name for name in columns if name not in table]
    if missing:
        raise AnalysisError(f"{csv}: column {missing[0]!r} is missing; the figure needs {', '.join(columns)}.")
    if table.empty:
        raise AnalysisError(f"{csv}: there is no row to draw.")
    return table


def _canvas(width: float, height: float):
    """A figure of that size in inches with one pair of axes, off screen."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _save(figure: Figure, stem: str | Path) -> Path:
    """Write `<stem>.pdf` and `<stem>.png`, without dates or versions in them; returns the PNG's path."""
    figure.savefig(Path(stem).with_suffix(".pdf"), metadata={"CreationDate": None, "Producer": None, "Creator": None})
    figure.savefig(Path(stem).with_suffix(".png"), metadata={"Software": None})
    return Path(stem).with_suffix(".png")
