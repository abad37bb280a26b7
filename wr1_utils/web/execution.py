"""Execution: one `Action` done in the page by mouse and keyboard, at the place that the page's script points to.

Each function returns None, or a sentence for the agent that says why the action had no (full) effect. Deviation from the paper's
code: no fixed sleep after an action (the episode waits until the page is quiet), and what was typed is read back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from playwright.async_api import Page

from wr1_utils.web.actions import Action
from wr1_utils.web.browser import limited
from wr1_utils.web.frames import Realm
from wr1_utils.web.observation import View, element_line
from wr1_utils.web.script import ask, load_json

ANSWER_S = 10.0  # a page that answers a click or a script no sooner than this hangs
TYPED_LENGTH = 1  # last characters of a text that are typed key by key (pages listen for keys); what stands before is inserted at once

_FORMATS = {
    "date": ("%Y-%m-%d", ("%Y-%m-%d", "%m/%d/%Y", "%m-%d-%Y", "%d.%m.%Y", "%Y/%m/%d", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%B %d %Y",
                          "%m/%d/%y")),
    "time": ("%H:%M", ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M%p", "%I %p")),
    "month": ("%Y-%m", ("%Y-%m", "%m/%Y", "%B %Y", "%b %Y")),
    "datetime-local": ("%Y-%m-%dT%H:%M", ("%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%m/%d/%Y %H:%M", "%m/%d/%Y %I:%M %p")),
    "week": ("", ()), "color": ("", ()), "range": ("", ()),
}


@dataclass(frozen=True)
class Hands:
    """A page, what the agent last saw of it, and the number of that observation."""
    page: Page
    view: View
    generation: int
    realms: list[Realm]
    places: list[tuple[int, int]]  # of each node of the view: its realm, and its index there

    async def ask(self, call: str, node: int | None = None, **more) -> dict:
        """One call of the script of the realm that the node is in. Raises InfrastructureError when the page hangs."""
        realm, index = (0, None) if node is None else self.places[node]
        return await self._ask(realm, call, index, **more)

    async def locate(self, node: int) -> dict:
        """Where in the page's viewport to click, after scrolling there; {"error": text for the agent} where that cannot be done."""
        realm, index = self.places[node]
        place = await self._ask(realm, "locate", index)
        while "error" not in place and realm:
            inner, realm = self.realms[realm], self.realms[realm].parent
            place |= await self._ask(realm, "through", inner.hole, x=place["x"], y=place["y"])
        return place

    async def _ask(self, realm: int, call: str, index: int | None, **more) -> dict:
        request = {"call": call, "generation": self.generation, "node": index, **more}
        return load_json(await limited(ask(self.realms[realm].frame, request), ANSWER_S, "a script in the page"))


async def execute(hands: Hands, action: Action) -> str | None:
    """Do a `do` action other than Wait and Switch Tab. Raises InfrastructureError when the page hangs."""
    if action.action in ("Scroll Down", "Scroll Up"):
        down = action.action == "Scroll Down"
        cut = hands.view.below is not None or hands.view.above is not None
        moved = await hands.ask("scroll", hands.view.below if down else hands.view.above, down=down, cut=cut)
        return None if moved["moved"] else f"the page does not go on further {'down' if down else 'up'}"
    if action.element is None:  # Press Enter, where the focus is
        await _answered(hands.page.keyboard.press("Enter"), "pressing Enter")
        return None
    ids = len(hands.view.nodes)
    number = int(action.element)
    if number >= ids:
        return f"there is no element [{number}]; " + (f"ids go from 0 to {ids - 1}" if ids else "the page has none")
    work: Callable[[Hands, int, Action], Awaitable[str | None]] = {
        "Click": _click, "Right Click": _click, "Hover": _click, "Type": _type, "Search": _type,
        "Select Dropdown Option": _select, "Press Enter": _press_enter}[action.action]
    error = await work(hands, hands.view.nodes[number], action)
    if error is None:
        return None
    element = next(e for e in hands.view.observation.elements if e.id == number)
    return f"{element_line(element)}: {error}"


async def _answered(work: Awaitable, what: str):
    return await limited(work, ANSWER_S, what)


async def _click(hands: Hands, node: int, action: Action) -> str | None:
    place = await hands.locate(node)
    if "error" in place:
        return place["error"]
    if place["tag"] == "SELECT" and action.action == "Click":
        return "is a dropdown list; use Select Dropdown Option"
    if action.action == "Hover":
        await _answered(hands.page.mouse.move(place["x"], place["y"]), "moving the mouse")
    else:
        button = "right" if action.action == "Right Click" else "left"
        await _answered(hands.page.mouse.click(place["x"], place["y"], button=button), f"a click on element [{action.element}]")
    return None


async def _select(hands: Hands, node: int, action: Action) -> str | None:
    return (await hands.ask("select", node, option=action.argument)).get("error")


async def _press_enter(hands: Hands, node: int, action: Action) -> str | None:
    found = await hands.ask("focus", node, select=False)
    if "error" not in found:
        await _answered(hands.page.keyboard.press("Enter"), "pressing Enter")
    return found.get("error")


async def _type(hands: Hands, node: int, action: Action) -> str | None:
    """Replace what the field holds; typing never submits, Search presses Enter afterwards."""
    place = await hands.locate(node)
    if "error" in place:
        return place["error"]
    if place["role"] != "textbox":
        return f"is a {place['role']}, nothing can be typed there"
    if place["readonly"]:
        return "is readonly"
    if place["type"] in _FORMATS:
        error = await _set(hands, node, place["type"], action.argument)
    else:
        error = await _type_text(hands, node, place, action.argument)
    if error is None and action.action == "Search":
        await _answered(hands.page.keyboard.press("Enter"), "pressing Enter")
    return error


async def _type_text(hands: Hands, node: int, place: dict, text: str) -> str | None:
    await _answered(hands.page.mouse.click(place["x"], place["y"]), "a click on a field")
    found = await hands.ask("focus", node, select=True)
    if "error" in found:
        return found["error"]
    text = text.replace("\r\n", "\n") if place["multiline"] else " ".join(text.splitlines())
    keyboard = hands.page.keyboard
    if not text:
        await _answered(keyboard.press("Backspace"), "emptying a field")
    else:
        lines_in_rich_text = "\n" in text and place["tag"] != "TEXTAREA"  # the browser misplaces the caret after these
        inserted = len(text) if lines_in_rich_text else max(len(text) - TYPED_LENGTH, text.rfind("\n") + 1)
        if inserted:
            await _answered(keyboard.insert_text(text[:inserted]), "typing")
        if text[inserted:]:
            await _answered(keyboard.type(text[inserted:]), "typing")
    held = (await hands.ask("read", node)).get("value")
    if held is None or held == text or held.split() == text.split():
        return None
    return f'the field now holds "{held}", not "{text}"'


async def _set(hands: Hands, node: int, kind: str, text: str) -> str | None:
    written, known = _FORMATS[kind]
    value = text.strip()
    for form in known:
        try:
            value = datetime.strptime(value, form).strftime(written)
            break
        except ValueError:
            continue
    found = await hands.ask("set", node, value=value)
    if "error" in found:
        return found["error"]
    if found["value"] == value or (kind in ("range", "color") and found["value"].lower() == value.lower()):
        return None
    example = {"color": "#ff8800", "week": "2022-W42", "range": ""}.get(kind, datetime(2022, 10, 21, 15, 30).strftime(written))
    example = f", as in {example}" if example else ""
    return f'"{text}" is no {kind} for this field{example}; it now holds "{found["value"]}"'
