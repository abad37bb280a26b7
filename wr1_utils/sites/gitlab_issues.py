"""The issues of a project, and the labels and milestones that they are sorted by."""

import re
import sqlite3

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from wr1_utils.sites.gitlab_base import (
    IN_PROJECT,
    Place,
    add_comment,
    add_todo,
    choice,
    comments_of,
    enter,
    page,
    people_of,
    project_page,
    read_choices,
    signed_in,
)
from wr1_utils.sites.gitlab_seed import ROLES
from wr1_utils.sites.pages import asked, both, go, is_date, number, one, post, read_form, read_text, rows, slice_rows
from wr1_utils.sites.shopping_seed import TODAY

LISTED = """SELECT i.*, p.space, p.path, p.name AS project_name, a.name AS author_name, a.username AS author_username,
                   s.name AS assignee_name, s.username AS assignee_username, m.title AS milestone_title,
                   (SELECT group_concat(name, ', ') FROM (SELECT l.name FROM issue_labels k JOIN labels l ON l.id = k.label
                                                          WHERE k.issue = i.id ORDER BY l.name)) AS label_names
            FROM issues i JOIN projects p ON p.id = i.project JOIN users a ON a.id = i.author
                 LEFT JOIN users s ON s.id = i.assignee LEFT JOIN milestones m ON m.id = i.milestone"""
SORTS = {                                     # value in the URL → label, ORDER BY
    "created_date": ("Newest first", "i.created DESC, i.id DESC"),
    "created_asc": ("Oldest first", "i.created, i.id"),
    "due_date": ("Due date", "i.due = '', i.due, i.id"),
    "title_asc": ("Title", "i.title, i.id"),
}
STATES = {"opened": "Open", "closed": "Closed", "all": "All"}
COLORS = ("Red", "Orange", "Green", "Blue", "Purple", "Gray")


def labels_of(request: Request, place: Place) -> list[sqlite3.Row]:
    """The labels of a project by name."""
    return rows(request, "SELECT * FROM labels WHERE project = ? ORDER BY name", place.project["id"])


def milestones_of(request: Request, place: Place) -> list[sqlite3.Row]:
    """The milestones of a project by their due date."""
    return rows(request, "SELECT * FROM milestones WHERE project = ? ORDER BY due = '', due, id", place.project["id"])


# --- listings --------------------------------------------------------------------------------------------------------------------

async def _issues(request: Request) -> Response:
    place = enter(request)
    query, where, values = request.query_params, ["i.project = ?"], [place.project["id"]]

    def add(condition: str, value: str) -> None:
        if value:
            where.append(condition)
            values.append(value)

    state = choice(request, "state", STATES, "opened")
    add("i.state = ?", "" if state == "all" else state)
    for word in asked(request, "search").lower().split():
        add("instr(lower(i.title || ' ' || i.description), ?)", word)
    add("i.id IN (SELECT k.issue FROM issue_labels k JOIN labels l ON l.id = k.label WHERE l.name = ?)", query.get("label_name", ""))
    add("m.title = ?", query.get("milestone_title", ""))
    add("coalesce(s.username, 'None') = ?", query.get("assignee_username", ""))
    sort = choice(request, "sort", SORTS, "created_date")
    found = rows(request, f"{LISTED} WHERE {' AND '.join(where)} ORDER BY {SORTS[sort][1]}", *values)
    return project_page(request, place, "plan", "issues.html", "Issues", state=state, states=STATES, sort=sort,
                        sorts={value: label for value, (label, _) in SORTS.items()}, labels=labels_of(request, place),
                        milestones=milestones_of(request, place), people=people_of(request, place.project), **slice_rows(request, found))


