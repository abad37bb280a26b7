"""What the experts of several MiniWoB++ pages share: reading the intent, finding things by their labels, filling fields."""

import re

from wr1_utils.agent.experts import ExpertError, click, find_all, need, type_text
from wr1_utils.web.observation import Element, Observation

ORDINALS = {"1st": 0, "2nd": 1, "3rd": 2}


def quoted(intent: str) -> list[str]:
    """The parts of the intent in double quotes."""
    return re.findall(r'"([^"]*)"', intent)


def asked(pattern: str, intent: str) -> tuple[str, ...]:
    """What stands in the intent at the groups of a pattern for the whole of it. Raises ExpertError if the intent says something else."""
    found = re.fullmatch(pattern, intent)
    if found is None:
        raise ExpertError(f"the expert does not know how to do {intent!r}")
    return found.groups()


def named(observation: Observation, label: str) -> Element | None:
    """The first element to click with this label, whatever its role."""
    return next((e for e in observation.elements if e.id is not None and e.role != "textbox" and e.label == label), None)


def need_named(observation: Observation, label: str) -> Element:
    element = named(observation, label)
    if element is None:
        raise ExpertError(f"nothing to click is called {label!r} on the page {observation.title!r}")
    return element


def listed(item: str, joined: str) -> bool:
    """Is `item` one of those joined by ", "? An item may hold a comma itself."""
    return f", {item}, " in f", {joined}, "


def nameless(elements) -> list[Element]:
    """Icons and the like: what can be clicked and is called nothing."""
    return [e for e in elements if e.role == "clickable" and not e.label]


def fill(observation: Observation, box: Element, text: str, *notes: str) -> str | None:
    """Types `text` unless it already stands in the box."""
    return None if box.value == text else type_text(box, text, *notes)


def submit(observation: Observation, label: str = "Submit") -> str:
    return click(need(observation, "button", label))


def textboxes(observation: Observation, count: int) -> list[Element]:
    boxes = find_all(observation, "textbox")
    if len(boxes) != count:
        raise ExpertError(f"the page {observation.title!r} should have {count} textboxes, not {len(boxes)}")
    return boxes


def label_of(observation: Observation, box: Element) -> str:
    """What a textbox is called: its own label, or the text before it."""
    if box.label:
        return box.label
    before = observation.elements[: observation.elements.index(box)]
    return next((e.label for e in reversed(before) if e.role in ("text", "heading")), "")


def click_quoted(intent: str, observation: Observation, memory: dict) -> str:
    """What is called as the intent says in quotes."""
    return click(need_named(observation, quoted(intent)[0]))
