"""The tasks of the site gitlab: well-formed, nothing of the test set in the training set, each answer where a visitor would look for it."""

import re
from collections import Counter
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from wr1_utils.sites.gitlab_seed import slug_of
from wr1_utils.sites.server import SESSIONS, WORLD_HEADER, make_app, seeds
from wr1_utils.sites.world import Worlds
from wr1_utils.tasks.gitlab_templates import TEMPLATES
from wr1_utils.tasks.task import Task
from wr1_utils.tasks.templates import make_tasks

TRAIN, TEST = make_tasks(TEMPLATES, 0)
NEW = {"gitlab_new_issue", "gitlab_new_request", "gitlab_fork", "gitlab_create"}       # what is checked first does not exist yet


@pytest.fixture(scope="module")
def git():
    """The main user's visit to a fresh world."""
    worlds = Worlds(seeds())
    cookie, token = SESSIONS["gitlab"]
    with TestClient(make_app(worlds), "http://gitlab.localhost", cookies={cookie: token},
                    headers={WORLD_HEADER: worlds.create().key}) as client:
        yield client


def words(response):
    """The text of a page, without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text))


def found(git, text, scope="projects"):
    """The address of the one project or issue of which the search for `text` finds the name."""
    page = git.get(f"/search?{urlencode({'search': text, 'scope': scope})}").text
    (address,) = [address for address, label in re.findall(r'<td><a href="([^"]+)">([^<]+)</a>', page) if label.split(" / ")[-1] == text]
    return address


def tasks_of(template):
    return [task for task in TRAIN + TEST if task.intent_template_id == template]


def test_sizes_and_splits():
    assert len(TRAIN) == 118 and len(TEST) == 30 and {task.split for task in TRAIN} == {"train"}
    trained = {task.intent_template_id for task in TRAIN}
    for task in TEST:
        assert task.split == ("seen_template" if task.intent_template_id in trained else "unseen_template")
    assert {task.intent_template_id for task in TEST} - trained == {"gitlab_issue_due", "gitlab_feed_token", "gitlab_star_open",
                                                                    "gitlab_approve_merge"}
    assert sum(task.split == "unseen_template" for task in TEST) >= 0.2 * len(TEST)
    for tasks in (TRAIN, TEST):
        kinds = Counter(kind for task in tasks for kind in task.eval["eval_types"])
        shares = [kinds[kind] / len(tasks) for kind in ("string_match", "program_html", "url_match")]
        assert shares == pytest.approx([0.48, 0.41, 0.23], abs=0.05)


def test_no_intent_and_no_filling_is_in_both_sets():
    def filled(tasks):
        return {(task.intent_template_id, frozenset(map(str, task.instantiation_dict.values()))) for task in tasks}

    assert not filled(TRAIN) & filled(TEST)
    assert len({task.intent for task in TRAIN + TEST}) == len(TRAIN + TEST)


def test_another_seed_gives_other_tasks():
    assert {task.intent for task in TRAIN} != {task.intent for task in make_tasks(TEMPLATES, 1)[0]}
    assert make_tasks(TEMPLATES, 0) == (TRAIN, TEST)


def test_every_task_is_well_formed():
    assert all(template.name.startswith("gitlab_") and 1 <= len(template.phrasings) <= 3 for template in TEMPLATES)
    for task in TRAIN + TEST:
        assert isinstance(task, Task) and task.sites == ("gitlab",) and task.start_url == "__GITLAB__/" and task.require_login
        assert "{{" not in task.intent and len(task.intent) <= 140, task.intent


# --- answers and addresses, by a visitor's way -----------------------------------------------------------------------------------

ANSWERS = {                      # template → (page after the project's or the address, what stands there before the answer)
    "gitlab_visibility": ("", "Visibility"), "gitlab_stars": ("", "Stars"), "gitlab_commit_count": ("/-/graphs/main", "{person}"),
    "gitlab_top_author": ("/-/graphs/main", "Author Commits First Last"), "gitlab_issue_assignee": ("", "Assignee"),
    "gitlab_label_count": ("/-/labels", r"\b{label} [A-Z][a-z]+ [A-Z][a-z ]+"), "gitlab_clone_address": ("", "Clone with {way}"),
    "gitlab_milestone_due": ("/-/milestones", "{milestone}"), "gitlab_setting": ("/-/blob/main/settings.ini", r"\b{setting} ="),
    "gitlab_issue_state": ("", "State"), "gitlab_issue_due": ("", "Due date"),
}


@pytest.mark.parametrize("template", ANSWERS)
def test_the_answer_stands_where_the_task_says(git, template):
    path, before = ANSWERS[template]
    for task in tasks_of(template):
        filling = task.instantiation_dict
        place = found(git, filling["issue"], "issues") if "issue" in filling else found(git, filling["project"])
        answer = task.eval["reference_answers"]["exact_match"]
        page = words(git.get(place + path))
        assert re.search(rf"{before.format(**filling)} {re.escape(answer)}( |$)", page), (task.intent, answer, page)
        if task.eval["reference_url"]:
            assert task.eval["reference_url"] == f"__GITLAB__{place}"


def test_the_visibility_that_is_asked_for_stands_on_the_first_page(git):
    page = words(git.get("/"))
    for task in tasks_of("gitlab_visibility"):
        assert f"/ {task.instantiation_dict['project']} {task.eval['reference_answers']['exact_match']}" in page


def test_nobody_else_has_as_many_commits(git):
    for task in tasks_of("gitlab_top_author"):
        page = git.get(f"{found(git, task.instantiation_dict['project'])}/-/graphs/main").text
        first, second = [int(count) for count in re.findall(r"</a></td><td>([0-9]+)</td>", page)][:2]
        assert first > second


def test_settings_that_are_asked_for_in_vain_are_on_no_branch(git):
    for task in tasks_of("gitlab_no_such_setting"):
        place = found(git, task.instantiation_dict["project"])
        branches = re.findall(rf'href="{place}/-/tree/([^"]+)">\1<', git.get(f"{place}/-/branches").text)
        assert "main" in branches and task.eval["reference_answers"] == {"exact_match": "N/A"}
        for branch in branches:
            page = git.get(f"{place}/-/blob/{branch}/settings.ini")
            assert page.status_code == 200 and f"{task.instantiation_dict['setting']} =" not in page.text


def test_the_job_stands_on_the_card_of_a_member_and_on_no_page_that_leads_there(git):
    for task in tasks_of("gitlab_job"):
        place, filling, job = found(git, task.instantiation_dict["project"]), task.instantiation_dict, task.eval["reference_answers"]["exact_match"]
        members = git.get(f"{place}/-/project_members").text
        card, username = re.search(rf'data-card="(/users/(\w+)/card)">{filling["person"]}<', members).groups()
        assert f"Job: {job}<" in git.get(card).text
        assert all(job not in git.get(path).text for path in (place, f"{place}/-/project_members", f"/{username}", "/profile"))


def test_the_feed_token(git):
    (task,) = tasks_of("gitlab_feed_token")
    assert f"Feed token {task.eval['reference_answers']['exact_match']} " in words(git.get("/profile"))


def test_addresses_lead_to_what_was_asked_for(git):
    for task in TRAIN + TEST:
        if task.eval["reference_url"] and task.intent_template_id != "gitlab_fork":
            filling, page = task.instantiation_dict, git.get(task.eval["reference_url"].removeprefix("__GITLAB__"))
            assert page.status_code == 200, task.intent
            for name in ("value", "person"):
                if name in filling:
                    assert re.search(rf"<option[^>]* selected[^>]*>{filling[name]}<", page.text), task.intent
            if "project" in filling:
                assert f"/ {filling['project']}</a>" in page.text


def test_one_merge_request_of_the_project_waits(git):
    page = words(git.get("/dashboard/merge_requests"))
    for task in tasks_of("gitlab_open_review"):
        merge = words(git.get(task.eval["reference_url"].removeprefix("__GITLAB__")))
        assert page.count(f" {task.instantiation_dict['project']} ") == 1 and "State Open" in merge and "Reviewer Emma Lane" in merge


# --- states ----------------------------------------------------------------------------------------------------------------------

def test_every_state_is_looked_up_on_a_page_that_there_is(git):
    for task in TRAIN + TEST:
        for check in task.eval["program_html"]:
            path = check["url"].removeprefix("__GITLAB__")
            made = task.eval["program_html"][0]["url"].removeprefix("__GITLAB__")
            missing = task.intent_template_id in NEW and (path == made or path.startswith(f"{made}/"))
            assert git.get(path).status_code == (404 if missing else 200), (task.intent, path)


def test_what_is_to_be_changed_is_not_yet_so(git):
    for task in TRAIN + TEST:
        filling, checks = task.instantiation_dict, task.eval["program_html"]
        if checks and task.intent_template_id not in NEW:
            page = words(git.get(checks[0]["url"].removeprefix("__GITLAB__")))
            for name in ("text", "status", "date", "version"):
                assert name not in filling or filling[name] not in page, task.intent
        if task.intent_template_id == "gitlab_create":
            assert git.get(f"/{slug_of(filling['name'])}").status_code == 404
