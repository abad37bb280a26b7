"""A case study: one test task that one method solved and another did not, both trajectories turn by turn side by side, as one HTML file.

The task is chosen by `RULE`, so that nobody picks the prettiest.
"""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import jinja2
from markupsafe import Markup
from matplotlib.image import imread

from wr1_utils.analysis.errors import asking_of_tests, explain
from wr1_utils.analysis.tables import METHOD_NAMES, TEST_SPLITS, finished_evaluations
from wr1_utils.analysis.turns import anchor, element_row, split_reply
from wr1_utils.analysis.viewer import data_uri
from wr1_utils.trajectory import Trajectory, Turn, read_trajectories

LEAST_TURNS = 3
RULE = ("By a rule, so that nobody picks the prettiest. Of all test tasks that the first solved and the other failed: where there are some whose turns all have their pictures on both sides, "
        f"these; of them those that led the solver to the most sites; of them the one solved in the fewest turns, but at least {LEAST_TURNS} (if there is none: the most turns); of them the first by its id.")
NO_PICTURES = ('No pictures were recorded (or they are not on this machine), so each page is shown as the agent read it. Pictures come with screenshots = "all" below [rollout] in the profile, '
               "set before the evaluations are made.")


@dataclass(frozen=True)
class CaseStudy:
    path: Path | None  # of the page; None: there is no such task
    says: str  # a sentence on what was chosen, or why nothing was


def write_case_study(folder: str | Path, solver: str = "r1", other: str = "bc") -> CaseStudy:
    """Write `case_study.html` into `folder` (`results/<profile>/`) for the task that the rule chooses among those that `solver` solved and `other` did not.

    Reads the finished evaluations `eval-<method>-s<seed>` of the least seed that both have. Raises TrajectoryError if a file of theirs is damaged.
    """
    folder = Path(folder)
    names = [METHOD_NAMES.get(method, method) for method in (solver, other)]
    seeds = [{run.name.split("-s")[-1]: run for run in finished_evaluations(folder) if run.name.split("-")[1] == method} for method in (solver, other)]
    both = sorted(seeds[0].keys() & seeds[1].keys(), key=int)
    if not both:
        return CaseStudy(None, f"No case study: {folder.name} has no finished evaluations of {names[0]} and {names[1]} with the same seed.")
    runs = [of_method[both[0]] for of_method in seeds]
    pair = choose(*([t for t in read_trajectories(run / "trajectories.parquet") if t.split in TEST_SPLITS] for run in runs), *runs)
    if pair is None:
        return CaseStudy(None, f"No case study: there is no test task that {names[0]} solved and {names[1]} did not.")
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(Path(__file__).with_name("case_study.html").read_text(encoding="utf-8"))
    sides = [_side(name, trajectory, run) for name, trajectory, run in zip(names, pair, runs)]
    pictures = any(turn["picture"] for side in sides for turn in side["turns"])
    rows = [[side["turns"][number] if number < len(side["turns"]) else None for side in sides] for number in range(max(len(one.turns) for one in pair))]
    path = folder / "case_study.html"
    path.write_text(template.render(profile=folder.name, task=pair[0], sides=sides, rows=rows, rule=RULE, note="" if pictures else NO_PICTURES), encoding="utf-8")
    return CaseStudy(path, f"{pair[0].task_id}: solved by {names[0]} in {len(pair[0].turns)} turns, not by {names[1]}.")


def choose(solver: list[Trajectory], other: list[Trajectory], solver_folder: Path, other_folder: Path) -> tuple[Trajectory, Trajectory] | None:
    """The trajectories of the task that the rule chooses, or None. The folders are those that the pictures' paths start from."""
    failed = {t.task_id: t for t in other if t.valid and t.status != "success"}
    pairs = [(t, failed[t.task_id]) for t in solver if t.status == "success" and t.task_id in failed]
    return min(pairs, key=lambda pair: _rank(*pair, solver_folder, other_folder), default=None)


def _rank(solver: Trajectory, other: Trajectory, solver_folder: Path, other_folder: Path) -> tuple:
    pictured = all(turn.screenshot and (folder / turn.screenshot).is_file() for one, folder in ((solver, solver_folder), (other, other_folder)) for turn in one.turns)
    sites, turns = len({urlsplit(turn.url).netloc for turn in solver.turns}), len(solver.turns)
    return not pictured, -sites, turns < LEAST_TURNS, turns if turns >= LEAST_TURNS else -turns, solver.task_id


def _side(name: str, trajectory: Trajectory, run: Path) -> dict:
    failure = explain(trajectory, asking_of_tests())
    return {"name": name, "run": run.name, "trajectory": trajectory, "link": f"{run.name}/view.html#{anchor(trajectory)}@", "solved": failure is None,
            "outcome": f"failed: {failure.cause} (turn {failure.turn}): {failure.why}" if failure else f"solved in {len(trajectory.turns)} turns",
            "turns": [_turn(turn, run) for turn in trajectory.turns]}


def _turn(turn: Turn, run: Path) -> dict:
    thought, call = split_reply(turn.reply)
    row = element_row(turn)
    lines = ["<mark>" + escape(line) + "</mark>" if number == row else escape(line) for number, line in enumerate(turn.observation.splitlines())]
    return {"url": turn.url, "title": turn.title, "thought": thought, "action": call, "error": turn.error, "page": Markup("\n".join(lines)),
            "picture": _picture(run / turn.screenshot, turn.box) if turn.screenshot else None}


def _picture(file: Path, box: list[float] | None) -> dict | None:
    """The picture as a data address, its size in pixels, and the box of the element acted on in it."""
    if not file.is_file():
        return None
    height, width = imread(file).shape[:2]
    return {"source": data_uri(file.read_bytes(), "image/jpeg"), "width": width, "height": height, "box": box}
