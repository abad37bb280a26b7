"""The action grammar: every reply of the shared cases is read as they say, and no text whatever raises."""

import json
import random
from pathlib import Path

import pytest

from wr1_utils.web.actions import Action, Invalid, parse_reply

CASES = json.loads((Path(__file__).parents[1] / "cases" / "actions.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_shared_case(case):
    expected, got = case["expect"], parse_reply(case["reply"], case["style"])
    if "invalid" in expected:
        assert isinstance(got, Invalid) and got.kind == expected["invalid"] and got.message
    else:
        assert got == Action(**expected)


@pytest.mark.parametrize("reply, expected", [
    ('do(action="Type", argument="a, element=9", element="2")', Action("do", "Type", "2", "a, element=9")),
    ('do(element="2", argument="x", action="Search")', Action("do", "Search", "2", "x")),
    ('do(action="Click", element="[12]")', Action("do", "Click", "12")),
    ('exit(message="say \\"yes\\" (or "no"), then go")', Action("exit", message='say "yes" (or "no"), then go')),
    ('exit(message="C:\\\\temp")', Action("exit", message="C:\\temp")),
    ('do(action="Press Enter")  # sends it', Action("do", "Press Enter")),
    ('exit(message=5)', Action("exit", message="5")),
])
def test_forgiven(reply, expected):
    """Order of arguments, brackets round an id, inner quotes and trailing comments do not change the meaning."""
    assert parse_reply(reply, "bare") == expected


@pytest.mark.parametrize("reply, kind", [
    ('do(action="Click", element="7") or do(action="Click", element="8")', "not an action"),
    ('do(action="Click", element="the link")', "not an element"),
    ('do(action="Click", element="1", element="2")', "not an action"),
    ('go_backward(1)', "not an action"),
    ('exit(answer="x")', "not an action"),
    ('do()', "unknown action"),
    ('do(action="Click", element=', "cut off"),
    ('exit(message=1+1)', "not an action"),
    ('I click.', "not an action"),
    ('', "no action"),
])
def test_refused(reply, kind):
    got = parse_reply(reply, "bare")
    assert isinstance(got, Invalid) and got.kind == kind


def test_any_text_is_read_without_raising():
    """Random texts made of the grammar's own pieces give an Action or an Invalid, never an exception."""
    pieces = ["<think>", "</think>", "<answer>", "</answer>", "do(", "exit(", "go_forward(", ")", '"', "'", "\\", ",", "action=",
              "element=", "message=", "Click", "7", " ", "\n", "#", "ü"]
    rng = random.Random(0)
    for _ in range(5000):
        text = "".join(rng.choice(pieces) for _ in range(rng.randint(0, 14)))
        for style in ("think", "bare"):
            assert isinstance(parse_reply(text, style), (Action, Invalid))


def test_unknown_style():
    with pytest.raises(ValueError, match="think"):
        parse_reply("exit()", "loud")
