"""`wr1 score`: files of another agent's answers, worked out by hand."""

import dataclasses
import json

import pandas as pd
import pytest

from wr1_utils import cli
from wr1_utils.score_files import FileError, as_json, as_text, rate, score_file, score_trajectories
from wr1_utils.settings import SettingsError, load_settings
from wr1_utils.trajectory import Trajectory, write_trajectories


@pytest.fixture
def settings(webarena_files, monkeypatch):
    for site in ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "MAP", "WIKIPEDIA", "HOMEPAGE"):
        monkeypatch.delenv(site, raising=False)
    return dataclasses.replace(load_settings("smoke"), webarena=webarena_files)


def written(tmp_path, *rows):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


BAGS = "Impulse Duffle, Overnight Duffle, Hawkeye Yoga Short-32-Blue"
SWIMWEAR = "/clothing-shoes-jewelry/sport-specific-clothing/competitive-swimwear.html?product_list_order=price&product_list_dir=desc"
ROWS = (
    {"task_id": 4, "answer": BAGS},                                                 # right
    {"task_id": "webarena-lite.4", "answer": "Impulse Duffle", "seed": 1},          # wrong
    {"task_id": 144, "answer": "$0.00"},                                            # wrong as published, right when patched
    {"task_id": 349, "answer": "yjlou"},                                            # not to be scored as published, right when patched
    {"task_id": 240, "answer": "done", "url": "__SHOPPING__" + SWIMWEAR},           # right, by its address
    {"task_id": 103, "answer": "done"},                                             # needs the address
    {"task_id": 505, "answer": "done", "reward": 1},                                # taken over
    {"task_id": 488, "answer": "done"},                                             # needs the sites
    {"task_id": 33, "answer": "a hotel"},                                           # needs a judge
    {"task_id": 27, "answer": "0", "status": "infrastructure", "reward": 0},        # an error
    {"task_id": 43, "answer": "x", "status": "turn_limit"},                         # a failure, whatever it holds
    {"task_id": 65, "answer": None},                                                # ended without an answer: wrong
)


def test_answers_are_scored_twice(settings, tmp_path):
    report = score_file(settings, "webarena-lite", written(tmp_path, *ROWS))
    found = [(one.published, one.patched, one.taken_over, one.why) for one in report.rows]
    assert found == [
        (1, 1, False, ""), (0, 0, False, ""), (0, 1, False, ""), (None, 1, False, ""), (1, 1, False, ""), (None, None, False, "needs the url"),
        (1, 1, True, ""), (None, None, False, "program_html needs the sites"), (None, None, False, "needs a judge model"),
        (None, None, False, "infrastructure"), (0, 0, False, ""), (0, 0, False, ""),
    ]
    text = as_text(report)
    for line in ("scoring: webarena", "SHA-256 " + report.sha256, "as published: 3 of 7 scored rows, 42.9 %", "patched:      5 of 8 scored rows, 62.5 %",
                 "webarena-lite.144 (line 3): 0 as published, 1 patched", "webarena-lite.349 (line 4): not scored as published, 1 patched",
                 "rows: 12; 1 without a score: infrastructure; 1 without a score: needs a judge model", "1 scores are the file's own rewards",
                 "tasks without a row: 154 of 165", "143 of the 165 test tasks have a template"):
        assert line in text, line
    whole = json.loads(as_json(report))
    assert (whole["scoring"], whole["published"]["successes"], whole["patched"]["successes"], whole["patched"]["scored"]) == ("webarena", 3, 5, 8)
    assert whole["rows"][2] == {"place": "line 3", "task_id": "webarena-lite.144", "seed": 0, "published": 0, "patched": 1, "taken_over": False, "why": ""}


