"""The helpers of the experts write replies that the action grammar reads back as they were meant."""

import pytest

from wr1_utils.agent import experts
from wr1_utils.web.actions import Action, parse_reply
from wr1_utils.web.observation import Element, Observation

BOX = Element(id=1, role="textbox", label="Search", value="")
PAGE = Observation(url="http://shop/", title="Shop", text='page Shop\ntextbox Search = "" [1]\nrow link Mug [2] | $5.00', tabs=("Shop",), tab=0,
                   notices=(), elements=(BOX, Element(id=2, role="link", label="Mug", row=0), Element(id=None, role="text", label="$5.00", row=0)))


@pytest.mark.parametrize("text", ["red mug", 'say "hi"', "C:\\new", "it's", "a, b)", "", "two\nlines", "東京 €5", 'ends with "quote"'])
def test_any_text_survives_the_reply(text):
    assert parse_reply(experts.search(BOX, text)) == Action("do", "Search", "1", text)
    assert parse_reply(experts.exit_with(text, "row")).message == text


def test_a_thought_holds_notes_then_the_element():
    reply = experts.click(BOX, "row Price | $5.00")
    assert reply == ('<think># Note: row Price | $5.00\n# Element: Search = "" [1]</think>\n'
                     '<answer>do(action="Click", element="1")</answer>')


def test_the_other_actions():
    assert parse_reply(experts.type_text(BOX, "x")).action == "Type"
    assert parse_reply(experts.select(BOX, "Red")).action == "Select Dropdown Option"
    assert parse_reply(experts.scroll_down()) == Action("do", "Scroll Down")


def test_finding():
    assert experts.find(PAGE, "link", "Mug").id == 2
    assert experts.find(PAGE, "link", "Cup") is None
    assert experts.find_all(PAGE, "text", row=0)[0].label == "$5.00"
    assert experts.row_of(PAGE, "Mug") == 0
    line = experts.page_line(PAGE, "link Mug")
    assert experts.cells(line) == ["link Mug [2]", "$5.00"]


def test_what_is_not_there_is_an_error_that_names_page_and_label():
    with pytest.raises(experts.ExpertError, match="button 'Pay'.*Shop"):
        experts.need(PAGE, "button", "Pay")
    with pytest.raises(experts.ExpertError, match="no line with"):
        experts.page_line(PAGE, "Total")
    with pytest.raises(experts.ExpertError, match="no id"):
        experts.click(PAGE.elements[2])
