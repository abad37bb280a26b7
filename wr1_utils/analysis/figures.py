"""Figures, each drawn from one CSV alone and saved as PDF and PNG beside it, in one style and in colours that colour-blind people tell apart.

The colours are those of Okabe and Ito, "Color Universal Design" (2008). The same CSV gives the same bytes, and each figure names the CSV and
its SHA-256, so that a figure older than its numbers is found out. Hatches, dashes and markers tell apart in black and white what colours tell apart
otherwise. A title states a finding only where the interval supports it. `wr1 figures` redraws all of them.
"""

import hashlib
import io
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from wr1_utils.analysis.tables import BENCHMARK_NAMES, METHOD_NAMES, METHODS, AnalysisError
from wr1_utils.settings import ROOT

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
METHOD_COLOURS = {"base": "#999999", "bc": "#E69F00", "r1": "#0072B2", "filtered_bc": "#000000", "awr": "#56B4E9", "r1_zero": "#009E73", "r1_cot": "#CC79A7", "bc_cot": "#D55E00"}
BENCHMARK_COLOURS = {"all": "#000000", "pocket": "#0072B2", "arena": "#CC79A7", "miniwob": "#D55E00", "webarena-lite": "#009E73", "webarena": "#56B4E9"}
STAGE_COLOURS = {"prompted": "#999999", "before RL": "#E69F00", "after RL": "#0072B2"}  # of ablations, in their order
MEASURE_NAMES = {"reward": "reward, mean of a step", "trajectory_tokens": "tokens a trajectory", "turns": "turns a trajectory"}
_MARKERS = ("o", "s", "^", "D", "v")  # these three: apart in print, too
_HATCHES = ("", "//", "", "..", "\\\\", "xx", "--", "oo")
_DASHES = ("-", "--", "-.", ":")
_HALO = [withStroke(linewidth=2.5, foreground="white")]  # an error bar is seen on any bar
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
            axes.plot(rows["step"], 100 * rows["running_mean"], color=colour, linestyle=_DASHES[number % len(_DASHES)], label=BENCHMARK_NAMES.get(place, place),
                      marker="." if len(rows) < 3 else None)
        axes.set(xlabel="RL step", ylabel="success rate of rollouts, %", ylim=(-2, 102))
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.legend(title="running mean", loc="best")
        return _save(figure, csv, "reward_curve")


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
                            label=METHOD_NAMES.get(method, method), hatch=_HATCHES[number % len(_HATCHES)], edgecolor="#333333", linewidth=0.6,
                            error_kw={"ecolor": "#000000", "capsize": 3, "linewidth": 1, "path_effects": _HALO})
            axes.bar_label(bars, ["" if pd.isna(rate) else f"{100 * rate:.1f}" for rate in rows["rate"]], padding=2, fontsize=8 if len(methods) < 4 else 6)
        axes.set(ylabel="success rate on test tasks, %", ylim=(0, 110))
        axes.set_xticks(range(len(places)), [BENCHMARK_NAMES.get(place, place) for place in places])
        axes.grid(axis="x", visible=False)
        axes.legend(ncols=len(methods), loc="lower center", bbox_to_anchor=(0.5, 1.0))
        return _save(figure, csv, "success_rates")


