"""Ablations: finished evaluations that differ in one setting, side by side, and success against the number of demonstrations.

Each ablation compares a few *settings*, the first of them the reference, at the stages before and after reinforcement learning. A setting
that needs other weights has a profile of its own, `<profile>-<suffix>`, with results beside those of the profile: those of `laptop` are
in `data/profiles/ablations/`. What is missing is said in a sentence with the command that makes it, and the rest is compared.

Counting is that of analysis/tables.py. `reply_tokens` is the mean length of one reply ("response length"), `turns` the mean number of
turns of a scored episode ("interactions"). Differences of success are taken task by task over the tasks that both sides were scored on.
"""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from tabulate import tabulate

from wr1_utils.analysis.paper import PAPER_METHODS, SOURCES, paper_results
from wr1_utils.analysis.tables import AnalysisError, comparison_table, finished_evaluations, main_table, read_episodes, write_table
from wr1_utils.runs import relevant
from wr1_utils.settings import PROFILES, ROOT, Settings, near_miss, project_path, to_dict

PAPER_ABLATIONS = ROOT / "data" / "paper_ablations.csv"
ABLATION_PROFILES = PROFILES / "ablations"


@dataclass(frozen=True)
class Arm:
    """One setting of an ablation: its name, the end of its profile's name ("" = the profile itself), and the method at each stage."""

    setting: str
    suffix: str
    stages: dict[str, str]


_WARMED_UP = {"before RL": "bc", "after RL": "r1"}
ABLATIONS = {  # the first setting is the reference
    "initialisation": (Arm("R1", "", _WARMED_UP), Arm("R1-Zero", "", {"before RL": "base", "after RL": "r1_zero"}),
                       Arm("R1-CoT", "", {"before RL": "bc_cot", "after RL": "r1_cot"})),
    "thinking": (Arm("thinking", "", {"prompted": "base", **_WARMED_UP}), Arm("no thinking", "bare", {"prompted": "base", **_WARMED_UP})),
    "normalizer": (Arm("paper", "", _WARMED_UP), Arm("constant", "constant", _WARMED_UP)),
    "compression": (Arm("compressed", "", _WARMED_UP), Arm("whole pages", "whole", _WARMED_UP)),
    "context": (Arm("exact", "", _WARMED_UP), Arm("flat", "flat", _WARMED_UP)),
}
_NOTEBOOKS = {  # what makes the weights of methods that `wr1 run` makes only where the profile's run.methods names them
    "bc_cot": ("01_tasks_and_demonstrations -p style cot", "02_bc_warmup -p style cot"),
    "r1_zero": ("03_rl_training -p variant r1_zero",),
    "r1_cot": ("03_rl_training -p variant r1_cot",),
}
_COLUMNS = ["benchmark", "setting", "stage", "profile", "method", "reference", "changed", "seeds", "tasks", "successes", "errors", "rate", "low", "high", "reply_tokens", "turns", "mismatch",
            "difference", "difference_low", "difference_high", "difference_p", "gain", "gain_low", "gain_high", "gain_p"]


def make_ablation(settings: Settings, name: str) -> Path | None:
    """Write `ablation_<name>` (CSV, Markdown, LaTeX) into the profile's results and return the CSV's path; say what is missing.

    None, and nothing is written, while fewer than two settings have a finished evaluation. Raises AnalysisError for an unknown name.
    """
    if name not in ABLATIONS:
        raise AnalysisError(f"There is no ablation {name!r}{near_miss(name, ABLATIONS)}; there are {', '.join(ABLATIONS)}.")
    return _make(settings, ABLATIONS[name], f"ablation_{name}", ABLATIONS[name][0].setting)


def make_demonstrations_curve(settings: Settings) -> Path | None:
    """The same as `demonstrations_curve`: the settings are the numbers of demonstrations that behaviour cloning was made from.

    They come from the profile, from all profiles `<profile>-demos-…` that have results or a file in `data/profiles/ablations/`, and, with none at all,
    from the base model and R1-Zero. The reference is the profile itself.
    """
    folder = project_path(settings.results)
    pattern = f"{settings.profile}-demos-*"
    found = {path.name for path in folder.glob(pattern) if path.is_dir()} | {path.stem for path in ABLATION_PROFILES.glob(f"{pattern}.toml")}
    numbered = {}
    for suffix in ("", *sorted(name.removeprefix(f"{settings.profile}-") for name in found)):
        made = sorted(_folder(settings, suffix).glob(f"bc-{settings.demos.style}-s*[0-9]/summary.json"))
        if made:
            numbered[json.loads(made[0].read_text(encoding="utf-8"))["demonstrations"]] = suffix
        else:
            print(_say_missing(settings, "demonstrations_curve", suffix, suffix or "the profile", ["bc", "r1"]))
    arms = [Arm("0", "", {"before RL": "base", "after RL": "r1_zero"}), *(Arm(str(number), suffix, _WARMED_UP) for number, suffix in sorted(numbered.items()))]
    return _make(settings, arms, "demonstrations_curve", next((arm.setting for arm in arms[1:] if not arm.suffix), "0"))


