"""The table of MiniWoB++ pages: made from recorded episodes alone, and the committed one from the committed record."""

import pandas as pd

from wr1_utils.agent.miniwob_experts import EXPERTS
from wr1_utils.analysis.tables import write_table
from wr1_utils.miniwob_table import COLUMNS, SEEDS, _recorded, environment_table
from wr1_utils.settings import ROOT
from wr1_utils.tasks.miniwob import ALL_PAGES

FOLDER = ROOT / "results" / "miniwob"


def test_a_row_for_each_page():
    """Turns are those of the solved episodes; a fault of the infrastructure is an error and no failure."""
    record = pd.DataFrame([("click-menu", 0, "expert", "success", 2, ""), ("click-menu", 1, "expert", "success", 5, ""), ("click-menu", 2, "expert", "failure", 9, ""),
                           ("drag-box", 0, "random clicks", "failure", 4, ""), ("drag-box", 1, "random clicks", "infrastructure", 0, "crashed")], columns=COLUMNS)
    table = environment_table(record).set_index("environment")
    assert list(table.index) == list(ALL_PAGES)
    assert table.loc["click-menu"].to_dict() == {
        "needs": "hover, click", "grammar": "yes", "text": "yes", "agent": "expert", "episodes": 3, "errors": 0, "solved": 2, "turns": 3.5}
    row = table.loc["drag-box"].to_dict()
    assert pd.isna(row.pop("turns"))
    assert row == {"needs": "drag, click, picture", "grammar": "no: drag", "text": "no: picture", "agent": "random clicks", "episodes": 2, "errors": 1, "solved": 0}


def test_pages_with_a_spoilt_episode_are_taken_out_of_the_record(tmp_path):
    file = tmp_path / "episodes.csv"
    assert _recorded(file).empty and file.read_text() == ",".join(COLUMNS) + "\n"
    good = ["click-tab,0,expert,success,1,\n", "click-tab,1,expert,failure,3,\n"]
    file.write_text("".join([",".join(COLUMNS) + "\n", good[0], "drag-box,0,random clicks,failure,2,\n", "drag-box,1,random clicks,infrastructure,0,crashed\n", good[1]]))
    assert list(_recorded(file)["environment"]) == ["click-tab", "click-tab"]
    assert file.read_text() == ",".join(COLUMNS) + "\n" + "".join(good)


def test_the_committed_table_is_that_of_the_committed_record(tmp_path):
    write_table(environment_table(pd.read_csv(FOLDER / "episodes.csv")), tmp_path / "environments")
    for suffix in (".csv", ".md", ".tex"):
        assert (tmp_path / "environments").with_suffix(suffix).read_text() == (FOLDER / "environments").with_suffix(suffix).read_text()


def test_all_pages_ran_and_sixty_were_solved_by_their_experts():
    """Three episodes of each page, none lost, every page's expert the one of today."""
    table = pd.read_csv(FOLDER / "environments.csv")
    assert list(table["environment"]) == list(ALL_PAGES) and set(table["episodes"]) == {SEEDS} and not table["errors"].sum()
    experts = table[table["agent"] == "expert"]
    assert set(experts["environment"]) == set(EXPERTS)
    assert (experts["solved"] == SEEDS).sum() >= 60
