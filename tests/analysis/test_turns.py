import pytest

from wr1_utils.analysis.turns import action_of, anchor, element_row, page_text, split_reply
from wr1_utils.trajectory import Trajectory, Turn
from wr1_utils.web.actions import Action, Invalid

CALL = 'do(action="Click", element="1")'


def turn(reply, observation="page Shop\nnote error x\nlink Go [0]\nrow Mug | link Buy [1] | link Look [11]", error=""):
    return Turn("http://shop/", "Shop", observation, [1], [2, 3], [-0.1, -0.2], reply, "", error, 0.1, 0.1)


@pytest.mark.parametrize("reply, thought, call", [
    (f"<think># Element: Go [1]</think>\n<answer>{CALL}</answer>", "# Element: Go [1]", CALL),
    (CALL, "", CALL),
    (f"<answer>{CALL}</answer>", "", CALL),
    ("<think>on and on", "on and on", ""),
])
def test_a_reply_is_a_thought_and_a_call(reply, thought, call):
    assert split_reply(reply) == (thought, call)


def test_the_action_is_read_as_the_episode_read_it():
    click = Action("do", action="Click", element="1")
    assert action_of(turn(CALL)) == action_of(turn(f"<think>t</think><answer>{CALL}</answer>")) == click
    assert isinstance(action_of(turn(f"<think>{CALL}")), Invalid)


def test_the_line_of_the_element_acted_on_in_both_styles():
    assert element_row(turn(CALL)) == 3
    assert element_row(turn(CALL.replace('"1"', '"11"'))) == 3 and element_row(turn(CALL.replace('"1"', '"7"'))) is None
    assert element_row(turn(CALL, '<title>Shop</title>\n<a id="11">x</a>\n<a id="1">Buy</a>')) == 2
    assert element_row(turn("go_backward()")) is None


def test_the_page_without_the_notes_on_the_action_before():
    assert "note" not in page_text(turn(CALL)) and page_text(turn(CALL)).startswith("page Shop\nlink Go")
    assert page_text(turn(CALL, "<title>S</title>\n<note>error</note>\n<p>")) == "<title>S</title>\n<p>"


def test_an_anchor_names_one_episode():
    one = Trajectory("r", "miniwob.x/1", "miniwob", "miniwob", "x", "train", "i", 2, 3, 0, "p", "failure", 0.0, None, "", 1.0)
    assert (anchor(one), anchor(one, "step-0001")) == ("miniwob.x_1.2.3", "step-0001.miniwob.x_1.2.3")