async def _my_issues(request: Request) -> Response:
    user, scope = signed_in(request), choice(request, "scope", ("assigned", "created"), "assigned")
    state, column = choice(request, "state", STATES, "opened"), {"assigned": "i.assignee", "created": "i.author"}[scope]
    found = rows(request, f"{LISTED} WHERE {column} = ? AND ? IN (i.state, 'all') ORDER BY i.created DESC, i.id DESC", user["id"], state)
    return page(request, "my_issues.html", "My issues", scope=scope, state=state, states=STATES, **slice_rows(request, found))


# --- one issue -------------------------------------------------------------------------------------------------------------------

def _issue_of(request: Request, place: Place) -> sqlite3.Row:
    issue = one(request, f"{LISTED} WHERE i.project = ? AND i.iid = ?", place.project["id"], number(request.path_params["iid"], 1, 999_999))
    if issue is None:
        raise HTTPException(404)
    return issue


def _may_change(place: Place, issue: sqlite3.Row) -> bool:
    return place.user is not None and (place.rank >= ROLES["Reporter"] or issue["author"] == place.user["id"])


def _enter_to_change(request: Request) -> tuple[Place, sqlite3.Row]:
    place = enter(request, "logged in")
    issue = _issue_of(request, place)
    if not _may_change(place, issue):
        raise HTTPException(403, "This needs the role Reporter.")
    return place, issue


def _issue_page(request: Request, place: Place, error: str = "") -> Response:
    issue = _issue_of(request, place)
    return project_page(request, place, "plan", "issue.html", issue["title"], error, issue=issue, may_change=_may_change(place, issue),
                        comments=comments_of(request, "issue", issue["id"]))


async def _issue(request: Request) -> Response:
    return _issue_page(request, enter(request))


async def _comment(request: Request) -> Response:
    place = enter(request, "logged in")
    issue, text = _issue_of(request, place), await read_text(request, "text")
    if not text.strip():
        return _issue_page(request, place, "Comment must not be empty.")
    add_comment(request, "issue", issue["id"], place.user["id"], TODAY, text)
    return go(f"{place.url}/-/issues/{issue['iid']}", "Your comment was added.")


async def _state(request: Request) -> Response:
    """Closes an open issue and opens a closed one, as the form says; doing it twice does no harm."""
    place, issue = _enter_to_change(request)
    state = (await read_form(request)).get("state", "")
    if state not in ("opened", "closed"):
        return _issue_page(request, place, "An issue is open or closed.")
    rows(request, "UPDATE issues SET state = ? WHERE id = ?", state, issue["id"])
    return go(f"{place.url}/-/issues/{issue['iid']}", "The issue was closed." if state == "closed" else "The issue was opened again.")


async def _read_issue(request: Request, place: Place) -> tuple[dict, str]:
    """What the form of an issue holds, and the message for what is wrong with it."""
    form = {**{field: "" for field in ("title", "assignee", "milestone", "due")}, **await read_form(request)}
    form["description"], form["labels"] = await read_text(request, "description"), await read_choices(request, "labels")
    if place.rank < ROLES["Reporter"]:
        form.update(labels=[], assignee="", milestone="", due="")
    if not form["title"]:
        return form, "Title must not be empty."
    if form["assignee"] and form["assignee"] not in people_of(request, place.project):
        return form, "Assignee must be a member."
    if form["milestone"] and form["milestone"] not in [row["title"] for row in milestones_of(request, place)]:
        return form, "Milestone must be one of the project."
    if not set(form["labels"]) <= {row["name"] for row in labels_of(request, place)}:
        return form, "Labels must be those of the project."
    if form["due"] and not is_date(form["due"]):
        return form, "Due date must be a date."
    return form, ""


