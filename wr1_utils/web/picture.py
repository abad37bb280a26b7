"""A picture of what the agent saw, for people: the page as a JPEG, and where in it the element stands that is acted on."""

from __future__ import annotations

from dataclasses import dataclass

from wr1_utils.web.actions import Action
from wr1_utils.web.browser import limited
from wr1_utils.web.execution import Hands

PICTURE_S = 10.0  # limit of taking one
QUALITY = 60  # of the JPEG, of 100
SCROLL_THERE = ("Click", "Right Click", "Hover", "Type", "Search")  # actions that bring their element into view


@dataclass(frozen=True)
class Picture:
    jpeg: bytes
    box: tuple[float, float, float, float] | None  # x, y, width, height of the element in pixels of the picture


async def take_picture(hands: Hands, action: Action | None) -> Picture:
    """What the page's viewport shows before `action`, and the box of its element. Raises InfrastructureError.

    An action that will scroll to its element is forestalled in that, so that the element is seen and the episode goes the same way as
    without the picture; nothing else changes in the page.
    """
    node = element = None
    if action is not None and action.element is not None:
        element = next((one for one in hands.view.observation.elements if one.id == int(action.element)), None)
        node = None if element is None else hands.view.nodes[element.id]
    box = None if element is None else element.box
    if node is not None and action.action in SCROLL_THERE:
        place = await hands.locate(node)
        if "error" not in place:
            left, top, width, height = place["around"]
            box = (place["x"] + left, place["y"] + top, width, height)
    look = hands.page.screenshot(type="jpeg", quality=QUALITY, caret="initial", timeout=1000 * PICTURE_S)
    return Picture(await limited(look, PICTURE_S + 1, "taking a screenshot"), box)
