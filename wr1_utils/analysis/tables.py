"""Tables from the trajectories of evaluation runs: `results/<profile>/main.csv` and `comparisons.csv`.

Counting: an episode that infrastructure ended, or that cannot be scored, is an *error*. It is in `tasks` and in `errors`, and neither a
success nor a failure: rate = successes / (tasks − errors). Rates and differences are fractions; the compact table prints per cent.
"""

import io
import re
from pathlib import Path

import pandas as pd
from tabulate import tabulate

from wr1_utils.analysis.stats import holm, paired_difference, paired_p, wilson
from wr1_utils.errors import WR1Error
from wr1_utils.runs import Run
from wr1_utils.settings import ROOT, Settings, project_path
from wr1_utils.tasks.task import Task
from wr1_utils.trajectory import Trajectory, read_trajectories

METHODS = ("base", "bc", "bc_cot", "filtered_bc", "awr", "r1", "r1_zero", "r1_cot")  # the order of rows
METHOD_NAMES = {"base": "Base", "bc": "BC", "bc_cot": "BC-CoT", "filtered_bc": "Filtered BC", "awr": "AWR", "r1": "R1", "r1_zero": "R1-Zero", "r1_cot": "R1-CoT"}
BENCHMARK_NAMES = {"pocket": "Pocket Arena", "arena": "Pocket Arena, all sites", "miniwob": "MiniWoB++", "webarena-lite": "WebArena-Lite", "webarena": "WebArena", "all": "all tasks"}
COMPARISONS = (("bc", "base"), ("r1", "bc"))  # (method, reference)
TEST_SPLITS = ("seen_template", "unseen_template")  # together: "test"


class AnalysisError(WR1Error, ValueError):
    """Results that are missing or that cannot be put into a table."""


# ---- evaluation runs -> frames ---------------------------------------------------------------------------------------------------


def finished_evaluations(folder: str | Path) -> list[Path]:
    """The folders of the finished evaluations, `eval-<method>-s<seed>`, in `folder` (`results/<profile>/`), by name."""
    return [run for run in sorted(Path(folder).glob("eval-*")) if re.fullmatch(r"eval-\w+-s\d+", run.name) and (run / "summary.json").is_file()]


def load_evaluations(folder: str | Path, methods: tuple[str, ...] = ()) -> pd.DataFrame:
    """One row a test episode of every finished evaluation in `folder` (`results/<profile>/`), with the columns of `read_episodes`.

    Raises AnalysisError if there is no finished evaluation, or none of one of `methods`.
    """
    parts = [part for part in map(read_episodes, finished_evaluations(folder)) if len(part)]
    for method in methods:
        if method not in {part["method"].iloc[0] for part in parts}:
            raise AnalysisError(_run_first(folder, f" of {method}", f" and methods={method}"))
    if not parts:
        raise AnalysisError(_run_first(folder))
    return pd.concat(parts, ignore_index=True)


def read_episodes(run: Path) -> pd.DataFrame:
    """One row a test episode of a finished evaluation, given its folder.

    Columns: method, seed, benchmark, split, site, task_id, reward (NaN = error), turns, reply_tokens (both sums over the episode).
    """
    _, method, seed = run.name.split("-")
    rows = [{"method": method, "seed": int(seed[1:]), "benchmark": t.benchmark, "split": t.split, "site": t.site, "task_id": t.task_id,
             "reward": t.reward if t.valid else None, "turns": len(t.turns), "reply_tokens": t.reply_tokens}
            for t in read_trajectories(run / "trajectories.parquet") if t.split in TEST_SPLITS]
    columns = ["method", "seed", "benchmark", "split", "site", "task_id", "reward", "turns", "reply_tokens"]
    return pd.DataFrame(rows, columns=columns).astype({"reward": float})


