"""The experts of the sites `map` and `wikipedia` solve their tasks in a real browser; what is nearly right is worth nothing."""

from dataclasses import replace

import pytest

from wr1_utils.agent import map_experts, pocket_experts
from wr1_utils.tasks.map_templates import TEMPLATES, seed_land
from wr1_utils.tasks.templates import make_tasks

TASKS = sum(make_tasks(TEMPLATES, 0), [])
ONE_EACH = {task.intent_template_id: task for task in TASKS}


def test_every_template_has_an_expert():
    assert set(map_experts.EXPERTS) == {template.name for template in TEMPLATES}
    assert map_experts.EXPERTS.items() <= pocket_experts.EXPERTS.items()


def test_one_task_of_each_template_is_solved(check_experts):
    check_experts(ONE_EACH.values(), reply=340)


@pytest.mark.slow
def test_every_task_is_solved(check_experts):
    check_experts(TASKS, reply=340)


# --- what is nearly right --------------------------------------------------------------------------------------------------------

def done(template, **filling):
    """The template's task with other values."""
    return replace(ONE_EACH[template], instantiation_dict=filling)


def wrong_ones():
    """Template → changes to its filling, one a near miss."""
    kept = {name: next(place for place in held if place != ONE_EACH[name].instantiation_dict["place"])
            for name, held in (("map_unfavorite", seed_land().favorites), ("map_remove_note", seed_land().notes))}
    return {
        "map_favorite": [{"place": "Ocean Park"}], "map_favorite_show": [{"place": "Ocean Park"}],
        "wiki_favorite": [{"place": "Ocean Park"}], "map_home": [{"place": "Ocean Park"}],
        "map_unfavorite": [{"place": kept["map_unfavorite"]}], "map_remove_note": [{"place": kept["map_remove_note"]}],
        "map_note": [{"place": "Ocean Park"}, {"text": "Bad view"}],
        "map_note_fact": [{"first": "Ocean Hotel"}, {"second": "Ocean Park"}, {"fact": "address"}],
        "map_note_article": [{"place": "Elmton Hospital"}], "map_note_time": [{"mode": "bicycle"}, {"second": "Ocean Park"}],
        "map_favorite_nearest": [{"category": "Parks"}], "map_open_nearest": [{"category": "Parks"}],
        "map_open_way": [{"mode": "bicycle"}, {"first": "Ocean Park"}], "map_open_category": [{"town": "Westbury"}, {"category": "Hotels"}],
        "wiki_open_sorted": [{"order": "downwards"}, {"column": "Opened"}], "map_share": [{"place": "Ocean Park"}],
    }


def near_misses():
    """Name → (task, what is done instead)."""
    episodes = {}
    for name, task in ONE_EACH.items():
        episodes[f"{name}, nothing done"] = task, []
    for name, changes in wrong_ones().items():
        wanted = ONE_EACH[name].instantiation_dict
        for change in changes:
            assert change.items() - wanted.items(), f"{name}: {change} is what the task wants"
            episodes[f"{name}, another {next(iter(change))}"] = ONE_EACH[name], [done(name, **{**wanted, **change})]
    names = ("map_favorite", "map_unfavorite", "map_note", "map_remove_note", "map_favorite_show")
    add, remove, note, unnote, show = map(ONE_EACH.get, names)
    at = {task.intent_template_id: task.instantiation_dict["place"] for task in (add, remove, note, unnote, show)}
    other = {name: changes[0]["place"] for name, changes in wrong_ones().items() if "place" in changes[0]}
    home, way = ONE_EACH["map_home"], ONE_EACH["map_open_way"].instantiation_dict
    return episodes | {
        "added and removed": (add, [add, done("map_unfavorite", place=at["map_favorite"])]),
        "added, and another one": (add, [add, done("map_favorite", place="Ocean Park")]),
        "added, and a note": (add, [add, done("map_note", place=at["map_favorite"], text="Good view")]),
        "removed and added": (remove, [remove, done("map_favorite", place=at["map_unfavorite"])]),
        "removed, and another one": (remove, [remove, done("map_unfavorite", place=other["map_unfavorite"])]),
        "noted and removed": (note, [note, done("map_remove_note", place=at["map_note"])]),
        "noted, and on another place": (note, [note, done("map_note", place="Ocean Park", text=note.instantiation_dict["text"])]),
        "noted, and a favorite": (note, [note, done("map_favorite", place=at["map_note"])]),
        "a note removed, and another one": (unnote, [unnote, done("map_remove_note", place=other["map_remove_note"])]),
        "a note written over": (unnote, [done("map_note", place=at["map_remove_note"], text="None")]),
        "a home, and a favorite": (home, [done("map_favorite", place="Ocean Park"), home]),
        "added and not shown": (show, [done("map_favorite", place=at["map_favorite_show"])]),
        "the way back": (ONE_EACH["map_open_way"], [done("map_open_way", **{**way, "first": way["second"], "second": way["first"]})]),
    }


@pytest.mark.slow
def test_what_is_nearly_right_is_worth_nothing(play):
    episodes = near_misses()
    outcomes = dict(zip(episodes, play(episodes.values())))
    assert not {name: outcome for name, outcome in outcomes.items() if outcome.score != 0.0}
