"""The task set of all sites: WebArena-Lite's numbers and proportions, no leak, and further sets beside the committed one."""

from collections import Counter
from pathlib import Path

import pytest

from wr1_utils.agent.pocket_experts import EXPERTS
from wr1_utils.errors import WR1Error
from wr1_utils.sites.server import SITES
from wr1_utils.tasks import scoring
from wr1_utils.tasks.arena import TEMPLATES, make_arena, scaled, site_of, write_arena
from wr1_utils.tasks.task import load_tasks
from wr1_utils.tasks.templates import what_is_asked

DATA = Path(__file__).parents[2] / "data" / "tasks"
TRAIN, TEST = make_arena()


def asked(tasks):
    return {what_is_asked(task.intent_template_id, task.instantiation_dict) for task in tasks}


def is_impossible(task):
    return task.eval["reference_answers"] == {"exact_match": "N/A"}


def test_the_committed_files_are_what_make_arena_makes(tmp_path):
    assert write_arena(tmp_path) == {}
    for name in ("arena_train.json", "arena_test.json"):
        assert (DATA / name).read_bytes() == (tmp_path / name).read_bytes()
    assert load_tasks(DATA / "arena_train.json") == TRAIN and load_tasks(DATA / "arena_test.json") == TEST


@pytest.mark.parametrize("counts, total, wanted", [
    ([2, 4, 6], 6, [1, 2, 3]),
    ([3, 3, 3], 4, [2, 1, 1]),          # running sums 1.3, 2.7 and 4, rounded up
    ([4, 0, 4], 4, [2, 0, 2]),
    ([10, 1, 1], 3, [1, 1, 1]),         # never less than 1
    ([1, 1, 10], 4, [1, 1, 2]),
    ([2, 3], 10, [4, 6]),
    ([0, 5, 0], 7, [0, 7, 0]),
])
def test_scaled(counts, total, wanted):
    assert scaled(counts, total) == wanted and sum(wanted) == total


@pytest.mark.parametrize("counts, total", [([1, 1, 1], 2), ([0, 0], 3), ([], 0)])
def test_what_cannot_be_scaled(counts, total):
    with pytest.raises(ValueError, match=f"cannot be scaled to {total}"):
        scaled(counts, total)


def test_numbers_of_tasks_templates_and_sites():
    assert len(TRAIN) == 647 and len(TEST) == 165
    assert Counter(map(site_of, TEST)) == {"shopping": 45, "shopping_admin": 35, "gitlab": 30, "map": 26, "reddit": 19, "several": 10}
    assert Counter(map(site_of, TRAIN)) == {"shopping": 176, "shopping_admin": 137, "gitlab": 118, "map": 102, "reddit": 75, "several": 39}
    assert "wikipedia" in {site for task in TEST for site in task.sites} <= set(SITES)
    names = [template.name for template in TEMPLATES]
    assert len(set(names)) == len(names) >= 70
    assert len({task.intent_template_id for task in TEST}) >= 70


def test_splits():
    trained = {task.intent_template_id for task in TRAIN}
    assert {task.split for task in TRAIN} == {"train"}
    for task in TEST:
        assert task.split == ("seen_template" if task.intent_template_id in trained else "unseen_template")
    assert sum(task.split == "unseen_template" for task in TEST) / len(TEST) >= 0.2
    assert {site_of(task) for task in TEST if task.split == "unseen_template"} == set(map(site_of, TEST))


def test_proportions_of_evaluators_and_of_impossible_tasks():
    kinds = Counter(kind for task in TEST for kind in task.eval["eval_types"])
    assert set(kinds) == {"string_match", "program_html", "url_match"}
    for kind, share in (("string_match", 48), ("program_html", 41), ("url_match", 23)):       # WebArena-Lite's, in per cent
        assert abs(100 * kinds[kind] / len(TEST) - share) <= 3, kind
    for tasks in (TRAIN, TEST):
        assert 0.04 <= sum(map(is_impossible, tasks)) / len(tasks) <= 0.06


