"""The benchmark `arena`: the tasks of all sites of the Pocket Arena, in WebArena-Lite's numbers (647 to train on, 165 to test on).

Seed 0 is on disk, `data/tasks/arena_train.json` and `arena_test.json`, as ``wr1 tasks make --seed 0 --to data/tasks`` writes them. The shop's tasks
are a part of those of the benchmark `pocket`, training tasks of its training tasks and test tasks of its test tasks: nothing that either benchmark
trains on is in the other's test. What they ask for is scored more tightly here: nothing else of the shop's state may have changed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from wr1_utils.errors import WR1Error
from wr1_utils.settings import project_path
from wr1_utils.tasks import admin_templates, gitlab_templates, map_templates, multi_templates, reddit_templates, shopping_templates
from wr1_utils.tasks.task import Task, load_tasks, save_tasks
from wr1_utils.tasks.templates import Template, make_tasks, what_is_asked

TRAIN = 647
SHOP_TEST = {"string_match": 19, "N/A": 3, "url_match": 7, "program_html": 16}       # so that the evaluators of all sites have their shares
TASK_FILES = ("arena_train.json", "arena_test.json")
_OTHER_SITES = (*admin_templates.TEMPLATES, *gitlab_templates.TEMPLATES, *map_templates.TEMPLATES, *reddit_templates.TEMPLATES,
                *multi_templates.TEMPLATES)


def scaled(counts: Sequence[int], total: int) -> list[int]:
    """Whole numbers in the proportions of `counts` that sum to `total`; at least 1 where it was above 0. The running sum is rounded up.

    Raises ValueError if that cannot be.
    """
    if not sum(count > 0 for count in counts) <= total or not any(counts):
        raise ValueError(f"{list(counts)} cannot be scaled to {total}")
    result: list[int] = []
    for index, count in enumerate(counts):
        share = -(-sum(counts[:index + 1]) * total // sum(counts)) - sum(result)
        room = total - sum(result) - sum(later > 0 for later in counts[index + 1:])
        result.append(min(max(1, share), room) if count else 0)
    return result


def _kind(template: Template) -> str:
    """Its first evaluator, or "N/A" if it asks for what is not there."""
    evaluation = template.evaluation(template.fillings(Random(0))[0])
    return "N/A" if evaluation["reference_answers"] == {"exact_match": "N/A"} else evaluation["eval_types"][0]


def _shop() -> tuple[Template, ...]:
    """The shop's templates, with the numbers of tasks that they have here."""
    templates = shopping_templates.TEMPLATES
    train = scaled([template.train for template in templates], TRAIN - sum(template.train for template in _OTHER_SITES))
    test: dict[str, int] = {}
    for kind, total in SHOP_TEST.items():
        same = [template for template in templates if _kind(template) == kind]
        test |= zip([template.name for template in same], scaled([template.test for template in same], total))
    return tuple(replace(template, train=number, test=test[template.name]) for template, number in zip(templates, train))


TEMPLATES = (*_shop(), *_OTHER_SITES)


def site_of(task: Task) -> str:
    """The site that a task counts for: its only one; `map` with `wikipedia`, unless the way leads over other sites too; `several`."""
    if task.intent_template_id.startswith("multi_"):
        return "several"
    return "map" if set(task.sites) <= {"map", "wikipedia"} else task.sites[0]


def make_arena(seed: int = 0, without: Iterable[Task] = ()) -> tuple[list[Task], list[Task]]:
    """The training tasks and the test tasks; with another seed than 0 their ids say so. None asks for the same as one of `without`."""
    asked = {what_is_asked(task.intent_template_id, task.instantiation_dict) for task in without}
    prefix = f"arena.s{seed}" if seed else "arena"
    train, test = make_tasks(shopping_templates.TEMPLATES, seed, prefix, asked)
    train, test = ([replace(task, eval=shopping_templates.and_nothing_else(task)) for task in tasks] for tasks in (train, test))
    more_train, more_test = make_tasks(_OTHER_SITES, seed, prefix, asked)
    return (_first(train, {template.name: template.train for template in TEMPLATES}) + more_train,
            _first(test, {template.name: template.test for template in TEMPLATES}) + more_test)


def _first(tasks: list[Task], numbers: dict[str, int]) -> list[Task]:
    """Of each template the first tasks, as many as `numbers` says."""
    return [task for name, number in numbers.items() for task in [task for task in tasks if task.intent_template_id == name][:number]]


def committed_tasks() -> list[Task]:
    """All tasks of the Pocket Arena that are on disk: those of the benchmarks `pocket` and `arena`, to train on and to test on."""
    return [task for name in ("pocket", "arena") for split in ("train", "test") for task in load_tasks(project_path(f"data/tasks/{name}_{split}.json"))]


def write_arena(folder: str | Path, seed: int = 0, without: Iterable[str | Path] = ()) -> dict[str, int]:
    """Writes the two task files of a seed into `folder`; with another seed than 0 no task asks for the same as one of the committed tasks.

    Nor for the same as one in the folders `without`, where earlier sets lie: two further seeds may share tasks else. Gives, by template, how many
    tasks that left out because the template has no more fillings. Raises WR1Error if files cannot be written or read.
    """
    earlier = [task for other in without for name in TASK_FILES for task in load_tasks(Path(other) / name)]
    train, test = make_arena(seed, (committed_tasks() if seed else []) + earlier)
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, tasks in zip(TASK_FILES, (train, test)):
            save_tasks(tasks, Path(folder) / name)
    except OSError as error:
        raise WR1Error(f"The tasks cannot be written to {folder}: {error.strerror}; give another folder with --to.") from None
    missing = Counter({template.name: template.train + template.test for template in TEMPLATES})
    missing.subtract(task.intent_template_id for task in train + test)
    return dict(+missing)
