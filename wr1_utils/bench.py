"""How fast the kit is on this machine: `wr1 bench`. Every figure is a median with its number of measurements; the goals are for two cores.

A group of figures is a function that gives them by name; GROUPS has all groups in the order in which they are measured.
"""

import asyncio
import contextlib
import http.client
import itertools
import json
import multiprocessing
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from tabulate import tabulate

from wr1_utils.agent.experts import reply
from wr1_utils.agent.thoughts import Expert
from wr1_utils.errors import WR1Error
from wr1_utils.settings import Settings, load_settings, near_miss, project_path
from wr1_utils.sites.server import DATABASES, SESSIONS, SITES, WORLD_HEADER, SiteServer, seeds
from wr1_utils.sites.world import World, Worlds
from wr1_utils.tasks import benchmark_expert, open_place, spread
from wr1_utils.tasks.miniwob import make_tasks
from wr1_utils.tasks.pocket import PocketArena
from wr1_utils.tasks.task import Task, load_tasks
from wr1_utils.trajectory import read_trajectories
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import Episode, InfrastructureError
from wr1_utils.web.loop import run
from wr1_utils.web.observation import Observation
from wr1_utils.web.place import Place

WORLDS = 100
LINKS, ROUNDS = 9, 5  # of each site's home page the first links, each page so many times
SLICE_S, SLICES = 2.0, 8  # steps are counted in slices of the time
POLICIES, TASKS, UPDATES = ("base", "bc", "r1"), 20, 5  # whose recorded episodes, of how many tasks, an update takes; how many are timed
UPDATE_PARTS = ("reference", "forward", "backward", "optimizer")
RL_TASKS, RL_MEMBERS, RL_STEPS = 8, 8, 3  # of a whole RL step, and how many are timed after one that warms up
TYPING_PAGES = ("enter-text", "enter-text-dynamic", "enter-password", "login-user")  # of MiniWoB++: typing ends none of them
WAIT = '<think></think><answer>do(action="Wait", argument="0")</answer>'  # a turn that only observes


class BenchError(WR1Error, ValueError):
    """A group of figures that does not exist, or that could not be measured."""


@dataclass(frozen=True)
class Figure:
    value: float  # a median
    unit: str
    n: int  # measurements
    goal: str  # such as "≤ 20"


def measure(names: Sequence[str] = ()) -> dict[str, Figure]:
    """The figures of the named groups (none named: of all), by name; says on stderr what it measures. Raises BenchError."""
    for name in names:
        if name not in GROUPS:
            raise BenchError(f"There is no group {name!r} to measure{near_miss(name, GROUPS)}; there are {', '.join(GROUPS)}.")
    settings, figures = load_settings("laptop"), {}
    for name, group in GROUPS.items():
        if name in names or not names:
            print(f"measuring {name} …", file=sys.stderr, flush=True)
            try:
                figures |= group(settings)
            except InfrastructureError as fault:
                raise BenchError(f"The group {name} could not be measured: {fault}.") from fault
    return figures


def as_json(figures: dict[str, Figure]) -> str:
    """One object, name → {value, unit, n}."""
    return json.dumps({name: {"value": round(one.value, 3), "unit": one.unit, "n": one.n} for name, one in figures.items()}, indent=2)


def as_table(figures: dict[str, Figure]) -> str:
    """A table for people, with the goal beside each figure."""
    rows = [(name, f"{one.value:.2f}", one.goal, one.unit, one.n) for name, one in figures.items()]
    return tabulate(rows, headers=("figure", "median", "goal", "unit", "n"), disable_numparse=True, colalign=("left", "right", "right", "left", "right"))


# ---- the sites -------------------------------------------------------------------------------------------------------------------


def worlds(settings: Settings) -> dict[str, Figure]:
    """Making a world and resetting one, with the databases of all sites; what it takes up in memory once all of it has been read."""
    everywhere, made = Worlds(seeds()), []
    making = [_seconds(lambda: made.append(_opened(everywhere.create()))) for _ in range(WORLDS)]
    resetting = [_seconds(lambda: _reset(everywhere, world)) for world in made]
    return {"world_make": Figure(1000 * statistics.median(making), "ms", WORLDS, "≤ 20"),
            "world_reset": Figure(1000 * statistics.median(resetting), "ms", WORLDS, "≤ 20"),
            "world_memory": Figure(world_megabytes(seeds(), WORLDS), "MB", WORLDS, "≤ 5")}


