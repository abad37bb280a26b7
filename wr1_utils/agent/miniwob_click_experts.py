"""Experts for the MiniWoB++ pages where clicking is all there is: buttons, boxes, tabs, sections, menus, trees."""

import re

from wr1_utils.agent.experts import ExpertError, click, find, find_all, hover, need, scroll_down, scroll_up, select, wait
from wr1_utils.agent.miniwob_parts import ORDINALS, asked, click_quoted, listed, named, nameless, need_named, quoted, submit, textboxes
from wr1_utils.web.observation import Observation

SYNONYMS = tuple(tuple(line.split(", ")) for line in """big, large, huge, enormous, gigantic
small, tiny, little, mini, petite
red, scarlet, crimson, vermillion
happy, cheerful, joyful, gleeful, delighted
sad, unhappy, sorrowful, miserable, tragic
angry, mad, furious, irritated
evil, wicked, immoral, sinful, corrupt, depraved
wrong, incorrect, mistaken, erroneous
real, genuine, actual
strange, odd, peculiar, unusual, weird
stop, cease, halt, end, finish
scared, terrified, panicked, fearful, frightened, afraid
quiet, calm, peaceful, serene, mild
old, aged, archaic
love, like, adore, favor
kill, murder, assassinate
keep, retain, preserve, sustain, maintain
hide, conceal, camouflage
hate, despise, loathe, detest, dislike
funny, humorous, amusing, comical, laughable
fat, fleshy, plump, chubby
stupid, dumb, dull, unwise
delicious, savory, delectable, appetizing
cut, slice, carve, chop
brave, courageous, fearless
begin, start, initiate, launch
answer, reply, response
television, televisions, TV, TVs
house, home, houses, homes
fire, flame, fires, flames
pig, pork, swine
rabbit, rabbits, bunny, bunnies
car, cars, automobile, automobiles, vehicle, vehicles
water""".splitlines())
SCROLLED_OUT = "the page does not go on further"  # the notice after scrolling where nothing moves


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


def click_collapsible_2_moving(intent: str, observation: Observation, memory: dict) -> str:
    """The sections take their time to open: a turn is waited after each."""
    if memory.pop("moving", False):
        return wait(1)
    memory["moving"] = True
    return click_collapsible_2(intent, observation, memory)


def click_tab_2(intent: str, observation: Observation, memory: dict) -> str:
    return find_behind("Tab #", intent, observation, memory)


def focus_text_2(intent: str, observation: Observation, memory: dict) -> str:
    position = next(number for word, number in ORDINALS.items() if word in intent)
    return click(textboxes(observation, 3)[position])


def click_checkboxes_soft(intent: str, observation: Observation, memory: dict) -> str:
    """The boxes whose words mean the same as one of those asked for."""
    (words,) = asked(r"Select words similar to (.*) and click Submit\.", intent)
    wanted = {like for word in words.split(", ") for group in SYNONYMS if word in group for like in group}
    for box in find_all(observation, "checkbox"):
        if ("checked" in box.state) != (box.label in wanted):
            return click(box)
    return submit(observation)


def click_scroll_list(intent: str, observation: Observation, memory: dict) -> str:
    """Choosing an option of a list of several adds it, or takes it back."""
    (wanted,) = asked(r"Select (.*) from the scroll list and click Submit\.", intent)
    box = need(observation, "select")
    for option in box.options:
        if listed(option, wanted) != listed(option, box.value):
            return select(box, option)
    return submit(observation)


def click_first_button(intent: str, observation: Observation, memory: dict) -> str:
    return click(need(observation, "button"))


def click_test_transfer(intent: str, observation: Observation, memory: dict) -> str:
    return click(need(observation, "button", *asked(r"Click button (\w+)\.", intent)))


def focus_text(intent: str, observation: Observation, memory: dict) -> str:
    return click(textboxes(observation, 1)[0])


def ascending_numbers(intent: str, observation: Observation, memory: dict) -> str:
    """After the first click the numbers are covered; the covers stand in the numbers' order, and each goes when it is clicked."""
    return click(named(observation, "1") or need(observation, "clickable"))


def click_tab_2_hard(intent: str, observation: Observation, memory: dict) -> str:
    """The tabs are called 1, 2, 3 …; one after another is opened until the link shows."""
    link = next((e for e in observation.elements if e.role in ("clickable", "link") and e.label == quoted(intent)[0]), None)
    if link is not None:
        return click(link)
    memory["opened"] = memory.get("opened", 1) + 1
    return click(need(observation, "tab", str(memory["opened"])))


def click_menu(intent: str, observation: Observation, memory: dict) -> str:
    """A submenu opens some time after the mouse came to its entry."""
    path = asked(r"Select (.*)", intent)[0].split(">")
    shown = [entry for entry in path if find(observation, "menuitem", entry)]
    if not shown:
        raise ExpertError(f"the menu has no entry {path[0]!r}")
    entry = need(observation, "menuitem", shown[-1])
    if shown[-1] == path[-1]:
        return click(entry)
    if memory.get("over") == shown[-1]:
        return wait(1)
    memory["over"] = shown[-1]
    return hover(entry)


