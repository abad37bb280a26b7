"""How an expert's reply is worded: `short`, as the experts write it, `cot`, with a paragraph before that, or `bare`, the call alone.

The experts decide, this module words: a paragraph of three or four sentences says what is seen, what was done and what remains, and why
this element. It is made from what the policy has in its context at that turn (the task, the page, the earlier replies) and from the
expert's choice (the action, its notes, the line its answer comes from); it claims nothing else. The lines of the short style follow
it, for they are what a small model copies from, and notes are all that is left of earlier pages.

Deviations from the paper
- The paper's long thoughts were written by QwQ-32B, which also did the tasks. Ours are made by rules from the same experts' choices, so
  that `short` and `cot` differ in the thought alone. They are far shorter (30 to 80 words), and never doubt or correct themselves.
- `bare` has no notes either: the expert remembers what a policy that never thinks has no place to write down.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from wr1_utils.agent.experts import cells
from wr1_utils.web.actions import Action, parse_reply
from wr1_utils.web.observation import Element, Observation, element_line

STYLES = ("short", "cot", "bare")
FIELDS = ("textbox", "select", "checkbox", "radio")
NOUNS = {"textbox": "field", "select": "list", "checkbox": "box", "radio": "choice", "menuitem": "menu item", "clickable": "element"}
_EARLIER = "earlier steps"  # where an episode's memory keeps what a thought may look back on

Expert = Callable[..., str]  # (task, intent, observation, memory) → reply


@dataclass(frozen=True)
class Done:
    """An earlier turn, as a later thought speaks of it."""

    phrase: str  # "clicked Orders"
    touched: str  # label and text that it dealt with; a search has only looked for its words, so it has none
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """One turn of an expert: what it sees, and what it chose."""

    intent: str
    names: tuple[str, ...]  # what the intent names, see `names_in`
    page: Observation
    action: Action
    notes: tuple[str, ...] = ()
    source: str = ""  # the line that the answer is taken from
    before: tuple[Done, ...] = ()

    @property
    def element(self) -> Element | None:
        return next((e for e in self.page.elements if e.id is not None and str(e.id) == self.action.element), None)


def in_style(expert: Expert, style: str) -> Expert:
    """The expert with its replies worded in one of STYLES; it keeps what it looks back on in the episode's memory."""
    if style not in STYLES:
        raise ValueError(f"the style of an expert is one of {', '.join(STYLES)}, not {style!r}")
    if style == "short":
        return expert

    def styled(task, intent: str, observation: Observation, memory: dict) -> str:
        reply = expert(task, intent, observation, memory)
        if style == "bare":
            return reply.split("</think>\n<answer>", 1)[1].removesuffix("</answer>")
        earlier = memory.setdefault(_EARLIER, [])
        step = read_step(reply, intent, task.instantiation_dict, observation, tuple(earlier))
        earlier.append(done(step))
        return reply.replace("<think>", f"<think>{paragraph(step)}\n", 1)

    return styled


def read_step(reply: str, intent: str, filling: dict, observation: Observation, before: tuple[Done, ...] = ()) -> Step:
    """An expert's short reply, taken apart again."""
    lines = reply.split("<think>", 1)[1].rsplit("</think>", 1)[0].splitlines()
    notes = tuple(line.removeprefix("# Note: ") for line in lines if line.startswith("# Note: "))
    source = next((line.removeprefix("# Answer: ") for line in lines if line.startswith("# Answer: ")), "")
    return Step(intent, names_in(intent, filling, observation), observation, parse_reply(reply), notes, source, before)


def paragraph(step: Step) -> str:
    """The thought in words: what is seen, what was done and remains, what is noted, why this action."""
    return " ".join(part for part in (_seen(step), _left(step), _noted(step), _why(step)) if part)


def names_in(intent: str, filling: dict, page: Observation) -> tuple[str, ...]:
    """What the intent names, in its order: the values it was filled with, what it quotes; without either, labels of the page."""
    given = [str(value) for value in filling.values()] + re.findall(r'"([^"]+)"', intent)
    labels = [label for e in page.elements if e.id is not None for label in (e.label, *e.options) if len(label) > 1]
    found = {value: at for value in given if (at := _place(value, intent)) is not None}
    found = found or {label: at for label in labels if (at := _place(label, intent)) is not None}
    whole = [v for v in found if not any(v != other and _place(v, other) is not None for other in found)]
    return tuple(sorted(whole, key=found.get))


