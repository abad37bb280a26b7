"""Which tasks a profile trains and is tested on: none in both, limits spread over the templates."""

import collections

import pytest

from wr1_utils.errors import WR1Error
from wr1_utils.settings import SettingsError, load_settings
from wr1_utils.tasks import benchmark_expert, open_place, spread, test_tasks as held_out, train_tasks


def test_no_task_is_in_both_sets():
    settings = load_settings("laptop")
    train, test = train_tasks(settings), held_out(settings)
    assert {t.benchmark for t in train} == {t.benchmark for t in test} == {"pocket", "miniwob"}
    assert not {t.task_id for t in train} & {t.task_id for t in test}
    assert not {t.intent for t in train if t.intent} & {t.intent for t in test if t.intent}
    assert {t.split for t in train} == {"train"} and "train" not in {t.split for t in test}


@pytest.mark.parametrize("benchmark", ["pocket", "arena", "miniwob"])
def test_further_sets_begin_with_the_first_and_ask_for_nothing_twice_and_nothing_that_is_tested(benchmark):
    settings = load_settings("laptop", **{"tasks.benchmarks": (benchmark,)})
    first, all_three = train_tasks(settings), train_tasks(settings, 3)
    assert {t.task_id for t in first} < {t.task_id for t in all_three} and len(all_three) > 2 * len(first)
    assert len({t.task_id for t in all_three}) == len(all_three)
    if benchmark != "miniwob":  # there the seed alone says what is asked
        intents = {t.intent for t in all_three}
        assert not intents & {t.intent for t in held_out(load_settings("laptop", **{"tasks.benchmarks": ("pocket", "arena")}))}
        assert {t.intent_template_id for t in all_three} == {t.intent_template_id for t in first}
    assert train_tasks(settings, 3) == all_three


def test_further_sets_and_a_limit_contradict_each_other():
    with pytest.raises(SettingsError, match="rl.task_sets"):
        train_tasks(load_settings("smoke"), 2)


def test_limits_are_spread_over_the_templates_and_repeatable():
    tasks = [t for t in train_tasks(load_settings("laptop")) if t.benchmark == "pocket"]
    chosen = spread(tasks, 60, seed=1)
    counts = collections.Counter(t.intent_template_id for t in chosen)
    assert len(chosen) == 60 and max(counts.values()) - min(counts.values()) <= 1
    assert len(counts) == len({t.intent_template_id for t in tasks})
    assert spread(tasks, 60, seed=1) == chosen != spread(tasks, 60, seed=2)
    assert spread(tasks, 0, seed=1) == tasks


def test_an_unknown_benchmark_is_named_with_its_neighbour():
    with pytest.raises(SettingsError, match="miniwob"):
        open_place(load_settings("laptop"), "miniwop")


def test_the_pages_of_miniwob_are_chosen_by_name_or_in_groups():
    def pages(*names):
        settings = load_settings("laptop", **{"tasks.benchmarks": ("miniwob",), "tasks.miniwob_envs": names})
        return list(dict.fromkeys(task.intent_template for task in train_tasks(settings)))

    assert pages("enter-date", "click-tab", "enter-date") == ["enter-date", "click-tab"]
    standard = list(dict.fromkeys(task.intent_template for task in train_tasks(load_settings("laptop")) if task.benchmark == "miniwob"))
    assert pages("standard") == standard and len(standard) == 25
    assert set(pages("experts")) > set(standard) and len(pages("experts")) >= 60
    assert pages("drag-box", "standard") == ["drag-box", *standard]
    with pytest.raises(WR1Error, match="'click-tab'"):
        pages("click-tap")


def test_the_arena_is_a_benchmark_of_its_own():
    settings = load_settings("laptop", **{"tasks.benchmarks": ("pocket", "arena")})
    train, test = train_tasks(settings), held_out(settings)
    assert collections.Counter(t.benchmark for t in test) == {"pocket": 97, "arena": 165}
    assert collections.Counter(t.benchmark for t in train) == {"pocket": 321, "arena": 647}
    assert len({t.task_id for t in train + test}) == len(train + test)
    assert not {t.intent for t in train} & {t.intent for t in test}              # of neither benchmark in the other's
    assert open_place(settings, "arena").site_urls.keys() == open_place(settings, "pocket").site_urls.keys()
    assert benchmark_expert("arena") is benchmark_expert("pocket")