def _opened(world: World) -> World:
    for site in set(SITES) - set(DATABASES):
        world.database(site)
    return world


def _reset(everywhere: Worlds, world: World) -> None:
    everywhere.discard(world.key)
    _opened(everywhere.create())


def world_megabytes(of: Mapping[str, bytes], number: int) -> float:
    """What one world of these seed databases takes up in memory, of so many at once, each read from end to end.

    It is measured in a process of its own: memory that this one has freed before would hide some of it.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(_fill_memory, dict(of), number).result() / 1e6 / number


def _fill_memory(of: dict[str, bytes], number: int) -> int:
    everywhere = Worlds(of)
    before = _memory()
    for world in [everywhere.create() for _ in range(number)]:
        for database in map(world.database, of):
            for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                database.execute(f"SELECT * FROM {name}").fetchall()
    return _memory() - before


def _memory() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def pages(settings: Settings) -> dict[str, Figure]:
    """A page of each site: its home page and the first ones that this links to, over a kept connection, as its main user."""
    server = SiteServer()
    server.start()
    try:
        return {f"page_{site}": _pages_of(server, site) for site in SITES}
    finally:
        server.stop()


def _pages_of(server: SiteServer, site: str) -> Figure:
    headers = {"Host": f"{site}.localhost:{server.port}", WORLD_HEADER: server.worlds.create().key}
    if site in SESSIONS:
        headers["Cookie"] = "=".join(SESSIONS[site])
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def get(path: str) -> tuple[int, str]:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    links = [link.replace("&amp;", "&") for link in re.findall(r'<a [^>]*href="(/[^"]*)"', get("/")[1])]
    paths = [path for path in dict.fromkeys(["/", *links]) if get(path)[0] == 200][:LINKS + 1]
    taken = [_seconds(lambda: get(path)) for path in paths * ROUNDS]
    connection.close()
    return Figure(1000 * statistics.median(taken), "ms", len(taken), "≤ 15")


# ---- the browser -----------------------------------------------------------------------------------------------------------------


def steps(settings: Settings) -> dict[str, Figure]:
    """Steps a second of the experts' episodes on all sites of the Pocket Arena, 16 in flight."""
    tasks = spread(load_tasks(project_path("data/tasks/arena_train.json")), 100, 0)
    return {"steps_arena_16": run(_in_browser(settings, open_place(settings, "arena"), tasks, 16, "≥ 15"))}


def miniwob(settings: Settings) -> dict[str, Figure]:
    """Steps a second on the pages of MiniWoB++: of the experts' episodes, two steps on average, 1, 4 and 16 in flight, and of 16 that go on to the turn limit."""
    tasks = sorted(make_tasks("train", 8), key=lambda task: task.instantiation_dict["seed"])  # every page once, then once more
    place = open_place(settings, "miniwob")
    figures = {f"steps_miniwob_{episodes}": run(_in_browser(settings, place, tasks, episodes, goal)) for episodes, goal in ((1, ""), (4, ""), (16, "≥ 25"))}
    return figures | {"steps_miniwob_16_long": run(_in_browser(settings, place, make_tasks("train", 8, TYPING_PAGES), 16, "≥ 25", _type_on))}


def _type_on(task: Task, intent: str, observation: Observation, memory: dict) -> str:
    """An expert of nothing: other words in the page's first field each turn."""
    field = next(element for element in observation.elements if element.role == "textbox")
    memory["turns"] = memory.get("turns", 0) + 1
    return reply(f'do(action="Type", argument="word {memory["turns"]}", element="{field.id}")')


async def _in_browser(settings: Settings, place: Place, tasks: list[Task], episodes: int, goal: str, expert: Expert | None = None) -> Figure:
    browser = Browser(settings.browser)
    place.start()
    try:
        found = await _steps_a_second(settings, browser, place, tasks, episodes, expert)
    finally:
        await browser.stop()
        place.stop()
    return Figure(statistics.median(found), "steps/s", len(found), goal)


