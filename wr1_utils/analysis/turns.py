"""What an analysis reads off recorded turns: the thought, the action, the line of the element acted on."""

import re

from wr1_utils.trajectory import Trajectory, Turn
from wr1_utils.web.actions import Action, Invalid, parse_reply


def split_reply(reply: str) -> tuple[str, str]:
    """(thought, call) of a reply in either style of `model.reply_style`, without their tags; a bare call has no thought."""
    if not re.search(r"<think>|<answer>", reply):
        return "", reply.strip()
    thought, _, rest = reply.partition("</think>") if "</think>" in reply else (("", "", reply) if "<think>" not in reply else (reply, "", ""))
    return thought.replace("<think>", "").strip(), re.sub(r"</?answer>", "", rest).strip()


def action_of(turn: Turn) -> Action | Invalid:
    """The action as the episode read it."""
    return parse_reply(turn.reply, "think" if re.search(r"<think>|<answer>", turn.reply) else "bare")


def element_row(turn: Turn) -> int | None:
    """The index, among the lines of the turn's observation, of the one that shows the element acted on; None: there is none."""
    action = action_of(turn)
    if not isinstance(action, Action) or action.element is None:
        return None
    mark = re.compile(rf'\[{action.element}\](?= \||$)|<[a-z]+ id="{action.element}"')
    return next((number for number, line in enumerate(turn.observation.splitlines()) if mark.search(line)), None)


def page_text(turn: Turn) -> str:
    """The observation without its notes on the action before, as the page alone would read."""
    return "\n".join(line for line in turn.observation.splitlines() if not re.match(r"note |<note>", line))


def anchor(trajectory: Trajectory, file: str = "") -> str:
    """The trajectory's name in a view of its run; `file` is that of its step, where a run has several."""
    return ".".join([*([file] if file else []), re.sub(r"[^\w.-]", "_", trajectory.task_id), str(trajectory.group), str(trajectory.member)])
