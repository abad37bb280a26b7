"""The merge requests of a project: list, new, review, approve, merge, close."""

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
    signed_in,
)
from wr1_utils.sites.gitlab_code import branches_of, remove_branch
from wr1_utils.sites.gitlab_seed import ROLES
from wr1_utils.sites.pages import asked, both, go, number, one, post, read_form, read_text, rows, slice_rows
from wr1_utils.sites.shopping_seed import TODAY

LISTED = """SELECT r.*, p.space, p.path, p.name AS project_name, a.name AS author_name, a.username AS author_username,
                   s.name AS assignee_name, s.username AS assignee_username, v.name AS reviewer_name, v.username AS reviewer_username
            FROM merge_requests r JOIN projects p ON p.id = r.project JOIN users a ON a.id = r.author
                 LEFT JOIN users s ON s.id = r.assignee LEFT JOIN users v ON v.id = r.reviewer"""
STATES = {"opened": "Open", "merged": "Merged", "closed": "Closed", "all": "All"}


async def _requests(request: Request) -> Response:
    place, query = enter(request), request.query_params
    state = choice(request, "state", STATES, "opened")
    where, values = ["r.project = ?", "? IN (r.state, 'all')"], [place.project["id"], state]
    for word in asked(request, "search").lower().split():
        where.append("instr(lower(r.title), ?)")
        values.append(word)
    for field, condition in (("author_username", "a.username = ?"), ("reviewer_username", "coalesce(v.username, 'None') = ?")):
        if query.get(field):
            where.append(condition)
            values.append(query[field])
    found = rows(request, f"{LISTED} WHERE {' AND '.join(where)} ORDER BY r.iid DESC", *values)
    return project_page(request, place, "plan", "merges.html", "Merge requests", state=state, states=STATES,
                        people=people_of(request, place.project), **slice_rows(request, found))


async def _my_requests(request: Request) -> Response:
    user, scope = signed_in(request), choice(request, "scope", ("review", "created", "assigned"), "review")
    column = {"review": "r.reviewer", "created": "r.author", "assigned": "r.assignee"}[scope]
    found = rows(request, f"{LISTED} WHERE {column} = ? AND r.state = 'opened' ORDER BY r.created DESC, r.id DESC", user["id"])
    return page(request, "my_merges.html", "My merge requests", scope=scope, **slice_rows(request, found))


def _request_of(request: Request, place: Place) -> sqlite3.Row:
    merge = one(request, f"{LISTED} WHERE r.project = ? AND r.iid = ?", place.project["id"], number(request.path_params["iid"], 1, 999_999))
    if merge is None:
        raise HTTPException(404)
    return merge


def _changes(request: Request, merge: sqlite3.Row) -> list[sqlite3.Row]:
    """The changes that a request brings: of the commits that were merged, or of those that wait on its branch."""
    return rows(request, """SELECT x.*, c.title, c.sha FROM changes x JOIN commits c ON c.id = x.commit_id
                            WHERE c.id IN (SELECT commit_id FROM merged_commits WHERE merge_request = ?)
                               OR (? <> 'merged' AND c.project = ? AND c.branch = ?) ORDER BY x.id""",
                merge["id"], merge["state"], merge["project"], merge["source"])


def _request_page(request: Request, place: Place, error: str = "") -> Response:
    merge = _request_of(request, place)
    approvals = rows(request, "SELECT u.name, u.id FROM approvals a JOIN users u ON u.id = a.user WHERE merge_request = ? ORDER BY u.name",
                     merge["id"])
    return project_page(request, place, "plan", "merge.html", merge["title"], error, merge=merge, changes=_changes(request, merge),
                        approvals=approvals, approved=place.user and place.user["id"] in [row["id"] for row in approvals],
                        comments=comments_of(request, "merge", merge["id"]), people=people_of(request, place.project),
                        may_close=_may_close(place, merge))


async def _request(request: Request) -> Response:
    return _request_page(request, enter(request))