def draw_comparisons(csv: str | Path) -> Path:
    """Differences between methods, task by task, with their 95 % bootstrap intervals, from `comparisons.csv`; filled where the interval excludes 0.

    The title says which method stands above (or below) which only if, over all tasks, the interval lies on one side of 0 and so does the exact
    test after Holm's correction (p below 0.05).
    """
    table = _read(csv, "benchmark", "method", "reference", "difference", "low", "high", "p_holm").iloc[::-1].reset_index(drop=True)
    pairs = list(dict.fromkeys(zip(table["method"][::-1], table["reference"][::-1])))
    with matplotlib.rc_context(_STYLE):
        figure, axes = _canvas(6.4, 1.2 + 0.38 * len(table))
        axes.axvline(0, color="#000000", linewidth=1)
        for place, row in enumerate(table.itertuples()):
            number, beyond = pairs.index((row.method, row.reference)), row.low > 0 or row.high < 0
            colour = METHOD_COLOURS.get(row.method, _COLOURS[number % len(_COLOURS)])
            axes.errorbar([100 * row.difference], [place], xerr=[[100 * (row.difference - row.low)], [100 * (row.high - row.difference)]], color=colour, capsize=3, elinewidth=1.5,
                          marker=_MARKERS[number % len(_MARKERS)], markersize=6, markerfacecolor=colour if beyond else "white")
        axes.set_yticks(range(len(table)), [f"{_difference(row)}, {BENCHMARK_NAMES.get(row.benchmark, row.benchmark)}" for row in table.itertuples()])
        axes.set(xlabel="difference of success rates on test tasks, points", ylim=(-0.6, len(table) - 0.4))
        axes.grid(axis="y", visible=False)
        found = [f"{_difference(row)}: {100 * row.difference:+.1f} points ({100 * row.low:+.1f} to {100 * row.high:+.1f})" for row in table.iloc[::-1].itertuples()
                 if row.benchmark == "all" and row.p_holm < 0.05 and (row.low > 0 or row.high < 0)]
        if found:
            figure.suptitle("\n".join(["Beyond chance over all tasks (95 % interval):", *found]), fontsize=9)
        return _save(figure, csv, "comparisons")


def draw_training_dynamics(csv: str | Path) -> Path:
    """Reward, trajectory length and turns against the RL step, from `dynamics_<variant>.csv`; saved under the same name.

    Thin lines: the seeds. Where there are several: their mean and its 95 % Student interval as a band. Dashed: the fitted line of each phase,
    with a vertical line between two phases.
    """
    table = _read(csv, "measure", "step", "seed", "value", "low", "high", "phase", "fit")
    seeds = [seed for seed in table["seed"].unique() if seed != "mean"]
    measures = list(table["measure"].unique())
    with matplotlib.rc_context(_STYLE):
        figure, panels = _canvas(6.4, 0.8 + 1.8 * len(measures), rows=len(measures))
        for axes, measure in zip(panels, measures):
            rows = table[table["measure"] == measure]
            for seed in seeds:
                line = rows[rows["seed"] == seed]
                axes.plot(line["step"], line["value"], color="#777777", linewidth=0.8, marker="." if len(line) < 3 else None, label="a seed" if seed == seeds[0] else None)
            mean = rows[rows["seed"] == "mean"]
            if len(seeds) > 1:
                axes.plot(mean["step"], mean["value"], color=_COLOURS[0], linewidth=1.5, label=f"mean of {len(seeds)} seeds")
            phases = [part for _, part in mean.groupby("phase")]
            for number, part in enumerate(phases):
                axes.plot(part["step"], part["fit"], color=_COLOURS[5], linestyle="--", label=None if number else "fitted line of a phase")
                if number:
                    axes.axvline(part["step"].iloc[0] - 0.5, color="#000000", linestyle=":", linewidth=1)
            limits = axes.get_ylim()  # of the lines: with two seeds the band is wider than the figure
            if len(seeds) > 1:
                axes.fill_between(mean["step"], mean["low"], mean["high"], color=_COLOURS[4], alpha=0.35, linewidth=0, label="95 % interval of the mean")
            axes.set(ylabel=MEASURE_NAMES.get(measure, measure), ylim=limits)
        panels[-1].set(xlabel="RL step")
        panels[-1].xaxis.get_major_locator().set_params(integer=True)
        note = f"one seed ({seeds[0]}): no band" if len(seeds) == 1 else None
        figure.legend(*panels[0].get_legend_handles_labels(), ncols=2, loc="outside upper center", title=note)
        return _save(figure, csv, Path(csv).stem)


