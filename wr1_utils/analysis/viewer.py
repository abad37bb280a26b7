"""`wr1 view`: a run's trajectories as one HTML file that needs nothing else, no network either.

Reads the run's files only; no model is loaded and no agent is run. A page of every turn grows large: what does not fit is left out, and
the page says so.
"""

import base64
import json
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from wr1_utils.analysis.errors import Failure, asking_of_tests, explain
from wr1_utils.analysis.tables import AnalysisError
from wr1_utils.analysis.turns import anchor, element_row, split_reply
from wr1_utils.settings import ROOT, near_miss, project_path
from wr1_utils.trajectory import Trajectory, Turn, read_trajectories

PAGE = Path(__file__).with_name("viewer.html")
MOST_BYTES = 48_000_000  # of the page
NO_PICTURE = 'No screenshot: the run was made with rollout.screenshots = "none", or none could be taken.'


@dataclass(frozen=True)
class View:
    path: Path  # of the page
    trajectories: int  # that it shows
    left_out: str  # a sentence; "" if nothing was


def write_view(run: str | Path, limit: int = 0) -> View:
    """Write `view.html` into the folder of a run, or beside a Parquet file of trajectories.

    run: a run's folder (as it is, below the repository or below `results/`) or such a file. A run of RL has its rollouts shown step by
    step; an unfinished evaluation, what it has so far. limit: show the first so many trajectories; 0 = as many as fit. Texts come before
    pictures. Raises AnalysisError if there is no such run or it has no trajectories, TrajectoryError for a file that is none.
    """
    place, files = _find(run)
    entries, pieces, asks = [], _pieces(place), asking_of_tests()
    several = len(files) > 1
    for file in files:
        for trajectory in read_trajectories(file):
            pictures = [file.parent / turn.screenshot if turn.screenshot else None for turn in trajectory.turns]
            entries.append((_entry(trajectory, explain(trajectory, asks), file.stem if several else "", pieces), pictures))
    if not entries:
        raise AnalysisError(f"{run}: the run has no trajectory yet.")
    shown, left_out = _fit(entries, limit)
    content = {"run": f"{place.parent.name}/{place.name}", "left_out": left_out, "trajectories": shown}
    page = PAGE.read_text(encoding="utf-8").replace("__DATA__", _json(content))
    path = place / "view.html"
    path.write_text(page, encoding="utf-8")
    return View(path, len(shown), left_out)


def data_uri(content: bytes, kind: str) -> str:
    """A file's bytes as an address that needs no file; `kind`: its media type, such as image/png."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _find(run: str | Path) -> tuple[Path, list[Path]]:
    """The folder that the page goes to, and the trajectory files in their order."""
    tried = [Path(run), ROOT / run, ROOT / "results" / run]
    place = next((path.resolve() for path in tried if path.exists()), None)
    if place is None:
        known = [path.parent.relative_to(ROOT / "results").as_posix() for path in sorted((ROOT / "results").glob("*/*/trajectories.parquet"))]
        raise AnalysisError(f"There is no run {str(run)!r}{near_miss(str(run), known)}; give the folder of a run, such as results/demo/eval-r1-s0.")
    if place.is_file():
        return place.parent, [place]
    for pattern in ("trajectories.parquet", "partial.parquet", "rollouts/*.parquet"):
        files = sorted(place.glob(pattern))
        if files:
            return place, files
    raise AnalysisError(f"{run} holds no trajectories (trajectories.parquet, or rollouts/ of an RL run); give the folder of a run that has played episodes.")


def _pieces(place: Path):
    """A function token ids → their texts, by the tokenizer of the run's model; without one, the numbers stand for the texts."""
    settings = next((folder / "settings.toml" for folder in (place, place.parent) if (folder / "settings.toml").is_file()), None)
    model = tomllib.loads(settings.read_text(encoding="utf-8")).get("model", {}).get("path", "") if settings else ""
    file = project_path(model) / "tokenizer.json"
    if not model or not file.is_file():
        return lambda ids: [f"{number} " for number in ids]
    tokenizer = Tokenizer.from_file(str(file))
    return lambda ids: [tokenizer.decode([number], skip_special_tokens=False) for number in ids]


def _entry(trajectory: Trajectory, failure: Failure | None, file: str, pieces) -> dict:
    """What the page holds of a trajectory, but for its pictures."""
    reward = "none" if trajectory.reward is None else f"{trajectory.reward:g}"
    about = [f"{file} {trajectory.task_id}".strip(), f"{trajectory.benchmark} · {trajectory.site} · {trajectory.split}", f"member {trajectory.member}",
             f"{trajectory.status}, reward {reward} ({trajectory.scoring})"]
    about += [f"answer “{trajectory.answer}”"] if trajectory.answer is not None else []
    about += [f"{failure.cause} (turn {failure.turn}): {failure.why}"] if failure else []
    about += [trajectory.error] if trajectory.error else []
    return {"id": anchor(trajectory, file), "task_id": f"{file} {trajectory.task_id}".strip(), "intent": trajectory.intent, "status": trajectory.status,
            "cause": failure.cause if failure else "", "about": " — ".join(about), "turns": [_turn(turn, pieces) for turn in trajectory.turns]}


def _turn(turn: Turn, pieces) -> dict:
    thought, call = split_reply(turn.reply)
    return {"url": turn.url, "observation": turn.observation, "think": thought, "action": call, "error": turn.error, "row": element_row(turn), "box": turn.box,
            "tokens": pieces(turn.reply_ids), "probabilities": [round(math.exp(logprob), 4) for logprob in turn.logprobs], "image": "", "no_image": NO_PICTURE}


def _fit(entries: list[tuple[dict, list[Path | None]]], limit: int) -> tuple[list[dict], str]:
    """The trajectories that the page takes, with their pictures as far as these fit too, and a sentence on what was left out."""
    room = MOST_BYTES - PAGE.stat().st_size
    shown = []
    for entry, pictures in entries[: limit or len(entries)]:
        room -= len(_json(entry).encode()) + 1
        if room < 0:
            break
        shown.append((entry, pictures))
    left = 0
    for entry, pictures in shown:
        for turn, picture in zip(entry["turns"], pictures):
            if picture is None:
                continue
            if not picture.is_file():
                turn["no_image"] = f"The screenshot {picture.name} is not there any more."
                continue
            room -= 4 * (picture.stat().st_size // 3 + 1) + len("data:image/jpeg;base64,")
            if room < 0:
                left += 1
                turn["no_image"] = "The screenshot was left out: the page would have become too large."
                continue
            turn["image"] = data_uri(picture.read_bytes(), "image/jpeg")
    notes = []
    if len(shown) < len(entries):
        why = f"--limit {limit}" if limit and len(shown) == limit else f"the page would be above {MOST_BYTES // 1_000_000} MB"
        notes.append(f"{len(entries) - len(shown)} of {len(entries)} trajectories ({why})")
    if left:
        notes.append(f"{left} screenshots (the page would be above {MOST_BYTES // 1_000_000} MB; a --limit makes room for them)")
    return [entry for entry, _ in shown], f"Left out: {' and '.join(notes)}." if notes else ""


def _json(content) -> str:
    """JSON that may stand in a script element of a page, whatever texts it holds."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
