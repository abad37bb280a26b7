"""Experts that only click: what they do on pages made by hand."""

import pytest

from wr1_utils.agent.experts import ExpertError
from wr1_utils.agent.miniwob_click_experts import CLICK_EXPERTS
from wr1_utils.web.actions import parse_reply


def act(name, intent, observation, memory=None):
    """(action, element, argument) of the expert's reply."""
    action = parse_reply(CLICK_EXPERTS[name](intent, observation, {} if memory is None else memory))
    return action.action, action.element, action.argument


def test_words_of_the_same_meaning(observed):
    boxes = [("checkbox", "tiny", {"state": ("checked",)}), ("checkbox", "huge"), ("checkbox", "calm"), ("button", "Submit")]
    assert act("click-checkboxes-soft", "Select words similar to little, quiet and click Submit.", observed(*boxes)) == ("Click", "2", None)
    assert act("click-checkboxes-soft", "Select words similar to little and click Submit.", observed(*boxes)) == ("Click", "3", None)


@pytest.mark.parametrize("value, done", [("", ("Select Dropdown Option", "0", "Korea, South")), ("Chad, Korea, South", ("Select Dropdown Option", "0", "Chad")),
                                         ("Korea, South", ("Click", "1", None))])
def test_a_list_of_several(observed, value, done):
    """What is chosen too much is taken back."""
    page = observed(("select", "", {"value": value, "options": ("Chad", "Korea, South", "Peru")}), ("button", "Submit"))
    assert act("click-scroll-list", "Select Korea, South from the scroll list and click Submit.", page) == done


def test_a_menu_is_gone_through_by_hovering(observed):
    """Anna is under Bob: the mouse goes to Bob, waits there until the submenu shows, and clicks in it."""
    memory, closed = {}, observed(("menuitem", "Carl"), ("menuitem", "Bob"))
    opened = observed(("menuitem", "Carl"), ("menuitem", "Bob"), ("menuitem", "Anna"))
    assert [act("click-menu", "Select Bob>Anna", page, memory) for page in (closed, closed, opened)] == [
        ("Hover", "1", None), ("Wait", None, "1"), ("Click", "2", None)]
    with pytest.raises(ExpertError, match="'Dora'"):
        act("click-menu", "Select Dora>Anna", closed)


def test_folders_are_opened_one_after_another(observed):
    """A folder's name stands after the nameless box that opens it; a file's does not."""
    memory, tree = {}, [("clickable", "file"), ("clickable", ""), ("clickable", "first"), ("clickable", ""), ("clickable", "second")]
    intent = 'Navigate through the file tree. Find and click on the folder or file named "deep".'
    assert [act("navigate-tree", intent, observed(*tree), memory)[1] for _ in range(2)] == ["1", "3"]
    assert act("navigate-tree", intent, observed(*tree, ("clickable", "deep")), memory)[1] == "5"
    with pytest.raises(ExpertError, match="'deep'"):
        act("navigate-tree", intent, observed(*tree), memory)


@pytest.mark.parametrize("point, element", [("(-2,2)", "0"), ("(-2,-2)", "4"), ("(0,0)", "12"), ("(2,1)", "21")])
def test_points_of_the_grid(observed, point, element):
    assert act("grid-coordinate", f"Click on the grid coordinate {point}.", observed(*[("clickable", "circle")] * 25))[1] == element


def test_odd_and_even_numbers(observed):
    rows = [cell for number in ("-5", "4") for cell in (("button", "Odd"), ("text", number), ("button", "Even"))]
    page, memory = observed(*rows, ("button", "Submit")), {}
    assert [act("odd-or-even", "", page, memory)[1] for _ in range(3)] == ["0", "3", "4"]


@pytest.mark.parametrize("intent, shown, element", [
    ("Generate a number less than 5, then press submit.", "4", "1"), ("Generate a number less than 5, then press submit.", "5", "0"),
    ("Generate a number greater than 5, then press submit.", "6", "1"), ("Generate an odd number, then press submit.", "6", "0"),
    ("Generate an even number, then press submit.", "0", "1")])
def test_numbers_are_generated_until_one_fits(observed, intent, shown, element):
    assert act("generate-number", intent, observed(("text", shown), ("button", "Generate"), ("button", "Submit")))[1] == element
    assert act("generate-number", intent, observed(("button", "Generate"), ("button", "Submit")))[1] == "0"


@pytest.mark.parametrize("value, element", [("-3", "1"), ("4", "2"), ("2", "3")])
def test_the_spinner_is_counted_up_and_down(observed, value, element):
    page = observed(("textbox", "Select a value:", {"value": value}), ("button", ""), ("button", ""), ("button", "Submit"))
    assert act("use-spinner", "Select 2 with the spinner and hit Submit.", page)[1] == element


def test_scrolling_ends_where_the_page_does(observed):
    boxes = (("textbox", "", {"value": "long"}), ("button", "Submit"))
    intent = "Scroll the textarea to the top of the text hit submit."
    assert act("scroll-text-2", intent, observed(*boxes))[0] == "Scroll Up"
    assert act("scroll-text-2", intent, observed(*boxes, notices=("error the page does not go on further up",))) == ("Click", "1", None)
