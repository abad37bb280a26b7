"""What all parts of the site `gitlab` share: its pages, who is looking, and what they may do in a project."""

import sqlite3
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from wr1_utils.sites.gitlab_seed import ROLES
from wr1_utils.sites.pages import make_page, one, read_pairs, rows

SESSION_COOKIE = "git_session"
LOGGED_IN = 5                    # the rank of a visitor with an account who is no member
RANKS = {"logged in": LOGGED_IN, **ROLES}
VISIBILITIES = {"Private": "members only", "Internal": "everyone with an account", "Public": "everyone"}
IN_PROJECT = "/{space}/{name}/-"

# A project can be seen by everyone, by every user, or by its members alone. Takes the visitor's id three times (None: logged out).
VISIBLE = """(p.visibility = 'Public' OR (p.visibility = 'Internal' AND ? IS NOT NULL)
              OR p.id IN (SELECT holder FROM members WHERE kind = 'project' AND user = ?)
              OR p.space IN (SELECT g.path FROM groups g JOIN members m ON m.kind = 'group' AND m.holder = g.id WHERE m.user = ?))"""
LISTED = """SELECT p.*, (SELECT count(*) FROM stars WHERE project = p.id) AS star_count,
                   (SELECT count(*) FROM projects f WHERE f.forked_from = p.id) AS fork_count FROM projects p"""


def visitor(request: Request) -> sqlite3.Row | None:
    """The user who is logged in, or None."""
    token = request.cookies.get(SESSION_COOKIE, "")
    return one(request, "SELECT u.* FROM users u JOIN sessions s ON s.user = u.id WHERE s.token = ?", token)


def signed_in(request: Request) -> sqlite3.Row:
    """The user who is logged in; a visitor who is not is sent to the login page."""
    user = visitor(request)
    if user is None:
        raise HTTPException(401)
    return user


def page(request: Request, template: str, title: str, error: str = "", status: int = 200, **content) -> Response:
    """A page of this site; with an error its status is 400."""
    return make_page(request, f"gitlab/{template}", title, 400 if error else status, error, user=visitor(request), roles=ROLES,
                     query=request.query_params, **content)


@dataclass(frozen=True)
class Place:
    """A project, who looks at it, and the rank that decides what they may do there."""
    project: sqlite3.Row
    user: sqlite3.Row | None
    rank: int

    @property
    def url(self) -> str:
        return f"/{self.project['space']}/{self.project['path']}"

    @property
    def full_name(self) -> str:
        return f"{self.project['space']} / {self.project['name']}"


def enter(request: Request, least: str = "", archived_too: bool = False) -> Place:
    """The project of the address. 404 for one that the visitor may not see; 401 or 403 when they have less than the role `least`
    ("logged in": any user). Whatever needs a role is refused in an archived project, unless `archived_too`."""
    user = visitor(request)
    number = user["id"] if user else None
    project = one(request, f"{LISTED} WHERE p.space = ? AND p.path = ? AND {VISIBLE}", request.path_params["space"],
                  request.path_params["name"], number, number, number)
    if project is None:
        raise HTTPException(404)
    place = Place(project, user, _rank(request, project, user))
    if least:
        if user is None:
            raise HTTPException(401)
        if place.rank < RANKS[least]:
            raise HTTPException(403, f"This needs the role {least}.")
        if project["archived"] and not archived_too:
            raise HTTPException(403, "This project is archived and cannot be changed.")
    return place


def _rank(request: Request, project: sqlite3.Row, user: sqlite3.Row | None) -> int:
    if user is None:
        return 0
    return max([LOGGED_IN, *(ROLES[row["role"]] for row in members_of(request, project) if row["user"] == user["id"])])


def members_of(request: Request, project: sqlite3.Row) -> list[sqlite3.Row]:
    """The members of a project, then those of its group."""
    return rows(request, """SELECT m.*, u.name, u.username FROM members m JOIN users u ON u.id = m.user
                            WHERE (m.kind = 'project' AND m.holder = ?)
                               OR (m.kind = 'group' AND m.holder = (SELECT id FROM groups WHERE path = ?))
                            ORDER BY m.kind DESC, u.name""", project["id"], project["space"])


def people_of(request: Request, project: sqlite3.Row) -> dict[str, sqlite3.Row]:
    """User name → member, each person once: who can be given work in a project."""
    return {row["username"]: row for row in sorted(members_of(request, project), key=lambda row: row["name"])}


def project_page(request: Request, place: Place, section: str, template: str, title: str, error: str = "", **content) -> Response:
    """A page inside a project; `section` says which links lead on from it: code, plan or manage."""
    return page(request, template, title, error, place=place, project=place.project, rank=place.rank, section=section, **content)


def visible_projects(request: Request, where: str, order: str, *values) -> list[sqlite3.Row]:
    """The projects that the visitor may see."""
    user = visitor(request)
    number = user["id"] if user else None
    return rows(request, f"{LISTED} WHERE {VISIBLE} AND {where} ORDER BY {order}", number, number, number, *values)


def choice(request: Request, name: str, choices, default: str) -> str:
    """The value of a query field if it is one of `choices`, else `default`."""
    value = request.query_params.get(name, default)
    return value if value in choices else default


async def read_choices(request: Request, name: str) -> list[str]:
    """All values of a field of which several can be chosen."""
    return [value for field, value in await read_pairs(request) if field == name]


def add_comment(request: Request, kind: str, holder: int, author: int, date: str, text: str) -> None:
    """A comment to an issue (kind "issue") or a merge request ("merge")."""
    rows(request, "INSERT INTO comments (kind, holder, author, date, text) VALUES (?,?,?,?,?)", kind, holder, author, date, text)


def comments_of(request: Request, kind: str, holder: int) -> list[sqlite3.Row]:
    """The comments to an issue or a merge request, oldest first."""
    return rows(request, "SELECT c.*, u.name FROM comments c JOIN users u ON u.id = c.author WHERE kind = ? AND holder = ? ORDER BY c.id",
                kind, holder)


def add_todo(request: Request, place: Place, user: int | None, action: str, title: str, url: str) -> None:
    """Something to look at, for somebody else than the one who caused it."""
    if user is not None and user != place.user["id"]:
        rows(request, "INSERT INTO todos (user, project, action, title, url, done) VALUES (?,?,?,?,?,0)",
             user, place.project["id"], action, title, url)
