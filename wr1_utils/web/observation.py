"""A page as the policy reads it: structured elements, and their text in one of two styles.

`observation.js` (with `places.js` and `colours.js`: where things are and what nobody can see, and `names.js`: what they are called) lists what a person
would see, in reading order; this module numbers it, keeps the page within its token budget and writes it down. Style "compact" has one
element a line, what it is and its label first, its id last: `link Reports [7]`. Style "paper" is HTML-like, `<a id="7">Reports</a>`, after
the simplified HTML that the paper's agents read.

Deviation from the paper: a page longer than the budget is cut to whole lines around the place scrolled to, and says how many lines
are above and below; fields that hold something stay, and links that repeat one before them go first. The paper's code cuts the
prompt's beginning, the task included.

Not seen: a closed shadow root that the HTML declares (`<template shadowrootmode="closed">`), unless its element has asked for it by
`attachInternals`. No script of the page can reach one otherwise, nor tell that it is there; asking the browser for the whole tree would
cost a second round trip on every page. Shown, though nobody sees it: text in the colour of what stands behind it, where that is not certain.
"""

from __future__ import annotations

import functools
import html
import itertools
from collections.abc import Callable
from dataclasses import dataclass

LABEL_LENGTH = 80  # characters of a label, an option or a value in the page's text
TEXT_LENGTH = 300  # characters of a text line
OPTIONS_SHOWN = 30  # options of one select
MORE = {"up": "scroll up for more ({} lines)", "down": "scroll down for more ({} lines)"}
REPEATED = "({} links that stand here already are left out)"
LEFT_OUT = "({} cells are left out)"
FILLED_SHARE = 0.5  # of a cut page's budget, at most, for filled fields far from the place scrolled to, and for one table row
HEAD_SHARE = 0.5  # of the budget, for title, tabs and notices; where they are longer, notices are shortened
SHORTEST_NOTICE = 30  # characters


@dataclass(frozen=True)
class Element:
    """One thing of the page, in reading order."""
    id: int | None  # None: not interactive
    role: str  # link button textbox checkbox radio select option tab menuitem clickable image heading text progress meter
    label: str
    value: str | None = None  # live value of a textbox or select
    state: tuple[str, ...] = ()  # checked, selected, expanded, pressed, readonly, disabled
    options: tuple[str, ...] = ()  # of a select
    row: int | None = None  # index of its table row, shared by the row's elements
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # x, y, width, height in CSS pixels of the viewport
    in_view: bool = True


@dataclass(frozen=True)
class Observation:
    url: str
    title: str
    text: str  # what the policy reads
    elements: tuple[Element, ...]  # those that the text shows
    tabs: tuple[str, ...]  # titles of the open tabs
    tab: int  # index of the current one
    notices: tuple[str, ...]  # dialogs, new tabs, the error of the last action


@dataclass(frozen=True)
class View:
    """An observation with what is needed to act on it: `nodes[id]` is the script's index of the element's node,
    `above` and `below` the indices to scroll to for what was left out (None: nothing)."""
    observation: Observation
    nodes: tuple[int, ...]
    above: int | None
    below: int | None


def element_line(element: Element) -> str:
    """The compact line of one element: `textbox Search = "mug" [1]`."""
    limit = TEXT_LENGTH if element.role == "text" else LABEL_LENGTH
    parts = [element.role, _short(element.label, limit)]
    if element.value is not None:
        parts.append(f'= "{_short(element.value)}"')
    if element.options:
        shown = [_short(option) for option in element.options[:OPTIONS_SHOWN]]
        parts.append(f'({" | ".join(shown + ["…"] * (len(element.options) > OPTIONS_SHOWN))})')
    parts.extend(element.state)
    if element.id is not None:
        parts.append(f"[{element.id}]")
    return " ".join(part for part in parts if part)


def element_mention(element: Element) -> str:
    """The same without the role, as a thought names an element: `Search = "mug" [1]`. The label comes first, so that a small model
    that knows the label from the task only has to continue it as the page does."""
    line = element_line(element)
    return line.removeprefix(f"{element.role} ") if element.label else line


def row_line(elements) -> str:
    """The compact line of one table row; its texts stand without the word `text`."""
    cells = (_short(e.label, TEXT_LENGTH) if e.role == "text" else element_line(e) for e in elements)
    return "row " + " | ".join(cells)