def ablation_table(episodes: pd.DataFrame, reference: str, seed: int = 0, resamples: int = 10_000) -> pd.DataFrame:
    """One row for each benchmark (and `all` if there are several), setting and stage, in their order in `episodes`.

    `episodes`: as `load_evaluations` gives them, with columns `setting`, `stage`, `profile`, `changed` and `mismatch`. Several seeds are pooled.
    `difference` is the rate minus that of the setting `reference` at the same stage, `gain` the rate minus that of the setting's stage before, both task
    by task (a task's reward is its mean over the seeds of each side) with a 95 % bootstrap interval and a p-value corrected by Holm's method over
    the table; empty where there is nothing to compare with.
    """
    key = episodes["setting"] + "\n" + episodes["stage"]
    about = episodes.assign(key=key).drop_duplicates("key").set_index("key")[["setting", "stage", "profile", "method", "changed", "mismatch"]]
    order = list(about.index)
    stage_before = {one: other for other, one in zip(order, order[1:]) if about["setting"][one] == about["setting"][other]}
    to_reference = {one: f"{reference}\n{about['stage'][one]}" for one in order if about["setting"][one] != reference}
    labelled = episodes.assign(method=key)
    several = labelled["benchmark"].nunique() > 1
    rates = main_table(pd.concat([labelled, labelled.assign(benchmark="all")]) if several else labelled)
    rates = rates[(rates["split"] == "test") & (rates["site"] == "all")].rename(columns={"method": "key"})
    seeds = rates.groupby(["benchmark", "key"])["seed"]
    rates["seeds"] = seeds.transform("size") - seeds.transform(lambda one: int("pooled" in set(one))).astype(int)
    rates = rates[(rates["seed"] == "pooled") | (rates["seeds"] == 1)]
    compared = comparison_table(labelled, [*to_reference.items(), *stage_before.items()], seed, resamples)
    for name, pairs in (("difference", to_reference), ("gain", stage_before)):
        rows = compared[compared["reference"] == compared["method"].map(pairs)]
        rows = rows.rename(columns={"method": "key", "difference": name, "low": f"{name}_low", "high": f"{name}_high", "p_holm": f"{name}_p"})
        rates = rates.merge(rows[["benchmark", "key", name, f"{name}_low", f"{name}_high", f"{name}_p"]], on=["benchmark", "key"], how="left")
    places = [*sorted(set(labelled["benchmark"])), "all"]
    rates = rates.sort_values(["benchmark", "key"], key=lambda column: column.map((places if column.name == "benchmark" else order).index), kind="stable")
    return rates.merge(about, left_on="key", right_index=True).assign(reference=reference)[_COLUMNS].reset_index(drop=True)


def paper_ablation(name: str, path: str | Path = PAPER_ABLATIONS) -> pd.DataFrame:
    """What the paper reports for an ablation, as typed: model, setting, stage, rate (per cent), reply_tokens, turns, source. Empty if it reports nothing.

    The thinking formats are in `data/paper_ablations.csv`; the rates of the initialisations are those of `data/paper_results.csv`. Raises AnalysisError for
    an unknown ablation in the file, a source that is none, or a rate that is none.
    """
    columns = ["model", "setting", "stage", "rate", "reply_tokens", "turns", "source"]
    typed = pd.read_csv(path)
    for row in typed.itertuples():
        if row.ablation not in ABLATIONS or row.source not in SOURCES or not 0 <= row.rate <= 100:
            raise AnalysisError(f"{path}, line {row.Index + 2}: no ablation, source or rate from 0 to 100: {row.ablation!r}, {row.source!r}, {row.rate}.")
    if name != "initialisation":
        return typed.loc[typed["ablation"] == name, columns].reset_index(drop=True)
    reported = paper_results()
    reported = reported[(reported["site"] == "all") & (reported["model"] == "Qwen2.5-3B")].assign(method=lambda table: table["method"].map(PAPER_METHODS)).set_index("method")
    rows = [{"setting": arm.setting, "stage": stage, **reported.loc[method, ["model", "rate", "source"]]} for arm in ABLATIONS[name] for stage, method in arm.stages.items()]
    return pd.DataFrame(rows).reindex(columns=columns)


