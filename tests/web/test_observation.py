"""How structured elements become the page's text, without a browser."""

import pytest

from wr1_utils.web.observation import Element, element_line, make_view, row_line


def entry(role="text", label="", interactive=None, row=None, **more):
    interactive = role not in ("text", "heading", "image") if interactive is None else interactive
    return {"role": role, "label": label, "value": None, "state": [], "options": [], "row": row, "interactive": interactive,
            "box": [0, 0, 10, 10], "in_view": True, "fixed": False, **more}


def view(elements, tokens=1000, style="compact", anchor=0, **more):
    raw = {"url": "http://x/", "title": "Pocket Shop: Mugs", "anchor": anchor, "elements": elements}
    return make_view(raw, style=style, page_tokens=tokens, **more)


@pytest.mark.parametrize("element, line", [
    (Element(0, "link", "Home"), "link Home [0]"),
    (Element(1, "textbox", "Search", "mug"), 'textbox Search = "mug" [1]'),
    (Element(1, "textbox", "", ""), 'textbox = "" [1]'),
    (Element(None, "heading", "Mugs"), "heading Mugs"),
    (Element(4, "checkbox", "Gift wrap", state=("checked",)), "checkbox Gift wrap checked [4]"),
    (Element(6, "select", "Size", "M", options=("S", "M", "L")), 'select Size = "M" (S | M | L) [6]'),
    (Element(7, "button", "Pay", state=("disabled",)), "button Pay disabled [7]"),
    (Element(8, "link", "x" * 100), "link " + "x" * 79 + "… [8]"),
    (Element(None, "text", "y" * 400), "text " + "y" * 299 + "…"),
])
def test_compact_line(element, line):
    assert element_line(element) == line


def test_compact_row():
    """The cells of a table row stand in one line, texts without the word `text`."""
    cells = [Element(11, "link", "Red Mug", row=0), Element(None, "text", "$12.50", row=0), Element(12, "textbox", "Qty", "1", row=0)]
    assert row_line(cells) == 'row link Red Mug [11] | $12.50 | textbox Qty = "1" [12]'


def test_whole_page():
    """Title, tabs and notices come first; ids count what is interactive, from 0."""
    seen = view([entry("link", "Home"), entry("heading", "Mugs"), entry("text", "Price", row=0), entry("text", "$1", row=0), entry("button", "Buy")],
                tabs=("A", "B"), tab=1, notices=('dialog confirm "Sure?" accepted',))
    assert seen.observation.text.splitlines() == [
        "page Pocket Shop: Mugs", "tabs 0 A | 1 B (current)", 'note dialog confirm "Sure?" accepted', "link Home [0]", "heading Mugs",
        "row Price | $1", "button Buy [1]"]
    assert seen.nodes == (0, 4) and seen.above is None and seen.below is None


def test_paper_style_tells_the_same_elements():
    seen = view([entry("link", "A & B"), entry("textbox", "Search", value="mug"), entry("text", "1 < 2")], style="paper").observation
    assert seen.text.splitlines()[1:] == ['<a id="0">A &amp; B</a>', '<input id="1" type="text" value="mug" label="Search">', "1 &lt; 2"]


def test_long_page_is_paged_through_without_a_gap():
    """Scrolling down again and again shows every line, each page within its budget; scrolling up comes back to the top."""
    elements = [entry("link", f"Product number {i}") for i in range(100)]
    seen, shown, pages = view(elements, tokens=150), set(), 0
    assert "scroll up" not in seen.observation.text
    while True:
        pages += 1
        shown |= {e.label for e in seen.observation.elements}
        assert len(seen.observation.text) / 4 <= 150
        assert [e.id for e in seen.observation.elements] == list(range(len(seen.nodes)))
        assert all(elements[node]["label"] == e.label for node, e in zip(seen.nodes, seen.observation.elements, strict=True))
        if seen.below is None:
            break
        assert seen.observation.text.endswith(f"scroll down for more ({99 - seen.nodes[-1]} lines)")
        seen = view(elements, tokens=150, anchor=seen.below)
    assert len(shown) == 100 and pages < 12
    while seen.above is not None:
        assert f"\nscroll up for more ({seen.nodes[0]} lines)\n" in seen.observation.text
        seen = view(elements, tokens=150, anchor=seen.above)
    assert seen.observation.elements[0].label == "Product number 0"