_TAGS = {"link": "a", "button": "button", "textbox": "input", "checkbox": "input", "radio": "input", "select": "select",
         "option": "option", "heading": "h", "image": "img", "tab": "tab", "menuitem": "menuitem", "clickable": "div"}


def _paper_element(element: Element) -> str:
    label = html.escape(_short(element.label, TEXT_LENGTH if element.role == "text" else LABEL_LENGTH), quote=False)
    if element.role == "text":
        return label
    tag = _TAGS.get(element.role, element.role)
    attributes = f' id="{element.id}"' if element.id is not None else ""
    if tag == "input":
        attributes += f' type="{ {"textbox": "text"}.get(element.role, element.role) }"'
    if element.value is not None:
        attributes += f' value="{html.escape(_short(element.value))}"'
    attributes += "".join(f" {word}" for word in element.state)
    if tag in ("input", "img"):
        return f'<{tag}{attributes} label="{html.escape(label)}">' if label else f"<{tag}{attributes}>"
    if tag == "select":
        options = "".join(f"<option>{html.escape(_short(o), quote=False)}</option>" for o in element.options[:OPTIONS_SHOWN])
        return f'<select{attributes} label="{html.escape(label)}">{options}</select>'
    return f"<{tag}{attributes}>{label}</{tag}>"


def _paper_row(elements) -> str:
    return "<tr>" + "".join(f"<td>{_paper_element(e)}</td>" for e in elements) + "</tr>"


def _group_line(elements: list[Element], style: str) -> str:
    one, row = (element_line, row_line) if style == "compact" else (_paper_element, _paper_row)
    return one(elements[0]) if elements[0].row is None else row(elements)


def _head_lines(title: str, tabs, tab: int, notices, style: str, limit: int) -> list[str]:
    shown = [f"{i} {_short(name)}" + (" (current)" if i == tab else "") for i, name in enumerate(tabs)]
    if style == "compact":
        lines = [f"page {_short(title)}".rstrip()]
        lines += ["tabs " + " | ".join(shown)] if len(tabs) > 1 else []
        return lines + [f"note {_short(notice, limit)}" for notice in notices]
    lines = [f"<title>{html.escape(_short(title), quote=False)}</title>"]
    lines += ["<tabs>" + html.escape(" | ".join(shown), quote=False) + "</tabs>"] if len(tabs) > 1 else []
    return lines + [f"<note>{html.escape(_short(notice, limit), quote=False)}</note>" for notice in notices]


def quarter_tokens(text: str) -> float:
    """Tokens of a text where no tokenizer is at hand: a quarter of its characters."""
    return len(text) / 4