def done(step: Step) -> Done:
    """The step as a later one remembers it."""
    action, element = step.action, step.element
    label, text = (brief(element.label) if element else "", brief(action.argument or ""))
    phrase = {
        "Click": f"clicked {label}", "Right Click": f"right-clicked {label}", "Hover": f"pointed at {label}",
        "Type": f"typed {text} into {label}", "Search": f"searched for {text}", "Select Dropdown Option": f"selected {text} in {label}",
        "Press Enter": "pressed Enter", "Scroll Up": "scrolled up", "Scroll Down": "scrolled down", "Switch Tab": f"went to tab {text}",
        "Wait": "waited", "go_backward": "went back", "go_forward": "went forward", "exit": "ended",
    }[action.action or action.call]  # fmt: skip
    beside = [e.label for e in _row_of(step)] if element else []
    touched = "" if action.action == "Search" else "\n".join([element.label if element else "", action.argument or "", *beside])
    return Done(phrase, touched, step.notes)


# ---- what is seen ----------------------------------------------------------------------------------------------------------------


def _seen(step: Step) -> str:
    page, element = step.page, step.element
    says = f", which says {brief(message(page), 80)}" if message(page) else ""
    told = f" The browser tells: {brief(page.notices[-1], 80)}." if page.notices else ""
    content = page.elements[_first_heading(page) + 1 :]
    rows = [cells_of[0].label for cells_of in _rows(content)]
    fields = [e.label for e in content if e.role in FIELDS]
    links = [e.label for e in content if e.role in ("link", "tab")]
    buttons = [e.label for e in content if e.role == "button"]
    others = [e.label for e in content if e.id is not None]
    at_form = element is not None and element.role in (*FIELDS, "button") and element in content
    kinds = [("rows", rows), ("fields", fields), ("links", links), ("buttons", buttons), ("elements", others)]
    for what, labels in [("fields", fields), *kinds] if at_form else kinds:
        labels = [brief(label) for label in dict.fromkeys(labels) if label]
        if labels:
            return f"I am on {_title(page)}{says}, with the {what if len(labels) > 1 else what[:-1]} {_listed(labels, 2)}.{told}"
    return f"I am on {_title(page)}{says}.{told}"


def message(page: Observation) -> str:
    """What the page tells about the last action: a sentence between its navigation and its first heading; "" without one."""
    at = _first_heading(page)
    text = page.elements[at - 1] if at > 0 else None
    return text.label if text is not None and text.role == "text" and text.label.endswith((".", "!")) else ""


def _title(page: Observation) -> str:
    return brief(page.title, 60) or "a page without a title"


def _first_heading(page: Observation) -> int:
    """The index of the first heading, -1 without one."""
    return next((i for i, e in enumerate(page.elements) if e.role == "heading"), -1)


def _rows(elements) -> list[list[Element]]:
    found: dict[int, list[Element]] = {}
    for element in elements:
        if element.row is not None:
            found.setdefault(element.row, []).append(element)
    return list(found.values())


# ---- what was done, what remains -------------------------------------------------------------------------------------------------


def _left(step: Step) -> str:
    before = [one.phrase for one in step.before[-2:]]
    past = f"Before this I {' and then '.join(before)}" if before else "Nothing is done yet"
    if step.action.call == "exit":
        return f"{past}."
    rest = [brief(name) for name in open_names(step)]
    if step.intent.rstrip().endswith("?"):
        left = "the answer is still to be found" + (f", and open: {_listed(rest, 3)}" if rest else "")
    elif rest:
        left = f"still open: {_listed(rest, 3)}"
    else:
        left = "all that the task names is taken up, its last steps remain" if step.names else "the task is not done yet"
    return f"{past}; {left}."


def open_names(step: Step) -> list[str]:
    """What the intent names and no earlier step has dealt with, nor is open, chosen or ticked on the page."""
    page_name = step.page.title.partition(": ")[2] or step.page.title
    settled = [page_name] + [e.value or "" for e in step.page.elements if e.role == "select"]
    settled += [e.label for e in step.page.elements if {"checked", "selected", "pressed"} & set(e.state)]
    touched = "\n".join(one.touched for one in step.before)
    return [name for name in step.names if _place(name, touched) is None and name.lower() not in (text.lower() for text in settled)]


# ---- what is noted ---------------------------------------------------------------------------------------------------------------


def _noted(step: Step) -> str:
    if not step.notes or step.action.call == "exit":
        return ""
    return f"I will need {_listed([_subject(note) for note in step.notes], 2)} later, so I note it."


def _subject(line: str) -> str:
    """What a line of a page is about: `row Total | $5.00` is about Total."""
    return brief(re.sub(r"^((row|text|heading|link|button|textbox) )+|( = .*)?( \[\d+\])+$", "", cells(line)[0]))


# ---- why this action -------------------------------------------------------------------------------------------------------------


