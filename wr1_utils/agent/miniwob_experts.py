"""Scripted experts for the MiniWoB++ pages of `tasks/miniwob.py`.

Each is a pure function of the intent, the observation and a memory of one episode, and does one thing a turn: what remains to
be done is read off the page where the page shows it, and kept in the memory only where it does not.
"""

import re

from wr1_utils.agent.experts import ExpertError, click, find, find_all, need, page_line, select, type_text
from wr1_utils.tasks.task import Task
from wr1_utils.web.observation import Element, Observation

ORDINALS = {"1st": 0, "2nd": 1, "3rd": 2}


def reply(task: Task, intent: str, observation: Observation, memory: dict) -> str:
    """The reply of the expert for the task's page.

    Raises ExpertError when there is no expert for the page or it cannot go on.
    """
    expert = EXPERTS.get(task.intent_template)
    if expert is None:
        raise ExpertError(f"there is no expert for the MiniWoB++ page {task.intent_template!r}")
    return expert(intent, observation, memory)


def quoted(intent: str) -> list[str]:
    """The parts of the intent in double quotes."""
    return re.findall(r'"([^"]*)"', intent)


def named(observation: Observation, label: str) -> Element | None:
    """The first element to click with this label, whatever its role."""
    return next((e for e in observation.elements if e.id is not None and e.role != "textbox" and e.label == label), None)


def need_named(observation: Observation, label: str) -> Element:
    element = named(observation, label)
    if element is None:
        raise ExpertError(f"nothing to click is called {label!r} on the page {observation.title!r}")
    return element


def fill(observation: Observation, box: Element, text: str, *notes: str) -> str | None:
    """Types `text` unless it already stands in the box."""
    return None if box.value == text else type_text(box, text, *notes)


def textboxes(observation: Observation, count: int) -> list[Element]:
    boxes = find_all(observation, "textbox")
    if len(boxes) != count:
        raise ExpertError(f"the page {observation.title!r} should have {count} textboxes, not {len(boxes)}")
    return boxes


def click_quoted(intent: str, observation: Observation, memory: dict) -> str:
    """What is called as the intent says in quotes."""
    return click(need_named(observation, quoted(intent)[0]))


def click_test_2(intent: str, observation: Observation, memory: dict) -> str:
    return click(need(observation, "button", "ONE"))


def click_dialog(intent: str, observation: Observation, memory: dict) -> str:
    """`x` is how the title bar's button looks; its name is Close."""
    wanted = quoted(intent)[0]
    return click(need_named(observation, "Close" if wanted == "x" else wanted))


def click_tab(intent: str, observation: Observation, memory: dict) -> str:
    return click(need_named(observation, re.search(r"Tab #\d", intent)[0]))


def click_option(intent: str, observation: Observation, memory: dict) -> str:
    wanted = need(observation, "radio", re.fullmatch(r"Select (.*) and click Submit\.", intent)[1])
    return click(wanted) if "checked" not in wanted.state else click(need(observation, "button", "Submit"))


def click_checkboxes(intent: str, observation: Observation, memory: dict) -> str:
    """The first box whose state is not what is asked; Submit when there is none."""
    wanted = re.fullmatch(r"Select (.*) and click Submit\.", intent)[1].split(", ")
    for box in find_all(observation, "checkbox"):
        if ("checked" in box.state) != (box.label in wanted):
            return click(box)
    return click(need(observation, "button", "Submit"))


def click_button_sequence(intent: str, observation: Observation, memory: dict) -> str:
    """The page does not show which button was pressed: the memory does."""
    label = "TWO" if memory.get("pressed") else "ONE"
    memory["pressed"] = True
    return click(need(observation, "button", label))


def click_collapsible(intent: str, observation: Observation, memory: dict) -> str:
    section = next((e for e in observation.elements if e.id is not None and e.label.startswith("Section #")), None)
    if section is None:
        raise ExpertError("the page has no section to expand")
    return click(need(observation, "button", "Submit")) if "expanded" in section.state else click(section)


def find_behind(prefix: str, intent: str, observation: Observation, memory: dict) -> str:
    """Opens one thing after another (sections, tabs: labels beginning with `prefix`) until the link that is asked for shows."""
    link = named(observation, quoted(intent)[0])
    if link is not None:
        return click(link)
    memory.setdefault("opened", [])
    for element in observation.elements:
        is_open = "expanded" in element.state or "selected" in element.state
        if element.id is not None and element.label.startswith(prefix) and element.label not in memory["opened"] and not is_open:
            memory["opened"].append(element.label)
            return click(element)
    raise ExpertError(f"the link {quoted(intent)[0]!r} is behind no {prefix!r}")


def click_collapsible_2(intent: str, observation: Observation, memory: dict) -> str:
    return find_behind("Section #", intent, observation, memory)


def click_tab_2(intent: str, observation: Observation, memory: dict) -> str:
    return find_behind("Tab #", intent, observation, memory)


def focus_text_2(intent: str, observation: Observation, memory: dict) -> str:
    position = next(number for word, number in ORDINALS.items() if word in intent)
    return click(textboxes(observation, 3)[position])


def enter_text(intent: str, observation: Observation, memory: dict) -> str:
    (box,) = textboxes(observation, 1)
    return fill(observation, box, quoted(intent)[0]) or click(need(observation, "button", "Submit"))


