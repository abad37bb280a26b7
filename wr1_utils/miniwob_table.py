"""What each of the 125 pages of MiniWoB++ needs, whether the action grammar and the page's text suffice for it, and what came of three episodes.

``python -m wr1_utils.miniwob_table`` plays three seeds of every page, by its expert or, where it has none, by random clicks (which show that the page
runs), and records them in `results/miniwob/episodes.csv`; the table `environments.csv` with its twins is made from that file alone. Pages that stand
in the file are not played again, but for those with an episode that the infrastructure spoilt: the same command goes on from there.
"""

import csv
import json
import os
from pathlib import Path

import pandas as pd

from wr1_utils.agent.hf_engine import load_tokenizer, model_folder
from wr1_utils.agent.miniwob_experts import EXPERTS
from wr1_utils.agent.miniwob_experts import reply as expert
from wr1_utils.analysis.tables import write_table
from wr1_utils.chance import random_clicks
from wr1_utils.rollout import Rollout
from wr1_utils.runs import environment_stamp, progress
from wr1_utils.settings import load_settings, project_path
from wr1_utils.tasks.miniwob import ALL_PAGES, make_tasks
from wr1_utils.tasks.miniwob_needs import NEEDS, beyond_grammar, unseen

SEEDS = 3
COLUMNS = ("environment", "seed", "agent", "status", "turns", "error")
LIMITS = {"episode.turn_limit": 40, "episode.context_tokens": 16_384}  # a date eleven months back takes more turns than a profile has


def environment_table(episodes: pd.DataFrame) -> pd.DataFrame:
    """One row a page, made from the recorded episodes (columns COLUMNS).

    needs; grammar and text: "yes", or what is beyond them; agent; episodes, errors (no reward because of the infrastructure), solved, and the mean
    number of turns of the solved ones (empty if there are none).
    """
    rows = []
    for page in ALL_PAGES:
        mine = episodes[episodes["environment"] == page]
        solved = mine[mine["status"] == "success"]
        rows.append({"environment": page, "needs": ", ".join(NEEDS[page]), "grammar": _suffices(beyond_grammar(page)), "text": _suffices(unseen(page)),
                     "agent": "expert" if page in EXPERTS else "random clicks", "episodes": len(mine),
                     "errors": int((mine["status"] == "infrastructure").sum()), "solved": len(solved), "turns": solved["turns"].mean()})
    return pd.DataFrame(rows)


def _suffices(lacking: tuple[str, ...]) -> str:
    return f"no: {', '.join(lacking)}" if lacking else "yes"


def _recorded(record: Path) -> pd.DataFrame:
    """The episodes in the file, which is made where it is missing; pages that the infrastructure spoilt are taken out of it."""
    found = pd.read_csv(record) if record.is_file() else pd.DataFrame(columns=COLUMNS)
    spoilt = found.loc[found["status"] == "infrastructure", "environment"]
    found = found[~found["environment"].isin(spoilt)]
    found.to_csv(record, index=False, lineterminator="\n")
    return found


def play(folder: Path, pages: tuple[str, ...] = ALL_PAGES) -> pd.DataFrame:
    """Plays the pages that are not recorded in `folder` yet, and writes the table and the stamp there; returns the table."""
    os.environ.setdefault("WR1_COMMAND", "python -m wr1_utils.miniwob_table")
    settings = load_settings("laptop", **{"tasks.benchmarks": ("miniwob",)}, **LIMITS)
    record, stamp, show = folder / "episodes.csv", environment_stamp(), progress("Pages")
    folder.mkdir(parents=True, exist_ok=True)
    left = [page for page in pages if page not in set(_recorded(record)["environment"])]
    tokenizer = load_tokenizer(model_folder(settings, "base"))
    with Rollout(settings) as rollout:
        for done, page in enumerate(left, 1):
            script, agent = (expert, "expert") if page in EXPERTS else (random_clicks, "random clicks")
            tasks = make_tasks("train", SEEDS, (page,))
            played = rollout.play(tasks, script, agent, tokenizer)
            with open(record, "a", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(
                    (page, task.instantiation_dict["seed"], agent, one.status, len(one.turns), one.error) for task, one in zip(tasks, played))
            show(done, len(left))
    table = environment_table(pd.read_csv(record))
    write_table(table, folder / "environments")
    (folder / "environment.json").write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")
    return table


if __name__ == "__main__":
    table = play(project_path("results/miniwob"))
    experts = table[table["agent"] == "expert"]
    print(f"{len(table)} pages, {int(table['errors'].sum())} episodes without a reward; grammar and text suffice for "
          f"{int(((table['grammar'] == 'yes') & (table['text'] == 'yes')).sum())}; {len(experts)} have an expert, "
          f"which solved {int(experts['solved'].sum())} of {int(experts['episodes'].sum())} episodes.")
