"""`wr1 demo` and `wr1 run`: the notebooks of the whole way, run one after another by papermill.

Which methods, and with which seeds, the profile says (`run.methods`, `run.seeds`). The executed copies are
`results/<profile>/<notebook>-s<seed>.ipynb`, with the method's name in it where a notebook runs more than once. A notebook that ended well with the same settings is skipped; one
that was interrupted runs again and continues from what its stage had saved.
"""

import hashlib
import json
import logging
import os
import re
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import papermill
import tomlkit
from nbclient.exceptions import DeadKernelError

from wr1_utils.analysis.tables import METHODS, compact_table
from wr1_utils.errors import WR1Error
from wr1_utils.runs import Run, find_run, fingerprint, outdated, relevant, say_duration
from wr1_utils.settings import ROOT, Settings, SettingsError, load_settings, near_miss, project_path, to_dict, with_style
from wr1_utils.tasks import BENCHMARKS

OFFLINE = ("filtered_bc", "awr")  # named here too, so that the command line starts without torch
VARIANTS = ("r1", "r1_zero", "r1_cot")


class DemoError(WR1Error, RuntimeError):
    """A notebook of the way did not run to its end."""


@dataclass(frozen=True)
class Step:
    notebook: str
    stage: str = ""  # what decides which settings its outcome depends on
    variant: str = ""
    style: str = ""  # of the thoughts, where it is not the profile's
    suffix: str = ""  # of the executed copy's name, where a notebook runs more than once
    leaves_run: bool = False  # it leaves the run folder <stage>-<variant>-s<seed>
    parameters: dict = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.notebook}-{self.suffix}" if self.suffix else self.notebook


def way(methods: tuple[str, ...], first: bool = True) -> list[Step]:
    """The steps to these methods with one seed, base model and behaviour cloning included; `first`: with the machine's own notebook before them.

    Raises SettingsError for an unknown method, or if none of them is a variant of reinforcement learning.
    """
    for method in methods:
        if method not in (*OFFLINE, *VARIANTS):
            raise SettingsError(f"run.methods holds {method!r}{near_miss(method, (*OFFLINE, *VARIANTS))}; it may hold {', '.join((*OFFLINE, *VARIANTS))}.")
    if not set(methods) & set(VARIANTS):
        raise SettingsError(f"run.methods must hold at least one of {', '.join(VARIANTS)}.")
    steps = [Step("00_environment_setup")] if first else []
    steps += [Step("01_tasks_and_demonstrations", "demos", leaves_run=True), Step("02_bc_warmup", "bc", leaves_run=True)]
    for method in methods:
        if method in OFFLINE:
            steps.append(Step("02_bc_warmup", "offline", method, suffix=method, leaves_run=True, parameters={"method": method}))
            continue
        if method == "r1_cot":
            cot = {"style": "cot", "suffix": "cot", "leaves_run": True, "parameters": {"style": "cot"}}
            steps += [Step("01_tasks_and_demonstrations", "demos", **cot), Step("02_bc_warmup", "bc", **cot)]
        suffix, style = ("", "") if method == "r1" else (method, "cot" if method == "r1_cot" else "")
        steps.append(Step("03_rl_training", "rl", method, style, suffix, leaves_run=True, parameters={"variant": method}))
    wanted = {"base", "bc", *methods} | ({"bc_cot"} if "r1_cot" in methods else set())
    evaluated = [method for method in METHODS if method in wanted]
    main = next(method for method in VARIANTS if method in methods)  # whose reward curve is shown
    evaluated = ",".join([method for method in evaluated if method != main] + [main])
    return [*steps, Step("04_evaluation", "evaluation", parameters={"methods": evaluated}), Step("08_main_results", "results", parameters={"methods": evaluated})]


