"""Each cause by an episode made by hand."""

import json

import pytest

from wr1_utils.analysis import errors
from wr1_utils.analysis.errors import explain
from wr1_utils.analysis.tables import AnalysisError
from wr1_utils.tasks.task import Task
from wr1_utils.trajectory import Trajectory, Turn, write_trajectories

PAGE = 'page Shop\ntextbox Email = "" [0]\ntextbox Password = "" [1]\nselect Size = "Choose" (Choose | Small | Medium) [2]\nlink Mugs [3]\ntext Zip 4711'


def do(action, element, argument=None):
    return f'do(action="{action}", ' + (f'argument="{argument}", ' if argument else "") + f'element="{element}")'


def episode(*calls, status="failure", answer=None, intent="Log in as ann with the password cotton and take Medium", errors=(), pages=(), **changes):
    """A failed episode of bare calls; `errors` and `pages` are those of the turns, where given."""
    turns = [Turn("http://shop/", "Shop", (list(pages) + [PAGE] * 20)[n], [1], [2], [], call, "", (list(errors) + [""] * 20)[n], 0.1, 0.1)
             for n, call in enumerate(calls)]
    fields = dict(run="r", task_id="pocket.log_in.1", benchmark="pocket", site="shopping", template="log_in", split="seen_template", intent=intent, group=0, member=0,
                  seed=0, policy="p", status=status, reward=None if status in ("infrastructure", "unscored") else float(status == "success"), answer=answer, error="", seconds=1.0, turns=turns)
    return Trajectory(**{**fields, **changes})


def exit_with(message):
    return {"answer": message}


CLICKS = [do("Click", 3), do("Click", 0), do("Click", 1)]
CASES = {
    "invalid action": [
        episode("no call", do("Click", 3), errors=["invalid reply (no action): x"]),
        episode(do("Click", 99), do("Click", 3), status="turn_limit", errors=["there is no element [99]; ids go from 0 to 3"]),
    ],
    "loop": [
        episode(*[do("Click", 3)] * 3, 'exit("done")', **exit_with("done")),
        episode(do("Click", 3), "go_backward()", do("Click", 3), "go_forward()", do("Click", 3), status="turn_limit"),
        episode(*[do("Click", 3)] * 3, pages=[PAGE, PAGE + "\nnote error nothing happened"]),  # a note on the last action is not the page
    ],
    "turn limit": [episode(*CLICKS, status="turn_limit"),
                   episode(*[do("Click", 3)] * 3, status="turn_limit", pages=[PAGE, PAGE + "\ntext 2", PAGE + "\ntext 3"])],
    "token limit": [episode(*CLICKS, status="token_limit"), episode(status="token_limit")],
    "gave up": [
        episode(*CLICKS, 'exit("N/A")', **exit_with("N/A")),
        episode(*CLICKS, 'exit("x")', **exit_with("I cannot find this product.")),
        episode('exit("done")', **exit_with("done")),
        episode('do(action="Scroll Down")', "exit()", **exit_with("")),
        episode(*CLICKS, error="the expert does not know this page"),
    ],
    "wrong answer": [episode(*CLICKS, 'exit("42")', **exit_with("42")), episode('exit("42")', **exit_with("42")), episode('exit("none of them")', **exit_with("none of them"))],
    "wrong value": [
        episode(do("Type", 0, "ann"), do("Type", 1, "wool"), do("Click", 3), 'exit("done")', **exit_with("done")),
        episode(do("Type", 0, "an")),  # not a whole word of the task
        episode(do("Type", 1, "wool"), do("Type", 1, "wool"), pages=[PAGE, PAGE.replace('Password = ""', 'Password = "wool"')]),  # the page has it from the agent
        episode(do("Select Dropdown Option", 2, "Small")),
    ],
    "wrong element": [
        episode(*CLICKS), episode(*CLICKS, 'exit("done")', **exit_with("Done.")),
        episode(do("Type", 1, "wool"), do("Type", 1, "Cotton")),  # put right
        episode(do("Type", 1, "4711")),  # from the page
        episode(do("Select Dropdown Option", 2, "Small"), intent="Take the smallest"),  # the task names none of the options
        episode(do("Type", 1, "wool"), errors=["textbox Password [1]: is disabled"]),  # nothing was typed
    ],
}


