"""Task records: read back equal, and refused with a sentence that says what would be right."""

import json

import pytest

from wr1_utils.tasks.task import TaskError, load_tasks, save_tasks

RECORD = {
    "task_id": 7,
    "sites": ["shopping"],
    "start_url": "__SHOPPING__",
    "intent": "What does the Red Mug cost?",
    "intent_template": "What does the {{product}} cost?",
    "intent_template_id": 3,
    "instantiation_dict": {"product": "Red Mug"},
    "require_login": False,
    "require_reset": False,
    "storage_state": None,
    "eval": {"eval_types": ["string_match"], "reference_answers": {"must_include": ["12.50"]}},
    "split": "train",
}


def write(tmp_path, *records):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(list(records)))
    return path


def test_tasks_are_read_and_written_back_equal(tmp_path):
    """load(save(tasks)) == tasks; the id is text and the sites are a tuple."""
    tasks = load_tasks(write(tmp_path, RECORD))
    save_tasks(tasks, tmp_path / "again.json")
    assert load_tasks(tmp_path / "again.json") == tasks
    assert tasks[0].task_id == "7" and tasks[0].sites == ("shopping",)
    assert tasks[0].benchmark == "pocket" and tasks[0].site == "shopping"


@pytest.mark.parametrize("field", [field for field in RECORD if field != "storage_state"])
def test_a_missing_field_is_named(tmp_path, field):
    """The error names the file, the record and the missing field."""
    path = write(tmp_path, RECORD, {key: value for key, value in RECORD.items() if key != field} )
    with pytest.raises(TaskError) as error:
        load_tasks(path)
    assert str(path) in str(error.value) and "record 1" in str(error.value) and repr(field) in str(error.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sites": "shopping"}, "should be a list, not text"),
        ({"sites": []}, "list of site names"),
        ({"require_login": 1}, "should be true or false"),
        ({"intent_template_id": True}, "should be text or a number"),
        ({"split": "test"}, "train, seen_template, unseen_template"),
        ({"eval": {"eval_types": ["string_match"], "reference_answers": None}}, "eval.reference_answers"),
        ({"eval": {"eval_types": ["string_matches"]}}, "eval.eval_types"),
        ({"eval": {"eval_types": ["url_match"]}}, "eval.reference_url"),
        ({"eval": {"eval_types": ["program_html"], "program_html": []}}, "eval.program_html"),
        (
            {"eval": {"eval_types": ["program_html"], "program_html": [{"url": "last", "locator": ""}]}},
            "required_contents",
        ),
        (
            {"eval": {"eval_types": ["program_html"], "program_html": [{"url": "last", "locator": "", "required_contents": {"same": "a"}}]}},
            "one or more of verbatim, exact_match, must_include, must_exclude, fuzzy_match",
        ),
        (
            {"eval": {"eval_types": ["program_html"], "program_html": [{"url": "last", "locator": "", "required_contents": {"verbatim": ["a"]}}]}},
            "'verbatim' should be text",
        ),
    ],
)
def test_a_wrong_field_is_refused_with_what_would_be_right(tmp_path, change, said):
    """Wrong types and unknown names are refused when the file is read, not when the episode ends."""
    with pytest.raises(TaskError, match=said.replace(".", r"\.")) as error:
        load_tasks(write(tmp_path, {**RECORD, **change}))
    assert "task_id 7" in str(error.value)


def test_faulty_files_are_refused(tmp_path):
    """No file, no JSON, no array, one id twice."""
    with pytest.raises(TaskError, match="no task file"):
        load_tasks(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("[")
    with pytest.raises(TaskError, match="not JSON"):
        load_tasks(tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(TaskError, match="JSON array"):
        load_tasks(tmp_path / "bad.json")
    with pytest.raises(TaskError, match="already used by record 0"):
        load_tasks(write(tmp_path, RECORD, RECORD))


def test_a_geolocation_is_kept_and_none_is_not_written(tmp_path):
    place = {"latitude": 40.4, "longitude": -79.9}
    first, second = tasks = load_tasks(write(tmp_path, {**RECORD, "geolocation": place}, {**RECORD, "task_id": 8, "geolocation": None}))
    assert first.geolocation == place and second.geolocation is None
    save_tasks(tasks, tmp_path / "again.json")
    assert load_tasks(tmp_path / "again.json") == tasks and '"geolocation": null' not in (tmp_path / "again.json").read_text()


@pytest.mark.parametrize("task_id, benchmark", [(7, "pocket"), ("arena.7", "arena"), ("webarena.7", "webarena"), ("webarena-lite.7", "webarena-lite")])
def test_the_benchmark_is_told_by_the_id(tmp_path, task_id, benchmark):
    assert load_tasks(write(tmp_path, {**RECORD, "task_id": task_id}))[0].benchmark == benchmark
