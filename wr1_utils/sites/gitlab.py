"""The site `gitlab`: code hosting with projects, files, commits, issues, merge requests, members and groups.

This module has what lies outside a project: the first page, to-dos, exploring and searching, profiles, log in and out. What
belongs to a project is in `gitlab_code`, `gitlab_issues`, `gitlab_merges` and `gitlab_manage`. Every page is small (150–500 tokens
as the agent reads it) and every label stands for one thing on its page. Public projects can be seen without a login; each change
needs one, and a role. Passwords are plain text: they are part of the invented data.
"""

import hashlib
import re
import sqlite3
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from wr1_utils.sites import gitlab_code, gitlab_issues, gitlab_manage, gitlab_merges
from wr1_utils.sites.gitlab_base import SESSION_COOKIE, choice, page, signed_in, visible_projects, visitor
from wr1_utils.sites.pages import asked, both, go, log_in, log_out, number, one, post, read_form, rows, slice_rows, to_login, too_long

SORTS = {                                     # value in the URL → label, ORDER BY
    "stars_desc": ("Most stars", "star_count DESC, p.name, p.space"),
    "name_asc": ("Name", "p.name, p.space"),
    "latest": ("Newest", "p.created DESC, p.name, p.space"),
}
SCOPES = {"projects": "Projects", "issues": "Issues", "users": "Users"}
EMAIL = r"[^@\s]{1,30}@[^@\s]{1,30}"
PROFILE = {                                   # field → label, greatest length
    "name": ("Full name", 60), "status": ("Status message", 100), "bio": ("Bio", 200), "location": ("Location", 60),
}


# --- what belongs to the visitor -------------------------------------------------------------------------------------------------

async def _home(request: Request) -> Response:
    user = visitor(request)
    if user is None:
        return go("/explore")
    counts = one(request, """SELECT (SELECT count(*) FROM todos WHERE user = u.id AND done = 0) AS todos,
                                    (SELECT count(*) FROM issues WHERE assignee = u.id AND state = 'opened') AS issues,
                                    (SELECT count(*) FROM merge_requests WHERE reviewer = u.id AND state = 'opened') AS reviews
                             FROM users u WHERE id = ?""", user["id"])
    mine = """(p.id IN (SELECT holder FROM members WHERE kind = 'project' AND user = ?) OR p.space IN
               (SELECT g.path FROM groups g JOIN members m ON m.kind = 'group' AND m.holder = g.id WHERE m.user = ?))"""
    found = visible_projects(request, mine, "p.name, p.space", user["id"], user["id"])
    return page(request, "home.html", "Your projects", counts=counts, **slice_rows(request, found))


async def _todos(request: Request) -> Response:
    user, done = signed_in(request), int(request.query_params.get("state") == "done")
    found = rows(request, "SELECT t.*, p.name AS project_name FROM todos t JOIN projects p ON p.id = t.project "
                          "WHERE user = ? AND done = ? ORDER BY t.id DESC", user["id"], done)
    return page(request, "todos.html", "To-dos", done=done, **slice_rows(request, found))


async def _todo_done(request: Request) -> Response:
    user, form = signed_in(request), await read_form(request)
    if "all" in form:
        rows(request, "UPDATE todos SET done = 1 WHERE user = ?", user["id"])
        return go("/dashboard/todos", "All to-dos are done.")
    rows(request, "UPDATE todos SET done = 1 WHERE id = ? AND user = ?", number(form.get("todo", ""), 1, 999_999), user["id"])
    return go("/dashboard/todos", "The to-do is done.")


# --- looking around --------------------------------------------------------------------------------------------------------------

async def _explore(request: Request) -> Response:
    sort = choice(request, "sort", SORTS, "stars_desc")
    return page(request, "explore.html", "Explore projects", sort=sort, sorts={value: label for value, (label, _) in SORTS.items()},
                **slice_rows(request, visible_projects(request, "1", SORTS[sort][1])))


async def _search(request: Request) -> Response:
    words, scope = asked(request, "search").lower().split(), choice(request, "scope", SCOPES, "projects")
    if not words:
        return page(request, "search.html", "Search", tabs=[])

    def match(text: str) -> str:
        return " AND ".join(f"instr(lower({text}), ?)" for _ in words)

    seen = visible_projects(request, "1", "p.id")
    numbers = ",".join(str(project["id"]) for project in seen) or "0"
    found = {
        "projects": visible_projects(request, match("p.space || ' ' || p.name || ' ' || p.description"), "p.name, p.space", *words),
        "issues": rows(request, f"{gitlab_issues.LISTED} WHERE i.project IN ({numbers}) AND {match('i.title')} "
                                "ORDER BY i.created DESC, i.id", *words),
        "users": rows(request, f"SELECT * FROM users u WHERE {match('u.username || char(32) || u.name')} ORDER BY u.name", *words),
    }
    tabs = [(label, "?" + urlencode({"search": " ".join(words), "scope": value}), len(found[value]), value)
            for value, label in SCOPES.items()]
    return page(request, "search.html", f"Results for {' '.join(words)}", tabs=tabs, scope=scope, **slice_rows(request, found[scope]))


async def _space(request: Request) -> Response:
    """The page of a user or of a group."""
    person = one(request, "SELECT * FROM users WHERE username = ?", request.path_params["space"])
    if person is None:
        return gitlab_manage.group_page(request, request.path_params["space"])
    user = visitor(request)
    follows = one(request, "SELECT (SELECT count(*) FROM follows WHERE followed = ?) AS followers, "
                           "(SELECT count(*) FROM follows WHERE follower = ?) AS following", person["id"], person["id"])
    followed = user and one(request, "SELECT 1 FROM follows WHERE follower = ? AND followed = ?", user["id"], person["id"])
    found = visible_projects(request, "p.space = ?", "p.name", person["username"])
    return page(request, "user.html", person["name"], person=person, follows=follows, followed=followed, **slice_rows(request, found))