async def _comment(request: Request) -> Response:
    place = enter(request, "logged in")
    merge, text = _request_of(request, place), await read_text(request, "text")
    if not text.strip():
        return _request_page(request, place, "Comment must not be empty.")
    add_comment(request, "merge", merge["id"], place.user["id"], TODAY, text)
    return go(f"{place.url}/-/merge_requests/{merge['iid']}", "Your comment was added.")


def _may_close(place: Place, merge: sqlite3.Row) -> bool:
    return place.user is not None and (place.rank >= ROLES["Developer"] or merge["author"] == place.user["id"])


async def _close(request: Request) -> Response:
    """Closes an open request, or opens a closed one again, as the form says."""
    place = enter(request, "logged in")
    merge, state = _request_of(request, place), (await read_form(request)).get("state", "")
    if not _may_close(place, merge):
        raise HTTPException(403, "This needs the role Developer.")
    if merge["state"] == "merged" or state not in ("opened", "closed"):
        return _request_page(request, place, "A merged request stays merged.")
    if state == "opened" and merge["source"] not in branches_of(request, place):
        return _request_page(request, place, f"The branch {merge['source']} is gone.")
    if state == "opened" and _open_request(request, place, merge["source"]) not in (None, merge["iid"]):
        return _request_page(request, place, "This branch already has an open merge request.")
    rows(request, "UPDATE merge_requests SET state = ? WHERE id = ?", state, merge["id"])
    return go(f"{place.url}/-/merge_requests/{merge['iid']}", f"The merge request was {'closed' if state == 'closed' else 'opened again'}.")


async def _approve(request: Request) -> Response:
    place = enter(request, "Developer")
    merge, user = _request_of(request, place), place.user["id"]
    if merge["state"] != "opened":
        return _request_page(request, place, "Only an open merge request can be approved.")
    if merge["author"] == user:
        return _request_page(request, place, "You cannot approve your own merge request.")
    rows(request, "INSERT OR IGNORE INTO approvals VALUES (?, ?)", merge["id"], user)
    return go(f"{place.url}/-/merge_requests/{merge['iid']}", "You approved the merge request.")


async def _revoke(request: Request) -> Response:
    place = enter(request, "Developer")
    merge = _request_of(request, place)
    if merge["state"] == "opened":
        rows(request, "DELETE FROM approvals WHERE merge_request = ? AND user = ?", merge["id"], place.user["id"])
    return go(f"{place.url}/-/merge_requests/{merge['iid']}", "Your approval was revoked.")


async def _people(request: Request) -> Response:
    """Sets assignee and reviewer."""
    place = enter(request, "Developer")
    merge, form, people = _request_of(request, place), await read_form(request), people_of(request, place.project)
    chosen = {field: form.get(field, "") for field in ("assignee", "reviewer")}
    if any(name and name not in people for name in chosen.values()):
        return _request_page(request, place, "Assignee and reviewer must be members.")
    url = f"{place.url}/-/merge_requests/{merge['iid']}"
    _set_people(request, place, merge["id"], merge["title"], url, chosen, people, before=merge)
    return go(url, "Assignee and reviewer were saved.")


def _set_people(request: Request, place: Place, merge: int, title: str, url: str, chosen: dict, people: dict, before=None) -> None:
    for field, action in (("assignee", "Assigned"), ("reviewer", "Review requested")):
        person = people[chosen[field]]["user"] if chosen[field] else None
        rows(request, f"UPDATE merge_requests SET {field} = ? WHERE id = ?", person, merge)
        if before is None or before[field] != person:
            add_todo(request, place, person, action, title, url)


def merged_text(text: str | None, changes: list[tuple[str, str]]) -> str | None:
    """A file with a branch's changes applied (None: the file is new), or None where what should be replaced is no longer there."""
    lines = [] if text is None else text.split("\n")
    for old, new in changes:
        before, after = old.split("\n") if old else [], new.split("\n") if new else []
        at = len(lines) if not before else next((i for i in range(len(lines)) if lines[i:i + len(before)] == before), None)
        if at is None:
            return None
        lines[at:at + len(before)] = after
    return "\n".join(lines)