def main_table(episodes: pd.DataFrame) -> pd.DataFrame:
    """The rows of `main.csv`: benchmark × split (test and those present) × site (all and those present) × method × seed.

    With several seeds a row `pooled` follows: counts are summed; its interval is that of one seed's number of scored tasks at the pooled
    rate, because the same tasks come back with each seed. `turns` is the mean number of turns of a scored episode, `reply_tokens` the
    mean length of one reply.
    """
    rows = []
    for benchmark, split, site, part in _parts(episodes):
        for method in methods_present(part):
            of_method = part[part["method"] == method]
            key = {"benchmark": benchmark, "split": split, "site": site, "method": method}
            seeds = sorted(of_method["seed"].unique())
            rows += [{**key, "seed": str(seed), **_counts(of_method[of_method["seed"] == seed])} for seed in seeds]
            if len(seeds) > 1:
                rows.append({**key, "seed": "pooled", **_counts(of_method, len(seeds))})
    return pd.DataFrame(rows)


def comparison_table(episodes: pd.DataFrame, pairs=COMPARISONS, seed: int = 0, resamples: int = 10_000) -> pd.DataFrame:
    """The rows of `comparisons.csv`: rate of method − rate of reference on the tasks both were scored on, for each benchmark and `all`.

    A task's reward is its mean over seeds. `tasks` is the number of pairs, `unpaired` that of tasks left out because a side has no score,
    `gained` and `lost` those that the method solves more often and less often than the reference. `p` is the paired test's (McNemar's for one
    seed), `p_holm` the same corrected for all rows of the table.
    """
    rows = []
    rewards = episodes.groupby(["benchmark", "task_id", "method"])["reward"].mean().unstack("method")
    benchmarks = sorted(episodes["benchmark"].unique())
    for method, reference in pairs:
        if method not in rewards or reference not in rewards:
            continue
        difference = rewards[method] - rewards[reference]
        for name, chosen in [*((one, [one]) for one in benchmarks), ("all", benchmarks)]:
            of_chosen = difference[difference.index.get_level_values("benchmark").isin(chosen)]
            scored = of_chosen.dropna()
            if scored.empty:
                continue
            found = paired_difference([part.to_numpy() for _, part in scored.groupby("benchmark")], seed, resamples)
            p = paired_p(scored.to_numpy(), seed, resamples)
            rows.append({"benchmark": name, "method": method, "reference": reference, "tasks": found.tasks, "unpaired": len(of_chosen) - len(scored),
                         "difference": found.mean, "low": found.low, "high": found.high, "gained": int((scored > 0).sum()), "lost": int((scored < 0).sum()),
                         "p": p, "resamples": resamples, "bootstrap_seed": seed})
    columns = ["benchmark", "method", "reference", "tasks", "unpaired", "difference", "low", "high", "gained", "lost", "p", "p_holm", "resamples", "bootstrap_seed"]
    return pd.DataFrame(rows).assign(p_holm=lambda table: holm(table["p"])).reindex(columns=columns) if rows else pd.DataFrame(columns=columns)


def count_tasks(tasks: list[Task]) -> pd.DataFrame:
    """For a look at a task set: number of tasks and one intent of each benchmark, split and template."""
    rows = pd.DataFrame([{"benchmark": t.benchmark, "split": t.split, "template": str(t.intent_template_id), "intent": t.intent} for t in tasks])
    return rows.groupby(["benchmark", "split", "template"], sort=False)["intent"].agg(tasks="size", example="first").reset_index()


def count_episodes(trajectories: list[Trajectory]) -> pd.DataFrame:
    """For a look at rollouts or demonstrations: episodes, successes, errors and mean turns of each benchmark and template."""
    rows = pd.DataFrame([{"benchmark": t.benchmark, "template": t.template, "success": t.status == "success", "error": not t.valid,
                          "turns": len(t.turns)} for t in trajectories])
    groups = rows.groupby(["benchmark", "template"], sort=False)
    return groups.agg(episodes=("success", "size"), successes=("success", "sum"), errors=("error", "sum"), turns=("turns", "mean")).reset_index()