def run(profile: str, seed: int | None = None, benchmark: str = "", notebooks: Path = ROOT / "notebooks") -> None:
    """Run what is left of the way and print the main table; with a `seed` for it alone, else for each of `run.seeds`; with a `benchmark`, on it alone
    (see `only_benchmark`).

    Raises SettingsError, or DemoError for a missing model folder, before anything starts; DemoError when a notebook fails.
    """
    if benchmark:
        profile = only_benchmark(profile, benchmark)
    settings = load_settings(profile)
    seeds = settings.run.seeds if seed is None else (seed,)
    if not seeds:
        raise SettingsError(f"run.seeds in profile {settings.profile} is empty; name at least one seed.")
    plan = [(load_settings(profile, seed=one), step) for one in seeds for step in way(settings.run.methods, one == seeds[0])]
    model = project_path(settings.model.path)
    if not model.is_dir():
        raise DemoError(f"There is no model folder {model}, which profile {settings.profile} names as model.path; put the weights there or name another folder.")
    folder = project_path(settings.results) / settings.profile
    folder.mkdir(parents=True, exist_ok=True)
    weights = project_path(settings.checkpoints) / settings.profile
    fresh = not weights.is_dir()  # without it, results that are there came with the clone: nothing of them is skipped
    weights.mkdir(parents=True, exist_ok=True)
    expected = [_expected_seconds(step, settings) for _, step in plan]
    started, worked, planned, ran = time.monotonic(), 0.0, 0.0, set()  # ran: seeds of which a step ran, so that those after it run too
    for number, (settings, step) in enumerate(plan, 1):
        title = f"[{number}/{len(plan)}] {step.title}" + (f", seed {settings.seed}" if len(seeds) > 1 else "")
        source, target = notebooks / f"{step.notebook}.ipynb", folder / f"{step.title}-s{settings.seed}.ipynb"
        if not source.is_file():
            raise DemoError(f"The notebook {source} is missing; git checkout -- notebooks brings it back.")
        mark = _fingerprint(step, settings, source)
        again = fresh or (ran if step.stage == "results" else settings.seed in ran)
        if not again and _is_done(step, settings, target, mark):
            print(f"{title}: done before with the same settings, skipped ({_shown(target)})", flush=True)
            continue
        ran.add(settings.seed)
        left_off = _finished_steps(step, settings)
        if left_off:
            print(f"{title}: it was interrupted and goes on after step {left_off}", flush=True)
        speed = worked / planned if planned > 10 else 1.0
        later = speed * sum(expected[number:])
        guess = expected[number - 1]
        seconds = _execute(step, {"profile": profile, "seed": settings.seed, **step.parameters}, source, target, title, speed * guess, later)
        worked, planned = worked + seconds, planned + guess
        _mark_done(source, target, mark, seconds)
        print(f"{title}: done in {say_duration(seconds)}", flush=True)
    print(f"\nThe way took {say_duration(time.monotonic() - started)}; executed notebooks, tables and figures are in {_shown(folder)}.\n")
    print(compact_table(folder))


def only_benchmark(profile: str, benchmark: str) -> str:
    """Writes the profile `<profile>-<benchmark>`, which is the given one with that benchmark alone, into its folder of results; returns its path.

    It has results of its own, beside those of the profile. Raises SettingsError for an unknown profile or benchmark.
    """
    settings = load_settings(profile)
    if benchmark not in BENCHMARKS:
        raise SettingsError(f"There is no benchmark {benchmark!r}{near_miss(benchmark, BENCHMARKS)}; there are {', '.join(BENCHMARKS)}.")
    name = f"{settings.profile}-{benchmark}"
    path = project_path(settings.results) / name / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tomlkit.dumps({"extends": profile, "tasks": {"benchmarks": [benchmark]}}), encoding="utf-8")
    return _shown(path)


def _execute(step: Step, parameters: dict, source: Path, target: Path, title: str, expected: float, later: float) -> float:
    """Run one notebook with a progress line; the seconds it took."""
    for talker in ("asyncio", "papermill"):  # they would tell of a kernel's end, with a traceback or a line of its own, what is told below
        logging.getLogger(talker).setLevel(logging.CRITICAL)
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # this environment's kernel, not another one that the user may have registered
    with tempfile.TemporaryDirectory() as place:
        os.environ["WR1_PROGRESS"] = report = str(Path(place) / "progress.json")
        started, stop = time.monotonic(), threading.Event()
        line = threading.Thread(target=_progress_line, args=(title, Path(report), started, stop, expected, later), daemon=True)
        line.start()
        try:
            papermill.execute_notebook(str(source), str(target), parameters, kernel_name="python3", progress_bar=False, cwd=str(ROOT),
                                       extra_arguments=["--IPKernelApp.log_level=50"])  # the kernel's own log would cut through the line
        except papermill.PapermillExecutionError as error:
            message = re.sub(r"\x1b\[[0-9;]*m", "", error.evalue).strip()
            raise DemoError(f"{step.notebook} stopped in cell {error.exec_count}: {error.ename}: {message} (the whole story is in {_shown(target)})") from None
        except DeadKernelError:
            raise DemoError(f"{step.notebook} stopped because its kernel died, perhaps for want of memory; the same command goes on from the last saved step.") from None
        finally:
            stop.set()
            line.join()
            del os.environ["WR1_PROGRESS"]
        return time.monotonic() - started


