"""The table of how long the tasks are, from a few episodes whose numbers are plain to see."""

from types import SimpleNamespace

from wr1_utils.expert_turns import turn_table
from wr1_utils.analysis.tables import write_table


def episode(template, split, sites, turns, status="success"):
    return SimpleNamespace(intent_template_id=template, split=split, sites=sites), SimpleNamespace(status=status, turns=[None] * turns)


def test_a_row_for_each_template(tmp_path):
    tasks, played = zip(
        episode("map_way", "train", ("map",), 3), episode("map_way", "train", ("map",), 6), episode("map_way", "seen_template", ("map",), 10, "turn_limit"),
        episode("multi_phone", "unseen_template", ("reddit", "map"), 4), episode("wiki_fact", "train", ("wikipedia",), 2, "infrastructure"))
    write_table(turn_table(list(tasks), list(played)), tmp_path / "turns")
    assert (tmp_path / "turns.csv").read_text().splitlines() == [
        "template,site,splits,tasks,solved,turns_mean,turns_min,turns_max",
        "map_way,map,train seen_template,3,2,4.500000,3,6",
        "multi_phone,several,unseen_template,1,1,4.000000,4,4",
        "wiki_fact,map,train,1,0,,,"]
    assert (tmp_path / "turns.md").is_file()
