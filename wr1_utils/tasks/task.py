"""The task record, in WebArena's JSON format, validated when it is read.

A task file is a JSON array of records. The fields are WebArena's; one is added: `split`. Fields of WebArena that
nothing here needs (`storage_state`, ...) are allowed and dropped. One kind of `required_contents` is added: `verbatim`, the text
of the page to the letter; see scoring.py.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from wr1_utils.errors import WR1Error

SPLITS = ("train", "seen_template", "unseen_template")
EVAL_TYPES = ("string_match", "url_match", "program_html", "page_reward")  # the last: MiniWoB++
ANSWER_KINDS = ("exact_match", "must_include", "fuzzy_match")
PAGE_KINDS = ("verbatim", "exact_match", "must_include", "must_exclude", "fuzzy_match")

_REQUIRED = {
    "task_id": (str, int),
    "sites": (list,),
    "start_url": (str,),
    "intent": (str,),
    "intent_template": (str,),
    "intent_template_id": (str, int),
    "instantiation_dict": (dict,),
    "require_login": (bool,),
    "require_reset": (bool,),
    "eval": (dict,),
    "split": (str,),
}
_TYPE_NAMES = {str: "text", int: "a number", list: "a list", dict: "an object", bool: "true or false"}


class TaskError(WR1Error, ValueError):
    """A task record or task file that cannot be used; the message names the file, the record and the field."""


@dataclass(frozen=True)
class Task:
    """One task: what is asked, where it starts and how it is scored.

    `start_url` and the URLs in `eval` hold placeholders such as `__SHOPPING__`. `eval` is WebArena's record:
    `eval_types`, `reference_answers`, `reference_url`, `program_html`, `url_note`, `string_note`.
    `split` is `train`, or for test tasks `seen_template` or `unseen_template`. `geolocation` is where the browser says
    that it is (latitude, longitude), None: nowhere.
    """

    task_id: str
    sites: tuple[str, ...]
    start_url: str
    intent: str
    intent_template: str
    intent_template_id: int | str
    instantiation_dict: dict
    require_login: bool
    require_reset: bool
    eval: dict
    split: str
    geolocation: dict | None = None

    @property
    def benchmark(self) -> str:
        """Where its results are counted: `miniwob` by its site, others by what stands before the first point of their id, else `pocket`."""
        if self.sites == ("miniwob",):
            return "miniwob"
        name = self.task_id.partition(".")[0]
        return name if name in ("arena", "webarena", "webarena-lite") else "pocket"

    @property
    def site(self) -> str:
        return self.sites[0]


def load_tasks(path: str | Path) -> list[Task]:
    """Read and validate a task file (a JSON array of records).

    Raises TaskError naming the file, the record, the field and what would be right.
    """
    path = Path(path)
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TaskError(f"There is no task file {path}; give the path of a JSON array of tasks.") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise TaskError(f"{path} is not JSON: {error}.") from None
    if not isinstance(records, list):
        raise TaskError(f"{path} must hold a JSON array of tasks, not {_type_name(records)}.")
    tasks: list[Task] = []
    seen: dict[str, int] = {}
    for number, record in enumerate(records):
        task = task_from_record(record, where=f"{path}, record {number}")
        if task.task_id in seen:
            raise TaskError(
                f"{path}, record {number}: task_id {task.task_id!r} is already used by record "
                f"{seen[task.task_id]}; each task needs its own."
            )
        seen[task.task_id] = number
        tasks.append(task)
    return tasks


def save_tasks(tasks: list[Task], path: str | Path) -> None:
    """Write tasks as a JSON array that `load_tasks` reads back equal."""
    records = [{**asdict(task), "sites": list(task.sites)} for task in tasks]
    for record in records:
        if record["geolocation"] is None:
            del record["geolocation"]
    Path(path).write_text(json.dumps(records, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def task_from_record(record: dict, where: str = "task") -> Task:
    """Validate one WebArena record; `where` (file and record number) begins each error message.

    Raises TaskError.
    """
    if not isinstance(record, dict):
        raise TaskError(f"{where}: a task must be a JSON object, not {_type_name(record)}.")
    if "task_id" in record:
        where = f"{where} (task_id {record['task_id']!r})"
    for field, types in _REQUIRED.items():
        wanted = " or ".join(_TYPE_NAMES[kind] for kind in types)
        if field not in record:
            raise TaskError(f"{where}: the field {field!r} is missing; it should be {wanted}.")
        value = record[field]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise TaskError(f"{where}: the field {field!r} should be {wanted}, not {_type_name(value)}.")
    sites = record["sites"]
    if not sites or not all(isinstance(site, str) and site for site in sites):
        raise TaskError(f"{where}: the field 'sites' should be a list of site names such as [\"shopping\"].")
    if record["split"] not in SPLITS:
        raise TaskError(f"{where}: the field 'split' is {record['split']!r}; it should be one of {', '.join(SPLITS)}.")
    _check_eval(record["eval"], where)
    place = record.get("geolocation")
    if place is not None and not (isinstance(place, dict) and all(isinstance(place.get(key), (int, float)) for key in ("latitude", "longitude"))):
        raise TaskError(f"{where}: the field 'geolocation' is {place!r}; it should be null or an object with latitude and longitude.")
    values = {field: record[field] for field in _REQUIRED}
    return Task(geolocation=place, **{**values, "task_id": str(record["task_id"]), "sites": tuple(sites)})


def _check_eval(record: dict, where: str) -> None:
    types = record.get("eval_types")
    if not isinstance(types, list) or not types or any(kind not in EVAL_TYPES for kind in types):
        raise TaskError(
            f"{where}: the field 'eval.eval_types' is {types!r}; it should be a list of one or more of "
            f"{', '.join(EVAL_TYPES)}."
        )
    if "string_match" in types:
        answers = record.get("reference_answers")
        if not isinstance(answers, dict) or not answers or any(kind not in ANSWER_KINDS for kind in answers):
            raise TaskError(
                f"{where}: the field 'eval.reference_answers' is {answers!r}; with string_match it should be an "
                f"object with one or more of {', '.join(ANSWER_KINDS)}."
            )
    if "url_match" in types and not (isinstance(record.get("reference_url"), str) and record["reference_url"]):
        raise TaskError(
            f"{where}: the field 'eval.reference_url' is {record.get('reference_url')!r}; with url_match it should be "
            "a URL such as \"__SHOPPING__/cart\"."
        )
    if record.get("url_note") not in (None, "", "GOLD in PRED"):
        raise TaskError(f"{where}: the field 'eval.url_note' is {record['url_note']!r}; it should be \"GOLD in PRED\".")
    if "program_html" in types:
        checks = record.get("program_html")
        if not isinstance(checks, list) or not checks:
            raise TaskError(
                f"{where}: the field 'eval.program_html' is {checks!r}; with program_html it should be a list of "
                "{url, locator, required_contents}."
            )
        for number, check in enumerate(checks):
            _check_program_html(check, f"{where}: the field 'eval.program_html[{number}]'")


def _check_program_html(check: dict, where: str) -> None:
    if not isinstance(check, dict):
        raise TaskError(f"{where} should be an object with url, locator and required_contents.")
    if not isinstance(check.get("url"), str) or not check["url"]:
        raise TaskError(f"{where} has url {check.get('url')!r}; it should be \"last\", a URL or \"func:...\".")
    if not isinstance(check.get("locator"), str | None):
        raise TaskError(f"{where} has a locator that is not text; it should be \"\", JavaScript or \"func:...\".")
    contents = check.get("required_contents")
    if not isinstance(contents, dict) or not contents or any(kind not in PAGE_KINDS for kind in contents):
        raise TaskError(
            f"{where} has required_contents {contents!r}; it should be an object with one or more of "
            f"{', '.join(PAGE_KINDS)}."
        )
    if not isinstance(contents.get("verbatim", ""), str):
        raise TaskError(f"{where} has required_contents {contents!r}; 'verbatim' should be text.")


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    return _TYPE_NAMES.get(type(value), type(value).__name__)
