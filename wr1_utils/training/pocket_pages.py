"""Random pages in the compact style, as the base training of the pocket model reads them.

A page is a list of blocks (a single line, a table, a form …) of random labels and values. Nothing on it comes from a benchmark. The lines
are printed by `element_line` and `row_line` of `web/observation.py`, the functions that print real pages.
"""

import random
from dataclasses import dataclass, field

from wr1_utils.training import pocket_words as words
from wr1_utils.web.observation import Element, element_line, element_mention, row_line

ROLES = {"link": 34, "button": 14, "textbox": 11, "checkbox": 9, "radio": 8, "clickable": 7, "option": 5, "tab": 5, "select": 5, "menuitem": 2}
TEXT_ROLES = {"text": 16, "heading": 5, "image": 3}


@dataclass(eq=False)
class Item:
    """One element of a random page. Mutable: an episode types into it, ticks it, and each page numbers it anew."""
    role: str
    label: str
    value: str | None = None
    state: list[str] = field(default_factory=list)
    options: tuple[str, ...] = ()
    id: int | None = None

    @property
    def interactive(self) -> bool:
        return self.role not in TEXT_ROLES

    def element(self) -> Element:
        return Element(id=self.id, role=self.role, label=self.label, value=self.value, state=tuple(self.state), options=self.options,
                       row=None, box=(0.0, 0.0, 0.0, 0.0), in_view=True)

    def line(self) -> str:
        return element_line(self.element())

    def mention(self) -> str:
        return element_mention(self.element())


@dataclass(eq=False)
class Line:
    """One line of a page: an element, or a table row of several cells."""
    items: list[Item]
    row: bool = False

    def text(self) -> str:
        return row_line([item.element() for item in self.items]) if self.row else self.items[0].line()


Block = list[Line]


@dataclass(eq=False)
class Page:
    title: str
    lines: list[Line]
    more: bool = False                  # does "scroll down for more" stand at the end?
    tabs: tuple[str, ...] = ()
    notice: str | None = None

    def items(self) -> list[Item]:
        return [item for line in self.lines for item in line.items]

    def number(self, start: int = 0, gaps: random.Random | None = None) -> None:
        """Gives ids in reading order from `start`; `gaps` leaves some numbers out (only there so that all ids get trained)."""
        for item in self.items():
            if item.interactive:
                item.id = min(start, 299)
                start += 1 + (gaps.choice([0, 0, 1, 3, 9]) if gaps else 0)

    def text(self) -> str:
        lines = [f"page {self.title}"]
        if self.tabs:
            lines.append("tabs " + " | ".join(f"{i} {tab}" for i, tab in enumerate(self.tabs)) + " (current)")
        if self.notice:
            lines.append(f"note {self.notice}")
        lines += [line.text() for line in self.lines]
        if self.more:
            lines.append("scroll down for more")
        return "\n".join(lines)


def random_item(rng: random.Random, role: str, label: str) -> Item:
    """An element of `role` with a random value, state and options."""
    if role == "text":
        return Item(role, rng.choice([words.sentence, words.value, words.label])(rng) if rng.random() < 0.7 else f"{label}: {words.value(rng)}")
    if role == "textbox":
        return Item(role, label if rng.random() < 0.93 else "", "" if rng.random() < 0.6 else words.typed(rng))
    if role == "select":
        options = tuple(dict.fromkeys(words.label(rng) if rng.random() < 0.7 else words.value(rng) for _ in range(rng.randint(2, 6))))
        return Item(role, label, rng.choice(options), options=options)
    if role in ("checkbox", "radio"):
        return Item(role, label, state=["checked"] if rng.random() < 0.2 else [])
    if role == "tab":
        return Item(role, label, state=["selected"] if rng.random() < 0.25 else [])
    if role == "button" and rng.random() < 0.05:
        return Item(role, label, state=["disabled"])
    return Item(role, label)


def pick(rng: random.Random, weights: dict[str, int]) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]


