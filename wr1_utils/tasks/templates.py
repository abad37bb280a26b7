"""What a task template of the Pocket Arena is, the evaluation records that templates write, and the tasks made from templates.

A template has a name, one to three phrasings of its intent, all that can be filled in, and a function that gives WebArena's evaluation record for one
filling. Scoring is tight: a question wants the bare answer; a change of state is compared with the whole record and with how many rows of every table of
the site have changed (see `only_changed`), so that doing more than was asked fails too, wherever it was done.
"""

import random
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from wr1_utils.sites import changes
from wr1_utils.tasks.task import Task


@dataclass(frozen=True)
class Template:
    name: str                        # unique in the arena; those of other sites than the shop begin with the site's name
    phrasings: tuple[str, ...]       # with {{slots}} that fillings fill
    fillings: Callable[[random.Random], list[dict]]
    evaluation: Callable[[dict], dict]
    train: int                       # tasks made for training; 0: a template that is never trained on
    test: int
    sites: tuple[str, ...] = ("shopping",)           # the first is where the episode starts
    login: bool = True


def record(kind: str, **fields) -> dict:
    """WebArena's evaluation record with one evaluator."""
    empty = {"reference_answers": None, "reference_url": "", "program_html": []}
    return {"eval_types": [kind], **empty, **fields}


def answer(text: str) -> dict:
    """The bare answer, and nothing else."""
    return record("string_match", reference_answers={"exact_match": text})


def url(site: str, path: str) -> dict:
    """The episode must end at this address of the site (its query parameters among those of the page)."""
    return record("url_match", reference_url=f"__{site.upper()}__{path}", url_note="GOLD in PRED")


def state(site: str, *checks: tuple[str, str, str]) -> dict:
    """After the end, on each (path, JavaScript expression, wanted text): the expression on the page at `path` gives just that text, to the letter."""
    return record("program_html", program_html=[
        {"url": f"__{site.upper()}__{path}", "locator": locator, "required_contents": {"verbatim": wanted}} for path, locator, wanted in checks])


def only_changed(**tables: tuple) -> tuple[str, str, str]:
    """A check for `state`: so many rows of these tables are (gone, new, and the columns changed in a row that stayed …), and none of any other table.

    That goes for all sites: a table of another site than the one that is asked would stand there too.
    """
    return changes.PATH, changes.LOCATOR, changes.as_text({table: change for table, change in tables.items() if change[:2] != (0, 0)})


def make_tasks(templates: Iterable[Template], seed: int = 0, prefix: str = "pocket", without: Collection = ()) -> tuple[list[Task], list[Task]]:
    """The training tasks and the test tasks; the same for the same seed. No filling, and no intent, is in both.

    `prefix` begins their ids. No task is made whose `what_is_asked` is in `without`; a template that has too few fillings beside them gets
    fewer tasks, training tasks first. Raises ValueError for a template that has too few without that.
    """
    train: list[Task] = []
    test: list[Task] = []
    for template in templates:
        rng = random.Random(f"{seed} {template.name}")
        every = {tuple(filling.items()): filling for filling in template.fillings(rng)}.values()
        fillings = [filling for filling in every if what_is_asked(template.name, filling) not in without]
        rng.shuffle(fillings)
        needed = template.train + template.test
        if len(every) < needed:
            raise ValueError(f"the template {template.name} has {len(every)} fillings; {needed} are needed")
        trained = max(0, template.train - max(0, needed - len(fillings)))
        for index, filling in enumerate(fillings[:trained + template.test]):
            is_test = index >= trained
            split = "train" if not is_test else "seen_template" if template.train else "unseen_template"
            task = _make_task(template, filling, rng.choice(template.phrasings), split, f"{prefix}.{template.name}.{index}")
            (test if is_test else train).append(task)
    return train, test


def what_is_asked(template: str, filling: dict) -> tuple[str, tuple[str, ...]]:
    """The same for two tasks that ask for the same: the template's name and the filling's values, in whatever order they stand."""
    return template, tuple(sorted(map(str, filling.values())))


def _make_task(template: Template, filling: dict, phrasing: str, split: str, task_id: str) -> Task:
    intent = phrasing
    for name, value in filling.items():
        intent = intent.replace("{{" + name + "}}", str(value))
    return Task(task_id=task_id, sites=template.sites, start_url=f"__{template.sites[0].upper()}__/", intent=intent, intent_template=phrasing,
                intent_template_id=template.name, instantiation_dict=filling, require_login=template.login, require_reset=False,
                eval=template.evaluation(filling), split=split)