def _store_issue(request: Request, place: Place, issue: int, form: dict, with_plan: bool = True) -> None:
    project = place.project["id"]
    rows(request, "UPDATE issues SET title = ?, description = ? WHERE id = ?", form["title"], form["description"], issue)
    if with_plan:
        rows(request, """UPDATE issues SET due = ?, assignee = (SELECT id FROM users WHERE username = ?),
                         milestone = (SELECT id FROM milestones WHERE project = ? AND title = ?) WHERE id = ?""",
             form["due"], form["assignee"], project, form["milestone"], issue)
        rows(request, "DELETE FROM issue_labels WHERE issue = ?", issue)
        for name in form["labels"]:
            rows(request, "INSERT OR IGNORE INTO issue_labels SELECT ?, id FROM labels WHERE project = ? AND name = ?",
                 issue, project, name)


def _tell_assignee(request: Request, place: Place, form: dict, url: str) -> None:
    assignee = one(request, "SELECT id FROM users WHERE username = ?", form["assignee"])
    add_todo(request, place, assignee["id"] if assignee else None, "Assigned", form["title"], url)


def _form_page(request: Request, place: Place, title: str, error: str, form: dict, many: bool) -> Response:
    return project_page(request, place, "plan", "issue_form.html", title, error, form=form, labels=labels_of(request, place), many=many,
                        milestones=milestones_of(request, place), people=people_of(request, place.project))


async def _new_issue(request: Request) -> Response:
    place, form, error = enter(request, "logged in"), {"labels": []}, ""
    if request.method == "POST":
        form, error = await _read_issue(request, place)
        if not error:
            project = place.project["id"]
            iid = one(request, "SELECT coalesce(max(iid), 0) + 1 FROM issues WHERE project = ?", project)[0]
            rows(request, "INSERT INTO issues (project, iid, state, author, due, created) VALUES (?,?,'opened',?,'',?)",
                 project, iid, place.user["id"], TODAY)
            issue = one(request, "SELECT id FROM issues WHERE project = ? AND iid = ?", project, iid)["id"]
            url = f"{place.url}/-/issues/{iid}"
            _store_issue(request, place, issue, form)
            _tell_assignee(request, place, form, url)
            return go(url, "The issue was created.")
    return _form_page(request, place, "New issue", error, form, many=True)


async def _edit_issue(request: Request) -> Response:
    place, issue = _enter_to_change(request)
    form, error = {"title": issue["title"], "description": issue["description"], "labels": (issue["label_names"] or "").split(", "),
                   "assignee": issue["assignee_username"], "milestone": issue["milestone_title"], "due": issue["due"]}, ""
    if request.method == "POST":
        form, error = await _read_issue(request, place)
        if not error:
            url = f"{place.url}/-/issues/{issue['iid']}"
            _store_issue(request, place, issue["id"], form, with_plan=place.rank >= ROLES["Reporter"])
            if form["assignee"] != issue["assignee_username"]:
                _tell_assignee(request, place, form, url)
            return go(url, "The issue was saved.")
    return _form_page(request, place, f"Edit issue #{issue['iid']}", error, form, many=False)


# --- labels and milestones -------------------------------------------------------------------------------------------------------

async def _labels(request: Request) -> Response:
    place, form, error = enter(request), {}, ""
    if request.method == "POST":
        place, form = enter(request, "Reporter"), await read_form(request)
        name = form.get("label", "")
        if not re.fullmatch(r"[^,]{1,30}", name):
            error = "Label name must be up to 30 characters without a comma."
        elif one(request, "SELECT 1 FROM labels WHERE project = ? AND lower(name) = lower(?)", place.project["id"], name):
            error = "There is already a label with this name."
        elif form.get("color") not in COLORS:
            error = "Color must be chosen."
        else:
            rows(request, "INSERT INTO labels (project, name, color, description) VALUES (?,?,?,?)", place.project["id"], name,
                 form["color"], form.get("description", ""))
            return go(f"{place.url}/-/labels", f"The label {name} was created.")
    found = rows(request, """SELECT l.*, (SELECT count(*) FROM issue_labels k JOIN issues i ON i.id = k.issue
                                          WHERE k.label = l.id AND i.state = 'opened') AS open_count
                             FROM labels l WHERE project = ? ORDER BY name""", place.project["id"])
    return project_page(request, place, "plan", "labels.html", "Labels", error, form=form, colors=COLORS, **slice_rows(request, found))