def test_the_variant_is_chosen_and_said(settings, tmp_path):
    """BrowserGym's rules cannot be patched for 144; by wr1, numbers are numbers even as published."""
    path = written(tmp_path, {"task_id": 144, "answer": "$0.00"})
    for scoring, published, patched in (("webarena", 0, 1), ("browsergym", 0, 0), ("wr1", 1, 1)):
        report = score_file(settings, "webarena-lite", path, scoring)
        assert (report.scoring, report.rows[0].published, report.rows[0].patched) == (scoring, published, patched)
        assert any(note.startswith("wr1 wants the whole address") for note in report.notes) == (scoring == "wr1")
    with pytest.raises(SettingsError, match="'webarna' \\(did you mean 'webarena'"):
        score_file(settings, "webarena-lite", path, "webarna")


def test_addresses_of_the_environment_are_known(settings, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOPPING", "http://shop:7770/")
    rows = [{"task_id": 240, "answer": "x", "url": base + SWIMWEAR, "seed": seed} for seed, base in enumerate(("http://shop:7770", "http://other:7770"))]
    assert [one.patched for one in score_file(settings, "webarena-lite", written(tmp_path, *rows)).rows] == [1, 0]


def test_every_invalid_line_is_named(settings, tmp_path):
    path = written(tmp_path, {"task_id": 4}, {"task_id": 9999, "answer": "x"}, "", "not json", {"task_id": 4, "answer": "x"}, {"task_id": 4, "answer": "y"},
                   {"taskid": 4}, {"task_id": 7, "answer": 3}, {"task_id": 7, "answer": "x", "reward": 0.5}, {"task_id": 7, "answer": "x", "status": "won"}, [1],
                   {"task_id": 7, "answer": "x", "url": "__SHOP__/x"})
    with pytest.raises(FileError) as caught:
        score_file(settings, "webarena-lite", path)
    said = str(caught.value)
    for words in ("line 1: answer is missing", "line 2: webarena-lite has no test task 'webarena-lite.9999'", "line 4: not JSON",
                  "line 6: task webarena-lite.4 with seed 0 is already in line 5", "line 7: there is no field 'taskid' (did you mean 'task_id'?)",
                  "line 8: answer is 3; it should be str or null", "line 9: reward is 0.5; it should be 0, 1 or null", "line 10: status is 'won'",
                  "line 11: it should be an object, not list", "line 12: '__SHOP__/x' names the site __SHOP__"):
        assert words in said, words
    assert "line 3" not in said and "line 5:" not in said


@pytest.mark.parametrize("name, content, words", [("none.jsonl", None, "There is no file"), ("answers.csv", b"x", "neither a .jsonl nor a .parquet file"),
                                                  ("empty.jsonl", b"\n", "holds no rows of webarena-lite"), ("bad.parquet", b"x", "is not a Parquet file"),
                                                  ("latin.jsonl", b"\xff", "is not UTF-8")])
def test_files_that_cannot_be_read(settings, tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=words):
        score_file(settings, "webarena-lite", tmp_path / name)


def test_lines_that_python_cannot_read_are_named(settings, tmp_path):
    """Deep nesting and endless numbers are faults of their lines, not of the command; the lines beside them are still looked at."""
    path = written(tmp_path, '{"task_id": 4, "answer": ' + "[" * 100_000 + "]" * 100_000 + "}", '{"task_id": ' + "9" * 5000 + ', "answer": "x"}', "not json")
    with pytest.raises(FileError) as caught:
        score_file(settings, "webarena-lite", path)
    said = str(caught.value)
    for words in ("line 1: brackets are nested too deeply", "line 2: it holds a number of thousands of digits", "line 3: not JSON"):
        assert words in said, words
    assert len(said) < 500


def test_a_file_may_begin_with_a_byte_order_mark(settings, tmp_path):
    path = written(tmp_path, {"task_id": 4, "answer": BAGS})
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert [(one.row.place, one.patched) for one in score_file(settings, "webarena-lite", path).rows] == [("line 1", 1)]


def test_a_malformed_address_is_a_wrong_one(settings, tmp_path):
    path = written(tmp_path, *({"task_id": 240, "answer": "x", "url": url, "seed": seed} for seed, url in enumerate(("http://[bad", "http://h:99999/a"))))
    for scoring in ("wr1", "webarena", "browsergym"):
        assert [one.patched for one in score_file(settings, "webarena-lite", path, scoring).rows] == [0, 0]


def test_a_table_of_answers(settings, tmp_path):
    pd.DataFrame([{"task_id": 4, "answer": BAGS, "url": None}, {"task_id": 240, "answer": None, "url": "__SHOPPING__" + SWIMWEAR}]).to_parquet(tmp_path / "a.parquet")
    assert [(one.row.place, one.patched) for one in score_file(settings, "webarena-lite", tmp_path / "a.parquet").rows] == [("row 1", 1), ("row 2", 1)]


def trajectory(task_id, **changes):
    values = dict(run="", benchmark="webarena-lite", site="shopping", template="1", split="seen_template", intent="", group=0, member=0, seed=0, policy="other",
                  status="failure", reward=0.0, answer="done", error="", seconds=1.0, scoring="webarena")
    return Trajectory(**{**values, "task_id": task_id, **changes})


def test_trajectories_keep_what_was_scored_on_the_sites(settings, tmp_path):
    """Their answers are scored again only where a patch makes a difference, or by another variant than theirs."""
    mine = [trajectory("webarena-lite.505", status="success", reward=1.0), trajectory("webarena-lite.144", answer="$0.00"),
            trajectory("webarena-lite.4", status="infrastructure", reward=None), trajectory("webarena-lite.103", status="success", reward=1.0),
            trajectory("pocket.1", benchmark="pocket")]
    path = write_trajectories(tmp_path / "trajectories.parquet", mine)
    for report in (score_file(settings, "webarena-lite", path), score_trajectories(settings, "webarena-lite", mine, "webarena")):
        assert [(one.published, one.patched, one.taken_over, one.why) for one in report.rows] == [
            (1, 1, False, ""), (0, 1, False, ""), (None, None, False, "infrastructure"), (1, 1, False, "")]
    other = score_file(settings, "webarena-lite", path, "browsergym")
    assert [(one.patched, one.taken_over, one.why) for one in other.rows] == [(1, True, ""), (0, False, ""), (None, False, "infrastructure"), (None, False, "needs the url")]


def test_rates():
    assert rate([1.0, 0.0, None, 1.0]) == pytest.approx({"successes": 2, "scored": 3, "rate": 2 / 3, "low": 0.2077, "high": 0.9385}, abs=1e-4)
    assert rate([None])["rate"] is None


def test_the_pocket_arenas_answers(tmp_path):
    """Files are scored for the other benchmarks too, but for the one whose pages give the reward."""
    settings = load_settings("smoke")
    path = written(tmp_path, {"task_id": "pocket.none", "answer": "x"})
    with pytest.raises(FileError, match="pocket has no test task 'pocket.none'"):
        score_file(settings, "pocket", path)
    with pytest.raises(SettingsError, match="cannot be scored for 'miniwob'"):
        score_file(settings, "miniwob", path)


def test_the_command(webarena_files, tmp_path, capsys):
    profile = tmp_path / "mine.toml"
    profile.write_text(f'extends = "smoke"\n[webarena]\nlite_file = "{webarena_files.lite_file}"\nfull_file = "{webarena_files.full_file}"\n')
    path = written(tmp_path, {"task_id": 4, "answer": BAGS})
    assert cli.main(["score", str(path), "--profile", str(profile)]) == 0
    assert "patched:      1 of 1 scored rows" in capsys.readouterr().out
    assert cli.main(["score", str(path), "--profile", str(profile), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["patched"]["rate"] == 1
    assert cli.main(["score", str(written(tmp_path, {"task_id": 4})), "--profile", str(profile)]) == 2
    assert capsys.readouterr().err.endswith("line 1: answer is missing.\n")
