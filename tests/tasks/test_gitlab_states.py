"""Each change of the site gitlab, made by its forms: what was asked for scores 1, and nothing beside, before or beyond it does."""

from urllib.parse import urlencode

import pytest

from wr1_utils.settings import load_settings
from wr1_utils.sites.gitlab_seed import slug_of
from wr1_utils.tasks.gitlab_states import seed_git
from wr1_utils.tasks.gitlab_templates import PAGES, TEMPLATES
from wr1_utils.tasks.pocket import PocketArena
from wr1_utils.tasks.templates import make_tasks
from wr1_utils.web.browser import Browser
from wr1_utils.web.loop import run

GIT = seed_git()
TASKS = {task.intent_template_id: task for task in sum(make_tasks(TEMPLATES, 0), [])}
SEND = """async ([path, body]) => {
    const response = await fetch(path, {method: "POST", body, headers: {"Content-Type": "application/x-www-form-urlencoded"}});
    return [response.status, response.url];
}"""


@pytest.fixture(scope="module")
def arena():
    arena = PocketArena()
    arena.start()
    yield arena
    arena.stop()


@pytest.fixture(scope="module")
def browser():
    browser = Browser(load_settings("smoke").browser)
    run(browser.start())
    yield browser
    run(browser.stop())


def score(arena, browser, task, posts, answer="done"):
    """The score of an episode that sent these forms, (address, fields) each (fields None: opened it), and ended where the last leads."""
    async def play():
        visit = arena.enter(task, 0)
        context = await browser.open(headers=visit.headers, cookies=visit.cookies, viewport=arena.viewport)
        try:
            page, address = await context.new_page(), visit.start_url
            await page.goto(address)
            for path, fields in posts:
                if path == "{confirm}":
                    path = address.removeprefix(visit.start_url.rstrip("/"))
                    shown = await page.evaluate("async () => await (await fetch('/profile/email')).text()")
                    fields = {"code": fields["code"].format(code=shown.split("Its code is ")[1][:4])}
                address = visit.start_url.rstrip("/") + path
                if fields is not None:
                    status, address = await page.evaluate(SEND, [path, urlencode(fields, doseq=True)])
                    assert status == (400 if fields == {"code": "0000"} else 200), (path, fields, status)
            await page.goto(address)
            return await arena.score(page, context, task, visit, answer)
        finally:
            await browser.close(context)
            arena.leave(visit)

    return run(play())


# --- forms -----------------------------------------------------------------------------------------------------------------------

def project(filling, path=""):
    return f"{GIT.project(filling['project'])['url']}/-/{path}"


def issue(title, path=""):
    found, place = GIT.issue(title)
    return f"{place['url']}/-/issues/{found['iid']}{path}"


def edit(title, **changes):
    """The form of an issue as it is, but for the changes."""
    found, _ = GIT.issue(title)
    form = {"title": found["title"], "description": found["description"], "labels": found["label_names"].split(", "),
            "assignee": found["assignee_username"] or "", "milestone": found["milestone_title"] or "", "due": found["due"]}
    return issue(title, "/edit"), {**form, **changes}


def another_issue(filling):
    """The title of another open issue of the project, the last one by title."""
    _, place = GIT.issue(filling["issue"])
    return max(i["title"] for i in place["issues"] if i["state"] == "opened" and i["title"] != filling["issue"])


def request(filling, what, other=False, **fields):
    merges = [m for m in GIT.project(filling["project"])["merges"] if m["state"] == "opened"]
    chosen = next(m for m in merges if (m["title"] == filling["request"]) != other)
    return project(filling, f"merge_requests/{chosen['iid']}/{what}"), fields


def members(filling, do, **fields):
    return project(filling, "project_members"), {"do": do, "user": GIT.people[filling["person"]], **fields}


def elsewhere(filling):
    """The same, in another project of the user's."""
    return {**filling, "project": next(p["name"] for p in GIT.named("Owner") if p["name"] != filling["project"])}


def in_another_project(filling):
    """Changes of tables that a new project fills too, each in another project of the user's: a file, a new file, a branch, one less, a label."""
    free = [(p["url"] + "/-/", branch) for p in GIT.named("Developer") for branch in p["branches"] if p["name"] != filling.get("project")
            and branch not in ("main", *(merge["source"] for merge in p["merges"] if merge["state"] == "opened"))]
    there, branch = free[0]
    return [(there + "edit/main/VERSION", {"text": "6.6.6", "message": "Other"}), (there + "new/main", {"path": "x", "text": "y", "message": "z"}),
            (there + "branches", {"branch": "other", "source": "main"}), (there + "branches/delete", {"branch": branch}),
            (there + "labels", {"label": "other", "color": "Red"})]


