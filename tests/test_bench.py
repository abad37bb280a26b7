"""`wr1 bench`: what it prints, and that each group measures what it says, with fewer repetitions."""

import json
import sqlite3
import time
from dataclasses import replace

import pytest

from wr1_utils import bench, cli
from wr1_utils.bench import Figure
from wr1_utils.settings import load_settings
from wr1_utils.sites.server import SITES
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import Episode, InfrastructureError
from wr1_utils.web.loop import run

SETTINGS = load_settings("laptop")
FIGURES = {"world_make": Figure(1.23456, "ms", 100, "≤ 20"), "steps_arena_16": Figure(17.5, "steps/s", 8, "≥ 15")}


@pytest.fixture
def two_groups(monkeypatch):
    """Two groups of one figure each instead of the real ones; gives the list of those that were measured."""
    measured = []

    def group(name):
        def measure(settings):
            measured.append(name)
            return {name: FIGURES[name]}
        return measure

    monkeypatch.setattr(bench, "GROUPS", {"worlds": group("world_make"), "steps": group("steps_arena_16")})
    return measured


def test_json_is_one_object_and_nothing_else(two_groups, capsys):
    assert cli.main(["bench", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {"world_make": {"value": 1.235, "unit": "ms", "n": 100}, "steps_arena_16": {"value": 17.5, "unit": "steps/s", "n": 8}}
    assert err == "measuring worlds …\nmeasuring steps …\n"


def test_the_table_has_the_goal_beside_each_figure(two_groups, capsys):
    assert cli.main(["bench"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()[2:]] == [
        ["world_make", "1.23", "≤", "20", "ms", "100"], ["steps_arena_16", "17.50", "≥", "15", "steps/s", "8"]]


@pytest.mark.parametrize("names, measured", [(["steps"], ["steps_arena_16"]), (["steps", "worlds"], ["world_make", "steps_arena_16"])])
def test_names_select_groups(two_groups, capsys, names, measured):
    assert cli.main(["bench", *names, "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == two_groups == measured


def test_an_unknown_group_is_one_sentence_and_nothing_is_measured(two_groups, capsys):
    assert cli.main(["bench", "worlds", "stps", "--json"]) == 2
    assert capsys.readouterr() == ("", "wr1: There is no group 'stps' to measure (did you mean 'steps'?); there are worlds, steps.\n")
    assert not two_groups


def test_a_fault_of_the_browser_is_one_sentence(monkeypatch, capsys):
    def fail(settings):
        raise InfrastructureError("the browser ended")
    monkeypatch.setattr(bench, "GROUPS", {"steps": fail})
    assert cli.main(["bench"]) == 2
    assert capsys.readouterr().err.endswith("wr1: The group steps could not be measured: the browser ended.\n")


def test_the_help_names_every_group(capsys):
    with pytest.raises(SystemExit):
        cli.main(["bench", "--help"])
    said = capsys.readouterr().out
    assert all(name in said for name in bench.GROUPS)


def test_worlds(monkeypatch):
    """A world that is slow to make shows, and so does its memory."""
    monkeypatch.setattr(bench, "WORLDS", 20)
    create = bench.Worlds.create
    monkeypatch.setattr(bench.Worlds, "create", lambda self: time.sleep(0.05) or create(self))
    figures = bench.worlds(SETTINGS)
    assert {name: (one.unit, one.n, one.goal) for name, one in figures.items()} == {
        "world_make": ("ms", 20, "≤ 20"), "world_reset": ("ms", 20, "≤ 20"), "world_memory": ("MB", 20, "≤ 5")}
    assert min(figures["world_make"].value, figures["world_reset"].value) >= 50
    images = sum(map(len, bench.seeds().values())) / 1e6
    assert images <= figures["world_memory"].value < 5


def test_the_memory_of_a_world_that_is_too_large_shows():
    """A seed of 8 MB counts as at least that much, whatever this process has freed before; what SQLite keeps beside it is less than that again."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE texts (text TEXT)")
    database.executemany("INSERT INTO texts VALUES (?)", [("x" * 4000,)] * 2000)
    database.commit()
    freed = [bytes(1000) for _ in range(100_000)]
    del freed
    assert 8 <= bench.world_megabytes({"shop": database.serialize()}, 10) < 16


def test_pages(monkeypatch):
    """Every site has its figure, of several pages."""
    monkeypatch.setattr(bench, "ROUNDS", 1)
    figures = bench.pages(SETTINGS)
    assert list(figures) == [f"page_{site}" for site in SITES]
    assert all(one.n >= 5 and one.value > 0 and (one.unit, one.goal) == ("ms", "≤ 15") for one in figures.values())


@pytest.mark.parametrize("group, name", [(bench.steps, "steps_arena_16"), (bench.miniwob, "steps_miniwob_16")])
def test_steps_a_second(monkeypatch, group, name):
    """The median over the slices, of the right number of episodes in flight."""
    asked = []

    async def slices(settings, browser, place, tasks, episodes, expert=None):
        asked.append((episodes, {task.benchmark for task in tasks}))
        return [3.0, 1.0, 26.0]

    monkeypatch.setattr(bench, "_steps_a_second", slices)
    figure = group(SETTINGS)[name]
    assert (figure.value, figure.unit, figure.n) == (3.0, "steps/s", 3)
    assert asked == ([(16, {"arena"})] if group is bench.steps else [(number, {"miniwob"}) for number in (1, 4, 16, 16)])


def test_rates():
    """What ended before the start (the warm-up) or after the last slice does not count; a slice without steps does."""
    assert bench.rates([-0.5, 0.0, 0.4, 1.9, 2.0, 6.1, 8.0], 2.0, 4) == [1.5, 0.5, 0.0, 0.5]


def test_so_many_episodes_are_in_flight_until_the_time_is_over(monkeypatch):
    """A new one begins wherever one ends; all end with the measurement, and the tasks go round."""
    playing, seen, played = [], [], []

    async def play(episode, turn_limit, ends, expert=None):
        playing.append(episode)
        try:
            await bench.asyncio.sleep(0.01)
            seen.append(len(playing))
            played.append(episode)
            ends.append(time.monotonic())
        finally:
            playing.remove(episode)

    monkeypatch.setattr(bench, "Episode", lambda browser, place, task, *_: task)
    monkeypatch.setattr(bench, "_play", play)
    monkeypatch.setattr(bench, "SLICE_S", 0.5)
    found = run(bench._steps_a_second(SETTINGS, None, None, ["a", "b", "c"], 2))
    assert len(found) == bench.SLICES and sum(found) > 0
    assert max(seen) == 2 and not playing and set(played) == {"a", "b", "c"}


def test_a_fault_while_steps_are_counted_is_raised(monkeypatch):
    async def play(episode, turn_limit, ends, expert=None):
        ends.append(time.monotonic())
        await bench.asyncio.sleep(0.01)
        if len(ends) > 4:
            raise InfrastructureError("the site went away")

    monkeypatch.setattr(bench, "Episode", lambda *_: None)
    monkeypatch.setattr(bench, "_play", play)
    with pytest.raises(InfrastructureError, match="went away"):
        run(bench._steps_a_second(SETTINGS, None, None, ["a task"], 2))


def test_an_expert_plays_in_the_browser(monkeypatch):
    monkeypatch.setattr(bench, "SLICE_S", 1.0)
    monkeypatch.setattr(bench, "SLICES", 4)
    figure = run(bench._in_browser(SETTINGS, bench.open_place(SETTINGS, "miniwob"), bench.make_tasks("train", 1, ("click-test-2", "focus-text-2")), 2, ""))
    assert figure.n == 4 and figure.value > 0


def test_episodes_that_go_on_to_the_turn_limit(monkeypatch):
    """Typing ends none of its pages: every episode has as many steps as it may."""
    ends = []

    async def one(task):
        browser, place = Browser(SETTINGS.browser), bench.open_place(SETTINGS, "miniwob")
        place.start()
        try:
            await bench._play(bench.Episode(browser, place, task, 0, SETTINGS), 5, ends, bench._type_on)
        finally:
            await browser.stop()
            place.stop()

    for number, task in enumerate(bench.make_tasks("train", 1, bench.TYPING_PAGES), 1):
        run(one(task))
        assert len(ends) == 5 * number, task.task_id


def test_a_page_has_as_many_elements_as_asked_for():
    browser = Browser(SETTINGS.browser)
    task = replace(bench.load_tasks(bench.project_path("data/tasks/arena_train.json"))[0], start_url="about:blank")
    episode = Episode(browser, bench.TablePage(100), task, 0, replace(SETTINGS, episode=replace(SETTINGS.episode, page_tokens=100_000)))

    async def observe():
        try:
            seen = await episode.reset()
            again = await episode.step(bench.WAIT)
            return seen, again
        finally:
            await episode.close()
            await browser.stop()

    seen, again = run(observe())
    assert len(seen.elements) == 100 and again.observation.text == seen.text and again.error is None
    assert seen.text.splitlines()[1] == 'row link Item 0 [0] | $0.50 | textbox Quantity 0 = "1" [1] | button Add 0 [2]'


def test_observing(monkeypatch):
    figure = run(bench._observing(SETTINGS, 100, 3, "≤ 15"))
    assert (figure.unit, figure.n, figure.goal) == ("ms", 3, "≤ 15") and figure.value > 0


def test_training(monkeypatch, tmp_path):
    """Of both ways of packing, with and without a long prompt, and memory; recorded episodes that are missing are one sentence."""
    monkeypatch.setattr(bench, "TASKS", 1)
    monkeypatch.setattr(bench, "UPDATES", 1)
    figures = bench.training(SETTINGS)
    assert {name: one.goal for name, one in figures.items() if one.unit == "times"} == {
        "training_ratio": "≥ 1.3", "training_prompt_1000_ratio": "≥ 2", "training_memory_ratio": "≤ 1.2"}  # fmt: skip
    assert figures["training_ratio"].value == pytest.approx(figures["training_tree"].value / figures["training_turns"].value)
    assert figures["training_memory_longest_turn"].value > 1
    monkeypatch.setattr(bench, "project_path", lambda path: tmp_path / path)
    with pytest.raises(bench.BenchError, match="no recorded trajectories"):
        bench.training(SETTINGS)


def test_an_rl_step_adds_up(monkeypatch, capsys):
    """In the browser, with two tasks of two members; what the run says does not go to stdout, which is for the figures alone."""
    for name, value in (("RL_TASKS", 2), ("RL_MEMBERS", 2), ("RL_STEPS", 1)):
        monkeypatch.setattr(bench, name, value)
    settings = load_settings("laptop", tasks={"benchmarks": ["miniwob"], "miniwob_envs": ["click-test-2"]}, rl={"minibatches": 1})
    figures = bench.rl_step(settings)
    seconds = {name.removeprefix("rl_step"): one.value for name, one in figures.items() if one.unit == "s"}
    assert seconds[""] == pytest.approx(seconds["_rollout"] + seconds["_update"])
    assert seconds["_rollout"] == pytest.approx(seconds["_rollout_policy"] + seconds["_rollout_browser"]) and seconds["_rollout_policy"] > 0
    assert seconds["_update"] == pytest.approx(sum(value for name, value in seconds.items() if name.startswith("_update_")))
    assert figures["rl_step_speed"].value > 0 and figures["rl_step"].goal == "≤ 45"
    assert capsys.readouterr().out == ""
