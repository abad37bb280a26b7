"""What the MiniWoB++ experts share."""

import pytest

from wr1_utils.agent.experts import ExpertError
from wr1_utils.agent.miniwob_parts import asked, click_quoted, label_of, listed, nameless, need_named, quoted, textboxes


def test_the_parts_of_an_intent():
    assert quoted('Enter "a b" and "" here') == ["a b", ""]
    assert asked(r"Select (.*) and click (\w+)\.", "Select a, b and click Submit.") == ("a, b", "Submit")
    with pytest.raises(ExpertError, match="Close the window"):
        asked(r"Select (.*)\.", "Close the window.")


@pytest.mark.parametrize("item, found", [("Chad", True), ("Korea, South", True), ("Korea, North", False), ("Cha", False), ("Peru", False)])
def test_an_item_of_a_list_may_hold_a_comma(item, found):
    assert listed(item, "Korea, South, Chad") is found


def test_finding_elements(observed):
    page = observed(("text", "Name"), ("textbox", "", {"value": ""}), ("clickable", ""), ("button", "Go"), ("textbox", "Year", {"value": ""}))
    name, year = textboxes(page, 2)
    assert (label_of(page, name), label_of(page, year)) == ("Name", "Year")
    assert [e.id for e in nameless(page.elements)] == [1] and need_named(page, "Go").id == 2
    assert 'element="2"' in click_quoted('Click "Go".', page, {})
    with pytest.raises(ExpertError, match="'Stop'"):
        need_named(page, "Stop")
    with pytest.raises(ExpertError, match="3 textboxes, not 2"):
        textboxes(page, 3)
