"""The case study: which task the rule chooses, and what the page shows of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from wr1_utils.analysis.case_study import choose, write_case_study
from wr1_utils.settings import ROOT
from wr1_utils.trajectory import Trajectory, Turn, write_trajectories

PAGE = "page Shop <b>\nbutton Buy </pre><script>alert(1)</script> [1]"
REPLY = '<think>the <i>buy</i> button</think>\n<answer>do(action="Click", element="1")</answer>'


def turn(url="http://shop.test/a", error="", screenshot="", box=None):
    return Turn(url, "Shop", PAGE, [1], [2], [-0.1], REPLY, "", error, 0.1, 0.1, screenshot, box)


def episode(number, status, turns, split="seen_template"):
    reward = None if status == "infrastructure" else float(status == "success")
    return Trajectory("r", f"pocket.x.{number}", "pocket", "shopping", "x", split, f"Buy mug {number}", number, 0, 0, "p", status, reward, None, "", 1.0, [turn(**one) for one in turns])


def chosen(solver, other, folder=Path("nowhere")):
    pair = choose(solver, other, folder, folder)
    return pair and pair[0].task_id


def test_only_tasks_that_one_solved_and_the_other_failed_are_chosen():
    solver = [episode(1, "success", [{}] * 3), episode(2, "failure", [{}] * 3), episode(3, "success", [{}] * 3), episode(4, "success", [{}] * 3), episode(5, "success", [{}] * 4)]
    other = [episode(1, "success", [{}]), episode(2, "failure", [{}]), episode(3, "infrastructure", []), episode(5, "turn_limit", [{}])]
    assert chosen(solver, other) == "pocket.x.5"
    assert chosen(solver[:4], other) is None


@pytest.mark.parametrize("turns, wanted", [
    ({1: 5, 2: 3, 3: 3, 4: 2}, "pocket.x.2"),  # the fewest of at least three; of equals the first by its id
    ({1: 1, 2: 2}, "pocket.x.2"),  # none has three: the most
])
def test_the_shortest_of_at_least_three_turns_is_chosen(turns, wanted):
    other = [episode(number, "failure", [{}]) for number in turns]
    assert chosen([episode(number, "success", [{}] * count) for number, count in reversed(turns.items())], other) == wanted


def test_pictures_count_more_than_sites_and_sites_more_than_length(tmp_path):
    Image.new("RGB", (40, 20)).save(tmp_path / "1.jpg")
    two_sites, pictured = [{}, {}, {"url": "http://wiki.test/"}, {}], [{"screenshot": "1.jpg"}] * 5
    solver = [episode(1, "success", [{}] * 3), episode(2, "success", two_sites), episode(3, "success", pictured), episode(4, "success", [{"screenshot": "gone.jpg"}] * 3)]
    other = [episode(number, "failure", [{"screenshot": "1.jpg"}]) for number in (1, 2, 3, 4)]
    assert chosen(solver, other, tmp_path) == "pocket.x.3"
    assert chosen(solver[:2], other, tmp_path) == "pocket.x.2"


def evaluation(folder, method, *episodes, seed=0):
    run = folder / f"eval-{method}-s{seed}"
    write_trajectories(run / "trajectories.parquet", list(episodes))
    (run / "summary.json").write_text(json.dumps({}))
    return run


def test_the_page_shows_both_sides_turn_by_turn_without_pictures(tmp_path):
    evaluation(tmp_path, "r1", episode(1, "success", [{}] * 3), episode(2, "success", [{}] * 3, split="train"))
    evaluation(tmp_path, "bc", episode(1, "failure", [{"error": "there is no element 9"}]), episode(2, "failure", [{}]))
    made = write_case_study(tmp_path)
    assert made.path == tmp_path / "case_study.html" and made.says == "pocket.x.1: solved by R1 in 3 turns, not by BC."
    text = made.path.read_text()
    assert text.count("<h2>Turn ") == 4 and text.count("the episode had ended") == 2
    assert "<mark>button Buy &lt;/pre&gt;&lt;script&gt;" in text and "<script" not in text and "the &lt;i&gt;buy&lt;/i&gt; button" in text
    assert "there is no element 9" in text and "failed: invalid action (turn 1)" in text and "solved in 3 turns" in text
    assert "screenshots = &#34;all&#34;" in text and "<image" not in text
    assert 'href="eval-r1-s0/view.html#pocket.x.1.1.0@1"' in text and 'href="eval-bc-s0/view.html#pocket.x.1.1.0@1"' in text


def test_pictures_have_the_element_outlined(tmp_path):
    picture = {"screenshot": "screenshots/1.jpg", "box": [10.0, 5.0, 8.0, 2.0]}
    for method, status in (("r1", "success"), ("bc", "failure")):
        run = evaluation(tmp_path, method, episode(1, status, [picture]))
        (run / "screenshots").mkdir()
        Image.new("RGB", (400, 200), "white").save(run / "screenshots" / "1.jpg")
    text = write_case_study(tmp_path).path.read_text()
    assert text.count('<svg viewBox="0 0 400 200"') == text.count("data:image/jpeg;base64,") == 2
    assert 'x="6.0" y="1.0" width="16.0" height="10.0"' in text and "No pictures were recorded" not in text


def test_the_least_seed_of_both_is_taken_and_what_is_missing_is_said(tmp_path):
    assert "no finished evaluations of R1 and BC with the same seed" in write_case_study(tmp_path).says
    evaluation(tmp_path, "r1", episode(1, "failure", [{}]), seed=0)
    evaluation(tmp_path, "bc", episode(1, "failure", [{}]), seed=2)
    assert write_case_study(tmp_path).path is None
    evaluation(tmp_path, "r1", episode(1, "failure", [{}]), seed=2)
    assert "no test task that R1 solved and BC did not" in write_case_study(tmp_path).says
    evaluation(tmp_path, "r1", episode(7, "success", [{}]), seed=10)
    evaluation(tmp_path, "bc", episode(7, "failure", [{}]), seed=10)
    assert write_case_study(tmp_path).path is None  # seed 2 comes before 10
    evaluation(tmp_path, "r1", episode(1, "success", [{}]), seed=2)
    assert write_case_study(tmp_path).says.startswith("pocket.x.1:")


def test_it_needs_no_model_and_no_browser():
    code = "import sys, wr1_utils.analysis.case_study; sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'playwright')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