def reward_curve_table(metrics: pd.DataFrame, window: int = 5) -> pd.DataFrame:
    """From an RL run's metrics.csv the rows of `reward_curve.csv`: step, benchmark (`all` and each), success_rate, running_mean.

    `running_mean` is the mean of the last `window` steps, fewer at the start.
    """
    places = {"all": "success_rate"} | {name.removeprefix("success_rate_"): name for name in metrics if name.startswith("success_rate_")}
    parts = [pd.DataFrame({"step": metrics["step"], "benchmark": place, "success_rate": metrics[column],
                           "running_mean": metrics[column].rolling(window, min_periods=1).mean()}) for place, column in places.items()]
    return pd.concat(parts, ignore_index=True)


# ---- frames -> files -------------------------------------------------------------------------------------------------------------


def write_table(frame: pd.DataFrame, stem: str | Path) -> Path:
    """Write `<stem>.csv` and, with the very same digits, `<stem>.md` and `<stem>.tex`. Returns the CSV's path."""
    stem = Path(stem)
    stem.parent.mkdir(parents=True, exist_ok=True)
    text = frame.to_csv(index=False, float_format=_digits, lineterminator="\n")
    cells = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    stem.with_suffix(".csv").write_text(text, encoding="utf-8")
    for suffix, form in ((".md", "pipe"), (".tex", "latex_booktabs")):
        twin = tabulate(cells, headers="keys", tablefmt=form, showindex=False, disable_numparse=True)
        stem.with_suffix(suffix).write_text(twin + "\n", encoding="utf-8")
    return stem.with_suffix(".csv")


def make_tables(settings: Settings, methods: tuple[str, ...] = ("base", "bc", "r1")) -> Path:
    """Write main and comparisons (CSV, Markdown, LaTeX) of the profile's finished evaluations; returns their folder.

    Raises AnalysisError if one of `methods` has no finished evaluation, and says what to run.
    """
    folder = project_path(settings.results) / settings.profile
    episodes = load_evaluations(folder, methods)
    write_table(main_table(episodes), folder / "main")
    write_table(comparison_table(episodes), folder / "comparisons")
    return folder


def make_reward_curve(run: Run) -> Path:
    """Write `reward_curve.csv` into the folder of an RL run, from its `metrics.csv`; returns its path. Raises AnalysisError before the first step."""
    metrics = run.metrics()
    if metrics.empty:
        raise AnalysisError(f"The run {run.name} has no step yet; run the notebook 03_rl_training with variant={run.variant} and this profile first.")
    path = run.path("reward_curve.csv")
    reward_curve_table(metrics).to_csv(path, index=False, float_format="%.6f", lineterminator="\n")
    return path


