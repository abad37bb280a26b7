"""`wr1 doctor`: what is there, what is missing, and what to do about it."""

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from wr1_utils.errors import WR1Error
from wr1_utils.settings import ROOT, SettingsError, load_settings, near_miss, project_path

_WEBARENA = ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "MAP", "WIKIPEDIA", "HOMEPAGE")  # the addresses that WebArena's own code reads
_DISK_GIB = 2  # free space that a demo's checkpoints and results fit in with ease


@dataclass(frozen=True)
class Finding:
    name: str
    state: str  # what is there, or what is missing
    good: bool = True
    needed: bool = False  # the demo cannot run without it
    remedy: str = ""  # what to do, when not good


def report() -> int:
    """Print all findings; 0 if `wr1 demo` can run, else 1."""
    missing = _print(examine())
    print(f"\nThe demo cannot run yet: {', '.join(missing)} missing." if missing else "\nThe demo can run: ./wr1 demo")
    return 1 if missing else 0


def report_benchmark(profile: str, benchmark: str) -> int:
    """Print what is there of what a benchmark needs; 0 if it can run, else 1. Raises SettingsError."""
    from wr1_utils.benchmark_check import examine_benchmark
    from wr1_utils.tasks import BENCHMARKS

    if benchmark not in BENCHMARKS:
        raise SettingsError(f"There is no benchmark {benchmark!r}{near_miss(benchmark, BENCHMARKS)}; there are {', '.join(BENCHMARKS)}.")
    missing = _print(examine_benchmark(load_settings(profile, **{"tasks.benchmarks": [benchmark]})))
    print(f"\n{benchmark} cannot run yet: {', '.join(missing)} missing." if missing else f"\n{benchmark} can run.")
    return 1 if missing else 0


def _print(findings: list[Finding]) -> list[str]:
    """Prints the findings; the names of those that are needed and not good."""
    width = max(len(one.name) for one in findings)
    for one in findings:
        mark = "ok" if one.good else "MISSING" if one.needed else "-"
        print(f"{mark:<8}{one.name:<{width}}  {one.state}")
        if not one.good and one.remedy:
            print(f"{'':<8}{'':<{width}}  → {one.remedy}")
    return [one.name for one in findings if one.needed and not one.good]


def examine() -> list[Finding]:
    findings = [_python(), _torch(), _gpu(), _browser(), _disk(), *_models()]
    by_name = {one.name: one for one in findings}
    return [*findings, *_benchmarks(by_name["browser"].good)]


def browser_version(setting: str = "") -> tuple[str, str]:
    """(path, version) of the browser that an episode would use. Raises BrowserNotFound, or WR1Error if it does not start."""
    from wr1_utils.web.browser import find_browser

    path = str(find_browser(setting).path)
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WR1Error(f"The browser {path} does not start: {error}.") from None
    if answer.returncode:
        last = (answer.stderr.strip().splitlines() or ["it gave no reason"])[-1]
        raise WR1Error(f"The browser {path} does not start: {last}.")
    return path, answer.stdout.strip()


def _python() -> Finding:
    good = sys.version_info[:2] == (3, 11)
    return Finding("python", f"{platform.python_version()} ({_shown(sys.prefix)})", good, True, "use Python 3.11; ./wr1 finds it by itself if it is installed")


def _torch() -> Finding:
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return Finding("torch", "not installed", False, True, "run ./wr1 doctor rather than wr1 doctor: it installs what is missing")
    return Finding("torch", f"{version}, {os.cpu_count()} cores")


def _gpu() -> Finding:
    try:
        answer = subprocess.run(["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"], capture_output=True, text=True, timeout=30)
        names = answer.stdout.strip().splitlines() if answer.returncode == 0 else []
    except (OSError, subprocess.TimeoutExpired):
        names = []
    if not names:
        return Finding("gpu", "none; the small model needs none, the paper-3b and paper-8b profiles do", False)
    try:
        return Finding("gpu", f"{'; '.join(names)}; vllm {importlib.metadata.version('vllm')}")
    except importlib.metadata.PackageNotFoundError:
        return Finding("gpu", f"{'; '.join(names)}; vllm is not installed", False, False, "pip install -e .[gpu] in this environment")


def _browser() -> Finding:
    try:
        path, version = browser_version(load_settings("laptop").browser.path)
        return Finding("browser", f"{version} ({_shown(path)})")
    except WR1Error as error:
        return Finding("browser", str(error), False, True, "./wr1 demo installs one; or, as root: apt-get install chromium-headless-shell")


def _disk() -> Finding:
    free = shutil.disk_usage(ROOT).free / 2**30
    return Finding("disk", f"{free:.1f} GiB free", free >= _DISK_GIB, True, f"make room: {_DISK_GIB} GiB are needed for checkpoints and results")


def _models() -> list[Finding]:
    findings = []
    for profile in ("laptop", "paper-3b", "paper-8b"):
        folder = load_settings(profile).model.path
        there = (project_path(folder) / "config.json").is_file()
        remedy = "it belongs to this repository: git checkout -- data/models" if profile == "laptop" else f"put the weights there to use profile {profile}"
        findings.append(Finding(f"model {profile}", folder + ("" if there else ": not there"), there, profile == "laptop", remedy))
    return findings


def _benchmarks(browser: bool) -> list[Finding]:
    wait = "waits for a browser"
    try:
        pages = Finding("miniwob", f"package {importlib.metadata.version('miniwob')}" if browser else wait, browser, True, "see browser above")
    except importlib.metadata.PackageNotFoundError:
        pages = Finding("miniwob", "the package miniwob is not installed", False, True, "pip install -e . in this environment")
    unset = [name for name in _WEBARENA if not os.environ.get(name)]
    webarena = f"addresses not set: {', '.join(unset)}" if unset else "addresses set; wr1 doctor --benchmark webarena-lite checks the sites"
    return [Finding("pocket", "runs in this process" if browser else wait, browser, True, "see browser above"), pages, Finding("webarena", webarena, good=False)]


def _shown(path: str) -> str:
    """A path for a report that may be passed on: from the repository or the home folder, where it is in one of them."""
    for folder, name in ((ROOT, ""), (Path.home(), "~/")):
        if Path(path).is_relative_to(folder):
            return name + str(Path(path).relative_to(folder))
    return path


if __name__ == "__main__":  # python -m wr1_utils.doctor: the set-up script asks whether a browser starts
    try:
        print(*browser_version())
    except WR1Error as error:
        sys.exit(str(error))
