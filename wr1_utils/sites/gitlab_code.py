"""The code of a project: its first page, files, commits, branches and contributors; stars and forks."""

import difflib
import re
import sqlite3

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from wr1_utils.sites.gitlab_base import IN_PROJECT, Place, enter, page, project_page, signed_in, visible_projects
from wr1_utils.sites.gitlab_seed import add_commit, fork_project
from wr1_utils.sites.pages import both, go, one, post, read_form, read_text, rows, slice_rows
from wr1_utils.sites.shopping_seed import TODAY

FILE_NAME = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,39}(/[A-Za-z0-9_-][A-Za-z0-9._-]{0,39}){0,2}"
BRANCH_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}"


# --- the project itself ----------------------------------------------------------------------------------------------------------

async def _project(request: Request) -> Response:
    place = enter(request)
    project = place.project
    readme = one(request, "SELECT text FROM files WHERE project = ? AND branch = 'main' AND path = 'README.md'", project["id"])
    starred = place.user and one(request, "SELECT 1 FROM stars WHERE project = ? AND user = ?", project["id"], place.user["id"])
    source = next(iter(visible_projects(request, "p.id = ?", "p.id", project["forked_from"])), None)
    return project_page(request, place, "all", "project.html", project["name"], readme=readme["text"].splitlines() if readme else [],
                        starred=starred, source=source)


async def _star(request: Request) -> Response:
    place = enter(request, "logged in", archived_too=True)
    rows(request, "INSERT OR IGNORE INTO stars VALUES (?, ?)", place.project["id"], place.user["id"])
    return go(place.url, f"You starred {place.project['name']}.")


async def _unstar(request: Request) -> Response:
    place = enter(request, "logged in", archived_too=True)
    rows(request, "DELETE FROM stars WHERE project = ? AND user = ?", place.project["id"], place.user["id"])
    return go(place.url, f"You removed the star of {place.project['name']}.")


async def _fork(request: Request) -> Response:
    place = enter(request, "logged in", archived_too=True)
    user, path = place.user, place.project["path"]
    if one(request, "SELECT 1 FROM projects WHERE space = ? AND path = ?", user["username"], path):
        return go(place.url, f"You already have a project {path}.")
    fork_project(request.state.db, place.project["id"], user["username"])
    return go(f"/{user['username']}/{path}", f"You forked {place.project['name']}.")


async def _forks(request: Request) -> Response:
    place = enter(request)
    found = visible_projects(request, "p.forked_from = ?", "p.space", place.project["id"])
    return project_page(request, place, "code", "forks.html", "Forks", **slice_rows(request, found))


async def _starred(request: Request) -> Response:
    user = signed_in(request)
    found = visible_projects(request, "p.id IN (SELECT project FROM stars WHERE user = ?)", "p.name, p.space", user["id"])
    return page(request, "projects.html", "Starred projects", empty="You have starred no project.", **slice_rows(request, found))


# --- files -----------------------------------------------------------------------------------------------------------------------

def _branch(request: Request, place: Place) -> str:
    branch = request.path_params["branch"]
    if one(request, "SELECT 1 FROM branches WHERE project = ? AND name = ?", place.project["id"], branch) is None:
        raise HTTPException(404)
    return branch


def branches_of(request: Request, place: Place) -> list[str]:
    """The names of a project's branches, main first."""
    found = rows(request, "SELECT name FROM branches WHERE project = ? ORDER BY name <> 'main', name", place.project["id"])
    return [row["name"] for row in found]


def _file(request: Request, place: Place, branch: str) -> sqlite3.Row:
    file = one(request, "SELECT * FROM files WHERE project = ? AND branch = ? AND path = ?", place.project["id"], branch,
               request.path_params["path"])
    if file is None:
        raise HTTPException(404)
    return file


async def _tree(request: Request) -> Response:
    place = enter(request)
    branch, folder = _branch(request, place), request.path_params.get("path", "").strip("/")
    start = f"{folder}/" if folder else ""
    paths = [row["path"] for row in rows(request, "SELECT path FROM files WHERE project = ? AND branch = ? ORDER BY path",
                                         place.project["id"], branch)]
    inside = [path.removeprefix(start) for path in paths if path.startswith(start)]
    if folder and not inside:
        raise HTTPException(404)
    entries = sorted({(0, path.split("/")[0]) if "/" in path else (1, path) for path in inside})
    return project_page(request, place, "code", "tree.html", folder or "Files", branch=branch, branches=branches_of(request, place),
                        start=start, entries=entries)


