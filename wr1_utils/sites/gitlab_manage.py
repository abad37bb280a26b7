"""Members and settings of a project or a group; new projects and groups; a group's page."""

import re
import sqlite3

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from wr1_utils.sites.gitlab_base import (
    IN_PROJECT,
    VISIBILITIES,
    enter,
    members_of,
    page,
    project_page,
    signed_in,
    visible_projects,
    visitor,
)
from wr1_utils.sites.gitlab_seed import ROLES, add_commit, add_labels, slug_of
from wr1_utils.sites.pages import both, go, one, post, read_form, rows, slice_rows
from wr1_utils.sites.shopping_seed import TODAY

RESERVED = ("dashboard", "users", "explore", "search", "projects", "groups", "login", "logout", "profile", "static")


# --- members ---------------------------------------------------------------------------------------------------------------------

def _may_set(rank: int, role: str) -> bool:
    return ROLES["Maintainer"] <= rank >= ROLES[role]


async def _change_members(request: Request, kind: str, holder: int, rank: int) -> tuple[str, str]:
    """Does what a form of the page of members says; gives (message, error), of which one is empty."""
    if rank < ROLES["Maintainer"]:
        raise HTTPException(403, "This needs the role Maintainer.")
    form = await read_form(request)
    asked, role, name = form.get("do", ""), form.get("role", ""), form.get("user", "").removeprefix("@").strip()
    user = one(request, "SELECT * FROM users WHERE lower(?) IN (username, lower(name), email)", name)
    member = user and one(request, "SELECT * FROM members WHERE kind = ? AND holder = ? AND user = ?", kind, holder, user["id"])
    if user is None:
        return "", "There is no such user."
    if asked == "invite" and member:
        return "", f"{user['name']} is already a member."
    if asked != "invite" and not member:
        return "", f"{user['name']} is no member."
    if asked in ("invite", "change") and role not in ROLES:
        return "", "Role must be chosen."
    if not _may_set(rank, role if role in ROLES else "Guest") or (member and not _may_set(rank, member["role"])):
        return "", "Only an owner may do that."
    owners = one(request, "SELECT count(*) FROM members WHERE kind = ? AND holder = ? AND role = 'Owner'", kind, holder)[0]
    if member and member["role"] == "Owner" and owners == 1 and (asked == "remove" or role != "Owner"):
        return "", "There must be an owner."
    if asked == "invite":
        rows(request, "INSERT INTO members (kind, holder, user, role) VALUES (?,?,?,?)", kind, holder, user["id"], role)
        return f"{user['name']} was added as {role}.", ""
    if asked == "change":
        rows(request, "UPDATE members SET role = ? WHERE id = ?", role, member["id"])
        return f"{user['name']} is now {role}.", ""
    if asked == "remove":
        rows(request, "DELETE FROM members WHERE id = ?", member["id"])
        return f"{user['name']} was removed.", ""
    return "", "Nothing was changed."


async def _members(request: Request) -> Response:
    place, error = enter(request, "logged in", archived_too=request.method == "GET"), ""
    if request.method == "POST":
        message, error = await _change_members(request, "project", place.project["id"], place.rank)
        if message:
            return go(_back(request, place.user, members_of(request, place.project)), message)
    return project_page(request, place, "manage", "members.html", "Members", error, kind="project",
                        **slice_rows(request, members_of(request, place.project)))


def _back(request: Request, user: sqlite3.Row, members: list[sqlite3.Row]) -> str:
    """The page of members again, or the first page for a visitor who has just left."""
    return request.url.path if any(row["user"] == user["id"] for row in members) else "/"


# --- groups ----------------------------------------------------------------------------------------------------------------------

GROUP_MEMBERS = """SELECT m.*, u.name, u.username FROM members m JOIN users u ON u.id = m.user
                   WHERE kind = 'group' AND holder = ? ORDER BY u.name"""


def group_of(request: Request, path: str) -> tuple[sqlite3.Row, int]:
    """A group and the visitor's rank in it; 404 for one that they may not see."""
    group, user = one(request, "SELECT * FROM groups WHERE path = ?", path), visitor(request)
    if group is None:
        raise HTTPException(404)
    own = [ROLES[row["role"]] for row in rows(request, GROUP_MEMBERS, group["id"]) if user and row["user"] == user["id"]]
    if not own and (group["visibility"] == "Private" or (group["visibility"] == "Internal" and user is None)):
        raise HTTPException(404)
    return group, max(own, default=0)


def group_page(request: Request, path: str) -> Response:
    """The page of the group `path`."""
    group, rank = group_of(request, path)
    found = visible_projects(request, "p.space = ?", "p.name", path)
    return page(request, "group.html", group["name"], group=group, rank=rank, **slice_rows(request, found))


async def _group_members(request: Request) -> Response:
    user = signed_in(request)
    (group, rank), error = group_of(request, request.path_params["group"]), ""
    if request.method == "POST":
        message, error = await _change_members(request, "group", group["id"], rank)
        if message:
            return go(_back(request, user, rows(request, GROUP_MEMBERS, group["id"])), message)
    return page(request, "members.html", "Members", error, group=group, rank=rank, kind="group",
                **slice_rows(request, rows(request, GROUP_MEMBERS, group["id"])))