def changed_after(name):
    """A new project of the user's without one of its labels and with another; with another owner, and without the user."""
    own = f"/emma/{slug_of(name)}/-/"
    member = own + "project_members"
    return [[(own + "labels/delete", {"label": "bug"}), (own + "labels", {"label": "other", "color": "Red"})],
            [(member, {"do": "invite", "user": "quinn", "role": "Owner"}), (member, {"do": "remove", "user": "emma"})]]


# Each gives what solves the task, then what does not: forms to send in a fresh world.

def star(f):
    do, undo = ("star", "unstar") if f["do"] == "Star" else ("unstar", "star")
    done, other = (project(f, do), {}), next(p for p in GIT.named() if p["name"] != f["project"])
    too = (f"{other['url']}/-/{'unstar' if other['starred'] else 'star'}", {})
    return [done], [[(project(f, undo), {})], [done, (project(f, undo), {})], [too], [done, too]]


def star_open(f):
    done, there = (project(f, "star"), {}), (project(f, PAGES[f["page"]]), None)
    return [done, there], [[done], [there], [done, (project(f, "unstar"), {}), there],
                           [done, (project(elsewhere(f), PAGES[f["page"]]), None)]]


def fork(f):
    done, other = (project(f, "fork"), {}), next(p["name"] for p in GIT.named() if p["space"] != "emma" and p["name"] != f["project"])
    return [done], [[(project({"project": other}, "fork"), {})], [(project({"project": other}, "fork"), {}), done], [done, ("/", None)],
                    *([there, done] for there in in_another_project(f)), *([done, *after] for after in changed_after(f["project"]))]


def new_issue(f):
    form = {"title": f["title"], "labels": f["label"], "assignee": GIT.people[f["person"]], "due": f["date"]}
    path, comment = project(f, "issues/new"), (project(f, "issues/19/comment"), {"text": "Hello"})
    wrong = [{"title": "Other"}, {"labels": []}, {"labels": GIT.project(f["project"])["labels"]}, {"assignee": "emma"},
             {"due": "2026-12-24"}, {"description": "More"}, {"milestone": "Spring release"}]
    return [(path, form)], [*([(path, {**form, **change})] for change in wrong), [(path, form), (path, form)], [(path, form), comment],
                            [(project(elsewhere(f), "issues/new"), {**form, "assignee": ""})]]


def assign_issue(f):
    done, other = edit(f["issue"], assignee=GIT.people[f["person"]]), another_issue(f)
    return [done], [[edit(other, assignee=GIT.people[f["person"]])], [edit(f["issue"], assignee="")], [done, edit(f["issue"])],
                    [edit(f["issue"], assignee=done[1]["assignee"], due="2026-12-24")],
                    [done, (issue(other, "/state"), {"state": "closed"})], [done, edit(other, labels=[])]]


def label_issue(f):
    labels = GIT.issue(f["issue"])[0]["label_names"].split(", ")
    done = edit(f["issue"], labels=[*labels, f["label"]])
    return [done], [[edit(f["issue"], labels=f["label"])], [edit(f["issue"], labels=GIT.issue(f["issue"])[1]["labels"])],
                    [done, edit(f["issue"])], [edit(another_issue(f), labels=[*labels, f["label"]])]]


def comment_close(f):
    say, close = (issue(f["issue"], "/comment"), {"text": f["text"]}), (issue(f["issue"], "/state"), {"state": "closed"})
    other = another_issue(f)
    return [say, close], [[say], [close], [say, say, close], [(say[0], {"text": "Other"}), close],
                          [say, close, (close[0], {"state": "opened"})], [say, close, (issue(other, "/state"), {"state": "closed"})],
                          [(issue(other, "/comment"), {"text": f["text"]}), (issue(other, "/state"), {"state": "closed"})]]


