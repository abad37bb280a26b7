"""Frames of other origins with pages that answer as told: which of them are waited for, and how what they say is put together. In Chromium: test_kinds."""

import asyncio
import json

import pytest
from playwright.async_api import Error as PlaywrightError

from wr1_utils.web.frames import look_into_frames, merge_realms

PRESENT, COMING, NONE = "present", "coming", "none"


def entry(role, label, **more):
    return {"role": role, "label": label, "row": None, "interactive": role == "button", "box": [10, 20, 30, 40], "in_view": True, **more}


def seen(*elements):
    return {"busy": {"navigating": False, "opened": 0, "wait": 0}, "url": "http://x/", "title": "Shop", "anchor": 0, "elements": list(elements)}


class Frame:
    """A frame whose script sees `raw`; `state` says whether it is there, is still to come (asking it fails) or is no element of its parent."""

    def __init__(self, parent=None, raw=None, hole=0, state=PRESENT):
        self.parent_frame, self.raw, self.hole, self.state = parent, raw, hole, state

    async def frame_element(self):
        if self.state == COMING:
            raise PlaywrightError("Frame has been detached")
        return Holder(self)

    async def evaluate(self, script, request):
        return json.dumps(self.raw)


class Holder:
    def __init__(self, frame):
        self.frame = frame

    async def evaluate(self, mark, generation):
        return None if self.frame.state == NONE else self.frame.hole


class Page:
    def __init__(self, *frames):
        self.frames, self.main_frame = frames, frames[0]


@pytest.fixture
def page():
    """A page with a frame at its second element, in which another one stands at the first."""
    main = Frame(raw=seen(entry("text", "Pay here"), entry("frame", "Payment", origin=[100, 200]), entry("button", "Back")))
    outer = Frame(main, seen(entry("frame", "Bank", origin=[5, 6]), entry("button", "Next")), hole=1)
    inner = Frame(outer, seen(entry("button", "Confirm")))
    return Page(main, outer, inner)


def look(page, force=False):
    return asyncio.run(look_into_frames(page, page.main_frame.raw, {"generation": 1, "force": force, "stay": False}))


def test_a_frame_in_a_frame_that_is_still_to_come_is_waited_for(page):
    page.frames[2].state = COMING
    realms, busy = look(page)
    assert len(realms) == 2 and busy == {"opened": 0, "navigating": False, "wait": 20}
    page.frames[2].state = PRESENT
    realms, busy = look(page)
    assert busy is None and [(realm.frame, realm.parent, realm.hole) for realm in realms] == [
        (page.frames[0], None, None), (page.frames[1], 0, 1), (page.frames[2], 1, 0)]


def test_a_frame_that_has_not_come_when_the_time_is_over_is_said_to_be_unreadable(page):
    page.frames[2].state = COMING
    realms, busy = look(page, force=True)
    assert busy is None
    merged, _ = merge_realms(realms)
    assert [(e["role"], e["label"]) for e in merged["elements"]] == [
        ("text", "Pay here"), ("text", "frame that cannot be read Bank"), ("button", "Next"), ("button", "Back")]


def test_a_frame_that_is_not_shown_is_not_waited_for(page):
    """Nothing among the elements of the frame around it stands for it."""
    page.frames[1].raw["elements"].pop(0)
    page.frames[2].state = NONE
    realms, busy = look(page)
    assert len(realms) == 2 and busy is None


def test_what_a_frame_is_still_busy_with_is_waited_for(page):
    page.frames[1].raw = {"busy": {"navigating": False, "opened": 0, "wait": 35}}
    assert look(page)[1]["wait"] == 35


def test_the_elements_of_all_frames_in_reading_order_and_in_the_place_where_they_stand(page):
    merged, places = merge_realms(look(page)[0])
    assert [(e["label"], e["box"]) for e in merged["elements"]] == [
        ("Pay here", [10, 20, 30, 40]), ("Confirm", [115, 226, 30, 40]), ("Next", [110, 220, 30, 40]), ("Back", [10, 20, 30, 40])]
    assert places == [(0, 0), (2, 0), (1, 1), (0, 2)]


def test_a_page_without_such_frames_is_as_it_is():
    raw = seen(entry("text", "Alone"))
    realms, busy = look(Page(Frame(raw=raw)))
    assert busy is None and merge_realms(realms) == (raw, [(0, 0)])