def make_view(raw: dict, *, style: str, page_tokens: int, count: Callable[[str], float] = quarter_tokens,
              tabs: tuple[str, ...] = (), tab: int = 0, notices: tuple[str, ...] = ()) -> View:
    """Number and write down what the page's script found; `raw` is its answer: url, title, anchor, elements.

    The text holds the whole page if that fits `page_tokens`; else whole lines from the anchor (the place that the agent
    scrolled to, or the first line in view) on, and the fields elsewhere that hold something, the nearest first. What is left
    out is counted in the text. Raises ValueError for an unknown style.
    """
    if style not in ("compact", "paper"):
        raise ValueError(f'the page style is "compact" or "paper", not {style!r}')
    entries = raw["elements"]
    found = functools.cache(lambda i: _element(entries[i]))  # of a long page only those that may be shown
    groups = _groups(entries)
    limit = TEXT_LENGTH
    while True:
        head = _head_lines(raw["title"], tabs, tab, notices, style, limit)
        budget = page_tokens - sum(count(line + "\n") for line in head)
        if limit <= SHORTEST_NOTICE or budget >= page_tokens * (1 - HEAD_SHARE):
            break
        limit //= 2
    costs: dict[int, float] = {}
    left_out: dict[int, int] = {}  # cells, of a row that is too long for a cut page
    longest_row = float("inf")

    def line_of(group: int, members: list[Element]) -> str:
        note = [Element(None, "text", LEFT_OUT.format(left_out[group]), row=members[0].row)] if group in left_out else []
        return _group_line(members + note, style)

    def cost(group: int) -> float:
        if group not in costs:
            wanted = sorted(groups[group], key=lambda i: (not entries[i].get("filled"), not entries[i].get("interactive")))
            while True:
                ids = " [99]" * (len(groups[group]) if group in left_out else 1)
                costs[group] = count(line_of(group, [found(i) for i in groups[group]]) + ids + "\n")
                if costs[group] <= longest_row or len(groups[group]) == 1:
                    break
                keep = len(groups[group]) * 7 // 8
                left_out[group], groups[group] = len(wanted) - keep, sorted(wanted[:keep])
        return costs[group]

    first, last, kept, repeated = 0, _fill(range(len(groups)), cost, budget), set(), 0
    if last < len(groups):
        once = _without_repeated(groups, raw)
        groups, repeated = once, len(groups) - len(once)
        costs.clear()
        budget -= sum(count(line.format(9999) + "\n") for line in (*MORE.values(), *[REPEATED] * (repeated > 0)))
        longest_row = budget * FILLED_SHARE
        first = next((g for g, members in enumerate(groups) if members[-1] >= raw["anchor"]), len(groups) - 1)
        filled = list(dict.fromkeys(g for g, members in enumerate(groups) for i in members if entries[i].get("filled")))
        filled.sort(key=lambda g: abs(g - first))
        kept = set(filled[:_fill(filled, cost, budget * FILLED_SHARE)])
        budget -= sum(cost(g) for g in kept)

        def further(group: int) -> float:
            return 0.0 if group in kept else cost(group)

        last = first + _fill(range(first, len(groups)), further, budget)
        if last == len(groups):  # the end of the page: fill up with what stands before
            first = last - _fill(range(last - 1, -1, -1), further, budget)
    shown = sorted({*range(first, last), *kept})
    hidden_above = first - sum(g < first for g in kept)
    hidden_below = len(groups) - last - sum(g >= last for g in kept)
    above = groups[first - _fill(range(first - 1, -1, -1), cost, budget)][0] if hidden_above else None
    below = groups[next(g for g in range(last, len(groups)) if g not in kept)][0] if hidden_below else None

    numbers, elements, nodes, lines = itertools.count(), [], [], []
    for group in shown:
        members = []
        for i in groups[group]:
            if entries[i].get("interactive"):
                nodes.append(i)
                members.append(_element(entries[i], next(numbers)))
            else:
                members.append(found(i))
        elements += members
        lines.append(line_of(group, members))
    lines = [MORE["up"].format(hidden_above)] * bool(hidden_above) + lines + [MORE["down"].format(hidden_below)] * bool(hidden_below)
    lines += [REPEATED.format(repeated)] * bool(repeated)
    observation = Observation(url=raw["url"], title=raw["title"], text="\n".join(head + lines), elements=tuple(elements),
                              tabs=tuple(tabs), tab=tab, notices=tuple(notices))
    return View(observation, tuple(nodes), above, below)


def _groups(entries: list[dict]) -> list[list[int]]:
    """The indices of the elements that stand in one line: those of one table row, or one."""
    groups, before = [], None
    for i, entry in enumerate(entries):
        row = entry.get("row")
        if row is not None and row == before:
            groups[-1].append(i)
        else:
            groups.append([i])
        before = row
    return groups


def _without_repeated(groups: list[list[int]], raw: dict) -> list[list[int]]:
    """The groups but for single links (and their pictures' names) that say and do what one before them does."""
    seen, once = set(), []
    for members in groups:
        entry = raw["elements"][members[0]]
        target = entry.get("target")  # None: no link, or one that no other repeats
        same = None if target is None else (_collapse(entry["label"]), target)
        if len(members) > 1 or same is None or same not in seen:
            once.append(members)
        seen.add(same)
    return once


def _fill(groups, cost, budget: float) -> int:
    """How many of the groups, in this order, fit the budget; at least one where there is one."""
    taken, spent = 0, 0.0
    for group in groups:
        spent += cost(group)
        if spent > budget and taken:
            break
        taken += 1
    return taken


def _element(entry: dict, number: int | None = None) -> Element:
    return Element(id=number, role=entry["role"], label=_collapse(entry["label"]), value=entry.get("value"), state=tuple(entry.get("state", ())),
                   options=tuple(_collapse(option) for option in entry.get("options", ())), row=entry.get("row"), box=tuple(entry["box"]),
                   in_view=entry.get("in_view", False))


def _collapse(text: str) -> str:
    return " ".join(text.split())


def _short(text: str, limit: int = LABEL_LENGTH) -> str:
    text = _collapse(text)
    return text if len(text) <= limit else text[:limit - 1].rstrip() + "…"
