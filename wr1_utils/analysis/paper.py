"""The paper's reported numbers beside those measured here, and clearly apart from them.

`data/paper_results.csv` was typed once: model, method, site, rate (per cent, as printed), source. `abstract` is what the paper's abstract
says; `second hand` was taken from a published reading of the paper's tables and not checked against them (WebRL's mean stands in the
abstract of its own paper). The benchmark is WebArena-Lite, 165 tasks; its "CMS" is the site `shopping_admin`. BC-CoT is what R1-CoT
starts from.
"""

from pathlib import Path

import pandas as pd

from wr1_utils.analysis.stats import wilson
from wr1_utils.analysis.tables import AnalysisError, read_table, write_table
from wr1_utils.settings import ROOT, Settings, project_path

PAPER_RESULTS = ROOT / "data" / "paper_results.csv"
PAPER_TASKS = 165
PAPER_METHODS = {"prompting": "base", "BC": "bc", "BC-CoT": "bc_cot", "Filtered BC": "filtered_bc", "AWR": "awr", "WebAgent-R1": "r1", "R1-Zero": "r1_zero", "R1-CoT": "r1_cot"}
SOURCES = ("abstract", "second hand")
_COLUMNS = ["model", "method", "site", "rate", "source"]


def paper_results(path: str | Path = PAPER_RESULTS) -> pd.DataFrame:
    """The paper's reported success rates, as typed. Raises AnalysisError for a missing column, an unknown source or a rate that is none."""
    table = pd.read_csv(path)
    if list(table.columns) != _COLUMNS:
        raise AnalysisError(f"{path}: the columns must be {', '.join(_COLUMNS)}, not {', '.join(table.columns)}.")
    for row in table.itertuples():
        if row.source not in SOURCES or not 0 <= row.rate <= 100:
            raise AnalysisError(f"{path}, line {row.Index + 2}: a rate is from 0 to 100 and a source {' or '.join(SOURCES)}, not {row.rate} and {row.source!r}.")
    return table


def beside_paper(main: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """From the rows of `main.csv` and of `paper_results`, one row for each method, site and reported model; rates are fractions.

    What the paper reports has columns `reported_…` (with a Wilson interval of 165 tasks where the rate is that of all sites), what was measured
    here columns `measured_…`: all test tasks of each benchmark with sites of the paper, pooled over seeds where there are several. A side that
    has nothing stays empty.
    """
    reported = pd.DataFrame({"method": paper["method"].map(PAPER_METHODS).fillna(paper["method"]), "site": paper["site"], "reported_model": paper["model"],
                             "reported_rate": (paper["rate"] / 100).round(4)})
    bounds = [wilson(round(rate * PAPER_TASKS), PAPER_TASKS) if site == "all" else (float("nan"),) * 2 for rate, site in zip(reported["reported_rate"], reported["site"])]
    reported[["reported_low", "reported_high"]] = bounds
    reported["reported_source"] = paper["source"]
    places = main.loc[main["site"].isin(set(paper["site"]) - {"all"}), "benchmark"].unique()
    ours = main[(main["split"] == "test") & main["benchmark"].isin(places)]
    seeds = ours.groupby(["benchmark", "method"])["seed"].transform(lambda seeds: "pooled" if "pooled" in set(seeds) else seeds.iloc[0])
    ours = ours[ours["seed"] == seeds]
    measured = ours[["method", "site"]].assign(**{f"measured_{name}": ours[name] for name in ("benchmark", "seed", "tasks", "rate", "low", "high")})
    measured["measured_tasks"] = measured["measured_tasks"].astype("Int64")
    order = {name: number for number, name in enumerate(dict.fromkeys([*reported["method"], *measured["method"]]))}
    sites = {name: number for number, name in enumerate(dict.fromkeys([*paper["site"], *measured["site"]]))}
    both = reported.merge(measured, on=["method", "site"], how="outer", sort=False)
    keys = both.assign(_method=both["method"].map(order), _site=both["site"].map(sites), _model=both["reported_model"].map({m: n for n, m in enumerate(paper["model"].unique())}))
    return both.loc[keys.sort_values(["_method", "_model", "_site", "measured_benchmark"], kind="stable").index].reset_index(drop=True)


def make_paper_table(settings: Settings) -> Path:
    """Write `beside_paper` (CSV, Markdown, LaTeX) from the profile's `main.csv`; returns their folder. Raises AnalysisError if that is missing."""
    folder = project_path(settings.results) / settings.profile
    write_table(beside_paper(read_table(folder / "main.csv"), paper_results()), folder / "beside_paper")
    return folder
