"""Finding a thing by way of several pages: the part of the base training in which an instruction names what its first page may not show.

"What is the weight of Green Harbor?": search for it, follow its link, read the row. Sites, things, facts and buttons are random labels, as everywhere
in the base training, and no task or page of a benchmark is among them; but titles and phrasings are like those of the Pocket Arena's shop. What carries over is the way: what is not on the page is searched for
by its name, what is found is opened, and what was asked for is then done there.
"""

import random
from collections.abc import Callable

from wr1_utils.training import pocket_words as words
from wr1_utils.training.pocket_pages import Block, Item, Labels, Line, Page, number_page, random_page
from wr1_utils.training.pocket_parts import DONE, NOT_FOUND, do, leave, named
from wr1_utils.training.pocket_tasks import Sample, as_episode, wrap

Step = tuple[Callable[[], Page], Callable[[Page], str]]  # what makes the page, and the right reply to it


def lookup(rng: random.Random, lines: int) -> Sample:
    """One turn of such an episode in the agent's format; its last reply is trained."""
    labels = Labels(rng)
    site, thing = labels.new(), labels.new()
    text, goal = rng.choices([_fact, _open, _press, _fill], [5, 2, 3, 2])[0](rng, labels, site, thing, lines)
    searched = rng.random() < 0.7
    steps = _way(rng, labels, site, thing, lines, searched)
    if searched and rng.random() < 0.1:
        steps = [steps[0], _nothing(rng, labels, site, thing, lines)]
    else:
        steps += goal
    replies: list[str] = []
    wanted = rng.randrange(len(steps))
    for make, answer in steps[:wanted + 1]:
        page = make()
        number_page(rng, page)
        replies.append(answer(page))
    return as_episode(text, replies[:-1], page, replies[-1], "lookup")


def _name(rng: random.Random, thing: str) -> str:
    """The thing's name in the instruction, mostly bare."""
    return thing if rng.random() < 0.75 else named(rng, thing)


def _lower(rng: random.Random, label: str) -> str:
    """A label of the page in an instruction, mostly in lower case."""
    return label.lower() if rng.random() < 0.6 else named(rng, label)


def _way(rng: random.Random, labels: Labels, site: str, thing: str, lines: int, searched: bool) -> list[Step]:
    """The steps to the thing's own page: by the search and its results, or by a link that is there."""
    link = Item("link", thing)
    if not searched:
        block = [Line([link])] if rng.random() < 0.5 else _listed(rng, labels, link)
        return [(lambda: random_page(rng, labels, lines, [block]), lambda page: do("Click", link))]
    box = Item("textbox", rng.choice(["Search", "Search", "Find", labels.new()]), "")
    others = frozenset() if box.label in ("Search", "Find") else frozenset({"textbox"})  # then it is the only one
    rows = _listed(rng, labels, link)

    def results() -> Page:
        page = random_page(rng, labels, min(lines, 20), [rows])
        page.title = f"{site}: {rng.choice(['Results for ' + thing, 'Search', thing + ' found'])}"
        return page
    return [(lambda: random_page(rng, labels, lines, [[Line([box])]], others), lambda page: do("Search", box, thing)),
            (results, lambda page: do("Click", link))]


def _listed(rng: random.Random, labels: Labels, link: Item) -> Block:
    """A table with the link in one of its rows."""
    makers = rng.sample([words.price, words.date, words.number, words.rating, words.label], rng.randint(1, 2))
    items = [link] + [Item("link", labels.new()) for _ in range(rng.randint(0, 5))]
    rng.shuffle(items)
    return [Line([item] + [Item("text", maker(rng)) for maker in makers], row=True) for item in items]


def _nothing(rng: random.Random, labels: Labels, site: str, thing: str, lines: int) -> Step:
    """The results do not hold the thing."""
    def page() -> Page:
        block = [Line([Item("text", rng.choice(["Nothing found.", "No results.", f"No {labels.new()} found."]))])]
        made = random_page(rng, labels, min(lines, 12), [block])
        made.title = f"{site}: Results for {thing}"
        return made
    return page, lambda page: NOT_FOUND


def _own_page(rng: random.Random, labels: Labels, site: str, thing: str, lines: int, needs: list[Block]) -> Page:
    page = random_page(rng, labels, lines, needs)
    page.title = f"{site}: {thing}"
    if rng.random() < 0.6:
        page.lines.insert(0, Line([Item("heading", thing)]))
    return page


def _fact(rng: random.Random, labels: Labels, site: str, thing: str, lines: int) -> tuple[str, list[Step]]:
    rows = [Line([Item("text", labels.new()), Item("text", words.value(rng))], row=True) for _ in range(rng.randint(2, 6))]
    row = rng.choice(rows)
    key, name = _lower(rng, row.items[0].label), _name(rng, thing)
    text = rng.choice([f"what is the {key} of {name}?", f"what {key} does {name} have?", f"how {key} is {name}?", f"tell me the {key} of {name}",
                       f"give the {key} of {name}", f"look up the {key} for {name}", f"find {name} and report its {key}", f"{name}: {key}?",
                       f"I want to know the {key} of {name}", f"which {key} has {name}?"])
    return wrap(rng, text), [(lambda: _own_page(rng, labels, site, thing, lines, [rows]),
                              lambda page: leave(row.items[1].label, row.text()))]


def _open(rng: random.Random, labels: Labels, site: str, thing: str, lines: int) -> tuple[str, list[Step]]:
    name = _name(rng, thing)
    text = rng.choice([f"open {name}", f"show me {name}", f"show the page of {name}", f"go to {name}", f"open the page of {name}", f"find {name}",
                       f"take me to {name}", f"look at {name}"])
    return wrap(rng, text), [(lambda: _own_page(rng, labels, site, thing, lines, []), lambda page: DONE)]


def _press(rng: random.Random, labels: Labels, site: str, thing: str, lines: int) -> tuple[str, list[Step]]:
    button = Item(rng.choice(["button", "button", "link"]), labels.new())
    what, name = _lower(rng, button.label), _name(rng, thing)
    text = rng.choice([f"{what} {name}", f"press {what} for {name}", f"use {what} on the page of {name}", f"click {what} for {name}",
                       f"find {name} and press {what}", f"{what} for {name}"])
    return wrap(rng, text), [(lambda: _own_page(rng, labels, site, thing, lines, [[Line([button])]]), lambda page: do("Click", button)),
                             (lambda: random_page(rng, labels, lines, []), lambda page: DONE)]


def _fill(rng: random.Random, labels: Labels, site: str, thing: str, lines: int) -> tuple[str, list[Step]]:
    box, button = Item("textbox", labels.new(), rng.choice(["", words.number(rng)])), Item("button", labels.new())
    value = words.typed(rng) if rng.random() < 0.5 else words.number(rng)
    field, what, name, given = _lower(rng, box.label), _lower(rng, button.label), _name(rng, thing), _name(rng, value)
    text = rng.choice([f"set the {field} of {name} to {given} and press {what}", f"{what} {name} with {field} {given}",
                       f"enter {given} as {field} of {name}, then {what}", f"change {field} to {given} for {name} and {what}"])

    def before() -> Page:
        return _own_page(rng, labels, site, thing, lines, [[Line([box])], [Line([button])]])

    def after() -> Page:
        box.value = value
        return before()
    return wrap(rng, text), [(before, lambda page: do("Type", box, value)), (after, lambda page: do("Click", button)),
                             (lambda: random_page(rng, labels, lines, []), lambda page: DONE)]
