"""Scripted experts for pages of `tasks/miniwob.py`, by kind in miniwob_click_experts.py, miniwob_form_experts.py, miniwob_site_experts.py.

Each is a pure function of the intent, the observation and a memory of one episode, and does one thing a turn: what remains to
be done is read off the page where the page shows it, and kept in the memory only where it does not. What some know beside that, a
page shows only as a picture or not at all: which icon comes where, which words mean the same.
"""

from wr1_utils.agent.experts import ExpertError
from wr1_utils.agent.miniwob_click_experts import CLICK_EXPERTS
from wr1_utils.agent.miniwob_form_experts import FORM_EXPERTS
from wr1_utils.agent.miniwob_site_experts import SITE_EXPERTS
from wr1_utils.tasks.task import Task
from wr1_utils.web.observation import Observation

EXPERTS = CLICK_EXPERTS | FORM_EXPERTS | SITE_EXPERTS


def reply(task: Task, intent: str, observation: Observation, memory: dict) -> str:
    """The reply of the expert for the task's page.

    Raises ExpertError when there is no expert for the page or it cannot go on.
    """
    expert = EXPERTS.get(task.intent_template)
    if expert is None:
        raise ExpertError(f"there is no expert for the MiniWoB++ page {task.intent_template!r}")
    try:
        return expert(intent, observation, memory)
    except (LookupError, ValueError, TypeError, AttributeError) as fault:  # something that the script takes for granted is not on the page
        raise ExpertError(f"the page {observation.title!r} is not as the expert for {task.intent_template!r} expects it: {fault}") from fault