def enter_password(intent: str, observation: Observation, memory: dict) -> str:
    for box in textboxes(observation, 2):
        if box.value != quoted(intent)[0]:
            return type_text(box, quoted(intent)[0])
    return click(need(observation, "button", "Submit"))


def login_user(intent: str, observation: Observation, memory: dict) -> str:
    """User name, password, then the one button; a pop-up in the way is cancelled first."""
    cancel = find(observation, "button", "Cancel")
    if cancel is not None:
        return click(cancel)
    for box, text in zip(textboxes(observation, 2), quoted(intent), strict=True):
        if box.value != text:
            return type_text(box, text)
    return click(need(observation, "button"))


def choose_list(intent: str, observation: Observation, memory: dict) -> str:
    wanted = re.fullmatch(r"Select (.*) from the list and click Submit\.", intent)[1]
    box = need(observation, "select")
    return select(box, wanted) if box.value != wanted else click(need(observation, "button", "Submit"))


def cell_after(observation: Observation, key: str) -> str:
    """The cell right of the cell `key`."""
    elements = observation.elements
    for cell, after in zip(elements, elements[1:]):
        if cell.label == key and cell.row is not None and cell.row == after.row:
            return after.label
    raise ExpertError(f"no table row begins with {key!r}")


def read_table(intent: str, observation: Observation, memory: dict) -> str:
    key = re.fullmatch(r"Enter the value of (.*) into the text field and press Submit\.", intent)[1]
    (box,) = textboxes(observation, 1)
    note = page_line(observation, f"row {key} |")
    return fill(observation, box, cell_after(observation, key), note) or click(need(observation, "button", "Submit"))


def label_of(observation: Observation, box: Element) -> str:
    """What a textbox is called: its own label, or the text before it."""
    if box.label:
        return box.label
    before = observation.elements[: observation.elements.index(box)]
    return next((e.label for e in reversed(before) if e.role in ("text", "heading")), "")


def read_table_2(intent: str, observation: Observation, memory: dict) -> str:
    for box in textboxes(observation, 2):
        key = label_of(observation, box).rstrip(":")
        value = cell_after(observation, key)
        if box.value != value:
            return type_text(box, value, page_line(observation, f"row {key} |"))
    return click(need(observation, "button", "Submit"))


def multi_orderings(intent: str, observation: Observation, memory: dict) -> str:
    found = re.fullmatch(r"Search for (.*) movies directed by (.*) from year (\d+)\.", intent)
    wanted = dict(zip(("Genre", "Director", "Year"), found.groups(), strict=True))
    for box in textboxes(observation, 3):
        text = wanted[label_of(observation, box)]
        if box.value != text:
            return type_text(box, text)
    return click(need_named(observation, "Submit"))


def form_sequence_2(intent: str, observation: Observation, memory: dict) -> str:
    radio, box = re.fullmatch(r"Check the (\w+) radio button .* into the (\w+) textbox\.", intent).groups()
    wanted = find_all(observation, "radio")[ORDINALS[radio]]
    if "checked" not in wanted.state:
        return click(wanted)
    field = textboxes(observation, 3)[ORDINALS[box]]
    return fill(observation, field, quoted(intent)[0]) or click(need(observation, "button", "Submit"))


def search_engine(intent: str, observation: Observation, memory: dict) -> str:
    """Three results a page; the page does not show which of its three pages it is, the memory does."""
    (box,) = textboxes(observation, 1)
    text = quoted(intent)[0]
    if box.value != text:
        return type_text(box, text)
    links = find_all(observation, "link")
    if not links:
        memory["page"] = 1
        return click(need(observation, "button", "Search"))
    number = int(re.search(r"the (\d)(?:st|nd|rd|th) search result", intent)[1]) - 1
    page = number // 3 + 1
    if memory["page"] != page:
        memory["page"] = page
        return click(next(link for link in reversed(links) if link.label == str(page)))
    return click(links[number % 3])


def phone_book(intent: str, observation: Observation, memory: dict) -> str:
    """Turns pages with `>` until the name shows, then the value after Phone:, Email: or Address:."""
    name, kind = re.fullmatch(r"Find (.*) in the contact book and click on their (phone|email|address).*", intent).groups()
    if find(observation, "heading", name) is None:
        return click(need_named(observation, ">"))
    elements = observation.elements
    for before, after in zip(elements, elements[1:]):
        if before.label == f"{kind.capitalize()}:" and after.id is not None:
            return click(after)
    raise ExpertError(f"the contact has no {kind} to click")


EXPERTS = {
    "click-test-2": click_test_2,
    "click-button": click_quoted,
    "click-link": click_quoted,
    "click-dialog": click_dialog,
    "click-dialog-2": click_dialog,
    "click-tab": click_tab,
    "click-option": click_option,
    "click-checkboxes": click_checkboxes,
    "click-button-sequence": click_button_sequence,
    "click-collapsible-nodelay": click_collapsible,
    "click-collapsible-2-nodelay": click_collapsible_2,
    "click-tab-2": click_tab_2,
    "focus-text-2": focus_text_2,
    "enter-text": enter_text,
    "enter-text-dynamic": enter_text,
    "enter-password": enter_password,
    "login-user": login_user,
    "login-user-popup": login_user,
    "choose-list": choose_list,
    "read-table": read_table,
    "read-table-2": read_table_2,
    "multi-orderings": multi_orderings,
    "form-sequence-2": form_sequence_2,
    "search-engine": search_engine,
    "phone-book": phone_book,
}