def test_tasks_are_unique_and_none_is_in_both_sets():
    everything = TRAIN + TEST
    assert len({task.task_id for task in everything}) == len({task.intent for task in everything}) == len(everything)
    assert len(asked(everything)) == len(everything)
    assert {task.benchmark for task in everything} == {"arena"}
    for task in everything:
        assert "{{" not in task.intent, task.intent


def test_the_shop_tasks_are_a_part_of_those_of_pocket():
    for part, tasks in (("train", TRAIN), ("test", TEST)):
        of_pocket = {task.intent: task for task in load_tasks(DATA / f"pocket_{part}.json")}
        for task in tasks:
            if site_of(task) == "shopping":
                there = of_pocket[task.intent]
                checks = len(there.eval["program_html"])
                assert task.eval["program_html"][:checks] == there.eval["program_html"]
                assert {**task.eval, "program_html": []} == {**there.eval, "program_html": []}
                assert len(task.eval["program_html"]) > checks or not (checks and task.require_login)
                assert task.task_id.replace("arena.", "pocket.") == there.task_id


def test_every_template_has_an_expert_and_every_expert_a_template():
    assert set(EXPERTS) == {template.name for template in TEMPLATES}


def test_answering_na_at_once_earns_next_to_nothing():
    """That an untouched site solves no task is tested site by site; here program_html counts as not fulfilled."""
    urls = {site.upper(): f"http://{site}.localhost" for site in SITES}

    def score(task):
        parts = {"string_match": lambda: scoring.string_match(task.eval["reference_answers"], "N/A"), "program_html": lambda: 0.0,
                 "url_match": lambda: scoring.url_match(task.eval["reference_url"], scoring.fill_placeholders(task.start_url, urls), urls,
                                                        task.eval.get("url_note"))}
        return scoring.combine([parts[kind]() for kind in task.eval["eval_types"]])

    scores = {task.task_id: score(task) for task in TEST}
    assert {task_id for task_id, reward in scores.items() if reward} == {task.task_id for task in TEST if is_impossible(task)}
    assert sum(scores.values()) / len(TEST) <= 0.06


def test_a_further_set_shares_nothing_with_the_earlier_ones_that_are_named(tmp_path):
    sets = {}
    for seed, without in ((1, ()), (2, ()), (3, (tmp_path / "1", tmp_path / "2"))):
        write_arena(tmp_path / str(seed), seed, without)
        sets[seed] = [task for part in ("train", "test") for task in load_tasks(tmp_path / str(seed) / f"arena_{part}.json")]
    assert asked(sets[1]) & asked(sets[2])  # else the option would be for nothing
    assert not asked(sets[3]) & asked(sets[1] + sets[2]) and len(sets[3]) > 500
    with pytest.raises(WR1Error, match="nowhere"):
        write_arena(tmp_path / "4", 4, [tmp_path / "nowhere"])


@pytest.mark.parametrize("seed", [1, 7])
def test_another_seed_gives_other_tasks_and_none_of_the_committed_ones(tmp_path, seed):
    left_out = write_arena(tmp_path, seed)
    train, test = (load_tasks(tmp_path / f"arena_{part}.json") for part in ("train", "test"))
    known = [task for name in ("pocket", "arena") for split in ("train", "test") for task in load_tasks(DATA / f"{name}_{split}.json")]
    assert not asked(train + test) & asked(known) and not {task.intent for task in train + test} & {task.intent for task in known}
    assert not asked(train) & asked(test) and len({task.intent for task in train + test}) == len(train + test)
    assert len(train) + len(test) + sum(left_out.values()) == 812 and sum(left_out.values()) < 70 and len(test) >= 155
    assert all(task.task_id.startswith(f"arena.s{seed}.") and task.benchmark == "arena" for task in train + test)
    assert make_arena(seed, known) == (train, test) != make_arena(seed + 1, known)
    short = Counter(task.intent_template_id for task in train + test)
    assert {template.name: template.train + template.test - short[template.name] for template in TEMPLATES
            if short[template.name] < template.train + template.test} == left_out