def one_request(f):
    forms = {"Approve": ("approve", {}), "Merge": ("merge", {}), "Close": ("state", {"state": "closed"})}
    done = request(f, forms[f["do"]][0], **forms[f["do"]][1])
    wrong = [[request(f, what, **fields)] for do, (what, fields) in forms.items() if do != f["do"]]
    other = [request(f, what, other=True, **fields) for what, fields in (forms["Merge"], forms["Close"])]
    return [done], [*wrong, [request(f, "comment", text="Hello"), done], [request(f, "people", assignee="emma"), done],
                    *([step] for step in other), *([done, step] for step in other)]


def approve_merge(f):
    approve, merge = request(f, "approve"), request(f, "merge")
    return [approve, merge], [[approve], [merge], [request(f, "approve", other=True), merge],
                              [approve, merge, request(f, "merge", other=True)]]


def new_request(f):
    form = {"source": f["branch"], "title": f["title"], "reviewer": GIT.people[f["person"]]}
    path, close = project(f, "merge_requests/new"), (request({**f, "request": ""}, "state", other=True, state="closed"))
    wrong = [{"title": "Other"}, {"reviewer": ""}, {"reviewer": "emma"}, {"assignee": form["reviewer"]}, {"description": "More"}]
    return [(path, form)], [*([(path, {**form, **change})] for change in wrong), [(path, form), close]]


def invite(f):
    done = members(f, "invite", role=f["role"])
    wrong = next(role for role in ("Guest", "Owner") if role != f["role"])
    taken = {f["person"], *(member["name"] for member in GIT.project(f["project"])["members"])}
    other = members({**f, "person": next(name for name in GIT.people if name not in taken)}, "invite", role=f["role"])
    return [done], [[members(f, "invite", role=wrong)], [done, members(f, "remove")], [other], [done, other],
                    [members(elsewhere(f), "invite", role=f["role"])]]


def member_and_other(f):
    """The member that the task is about, and the filling for another one of the project."""
    found = [member for member in GIT.project(f["project"])["members"] if member["kind"] == "project" and member["name"] != "Emma Lane"]
    member = next(member for member in found if member["name"] == f["person"])
    return member, {**f, "person": next(other["name"] for other in found if other is not member)}


def change_role(f):
    member, other = member_and_other(f)
    done = members(f, "change", role=f["role"])
    wrong = next(role for role in ("Guest", "Reporter", "Developer") if role not in (f["role"], member["role"]))
    return [done], [[members(f, "change", role=wrong)], [done, members(f, "change", role=member["role"])], [members(f, "remove")],
                    [members(other, "remove")], [done, members(other, "remove")]]


def remove_member(f):
    member, other = member_and_other(f)
    done = members(f, "remove")
    return [done], [[done, members(f, "invite", role=member["role"])], [members(other, "remove")], [done, members(other, "remove")],
                    [members(f, "change", role="Reporter" if member["role"] == "Guest" else "Guest")]]


def edit_file(f):
    path, form = project(f, "edit/main/VERSION"), {"text": f["version"], "message": f["message"]}
    wrong = [{"text": "0.0.1"}, {"text": f["version"] + "\nx"}, {"message": "Other"}]
    return [(path, form)], [*([(path, {**form, **change})] for change in wrong), [(path, {**form, "text": "x"}), (path, form)],
                            [(project(elsewhere(f), "edit/main/VERSION"), form)],
                            [(path, form), (project(f, "edit/main/LICENSE"), {"text": "None", "message": "Other"})]]


def create(f):
    form = {"name": f["name"], "space": "emma", "visibility": f["visibility"].capitalize(), "readme": "on"}
    path, other = f"/{f['kind']}s/new", {"project": "group", "group": "project"}[f["kind"]]
    wrong = [{"visibility": next(v for v in ("Private", "Public") if v != form["visibility"])}, {"name": "Other"}, {"description": "More"}]
    return [(path, form)], [*([(path, {**form, **change})] for change in wrong), [(f"/{other}s/new", form)],
                            [(path, form), (path, {**form, "name": "Other"})], *([(path, form), there] for there in in_another_project(f)),
                            *([(path, {key: value for key, value in form.items() if key != "readme"}), there] for there in in_another_project(f)[:2]),
                            *([(path, form), *after] for after in changed_after(f["name"]) if f["kind"] == "project")]


def status(f):
    profile = {field: GIT.user[field] for field in ("name", "status", "bio", "location")}
    done = {**profile, "status": f["status"]}
    return [("/profile", done)], [[("/profile", {**done, "status": "Busy"})], [("/profile", {**done, "bio": f["status"]})],
                                  [("/profile", {**profile, "bio": f["status"]})], [("/profile", done), ("/profile", profile)],
                                  [("/profile", done), ("/profile/email", {"email": "q@w.test"})]]