def navigate_tree(intent: str, observation: Observation, memory: dict) -> str:
    """Before the name of a folder stands a nameless box that opens it; folders are opened from top to bottom until the name shows."""
    target = find(observation, "clickable", quoted(intent)[0])
    if target is not None:
        return click(target)
    opened = memory.setdefault("opened", [])
    for box, name in zip(observation.elements, observation.elements[1:]):
        if box in nameless([box]) and name.label not in opened:
            opened.append(name.label)
            return click(box)
    raise ExpertError(f"no folder holds {quoted(intent)[0]!r}")


def grid_coordinate(intent: str, observation: Observation, memory: dict) -> str:
    """The points stand column by column from left to right, each from top to bottom."""
    x, y = (int(number) for number in asked(r"Click on the grid coordinate \((-?\d),(-?\d)\)\.", intent))
    return click(find_all(observation, "clickable", "circle")[(x + 2) * 5 + (2 - y)])


def odd_or_even(intent: str, observation: Observation, memory: dict) -> str:
    """Each number stands between its buttons Odd and Even; the page does not show which was pressed, the memory does."""
    elements, done = observation.elements, memory.setdefault("done", 0)
    rows = [row for row in zip(elements, elements[1:], elements[2:]) if (row[0].label, row[2].label) == ("Odd", "Even")]
    if done == len(rows):
        return submit(observation)
    memory["done"] += 1
    odd, number, even = rows[done]
    return click(odd if int(number.label) % 2 else even)


def generate_number(intent: str, observation: Observation, memory: dict) -> str:
    """Generates until the number is as asked."""
    shown = next((int(e.label) for e in observation.elements if e.role == "text" and e.label.isdecimal()), None)
    bound = re.search(r"(less|greater) than (\d+)", intent)
    if shown is None:
        fits = False
    elif bound:
        fits = shown < int(bound[2]) if bound[1] == "less" else shown > int(bound[2])
    else:
        fits = bool(shown % 2) == ("odd" in intent)
    return submit(observation) if fits else submit(observation, "Generate")


def form_sequence_3(intent: str, observation: Observation, memory: dict) -> str:
    """A list made of clickable things: `▾` opens it."""
    option, button = asked(r'Choose (.*) from the dropdown, then click the button labeled "(.*)"\.', intent)
    if memory.get("chosen"):
        return click(need(observation, "button", button))
    entries = find_all(observation, "clickable", option)
    if entries:
        memory["chosen"] = True
        return click(entries[-1])
    return click(need(observation, "clickable", contains="▾"))


def use_spinner(intent: str, observation: Observation, memory: dict) -> str:
    """The two nameless buttons beside the field count up and down."""
    wanted = int(asked(r"Select (-?\d+) with the spinner and hit Submit\.", intent)[0])
    box, (up, down, _) = need(observation, "textbox"), find_all(observation, "button")
    value = int(box.value)
    return submit(observation) if value == wanted else click(up if value < wanted else down)


def scroll_text_2(intent: str, observation: Observation, memory: dict) -> str:
    """Scrolls until the page says that it goes no further."""
    (where,) = asked(r"Scroll the textarea to the (top|bottom) of the text hit submit\.", intent)
    if any(SCROLLED_OUT in notice for notice in observation.notices):
        return submit(observation)
    return scroll_up() if where == "top" else scroll_down()


CLICK_EXPERTS = {
    "ascending-numbers": ascending_numbers,
    "click-button": click_quoted,
    "click-button-sequence": click_button_sequence,
    "click-checkboxes": click_checkboxes,
    "click-checkboxes-large": click_checkboxes,
    "click-checkboxes-soft": click_checkboxes_soft,
    "click-checkboxes-transfer": click_checkboxes,
    "click-collapsible": click_collapsible,
    "click-collapsible-2": click_collapsible_2_moving,
    "click-collapsible-2-nodelay": click_collapsible_2,
    "click-collapsible-nodelay": click_collapsible,
    "click-dialog": click_dialog,
    "click-dialog-2": click_dialog,
    "click-link": click_quoted,
    "click-menu": click_menu,
    "click-option": click_option,
    "click-scroll-list": click_scroll_list,
    "click-tab": click_tab,
    "click-tab-2": click_tab_2,
    "click-tab-2-easy": click_tab_2,
    "click-tab-2-hard": click_tab_2_hard,
    "click-tab-2-medium": click_tab_2,
    "click-test": click_first_button,
    "click-test-2": click_test_2,
    "click-test-transfer": click_test_transfer,
    "focus-text": focus_text,
    "focus-text-2": focus_text_2,
    "form-sequence-3": form_sequence_3,
    "generate-number": generate_number,
    "grid-coordinate": grid_coordinate,
    "navigate-tree": navigate_tree,
    "odd-or-even": odd_or_even,
    "scroll-text-2": scroll_text_2,
    "unicode-test": click_quoted,
    "use-spinner": use_spinner,
}
