"""What is written is read back, id for id; a file that is not one is refused with a reason."""

from dataclasses import replace

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wr1_utils.trajectory import Trajectory, TrajectoryError, Turn, describe, read_trajectories, write_trajectories


def example(**changes):
    turn = Turn("http://x/", "Shop", "page Shop\nlink Go [0]", [1, 2, 3], [4, 5], [-0.5, -1.25], "go", "Click 0", "no such element", 0.1, 0.2)
    fields = dict(
        run="eval-bc-s0", task_id="7", benchmark="pocket", site="shopping", template="price", split="seen_template",
        intent="Price of “Red Mug”?", group=0, member=1, seed=5, policy="bc", status="failure", reward=0.0,
        answer="$5", error="", seconds=1.5, turns=[turn, turn],
    )  # fmt: skip
    return Trajectory(**{**fields, **changes})


def test_round_trip(tmp_path):
    kept = [example(), example(status="infrastructure", reward=None, answer=None, turns=[])]
    assert read_trajectories(write_trajectories(tmp_path / "sub" / "t.parquet", kept)) == kept
    assert read_trajectories(write_trajectories(tmp_path / "none.parquet", [])) == []


def test_a_file_from_before_scores_said_which_rules_they_follow(tmp_path):
    path = write_trajectories(tmp_path / "t.parquet", [example(scoring="browsergym"), example(benchmark="miniwob")])
    assert [t.scoring for t in read_trajectories(path)] == ["browsergym", "wr1"]
    assert "scoring: browsergym" in describe(read_trajectories(path)[0])
    pandas.read_parquet(path).drop(columns="scoring").to_parquet(path)
    assert [t.scoring for t in read_trajectories(path)] == ["wr1", "page"]


def test_contradictions_are_refused(tmp_path):
    for bad, why in [
        (example(status="lost"), "status 'lost'"),
        (example(status="infrastructure"), "no reward"),
        (example(status="unscored"), "no reward"),
        (example(turns=[Turn("", "", "", [1], [2, 3], [-1.0], "", "", "", 0, 0)]), "1 log-probs for 2"),
    ]:
        with pytest.raises(TrajectoryError, match=why):
            write_trajectories(tmp_path / "t.parquet", [bad])
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_trajectories_say_why(tmp_path):
    with pytest.raises(TrajectoryError, match="no trajectory file"):
        read_trajectories(tmp_path / "t.parquet")
    (tmp_path / "t.parquet").write_text("text")
    with pytest.raises(TrajectoryError, match="not a Parquet file"):
        read_trajectories(tmp_path / "t.parquet")
    pandas.DataFrame({"run": ["a"]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TrajectoryError, match="column '[a-z_]+' is missing"):
        read_trajectories(tmp_path / "t.parquet")


def test_only_scored_trajectories_are_members():
    assert example().valid and not example(reward=None).valid and not example(status="infrastructure", reward=None).valid
    assert example().reply_tokens == 4
    assert "link Go [0]" in describe(example()) and "no such element" in describe(example())


def test_a_file_from_before_there_were_pictures_is_read(tmp_path):
    """Turns then had neither `screenshot` nor `box`."""
    kept = example(turns=[replace(example().turns[0], screenshot="screenshots/t/7.0.1.1.jpg", box=[1.0, 2.0, 3.0, 4.0])])
    path = write_trajectories(tmp_path / "t.parquet", [kept])
    assert read_trajectories(path) == [kept]
    table = pq.read_table(path)
    turns = [[{key: value for key, value in turn.items() if key not in ("screenshot", "box")} for turn in row] for row in table["turns"].to_pylist()]
    pq.write_table(table.set_column(table.column_names.index("turns"), "turns", pa.array(turns)), path)
    assert read_trajectories(path) == [example(turns=[example().turns[0]])]
