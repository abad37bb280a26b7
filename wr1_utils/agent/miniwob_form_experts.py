"""Experts for the MiniWoB++ pages with a form: texts, passwords, dates, numbers, lists and tables to read from."""

import datetime
import re

from wr1_utils.agent.experts import ExpertError, click, find, find_all, need, page_line, press_enter, scroll_down, select, type_text, wait
from wr1_utils.agent.miniwob_parts import ORDINALS, asked, fill, label_of, need_named, quoted, submit, textboxes
from wr1_utils.web.observation import Element, Observation

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
COLOURS = {"black": "000000", "white": "FFFFFF", "aqua": "00FFFF", "blue": "0000FF", "gray": "808080", "green": "008000", "lime": "00FF00",
           "maroon": "800000", "navy": "000080", "olive": "808000", "purple": "800080", "red": "FF0000", "silver": "C0C0C0", "teal": "008080",
           "yellow": "FFFF00", "pink": "FFC0CB", "magenta": "FF00FF", "gold": "FFD700", "orange": "FFA500"}
FILM_FIELDS = {"Genre": 0, "Movie Genre": 0, "Director": 1, "Director Name": 1, "Year": 2, "Released Date": 2}


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


def read_table_2(intent: str, observation: Observation, memory: dict) -> str:
    for box in textboxes(observation, 2):
        key = label_of(observation, box).rstrip(":")
        value = cell_after(observation, key)
        if box.value != value:
            return type_text(box, value, page_line(observation, f"row {key} |"))
    return click(need(observation, "button", "Submit"))


def multi_layouts(intent: str, observation: Observation, memory: dict) -> str:
    """Three fields in any order, called in several ways before or after them, and a button in several words after all."""
    wanted = asked(r"Search for (.*) movies directed by (.*) from year (\d+)\.", intent)
    boxes, elements = textboxes(observation, 3), observation.elements
    names_follow = elements[0] is boxes[0] and not boxes[0].label
    for box in boxes:
        name = elements[elements.index(box) + 1].label if names_follow else label_of(observation, box)
        text = wanted[FILM_FIELDS[name.rstrip(":")]]
        if box.value != text:
            return type_text(box, text)
    return click([e for e in elements if e.id is not None][-1])


def form_sequence_2(intent: str, observation: Observation, memory: dict) -> str:
    radio, box = re.fullmatch(r"Check the (\w+) radio button .* into the (\w+) textbox\.", intent).groups()
    wanted = find_all(observation, "radio")[ORDINALS[radio]]
    if "checked" not in wanted.state:
        return click(wanted)
    field = textboxes(observation, 3)[ORDINALS[box]]
    return fill(observation, field, quoted(intent)[0]) or click(need(observation, "button", "Submit"))


def enter_text_2(intent: str, observation: Observation, memory: dict) -> str:
    text, case = asked(r'Type "(.*)" in all (upper|lower) case letters in the text input and press Submit\.', intent)
    (box,) = textboxes(observation, 1)
    return fill(observation, box, text.upper() if case == "upper" else text.lower()) or submit(observation)


def enter_date(intent: str, observation: Observation, memory: dict) -> str:
    """The field shows the date in its own form, and takes it in that of the task."""
    (date,) = asked(r"Enter (.*) as the date and hit submit\.", intent)
    (box,) = textboxes(observation, 1)
    shown = datetime.datetime.strptime(date, "%m/%d/%Y").strftime("%Y-%m-%d")
    return submit(observation) if box.value == shown else type_text(box, date)


def enter_time(intent: str, observation: Observation, memory: dict) -> str:
    (time,) = asked(r"Enter (.*) as the time and press submit\.", intent)
    time = " ".join(time.split())  # the blank before AM and PM is a narrow one
    (box,) = textboxes(observation, 1)
    shown = datetime.datetime.strptime(time, "%I:%M %p").strftime("%H:%M")
    return submit(observation) if box.value == shown else type_text(box, time)


def pick_date(observation: Observation, box: Element, date: str) -> str | None:
    """Opens the calendar of a field, turns to the month and clicks the day; None when the field holds the date (MM/DD/YYYY)."""
    if box.value == date:
        return None
    month, day, year = (int(part) for part in date.split("/"))
    heads = [words for words in (e.label.split() for e in observation.elements) if len(words) == 2 and words[0] in MONTHS]
    if not heads:
        return click(box)
    shown = (int(heads[0][1]), MONTHS.index(heads[0][0]) + 1)
    if shown == (year, month):
        return click(need_named(observation, str(day)))
    return click(need_named(observation, "Prev" if shown > (year, month) else "Next"))


def choose_date(intent: str, observation: Observation, memory: dict) -> str:
    (date,) = asked(r"Select (.*) as the date and hit submit\.", intent)
    return pick_date(observation, textboxes(observation, 1)[0], date) or submit(observation)