def _why(step: Step) -> str:
    action, text = step.action, brief(step.action.argument or "")
    if action.call == "exit":
        return _why_exit(step)
    if action.call != "do":
        return f"The way on starts from the page {'before' if action.call == 'go_backward' else 'after'} this one, so I go there."
    if action.action == "Click":
        return f"{_why_element(step)}, so I click it."
    if action.action in ("Hover", "Right Click"):
        do = "point at it" if action.action == "Hover" else "right-click it"
        return f"{_why_element(step)} and may show more, so I {do}."
    if action.action in ("Type", "Select Dropdown Option", "Search"):
        return _why_field(step)
    if action.action == "Switch Tab":
        number = int(text) if text.isdecimal() else -1
        name = f", {brief(step.page.tabs[number], 60)}," if 0 <= number < len(step.page.tabs) else ""
        return f"The next step is on tab {text}{name} so I go there."
    if action.action in ("Scroll Down", "Scroll Up"):
        way = action.action.removeprefix("Scroll ").lower()
        return f"{_missing(step) or 'What I look for is not in what I see'}, and the page goes on, so I scroll {way}."
    if action.action == "Press Enter":
        return "What is to be entered stands in its place, so I press Enter."
    return "The page may still change, so I wait."


def _missing(step: Step) -> str:
    """The first open name that the page does not show, rather a proper one or a number, as the beginning of a sentence."""
    names = [name for name in open_names(step) if _place(name, _shown(step.page)) is None]
    name = next((name for name in names if name != name.lower() or any(c.isdigit() for c in name)), names[0] if names else "")
    return f"{brief(name)} is not shown here" if name else ""


def _why_element(step: Step) -> str:
    """The beginning of a sentence: what speaks for the element. The first of these reasons that holds."""
    element = step.element
    name = _called(element)
    if element.role in ("checkbox", "radio"):
        wanted = any(_place(name, element.label) is not None for name in step.names) or _place(element.label, step.intent) is not None
        state = "is checked" if "checked" in element.state else "is not checked yet"
        return f"{name} {state}, and the task {'names it' if wanted else 'does not name it' if 'checked' in element.state else 'needs it'}"
    held = _filled_in(step)
    if element.role == "button" and held:
        return f"{_listed(held, 3)}, as it should be, and {_lower(name)} completes it"
    row = _row_of(step)
    beside = [brief(e.label, 30) for e in row if e.label and e.id is None]
    if any(_place(one, element.label) is not None for one in step.names) or _all_words(element.label, step.intent):
        return f"{name}{f', in the row with {_listed(beside, 2)},' if beside else ''} is what the task names"
    neighbours = [brief(one) for one in step.names if any(_place(one, e.label) is not None for e in row)]
    if neighbours:
        return f"{name} stands in the row of {_listed(neighbours, 2)}, which the task names"
    kind = next((one for one in beside if _shared_word(one, step.intent)), None)
    if kind:
        return f"{name} stands in the row of {kind}, of which the task speaks"
    noted = next((note for note in _notes(step) if element.label and _place(element.label, note) is not None), None)
    if noted:
        return f"{name} is what my note on {_subject(noted)} says"
    number = _row_number(step.page, element)
    if number:
        return f"{name} is in row {number} of its list"
    word = _shared_word(element.label, step.intent)
    if word:
        return f"The task speaks of {word}, and {_lower(name)} has to do with it"
    missing = _missing(step)
    return f"{missing}, and {_lower(name)} should lead on to it" if missing else f"{name} is the way on from here"


def _why_field(step: Step) -> str:
    """A text or an option that is put into a field: what the field holds, and where the text comes from."""
    element, text = step.element, step.action.argument or ""
    sources = (("the task", step.intent), ("my note", "\n".join(_notes(step))), ("this page", _shown(step.page)))
    source = next((f", as {who} says" for who, said in sources if _place(text, said) is not None), "")
    if step.action.action == "Search":
        why = "This page does not show" if _place(text, _shown(step.page)) is None else "The next thing to find is"
        return f"{why} {brief(text)}, so I look for it with {_lower(_called(element))}{source}."
    holds = f"holds {brief(element.value, 30)}" if element.value else "is empty"
    do = "select" if step.action.action == "Select Dropdown Option" else "type"
    return f"{_called(element)} {holds}, and it should be {brief(text)}{source}, so I {do} that."