def draw_turn_limits(csv: str | Path) -> Path:
    """Success rate against the turn limit for each method, a panel a place, with 95 % Wilson intervals, from `turn_limits.csv`.

    The title says that more turns help the last method only if the interval of its gain, over all tasks, lies above 0.
    """
    table = _read(csv, "benchmark", "method", "limit", "rate", "low", "high", "gain", "gain_low", "gain_high")
    places, methods = list(table["benchmark"].unique()), list(table["method"].unique())
    with matplotlib.rc_context(_STYLE):
        figure, panels = _canvas(1.2 + 2.6 * len(places), 3.8, columns=len(places))
        step = (table["limit"].max() - table["limit"].min()) / 60 if table["limit"].nunique() > 1 else 0.1
        for axes, place in zip(panels, places):
            for number, method in enumerate(methods):
                rows = table[(table["benchmark"] == place) & (table["method"] == method)]
                spread = [100 * (rows["rate"] - rows["low"]).clip(lower=0), 100 * (rows["high"] - rows["rate"]).clip(lower=0)]
                axes.errorbar(rows["limit"] + step * (number - (len(methods) - 1) / 2), 100 * rows["rate"], yerr=spread, capsize=2, elinewidth=1, marker=_MARKERS[number % len(_MARKERS)],
                              color=METHOD_COLOURS.get(method, _COLOURS[number % len(_COLOURS)]), markersize=5, label=METHOD_NAMES.get(method, method))
            axes.set_title(BENCHMARK_NAMES.get(place, place), fontsize=10)
            axes.set(xlabel="turn limit", xticks=sorted(table["limit"].unique()))
        panels[0].set(ylabel="success rate on test tasks, %", ylim=(0, 100))
        last = table[(table["benchmark"] == places[-1]) & (table["method"] == methods[-1])].iloc[-1]
        if last["gain_low"] > 0:
            figure.suptitle(f"More turns help {METHOD_NAMES.get(last['method'], last['method'])}: {100 * last['gain']:+.1f} points from {table['limit'].min()} to {last['limit']} turns\n"
                            f"(95 % interval {100 * last['gain_low']:+.1f} to {100 * last['gain_high']:+.1f})", fontsize=9)
        figure.legend(*panels[0].get_legend_handles_labels(), ncols=len(methods), loc="outside lower center")
        return _save(figure, csv, "turn_limits")


def draw_ablation(csv: str | Path) -> Path:
    """Success rate with its 95 % Wilson interval, tokens a reply and turns an episode for each setting and stage, over all test tasks, from `ablation_<name>.csv`.

    Saved under the same name. The title states a difference to the reference only where its interval does not hold 0.
    """
    table = _read(csv, "benchmark", "setting", "stage", "reference", "rate", "low", "high", "reply_tokens", "turns", "difference", "difference_low", "difference_high")
    table = table[table["benchmark"] == table["benchmark"].iloc[-1]]  # the last one is `all` where there are several
    settings, stages = list(table["setting"].unique()), [stage for stage in STAGE_COLOURS if stage in set(table["stage"])]
    with matplotlib.rc_context(_STYLE):
        figure, panels = _canvas(6.4, 6.4, rows=3)
        width = 0.8 / len(stages)
        for number, stage in enumerate(stages):
            rows = table[table["stage"] == stage].set_index("setting").reindex(settings)
            where = [place + (number - (len(stages) - 1) / 2) * width for place in range(len(settings))]
            spread = [100 * (rows["rate"] - rows["low"]).clip(lower=0), 100 * (rows["high"] - rows["rate"]).clip(lower=0)]
            for axes, values, form in zip(panels, (100 * rows["rate"], rows["reply_tokens"], rows["turns"]), ("%.0f", "%.1f", "%.1f")):
                bars = axes.bar(where, values, width * 0.9, yerr=spread if axes is panels[0] else None, color=STAGE_COLOURS[stage],
                                hatch="//" if number % 2 else "", edgecolor="#333333", linewidth=0.6, label=stage, error_kw={"ecolor": "#000000", "capsize": 3, "linewidth": 1})
                axes.bar_label(bars, ["" if pd.isna(value) else form % value for value in values], padding=2, fontsize=8)
        for axes, name in zip(panels, ("success rate, %", "tokens a reply", "turns an episode")):
            axes.set(ylabel=name)
            axes.margins(y=0.15)
            axes.grid(axis="x", visible=False)
        panels[0].set(ylim=(0, 110))
        panels[-1].set_xticks(range(len(settings)), settings)
        found = table[(table["difference_low"] > 0) | (table["difference_high"] < 0)]
        figure.suptitle("\n".join(f"{row.setting} − {row.reference}, {row.stage}: {100 * row.difference:+.1f} points "
                                  f"(95 % interval {100 * row.difference_low:+.1f} to {100 * row.difference_high:+.1f})" for row in found.itertuples()), fontsize=9)
        figure.legend(*panels[0].get_legend_handles_labels(), ncols=len(stages), loc="outside lower center")
        return _save(figure, csv, Path(csv).stem)