@pytest.mark.parametrize("cause, one", [(cause, one) for cause, episodes in CASES.items() for one in episodes])
def test_each_cause(cause, one):
    assert explain(one).cause == cause


def test_every_cause_has_a_rule_and_a_case():
    assert list(CASES) == list(errors.CAUSES) and all(errors.CAUSES.values())


def test_what_did_not_fail_has_no_cause():
    """A fault of the infrastructure is none of the agent's."""
    for status in ("success", "infrastructure", "unscored"):
        assert explain(episode(*CLICKS, status=status)) is None


def test_the_turn_and_the_reason_are_given():
    found = explain(episode(do("Type", 0, "ann"), do("Type", 1, "wool"), do("Click", 3)))
    assert found.turn == 2 and "wool" in found.why
    assert explain(episode(*[do("Click", 3)] * 4)).turn == 3
    assert explain(episode(*CLICKS)) == errors.Failure("wrong element", 3, 'Click on [1], the last one: textbox Password = "" [1]')


def test_whether_the_task_asks_decides_what_an_answer_is():
    said = episode(*CLICKS, 'exit("The order was placed")', answer="The order was placed")
    unknown, yes, no = {}, {"pocket.log_in.1": True}, {"pocket.log_in.1": False}
    assert [explain(said, asks).cause for asks in (unknown, yes, no)] == ["wrong answer", "wrong answer", "wrong element"]
    done = episode(*CLICKS, 'exit("done")', answer="done")
    assert [explain(done, asks).cause for asks in (unknown, yes, no)] == ["wrong element", "wrong answer", "wrong element"]
    assert explain(episode(*CLICKS, 'exit("42")', answer="42", benchmark="miniwob")).cause == "wrong element"
    tasks = [Task(name, ("shopping",), "__SHOPPING__/", "x", "x", 7, {}, False, False, {"eval_types": kinds}, "train")
             for name, kinds in (("a", ["string_match"]), ("b", ["url_match"]), ("c", ["program_html", "string_match"]))]
    assert errors.asking(tasks) == {"a": True, "b": False, "c": True}


def test_the_tables_count_and_link(tmp_path):
    runs = {"bc": [*CASES["loop"][:2], CASES["wrong answer"][0], episode(*CLICKS, status="success")], "r1": [episode(*CLICKS, status="infrastructure")]}
    failures = errors.failure_table(runs)
    assert list(failures["cause"]) == ["loop", "loop", "wrong answer"] and failures["link"][0] == "bc/view.html#pocket.log_in.1.0.0@3"
    causes = errors.cause_table(failures)
    assert causes.to_dict("list") == {"run": ["bc"] * 2, "benchmark": ["pocket"] * 2, "cause": ["loop", "wrong answer"], "failures": [2, 1],
                                      "share": [2 / 3, 1 / 3], "example": ["bc/view.html#pocket.log_in.1.0.0@3", "bc/view.html#pocket.log_in.1.0.0@4"]}
    assert errors.cause_table(errors.failure_table({"r1": runs["r1"]})).empty


def test_tables_of_a_folder_have_twins(tmp_path):
    run = tmp_path / "eval-bc-s0"
    write_trajectories(run / "trajectories.parquet", [CASES["loop"][0], CASES["wrong element"][0]])
    with pytest.raises(AnalysisError, match="04_evaluation"):
        errors.make_failure_tables(tmp_path)
    (run / "summary.json").write_text(json.dumps({}))
    errors.make_failure_tables(tmp_path)
    for name in ("failures", "failure_causes"):
        for suffix in (".csv", ".md", ".tex"):
            assert "wrong element" in (tmp_path / name).with_suffix(suffix).read_text()
    cells = (tmp_path / "failures.md").read_text().splitlines()
    assert {line.count("|") for line in cells} == {12}  # nothing in a cell ends it