async def _follow(request: Request) -> Response:
    """Follows a user, or stops following them, as the form says."""
    user, person = signed_in(request), one(request, "SELECT * FROM users WHERE username = ?", request.path_params["space"])
    if person is None:
        raise HTTPException(404)
    if person["id"] == user["id"]:
        return go(f"/{person['username']}", "You cannot follow yourself.")
    if (await read_form(request)).get("follow") == "no":
        rows(request, "DELETE FROM follows WHERE follower = ? AND followed = ?", user["id"], person["id"])
        return go(f"/{person['username']}", f"You no longer follow {person['name']}.")
    rows(request, "INSERT OR IGNORE INTO follows VALUES (?, ?)", user["id"], person["id"])
    return go(f"/{person['username']}", f"You follow {person['name']}.")


# --- profile, log in and out -----------------------------------------------------------------------------------------------------

async def _profile(request: Request) -> Response:
    user, error = signed_in(request), ""
    values = dict(user)
    if request.method == "POST":
        form = await read_form(request)
        values.update({field: form.get(field, "") for field in PROFILE})
        error = next((f"{label} must have at most {most} characters." for field, (label, most) in PROFILE.items()
                      if len(values[field]) > most), "" if values["name"] else "Full name must not be empty.")
        if not error:
            changes = ", ".join(f"{field} = ?" for field in PROFILE)
            rows(request, f"UPDATE users SET {changes} WHERE id = ?", *(values[field] for field in PROFILE), user["id"])
            return go("/profile", "Your profile was saved.")
    return page(request, "profile.html", "Edit profile", error, fields=PROFILE, values=values)


def _confirmation(user: sqlite3.Row) -> tuple[str, str]:
    """What the latest request of a user for another email is known by: the last part of its page's address, and the code that confirms it."""
    key = hashlib.sha1(f"{user['id']} {user['new_email']} {user['email_requests']}".encode()).hexdigest()
    return key[:12], f"{int(key[12:20], 16) % 9000 + 1000}"


async def _email(request: Request) -> Response:
    """Asks for another email. Nothing leads to the page that confirms it but this form; its code stands on this page, once it was asked for."""
    user, error, text = signed_in(request), "", ""
    if request.method == "POST":
        text = (await read_form(request)).get("email", "")
        if not re.fullmatch(EMAIL, text):
            error = "New email must be an address such as emma@git.test."
        elif one(request, "SELECT 1 FROM users WHERE email = ?", text):
            error = "This email is taken."
        else:
            rows(request, "UPDATE users SET new_email = ?, email_requests = email_requests + 1 WHERE id = ?", text, user["id"])
            return go(f"/profile/confirm/{_confirmation(signed_in(request))[0]}")
    return page(request, "email.html", "Email", error, pattern=EMAIL, text=text, code=_confirmation(user)[1] if user["new_email"] else "")


async def _confirm(request: Request) -> Response:
    """Takes the code. A page by itself, without links; only the latest request has one."""
    user, error = signed_in(request), ""
    key, code = _confirmation(user)
    if not user["new_email"] or request.path_params["key"] != key:
        raise HTTPException(404)
    if request.method == "POST":
        if (await read_form(request)).get("code") == code:
            rows(request, "UPDATE users SET email = new_email, new_email = '' WHERE id = ?", user["id"])
            return go("/profile/email", "Your email was changed.")
        error = "This is not the code."
    return page(request, "confirm.html", "Confirm your new email", error)


async def _card(request: Request) -> Response:
    """What is shown while one points at a user's name: a piece of a page."""
    person = one(request, "SELECT * FROM users WHERE username = ?", request.path_params["space"])
    if person is None:
        raise HTTPException(404)
    return page(request, "card.html", "", person=person)


async def _login(request: Request) -> Response:
    error, form = "", {}
    if request.method == "POST":
        form = await read_form(request)
        found = one(request, "SELECT id FROM users WHERE ? IN (username, email) AND password = ?", form.get("username", ""),
                    form.get("password", ""))
        if found:
            return log_in(request, SESSION_COOKIE, found["id"])
        error = "The user name or the password is wrong."
    return page(request, "login.html", "Log in", error, form=form)


async def _logout(request: Request) -> Response:
    return log_out(request, SESSION_COOKIE)


async def _missing(request: Request, error: Exception) -> Response:
    return page(request, "notice.html", "Page not found", status=404, notice="There is no such page.")


async def _refused(request: Request, error: HTTPException) -> Response:
    return page(request, "notice.html", "Not allowed", status=403, notice=error.detail)


async def _log_in_first(request: Request, error: Exception) -> Response:
    return to_login(request)


def make_app() -> Starlette:
    """The site as an ASGI app; each request brings its world's database in ``request.state.db``."""
    return Starlette(exception_handlers={401: _log_in_first, 403: _refused, 404: _missing, 405: _missing, 413: too_long}, routes=[
        Route("/", _home), Route("/explore", _explore), Route("/search", _search), Route("/dashboard/todos", _todos),
        post("/dashboard/todos/done", _todo_done), both("/profile", _profile), both("/profile/email", _email),
        both("/profile/confirm/{key}", _confirm), both("/login", _login), post("/logout", _logout),
        *gitlab_manage.ROUTES, *gitlab_issues.ROUTES, *gitlab_merges.ROUTES, *gitlab_code.ROUTES,
        post("/{space}/follow", _follow), Route("/users/{space}/card", _card), Route("/{space}", _space),
    ])
