"""A run's folder (settings, environment stamp, metrics, summary), progress, and the check of a notebook's parameters.

A run is one stage with one seed: `results/<profile>/<stage>-<variant>-s<seed>/`, and its weights, if any, in the folder of the
same name below `data/checkpoints/<profile>/`. A run is done once its `summary.json` is written.
"""

import ast
import csv
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Literal

from wr1_utils.settings import ROOT, Settings, SettingsError, load_settings, near_miss, project_path, reply_style, to_dict, to_toml, type_error

# What a stage's outcome does not depend on. A run made with other values of these is still good.
_PLACES = ("results", "checkpoints", "browser", "sites", "webarena", "run")  # of the last but one, `records` counts where its tasks are taken
_EVALUATED = ("evaluation", "endpoint")
_LATER = {"demos": ("bc", "offline", "rl", "training", *_EVALUATED), "bc": ("offline", "rl", "training", *_EVALUATED), "rl": ("offline", *_EVALUATED),
          "offline": ("training", *_EVALUATED), "rollouts": ("training", *_EVALUATED)}
_FOR_PEOPLE = ("rollout.screenshots",)  # nor on these; a run that is done is not made again for them
_STAMPED = ("torch", "transformers", "trl", "accelerate", "datasets", "numpy", "pandas", "playwright", "miniwob")


@dataclass(frozen=True)
class Run:
    folder: Path  # absolute
    checkpoints: Path  # absolute; empty for stages without weights
    stage: str
    variant: str
    seed: int
    resumed: bool  # the folder held an unfinished run with the same settings

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def done(self) -> bool:
        return (self.folder / "summary.json").is_file()

    def path(self, name: str) -> Path:
        return self.folder / name

    def log_metrics(self, step: int, metrics: dict) -> None:
        """Add the row of one step to `metrics.csv`; a step logged again, after a resume, replaces its row."""
        rows = {int(row["step"]): row for row in _read_csv(self.folder / "metrics.csv")}
        rows[step] = {"step": step, **metrics}
        columns = list(dict.fromkeys(name for row in rows.values() for name in row))
        with _replacing(self.folder / "metrics.csv") as file:
            writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows[key] for key in sorted(rows))

    def metrics(self):
        """`metrics.csv` as a data frame, one row a step; empty before the first step."""
        import pandas

        file = self.folder / "metrics.csv"
        return pandas.read_csv(file) if file.is_file() else pandas.DataFrame({"step": []})

    def save_summary(self, summary: dict) -> None:
        """Write the run's headline numbers; this marks the run as done, so it is a stage's last act."""
        with _replacing(self.folder / "summary.json") as file:
            json.dump(summary, file, indent=2)
            file.write("\n")

    def summary(self) -> dict:
        """What `save_summary` wrote. Raises SettingsError if the run is not done."""
        if not self.done:
            raise SettingsError(f"The run {self.name} is not finished; let the notebook of its stage run to its end first.")
        return json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))


def open_run(settings: Settings, stage: str, variant: str = "", seed: int | None = None, weights: Path | None = None) -> Run:
    """Make the folder of a run, or find it again. `weights`: the folder of weights that an earlier stage made and this one starts from.

    A folder made with the same settings, base model and weights is continued (`run.resumed`) or already `run.done`. Otherwise it and its
    weights are set aside as `<name>.old` (the previous `.old` goes), and the difference is printed.
    """
    run = find_run(settings, stage, variant, seed)
    reason = outdated(run, settings, weights)
    if reason:
        print(f"{run.name}: {reason}; the earlier run is now {run.name}.old and this one starts anew.")
        for folder in (run.folder, run.checkpoints):
            _set_aside(folder)
    run.checkpoints.mkdir(parents=True, exist_ok=True)  # not in git: a run that came with a clone lacks it, and is not taken for one's own
    resumed = (run.folder / "settings.toml").is_file() and not run.done
    if not (run.folder / "settings.toml").is_file():
        run.folder.mkdir(parents=True, exist_ok=True)
        stamp = environment_stamp() | {"model": fingerprint(project_path(settings.model.path))}
        _write_json(run.folder / "environment.json", stamp | ({"weights": fingerprint(weights)} if weights else {}))
        with _replacing(run.folder / "settings.toml") as file:
            file.write(to_toml(settings))
    return Run(run.folder, run.checkpoints, run.stage, run.variant, run.seed, resumed)


