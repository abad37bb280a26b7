"""The code hosting site shows each visitor what it should, changes code as its forms say, and never answers with a fault of its own."""

import random
import re

import httpx
import pytest

from wr1_utils.sites.gitlab_code import change_lines
from wr1_utils.sites.gitlab_merges import merged_text

OWN = "/emma/recipe-box"                           # the main user is its owner
TEAM = "/northford-transit/route-finder"           # … a developer, by the group
OTHER = "/otis/puzzle-solver"                      # … no member


def words(response):
    """The text of a page, without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text))


def links(response, row):
    """The texts of the links in the rows of class `row`."""
    return re.findall(rf'<tr class="{row}".*?<a [^>]*>(.*?)</a>', response.text)


# --- looking around --------------------------------------------------------------------------------------------------------------

def test_the_first_page_has_the_users_projects_and_work(git):
    page = words(git("/"))
    assert "emma / Recipe Box" in page and "Puzzle Solver" not in page and "Assigned issues" in page


def test_a_visitor_without_login_sees_public_projects_alone(git_as):
    visit = git_as(None)
    page = visit("/")
    assert page.url.path == "/explore" and "Puzzle Solver" in page.text
    assert "Kite Simulator" not in page.text and "Desk Notes" not in page.text
    assert visit(OWN).status_code == 200 and "Star</button>" not in visit(OWN).text
    for path in ("/emma/desk-notes", "/emma/kite-simulator", "/emma/desk-notes/-/issues", "/lakeview-school"):
        assert visit(path).status_code == 404


def test_internal_projects_are_for_users_and_private_ones_for_members(git_as):
    visit = git_as("quinn")
    assert visit("/emma/kite-simulator").status_code == 200
    assert visit("/emma/desk-notes").status_code == visit("/mill-road-lab/cedar-parser").status_code == 404
    assert "Desk Notes" not in visit("/search?search=notes").text
    assert "draft folder" not in visit("/search?search=draft&scope=issues").text
    assert "Desk Notes" not in visit("/emma").text


def test_explore_is_sorted_and_paged(git):
    stars = [int(n) for n in re.findall(r"<td>([0-9]+)</td></tr>", git("/explore").text)]
    assert len(stars) == 10 and stars == sorted(stars, reverse=True)
    assert "sort=name_asc&amp;page=2" in git("/explore?sort=name_asc").text
    assert links(git("/explore?sort=name_asc"), "project")[0].endswith("Bus Timetable")


def test_search_finds_projects_issues_and_users(git):
    assert "otis / Puzzle Solver" in git("/search?search=SOLVER+puzzle").text
    assert "Issues (" in git("/search?search=list").text
    assert "Watering plan is too slow" in git("/search?search=watering+slow&scope=issues").text
    assert 'href="/otis"' in git("/search?search=otis&scope=users").text
    assert "Nothing found." in git("/search?search=zebra").text
    assert "Type a word" in git("/search?search=+").text


@pytest.mark.parametrize("text", ["%", "'; DROP TABLE projects; --", '"><script>alert(1)</script>', "\\", "{{7*7}}", "é\u202e",
                                  "a" * 3000, "\x00"])
def test_search_and_filters_take_any_text_as_text(git, text):
    query = httpx.QueryParams({"search": text, "label_name": text, "assignee_username": text, "sort": text, "state": text, "page": text})
    for path in ("/search", "/explore", f"{OWN}/-/issues", f"{OWN}/-/merge_requests", f"{OWN}/-/commits/main", "/dashboard/issues"):
        response = git(f"{path}?{query}")
        assert response.status_code == 200 and "<script>alert" not in response.text


def test_page_999_is_the_first_page(git):
    assert "Page 1 of 2" in git("/explore?page=999").text


def test_pages_that_do_not_exist_say_so(git):
    for path in ("/nobody", "/emma/nothing", "/emma/nothing/-/issues", f"{OWN}/-/issues/999", f"{OWN}/-/issues/x",
                 f"{OWN}/-/merge_requests/0", f"{OWN}/-/commit/none", f"{OWN}/-/tree/none", f"{OWN}/-/tree/main/none",
                 f"{OWN}/-/blob/main/none", f"{OWN}/-/milestones/1", f"{OWN}/-/nothing", f"{OWN}/-/star", "/groups/none/-/group_members",
                 f"{OWN}/-/switch?branch=none&to=tree"):
        response = git(path)
        assert response.status_code == 404 and "There is no such page." in response.text, path


# --- the project and its code ----------------------------------------------------------------------------------------------------

def test_the_project_page(git):
    page = words(git(OTHER))
    assert "git@gitlab.localhost:otis/puzzle-solver.git" in page and "http://gitlab.localhost/otis/puzzle-solver.git" in page
    assert "# Puzzle Solver" in page and "2 forks" in page and "Settings" not in page
    assert "otis / Puzzle Solver" in words(git("/uma/puzzle-solver")) and "uma / Puzzle Solver" in words(git(f"{OTHER}/-/forks"))


def test_star_and_unstar(git):
    git.db.execute("DELETE FROM stars WHERE user = 1")
    stars = git.value("SELECT count(*) FROM stars WHERE project = 11")
    git(f"{OTHER}/-/star", {})
    assert "Unstar" in git(f"{OTHER}/-/star", {}).text
    assert git.value("SELECT count(*) FROM stars WHERE project = 11") == stars + 1
    assert "Puzzle Solver" in git("/dashboard/starred").text
    assert "Unstar" not in git(f"{OTHER}/-/unstar", {}).text
    assert "You have starred no project." in git("/dashboard/starred").text


def test_fork(git):
    response = git(f"{OTHER}/-/fork", {})
    assert response.url.path == "/emma/puzzle-solver" and "otis / Puzzle Solver" in response.text and "Settings" in response.text
    assert "3 forks" in git(OTHER).text and "Initial commit" in git("/emma/puzzle-solver/-/commits/main?page=3").text
    assert "already have" in git(f"{OTHER}/-/fork", {}).text and "already have" in git(f"{OWN}/-/fork", {}).text


def test_files_and_folders(git):
    tree = git(f"{OWN}/-/tree/main")
    assert links(tree, "file")[:3] == ["docs", "src", "tests"] and "README.md" in tree.text
    assert links(git(f"{OWN}/-/tree/main/docs"), "file") == ["guide.md"]
    assert "0.3.0" in git(f"{OWN}/-/blob/main/VERSION").text
    assert git(f"{OWN}/-/switch?branch=main&to=commits").url.path == f"{OWN}/-/commits/main"


def test_edit_a_file(git):
    path = f"{OWN}/-/edit/main/VERSION"
    assert "Nothing was changed." in git(path, {"text": "0.3.0", "message": "x"}).text
    assert "Commit message must not be empty." in git(path, {"text": "0.4.0", "message": " "}).text
    response = git(path, {"text": "0.4.0\r\n<b>&\r\n", "message": "Release <0.4.0>"})
    assert response.url.path == f"{OWN}/-/blob/main/VERSION" and "&lt;b&gt;&amp;" in response.text
    assert git.value("SELECT text FROM files WHERE project = 2 AND branch = 'main' AND path = 'VERSION'") == "0.4.0\n<b>&"
    commits = git(f"{OWN}/-/commits/main")
    assert links(commits, "commit")[0] == "Release &lt;0.4.0&gt;"
    page = words(git(re.search(r'href="([^"]*/commit/[^"]*)"', commits.text).group(1)))
    assert "- 0.3.0" in page and "+ 0.4.0" in page and "Emma Lane" in page and "2026-03-15" in page


def test_new_file(git):
    path = f"{OWN}/-/new/main"
    for name in ("", "../x", "/x", "a//b", "a b", "x" * 50, "."):
        assert "File name must be" in git(path, {"path": name, "text": "x", "message": "Add"}).text
    for name in ("README.md", "docs", "README.md/x"):
        assert "already exists" in git(path, {"path": name, "text": "x", "message": "Add"}).text
    assert "The file was added." in git(path, {"path": "docs/faq.md", "text": "Ask.", "message": "Add questions"}).text
    assert links(git(f"{OWN}/-/tree/main/docs"), "file") == ["faq.md", "guide.md"]


def test_commits_by_branch_and_author(git):
    count = git.value("SELECT count(*) FROM commits WHERE project = 2 AND branch = 'main' AND author = 1")
    assert f"{count} commits" in words(git(f"{OWN}/-/commits/main?author=emma"))
    branch, own = git.db.execute("SELECT branch, count(*) FROM commits WHERE project = 2 AND branch LIKE 'try%'").fetchone()
    every = git.value("SELECT count(*) FROM commits WHERE project = 2 AND branch = 'main'")
    assert f"{every + own} commits" in words(git(f"{OWN}/-/commits/{branch}"))


def test_contributors_are_counted_from_the_commits(git):
    name, count = git.db.execute("SELECT name, count(*) FROM commits c JOIN users u ON u.id = author WHERE project = 2 AND branch = 'main' "
                                   "GROUP BY author ORDER BY 2 DESC").fetchone()
    assert f"{name} {count} 2025" in words(git(f"{OWN}/-/graphs/main"))
    git(f"{OWN}/-/edit/main/VERSION", {"text": "9", "message": "Nine"})
    assert f"Emma Lane {count + (name == 'Emma Lane')}" in words(git(f"{OWN}/-/graphs/main"))


def test_branches(git):
    path = f"{OWN}/-/branches"
    assert "Branch name must be" in git(path, {"branch": "a/b", "source": "main"}).text
    assert "taken" in git(path, {"branch": "main", "source": "main"}).text
    assert "must be a branch" in git(path, {"branch": "new", "source": "none"}).text
    assert "The branch new was created." in git(path, {"branch": "new", "source": "main"}).text
    git(f"{OWN}/-/edit/new/VERSION", {"text": "5", "message": "Five"})
    assert "0.3.0" in git(f"{OWN}/-/blob/main/VERSION").text
    assert "cannot be deleted" in git(f"{path}/delete", {"branch": "main"}).text
    merging = git.value("SELECT source FROM merge_requests WHERE project = 2 AND state = 'opened'")
    assert "has an open merge request" in git(f"{path}/delete", {"branch": merging}).text
    assert "was deleted" in git(f"{path}/delete", {"branch": "new"}).text and git(f"{OWN}/-/tree/new").status_code == 404


# --- merge requests --------------------------------------------------------------------------------------------------------------

REQUEST = f"{TEAM}/-/merge_requests/5"             # open, to be reviewed by the main user, by another author


def test_merge_requests_are_filtered(git):
    def listed(query):
        return [int(n) for n in re.findall(r'<tr class="merge"><td>!([0-9]+)', git(f"{TEAM}/-/merge_requests{query}").text)]

    def wanted(condition):
        return [row[0] for row in git.db.execute(f"SELECT iid FROM merge_requests WHERE project = 7 AND {condition} ORDER BY iid DESC")]

    assert listed("") == wanted("state = 'opened'") and listed("?state=merged") == wanted("state = 'merged'")
    assert listed("?state=all&author_username=vera") == wanted("author = (SELECT id FROM users WHERE username = 'vera')")
    assert 5 in listed("?reviewer_username=emma") and listed("?state=all&search=road") == wanted("title LIKE '%road%'")
    assert "Add road closure" in git("/dashboard/merge_requests").text
    assert git("/dashboard/merge_requests?scope=created").status_code == git("/dashboard/merge_requests?scope=odd").status_code == 200


def test_a_merge_request_shows_its_changes(git):
    page = words(git(REQUEST))
    assert "add-road-closure into main" in page and "+ road_closure = " in page and "settings.ini" in page
    merged = git.value("SELECT iid FROM merge_requests WHERE project = 7 AND state = 'merged'")
    assert "+ " in words(git(f"{TEAM}/-/merge_requests/{merged}"))


def test_approve_and_revoke(git):
    assert "You approved" in git(f"{REQUEST}/approve", {}).text and "Approved by Emma Lane" in words(git(REQUEST))
    assert "was revoked" in git(f"{REQUEST}/revoke", {}).text and "Approved by Nobody" in words(git(REQUEST))
    git.db.execute("UPDATE merge_requests SET author = 1")
    assert "cannot approve your own" in git(f"{REQUEST}/approve", {}).text and "Approve<" not in git(REQUEST).text


def test_merge(git):
    before = git.value("SELECT count(*) FROM commits WHERE project = 7 AND branch = 'main'")
    response = git(f"{REQUEST}/merge", {})
    assert "Merged into main" in response.text and "State Merged" in words(response) and "+ road_closure = " in words(response)
    assert "road_closure = " in git(f"{TEAM}/-/blob/main/settings.ini").text
    assert git.value("SELECT count(*) FROM commits WHERE project = 7 AND branch = 'main'") > before
    assert git(f"{TEAM}/-/tree/add-road-closure").status_code == 404
    for what in ("merge", "approve"):
        assert "Only an open merge request" in git(f"{REQUEST}/{what}", {}).text
    assert "stays merged" in git(f"{REQUEST}/state", {"state": "closed"}).text


def test_a_merge_keeps_what_others_did_and_refuses_a_conflict(git):
    text = git.value("SELECT text FROM files WHERE project = 7 AND branch = 'main' AND path = 'settings.ini'")
    git(f"{TEAM}/-/edit/main/settings.ini", {"text": f"{text}\nmore = 1", "message": "More"})
    git(f"{REQUEST}/merge", {})
    merged = git.value("SELECT text FROM files WHERE project = 7 AND branch = 'main' AND path = 'settings.ini'")
    assert "more = 1" in merged and "road_closure" in merged
    git(f"{TEAM}/-/branches", {"branch": "mine", "source": "main"})
    git(f"{TEAM}/-/edit/mine/VERSION", {"text": "7", "message": "Seven"})
    git(f"{TEAM}/-/edit/main/VERSION", {"text": "8", "message": "Eight"})
    request = git(f"{TEAM}/-/merge_requests/new", {"source": "mine", "title": "Seven"})
    assert "VERSION was changed on main" in git(f"{request.url.path}/merge", {}).text and "State Open" in words(git(request.url.path))


def test_changes_of_lines():
    assert change_lines("a\nb\nc", "a\nB\nc\nd") == [("b", "B"), ("", "d")] and change_lines("a", "a") == []
    assert merged_text("a\nb", [("b", "B"), ("", "c\nd")]) == "a\nB\nc\nd" and merged_text(None, [("", "x")]) == "x"
    assert merged_text("a", [("b", "B")]) is None and merged_text("a\nb", [("a", "")]) == "b"


def test_close_reopen_comment_and_people(git):
    assert "was closed" in git(f"{REQUEST}/state", {"state": "closed"}).text
    assert "opened again" in git(f"{REQUEST}/state", {"state": "opened"}).text
    assert "Comment must not be empty." in git(f"{REQUEST}/comment", {}).text
    assert "&lt;i&gt;lgtm" in git(f"{REQUEST}/comment", {"text": "<i>lgtm"}).text
    assert "must be members" in git(f"{REQUEST}/people", {"reviewer": "otis"}).text
    page = words(git(f"{REQUEST}/people", {"reviewer": "clara", "assignee": "vera"}))
    assert "Reviewer Clara" in page and "Assignee Vera" in page
    git.log_in("clara")
    assert "Review requested" in git("/dashboard/todos").text


def test_new_merge_request(git):
    branch, path = git.value("SELECT name FROM branches WHERE project = 7 AND name LIKE 'try%'"), f"{TEAM}/-/merge_requests/new"
    good = {"source": branch, "title": "Try it", "description": "Please", "reviewer": "vera"}
    for change, message in (({"source": "main"}, "Source branch must be chosen."), ({"title": ""}, "Title must not be empty."),
                            ({"reviewer": "otis"}, "must be members"), ({"source": "add-road-closure"}, "already has an open")):
        assert message in git(path, {**good, **change}).text
    git(f"{TEAM}/-/branches", {"branch": "bare", "source": "main"})
    assert "has no changes" in git(path, {**good, "source": "bare"}).text
    page = words(git(path, good))
    assert f"{branch} into main" in page and "Reviewer Vera" in page and "Author Emma Lane, 2026-03-15" in page


# --- all of it -------------------------------------------------------------------------------------------------------------------

def test_worlds_do_not_see_each_other(git):
    other = git.worlds.create()
    git(f"{OWN}/-/issues/new", {"title": "New"})
    assert other.database("gitlab").execute("SELECT count(*) FROM issues WHERE project = 2").fetchone()[0] == 18


def test_no_form_makes_a_fault(git):
    """Random fields and values in every form: an answer below 500, whatever was sent."""
    rng = random.Random(0)
    inside = ["star", "unstar", "fork", "edit/main/VERSION", "new/main", "branches", "branches/delete", "issues/new", "issues/1/comment",
              "issues/1/state", "issues/1/edit", "labels", "labels/delete", "milestones/new", "milestones/4", "merge_requests/new",
              "merge_requests/4/comment", "merge_requests/4/state", "merge_requests/4/approve", "merge_requests/4/people",
              "merge_requests/4/merge", "project_members", "edit"]
    paths = [f"{OWN}/-/{path}" for path in inside] + ["/projects/new", "/groups/new", "/groups/mill-road-lab/-/group_members", "/profile",
                                                      "/login", "/otis/follow", "/dashboard/todos/done", "/none/none/-/star"]
    fields = ["title", "text", "message", "path", "branch", "source", "labels", "label", "color", "assignee", "reviewer", "milestone",
              "due", "state", "do", "user", "role", "name", "visibility", "space", "todo", "status", "username", "password", "description"]
    values = ["", "1", "-5", "9" * 40, "a" * 5000, "\x00\x01", "'\";--", "<b>", "é漢😀", "main", "emma", "opened", "Owner", "invite",
              "Public", "../..", "%", "bug", "a\r\nb"]
    for _ in range(400):
        data = {rng.choice(fields): rng.choice(values) for _ in range(rng.randint(0, 8))}
        git.log_in("emma")
        path = rng.choice(paths)
        assert git(path, data).status_code < 500, (path, data)
    for path in ("/", OWN, f"{OWN}/-/branches", f"{OWN}/-/labels", f"{OWN}/-/milestones", f"{OWN}/-/issues", f"{OWN}/-/tree/main", "/emma"):
        assert git(path).status_code == 200


def test_pages_are_served_within_milliseconds(git):
    """Each kind of page, the app alone."""
    for path in ("/", "/explore", "/search?search=list&scope=issues", OWN, f"{OWN}/-/issues", f"{OWN}/-/issues/1", f"{OWN}/-/commits/main",
                 REQUEST):
        assert git.milliseconds(path) < 20, path