def draw_demonstrations_curve(csv: str | Path) -> Path:
    """Success rate against the number of demonstrations, before and after reinforcement learning, a panel a place, from `demonstrations_curve.csv`.

    Points with 95 % Wilson intervals; the axis is linear up to the smallest number and logarithmic beyond.
    """
    table = _read(csv, "benchmark", "setting", "stage", "rate", "low", "high")
    table["setting"] = table["setting"].astype(int)
    places, numbers = list(table["benchmark"].unique()), sorted(table["setting"].unique())
    with matplotlib.rc_context(_STYLE):
        figure, panels = _canvas(1.2 + 2.6 * len(places), 3.8, columns=len(places))
        for axes, place in zip(panels, places):
            for number, stage in enumerate(("before RL", "after RL")):
                rows = table[(table["benchmark"] == place) & (table["stage"] == stage)].sort_values("setting")
                spread = [100 * (rows["rate"] - rows["low"]).clip(lower=0), 100 * (rows["high"] - rows["rate"]).clip(lower=0)]
                axes.errorbar(rows["setting"], 100 * rows["rate"], yerr=spread, capsize=2, elinewidth=1, marker=_MARKERS[number], markersize=5, linestyle=("--", "-")[number],
                              color=STAGE_COLOURS[stage], label=stage)
            axes.set_title(BENCHMARK_NAMES.get(place, place), fontsize=10)
            axes.set_xscale("symlog", base=2, linthresh=max(1, min([one for one in numbers if one], default=1)))
            axes.set_xticks(numbers, [str(one) for one in numbers], fontsize=7)
            axes.minorticks_off()
            axes.set(xlabel="demonstrations")
        panels[0].set(ylabel="success rate on test tasks, %", ylim=(0, 100))
        figure.legend(*panels[0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
        return _save(figure, csv, Path(csv).stem)


def draw_loss(csv: str | Path) -> Path:
    """Loss against the optimizer step, from the `metrics.csv` of a behaviour cloning run; saved as `loss`."""
    table = _read(csv, "step", "loss")
    with matplotlib.rc_context(_STYLE):
        figure, axes = _canvas(6.4, 3.2)
        axes.plot(table["step"], table["loss"], color=_COLOURS[0], alpha=0.3, linewidth=1)
        window = max(1, len(table) // 20)
        axes.plot(table["step"], table["loss"].rolling(window, min_periods=1).mean(), color=_COLOURS[0], marker="." if len(table) < 3 else None)
        axes.set(xlabel="optimizer step", ylabel="loss, nats a token", ylim=(0, None))
        return _save(figure, csv, "loss")


FIGURES = (  # below results/: the CSVs, and what draws them
    ("*/main.csv", draw_success_rates),
    ("*/comparisons.csv", draw_comparisons),
    ("*/turn_limits.csv", draw_turn_limits),
    ("*/ablation_*.csv", draw_ablation),
    ("*/demonstrations_curve.csv", draw_demonstrations_curve),
    ("*/dynamics_*.csv", draw_training_dynamics),
    ("*/rl-*/reward_curve.csv", draw_reward_curve),
    ("*/bc-*/metrics.csv", draw_loss),
    ("*/offline-*/metrics.csv", draw_loss),
)


def find_figures(results: str | Path = ROOT / "results") -> list[tuple[Path, object]]:
    """(CSV, the function that draws it) of every figure in `results`, in order, but for runs set aside (`*.old`)."""
    return [(csv, draw) for pattern, draw in FIGURES for csv in sorted(Path(results).glob(pattern)) if not csv.parent.name.endswith(".old")]


def draw_all(results: str | Path = ROOT / "results") -> list[Path]:
    """Draw every figure again from the CSVs in `results`; returns the paths of the PNGs, in order.

    Raises AnalysisError if there is nothing to draw from, or a CSV cannot be drawn.
    """
    found = find_figures(results)
    if not found:
        raise AnalysisError(f"{results}: there is no CSV of a figure; ./wr1 demo makes some.")
    return [draw(csv) for csv, draw in found]


_gathered: list[Figure] | None = None  # while it is a list, `_save` adds to it and writes no file


def gather_figures(found: list[tuple[Path, object]], pdf: str | Path, root: str | Path) -> dict[str, bytes]:
    """Draw these (see `find_figures`) as the pages of one PDF, each above the path of its CSV below `root`; no file beside a CSV is touched.

    Returns for each figure, by the path beside its CSV that it has as a file, without suffix and below `root`, its PNG. Raises AnalysisError if a CSV cannot be drawn.
    """
    global _gathered
    pngs = {}
    with PdfPages(pdf, metadata={"CreationDate": None, "Producer": None, "Creator": None, "Title": "WR1: figures"}) as pages:
        for csv, draw in found:
            _gathered = []
            try:
                name = draw(csv).relative_to(root).with_suffix("").as_posix()
                (figure,) = _gathered
            finally:
                _gathered = None
            image = io.BytesIO()
            with matplotlib.rc_context(_STYLE):
                figure.savefig(image, metadata={"Software": None})
                figure.text(0, -0.02, csv.relative_to(root).as_posix(), fontsize=7, color="#555555", va="top")
                pages.savefig(figure, bbox_inches="tight")
            pngs[name] = image.getvalue()
    return pngs


def _read(csv: str | Path, *columns: str) -> pd.DataFrame:
    """Raises AnalysisError if there is no such file, or a column or every row is missing."""
    if not Path(csv).is_file():
        raise AnalysisError(f"{csv}: there is no such file to draw from; run the notebook that writes it first.")
    table = pd.read_csv(csv, dtype={"seed": str, "setting": str, "reference": str})
    missing = [name for name in columns if name not in table]
    if missing:
        raise AnalysisError(f"{csv}: column {missing[0]!r} is missing; the figure needs {', '.join(columns)}.")
    if table.empty:
        raise AnalysisError(f"{csv}: there is no row to draw.")
    return table


def _canvas(width: float, height: float, rows: int = 0, columns: int = 0):
    """A figure of that size in inches, off screen, with one pair of axes, or a list of them below or beside each other that share the common axis."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    if not rows and not columns:
        return figure, figure.add_subplot()
    return figure, list(figure.subplots(max(1, rows), max(1, columns), sharex=bool(rows), sharey=bool(columns), squeeze=False).flat)


def _save(figure: Figure, csv: str | Path, name: str) -> Path:
    """Write `<name>.pdf` and `<name>.png` beside the CSV, without dates or versions in them, but with the CSV's name and hash; returns the PNG's path.

    Within `gather_figures` nothing is written.
    """
    if _gathered is not None:
        _gathered.append(figure)
        return Path(csv).with_name(f"{name}.png")
    stem, source = Path(csv).with_name(name), _stamp(Path(csv))
    figure.savefig(stem.with_suffix(".pdf"), metadata={"CreationDate": None, "Producer": None, "Creator": None, "Subject": source})
    figure.savefig(stem.with_suffix(".png"), metadata={"Software": None, "Source": source})
    return stem.with_suffix(".png")


def _difference(row) -> str:
    return " − ".join(METHOD_NAMES.get(one, one) for one in (row.method, row.reference))


def _stamp(csv: Path) -> str:
    return f"{csv.name} sha256:{hashlib.sha256(csv.read_bytes()).hexdigest()}"