async def _delete_label(request: Request) -> Response:
    place = enter(request, "Reporter")
    label = one(request, "SELECT * FROM labels WHERE project = ? AND name = ?", place.project["id"],
                (await read_form(request)).get("label", ""))
    if label is None:
        return go(f"{place.url}/-/labels", "There is no such label.")
    rows(request, "DELETE FROM issue_labels WHERE label = ?", label["id"])
    rows(request, "DELETE FROM labels WHERE id = ?", label["id"])
    return go(f"{place.url}/-/labels", f"The label {label['name']} was deleted.")


async def _milestones(request: Request) -> Response:
    place = enter(request)
    found = rows(request, """SELECT m.*, (SELECT count(*) FROM issues WHERE milestone = m.id) AS every,
                                    (SELECT count(*) FROM issues WHERE milestone = m.id AND state = 'closed') AS closed
                             FROM milestones m WHERE project = ? ORDER BY due = '', due, id""", place.project["id"])
    return project_page(request, place, "plan", "milestones.html", "Milestones", **slice_rows(request, found))


async def _new_milestone(request: Request) -> Response:
    place, form, error = enter(request, "Developer"), {}, ""
    if request.method == "POST":
        form = await read_form(request)
        title, due = form.get("title", ""), form.get("due", "")
        if not title:
            error = "Title must not be empty."
        elif one(request, "SELECT 1 FROM milestones WHERE project = ? AND title = ?", place.project["id"], title):
            error = "There is already a milestone with this title."
        elif due and not is_date(due):
            error = "Due date must be a date."
        else:
            rows(request, "INSERT INTO milestones (project, title, due, state) VALUES (?,?,?,'active')", place.project["id"], title, due)
            made = one(request, "SELECT max(id) FROM milestones")[0]
            return go(f"{place.url}/-/milestones/{made}", "The milestone was created.")
    return project_page(request, place, "plan", "milestone_form.html", "New milestone", error, form=form)


async def _milestone(request: Request) -> Response:
    place = enter(request)
    milestone = one(request, "SELECT * FROM milestones WHERE project = ? AND id = ?", place.project["id"],
                    number(request.path_params["number"], 1, 999_999))
    if milestone is None:
        raise HTTPException(404)
    if request.method == "POST":
        place = enter(request, "Developer")
        state = "closed" if (await read_form(request)).get("state") == "closed" else "active"
        rows(request, "UPDATE milestones SET state = ? WHERE id = ?", state, milestone["id"])
        return go(request.url.path, "The milestone was closed." if state == "closed" else "The milestone was opened again.")
    found = rows(request, f"{LISTED} WHERE i.milestone = ? ORDER BY i.state DESC, i.iid", milestone["id"])
    return project_page(request, place, "plan", "milestone.html", milestone["title"], milestone=milestone, **slice_rows(request, found))


ROUTES = [
    Route("/dashboard/issues", _my_issues), Route(f"{IN_PROJECT}/issues", _issues), both(f"{IN_PROJECT}/issues/new", _new_issue),
    Route(f"{IN_PROJECT}/issues/{{iid}}", _issue), post(f"{IN_PROJECT}/issues/{{iid}}/comment", _comment),
    post(f"{IN_PROJECT}/issues/{{iid}}/state", _state), both(f"{IN_PROJECT}/issues/{{iid}}/edit", _edit_issue),
    both(f"{IN_PROJECT}/labels", _labels), post(f"{IN_PROJECT}/labels/delete", _delete_label),
    Route(f"{IN_PROJECT}/milestones", _milestones), both(f"{IN_PROJECT}/milestones/new", _new_milestone),
    both(f"{IN_PROJECT}/milestones/{{number}}", _milestone),
]
