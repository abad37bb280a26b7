"""What every scripted expert needs: finding elements on an observed page, and writing replies in the think format.

An expert is a pure function ``expert(task, intent, observation, memory) -> reply``. It sees what the agent sees and nothing
else, and finds elements only through ``observation.elements``. ``memory`` is a dict that the caller keeps for one episode.

The thought of a reply copies lines of the page: ``# Note:`` for what must be remembered (earlier pages are compressed away, the
agent's own words are not), ``# Element:`` for what is acted on, ``# Answer:`` for where the answer stands.
"""

from wr1_utils.web.observation import Element, Observation, element_mention


class ExpertError(RuntimeError):
    """The expert cannot go on: the page is not the one that its script expects."""


def find_all(observation: Observation, role: str, label: str | None = None, *, contains: str | None = None,
             row: int | None = None) -> list[Element]:
    """All elements of `role`, in reading order; `label` must be equal, `contains` a part of the label, `row` the table row."""
    return [e for e in observation.elements
            if e.role == role
            and (label is None or e.label == label)
            and (contains is None or contains in e.label)
            and (row is None or e.row == row)]


def find(observation: Observation, role: str, label: str | None = None, *, contains: str | None = None,
         row: int | None = None) -> Element | None:
    """The first element that `find_all` would give, or None."""
    found = find_all(observation, role, label, contains=contains, row=row)
    return found[0] if found else None


def need(observation: Observation, role: str, label: str | None = None, *, contains: str | None = None,
         row: int | None = None) -> Element:
    """As `find`, but raises ExpertError when the page has no such element."""
    element = find(observation, role, label, contains=contains, row=row)
    if element is None:
        wanted = label if label is not None else contains if contains is not None else "(any label)"
        raise ExpertError(f"no {role} {wanted!r} on the page {observation.title!r} ({observation.url})")
    return element


def row_of(observation: Observation, text: str) -> int | None:
    """The index of the first table row holding an element whose label is `text`."""
    return next((e.row for e in observation.elements if e.row is not None and e.label == text), None)


def page_line(observation: Observation, text: str) -> str:
    """The first line of the page that contains `text`, as printed (what a `# Note:` or `# Answer:` copies)."""
    for line in observation.text.splitlines():
        if text in line:
            return line
    raise ExpertError(f"no line with {text!r} on the page {observation.title!r} ({observation.url})")


def cells(line: str) -> list[str]:
    """The cells of a printed table row: ``row Price | $12.50`` gives ``["Price", "$12.50"]``."""
    return line.removeprefix("row ").split(" | ")


def quote(text: str) -> str:
    """`text` as a double-quoted string of the action grammar."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def reply(call: str, *thought: str) -> str:
    """A reply in the think format: the lines of the thought, then the call."""
    return "<think>" + "\n".join(thought) + f"</think>\n<answer>{call}</answer>"


def _act(action: str, element: Element, argument: str | None, notes: tuple[str, ...]) -> str:
    if element.id is None:
        raise ExpertError(f"{element.role} {element.label!r} has no id, so nothing can be done with it")
    given = "" if argument is None else f"argument={quote(argument)}, "
    call = f'do(action="{action}", {given}element="{element.id}")'
    return reply(call, *(f"# Note: {note}" for note in notes), f"# Element: {element_mention(element)}")


def click(element: Element, *notes: str) -> str:
    return _act("Click", element, None, notes)


def type_text(element: Element, text: str, *notes: str) -> str:
    return _act("Type", element, text, notes)


def search(element: Element, text: str, *notes: str) -> str:
    """Type `text` and press Enter."""
    return _act("Search", element, text, notes)


def select(element: Element, option: str, *notes: str) -> str:
    return _act("Select Dropdown Option", element, option, notes)


def hover(element: Element, *notes: str) -> str:
    return _act("Hover", element, None, notes)


def right_click(element: Element, *notes: str) -> str:
    return _act("Right Click", element, None, notes)


def press_enter(element: Element, *notes: str) -> str:
    """Press Enter in `element`, whatever it holds."""
    return _act("Press Enter", element, None, notes)


def without_element(call: str, *notes: str) -> str:
    """A call that acts on no element, such as ``go_backward()`` or ``do(action="Scroll Down")``."""
    return reply(call, *(f"# Note: {note}" for note in notes))


def scroll_down(*notes: str) -> str:
    return without_element('do(action="Scroll Down")', *notes)


def scroll_up(*notes: str) -> str:
    return without_element('do(action="Scroll Up")', *notes)


def wait(seconds: int, *notes: str) -> str:
    return without_element(f'do(action="Wait", argument="{seconds}")', *notes)


def exit_with(answer: str, line: str, *notes: str) -> str:
    """Ends the episode with `answer`; `line` is what the thought gives as its source (a copied page line, or the answer)."""
    return reply(f"exit(message={quote(answer)})", *(f"# Note: {note}" for note in notes), f"# Answer: {line}")
