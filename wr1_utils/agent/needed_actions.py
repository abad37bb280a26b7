"""Which task template of the benchmark `arena` needs which action of the grammar: for each action one that is not solved without it.

The tests play each template's expert, and beside it what else could be tried in the action's place. ``python -m wr1_utils.agent.needed_actions`` writes
`results/arena/needed_actions/actions.csv` with its twins and, beside them, `environment.json`.
"""

import json
import os
from pathlib import Path

import pandas as pd

from wr1_utils.analysis.tables import write_table
from wr1_utils.runs import environment_stamp
from wr1_utils.settings import project_path
from wr1_utils.tasks.arena import TASK_FILES, site_of
from wr1_utils.tasks.task import load_tasks

NEEDED = {                           # action → template, why nothing else does
    "Click": ("newsletter_zip", "a checkbox is changed by no key and by no other button of the mouse"),
    "Right Click": ("map_home", "only the menu of the right button sets the home"),
    "Type": ("reddit_leave_draft", "Search would send the text that is to stay a draft"),
    "Search": ("open_search", "nothing is looked for until Enter follows the typing"),
    "Hover": ("gitlab_job", "the job is shown while the mouse is over the name"),
    "Scroll Up": ("reddit_first_message", "earlier messages are loaded as the chat is scrolled up"),
    "Scroll Down": ("wiki_changes", "earlier changes are loaded as the page is scrolled down"),
    "Press Enter": ("reddit_send_draft", "the draft cannot be read to its end, so it cannot be typed again"),
    "Switch Tab": ("multi_comment_stars", "the link opens the other site in a new tab"),
    "Select Dropdown Option": ("cart_add_option", "an option of a dropdown list is chosen by nothing else"),
    "Wait": ("admin_stock_value", "the figures come a while after the page"),
    "go_backward": ("gitlab_email", "the page that asks for the code has no link; the code stands on the page before it"),
    "go_forward": ("gitlab_email", "nothing but the form, which would give another code, leads to the page that asks for it"),
    "exit": ("gitlab_visibility", "without it there is no answer"),
}


def action_table() -> pd.DataFrame:
    """One row an action: action, template, site, why, example (the intent of the template's first committed task)."""
    first = {}
    for task in (task for name in TASK_FILES for task in load_tasks(project_path(f"data/tasks/{name}"))):
        first.setdefault(task.intent_template_id, task)
    return pd.DataFrame([{"action": action, "template": template, "site": site_of(first[template]), "why": why, "example": first[template].intent}
                         for action, (template, why) in NEEDED.items()])


def record(folder: Path) -> None:
    """Writes the table and the stamp into `folder`."""
    os.environ.setdefault("WR1_COMMAND", "python -m wr1_utils.agent.needed_actions")
    stamp = environment_stamp()
    write_table(action_table(), folder / "actions")
    (folder / "environment.json").write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record(project_path("results/arena/needed_actions"))
