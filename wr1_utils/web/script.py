"""The script that looks and acts in a page, and how a frame is asked by it.

It takes one request and answers in JSON. Every document gets it when it begins (see browser.py), so that a request is a few bytes and the page
runs what it has compiled already; sending the whole of it each time took more than a page of a hundred elements takes to be read.
"""

from __future__ import annotations

import json
from pathlib import Path

from playwright.async_api import Frame, Page


def _read(*names: str) -> str:
    return "".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in names)


ANSWER = "request => {\n" + _read("places.js", "colours.js", "names.js", "observation.js", "actions.js") + "}"
PREPARE = f"{_read('activity.js')}\nwindow.__wr1_activity.answer ||= {ANSWER};"  # for every document, before its own scripts
ASK = "request => window.__wr1_activity?.answer(request) ?? null"


async def ask(frame: Page | Frame, request: dict) -> str:
    """The answer of a frame's script to a request."""
    answer = await frame.evaluate(ASK, request)
    return await frame.evaluate(ANSWER, request) if answer is None else answer  # a document that none of our scripts was brought to


def load_json(answer: str) -> dict:
    """What a page's script answered; halves of characters, which pages may hold but no file and no tokenizer takes, become U+FFFD."""
    raw = json.loads(answer)
    return _mended(raw) if "\\ud" in answer else raw


def _mended(value):
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    return {key: _mended(item) for key, item in value.items()} if isinstance(value, dict) else value