async def _my_groups(request: Request) -> Response:
    user = signed_in(request)
    found = rows(request, "SELECT g.*, m.role FROM groups g JOIN members m ON m.kind = 'group' AND m.holder = g.id WHERE m.user = ? "
                          "ORDER BY g.name", user["id"])
    return page(request, "groups.html", "Groups", **slice_rows(request, found))


def _wrong_name(request: Request, form: dict, space: str | None) -> str:
    """The message for a name or a visibility that cannot be had; `space` is where a project is to be (None: it is a group)."""
    path = slug_of(form.get("name", ""))
    if not path or len(form["name"]) > 60:
        return "Name must have 1 to 60 characters, with a letter or digit."
    if form.get("visibility") not in VISIBILITIES:
        return "Visibility must be chosen."
    if space is None:
        taken = path in RESERVED or one(request, "SELECT 1 FROM groups WHERE path = ? UNION SELECT 1 FROM users WHERE username = ?",
                                        path, path)
    else:
        taken = one(request, "SELECT 1 FROM projects WHERE space = ? AND path = ?", space, path)
    return "This name is taken." if taken else ""


async def _new_group(request: Request) -> Response:
    user, form, error = signed_in(request), {}, ""
    if request.method == "POST":
        form = await read_form(request)
        error = _wrong_name(request, form, None)
        if not error:
            path = slug_of(form["name"])
            rows(request, "INSERT INTO groups (path, name, description, visibility) VALUES (?,?,?,?)", path, form["name"],
                 form.get("description", ""), form["visibility"])
            rows(request, "INSERT INTO members (kind, holder, user, role) SELECT 'group', id, ?, 'Owner' FROM groups WHERE path = ?",
                 user["id"], path)
            return go(f"/{path}", "The group was created.")
    return page(request, "space_form.html", "New group", error, form=form, spaces=[], visibilities=VISIBILITIES)


# --- projects --------------------------------------------------------------------------------------------------------------------

async def _new_project(request: Request) -> Response:
    user, form, error = signed_in(request), {"readme": "on"}, ""
    groups = rows(request, "SELECT g.path FROM groups g JOIN members m ON m.kind = 'group' AND m.holder = g.id "
                           "WHERE m.user = ? AND m.role IN ('Maintainer', 'Owner') ORDER BY g.path", user["id"])
    spaces = [user["username"], *(row["path"] for row in groups)]
    form["space"] = request.query_params.get("space", "")
    if request.method == "POST":
        form = await read_form(request)
        space = form.get("space", "")
        error = _wrong_name(request, form, space) if space in spaces else "Space must be chosen."
        if not error:
            _make_project(request, user, space, form)
            return go(f"/{space}/{slug_of(form['name'])}", "The project was created.")
    return page(request, "space_form.html", "New project", error, form=form, spaces=spaces, visibilities=VISIBILITIES)


def _make_project(request: Request, user: sqlite3.Row, space: str, form: dict) -> None:
    rows(request, "INSERT INTO projects (space, path, name, description, visibility, archived, created) VALUES (?,?,?,?,?,0,?)",
         space, slug_of(form["name"]), form["name"], form.get("description", ""), form["visibility"], TODAY)
    project = one(request, "SELECT id FROM projects WHERE space = ? AND path = ?", space, slug_of(form["name"]))["id"]
    rows(request, "INSERT INTO branches (project, name) VALUES (?, 'main')", project)
    rows(request, "INSERT INTO members (kind, holder, user, role) VALUES ('project',?,?,'Owner')", project, user["id"])
    add_labels(request.state.db, project)
    if "readme" in form:
        text = "\n".join(line for line in (f"# {form['name']}", form.get("description", "")) if line)
        rows(request, "INSERT INTO files (project, branch, path, text) VALUES (?, 'main', 'README.md', ?)", project, text)
        add_commit(request.state.db, project, "main", user["id"], TODAY, "Initial commit", [("README.md", "", text)])


async def _settings(request: Request) -> Response:
    place, error = enter(request, "Maintainer", archived_too=True), ""
    values = dict(place.project)
    if request.method == "POST":
        enter(request, "Maintainer")
        form = await read_form(request)
        values.update(form)
        if not form.get("name") or len(form["name"]) > 60 or not re.search(r"\w", form["name"]):
            error = "Name must have 1 to 60 characters, with a letter or digit."
        elif form.get("visibility") not in VISIBILITIES:
            error = "Visibility must be chosen."
        else:
            rows(request, "UPDATE projects SET name = ?, description = ?, visibility = ? WHERE id = ?", form["name"],
                 form.get("description", ""), form["visibility"], place.project["id"])
            return go(f"{place.url}/-/edit", "The settings were saved.")
    return project_page(request, place, "manage", "settings.html", "Settings", error, values=values, visibilities=VISIBILITIES)


async def _archive(request: Request) -> Response:
    place = enter(request, "Owner", archived_too=True)
    archived = int((await read_form(request)).get("archived") == "yes")
    rows(request, "UPDATE projects SET archived = ? WHERE id = ?", archived, place.project["id"])
    return go(place.url, "The project was archived." if archived else "The project is no longer archived.")


ROUTES = [
    Route("/dashboard/groups", _my_groups), both("/projects/new", _new_project), both("/groups/new", _new_group),
    both("/groups/{group}/-/group_members", _group_members), both(f"{IN_PROJECT}/project_members", _members),
    both(f"{IN_PROJECT}/edit", _settings), post(f"{IN_PROJECT}/archive", _archive),
]
