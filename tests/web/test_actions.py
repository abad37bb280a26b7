"""The action grammar: every reply of the shared cases is read as they say, and no text whatever raises."""

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wr1_utils.web.actions import ACTIONS, NEEDS_ARGUMENT, NEEDS_ELEMENT, Action, Invalid, parse_reply, print_action

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
    ('exit(message="the 15.6" laptop, a 7"")', Action("exit", message='the 15.6" laptop, a 7"')),
    ('exit(message="Titles:\\n"Blue"\\n"It\'s red".")', Action("exit", message='Titles:\n"Blue"\n"It\'s red".')),
    ("exit(message='It's the 'Sun', isn't it')", Action("exit", message="It's the 'Sun', isn't it")),
    ('exit(message="{"a": ["b","c"]}")', Action("exit", message='{"a": ["b","c"]}')),
    ('do(action="Type", argument="say "hi"", element="2")', Action("do", "Type", "2", 'say "hi"')),
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
    ('exit(message="ok", then do(action="Click")', "not an action"),
    ('exit("Type"(" )', "not an action"),
    ('exit("a" "b" "c")', "not an action"),
    ('exit(message="a"+"b")', "not an action"),
    ("exit('first') or exit('second')", "not an action"),
    ('do(action="Type", argument="a" or "b", element="2")', "not an action"),
    ('I click.', "not an action"),
    ('', "no action"),
])
def test_refused(reply, kind):
    got = parse_reply(reply, "bare")
    assert isinstance(got, Invalid) and got.kind == kind


@pytest.mark.parametrize("reply", ["exit(", "go_backward(", "do(", 'exit("a" or "b"', 'exit("Type"(" ', "exit(5,"])
def test_the_last_parenthesis_is_forgiven_only_after_an_argument(reply):
    """A closed answer whose call is broken off is no action, and above all no empty exit."""
    assert isinstance(parse_reply(f"<answer>{reply}</answer>"), Invalid)


@pytest.mark.parametrize("between", [" or ", " and ", ", ", " ", "; then ", " | ", " + ", ","])
@pytest.mark.parametrize("form", ["exit({0}{2}{1})", "exit({0}){2}exit({1})", "exit(message={0}){2}exit(message={1}"])
@pytest.mark.parametrize("quote", ['"', "'"])
def test_two_texts_are_not_one(form, between, quote):
    """Two answers, or two calls, are never read as one answer that holds the quotes and brackets between them."""
    for one in ("a", "N/A", "Done.", "7", "$5", "5'", "", "the end (now)"):
        for two in ("b", "8", "No.", "$5", "", "(c)"):
            reply = form.format(quote + one + quote, quote + two + quote, between)
            assert isinstance(parse_reply(f"<answer>{reply}</answer>"), Invalid), reply


PIECES = ["<think>", "</think>", "<answer>", "</answer>", "do(", "exit(", "go_backward(", "go_forward(", "exit", "do", '"', "'", "\\", "\\x3c",
          "\\u00e9", ",", "(", ")", "))", "action=", "element=", "argument=", "message=", "exit(message=\"", '")', *ACTIONS, "7", "[7]", "-1.5",
          "1e9", " ", "\n", "#", "# exit()\n", "ü", "\u2028", "\x00", "__import__('os')", "N/A", "None"]
SCRAPS = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=16).map("".join)
ANSWERS = SCRAPS.map(lambda text: f"<think>t</think><answer>{text}</answer>")  # most scraps have no answer; these do
CALL_OF_EXIT = re.compile(r"(?:\s*#[^\n]*\n)*\s*exit\s*\(")


def check_reply(reply: str):
    """Read in either style, a reply raises nothing; it exits only where a call of exit stands first; what is read can be printed and read again."""
    for style in ("think", "bare"):
        got = parse_reply(reply, style)
        assert isinstance(got, Invalid) and got.kind and got.message or isinstance(got, Action)
        if isinstance(got, Invalid):
            continue
        if got.call == "exit":
            answer = reply.split("</think>", 1)[-1].split("<answer>", 1)[1] if style == "think" else reply
            assert CALL_OF_EXIT.match(answer), "an exit out of garbage"
        printed = print_action(got)
        assert parse_reply(printed, "bare") == got == parse_reply(f"<think>t</think>\n<answer>{printed}</answer>", "think")


@given(SCRAPS | ANSWERS)
@settings(max_examples=1_500, deadline=None, derandomize=True, database=None)
def test_any_text_is_read(reply):
    check_reply(reply)


@pytest.mark.slow
@given(SCRAPS | ANSWERS)
@settings(max_examples=100_000, deadline=None, derandomize=True, database=None)
def test_a_hundred_thousand_texts_are_read(reply):
    check_reply(reply)


@st.composite
def actions(draw):
    call = draw(st.sampled_from(["do", "exit", "go_backward", "go_forward"]))
    if call == "exit":
        return Action("exit", message=draw(SCRAPS))
    if call != "do":
        return Action(call)
    name = draw(st.sampled_from(ACTIONS))
    element = st.integers(0, 10**6).map(str)
    return Action("do", name, draw(element if name in NEEDS_ELEMENT else st.none() | element),
                  draw(SCRAPS if name in NEEDS_ARGUMENT else st.none() | SCRAPS))


@given(actions())
@settings(max_examples=500, deadline=None, derandomize=True, database=None)
def test_every_action_can_be_printed(action):
    """Whatever stands in a text (quotes, backslashes, tags of the reply format), printing and reading it gives the same action."""
    printed = print_action(action)
    assert parse_reply(printed, "bare") == action == parse_reply(f"<think>t</think><answer>{printed}</answer>", "think")


@pytest.mark.parametrize("action, call", [
    (Action("do", "Type", "2", 'say "hi"\nC:\\new'), r'do(action="Type", argument="say \"hi\"\nC:\\new", element="2")'),
    (Action("exit", message="an <answer> of 1"), r'exit(message="an \x3canswer> of 1")'),
    (Action("go_forward"), "go_forward()"),
])
def test_printed_call(action, call):
    assert print_action(action) == call


def test_pieces_in_any_order():
    """Random texts made of the grammar's own pieces, by a plain generator: a second, cheaper net."""
    rng = random.Random(0)
    for _ in range(2000):
        check_reply("".join(rng.choice(PIECES) for _ in range(rng.randint(0, 14))))


def test_unknown_style():
    with pytest.raises(ValueError, match="think"):
        parse_reply("exit()", "loud")