async def _steps_a_second(settings: Settings, browser: Browser, place: Place, tasks: list[Task], episodes: int, expert: Expert | None = None) -> list[float]:
    """For each slice of the time, the steps a second with so many episodes in flight; a new episode begins wherever one ends.

    An episode has as many observations as steps: one when it is reset, and none when it exits. Resets and scoring are in the time.
    """
    every, ends = itertools.cycle(tasks), []

    async def play(own) -> None:
        for task in own:
            await _play(Episode(browser, place, task, 0, settings), settings.episode.turn_limit, ends, expert)

    await asyncio.gather(*(play([next(every)]) for _ in range(episodes)))  # opens the browser's contexts
    started = time.monotonic()
    players = [asyncio.ensure_future(play(every)) for _ in range(episodes)]
    try:
        ended, _ = await asyncio.wait(players, timeout=SLICE_S * SLICES, return_when=asyncio.FIRST_COMPLETED)
        for one in ended:
            one.result()  # a fault: nobody else ends
    finally:
        for one in players:
            one.cancel()
        await asyncio.gather(*players, return_exceptions=True)
    return rates([end - started for end in ends], SLICE_S, SLICES)


def rates(ends: Sequence[float], seconds: float, slices: int) -> list[float]:
    """Steps a second in each of so many slices of the time from 0 on, from the times at which steps ended."""
    found = [int(end // seconds) for end in ends]
    return [found.count(number) / seconds for number in range(slices)]


async def _play(episode: Episode, turn_limit: int, ends: list[float], expert: Expert | None = None) -> None:
    """One episode by its own expert or the given one, scored; notes when each step ended."""
    expert, memory = expert or benchmark_expert(episode.task.benchmark), {}
    try:
        observation = await episode.reset()
        for _ in range(turn_limit):
            result = await episode.step(expert(episode.task, episode.intent, observation, memory))
            ends.append(time.monotonic())
            if result.done:
                break
            observation = result.observation
        await episode.score()
    finally:
        await episode.close()


def observation(settings: Settings) -> dict[str, Figure]:
    """Observing a page of so many elements, from the question to the page to the text that the policy reads."""
    return {f"observation_{elements}": run(_observing(settings, elements, times, goal))
            for elements, times, goal in ((100, 50, "≤ 15"), (1_000, 30, "≤ 60"), (10_000, 15, "≤ 400"))}


class TablePage(PocketArena):
    """A place whose only page is a table of `elements` elements: links, texts, text boxes and buttons."""

    def __init__(self, elements: int):
        super().__init__()
        self.html = "<title>Table</title><table>" + "".join(
            f'<tr><td><a href="#{row}">Item {row}</a><td>${row}.50<td><input aria-label="Quantity {row}" value="1"><td><button>Add {row}</button></tr>'
            for row in range(elements // 4)) + "</table>"

    async def begin(self, page, task, visit) -> str:
        await page.set_content(self.html)
        return task.intent


async def _observing(settings: Settings, elements: int, times: int, goal: str) -> Figure:
    browser = Browser(settings.browser)
    task = replace(load_tasks(project_path("data/tasks/arena_train.json"))[0], start_url="about:blank")
    episode = Episode(browser, TablePage(elements), task, 0, settings)
    try:
        await episode.reset()
        taken = [(await episode.step(WAIT)).seconds for _ in range(times)]
    finally:
        await episode.close()
        await browser.stop()
    return Figure(1000 * statistics.median(taken), "ms", times, goal)


# ---- training --------------------------------------------------------------------------------------------------------------------


def training(settings: Settings) -> dict[str, Figure]:
    """Updates of the pocket model on the laptop profile's recorded test episodes, those of a task side by side: tree rows against one row a turn,
    as they are and after a prompt of 1 000 tokens. Tokens of work: what one row a turn would hold. Memory: how much a process grows at most
    during an update, against an update on the longest turn alone."""
    from wr1_utils.agent.hf_engine import load_trainable  # torch is loaded here alone
    from wr1_utils.training import speed
    from wr1_utils.training.packing import sequences

    files = [project_path(f"results/laptop/eval-{policy}-s0/trajectories.parquet") for policy in POLICIES]
    for file in files:
        if not file.is_file():
            raise BenchError(f"There are no recorded trajectories in {file}; git checkout -- results brings them back, wr1 run makes them.")
    rows = sequences(speed.group_of_policies([read_trajectories(file) for file in files], TASKS))
    model, _ = load_trainable(settings, project_path(settings.model.path))
    figures = {}
    for name, turns, goal in (("training", rows, "≥ 1.3"), ("training_prompt_1000", speed.with_prompt(rows, 1000, model.config.vocab_size), "≥ 2")):
        tree, apart = speed.compare(model, turns, UPDATES)
        figures[f"{name}_tree"] = Figure(tree, "tokens/s", UPDATES, "")
        figures[f"{name}_turns"] = Figure(apart, "tokens/s", UPDATES, "")
        figures[f"{name}_ratio"] = Figure(tree / apart, "times", UPDATES, goal)
    whole, one = speed.update_megabytes(settings, rows), speed.update_megabytes(settings, [speed.longest(rows)])
    figures["training_memory"] = Figure(whole, "MB", 1, "")
    figures["training_memory_longest_turn"] = Figure(one, "MB", 1, "")
    figures["training_memory_ratio"] = Figure(whole / one, "times", 1, "≤ 1.2")
    return figures


def rl_step(settings: Settings) -> dict[str, Figure]:
    """A whole RL step of the laptop profile with 64 trajectories, from the base model: rolled out in the browser, then trained on; and its parts.

    Of the rollout: while the policy writes (the browser goes on beside it), and while all episodes wait for the browser. Of the update: the
    log-probs of the reference, forward, backward, the optimizer, and the rest (packing). Steps a second: of all episodes, in the time of the
    rollout. Ratio: tree rows against one row a turn on the last step's episodes, which are whole groups.
    """
    from wr1_utils.agent.hf_engine import load_trainable  # torch is loaded here alone
    from wr1_utils.training import speed
    from wr1_utils.training.packing import sequences
    from wr1_utils.training.rl import train_rl

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        settings = replace(settings, results=f"{folder}/results", checkpoints=f"{folder}/weights",
                           rl=replace(settings.rl, steps=RL_STEPS + 1, tasks_per_step=RL_TASKS, group_size=RL_MEMBERS, task_sets=1, draw="even"))  # fmt: skip
        done = train_rl(settings, "r1_zero")
        metrics = done.metrics().tail(RL_STEPS)
        rows = sequences([t for t in read_trajectories(done.path(f"rollouts/step-{RL_STEPS + 1:04d}.parquet")) if t.valid])
    tree, apart = speed.compare(load_trainable(settings, project_path(settings.model.path))[0], rows, UPDATES)
    episodes = RL_TASKS * RL_MEMBERS - metrics["infrastructure"]
    parts = {
        "": metrics["seconds_rollout"] + metrics["seconds_update"],
        "_rollout": metrics["seconds_rollout"],
        "_rollout_policy": metrics["seconds_policy"],
        "_rollout_browser": metrics["seconds_rollout"] - metrics["seconds_policy"],
        "_update": metrics["seconds_update"],
        **{f"_update_{part}": metrics[f"seconds_{part}"] for part in UPDATE_PARTS},
        "_update_rest": metrics["seconds_update"] - sum(metrics[f"seconds_{part}"] for part in UPDATE_PARTS),
    }
    figures = {f"rl_step{name}": Figure(statistics.median(seconds), "s", RL_STEPS, "" if name else "≤ 45") for name, seconds in parts.items()}
    figures["rl_step_speed"] = Figure(statistics.median(metrics["turns"] * episodes / metrics["seconds_rollout"]), "steps/s", RL_STEPS, "≥ 15")
    figures["rl_step_ratio"] = Figure(tree / apart, "times", UPDATES, "≥ 1.3")
    return figures


GROUPS: dict[str, Callable[[Settings], dict[str, Figure]]] = {
    "worlds": worlds,
    "pages": pages,
    "steps": steps,
    "observation": observation,
    "miniwob": miniwob,
    "training": training,
    "rl_step": rl_step,
}
