"""What is asked: task records, their scoring, and one module per benchmark."""

from __future__ import annotations

import random

from wr1_utils.settings import Settings, SettingsError, near_miss, project_path
from wr1_utils.tasks.task import Task, load_tasks

BENCHMARKS = ("pocket", "arena", "miniwob", "webarena-lite", "webarena")  # the Pocket Arena's shop alone, all its sites, MiniWoB++, WebArena's own sites


def open_place(settings: Settings, benchmark: str):
    """The running place of a benchmark (see `Place` in web/place.py), not yet started."""
    if benchmark in ("pocket", "arena"):
        from wr1_utils.tasks.judge import open_judge
        from wr1_utils.tasks.pocket import PocketArena

        return PocketArena(settings.sites.port, settings.tasks.scoring, open_judge(settings.judge))
    if benchmark == "miniwob":
        from wr1_utils.tasks.miniwob import MiniWob

        return MiniWob()
    if benchmark in ("webarena-lite", "webarena"):
        from wr1_utils.tasks.webarena import WebArena

        return WebArena(settings, benchmark)
    raise SettingsError(f"There is no benchmark {benchmark!r}{near_miss(benchmark, BENCHMARKS)}; there are {', '.join(BENCHMARKS)}.")


def benchmark_expert(benchmark: str, style: str = "short"):
    """The benchmark's scripted expert, its replies in a style of `agent/thoughts.py`: (task, intent, observation, memory) → reply text."""
    from wr1_utils.agent.thoughts import in_style

    if benchmark in ("pocket", "arena"):
        from wr1_utils.agent import pocket_experts as experts
    elif benchmark != "miniwob":
        raise SettingsError(f"{benchmark} has no scripted expert; demonstrations of it must be made by a person or a larger model.")
    else:
        from wr1_utils.agent import miniwob_experts as experts
    return in_style(experts.reply, style)


def train_tasks(settings: Settings, sets: int = 1) -> list[Task]:
    """The training tasks of the profile's benchmarks, at most `tasks.train_limit` of each (0 = all).

    `sets` above 1 adds as many sets of further tasks from the same templates: of the Pocket Arena those of the seeds 1, 2, …, without what a task
    asks for that is there already or is a test task; of MiniWoB++ the next seeds. Raises SettingsError if both a limit and further sets are asked for.
    """
    if sets > 1 and settings.tasks.train_limit:
        raise SettingsError("rl.task_sets and demos.task_sets add training tasks and tasks.train_limit takes some away; set both to 1, or tasks.train_limit = 0.")
    tasks = _tasks(settings, "train", settings.tasks.train_limit, settings.tasks.miniwob_train_per_env * sets)
    for benchmark in settings.tasks.benchmarks:
        if benchmark in ("pocket", "arena"):
            tasks += _further_tasks(benchmark, sets)
    return tasks


def _further_tasks(benchmark: str, sets: int) -> list[Task]:
    """The training tasks of the seeds 1 to sets − 1 of the Pocket Arena, none of which asks for the same as another or as a committed task."""
    from wr1_utils.tasks import arena, shopping_templates, templates

    known = arena.committed_tasks()
    further: list[Task] = []
    for seed in range(1, sets):
        if benchmark == "pocket":
            asked = {templates.what_is_asked(task.intent_template_id, task.instantiation_dict) for task in known + further}
            further += templates.make_tasks(shopping_templates.TEMPLATES, seed, f"pocket.s{seed}", asked)[0]
        else:
            further += arena.make_arena(seed, known + further)[0]
    return further


def test_tasks(settings: Settings) -> list[Task]:
    """The test tasks of the profile's benchmarks, none of them a training task, at most `tasks.test_limit` of each."""
    return _tasks(settings, "test", settings.tasks.test_limit, settings.tasks.miniwob_test_per_env)


def evaluation_tasks(settings: Settings) -> list[Task]:
    """The tasks of `evaluation.split`."""
    split = settings.evaluation.split
    if split == "train":
        return train_tasks(settings)
    return [task for task in test_tasks(settings) if split in ("test", task.split)]


def _tasks(settings: Settings, split: str, limit: int, per_env: int) -> list[Task]:
    tasks: list[Task] = []
    for benchmark in settings.tasks.benchmarks:
        if benchmark in ("pocket", "arena"):
            found = load_tasks(project_path(f"data/tasks/{benchmark}_{split}.json"))
        elif benchmark == "miniwob":
            from wr1_utils.tasks.miniwob import make_tasks

            found = make_tasks(split, per_env, miniwob_pages(settings))
        elif benchmark in ("webarena-lite", "webarena"):
            from wr1_utils.tasks.webarena_files import webarena_scoring, webarena_tasks

            found = webarena_tasks(settings.webarena, benchmark, split, webarena_scoring(settings.tasks.scoring))
        else:
            open_place(settings, benchmark)  # says what is wrong
        tasks += spread(found, limit, settings.seed)
    return tasks


def miniwob_pages(settings: Settings) -> tuple[str, ...]:
    """The pages of MiniWoB++ that `tasks.miniwob_envs` names, each once, in the order given there. "standard" and "experts" stand for many."""
    from wr1_utils.agent.miniwob_experts import EXPERTS
    from wr1_utils.tasks.miniwob import PAGES

    groups = {"standard": PAGES, "experts": tuple(EXPERTS)}
    return tuple(dict.fromkeys(page for name in settings.tasks.miniwob_envs for page in groups.get(name, (name,))))


def spread(tasks: list[Task], limit: int, seed: int) -> list[Task]:
    """At most `limit` tasks (0 = all), drawn evenly over the templates with a seed, in their old order."""
    if not limit or limit >= len(tasks):
        return tasks
    by_template: dict[str, list[int]] = {}
    for number, task in enumerate(tasks):
        by_template.setdefault(str(task.intent_template_id), []).append(number)
    draw = random.Random(seed)
    queues = list(by_template.values())
    for queue in queues:
        draw.shuffle(queue)
    draw.shuffle(queues)
    rounds = [queue[i] for i in range(len(tasks)) for queue in queues if i < len(queue)]
    return [tasks[number] for number in sorted(rounds[:limit])]