async def _merge(request: Request) -> Response:
    place = enter(request, "Developer")
    merge, project = _request_of(request, place), place.project["id"]
    if merge["state"] != "opened":
        return _request_page(request, place, "Only an open merge request can be merged.")
    changes, texts = _changes(request, merge), {}
    for path in {change["path"]: None for change in changes}:
        file = one(request, "SELECT text FROM files WHERE project = ? AND branch = ? AND path = ?", project, merge["target"], path)
        texts[path] = merged_text(file["text"] if file else None, [(c["old"], c["new"]) for c in changes if c["path"] == path])
        if texts[path] is None:
            return _request_page(request, place, f"The branch cannot be merged: {path} was changed on {merge['target']}.")
    for path, text in texts.items():
        rows(request, "INSERT INTO files (project, branch, path, text) VALUES (?,?,?,?) "
                      "ON CONFLICT (project, branch, path) DO UPDATE SET text = excluded.text", project, merge["target"], path, text)
    rows(request, "INSERT INTO merged_commits SELECT ?, id FROM commits WHERE project = ? AND branch = ?",
         merge["id"], project, merge["source"])
    rows(request, "UPDATE commits SET branch = ? WHERE project = ? AND branch = ?", merge["target"], project, merge["source"])
    rows(request, "UPDATE merge_requests SET state = 'merged' WHERE id = ?", merge["id"])
    remove_branch(request, project, merge["source"])
    return go(f"{place.url}/-/merge_requests/{merge['iid']}", f"Merged into {merge['target']}; the branch {merge['source']} was deleted.")


def _open_request(request: Request, place: Place, source: str) -> int | None:
    found = one(request, "SELECT iid FROM merge_requests WHERE project = ? AND source = ? AND state = 'opened'",
                place.project["id"], source)
    return found["iid"] if found else None


async def _new_request(request: Request) -> Response:
    place = enter(request, "Developer")
    people, branches, project = people_of(request, place.project), branches_of(request, place)[1:], place.project["id"]
    form, error = {"source": request.query_params.get("source", "")}, ""
    if request.method == "POST":
        form = {"title": "", "source": "", "assignee": "", "reviewer": "", **await read_form(request)}
        form["description"] = await read_text(request, "description")
        if form["source"] not in branches:
            error = "Source branch must be chosen."
        elif not form["title"]:
            error = "Title must not be empty."
        elif any(form[field] and form[field] not in people for field in ("assignee", "reviewer")):
            error = "Assignee and reviewer must be members."
        elif _open_request(request, place, form["source"]):
            error = "This branch already has an open merge request."
        elif not one(request, "SELECT 1 FROM commits WHERE project = ? AND branch = ?", project, form["source"]):
            error = "This branch has no changes."
        else:
            iid = one(request, "SELECT coalesce(max(iid), 0) + 1 FROM merge_requests WHERE project = ?", project)[0]
            rows(request, "INSERT INTO merge_requests (project, iid, title, description, state, source, target, author, created) "
                          "VALUES (?,?,?,?,'opened',?,'main',?,?)", project, iid, form["title"], form["description"], form["source"],
                 place.user["id"], TODAY)
            merge = one(request, "SELECT id FROM merge_requests WHERE project = ? AND iid = ?", project, iid)["id"]
            url = f"{place.url}/-/merge_requests/{iid}"
            _set_people(request, place, merge, form["title"], url, form, people)
            return go(url, "The merge request was created.")
    return project_page(request, place, "plan", "merge_form.html", "New merge request", error, form=form, branches=branches, people=people)


_ONE = f"{IN_PROJECT}/merge_requests/{{iid}}"
ROUTES = [
    Route("/dashboard/merge_requests", _my_requests), Route(f"{IN_PROJECT}/merge_requests", _requests),
    both(f"{IN_PROJECT}/merge_requests/new", _new_request), Route(_ONE, _request), post(f"{_ONE}/comment", _comment),
    post(f"{_ONE}/state", _close), post(f"{_ONE}/approve", _approve), post(f"{_ONE}/revoke", _revoke), post(f"{_ONE}/people", _people),
    post(f"{_ONE}/merge", _merge),
]
