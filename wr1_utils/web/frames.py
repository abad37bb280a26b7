"""Frames of other origins: a page's script cannot look into them, so each is asked by itself, and what they answer is put together.

A *realm* is a frame with all that its script reaches: the page, or a frame of another origin with what stands in it. The script of a realm
lists such a frame as an element of the role `frame`; here the frame's own elements take its place. Pages without one cost nothing more.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from wr1_utils.web.script import ask, load_json

LOOK_S = 10.0  # for all frames of other origins together; what has not answered then is said to be unreadable
MARK = "(frame, generation) => frame.__wr1_frame?.generation === generation ? frame.__wr1_frame.node : null"


@dataclass(frozen=True)
class Realm:
    """`hole` is the index, among the elements of realm number `parent`, of the frame that this realm stands in; the page's own has neither."""
    frame: Frame
    raw: dict
    parent: int | None = None
    hole: int | None = None


async def look_into_frames(page: Page, raw: dict, request: dict) -> tuple[list[Realm], dict | None]:
    """The realms of a page whose own script answered `raw` to `request`, parents first; and what a frame is still busy with, or None."""
    realms = [Realm(page.main_frame, raw)]
    if not any(entry["role"] == "frame" for entry in raw["elements"]):
        return realms, None
    try:
        return realms, await asyncio.wait_for(_fill(page, request, realms), LOOK_S)
    except TimeoutError:
        return realms, None


async def _fill(page: Page, request: dict, realms: list[Realm]) -> dict | None:
    within = {page.main_frame: 0}  # frame -> number of its realm
    for frame in page.frames[1:]:  # a frame comes after the one that it stands in
        if frame.parent_frame not in within:
            continue
        within[frame] = within[frame.parent_frame]
        try:
            holder = await frame.frame_element()
            hole = await holder.evaluate(MARK, request["generation"])
            if hole is None:  # the realm's own script has looked into it, or it is not shown
                continue
            raw = load_json(await ask(frame, {**request, "stay": request["force"]}))
        except PlaywrightError:  # gone or being replaced meanwhile
            continue
        if "elements" not in raw or raw["busy"]["opened"]:
            return raw["busy"]
        realms.append(Realm(frame, raw, within[frame], hole))
        within[frame] = len(realms) - 1
    seen = sum(entry["role"] == "frame" for realm in realms for entry in realm.raw["elements"])
    if seen >= len(realms) and not request["force"]:  # one of them is still to come, as a frame in a frame may be
        return {"opened": 0, "navigating": False, "wait": 20}
    return None


def merge_realms(realms: list[Realm], anchored: Frame | None = None) -> tuple[dict, list[tuple[int, int]]]:
    """The page's raw observation with the elements of all realms in reading order, and for each element (realm, index in it).

    The anchor is that of the realm of the frame `anchored`, where one has it.
    """
    if len(realms) == 1 and not any(entry["role"] == "frame" for entry in realms[0].raw["elements"]):
        return realms[0].raw, [(0, index) for index in range(len(realms[0].raw["elements"]))]
    numbers = {(realm.parent, realm.hole): number for number, realm in enumerate(realms)}
    elements: list[dict] = []
    places: list[tuple[int, int]] = []
    rows = 0

    def add(number: int, x: float, y: float, in_view: bool) -> None:
        nonlocal rows
        first_row = rows
        for index, entry in enumerate(realms[number].raw["elements"]):
            left, top, width, height = entry["box"]
            moved = {**entry, "box": [left + x, top + y, width, height], "in_view": entry.get("in_view", False) and in_view}
            if entry.get("row") is not None:
                moved["row"] = first_row + entry["row"]
                rows = max(rows, moved["row"] + 1)
            inner = numbers.get((number, index))
            if inner is not None:
                add(inner, x + entry["origin"][0], y + entry["origin"][1], moved["in_view"])
                continue
            if entry["role"] == "frame":
                moved |= {"role": "text", "label": " ".join(["frame that cannot be read", entry["label"]]).strip()}
            elements.append(moved)
            places.append((number, index))

    add(0, 0, 0, True)
    main = next((number for number, realm in enumerate(realms) if realm.frame is anchored), 0)
    anchor = (main, realms[main].raw["anchor"])
    return {**realms[0].raw, "elements": elements, "anchor": places.index(anchor) if anchor in places else 0}, places
