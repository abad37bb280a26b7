"""Why episodes failed: a cause for each, by rules over the recorded turns alone; nobody's judgement, and no model's.

A rule can say what an agent did, not what it should have done: "wrong element" means that nothing else was found to be wrong. The rules
are those of `CAUSES`, in that order; the first that holds names the cause. Episodes without a reward (infrastructure, unscored) have none.
"""

import re
import textwrap
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from wr1_utils.analysis.tables import AnalysisError, finished_evaluations, write_table
from wr1_utils.analysis.turns import action_of, anchor, element_row, page_text
from wr1_utils.settings import project_path
from wr1_utils.tasks.task import Task, load_tasks
from wr1_utils.trajectory import Trajectory, read_trajectories
from wr1_utils.web.actions import Action

CAUSES = {
    "invalid action": "at least half of the replies were no action, or named an element or a tab that is not there",
    "loop": "one action was done three times on a page that read the same each time",
    "turn limit": "the episode was cut at the turn limit",
    "token limit": "the episode was cut because its context was full",
    "gave up": "it ended by exit with an answer that says it cannot be done (such as N/A), or before any element had been acted on",
    "wrong answer": "it ended by exit with another answer (done and the like count as one only where the task asks for an answer)",
    "wrong value": "the last text given to a field stands neither in the task nor on a page seen before, or an option was chosen that the task "
                   "does not name where it names another one of the list",
    "wrong element": "none of these: what was acted on did not bring what the task asks for",
}
REPEATS = 3
INVALID_SHARE = 0.5
WHY_LENGTH = 100  # characters of a reason in a table
_NOT_THERE = ("invalid reply", "there is no element", "there is no tab")
_FINISHED = {"", "done", "finished", "completed", "complete", "success", "ok", "task completed", "the task is done", "the task is completed"}
_IMPOSSIBLE = re.compile(r"n/?a|none|unknown|impossible|(i )?(give|gave) up|not (possible|found|available)|(i )?(can ?not|can't|could not|unable to|am unable to)\b.*")


@dataclass(frozen=True)
class Failure:
    cause: str  # one of CAUSES
    turn: int  # the turn that shows it, from 1; 0: there is no turn
    why: str  # what was found there


def explain(trajectory: Trajectory, asks: dict[str, bool] | None = None) -> Failure | None:
    """The cause of a failed trajectory; None for one that succeeded or has no reward.

    `asks` (see `asking`) says which tasks ask for an answer. Where it does not tell, any answer but done and the like counts as one; the pages
    of MiniWoB++ never ask for an answer by exit.
    """
    if not trajectory.valid or trajectory.status == "success":
        return None
    asks = False if trajectory.benchmark == "miniwob" else (asks or {}).get(trajectory.task_id)
    rules = (_invalid, _loop, _limit, _gave_up, lambda t: _wrong_answer(t, asks), _wrong_value)
    return next(filter(None, (rule(trajectory) for rule in rules)), None) or _wrong_element(trajectory)


def _invalid(trajectory: Trajectory) -> Failure | None:
    bad = [number for number, turn in enumerate(trajectory.turns, 1) if turn.error.startswith(_NOT_THERE)]
    if not bad or len(bad) < INVALID_SHARE * len(trajectory.turns):
        return None
    return Failure("invalid action", bad[0], f"{len(bad)} of {len(trajectory.turns)} replies, the first: {trajectory.turns[bad[0] - 1].error}")


def _loop(trajectory: Trajectory) -> Failure | None:
    times: Counter = Counter()
    for number, turn in enumerate(trajectory.turns, 1):
        action = action_of(turn)
        if isinstance(action, Action) and action.call != "exit":
            done = (turn.url, page_text(turn), action)
            times[done] += 1
            if times[done] == REPEATS:
                return Failure("loop", number, f"{_say(action)}, {REPEATS} times on the same page")
    return None


def _limit(trajectory: Trajectory) -> Failure | None:
    causes = {"turn_limit": "turn limit", "token_limit": "token limit"}
    cause = causes.get(trajectory.status)
    return cause and Failure(cause, len(trajectory.turns), f"cut after {len(trajectory.turns)} turns")


def _gave_up(trajectory: Trajectory) -> Failure | None:
    last = len(trajectory.turns)
    if trajectory.error:  # a scripted expert that did not know how to go on
        return Failure("gave up", last, trajectory.error)
    if trajectory.answer is None:
        return None
    said = _plain(trajectory.answer)
    if _IMPOSSIBLE.fullmatch(said):
        return Failure("gave up", last, f'answered "{trajectory.answer}"')
    acted = any(not turn.error and isinstance(action_of(turn), Action) and action_of(turn).element is not None for turn in trajectory.turns)
    return None if acted or said not in _FINISHED else Failure("gave up", last, "ended before any element had been acted on")


def _wrong_answer(trajectory: Trajectory, asks: bool | None) -> Failure | None:
    if trajectory.answer is None or asks is False or (asks is None and _plain(trajectory.answer) in _FINISHED):
        return None
    return Failure("wrong answer", len(trajectory.turns), f'answered "{trajectory.answer}"')


