"""`wr1 score FILE`: scores for what another agent did, from a file of its answers or trajectories.

A file is `.jsonl`, one object a line, or `.parquet`, one row an episode: a trajectory file of this kit, or a table with the same columns as the objects:

- `task_id`: the number among WebArena's 812, or the id as this kit writes it (`webarena-lite.4`)
- `answer`: the agent's final answer; null when it ended without one
- `url`: the address of the page it ended on, for tasks that are scored by it; with the site's address or its placeholder (`__SHOPPING__/cart`)
- `seed`: a whole number where a task was tried several times (default 0)
- `reward`: 0 or 1, or null, as scored where the sites were; taken over, and counted apart, for what cannot be told from a file (program_html)
- `status`: "infrastructure" for an episode that the browser or a site spoilt: it is an error, not a failure

A trajectory file keeps the rewards that its episodes were given on the sites, where it was scored by the variant that is asked for. Each row is
scored twice, by the records as published and as patched (tasks/webarena_patches.json), where the two differ.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from wr1_utils.analysis.stats import wilson
from wr1_utils.errors import WR1Error
from wr1_utils.settings import Settings, SettingsError, near_miss, project_path
from wr1_utils.tasks import BENCHMARKS, scoring_published, test_tasks
from wr1_utils.tasks.judge import Judge, open_judge
from wr1_utils.tasks.scoring import combine, fill_placeholders, string_match, url_match
from wr1_utils.tasks.task import Task
from wr1_utils.tasks.webarena import SITES, site_addresses, with_addresses
from wr1_utils.tasks.webarena_files import WEBARENA, overlap, patches_of, read_patches, read_task_file, webarena_scoring, webarena_tasks
from wr1_utils.trajectory import SCHEMA, STATUSES, Trajectory, read_trajectories
from wr1_utils.web.browser import InfrastructureError

_STRING = {"wr1": string_match, "webarena": scoring_published.webarena_string_match, "browsergym": scoring_published.browsergym_string_match}
_NO_SITE = "http://{}.invalid"  # stands for a site without an address: its placeholder in the file is enough
_ALLOWED = {"task_id": (int, str), "answer": (str,), "url": (str,), "seed": (int,), "reward": (int, float), "status": (str,)}
_NULLABLE = ("answer", "url", "reward", "status")


class FileError(WR1Error, ValueError):
    """A file that cannot be scored; the message names the file and each row that is wrong."""


@dataclass(frozen=True)
class Row:
    """One episode of another agent. `place` is where it stands in the file."""

    place: str
    task_id: str
    answer: str | None = None
    url: str | None = None
    seed: int = 0
    reward: float | None = None
    status: str | None = None
    ours: bool = False  # the reward was given by this kit's evaluator, by the very rules that are asked for


@dataclass(frozen=True)
class Scored:
    row: Row
    published: float | None  # None: an error, or it cannot be told from the file
    patched: float | None
    taken_over: bool  # the scores are the file's own `reward`
    why: str  # there is none


@dataclass(frozen=True)
class Report:
    benchmark: str
    file: str  # of the tasks
    sha256: str
    scoring: str
    patches: str
    notes: tuple[str, ...]
    tasks: int
    missing: tuple[str, ...]  # tasks of which the file has no row
    rows: tuple[Scored, ...]


def score_file(settings: Settings, benchmark: str, path: str | Path, scoring: str = "") -> Report:
    """Scores every row of a file against the test tasks of a benchmark; the judge and the addresses are the settings'.

    `scoring` is a variant of tasks/evaluator.py; "" is `tasks.scoring`, and `webarena` in place of `wr1` for WebArena's tasks.

    Raises FileError naming each invalid line or row, SettingsError for a benchmark that cannot be scored from files, TaskError without task files.
    """
    if benchmark not in BENCHMARKS or benchmark == "miniwob":
        names = [name for name in BENCHMARKS if name != "miniwob"]
        raise SettingsError(f"Files cannot be scored for {benchmark!r}{near_miss(benchmark, names)}; they can for {', '.join(names)}.")
    if scoring and scoring not in _STRING:
        raise SettingsError(f"There is no variant of scoring called {scoring!r}{near_miss(scoring, _STRING)}; there are {', '.join(_STRING)}.")
    usual = settings.tasks.scoring
    scoring = scoring or (webarena_scoring(usual) if benchmark in WEBARENA else usual)
    known = set(_tasks(settings, benchmark, scoring)[0])
    return score_rows(settings, benchmark, read_rows(path, benchmark, known, scoring), scoring)


def score_trajectories(settings: Settings, benchmark: str, trajectories: list[Trajectory], scoring: str) -> Report:
    """The same for trajectories of this kit; those of other benchmarks are left out."""
    mine = [one for one in trajectories if one.benchmark == benchmark]
    return score_rows(settings, benchmark, [_own_row(f"row {number}", one, scoring) for number, one in enumerate(mine, 1)], scoring)


def score_rows(settings: Settings, benchmark: str, rows: list[Row], scoring: str) -> Report:
    published, patched, file, sha256 = _tasks(settings, benchmark, scoring)
    judge = open_judge(settings.judge)
    urls = {site.upper(): _NO_SITE.format(site.replace("_", "-")) for site in (*SITES, "homepage")}
    urls |= {site.upper(): copies[0] for site, copies in site_addresses(settings.webarena).items()}
    patches = patches_of(benchmark, scoring)
    unscorable = {f"{benchmark}.{patch['task']}" for patch in patches if patch.get("unscorable")}
    scored = []
    for row in rows:
        was, now = published[row.task_id], patched[row.task_id]
        if row.ours and was.eval == now.eval:
            scored.append(Scored(row, row.reward, row.reward, False, "" if row.reward is not None else row.status))
            continue
        right, why = _score(now, row, scoring, urls, judge)
        if right is None and row.reward is not None and row.status != "infrastructure" and "program_html" in now.eval["eval_types"]:
            scored.append(Scored(row, row.reward, row.reward, True, ""))
            continue
        before = None if row.task_id in unscorable else right if was.eval == now.eval else _score(was, row, scoring, urls, judge)[0]
        scored.append(Scored(row, before, right, False, why))
    tried = {row.task_id for row in rows}
    said = f"version {read_patches()['version']}, tasks {', '.join(str(patch['task']) for patch in patches)}" if patches else ""
    notes = []
    if benchmark in WEBARENA and scoring == "wr1":
        by_url = sum("url_match" in task.eval["eval_types"] for task in published.values())
        notes.append(f"wr1 wants the whole address where these records give its beginning: it may fail any of the {by_url} tasks scored by url_match wrongly")
    if benchmark == "webarena-lite":
        notes.append(overlap(webarena_tasks(settings.webarena, benchmark, "train", scoring), list(published.values())))
    missing = tuple(name for name in published if name not in tried)
    return Report(benchmark, file, sha256, scoring, said, tuple(notes), len(published), missing, tuple(scored))


def _tasks(settings: Settings, benchmark: str, scoring: str) -> tuple[dict[str, Task], dict[str, Task], str, str]:
    """(task id → task as published, as patched, the file's name, its SHA-256)."""
    if benchmark in WEBARENA:
        both = [{task.task_id: task for task in webarena_tasks(settings.webarena, benchmark, "test", scoring, records)}
                for records in ("published", "patched")]
        file = read_task_file(settings.webarena, benchmark)
        return both[0], both[1], file.name, file.sha256
    name = f"data/tasks/{benchmark}_test.json"
    own = dataclasses.replace(settings, tasks=dataclasses.replace(settings.tasks, benchmarks=(benchmark,), test_limit=0))
    tasks = {task.task_id: task for task in test_tasks(own)}
    return tasks, tasks, name, hashlib.sha256(project_path(name).read_bytes()).hexdigest()


def _score(task: Task, row: Row, variant: str, urls: dict[str, str], judge: Judge | None) -> tuple[float | None, str]:
    """(the score, "") or (None, why there is none). All parts of the task must hold; a part that fails decides."""
    if row.status == "infrastructure":
        return None, "infrastructure"
    if row.status in ("turn_limit", "token_limit"):
        return 0.0, ""
    task = with_addresses(task, urls)
    parts, why = [], ""
    for kind in task.eval["eval_types"]:
        if kind == "string_match":
            try:
                part = _STRING[variant](task.eval["reference_answers"], row.answer, judge.for_task(task) if judge else None)
                why = why or ("needs a judge model" if part is None else "")
            except InfrastructureError as error:
                part, why = None, str(error)
        elif kind == "url_match":
            part = None if row.url is None else _url_score(task, fill_placeholders(row.url, urls), variant, urls)
            why = why or ("needs the url" if part is None else "")
        else:
            part, why = None, why or f"{kind} needs the sites"
        parts.append(part)
    found = combine(parts)
    return found, why if found is None else ""


def _url_score(task: Task, url: str, variant: str, urls: dict[str, str]) -> float:
    reference, note = task.eval["reference_url"], task.eval.get("url_note") or None
    if variant == "wr1":
        return url_match(reference, url, urls, note)
    return (scoring_published.webarena_url_match if variant == "webarena" else scoring_published.browsergym_url_match)(reference, url, note)


# ---- reading -------------------------------------------------------------------------------------------------------------------------


def read_rows(path: str | Path, benchmark: str, known: set[str], scoring: str) -> list[Row]:
    """The rows of a .jsonl or .parquet file, all valid, to be scored by a variant. Raises FileError that names every invalid line (at most ten)."""
    path = Path(path)
    if not path.is_file():
        raise FileError(f"There is no file {path}.")
    if path.suffix not in (".jsonl", ".parquet"):
        raise FileError(f"{path} is neither a .jsonl nor a .parquet file.")
    faults: list[str] = []
    rows = []
    seen: dict[tuple, str] = {}
    for place, record in _lines(path, faults) if path.suffix == ".jsonl" else _table(path, benchmark):
        try:
            row = _own_row(place, record, scoring) if isinstance(record, Trajectory) else _row(place, record, benchmark)
            if row.task_id not in known:
                raise ValueError(f"{benchmark} has no test task {row.task_id!r}")
            key = (row.task_id, row.seed)
            if key in seen:
                raise ValueError(f"task {row.task_id} with seed {row.seed} is already in {seen[key]}; give each try a seed of its own")
            seen[key] = place
            rows.append(row)
        except ValueError as error:
            faults.append(f"{place}: {error}")
    if faults:
        more = f" (and {len(faults) - 10} more)" if len(faults) > 10 else ""
        raise FileError(f"{path} cannot be scored: {'; '.join(faults[:10])}{more}.")
    if not rows:
        raise FileError(f"{path} holds no rows of {benchmark}.")
    return rows


def _lines(path: Path, faults: list[str]):
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors put a mark at the start
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not UTF-8: {error}.") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except json.JSONDecodeError as error:
                faults.append(f"line {number}: not JSON ({error.msg} at column {error.colno})")
            except RecursionError:
                faults.append(f"line {number}: brackets are nested too deeply; an answer is one text")
            except ValueError:  # of JSON that is right, Python refuses only such numbers
                faults.append(f"line {number}: it holds a number of thousands of digits")


def _table(path: Path, benchmark: str):
    try:
        columns = pq.read_schema(path).names
        if set(SCHEMA.names) - {"scoring"} <= set(columns):
            yield from ((f"row {number}", one) for number, one in enumerate(read_trajectories(path), 1) if one.benchmark == benchmark)
            return
        records = pq.read_table(path).to_pylist()
    except (pa.ArrowInvalid, OSError) as error:
        raise FileError(f"{path} is not a Parquet file: {error}.") from None
    for number, record in enumerate(records, 1):
        yield f"row {number}", {name: value for name, value in record.items() if value is not None or name in _NULLABLE}


def _own_row(place: str, one: Trajectory, scoring: str) -> Row:
    url = one.turns[-1].url if one.turns else None
    return Row(place, one.task_id, one.answer, url, 1000 * one.seed + one.member, one.reward, one.status, one.scoring == scoring)


def _row(place: str, record: object, benchmark: str) -> Row:
    """Raises ValueError that says what is wrong."""
    if not isinstance(record, dict):
        raise ValueError(f"it should be an object, not {type(record).__name__}")
    for key, value in record.items():
        if key not in _ALLOWED:
            raise ValueError(f"there is no field {key!r}{near_miss(key, _ALLOWED)}; there are {', '.join(_ALLOWED)}")
        if not (value is None and key in _NULLABLE) and (not isinstance(value, _ALLOWED[key]) or isinstance(value, bool)):
            raise ValueError(f"{key} is {value!r}; it should be {' or '.join(kind.__name__ for kind in _ALLOWED[key])}{' or null' if key in _NULLABLE else ''}")
    if "task_id" not in record or "answer" not in record:
        raise ValueError(f"{'task_id' if 'task_id' not in record else 'answer'} is missing")
    if record.get("reward") not in (None, 0, 1):
        raise ValueError(f"reward is {record['reward']!r}; it should be 0, 1 or null")
    if record.get("status") is not None and record["status"] not in STATUSES:
        raise ValueError(f"status is {record['status']!r}{near_miss(record['status'], STATUSES)}; it should be one of {', '.join(STATUSES)}")
    fill_placeholders(record.get("url") or "", dict.fromkeys((site.upper() for site in (*SITES, "homepage")), ""))
    name = str(record["task_id"])
    name = f"{benchmark}.{name}" if name.isdecimal() else name
    reward = record.get("reward")
    return Row(place, name, **{**{key: value for key, value in record.items() if key != "task_id"}, "reward": None if reward is None else float(reward)})


# ---- telling -------------------------------------------------------------------------------------------------------------------------


def rate(scores: list[float | None]) -> dict:
    """Successes, scored rows, rate and 95 % Wilson interval; errors and what is unscored count in none of them."""
    valid = [score for score in scores if score is not None]
    successes = int(sum(valid))
    low, high = wilson(successes, len(valid))
    return {"successes": successes, "scored": len(valid), "rate": successes / len(valid) if valid else None,
            "low": low if valid else None, "high": high if valid else None}


def as_text(report: Report) -> str:
    """The report for a terminal: both rates, what they were made with, and what was left out."""
    lines = [f"{report.benchmark}, {report.tasks} test tasks: {report.file}", f"  SHA-256 {report.sha256}", f"scoring: {report.scoring}"]
    if report.patches:
        lines.append(f"patches: {report.patches}")
    for name, scores in (("as published", [one.published for one in report.rows]), ("patched", [one.patched for one in report.rows])):
        found = rate(scores)
        value = "no row could be scored" if found["rate"] is None else (
            f"{found['successes']} of {found['scored']} scored rows, {100 * found['rate']:.1f} % (95 % Wilson interval {100 * found['low']:.1f} to {100 * found['high']:.1f})")
        if report.patches or name == "patched":
            lines.append(f"{(name if report.patches else 'success rate') + ':':<14}{value}")
    differing = [one for one in report.rows if one.published != one.patched]
    lines += [f"  {one.row.task_id} ({one.row.place}): {_said(one.published)} as published, {_said(one.patched)} patched" for one in differing]
    reasons: dict[str, int] = {}
    for one in report.rows:
        if one.patched is None:
            reasons[one.why] = reasons.get(one.why, 0) + 1
    lines.append(f"rows: {len(report.rows)}" + "".join(f"; {count} without a score: {why}" for why, count in sorted(reasons.items())))
    taken_over = sum(one.taken_over for one in report.rows)
    if taken_over:
        lines.append(f"  {taken_over} scores are the file's own rewards: what these tasks left on the sites cannot be told from a file")
    if report.missing:
        lines.append(f"tasks without a row: {len(report.missing)} of {report.tasks}; they are in no rate")
    return "\n".join(lines + [f"note: {note}" for note in report.notes])


def _said(score: float | None) -> str:
    return "not scored" if score is None else f"{score:g}"


def as_json(report: Report) -> str:
    rows = [{"place": one.row.place, "task_id": one.row.task_id, "seed": one.row.seed, "published": one.published, "patched": one.patched,
             "taken_over": one.taken_over, "why": one.why} for one in report.rows]
    whole = {**{key: value for key, value in vars(report).items() if key != "rows"}, "published": rate([one.published for one in report.rows]),
             "patched": rate([one.patched for one in report.rows]), "rows": rows}
    return json.dumps(whole, indent=1, ensure_ascii=False)
