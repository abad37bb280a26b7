"""What belongs to people on the code hosting site: roles, members, issues, settings, groups, profiles, to-dos, log in and out."""

import re

import httpx
import pytest

OWN = "/emma/recipe-box"                           # the main user is its owner
TEAM = "/northford-transit/route-finder"           # … a developer, by the group
MANAGED = "/northford-transit/bus-timetable"       # … a maintainer
OTHER = "/otis/puzzle-solver"                      # … no member


def words(response):
    """The text of a page, without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text))


# --- roles -----------------------------------------------------------------------------------------------------------------------

def test_changes_need_a_login(git_as):
    visit = git_as(None)
    for path in ("/projects/new", "/groups/new", "/profile", "/dashboard/todos", "/dashboard/issues", "/dashboard/groups",
                 f"{OWN}/-/issues/new", f"{OWN}/-/edit", f"{OWN}/-/new/main", f"{OWN}/-/project_members"):
        response = visit(path)
        assert response.url.path == "/login" and response.url.params["next"] == path
    for path in (f"{OWN}/-/star", f"{OWN}/-/fork", f"{OWN}/-/issues/1/comment", f"{OWN}/-/issues/1/state", "/otis/follow"):
        assert visit(path, {}).url.path == "/login"


@pytest.mark.parametrize("user, path, data, allowed", [
    ("mona", f"{OWN}/-/labels", {"label": "x", "color": "Red"}, False), ("lars", f"{OWN}/-/labels", {"label": "x", "color": "Red"}, True),
    ("lars", f"{OWN}/-/edit/main/VERSION", {"text": "1", "message": "m"}, False),
    ("yara", f"{OWN}/-/edit/main/VERSION", {"text": "1", "message": "m"}, True),
    ("yara", f"{OWN}/-/edit", {"name": "x", "visibility": "Public"}, False),
    ("yara", f"{OWN}/-/project_members", {"do": "invite", "user": "otis", "role": "Guest"}, False),
    ("emma", f"{MANAGED}/-/edit", {"name": "x", "visibility": "Public"}, True),
    ("emma", f"{MANAGED}/-/archive", {"archived": "yes"}, False),
    ("emma", f"{TEAM}/-/edit/main/VERSION", {"text": "1", "message": "m"}, True),
    ("emma", f"{OTHER}/-/branches", {"branch": "x", "source": "main"}, False), ("emma", f"{OTHER}/-/issues/1/edit", {"title": "x"}, False),
    ("emma", f"{OTHER}/-/issues/1/comment", {"text": "Hello"}, True), ("emma", f"{OTHER}/-/merge_requests/1/merge", {}, False),
    ("emma", f"{OTHER}/-/milestones/1", {"state": "closed"}, None), ("emma", f"{OTHER}/-/milestones/31", {"state": "closed"}, False),
])
def test_what_a_role_may_do(git_as, user, path, data, allowed):
    """None: there is no such page."""
    visit = git_as(user)
    visit.db.execute("UPDATE issues SET author = 2 WHERE project = 11 AND iid = 1")
    response = visit(path, data)
    assert response.status_code == {True: 200, False: 403, None: 404}[allowed]
    assert ("This needs the role" in response.text) == (allowed is False)


def test_members(git):
    path = f"{OWN}/-/project_members"
    assert "Silas" not in git(path).text
    assert "no such user" in git(path, {"do": "invite", "user": "nobody", "role": "Guest"}).text
    assert "Role must be chosen." in git(path, {"do": "invite", "user": "silas", "role": "King"}).text
    assert "was added as Guest." in git(path, {"do": "invite", "user": "@silas", "role": "Guest"}).text
    assert "already a member" in git(path, {"do": "invite", "user": "SILAS", "role": "Guest"}).text
    assert "is now Maintainer." in git(path, {"do": "change", "user": "silas", "role": "Maintainer"}).text
    assert "There must be an owner." in git(path, {"do": "change", "user": "emma", "role": "Guest"}).text
    assert "There must be an owner." in git(path, {"do": "remove", "user": "emma"}).text
    assert "was removed." in git(path, {"do": "remove", "user": "silas"}).text
    assert "is no member" in git(path, {"do": "remove", "user": "silas"}).text
    assert "Nothing was changed." in git(path, {"user": "yara"}).text
    assert git.value("SELECT count(*) FROM members WHERE kind = 'project' AND holder = 2") == 5


def test_a_maintainer_makes_no_owner_and_may_leave(git):
    path = f"{MANAGED}/-/project_members"
    assert "Only an owner may do that." in git(path, {"do": "invite", "user": "otis", "role": "Owner"}).text
    assert "was added as Maintainer." in git(path, {"do": "invite", "user": "otis", "role": "Maintainer"}).text
    assert git(path, {"do": "remove", "user": "emma"}).url.path == path      # the group still has her
    assert "Invite" not in git(path).text and "of the group" in git(path).text


# --- issues ----------------------------------------------------------------------------------------------------------------------

def issues(git, query):
    """The numbers of the issues that a query to the database gives, and those on the page."""
    return [int(n) for n in re.findall(r'<tr class="issue"><td>#([0-9]+)', git(f"{OWN}/-/issues{query}").text)]


def wanted(git, condition, order="created DESC"):
    return [row[0] for row in git.db.execute(f"SELECT iid FROM issues WHERE project = 2 AND {condition} ORDER BY {order}")][:10]


def test_issues_are_filtered_and_sorted(git):
    label = "id IN (SELECT issue FROM issue_labels k JOIN labels l ON l.id = k.label WHERE l.name = 'bug')"
    for query, condition, order in (
            ("", "state = 'opened'", "created DESC"), ("?state=closed", "state = 'closed'", "created DESC"),
            ("?state=all", "1", "created DESC"), ("?state=all&sort=created_asc", "1", "created"),
            ("?state=all&sort=due_date", "1", "due = '', due, id"),
            ("?state=all&sort=title_asc", "1", "title"), ("?state=all&label_name=bug", label, "created DESC"),
            ("?state=all&assignee_username=emma", "assignee = 1", "created DESC"),
            ("?state=all&assignee_username=None", "assignee IS NULL", "created DESC"),
            ("?state=all&milestone_title=Spring+release", "milestone = 4", "created DESC"),
            ("?state=all&search=LIST", "title || description LIKE '%list%'", "created DESC"), ("?label_name=none", "0", "1")):
        assert issues(git, query) == wanted(git, condition, order), query
    assert f"{git.value('SELECT count(*) FROM issues WHERE project = 2')} issues" in git(f"{OWN}/-/issues?state=all").text


def test_my_issues(git):
    assert "Page 1 of 3" in git("/dashboard/issues").text
    title = git.value("SELECT title FROM issues WHERE author = 1 AND state = 'closed' ORDER BY created DESC")
    assert title in git("/dashboard/issues?scope=created&state=closed").text


NEW = {"title": "A <new> issue", "description": "First\r\nsecond", "labels": ["bug", "urgent"], "assignee": "yara",
       "milestone": "Spring release", "due": "2026-04-02"}


def test_new_issue(git):
    response = git(f"{OWN}/-/issues/new", NEW)
    assert response.url.path == f"{OWN}/-/issues/19"
    page = words(response)
    assert all(text in page for text in ("A &lt;new&gt; issue", "bug, urgent", "Yara", "Spring release", "2026-04-02",
                                         "Emma Lane, 2026-03-15"))
    assert git.value("SELECT description FROM issues WHERE project = 2 AND iid = 19") == "First\nsecond"
    git.log_in("yara")
    assert "A &lt;new&gt; issue" in git("/dashboard/todos").text


@pytest.mark.parametrize("change, message", [
    ({"title": " "}, "Title must not be empty."), ({"assignee": "otis"}, "Assignee must be a member."),
    ({"labels": ["none"]}, "Labels must be"), ({"milestone": "none"}, "Milestone must be"),
    ({"due": "2026-02-30"}, "Due date must be a date."),
    ({"due": "soon"}, "Due date must be a date.")])
def test_a_wrong_issue_is_refused(git, change, message):
    response = git(f"{OWN}/-/issues/new", {**NEW, **change})
    assert response.status_code == 400 and message in response.text
    assert git.value("SELECT count(*) FROM issues WHERE project = 2") == 18


def test_a_guest_opens_an_issue_but_does_not_plan_it(git):
    page = words(git(f"{OTHER}/-/issues/new", NEW))
    assert "A &lt;new&gt; issue" in page and "Labels None" in page and "Assignee None" in page
    git(f"{OTHER}/-/issues/19/state", {"state": "closed"})
    assert git.value("SELECT state FROM issues WHERE project = 11 AND iid = 19") == "closed"


def test_edit_an_issue(git):
    assert 'checked> ' in git(f"{OWN}/-/issues/1/edit").text
    page = words(git(f"{OWN}/-/issues/1/edit", {**NEW, "labels": ["docs"], "assignee": ""}))
    assert "A &lt;new&gt; issue" in page and "Labels docs" in page and "Assignee None" in page
    assert git(f"{OWN}/-/issues/1/edit", {**NEW, "title": ""}).status_code == 400


def test_comment_close_and_reopen(git):
    path = f"{OWN}/-/issues/1"
    assert "Comment must not be empty." in git(f"{path}/comment", {"text": " \n "}).text
    assert "&lt;b&gt;Hello" in git(f"{path}/comment", {"text": "<b>Hello\nthere"}).text
    assert "The issue was closed." in git(f"{path}/state", {"state": "closed"}).text and "Reopen issue" in git(path).text
    assert "The issue was opened again." in git(f"{path}/state", {"state": "opened"}).text
    assert git(f"{path}/state", {"state": "odd"}).status_code == 400


def test_labels(git):
    path = f"{OWN}/-/labels"
    assert "already a label" in git(path, {"label": "BUG", "color": "Red"}).text
    assert "without a comma" in git(path, {"label": "a, b", "color": "Red"}).text
    assert "Color must be chosen." in git(path, {"label": "new", "color": "Pink"}).text
    assert "The label &lt;new&gt; &amp; old was created." in git(path, {"label": "<new> & old", "color": "Red"}).text
    assert git(f"{OWN}/-/issues/new", {**NEW, "labels": ["<new> & old"]}).status_code == 200
    assert "was deleted" in git(f"{path}/delete", {"label": "<new> & old"}).text
    assert "no such label" in git(f"{path}/delete", {"label": "gone"}).text and "Labels None" in words(git(f"{OWN}/-/issues/19"))


def test_milestones(git):
    path = f"{OWN}/-/milestones"
    assert "Title must not be empty." in git(f"{path}/new", {"title": ""}).text
    assert "already a milestone" in git(f"{path}/new", {"title": "Spring release"}).text
    assert "Due date must be a date." in git(f"{path}/new", {"title": "x", "due": "2026-13-01"}).text
    response = git(f"{path}/new", {"title": "Autumn release", "due": "2026-10-31"})
    assert "2026-10-31" in response.text and "It has no issues." in response.text and "Autumn release" in git(path).text
    assert "The milestone was closed." in git(response.url.path, {"state": "closed"}).text
    assert "The milestone was opened again." in git(response.url.path, {"state": "active"}).text


# --- settings, new projects and groups, people -----------------------------------------------------------------------------------

def test_settings_and_archive(git):
    good = {"name": "Recipe Chest", "description": "New & better", "visibility": "Internal"}
    assert "Name must have" in git(f"{OWN}/-/edit", {**good, "name": ""}).text
    assert "Visibility must be chosen." in git(f"{OWN}/-/edit", {**good, "visibility": "Secret"}).text
    assert "The settings were saved." in git(f"{OWN}/-/edit", good).text
    page = words(git(OWN))
    assert "Recipe Chest" in page and "New &amp; better" in page and "Visibility Internal" in page
    assert "The project was archived." in git(f"{OWN}/-/archive", {"archived": "yes"}).text
    for path, data in ((f"{OWN}/-/issues/new", NEW), (f"{OWN}/-/edit", good), (f"{OWN}/-/issues/1/comment", {"text": "x"})):
        assert "archived and cannot be changed" in git(path, data).text
    assert "New issue" not in git(f"{OWN}/-/issues").text and "Unarchive" in git(f"{OWN}/-/edit").text
    assert "no longer archived" in git(f"{OWN}/-/archive", {"archived": "no"}).text


def test_new_project(git):
    good = {"name": "Lamp: <b>", "space": "emma", "description": "d", "visibility": "Private", "readme": "on"}
    for change, message in (({"name": "!!"}, "Name must have"), ({"space": "otis"}, "Space must be chosen."),
                            ({"name": "Recipe box"}, "taken"), ({"visibility": ""}, "Visibility must be chosen.")):
        assert message in git("/projects/new", {**good, **change}).text
    response = git("/projects/new", good)
    assert response.url.path == "/emma/lamp-b" and "# Lamp: &lt;b&gt;" in response.text and "Visibility Private" in words(response)
    assert git("/projects/new", {"name": "Bare", "space": "mill-road-lab", "visibility": "Public"}).url.path == "/mill-road-lab/bare"
    for part in ("tree/main", "commits/main", "branches", "graphs/main", "issues", "merge_requests", "milestones", "labels",
                 "project_members", "edit"):
        assert git(f"/mill-road-lab/bare/-/{part}").status_code == 200


def test_new_group(git):
    for name in ("", "emma", "Mill Road Lab", "Explore"):
        assert git("/groups/new", {"name": name, "visibility": "Public"}).status_code == 400
    response = git("/groups/new", {"name": "Lamp Club", "description": "We like lamps", "visibility": "Private"})
    assert response.url.path == "/lamp-club" and "We like lamps" in response.text and "Lamp Club" in git("/dashboard/groups").text
    members = "/groups/lamp-club/-/group_members"
    assert "was added as Developer." in git(members, {"do": "invite", "user": "otis", "role": "Developer"}).text
    assert git("/projects/new", {"name": "Wick", "space": "lamp-club", "visibility": "Private"}).url.path == "/lamp-club/wick"
    git.log_in("otis")
    assert "New file" in git("/lamp-club/wick/-/tree/main").text and "Remove" not in git(members).text
    assert git(members, {"do": "invite", "user": "petra", "role": "Guest"}).status_code == 403
    git.log_in("petra")
    assert git("/lamp-club").status_code == git("/lamp-club/wick").status_code == 404


def test_profile_and_follow(git):
    assert "Full name must not be empty." in git("/profile", {"status": "x"}).text
    assert "at most 100" in git("/profile", {"name": "Emma Lane", "status": "x" * 101}).text
    page = words(git("/profile", {"name": "Emma Lane", "status": "Enjoying <life>", "bio": "Hi"})) + words(git("/emma"))
    assert "Your profile was saved." in page and "Enjoying &lt;life&gt;" in page and "Bio Hi" in page
    assert "Followers 1" in words(git("/hugo/follow", {"follow": "yes"})) and "Unfollow" in git("/hugo/follow", {}).text
    assert "Followers 0" in words(git("/hugo/follow", {"follow": "no"}))
    assert "cannot follow yourself" in git("/emma/follow", {}).text and git("/mill-road-lab/follow", {}).status_code == 404


def test_todos(git):
    assert git("/dashboard/todos").text.count("<tr") == 8
    git("/dashboard/todos/done", {"todo": "1"})
    git("/dashboard/todos/done", {"todo": "x"})
    assert git("/dashboard/todos").text.count("<tr") == 7 and git("/dashboard/todos?state=done").text.count("<tr") == 1
    assert "Nothing to do." in git("/dashboard/todos/done", {"all": "yes"}).text


def test_log_in_and_out(git_as):
    visit = git_as(None)
    password = visit.value("SELECT password FROM users WHERE username = 'quinn'")
    assert "is wrong" in visit("/login", {"username": "quinn", "password": "guess"}).text
    for target, path in ((f"{OWN}/-/issues", f"{OWN}/-/issues"), ("//evil.example", "/"), ("/\\evil", "/"), ("http://evil.example", "/")):
        response = visit(f"/login?{httpx.QueryParams({'next': target})}", {"username": "quinn@git.test", "password": password})
        assert response.url.host == "gitlab.localhost" and response.url.path == path
    assert "Music Shelf" in visit("/").text
    assert visit("/logout", {}).url.path == "/login" and visit("/").url.path == "/explore"


# --- another email -----------------------------------------------------------------------------------------------------------------

def code_on(page):
    return re.search(r"Its code is ([0-9]{4})\.", page.text)[1]


def test_an_email_is_changed_by_the_code_of_the_latest_request(git):
    first = git("/profile/email", {"email": "lane@git.test"})
    assert first.url.path.startswith("/profile/confirm/") and "<a " not in first.text and "Code" in first.text
    old = code_on(git("/profile/email"))
    second = git("/profile/email", {"email": "lane@git.test"})
    code = code_on(git("/profile/email"))
    assert (second.url.path, code) != (first.url.path, old) and first.url.path not in git("/profile/email").text
    assert git(first.url.path).status_code == 404 == git(first.url.path, {"code": old}).status_code
    assert "This is not the code." in git(second.url.path, {"code": old}).text and git.value("SELECT email FROM users WHERE id = 1") == "emma@git.test"
    done = git(second.url.path, {"code": code})
    assert done.url.path == "/profile/email" and "Your email was changed." in done.text and "Its code is" not in done.text
    assert git.value("SELECT email FROM users WHERE id = 1") == "lane@git.test" and git(second.url.path, {"code": code}).status_code == 404


@pytest.mark.parametrize("email", ["", "emma", "@git.test", "a b@git.test", "x" * 40 + "@git.test", "otis@git.test"])
def test_an_email_that_is_none_or_taken_is_refused(git, email):
    response = git("/profile/email", {"email": email})
    assert response.status_code == 400 and git.value("SELECT new_email FROM users WHERE id = 1") == ""


def test_nobody_else_can_confirm_an_email(git, git_as):
    git("/profile/email", {"email": "lane@git.test"})
    address, code = git("/profile/email", {"email": "lane@git.test"}).url.path, code_on(git("/profile/email"))
    git.log_in("otis")
    assert git(address, {"code": code}).status_code == 404 and "lane@git.test" not in git("/profile/email").text
    assert git_as(None)("/profile/email").url.path == "/login" == git_as(None)(address).url.path


def test_a_card_tells_the_job(git):
    assert "Job: Release manager" in git("/users/otis/card").text and git("/users/nobody/card").status_code == 404