class Labels:
    """Gives labels that are all different on one page, though they share words."""

    def __init__(self, rng: random.Random):
        self.rng, self.pool, self.used = rng, [], {"", "done", "not found"}

    def new(self) -> str:
        while True:
            label = words.label(self.rng, self.pool)
            if label.lower() not in self.used:
                self.used.add(label.lower())
                self.pool = (self.pool + label.split())[-12:]
                return label

    def series(self, number: int) -> list[str]:
        """Labels that differ in a number only, as those of orders or chapters do."""
        name, step, start = self.new(), self.rng.choice([-1, -1, 1, 7]), self.rng.choice([10, 60, 1_000, 20_000]) + self.rng.randint(0, 900)
        return [f"{name} {start + step * i}" for i in range(number)]


def info_table(rng: random.Random, labels: Labels) -> Block:
    """Rows `row Key | value`."""
    return [Line([Item("text", labels.new()), Item("text", words.value(rng))], row=True) for _ in range(rng.randint(1, 5))]


def goods_table(rng: random.Random, labels: Labels) -> tuple[Line | None, Block]:
    """(header or None, rows): rows of one make, as in lists of products or orders: a name, one to three values, perhaps a textbox and a button."""
    makers = rng.sample([words.price, words.date, words.number, words.rating, words.label], rng.randint(1, 3))
    name_role = rng.choice(["link", "link", "text"])
    quantity = labels.new() if rng.random() < 0.25 else None
    button = Item(rng.choice(["button", "link"]), labels.new()) if rng.random() < 0.45 else None
    header = Line([Item("text", labels.new()) for _ in range(1 + len(makers))], row=True) if rng.random() < 0.5 else None
    rows = []
    number = rng.randint(2, 6)
    series = labels.series(number) if rng.random() < 0.15 else None
    for at in range(number):
        cells = [Item(name_role, series[at] if series else labels.new())] + [Item("text", maker(rng)) for maker in makers]
        if quantity:
            cells.append(Item("textbox", quantity, words.number(rng)))
        if button:
            cells.append(Item(button.role, button.label))
        rows.append(Line(cells, row=True))
    return header, rows


def random_blocks(rng: random.Random, labels: Labels, lines: int, avoid: frozenset[str] = frozenset()) -> list[Block]:
    """Blocks of about `lines` lines, of roles not in `avoid`. Some pages are of one kind: all links, all checkboxes …"""
    roles = {role: weight for role, weight in (ROLES | TEXT_ROLES).items() if role not in avoid}
    if rng.random() < 0.25:
        kept = rng.sample(list(roles), min(len(roles), rng.randint(1, 3)))
        roles = {role: roles[role] for role in kept}
    tables = rng.choice([0.0, 0.05, 0.12])
    blocks: list[Block] = []
    count = 0
    while count < lines:
        if rng.random() < tables and not avoid:
            header, rows = (None, info_table(rng, labels)) if rng.random() < 0.5 else goods_table(rng, labels)
            block = [header, *rows] if header else rows
        elif rng.random() < 0.12 and not avoid:     # a list: a link and what is said of it, some times over
            role = rng.choice(["link", "clickable", "heading", "image"])
            block = [Line([item]) for _ in range(rng.randint(1, 4))
                     for item in (Item(role, labels.new()), Item("text", words.value(rng)))]
        else:
            block = [Line([random_item(rng, pick(rng, roles), labels.new())])]
        blocks.append(block)
        count += len(block)
    return blocks


def random_page(rng: random.Random, labels: Labels, lines: int, needs: list[Block], avoid: frozenset[str] = frozenset()) -> Page:
    """A page of about `lines` lines that holds the blocks `needs` at random places, in random order."""
    blocks = random_blocks(rng, labels, max(0, lines - sum(map(len, needs))), avoid) + list(needs)
    rng.shuffle(blocks)
    page = Page(words.label(rng) if rng.random() < 0.5 else f"{words.label(rng)}: {words.label(rng)}", [line for block in blocks for line in block])
    if rng.random() < 0.04:
        page.notice = words.sentence(rng, 6)
    return page


def number_page(rng: random.Random, page: Page) -> None:
    """Numbers a page: mostly from 0, sometimes from elsewhere or with gaps, so that ids 0 to 299 are all trained."""
    roll = rng.random()
    start = 0 if roll < 0.7 else rng.randint(0, 40) if roll < 0.85 else rng.randint(0, 240)
    page.number(start, rng if rng.random() < 0.12 else None)