def compact_ablation(csv: str | Path) -> str:
    """The rows of all tasks of an ablation's CSV as a Markdown table, in per cent and points."""
    table = pd.read_csv(csv, dtype={"setting": str, "reference": str})
    table = table[table["benchmark"] == table["benchmark"].iloc[-1]]
    rows = [[row.setting, row.stage, f"{row.successes} of {row.tasks - row.errors}", f"{100 * row.rate:.1f}", f"{100 * row.low:.1f} to {100 * row.high:.1f}",
             f"{row.reply_tokens:.1f}", f"{row.turns:.1f}", _points(row.gain, row.gain_low, row.gain_high),
             _points(row.difference, row.difference_low, row.difference_high)] for row in table.itertuples()]
    headers = ["setting", "stage", "solved", "success rate, %", "95 % Wilson interval", "tokens a reply", "turns an episode", "points over the stage before",
               f"points over {table['reference'].iloc[0]}"]
    return tabulate(rows, headers, tablefmt="pipe", disable_numparse=True, colalign=["left"] * 2 + ["right"] * 7)


# ---- small parts -----------------------------------------------------------------------------------------------------------------


def _make(settings: Settings, arms, stem: str, reference: str) -> Path | None:
    runs = {(arm.setting, stage): _evaluations(settings, arm, method) for arm in arms for stage, method in arm.stages.items()}
    for arm in arms:
        missing = [method for stage, method in arm.stages.items() if not runs[arm.setting, stage]]
        if missing:
            print(_say_missing(settings, stem, arm.suffix, arm.setting, missing))
    last = {arm.setting: [run for stage in arm.stages for run in runs[arm.setting, stage]][-1:] for arm in arms}
    if sum(map(bool, last.values())) < 2:
        print(f"{stem}: fewer than two settings have a finished evaluation, so there is nothing to compare yet.")
        return None
    changed = {setting: _changed(one, last[reference]) for setting, one in last.items()}
    parts = [read_episodes(run).assign(setting=arm.setting, stage=stage, profile=run.parent.name, mismatch=_mismatch(run), changed=changed[arm.setting])
             for arm in arms for stage in arm.stages for run in runs[arm.setting, stage]]
    return write_table(ablation_table(pd.concat(parts, ignore_index=True), reference), _folder(settings, "") / stem)


def _folder(settings: Settings, suffix: str) -> Path:
    return project_path(settings.results) / "-".join(part for part in (settings.profile, suffix) if part)


def _evaluations(settings: Settings, arm: Arm, method: str) -> list[Path]:
    return [run for run in finished_evaluations(_folder(settings, arm.suffix)) if run.name.split("-")[1] == method]


def _changed(runs: list[Path], reference: list[Path]) -> str:
    """The settings in which a run differs from one of the reference, by name: what an ablation changes, and whatever else was."""
    if not runs or not reference:
        return ""
    defaults = to_dict(Settings(profile=""))  # a setting that did not exist yet had what is now its default
    one, other = (relevant("eval", defaults) | relevant("eval", tomllib.loads((run / "settings.toml").read_text(encoding="utf-8"))) for run in (runs[0], reference[0]))
    return ", ".join(name for name in one if one[name] != other.get(name) and name not in ("profile", "seed"))


def _mismatch(evaluation: Path) -> float:
    """Mean |recomputed − recorded log-prob| (nats a token) over the steps of the RL run that an evaluation is of; NaN if it is of none that is here."""
    metrics = evaluation.with_name(evaluation.name.replace("eval-", "rl-", 1)) / "metrics.csv"
    return pd.read_csv(metrics)["mismatch"].mean() if metrics.is_file() else float("nan")


def _say_missing(settings: Settings, stem: str, suffix: str, setting: str, methods: list[str]) -> str:
    """One sentence: which evaluations of a setting there are not, and the commands that make them."""
    folder, profile = _folder(settings, suffix).name, settings.profile
    if suffix:
        file = ABLATION_PROFILES / f"{folder}.toml"
        example = "" if file.is_file() else f" (a profile to be written first: extends = \"{profile}\" and the setting, as in laptop-{suffix}.toml there)"
        commands = [f"./wr1 run --profile {file.relative_to(ROOT)}{example}"]
    elif set(methods) & set(_NOTEBOOKS):
        notebooks = [*(one for method in methods for one in _NOTEBOOKS.get(method, ())), f"04_evaluation -p methods {','.join(methods)}"]
        commands = [f".venv/bin/papermill notebooks/{name}.ipynb out.ipynb -p profile {profile} {rest}" for name, rest in (one.split(" ", 1) for one in notebooks)]
    else:
        commands = [f"./wr1 run --profile {profile}"]
    return f"{stem}, {setting}: there is no finished evaluation of {', '.join(methods)} in {folder}; {' && '.join(commands)} makes it."


def _points(mean: float, low: float, high: float) -> str:
    return "–" if pd.isna(mean) else f"{100 * mean:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