def _why_exit(step: Step) -> str:
    answer, source = brief(step.action.message or "", 30), step.source
    lines = step.page.text.splitlines()
    if step.action.message == "N/A":
        said = f"The page says {brief(_said(source))}" if source in lines else "I find nothing here that answers it"
        return f"{said}, so what the task asks for cannot be had and I end with {answer}."
    if source == step.action.message == "done":
        said = message(step.page)
        reached = f"The page says {brief(said, 80)}" if said else _reached(step)
        return f"{reached}; nothing is left to do, so I end."
    earlier = [note for one in step.before for note in one.notes]
    beside = f"Beside my notes on {_listed([_subject(note) for note in dict.fromkeys(earlier)], 2)}, this" if earlier else "This"
    if source in lines:
        link = next((e for e in step.page.elements if e.role == "link" and e.row is not None and element_line(e) in source), None)
        number = _row_number(step.page, link) if link and not any(_place(name, source) is not None for name in step.names) else 0
        where = f" in row {number} of its list" if number else ""
        return f"{beside} page says{where} {brief(_said(source), 60)}, so the answer is {answer}."
    if source in earlier:
        return f"My note on {_subject(source)} gives the answer, so I end with {answer}."
    counted = f"I count {_listed([brief(note) for note in step.notes], 2)}" if step.notes else "This page gives the answer"
    return f"{counted}, so I end with {answer}."


def _reached(step: Step) -> str:
    """What of the task can be seen to be done, where the page tells nothing itself."""
    fields = [f"{brief(e.label, 30)} is {brief(e.value)}" for e in step.page.elements if e.role in FIELDS and e.value and e.value in step.names]
    marked = [f"{brief(e.label)} is {state}" for e in step.page.elements for state in e.state if state in ("checked", "selected", "pressed")]
    found = fields + [f"{brief(name)} is open" for name in step.names if name.lower() in step.page.title.lower()] + marked
    return _listed(found, 2) if found else f"The last step, where I {step.before[-1].phrase}, is taken" if step.before else "It is so already"


def _filled_in(step: Step) -> list[str]:
    """What earlier steps have put into the fields of this page, as far as the page still shows it."""
    touched = {line for one in step.before for line in one.touched.splitlines()}
    fields = [e for e in step.page.elements if e.role in FIELDS and e.label and e.label in touched]
    return [f"{brief(e.label, 30)} is {brief(e.value) if e.value else 'checked'}" for e in fields
            if "checked" in e.state or e.value and e.value in touched]  # fmt: skip


def _row_of(step: Step) -> list[Element]:
    """What else is in the table row of the step's element."""
    element = step.element
    return [e for e in step.page.elements if e.row is not None and element is not None and e.row == element.row and e is not element]


def _row_number(page: Observation, element: Element) -> int:
    """Which of the rows that are made like its own the element's row is, from 1; 0 if there is no other, or some above may be cut off."""
    if element.row is None or "scroll up for more" in page.text:
        return 0
    rows = {members[0].row: [e.role for e in members] for members in _rows(page.elements)}
    alike = [row for row, roles in rows.items() if roles == rows[element.row]]
    return 1 + alike.index(element.row) if len(alike) > 1 else 0


def _notes(step: Step) -> list[str]:
    return [note for one in step.before for note in one.notes] + list(step.notes)


def _shown(page: Observation) -> str:
    """The page's text without the ids of its elements, which are no numbers that a task could mean."""
    return re.sub(r" \[\d+\]", "", page.text)


def _said(line: str) -> str:
    """A line of the page without roles and ids, which are no one's words."""
    return re.sub(r"\b(row|text|heading|link|textbox) | \[\d+\]", "", line)


# ---- words -----------------------------------------------------------------------------------------------------------------------


def brief(text: str, limit: int = 40) -> str:
    """The text on one line without a full stop at its end, cut between words to at most `limit` characters."""
    text = " ".join(text.split())
    text = text.removesuffix(".") or text
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def _called(element: Element) -> str:
    """`The link Orders`"""
    return f"The {NOUNS.get(element.role, element.role)} {brief(element.label) or 'without a name'}"


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _listed(items: list[str], most: int) -> str:
    shown = items[:most]
    if len(items) > most:
        return ", ".join(shown) + " and more"
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)


def _place(part: str, text: str) -> int | None:
    """Where `part` stands in `text` as whole words, in any case; None if nowhere."""
    found = re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text, re.IGNORECASE) if part else None
    return found.start() if found else None


def _words(text: str) -> list[str]:
    return [word.removesuffix("s") for word in re.findall(r"\w+", text.lower())]


def _all_words(label: str, intent: str) -> bool:
    words = _words(label)
    return bool(words) and set(words) <= set(_words(intent))


def _shared_word(label: str, intent: str) -> str:
    """The first word of some length that both have, as the intent writes it."""
    known = {word for word in _words(label) if len(word) > 3}
    return next((word for word in re.findall(r"\w+", intent) if word.lower().removesuffix("s") in known), "")