def compact_frames(folder: str | Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(rates, differences) in short, from `main.csv` and `comparisons.csv` of the folder alone: each method in each place, numbers as they are printed.

    Raises AnalysisError if one of them is missing.
    """
    main, comparisons = (read_table(Path(folder) / name) for name in ("main.csv", "comparisons.csv"))
    main = main[(main["split"] == "test") & (main["site"] == "all")]
    seeds_shown = {key: "pooled" if "pooled" in set(part["seed"]) else part["seed"].iloc[0] for key, part in main.groupby(["benchmark", "method"])}
    rates = [[BENCHMARK_NAMES.get(row.benchmark, row.benchmark), METHOD_NAMES.get(row.method, row.method), row.successes, row.tasks, row.errors,
              _per_cent(row.rate), _interval(row.low, row.high)]
             for row in main.itertuples() if row.seed == seeds_shown[row.benchmark, row.method]]
    differences = [[BENCHMARK_NAMES.get(row.benchmark, row.benchmark), " − ".join(METHOD_NAMES.get(one, one) for one in (row.method, row.reference)), row.tasks,
                    f"{100 * row.difference:+.1f}", _interval(row.low, row.high, "+.1f")] for row in comparisons.itertuples()]
    return (pd.DataFrame(rates, columns=["place", "method", "successes", "tasks", "errors", "success rate, %", "95 % Wilson interval"]),
            pd.DataFrame(differences, columns=["place", "difference", "paired tasks", "points", "95 % bootstrap interval"]))


def compact_table(folder: str | Path) -> str:
    """What `wr1 demo` prints, as Markdown: the two of `compact_frames`."""
    form = {"tablefmt": "pipe", "disable_numparse": True, "showindex": False, "headers": "keys"}
    return "\n\n".join(tabulate(frame, colalign=["left"] * 2 + ["right"] * (frame.shape[1] - 2), **form) for frame in compact_frames(folder))


def update_readme(readme: str | Path = ROOT / "README.md", results: str | Path = ROOT / "results") -> str:
    """Fill each pair of marker comments of the README with the compact table of that profile; writes the file and returns its text."""
    text = fill_markers(Path(readme).read_text(encoding="utf-8"), lambda profile: compact_table(Path(results) / profile))
    Path(readme).write_text(text, encoding="utf-8")
    return text


def fill_markers(text: str, table_of) -> str:
    """`text` with `table_of(profile)` between `<!-- begin table PROFILE -->` and `<!-- end table PROFILE -->`, wherever these stand."""
    marked = r"(<!-- begin table ([\w-]+) -->\n).*?(<!-- end table \2 -->)"
    return re.sub(marked, lambda found: f"{found[1]}{table_of(found[2])}\n{found[3]}", text, flags=re.DOTALL)


# ---- small parts -----------------------------------------------------------------------------------------------------------------


def _run_first(folder: str | Path, of: str = "", also: str = "") -> str:
    return f"There is no finished evaluation{of} in {folder}; run the notebook 04_evaluation with profile={Path(folder).name}{also} first."

def _parts(episodes: pd.DataFrame):
    """(benchmark, split, site, its rows): for each benchmark the split `test` and those present, in each the site `all` and those present."""
    for benchmark in sorted(episodes["benchmark"].unique()):
        of_benchmark = episodes[episodes["benchmark"] == benchmark]
        for split in ("test", *sorted(of_benchmark["split"].unique())):
            of_split = of_benchmark if split == "test" else of_benchmark[of_benchmark["split"] == split]
            for site in ("all", *sorted(of_split["site"].unique())):
                yield benchmark, split, site, of_split if site == "all" else of_split[of_split["site"] == site]


def methods_present(part: pd.DataFrame) -> list[str]:
    """The methods present: the known ones in their order, then others by name."""
    return sorted(part["method"].unique(), key=lambda one: (METHODS.index(one) if one in METHODS else len(METHODS), one))


def _counts(rows: pd.DataFrame, seeds: int = 1) -> dict:
    scored = rows[rows["reward"].notna()]
    successes, trials = int((scored["reward"] == 1).sum()), len(scored)
    low, high = wilson(successes / seeds, trials / seeds)
    return {"tasks": len(rows), "successes": successes, "errors": len(rows) - trials, "rate": successes / trials if trials else float("nan"),
            "low": low, "high": high, "turns": scored["turns"].mean(), "reply_tokens": scored["reply_tokens"].sum() / max(1, scored["turns"].sum())}


def read_table(path: Path) -> pd.DataFrame:
    """A table that `make_tables` wrote. Raises AnalysisError if it is missing."""
    if not path.is_file():
        raise AnalysisError(f"{path}: no such table; run the notebook 08_main_results with this profile first.")
    return pd.read_csv(path, dtype={"seed": str})


def _digits(value: float) -> str:
    """Six decimals; a p-value too small for them keeps three digits, so that it is not read as 0."""
    return f"{value:.2e}" if 0 < abs(value) < 1e-4 else f"{value:.6f}"


def _per_cent(value: float) -> str:
    return "–" if pd.isna(value) else f"{100 * value:.1f}"


def _interval(low: float, high: float, form: str = ".1f") -> str:
    return "–" if pd.isna(low) else f"{100 * low:{form}} to {100 * high:{form}}"