def test_filled_fields_stay_on_a_cut_page():
    """What the agent has filled in is shown wherever it scrolls, in reading order, with ids that are bound to the nodes; the budget holds."""
    elements = [entry("link", f"Product number {i}") for i in range(100)]
    elements[3] = entry("textbox", "Name", value="Ann", filled=True)
    elements[90] = entry("checkbox", "Gift wrap", state=["checked"], filled=True)
    for anchor in (0, 50, 99):
        seen = view(elements, tokens=150, anchor=anchor)
        lines = seen.observation.text.splitlines()
        assert any(line.startswith('textbox Name = "Ann" [') for line in lines) and any(line.startswith("checkbox Gift wrap checked [") for line in lines)
        assert len(seen.observation.text) / 4 <= 150 and list(seen.nodes) == sorted(seen.nodes) and len(seen.nodes) > 10
        assert [elements[node]["label"] for node in seen.nodes] == [e.label for e in seen.observation.elements]
        hidden = sum(int(line.split("(")[1].split()[0]) for line in lines if "for more" in line)
        assert hidden + len(seen.nodes) == 100
    assert 'textbox Name = "Ann" [0]' in view(elements, tokens=150, anchor=50).observation.text.splitlines()[2]


def test_many_filled_fields_leave_room_for_the_page():
    elements = [entry("textbox", f"Field number {i}", value="filled", filled=True) for i in range(100)]
    seen = view(elements, tokens=150, anchor=50)
    labels = [e.label for e in seen.observation.elements]
    assert "Field number 50" in labels and "Field number 51" in labels and len(seen.observation.text) / 4 <= 150


def test_repeated_links_are_left_out_first():
    """On a cut page the second of two links with one name and one target goes, and that is said; texts and other links stay."""
    product = [[entry("link", f"Mug {i}", target=f"/{i}"), entry("link", f"Mug {i}", target=f"/{i}"), entry("text", "In stock"),
                entry("link", "Buy", target=f"/buy/{i}")] for i in range(10)]
    elements = sum(product, [])
    whole = view(elements, tokens=1000)
    assert whole.observation.text.count("link Mug 0") == 2 and "left out" not in whole.observation.text
    cut = view(elements, tokens=120)
    lines = cut.observation.text.splitlines()
    assert lines[1:4] == ["link Mug 0 [0]", "text In stock", "link Buy [1]"] and lines[-1] == "(10 links that stand here already are left out)"
    assert len(cut.observation.text) / 4 <= 120


@pytest.mark.parametrize("style", ["compact", "paper"])
def test_a_long_row_of_a_cut_page_is_cut_too(style):
    """Its texts go first, then the links at its end; a field that holds something stays. What is left out is counted, and the ids are those of what stays."""
    cells = [entry("link" if i % 3 == 0 else "text", f"cell number {i}", row=0) for i in range(60)]
    cells[57] = entry("textbox", "Amount", row=0, value="5", filled=True)
    elements = [entry("heading", "Table"), *cells, *[entry("text", f"line {i}") for i in range(50)]]
    for anchor in (0, 1, 40):
        seen = view(elements, tokens=200, style=style, anchor=anchor)
        assert len(seen.observation.text) / 4 <= 200
        assert "cells are left out)" in seen.observation.text and "Amount" in seen.observation.text and "cell number 0" in seen.observation.text
        cut = [e for e in seen.observation.elements if e.row == 0]
        assert f"({60 - len(cut)} cells are left out)" in seen.observation.text and all(e.role != "text" for e in cut)
        assert [elements[node]["label"] for node in seen.nodes] == [e.label for e in seen.observation.elements if e.id is not None]


def test_many_long_notices_are_shortened():
    """Nine notices of 5 000 characters leave half of the budget to the page; a single one is cut at 300 characters as a text is."""
    elements = [entry("link", f"Product number {i}") for i in range(100)]
    seen = view(elements, tokens=300, notices=tuple(f'dialog alert "{i} {"x" * 5000}" accepted' for i in range(9)))
    assert len(seen.observation.text) / 4 <= 300 and len(seen.nodes) > 10 and all(f'note dialog alert "{i} xx' in seen.observation.text for i in range(9))
    assert f'note {"x" * 299}…\n' in view(elements, tokens=300, notices=("x" * 5000,)).observation.text


def test_unknown_style():
    with pytest.raises(ValueError, match="compact"):
        view([], style="html")
