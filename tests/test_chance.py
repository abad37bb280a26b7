"""The scoring is tight: clicking anywhere solves next to nothing, and "N/A" only what cannot be done."""

from types import SimpleNamespace

import pytest

from wr1_utils.chance import AGENTS, CLICKS, always_na, play, random_clicks, record, solved_table
from wr1_utils.settings import project_path
from wr1_utils.tasks import spread
from wr1_utils.tasks.task import load_tasks
from wr1_utils.web.actions import parse_reply
from wr1_utils.web.observation import Element, Observation

TASKS = load_tasks(project_path("data/tasks/arena_test.json"))
IMPOSSIBLE = [task.task_id for task in TASKS if task.eval["reference_answers"] == {"exact_match": "N/A"}]


def page(*elements):
    return Observation(url="", title="", text="", elements=elements, tabs=(), tab=0, notices=())


FULL = page(Element(None, "heading", "Top"), *(Element(number, "link", f"Link {number}") for number in range(5)))


def clicks(task_id):
    """The ids that are clicked on a page with the ids 0 to 4, until the exit."""
    memory, found = {}, []
    while (action := parse_reply(random_clicks(SimpleNamespace(task_id=task_id), "", FULL, memory))).call != "exit":
        assert action.action == "Click"
        found.append(action.element)
    assert action.message == ""
    return found


def test_clicks_are_drawn_by_the_task_from_all_elements():
    drawn = [clicks(f"task {number}") for number in range(60)]
    assert {len(one) for one in drawn} == set(range(1, CLICKS + 1))
    assert {element for one in drawn for element in one} == {"0", "1", "2", "3", "4"}
    assert clicks("task 1") == drawn[1] != drawn[2]


def test_where_nothing_can_be_clicked_it_exits():
    assert parse_reply(random_clicks(TASKS[0], "", page(Element(None, "text", "Empty")), {})).call == "exit"


def test_na():
    action = parse_reply(always_na(TASKS[0], "", FULL, {}))
    assert (action.call, action.message) == ("exit", "N/A")


def test_the_table():
    """A rate is of the episodes that have a reward."""
    def episodes(*statuses):
        return [SimpleNamespace(task_id=f"t{number}", status=status, valid=status != "infrastructure") for number, status in enumerate(statuses)]

    table = solved_table({"a": episodes("success", "failure", "success", "infrastructure", "turn_limit"), "b": episodes("failure")})
    assert table.to_dict("records") == [
        {"agent": "a", "tasks": 5, "solved": 2, "errors": 1, "percent": 50.0, "solved_tasks": "t0 t2"},
        {"agent": "b", "tasks": 1, "solved": 0, "errors": 0, "percent": 0.0, "solved_tasks": ""}]


def test_some_tasks_in_the_browser():
    some = [task for task in spread(TASKS, 6, 0) if task.task_id not in IMPOSSIBLE] + [task for task in TASKS if task.task_id in IMPOSSIBLE[:2]]
    played = {agent: play(agent, some) for agent in AGENTS}
    assert [one.task_id for one in played["always N/A"] if one.status == "success"] == IMPOSSIBLE[:2]
    assert all(len(one.turns) == 1 for one in played["always N/A"])
    assert {one.status for one in played["random clicks"]} == {"failure"}
    assert all("exit" in one.turns[-1].action for one in played["random clicks"])
    assert any("Click" in turn.action and not turn.error for one in played["random clicks"] for turn in one.turns)


@pytest.mark.slow
def test_chance_solves_next_to_nothing(tmp_path):
    table = record(tmp_path).set_index("agent")
    assert list(table["tasks"]) == [165, 165] and list(table["errors"]) == [0, 0]
    assert table.loc["random clicks", "percent"] <= 2
    assert table.loc["always N/A", "percent"] <= 6 and table.loc["always N/A", "solved_tasks"].split() == IMPOSSIBLE
    assert (tmp_path / "solved.csv").is_file() and (tmp_path / "environment.json").is_file()
