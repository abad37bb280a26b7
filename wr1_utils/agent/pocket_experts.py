"""The scripted experts of the Pocket Arena, all sites together."""

from wr1_utils.agent import admin_experts, gitlab_experts, map_experts, multi_experts, reddit_experts, shopping_experts
from wr1_utils.agent.experts import ExpertError
from wr1_utils.tasks.task import Task
from wr1_utils.web.observation import Observation

EXPERTS = {**shopping_experts.EXPERTS}  # template → expert
EXPERTS |= admin_experts.EXPERTS
EXPERTS |= gitlab_experts.EXPERTS
EXPERTS |= map_experts.EXPERTS
EXPERTS |= multi_experts.EXPERTS
EXPERTS |= reddit_experts.EXPERTS


def reply(task: Task, intent: str, observation: Observation, memory: dict) -> str:
    """The expert's reply to one page. `memory` is kept by the caller for one episode, {} at its start.

    Raises ExpertError when the page is not one that the expert expects, or the template has no expert.
    """
    if task.intent_template_id not in EXPERTS:
        raise ExpertError(f"there is no expert for the template {task.intent_template_id!r} of task {task.task_id}")
    return EXPERTS[task.intent_template_id](task.instantiation_dict, observation, memory)