def find_run(settings: Settings, stage: str, variant: str = "", seed: int | None = None) -> Run:
    """The run's place, whether it exists or not; nothing is made. For stages that read what an earlier one left."""
    seed = settings.seed if seed is None else seed
    name = "-".join(part for part in (stage, variant, f"s{seed}") if part)
    folder, checkpoints = (project_path(base) / settings.profile / name for base in (settings.results, settings.checkpoints))
    return Run(folder, checkpoints, stage, variant, seed, resumed=False)


def relevant(stage: str, tree: dict) -> dict:
    """The settings (a tree as `to_dict` gives it) that the outcome of a stage depends on, by dotted name."""
    ignored = {*_PLACES, *_LATER.get(stage, ())}
    kept = {key: value for key, value in _flat(tree) if key.split(".")[0] not in ignored and key not in _FOR_PEOPLE}
    if any(name.startswith("webarena") for name in tree.get("tasks", {}).get("benchmarks", ())):
        kept["webarena.records"] = tree.get("webarena", {}).get("records")
    return kept


def environment_stamp() -> dict:
    """Versions, commit and hardware: what a number in `results/` was made with. No names, addresses or paths."""
    versions = {name: _version(name) for name in _STAMPED}
    command = os.environ.get("WR1_COMMAND", "a notebook, run by hand or by papermill")
    return {"command": command, "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "python": platform.python_version(), **versions, "commit": _commit(),
            "system": f"{platform.system()} {platform.machine()}", "cpu": _cpu(), "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            "gpu": _gpu()}


def fingerprint(folder: Path) -> str:
    """A short hash of a model folder's files (of each its name, size and first MiB); "" without a folder."""
    digest = hashlib.sha256()
    files = sorted(file for file in folder.glob("*") if file.suffix in (".safetensors", ".json", ".gguf")) if folder.is_dir() else []
    for file in files:
        with open(file, "rb") as handle:
            digest.update(f"{file.name} {file.stat().st_size} ".encode() + handle.read(1 << 20))
    return digest.hexdigest()[:16] if files else ""


def progress(label: str) -> Callable[[int, int, str], None]:
    """A function (done, total, note) that shows how far a long step is, with an estimate of the time left.

    Under `wr1 demo` it reports to the terminal's progress line by way of the file WR1_PROGRESS; elsewhere it prints a line of its own.
    """
    started, first = time.monotonic(), None

    def show(done: int, total: int, note: str = "") -> None:
        nonlocal first
        first = done if first is None else first  # a resumed step does not begin at 0
        elapsed = time.monotonic() - started
        left = elapsed / (done - first) * (total - done) if done > first else None
        file = os.environ.get("WR1_PROGRESS")
        if file:
            with _replacing(Path(file)) as handle:
                json.dump({"label": label, "done": done, "total": total, "note": note, "left": left}, handle)
            return
        line = f"{label} {done}/{total}" + (f" · {note}" if note else "") + (f" · {say_duration(left)} left" if left and done < total else "")
        print(f"\r{line:<100}", end="\n" if done >= total else "", flush=True)

    return show


def say_duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# ---- the parameters of a notebook ------------------------------------------------------------------------------------------------


def notebook_settings(given: dict, **specs) -> Settings:
    """The first library call of a notebook: `settings = wr1.notebook_settings(globals(), profile=str, seed=int, variant=("r1", "r1_zero"))`.

    Checks the parameters (see `check_parameters`) and loads the profile. Parameters named like a setting of the tree's top (`seed`,
    `results`, `checkpoints`) replace it, `samples` and `split` set those of `evaluation`, `style` sets `demos.style` and the `model.reply_style` that reads it; a parameter
    `overrides`, a dict of dotted names, replaces any. None and "" keep the profile's value. With a `benchmark`, the tasks are that one's alone, played by the profile's
    weights, with results in a folder of their own, `<profile>-on-<benchmark>`.
    """
    check_parameters(given, **specs)
    overrides = dict(given.get("overrides") or {}) if "overrides" in specs else {}
    names = {"seed": "seed", "results": "results", "checkpoints": "checkpoints", "samples": "evaluation.samples", "split": "evaluation.split"}
    overrides |= {setting: given[name] for name, setting in names.items() if name in specs and given[name] not in (None, "")}
    if "style" in specs and given["style"]:
        overrides |= {"demos.style": given["style"], "model.reply_style": reply_style(given["style"])}
    benchmark = given["benchmark"] if "benchmark" in specs else ""
    if benchmark:
        overrides["tasks.benchmarks"] = [benchmark]
    settings = load_settings(given["profile"] if "profile" in specs else "laptop", **overrides)
    if not benchmark:
        return settings
    weights = settings.evaluation.weights or settings.profile
    return replace(settings, profile=f"{settings.profile}-on-{benchmark}", evaluation=replace(settings.evaluation, weights=weights))


def check_parameters(given: dict, **specs) -> None:
    """Refuse notebook parameters that are unknown, missing or of a wrong type, where papermill would only warn.

    `given` is the notebook's globals(); `specs` gives each allowed name a type, or a tuple of the allowed values. Unknown names are looked for in the
    cell that papermill injects (it begins with "# Parameters"), not in globals(): cells further down may have run before. Raises SettingsError.
    """
    for name in _injected_names(given):
        if name not in specs:
            raise SettingsError(f"This notebook has no parameter {name!r}{near_miss(name, specs)}; it has {', '.join(specs)}.")
    for name, spec in specs.items():
        if name not in given:
            raise SettingsError(f"The notebook's parameters cell must define {name}.")
        fault = type_error(f"Parameter {name}", given[name], Literal[spec] if isinstance(spec, tuple) else spec, "this notebook")
        if fault:
            raise SettingsError(fault)


def _injected_names(given: dict) -> list[str]:
    """The names that the last injected cell of the IPython history assigns."""
    cells = [cell for cell in given.get("In", []) if isinstance(cell, str) and cell.startswith("# Parameters")]
    if not cells:
        return []
    targets = [target for node in ast.parse(cells[-1]).body if isinstance(node, (ast.Assign, ast.AnnAssign))
               for target in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    return [target.id for target in targets if isinstance(target, ast.Name)]


# ---- small parts -----------------------------------------------------------------------------------------------------------------


def outdated(run: Run, settings: Settings, weights: Path | None = None) -> str:
    """Why the folder's run is not the one that these settings ask for; "" if it is, or if there is none."""
    if not (run.folder / "settings.toml").is_file():
        return ""
    defaults = relevant(run.stage, to_dict(Settings(profile="")))  # a setting that did not exist yet had what is now its default
    before = defaults | relevant(run.stage, tomllib.loads((run.folder / "settings.toml").read_text(encoding="utf-8")))
    now = relevant(run.stage, to_dict(settings))
    if not run.checkpoints.is_dir():
        return "it was made elsewhere, its weights are not here"
    for key in [*now, *before]:
        if before.get(key) != now.get(key):
            return f"the settings changed ({key} was {before.get(key)} and is {now.get(key)})"
    stamp = json.loads((run.folder / "environment.json").read_text(encoding="utf-8"))
    if stamp.get("model", "") != fingerprint(project_path(settings.model.path)):
        return f"the model in {settings.model.path} changed"
    return "the weights that it started from changed" if weights and stamp.get("weights") != fingerprint(weights) else ""


def _set_aside(folder: Path) -> None:
    old = folder.with_name(folder.name + ".old")
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)


def _flat(tree: dict, prefix: str = "") -> list[tuple[str, object]]:
    return [pair for key, value in tree.items() for pair in (_flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(prefix + key, value)])]


def _read_csv(file: Path) -> list[dict]:
    if not file.is_file():
        return []
    with open(file, newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


class _replacing:
    """Write a text file so that a kill at any moment leaves the old content or the new, never half."""

    def __init__(self, path: Path):
        self.path, self.passing = path, path.with_name(path.name + ".tmp")

    def __enter__(self):
        self.file = open(self.passing, "w", newline="", encoding="utf-8")
        return self.file

    def __exit__(self, kind, *_):
        self.file.close()
        if kind is None:
            os.replace(self.passing, self.path)


def _write_json(path: Path, content: dict) -> None:
    with _replacing(path) as file:
        json.dump(content, file, indent=2)
        file.write("\n")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _commit() -> str:
    """The commit of this checkout, with "+" if tracked files differ from it; "" outside git."""
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    try:
        return git("rev-parse", "--short=12", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def _gpu() -> str:
    torch = sys.modules.get("torch")
    return torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else ""