def _progress_line(title: str, report: Path, started: float, stop: threading.Event, expected: float, later: float) -> None:
    """Show how far the notebook is: on a terminal in one line that is rewritten, elsewhere in a new line each minute."""
    terminal = sys.stdout.isatty()
    while not stop.wait(0.5 if terminal else 60):
        elapsed = time.monotonic() - started
        try:
            state = json.loads(report.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            state = {}
        left = state.get("left") or max(expected - elapsed, 0.0)
        parts = [title, f"{state['label']} {state['done']}/{state['total']}" if state else "", state.get("note", ""),
                 f"{say_duration(elapsed)} so far", f"about {say_duration(max(left + later, 1))} left in all"]
        text = " · ".join(part for part in parts if part)
        print(f"\r{text[:119]:<119}" if terminal else text, end="" if terminal else "\n", flush=True)
    if terminal:
        print("\r" + " " * 119 + "\r", end="", flush=True)


def _finished_steps(step: Step, settings: Settings) -> int:
    """The training step from which an interrupted run of this step of the way goes on; 0 if there is none."""
    run = _run_of(step, settings)
    if not step.leaves_run or run.done or outdated(run, with_style(settings, step.style) if step.style else settings):
        return 0
    saved = [int(mark.parent.name.split("-")[1]) for mark in run.checkpoints.glob("checkpoint-*/complete.json")]
    return max(saved, default=0) // (settings.rl.minibatches if step.stage == "rl" else 1)


def _run_of(step: Step, settings: Settings) -> Run:
    return find_run(settings, step.stage, (step.style or settings.demos.style) if step.stage in ("demos", "bc") else step.variant)


def _expected_seconds(step: Step, settings: Settings) -> float:
    """A rough guess for the small model on two cores, for the estimate of the time left; measured speed corrects it."""
    demonstrations, places = settings.demos.count, len(settings.tasks.benchmarks)
    return {"": 10, "demos": 15 + 0.5 * demonstrations * places, "bc": 20 + 0.02 * demonstrations * places * settings.bc.epochs,
            "offline": 60 + settings.offline.tasks * settings.offline.group_size * (0.3 if step.variant == "filtered_bc" else 0.1),
            "rl": 20 + settings.rl.steps * settings.rl.tasks_per_step * settings.rl.group_size * 0.2,
            "evaluation": 60 * len(step.parameters.get("methods", "").split(",")), "results": 15}[step.stage]


def _fingerprint(step: Step, settings: Settings, source: Path) -> str:
    """A hash of all that decides what an executed notebook shows: its cells, its parameters, the settings and the model."""
    cells = [cell.source for cell in nbformat.read(source, as_version=4).cells]
    content = [cells, step.parameters, relevant(step.stage, to_dict(settings)), fingerprint(project_path(settings.model.path))]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _is_done(step: Step, settings: Settings, target: Path, mark: str) -> bool:
    if not target.is_file() or (step.leaves_run and not _run_of(step, settings).done):
        return False
    return nbformat.read(target, as_version=4).metadata.get("wr1", {}).get("fingerprint") == mark


def _mark_done(source: Path, target: Path, mark: str, seconds: float) -> None:
    notebook = nbformat.read(target, as_version=4)
    notebook.metadata["wr1"] = {"fingerprint": mark, "seconds": round(seconds, 1)}
    notebook.metadata["papermill"].update(input_path=_shown(source), output_path=_shown(target))  # no paths of this machine
    nbformat.write(notebook, target)


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
