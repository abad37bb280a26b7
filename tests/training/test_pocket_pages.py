import random
import re

from wr1_utils.training.pocket_pages import Item, Labels, Line, Page, random_page
from wr1_utils.web.observation import Element, element_line, row_line


def test_lines_are_those_of_real_pages():
    """The generator prints through the function that prints real pages; the format itself is pinned here too."""
    page = Page("Pocket Shop: Mugs", [
        Line([Item("link", "Home")]), Line([Item("textbox", "Search", "mug")]), Line([Item("text", "$12.50")]),
        Line([Item("checkbox", "Gift wrap", state=["checked"])]), Line([Item("select", "Size", "M", options=("S", "M"))]),
        Line([Item("link", "Red Mug"), Item("text", "$12.50"), Item("button", "Remove")], row=True),
        Line([Item("text", "Price"), Item("text", "$3")], row=True)], more=True)
    page.number()
    assert page.text().splitlines() == [
        "page Pocket Shop: Mugs", "link Home [0]", 'textbox Search = "mug" [1]', "text $12.50", "checkbox Gift wrap checked [2]",
        'select Size = "M" (S | M) [3]', "row link Red Mug [4] | $12.50 | button Remove [5]", "row Price | $3", "scroll down for more"]
    element = Element(id=5, role="button", label="Remove", value=None, state=(), options=(), row=0, box=(0.0, 0.0, 0.0, 0.0), in_view=True)
    assert page.lines[5].items[2].line() == element_line(element)
    assert page.lines[5].text() == row_line([item.element() for item in page.lines[5].items])


def test_random_pages_have_ids_in_reading_order_and_hold_what_they_need():
    rng = random.Random(0)
    for lines in (3, 20, 60):
        labels = Labels(rng)
        wanted = Item("button", labels.new())
        page = random_page(rng, labels, lines, [[Line([wanted])]])
        page.number()
        ids = [int(number) for number in re.findall(r" \[(\d+)\](?= \||$)", page.text(), re.M)]
        assert ids == list(range(len(ids))) and wanted.line() in page.text().splitlines()
        assert lines <= len(page.lines) <= lines + 12


def test_labels_of_one_page_differ():
    labels = Labels(random.Random(0))
    made = [labels.new().lower() for _ in range(300)]
    assert len(set(made)) == 300