async def _switch(request: Request) -> Response:
    """The list of branches on the pages of files and commits leads here."""
    place = enter(request)
    branch, target = request.query_params.get("branch", ""), request.query_params.get("to", "")
    if branch not in branches_of(request, place) or target not in ("tree", "commits"):
        raise HTTPException(404)
    return go(f"{place.url}/-/{target}/{branch}")


async def _blob(request: Request) -> Response:
    place = enter(request)
    branch = _branch(request, place)
    file = _file(request, place, branch)
    return project_page(request, place, "code", "file.html", file["path"], branch=branch, lines=file["text"].split("\n"))


def change_lines(old: str, new: str) -> list[tuple[str, str]]:
    """The differences of two texts as pairs of (old lines, new lines)."""
    before, after = old.splitlines(), new.splitlines()
    parts = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [("\n".join(before[a:b]), "\n".join(after[c:d])) for kind, a, b, c, d in parts if kind != "equal"]


async def _edit_file(request: Request) -> Response:
    place = enter(request, "Developer")
    branch = _branch(request, place)
    file = _file(request, place, branch)
    text, message, error = file["text"], f"Update {file['path']}", ""
    if request.method == "POST":
        text, message = await read_text(request, "text"), (await read_form(request)).get("message", "")
        error = "Commit message must not be empty." if not message else "Nothing was changed." if text == file["text"] else ""
        if not error:
            rows(request, "UPDATE files SET text = ? WHERE id = ?", text, file["id"])
            changes = [(file["path"], *change) for change in change_lines(file["text"], text)]
            add_commit(request.state.db, place.project["id"], branch, place.user["id"], TODAY, message, changes)
            return go(f"{place.url}/-/blob/{branch}/{file['path']}", "Your change was committed.")
    return project_page(request, place, "code", "edit_file.html", f"Edit {file['path']}", error, branch=branch, text=text,
                        commit_message=message, back=f"{place.url}/-/blob/{branch}/{file['path']}")


async def _new_file(request: Request) -> Response:
    place = enter(request, "Developer")
    branch, form, text, error = _branch(request, place), {}, "", ""
    if request.method == "POST":
        form, text = await read_form(request), await read_text(request, "text")
        path, message = form.get("path", ""), form.get("message", "")
        taken = one(request, "SELECT 1 FROM files WHERE project = ? AND branch = ? AND (path = ? OR path LIKE ? || '/%')",
                    place.project["id"], branch, path, path)
        parents = {"/".join(path.split("/")[:depth]) for depth in range(1, path.count("/") + 1)}
        blocked = parents & {row["path"] for row in rows(request, "SELECT path FROM files WHERE project = ? AND branch = ?",
                                                         place.project["id"], branch)}
        if not re.fullmatch(FILE_NAME, path):
            error = "File name must be letters, digits, dots and dashes."
        elif taken or blocked:
            error = "A file with this name already exists."
        elif not message:
            error = "Commit message must not be empty."
        else:
            rows(request, "INSERT INTO files (project, branch, path, text) VALUES (?,?,?,?)", place.project["id"], branch, path, text)
            add_commit(request.state.db, place.project["id"], branch, place.user["id"], TODAY, message, [(path, "", text)])
            return go(f"{place.url}/-/blob/{branch}/{path}", "The file was added.")
    return project_page(request, place, "code", "edit_file.html", "New file", error, branch=branch, form=form, new=True, text=text,
                        commit_message=form.get("message", "Add a file"), pattern=FILE_NAME, back=f"{place.url}/-/tree/{branch}")


# --- commits and branches --------------------------------------------------------------------------------------------------------

COMMITS = "SELECT c.*, u.name, u.username FROM commits c JOIN users u ON u.id = c.author"


async def _commits(request: Request) -> Response:
    place = enter(request)
    branch, author = _branch(request, place), request.query_params.get("author", "")
    every = rows(request, f"{COMMITS} WHERE c.project = ? AND c.branch IN ('main', ?) ORDER BY c.date DESC, c.id DESC",
                 place.project["id"], branch)
    authors = {row["username"]: row["name"] for row in sorted(every, key=lambda row: row["name"])}
    found = [row for row in every if row["username"] == author] if author in authors else every
    return project_page(request, place, "code", "commits.html", "Commits", branch=branch, branches=branches_of(request, place),
                        authors=authors, author=author, **slice_rows(request, found))


async def _commit(request: Request) -> Response:
    place = enter(request)
    commit = one(request, f"{COMMITS} WHERE c.project = ? AND c.sha = ?", place.project["id"], request.path_params["sha"])
    if commit is None:
        raise HTTPException(404)
    changes = rows(request, "SELECT * FROM changes WHERE commit_id = ? ORDER BY id", commit["id"])
    return project_page(request, place, "code", "commit.html", commit["title"], commit=commit, changes=changes)


