"""The action grammar: one reply of the policy becomes one `Action`, or an `Invalid` that says why not.

Actions are those of WebAgent-R1 (arXiv 2505.16421): `do(action, argument, element)`, `exit(message)`, `go_backward()`,
`go_forward()`. A reply is either `<think>…</think><answer>one call</answer>` (style "think") or the bare call, after
optional comment lines (style "bare").

Deviation from the paper's code: the call is read by a small parser and never evaluated as Python, so a value is a quoted
string or a number and nothing else. Some slips are forgiven because their meaning is certain: a last parenthesis that is
doubled, or missing after an argument; quotes inside a quoted text, if they stand in pairs round something; a raw line break,
another case of the action's name, `[7]` for `7`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NEEDS_ELEMENT = ("Click", "Right Click", "Type", "Search", "Hover", "Select Dropdown Option")
NEEDS_ARGUMENT = ("Type", "Search", "Select Dropdown Option", "Switch Tab")
ACTIONS = ("Click", "Right Click", "Type", "Search", "Hover", "Scroll Up", "Scroll Down", "Press Enter", "Switch Tab",
           "Select Dropdown Option", "Wait")
CALLS = {"do": ("action", "argument", "element"), "exit": ("message",), "go_backward": (), "go_forward": ()}


@dataclass(frozen=True)
class Action:
    """One call. `element` is the id as text ("7"); what the call does not have is None (`exit()` has message "")."""
    call: str
    action: str | None = None
    element: str | None = None
    argument: str | None = None
    message: str | None = None


@dataclass(frozen=True)
class Invalid:
    """A reply that is no action. `kind` is one of a few fixed words for counting, `message` a sentence for the agent."""
    kind: str
    message: str


class _Refused(Exception):
    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.invalid = Invalid(kind, message)


def parse_reply(reply: str, style: str = "think") -> Action | Invalid:
    """Read the one action of a reply; `style` is "think" or "bare". Never raises for any text of the policy."""
    if style not in ("think", "bare"):
        raise ValueError(f'the reply style is "think" or "bare", not {style!r}')
    try:
        if style == "think":
            text, closed = _answer(reply)
        else:
            text, closed = reply, False
        return _action(*_call(text.strip(), closed))
    except _Refused as refused:
        return refused.invalid


def _answer(reply: str) -> tuple[str, bool]:
    """The text between <answer> and </answer>, and whether the closing tag is there."""
    if "</think>" in reply:
        reply = reply.split("</think>", 1)[1]
    elif "<think>" in reply:
        raise _Refused("no answer", "the reply has no <answer>…</answer> after its thought")
    answers = reply.count("<answer>")
    if answers == 0:
        raise _Refused("no answer", "the reply has no <answer>…</answer>")
    if answers > 1:
        raise _Refused("more than one answer", f"the reply has {answers} answers; write one <answer>…</answer>")
    text = reply.split("<answer>", 1)[1]
    closed = "</answer>" in text
    return (text.rsplit("</answer>", 1)[0] if closed else text), closed


def print_action(action: Action) -> str:
    """The call as a policy should write it; `parse_reply` reads it back as the same action."""
    if action.call == "exit":
        return f"exit(message={_quoted(action.message)})"
    if action.call != "do":
        return f"{action.call}()"
    given = [("action", action.action), ("argument", action.argument), ("element", action.element)]
    return "do(" + ", ".join(f"{name}={_quoted(value)}" for name, value in given if value is not None) + ")"


def _quoted(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("<answer>", "\\x3canswer>")
    return f'"{text}"'


_HEAD = re.compile(r"(do|exit|go_backward|go_forward)\s*\(")
_NAME = re.compile(r"\s*(action|argument|element|message)\s*=\s*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_AFTER_STRING = re.compile(  # what may follow the quote that ends a string: a further argument, or the end of the call
    r"\s*(?:,\s*(?:action|argument|element|message)\s*=|,?\s*\)[\s;)]*(?:$|#|(?:do|exit|go_backward|go_forward)\s*\()|$)")
_FORM = 'write do(action="Click", element="7"), exit(message="…"), go_backward() or go_forward()'


def _call(text: str, closed: bool) -> tuple[str, dict]:
    """Name and arguments of the single call in `text`; leading comment lines are dropped."""
    while text.startswith("#"):
        text = text.partition("\n")[2].strip()
    if not text:
        raise _Refused("no action", f"the answer is empty; {_FORM}")
    head = _HEAD.match(text)
    if not head:
        raise _Refused("not an action", f"the answer is not an action; {_FORM}")
    call, at, arguments = head.group(1), head.end(), {}
    while True:
        at += len(text[at:]) - len(text[at:].lstrip())
        if at == len(text):
            if not closed:
                raise _Refused("cut off", "the reply was cut off before its action was complete")
            if not arguments or text.endswith(","):
                raise _Refused("not an action", f"the answer breaks off inside its action; {_FORM}")
            break
        if text[at] == ")":
            rest = text[at + 1:].lstrip(" \t\r\n;)")
            if _HEAD.match(rest):
                raise _Refused("more than one action", "the answer has more than one action; write one")
            if rest and not rest.startswith("#"):
                raise _Refused("not an action", f"the answer has other text after its action; {_FORM}")
            break
        if arguments and text[at] == ",":
            at += 1
            continue
        name, at = _argument_name(call, text, at, arguments)
        arguments[name], at = _value(text, at)
    return call, arguments


def _argument_name(call: str, text: str, at: int, so_far: dict) -> tuple[str, int]:
    named = _NAME.match(text, at)
    if named:
        name, at = named.group(1), named.end()
    elif not so_far and CALLS[call]:  # the first argument may go without its name: exit("N/A")
        name = CALLS[call][0]
    else:
        name = ""
    if name not in CALLS[call] or name in so_far:
        takes = ", ".join(CALLS[call]) or "no argument"
        raise _Refused("not an action", f"{call}() takes {takes}, each once and by name; {_FORM}")
    return name, at


def _value(text: str, at: int) -> tuple[str, int]:
    """A quoted string or a number at `at`, and where it ends."""
    if at == len(text):
        raise _Refused("cut off", "the reply was cut off before its action was complete")
    quote = text[at]
    if quote not in "\"'":
        number = _NUMBER.match(text, at)
        if not number or not re.match(r"\s*(,|\)|$)", text[number.end():]):
            raise _Refused("not an action", f"each argument is a quoted text or a number; {_FORM}")
        return number.group(), number.end()
    end = at + 1
    while end < len(text):
        if text[end] == "\\":
            end += 2
        elif text[end] == quote and _AFTER_STRING.match(text, end + 1):
            inside = text[at + 1:end]
            if not _pairs_only(inside, quote):
                raise _Refused("not an action", f"it is not clear where a quoted text ends; write \\{quote} for a quote inside it; {_FORM}")
            return _unescape(inside), end + 1
        else:
            end += 1
    raise _Refused("cut off", "the reply was cut off inside a quoted text")


def _pairs_only(text: str, quote: str) -> bool:
    """Do the bare quotes inside a text stand in pairs, as in: the "Sun" (or "Moon")? If not, it is two texts and what is between them.

    Apostrophes (Bob's) and inches (a 15" screen) need no partner.
    """
    text = re.sub(r"\\(?:([ntr])|.)", lambda escape: " " if escape[1] else "x", text, flags=re.DOTALL)
    text = re.sub(r"(?<=\w)'(?=\w)", "x", text)
    opening, closing = rf"(?<![^\s(\[{{<=:,/-]){quote}+(?=[^\s),.;:])", rf"(?<!\s){quote}+(?!\w)"
    return re.fullmatch(rf"(?:[^{quote}]|(?<=\d){quote}(?=[\s,.-]|$)|{opening}[^{quote}]+{closing})*", text) is not None


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "/": "/"}


def _unescape(text: str) -> str:
    def one(match: re.Match) -> str:
        code = match.group(1)
        return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, "\\" + code)
    return re.sub(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", one, text, flags=re.DOTALL)


def _action(call: str, arguments: dict) -> Action:
    """Check what the call needs."""
    if call == "exit":
        return Action("exit", message=arguments.get("message", ""))
    if call != "do":
        return Action(call)
    known = {name.lower().replace(" ", ""): name for name in ACTIONS}
    written = arguments.get("action")
    action = known.get(re.sub(r"[\s_]+", "", written or "").lower())
    if action is None:
        raise _Refused("unknown action", f"there is no action {written!r}; actions are {', '.join(ACTIONS)}")
    argument, element = arguments.get("argument"), arguments.get("element")
    if element is not None:
        element = element.strip().removeprefix("[").removesuffix("]")
        if not element.isascii() or not element.isdigit():
            raise _Refused("not an element", f'element={arguments["element"]!r} is no id; write its number, as in element="7"')
        element = str(int(element[:9]))
    if action in NEEDS_ELEMENT and element is None:
        raise _Refused("missing element", f'{action} needs an element: do(action="{action}", element="7")')
    if action in NEEDS_ARGUMENT and argument is None:
        raise _Refused("missing argument", f'{action} needs an argument: do(action="{action}", argument="…")')
    return Action("do", action=action, element=element, argument=argument)
