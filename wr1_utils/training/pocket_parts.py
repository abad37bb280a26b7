"""The parts of an instruction: one thing to do on a random page, with its phrasing and the right reply, skill by skill.

Phrasings and labels are random, so that what is learned is to read the page and to follow the instruction. Nothing is taken from MiniWoB++ or the Pocket
Arena.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from wr1_utils.agent.experts import quote, reply
from wr1_utils.training import pocket_words as words
from wr1_utils.training.pocket_pages import (ROLES, Block, Item, Labels, Line, Page, goods_table, info_table, number_page, pick, random_item,
                                             random_page)

ORDINALS = ["first", "second", "third", "fourth"]


@dataclass(eq=False)
class Part:
    """One thing to do. `answer()` gives the reply once the page has ids; `notes` are page lines to be remembered with it."""
    skill: str
    text: str                                            # imperative, lower case, without a full stop
    answer: Callable[[list[str]], str]                   # notes -> reply
    needs: list[Block] = field(default_factory=list)     # what the page must hold
    effect: Callable[[], None] | None = None             # what it changes on the page
    leaves: bool = False                                 # does another page come next?
    ends: bool = False                                   # is the reply an exit?
    avoid: frozenset[str] = frozenset()                  # roles that the rest of the page must not have
    page: Callable[[Page], None] | None = None           # what else the page must be


def do(action: str, item: Item | None = None, argument: str | None = None, notes: list[str] = ()) -> str:
    """The reply that does `action`; the thought holds the notes, then the element as a thought names it."""
    given = [f'action="{action}"']
    if argument is not None:
        given.append(f"argument={quote(argument)}")
    if item is not None:
        given.append(f'element="{item.id}"')
    lines = [f"# Note: {note}" for note in notes] + ([f"# Element: {item.mention()}"] if item else [])
    return reply(f"do({', '.join(given)})", *lines)


def leave(message: str, line: str) -> str:
    """The reply that ends the episode with `message`, found in `line`."""
    return reply(f"exit(message={quote(message)})", f"# Answer: {line}")


DONE = leave("done", "done")
NOT_FOUND = leave("N/A", "not found")


def named(rng: random.Random, text: str) -> str:
    """A label or a value inside an instruction: bare, quoted, rarely in lower case."""
    roll = rng.random()
    if roll < 0.08:
        return text.lower()
    return text if roll < 0.4 else f'"{text}"' if roll < 0.9 else f"'{text}'"


def _role_word(rng: random.Random, role: str) -> str:
    names = {"textbox": ["field", "textbox", "box", "input"], "select": ["dropdown", "select", "list"], "clickable": ["item", "element"],
             "menuitem": ["menu item", "entry"], "checkbox": ["checkbox", "box"], "radio": ["radio button", "choice", "radio"],
             "option": ["option"]}
    return rng.choice(names.get(role, [role]))


def _click_text(rng: random.Random, item: Item, named_role: bool) -> str:
    name, role = named(rng, item.label), _role_word(rng, item.role)
    if item.role in ("checkbox",) and rng.random() < 0.6:
        verb = rng.choice(["untick", "uncheck", "clear"] if "checked" in item.state else ["tick", "check", "mark", "select"])
        return f"{verb} {name}"
    if named_role:
        return rng.choice([f"click the {name} {role}", f"click on the {role} {name}", f"press the {role} {name}", f"use the {role} {name}",
                           f"click {role} {name}", f"activate the {name} {role}"])
    verbs = ["click", "click on", "press", "choose", "select", "hit", "pick"] + (["open", "go to", "follow", "visit", "show"] if item.role != "button" else [])
    return f"{rng.choice(verbs)} {name}"


def click(rng: random.Random, labels: Labels) -> Part:
    if rng.random() < 0.12:                  # one of many that differ in a number only
        items = [Item("link", label) for label in labels.series(rng.randint(2, 8))]
        item = rng.choice(items)
        part = click_on(rng, item, False, [[Line([other]) for other in items]])
        if rng.random() < 0.6:
            verb = rng.choice(["open", "go to", "show", "click", "view"])
            part.text = f"{verb} {item.label.lower()}"
        return part
    item = random_item(rng, pick(rng, {r: w for r, w in ROLES.items() if r not in ("textbox", "select")}), labels.new())
    item.state = [s for s in item.state if s != "disabled"]
    needs, named_role = [[Line([item])]], rng.random() < 0.4
    if named_role and rng.random() < 0.3:    # the same label in another role
        other = rng.choice([r for r in ("link", "button", "tab", "checkbox", "option", "radio") if r != item.role])
        needs.append([Line([Item(other, item.label)])])
    elif rng.random() < 0.15:                # or as plain text
        needs.append([Line([Item(rng.choice(["heading", "text"]), item.label)])])
    return click_on(rng, item, named_role, needs)


def click_on(rng: random.Random, item: Item, named_role: bool, needs: list[Block]) -> Part:
    def effect() -> None:
        if item.role in ("checkbox", "radio"):
            item.state = [] if "checked" in item.state and item.role == "checkbox" else ["checked"]
        elif item.role == "tab":
            item.state = ["selected"]
    leaves = rng.random() < {"link": 0.85, "button": 0.5, "tab": 0.5, "clickable": 0.5, "menuitem": 0.7}.get(item.role, 0.0)
    return Part("click", _click_text(rng, item, named_role), lambda notes: do("Click", item, None, notes), needs, effect, leaves)


def type_text(rng: random.Random, labels: Labels) -> Part:
    item = Item("textbox", labels.new(), "" if rng.random() < 0.7 else words.typed(rng))
    roll, name = rng.random(), None
    if roll < 0.12:                          # the only textbox of the page
        name = f"the {_role_word(rng, 'textbox')}"
        item.label = item.label if rng.random() < 0.5 else ""
    needs = [[Line([item])]]
    if 0.12 <= roll < 0.22:                  # its label stands before it, as text
        needs = [[Line([Item("text", item.label)]), Line([item])]]
        name, item.label = named(rng, item.label), ""
    return type_into(rng, item, name, needs, avoid=frozenset({"textbox"}) if roll < 0.12 else frozenset())


def type_into(rng: random.Random, item: Item, name: str | None, needs: list[Block], avoid: frozenset[str] = frozenset()) -> Part:
    """`name`: what the instruction calls the textbox, if not by its label."""
    value, box = words.typed(rng), _role_word(rng, "textbox")
    given = named(rng, value)
    if name is None:
        name = named(rng, item.label)
        name = rng.choice([name, name, f"the {name} {box}", f"the {box} {name}", f"{box} {name}"])
    text = rng.choice([f"type {given} into {name}", f"enter {given} into {name}", f"write {given} in {name}", f"fill {name} with {given}",
                       f"put {given} in {name}", f"set {name} to {given}", f"type {given} in {name}", f"in {name} enter {given}",
                       f"enter {given} as {name}", f"add {given} to {name}"])

    def effect() -> None:
        item.value = value
    return Part("type", text, lambda notes: do("Type", item, value, notes), needs, effect, avoid=avoid)


def search(rng: random.Random, labels: Labels) -> Part:
    value, label = words.typed(rng), rng.choice(["Search", "Find", "Search the site", ""])
    given = named(rng, value)
    if label and label.lower() not in labels.used and rng.random() < 0.8:
        labels.used.add(label.lower())
        text = rng.choice([f"search for {given}", f"search {given}", f"look for {given}", f"find {given} with the search"])
    else:
        label = labels.new()
        text = rng.choice([f"search {given} in {named(rng, label)}", f"search for {given} with the field {named(rng, label)}"])
    item = Item("textbox", label, "")
    return Part("search", text, lambda notes: do("Search", item, value, notes), [[Line([item])]], leaves=True)


def select(rng: random.Random, labels: Labels) -> Part:
    item = random_item(rng, "select", labels.new())
    option = rng.choice(item.options)
    given, name = named(rng, option), named(rng, item.label)
    if rng.random() < 0.3:
        name = rng.choice([f"the {name} dropdown", f"the dropdown {name}", f"the list {name}"])
    text = rng.choice([f"choose {given} in {name}", f"select {given} from {name}", f"set {name} to {given}", f"pick {given} in {name}",
                       f"select {given}", f"choose {given} for {name}", f"change {name} to {given}"])

    def effect() -> None:
        item.value = option
    return Part("select", text, lambda notes: do("Select Dropdown Option", item, option, notes), [[Line([item])]], effect)


def in_row(rng: random.Random, labels: Labels) -> Part:
    """An element of a table row, where other rows have the same."""
    rows: Block = []
    while not rows or not any(item.interactive for item in rows[0].items[1:]):
        header, rows = goods_table(rng, labels)
    line = rng.choice(rows)
    item = rng.choice([item for item in line.items[1:] if item.interactive])
    needs = [[header, *rows] if header else rows]
    name, what = named(rng, line.items[0].label), named(rng, item.label)
    if item.role == "textbox":
        value = words.number(rng)
        text = rng.choice([f"set {what} of {name} to {value}", f"change {what} for {name} to {value}", f"enter {value} in {what} beside {name}"])

        def effect() -> None:
            item.value = value
        return Part("in row", text, lambda notes: do("Type", item, value, notes), needs, effect)
    text = rng.choice([f"click {what} in the row of {name}", f"click {what} for {name}", f"press {what} beside {name}", f"{item.label} {name}",
                       f"click {what} next to {name}", f"use {what} of {name}"])
    return Part("in row", text, lambda notes: do("Click", item, None, notes), needs, leaves=rng.random() < 0.4)


def fact(rng: random.Random, labels: Labels) -> tuple[str, list[Block], Callable[[], str], str]:
    """Something that can be read from a page: its name in a question, its block, its printed line, its value."""
    kind = rng.random()
    if kind < 0.35:
        block = info_table(rng, labels)
        line = rng.choice(block)
        return named(rng, line.items[0].label), [block], line.text, line.items[1].label
    if kind < 0.5:
        key, value = labels.new(), words.value(rng)
        line = Line([Item("text", f"{key}: {value}")])
        return named(rng, key), [[line]], line.text, value
    if kind < 0.58:
        item = random_item(rng, rng.choice(["textbox", "select"]), labels.new())
        item.value, item.label = item.value or words.typed(rng), item.label or labels.new()
        line = Line([item])
        return named(rng, item.label), [[line]], line.text, item.value
    if kind < 0.75:                          # what stands under a name
        role = rng.choice(["link", "clickable", "heading", "image"])
        block = [Line([item]) for _ in range(rng.randint(1, 4)) for item in (Item(role, labels.new()), Item("text", words.value(rng)))]
        at = 2 * rng.randrange(len(block) // 2)
        name = named(rng, block[at].items[0].label)
        return rng.choice([f"text under {name}", f"line after {name}", f"value below {name}"]), [block], block[at + 1].text, block[at + 1].items[0].label
    header, rows = goods_table(rng, labels)
    line = rng.choice(rows)
    name = named(rng, line.items[0].label)
    if header is None:
        column = 1
        what = rng.choice([f"value of {name}", f"value beside {name}", f"entry for {name}"])
    else:
        column = rng.randrange(1, len(header.items))
        key = named(rng, header.items[column].label)
        what = rng.choice([f"{key} of {name}", f"{key} for {name}"])
    return what, [[header, *rows] if header else rows], line.text, line.items[column].label


def _question(rng: random.Random, what: str) -> str:
    return rng.choice([f"what is the {what}?", f"tell me the {what}", f"give the {what}", f"find the {what}", f"answer with the {what}",
                       f"report the {what}", f"what is {what}?", f"read the {what}", f"look up the {what}"])


def read(rng: random.Random, labels: Labels) -> Part:
    what, needs, line, value = fact(rng, labels)
    return Part("read", _question(rng, what), lambda notes: leave(value, line()), needs, ends=True)


def copy_value(rng: random.Random, labels: Labels) -> Part:
    """A value of the page goes into a textbox of the page."""
    what, needs, line, value = fact(rng, labels)
    item = Item("textbox", labels.new(), "")
    text = rng.choice([f"copy the {what} into {named(rng, item.label)}", f"type the {what} into {named(rng, item.label)}",
                       f"enter the {what} in the field {named(rng, item.label)}"])

    def effect() -> None:
        item.value = value
    return Part("copy", text, lambda notes: do("Type", item, value, [*notes, line()]), needs + [[Line([item])]], effect)


def extreme(rng: random.Random, labels: Labels) -> Part:
    """Which of a few rows has the smallest or the largest number."""
    unit = rng.choice(["${}.{:02d}", "{}", "{}.{}"])
    numbers = rng.sample(range(1, rng.choice([20, 100, 500])), rng.randint(2, 5))
    role = rng.choice(["link", "text"])
    block = [Line([Item(role, labels.new()), Item("text", unit.format(n, rng.randint(10, 99)))], row=True) for n in numbers]
    low = rng.random() < 0.5
    line = block[numbers.index(min(numbers) if low else max(numbers))]
    word = rng.choice(["lowest", "smallest", "cheapest", "least"] if low else ["highest", "largest", "most expensive", "greatest"])
    item = line.items[0]
    if role == "link" and rng.random() < 0.5:
        return Part("extreme", rng.choice([f"open the {word} one", f"click the one with the {word} value", f"go to the {word}"]),
                    lambda notes: do("Click", item, None, [*notes, line.text()]), [block], leaves=True)
    return Part("extreme", rng.choice([f"which is the {word}?", f"name the {word} one", f"which one has the {word} value?"]),
                lambda notes: leave(item.label, line.text()), [block], ends=True)


def count(rng: random.Random, labels: Labels) -> Part:
    role, number = rng.choice(["checkbox", "button", "radio", "option", "image", "textbox", "tab"]), rng.randint(0, 6)
    name = {"checkbox": "checkboxes", "textbox": "textboxes"}.get(role, role + "s")
    items = [random_item(rng, role, labels.new()) for _ in range(number)]
    return Part("count", rng.choice([f"how many {name} are there?", f"count the {name}", f"give the number of {name}"]),
                lambda notes: leave(str(number), str(number)), [[Line([item])] for item in items], ends=True, avoid=frozenset({role}))


def ordinal(rng: random.Random, labels: Labels) -> Part:
    role, number = rng.choice(["link", "button", "checkbox", "radio", "tab", "textbox", "option"]), rng.randint(2, 4)
    items = [random_item(rng, role, labels.new()) for _ in range(number)]
    at = rng.randrange(number)
    which = "last" if at == number - 1 and rng.random() < 0.5 else ORDINALS[at]
    return Part("ordinal", rng.choice([f"click the {which} {_role_word(rng, role) if role != 'checkbox' else role}", f"choose the {which} {role}"]),
                lambda notes: do("Click", items[at], None, notes), [[Line([item]) for item in items]], avoid=frozenset({role}))


def missing(rng: random.Random, labels: Labels) -> Part:
    """What is asked for is not on the page, and there is no more of the page."""
    label = labels.new()
    item = Item(pick(rng, ROLES), label)
    text = _question(rng, named(rng, label)) if rng.random() < 0.6 else _click_text(rng, item, rng.random() < 0.4)
    return Part("missing", text, lambda notes: NOT_FOUND, ends=True)


def plain_action(rng: random.Random, labels: Labels) -> Part:
    """Actions that need no search: Enter, back, scroll, another tab, wait; and hover and right click, which do."""
    kind = rng.choice(["enter", "back", "scroll", "tab", "hover", "right"])
    if kind in ("hover", "right"):
        item = random_item(rng, rng.choice(["link", "button", "clickable"]), labels.new())
        action, verb = ("Hover", "hover over") if kind == "hover" else ("Right Click", "right-click")
        return Part("other", f"{verb} {named(rng, item.label)}", lambda notes: do(action, item, None, notes), [[Line([item])]])
    if kind == "tab":
        tabs = tuple(words.label(rng) for _ in range(rng.randint(2, 3)))
        at = rng.randrange(len(tabs) - 1)

        def page(page: Page) -> None:
            page.tabs = tabs
        return Part("other", rng.choice([f"switch to the tab {named(rng, tabs[at])}", f"go to browser tab {at}"]),
                    lambda notes: do("Switch Tab", None, str(at), notes), page=page, leaves=True)
    text, call = {"enter": (rng.choice(["press Enter", "hit enter", "press the enter key"]), 'do(action="Press Enter")'),
                  "back": (rng.choice(["go back", "return to the previous page", "go back one page"]), "go_backward()"),
                  "scroll": (rng.choice(["scroll down", "scroll further down"]), 'do(action="Scroll Down")')}[kind]
    return Part("other", text, lambda notes: reply(call, *(f"# Note: {note}" for note in notes)), leaves=kind == "back")


def tick_several(rng: random.Random, labels: Labels) -> list[Part]:
    """Two to four checkboxes named in one list."""
    items = [Item("checkbox", labels.new()) for _ in range(rng.randint(2, 4))]
    names = [named(rng, item.label) for item in items]
    verb = rng.choice(["tick", "check", "select", "choose", "mark"])

    def part(at: int) -> Part:
        def effect() -> None:
            items[at].state = ["checked"]
        return Part("several", f"{verb} {names[0]}" if at == 0 else names[at], lambda notes: do("Click", items[at], None, notes),
                    [[Line([items[at]])]], effect)
    return [part(at) for at in range(len(items))]


SKILLS = {click: 34, type_text: 14, search: 5, select: 6, in_row: 7, read: 15, copy_value: 3, extreme: 4, count: 2, ordinal: 3, missing: 2,
          plain_action: 3}


SKILL_NAMES = ("click", "type", "search", "select", "in row", "read", "copy", "extreme", "count", "ordinal", "missing", "other")


def draw_part(rng: random.Random, labels: Labels) -> Part:
    return rng.choices(list(SKILLS), list(SKILLS.values()))[0](rng, labels)


def part_on(rng: random.Random, page: Page) -> Part | None:
    """A part about something that already stands on `page`: a click, typing into a textbox, or reading a row. None if nothing there has a name of its own."""
    line = rng.choice(page.lines)
    item = line.items[0]
    if not item.label or sum(other.label == item.label for other in page.items()) > 1:
        return None
    if line.row and len(line.items) == 2 and item.role == "text" and line.items[1].role == "text":
        return Part("read", _question(rng, named(rng, item.label)), lambda notes: leave(line.items[1].label, line.text()), ends=True)
    if item.role == "textbox":
        return type_into(rng, item, None, [])
    if item.interactive and item.role != "select" and "disabled" not in item.state:
        return click_on(rng, item, rng.random() < 0.3, [])
    return None