def find_word(intent: str, observation: Observation, memory: dict) -> str:
    (position,) = asked(r'Find the (\d+)\w\w word in the paragraph, type that into the textbox and press "Submit"\.', intent)
    paragraph, (box,) = need(observation, "text").label, textboxes(observation, 1)
    word = re.sub("[^a-zA-Z]", "", paragraph.split()[int(position) - 1])
    return fill(observation, box, word, page_line(observation, paragraph)) or submit(observation)


def guess_number(intent: str, observation: Observation, memory: dict) -> str:
    """Halves what is left between 0 and 9 by what the page says of the last guess."""
    low, high = memory.get("left", (0, 9))
    for element in observation.elements:
        said = re.fullmatch(r"The number is (lower|higher) than (\d+)\.", element.label)
        if said:
            low, high = (low, min(high, int(said[2]) - 1)) if said[1] == "lower" else (max(low, int(said[2]) + 1), high)
    memory["left"] = low, high
    (box,) = textboxes(observation, 1)
    return fill(observation, box, str((low + high) // 2)) or submit(observation)


def simple_arithmetic(intent: str, observation: Observation, memory: dict) -> str:
    first, sign, second = find_line(observation, r"(\d) ([-+x]) (\d) =")
    first, second, (box,) = int(first), int(second), textboxes(observation, 1)
    answer = {"+": first + second, "-": first - second, "x": first * second}[sign]
    return fill(observation, box, str(answer)) or submit(observation)


def simple_algebra(intent: str, observation: Observation, memory: dict) -> str:
    first, sign, second, result = find_line(observation, r"(\d+|x) ([-+]) (\d+|x) = (\d+)")
    result, (box,) = int(result), textboxes(observation, 1)
    if first == "x":
        answer = result - int(second) if sign == "+" else result + int(second)
    else:
        answer = result - int(first) if sign == "+" else int(first) - result
    return fill(observation, box, str(answer)) or submit(observation)


def find_line(observation: Observation, pattern: str) -> tuple[str, ...]:
    """The groups of the first label that the pattern fits as a whole."""
    for element in observation.elements:
        found = re.fullmatch(pattern, element.label)
        if found:
            return found.groups()
    raise ExpertError(f"nothing on the page {observation.title!r} reads {pattern}")


def text_transform(intent: str, observation: Observation, memory: dict) -> str:
    """The twisted letters stand apart."""
    (box,) = textboxes(observation, 1)
    text = "".join("".join(e.label.split()) for e in find_all(observation, "text")) or "".join(box.label.split())
    return fill(observation, box, text) or submit(observation)


def use_autocomplete(intent: str, observation: Observation, memory: dict) -> str:
    """What is typed brings up suggestions; one of them is taken."""
    start, end = (*quoted(intent), "")[:2]
    box = need(observation, "textbox")
    if box.value.startswith(start) and box.value.endswith(end) and memory.get("taken"):
        return submit(observation)
    if box.value != start:
        return type_text(box, start)
    fitting = [e for e in observation.elements if e.role in ("clickable", "menuitem", "option") and e.label.startswith(start) and e.label.endswith(end)]
    if not fitting:
        return wait(1)
    memory["taken"] = True
    return click(fitting[0])


def use_colorwheel(intent: str, observation: Observation, memory: dict) -> str:
    """The field takes a colour as six hexadecimal digits; its wheel then lies over the button, which the Enter key still reaches."""
    (colour,) = asked(r"Select (.*) with the color picker and hit Submit\.", intent)
    (box,) = textboxes(observation, 1)
    return fill(observation, box, COLOURS[colour]) or press_enter(need(observation, "button", "Submit"))


def sign_agreement(intent: str, observation: Observation, memory: dict) -> str:
    """The fields can be used once the agreement has been scrolled to its end."""
    if intent == "Click the cancel button.":
        return submit(observation, "Cancel")
    name, button = asked(r'Scroll to the bottom of the textarea, enter the name "(.*)" then press "(.*)"', intent)
    box = need(observation, "textbox", "Name")
    if "disabled" in box.state:
        return scroll_down()
    return fill(observation, box, name) or submit(observation, button)


FORM_EXPERTS = {
    "choose-date": choose_date,
    "choose-date-easy": choose_date,
    "choose-date-medium": choose_date,
    "choose-date-nodelay": choose_date,
    "choose-list": choose_list,
    "enter-date": enter_date,
    "enter-password": enter_password,
    "enter-text": enter_text,
    "enter-text-2": enter_text_2,
    "enter-text-dynamic": enter_text,
    "enter-time": enter_time,
    "find-word": find_word,
    "form-sequence-2": form_sequence_2,
    "guess-number": guess_number,
    "login-user": login_user,
    "login-user-popup": login_user,
    "multi-layouts": multi_layouts,
    "multi-orderings": multi_layouts,
    "read-table": read_table,
    "read-table-2": read_table_2,
    "sign-agreement": sign_agreement,
    "simple-algebra": simple_algebra,
    "simple-arithmetic": simple_arithmetic,
    "text-transform": text_transform,
    "use-autocomplete": use_autocomplete,
    "use-autocomplete-nodelay": use_autocomplete,
    "use-colorwheel": use_colorwheel,
}