def email(f):
    """The code stands on the page of the form after it was sent; a page asks for it whose address only the form leads to."""
    ask, confirm = ("/profile/email", {"email": f["email"]}), ("{confirm}", {"code": "{code}"})
    other = ("/profile/email", {"email": "emma.lane@git.test"})
    profile = {field: GIT.user[field] for field in ("name", "status", "bio", "location")}
    return [ask, confirm], [[ask], [ask, ("{confirm}", {"code": "0000"})], [other, confirm], [ask, confirm, other],
                            [ask, confirm, ("/profile", {**profile, "status": "Busy"}), ("/profile/email", None)]]


def new_milestone(f):
    path, form = project(f, "milestones/new"), {"title": f["title"], "due": f["date"]}
    return [(path, form)], [[(path, {**form, "due": ""})], [(path, {**form, "title": "Other"})],
                            [(path, form), (path, {**form, "title": "Other"})], [(project(elsewhere(f), "milestones/new"), form)]]


CASES = {f"gitlab_{case.__name__}": case for case in (
    star, star_open, fork, new_issue, assign_issue, label_issue, comment_close, approve_merge, new_request, invite, change_role,
    remove_member, edit_file, create, status, email, new_milestone)} | {"gitlab_request": one_request}


def beside(f):
    """A comment on an issue of a project that the task does not name."""
    named = {f.get("project"), GIT.issue(f["issue"])[1]["name"] if "issue" in f else None}
    there = next(p for p in GIT.named() if p["name"] not in named and p["issues"])
    return f"{there['url']}/-/issues/{there['issues'][0]['iid']}/comment", {"text": "Hello"}


def test_every_change_has_its_cases():
    assert set(CASES) == {name for name, task in TASKS.items() if task.eval["program_html"]}


QUICK = ("gitlab_star", "gitlab_label_issue", "gitlab_change_role", "gitlab_status", "gitlab_fork")  # the other templates are played in the slow tier


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in CASES])
def test_what_was_asked_for_and_nothing_else_scores(arena, browser, name):
    task = TASKS[name]
    right, misses = CASES[name](task.instantiation_dict)
    assert score(arena, browser, task, right) == 1.0
    assert score(arena, browser, task, []) == 0.0
    for miss in [*misses, [beside(task.instantiation_dict), *right]]:
        assert score(arena, browser, task, miss) == 0.0, miss


TEXTS = [(name, slot) for name in CASES for slot in ("text", "title", "message", "status", "name") if slot in TASKS[name].instantiation_dict]


@pytest.mark.parametrize("name, slot", TEXTS)
def test_a_text_in_another_case_or_with_an_invisible_character_scores_nothing(arena, browser, name, slot):
    filling = TASKS[name].instantiation_dict
    text = filling[slot]
    for near in (text.swapcase(), f"{text[:1]}\u200b{text[1:]}", f"{text}\u2060"):
        right, _ = CASES[name]({**filling, slot: near})
        assert score(arena, browser, TASKS[name], right) == 0.0, near


def test_merge_requests_are_merged_and_closed_too(arena, browser):
    for do in ("Approve", "Merge", "Close"):
        task = next(task for task in sum(make_tasks(TEMPLATES, 0), []) if task.intent.startswith(f"{do} the merge request")
                    and task.intent_template_id == "gitlab_request")
        right, _ = one_request(task.instantiation_dict)
        assert score(arena, browser, task, right) == 1.0
        if do == "Merge":                     # a merge changes files and commits, too
            assert [score(arena, browser, task, [there, *right]) for there in in_another_project(task.instantiation_dict)[:4]] == [0.0] * 4


def test_a_question_about_an_opened_issue_wants_the_answer_and_the_page(arena, browser):
    task = TASKS["gitlab_issue_state"]
    right, there = task.eval["reference_answers"]["exact_match"], [(issue(task.instantiation_dict["issue"]), None)]
    assert score(arena, browser, task, there, right) == 1.0
    for posts, answer in ((there, "Closed" if right == "Open" else "Open"), (there, None), (there, f"{right}, I think"), ([], right)):
        assert score(arena, browser, task, posts, answer) == 0.0