def _wrong_value(trajectory: Trajectory) -> Failure | None:
    """Of each field only what it was given last counts, so that what the agent put right is no fault."""
    given: dict[tuple, Failure | None] = {}
    pages, unknown = [], set()
    for number, turn in enumerate(trajectory.turns, 1):
        pages.append(page_text(turn))
        action, row = action_of(turn), element_row(turn)
        if turn.error or row is None or not action.argument:
            continue
        line = turn.observation.splitlines()[row]
        label = re.sub(r'( = "|[\[(<]).*', "", line).strip()
        field = (turn.url, label if " " in label else action.element)  # ids shift, but fields may lack a label
        given[field] = None
        if action.action in ("Type", "Search"):
            value = _plain(action.argument)
            if value in unknown or not any(_names(text, value) for text in (trajectory.intent, *pages)):
                unknown.add(value)  # the page shows it from now on
                given[field] = Failure("wrong value", number, f'{_say(action)}: neither the task nor a page seen before has "{action.argument}"')
        elif action.action == "Select Dropdown Option" and not _names(trajectory.intent, action.argument):
            named = [option for option in _options(line) if _names(trajectory.intent, option)]
            if named:
                given[field] = Failure("wrong value", number, f'{_say(action)}: of this list the task names "{named[0]}"')
    return next(filter(None, given.values()), None)


def _wrong_element(trajectory: Trajectory) -> Failure:
    acts = [number for number, turn in enumerate(trajectory.turns, 1) if element_row(turn) is not None and not turn.error]
    if not acts:
        return Failure("wrong element", len(trajectory.turns), "no element that is there was acted on")
    turn = trajectory.turns[acts[-1] - 1]
    return Failure("wrong element", acts[-1], f"{_say(action_of(turn))}, the last one: {turn.observation.splitlines()[element_row(turn)].strip()}")


# ---- tables ----------------------------------------------------------------------------------------------------------------------


def asking(tasks: list[Task]) -> dict[str, bool]:
    """For each task id, whether its reward depends on the answer."""
    return {task.task_id: "string_match" in task.eval.get("eval_types", ()) for task in tasks}


def asking_of_tests() -> dict[str, bool]:
    """The same for the committed test tasks of the Pocket Arena."""
    return asking([task for name in ("pocket", "arena") for task in load_tasks(project_path(f"data/tasks/{name}_test.json"))])


def failure_table(runs: dict[str, list[Trajectory]], asks: dict[str, bool] | None = None) -> pd.DataFrame:
    """One row a failed trajectory: run, benchmark, site, template, task_id, member, status, cause, turn, why, link.

    `runs`: trajectories by the run's name. `link` leads to the turn in the run's view, which `wr1 view` makes; it is relative to the
    folder that holds the runs.
    """
    rows = []
    for run, trajectories in runs.items():
        for one in trajectories:
            failure = explain(one, asks)
            if failure:
                rows.append({"run": run, "benchmark": one.benchmark, "site": one.site, "template": one.template, "task_id": one.task_id, "member": one.member,
                             "status": one.status, "cause": failure.cause, "turn": failure.turn, "why": _one_cell(failure.why),
                             "link": f"{run}/view.html#{anchor(one)}@{failure.turn}"})
    columns = ["run", "benchmark", "site", "template", "task_id", "member", "status", "cause", "turn", "why", "link"]
    return pd.DataFrame(rows, columns=columns)


def cause_table(failures: pd.DataFrame) -> pd.DataFrame:
    """From `failure_table`, one row for each cause that a run has on a benchmark: run, benchmark, cause, failures, share (of its failures there),
    example (a link into the view of the run)."""
    rows = []
    for (run, benchmark), part in failures.groupby(["run", "benchmark"], sort=False):
        for cause in CAUSES:
            found = part[part["cause"] == cause]
            if len(found):
                rows.append({"run": run, "benchmark": benchmark, "cause": cause, "failures": len(found), "share": len(found) / len(part), "example": found["link"].iloc[0]})
    return pd.DataFrame(rows, columns=["run", "benchmark", "cause", "failures", "share", "example"])


def make_failure_tables(folder: str | Path) -> Path:
    """Write `failures` and `failure_causes` (CSV, Markdown, LaTeX) of every finished evaluation in `folder` (`results/<profile>/`); returns it.

    Raises AnalysisError if there is none.
    """
    folder = Path(folder)
    runs = {run.name: read_trajectories(run / "trajectories.parquet") for run in finished_evaluations(folder)}
    if not runs:
        raise AnalysisError(f"There is no finished evaluation in {folder}; run the notebook 04_evaluation with profile={folder.name} first.")
    table = failure_table(runs, asking_of_tests())
    write_table(table, folder / "failures")
    write_table(cause_table(table), folder / "failure_causes")
    return folder


# ---- small parts -----------------------------------------------------------------------------------------------------------------


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".! ")


def _names(text: str, words: str) -> bool:
    """Do the words stand in the text, as whole words?"""
    return bool(re.search(rf"(?<!\w){re.escape(_plain(words))}(?!\w)", _plain(text)))


def _options(line: str) -> list[str]:
    """Of a line of either style that shows a list."""
    shown = re.search(r"\((.*)\)", line)
    return re.findall(r"<option>(.*?)</option>", line) or (shown[1].split(" | ") if shown else [])


def _say(action: Action) -> str:
    what = action.action or action.call
    return what + (f' "{action.argument}"' if action.argument else "") + (f" on [{action.element}]" if action.element is not None else "")


def _one_cell(text: str) -> str:
    """Short, and without what would end a cell of a Markdown table."""
    return textwrap.shorten(text.replace("|", "/"), WHY_LENGTH, placeholder=" …")