async def _branches(request: Request) -> Response:
    place, form, error = enter(request), {}, ""
    if request.method == "POST":
        place, form = enter(request, "Developer"), await read_form(request)
        name, source = form.get("branch", ""), form.get("source", "")
        used = one(request, "SELECT 1 FROM branches WHERE project = ? AND name = ? UNION "
                            "SELECT 1 FROM commits WHERE project = ? AND branch = ?", place.project["id"], name, place.project["id"], name)
        if not re.fullmatch(BRANCH_NAME, name):
            error = "Branch name must be letters, digits, dots and dashes."
        elif used:
            error = "This branch name is taken."
        elif source not in branches_of(request, place):
            error = "The source must be a branch."
        else:
            rows(request, "INSERT INTO branches (project, name) VALUES (?, ?)", place.project["id"], name)
            rows(request, "INSERT INTO files (project, branch, path, text) SELECT project, ?, path, text FROM files "
                          "WHERE project = ? AND branch = ? ORDER BY id", name, place.project["id"], source)
            return go(f"{place.url}/-/branches", f"The branch {name} was created.")
    found = rows(request, """SELECT b.name, c.title, c.date FROM branches b LEFT JOIN commits c ON c.id =
                               coalesce((SELECT max(id) FROM commits WHERE project = b.project AND branch = b.name),
                                        (SELECT max(id) FROM commits WHERE project = b.project AND branch = 'main'))
                             WHERE b.project = ? ORDER BY b.name <> 'main', b.name""", place.project["id"])
    return project_page(request, place, "code", "branches.html", "Branches", error, form=form, pattern=BRANCH_NAME,
                        branches=branches_of(request, place), **slice_rows(request, found))


async def _delete_branch(request: Request) -> Response:
    place, name = enter(request, "Developer"), (await read_form(request)).get("branch", "")
    back, project = f"{place.url}/-/branches", place.project["id"]
    if name == "main" or name not in branches_of(request, place):
        return go(back, "This branch cannot be deleted.")
    if one(request, "SELECT 1 FROM merge_requests WHERE project = ? AND source = ? AND state = 'opened'", project, name):
        return go(back, f"The branch {name} has an open merge request.")
    remove_branch(request, project, name)
    return go(back, f"The branch {name} was deleted.")


def remove_branch(request: Request, project: int, name: str) -> None:
    """Forgets a branch and its files; its commits stay with their merge request."""
    rows(request, "DELETE FROM branches WHERE project = ? AND name = ?", project, name)
    rows(request, "DELETE FROM files WHERE project = ? AND branch = ?", project, name)


async def _contributors(request: Request) -> Response:
    place = enter(request)
    branch = _branch(request, place)
    found = rows(request, """SELECT u.name, u.username, count(*) AS commits, min(c.date) AS first, max(c.date) AS last
                             FROM commits c JOIN users u ON u.id = c.author WHERE c.project = ? AND c.branch IN ('main', ?)
                             GROUP BY u.id ORDER BY commits DESC, u.name""", place.project["id"], branch)
    return project_page(request, place, "code", "contributors.html", "Contributors", branch=branch, **slice_rows(request, found))


ROUTES = [
    Route("/dashboard/starred", _starred), Route("/{space}/{name}", _project), post(f"{IN_PROJECT}/star", _star),
    post(f"{IN_PROJECT}/unstar", _unstar), post(f"{IN_PROJECT}/fork", _fork), Route(f"{IN_PROJECT}/forks", _forks),
    Route(f"{IN_PROJECT}/tree/{{branch}}", _tree), Route(f"{IN_PROJECT}/tree/{{branch}}/{{path:path}}", _tree),
    Route(f"{IN_PROJECT}/switch", _switch), Route(f"{IN_PROJECT}/blob/{{branch}}/{{path:path}}", _blob),
    both(f"{IN_PROJECT}/edit/{{branch}}/{{path:path}}", _edit_file), both(f"{IN_PROJECT}/new/{{branch}}", _new_file),
    Route(f"{IN_PROJECT}/commits/{{branch}}", _commits), Route(f"{IN_PROJECT}/commit/{{sha}}", _commit),
    both(f"{IN_PROJECT}/branches", _branches), post(f"{IN_PROJECT}/branches/delete", _delete_branch),
    Route(f"{IN_PROJECT}/graphs/{{branch}}", _contributors),
]
