"""What the sites share: templates, a message that is shown once, forms, rows of the world's database, listings in pages, login."""

import datetime
import re
import secrets
import sqlite3
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode

from jinja2 import Environment, FileSystemLoader
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from wr1_utils.sites.shopping_seed import PAGE_SIZE, money

MESSAGE_COOKIE = "site_message"
LONGEST_BODY = 2_000_000     # bytes of a form
LONGEST_VALUE = 20_000       # characters of one field; a form that wants less says so, and none cuts a value
LONGEST_MESSAGE = 200        # characters; a browser drops a cookie of more than 4096 bytes, and a character may take 12

templates = Environment(loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, trim_blocks=True,
                        lstrip_blocks=True, auto_reload=False)
templates.filters["money"] = money


def make_page(request: Request, template: str, title: str, status: int = 200, error: str = "", **content) -> HTMLResponse:
    """The page that `template` gives, with the message left by `go`, if there is one."""
    message = unquote(request.cookies.get(MESSAGE_COOKIE, ""))
    html = templates.get_template(template).render(title=title, message=message, error=error, **content)
    response = HTMLResponse(html, status, headers={"Cache-Control": "no-store"})
    if message:
        response.delete_cookie(MESSAGE_COOKIE)
    return response


def go(url: str, message: str = "") -> Response:
    """Leads to `url`, where `message` is shown once."""
    response = RedirectResponse(url, 303)
    if message:
        shown = message if len(message) <= LONGEST_MESSAGE else message[:LONGEST_MESSAGE] + "…"
        response.set_cookie(MESSAGE_COOKIE, quote(shown), httponly=True, samesite="lax")
    return response


def one(request: Request, query: str, *values) -> sqlite3.Row | None:
    """The first row of a query to the world's database, or None."""
    return request.state.db.execute(query, values).fetchone()


def rows(request: Request, query: str, *values) -> list[sqlite3.Row]:
    """All rows of a query to the world's database; also for changes, which give none."""
    return request.state.db.execute(query, values).fetchall()


def asked(request: Request, field: str) -> str:
    """A field of the address, as one line of at most 80 characters."""
    return " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", request.query_params.get(field, ""))[:80].split())


async def read_pairs(request: Request) -> list[tuple[str, str]]:
    """The fields of a URL-encoded form as they were sent; a name may come more than once. Refuses what is too long (413, see `too_long`)."""
    body = await request.body()
    found = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True) if len(body) <= LONGEST_BODY else []
    found = [(name, value.replace("\r\n", "\n").replace("\r", "\n")) for name, value in found]
    if len(body) > LONGEST_BODY or any(len(value) > LONGEST_VALUE for _, value in found):
        raise HTTPException(413, f"A field must be at most {LONGEST_VALUE:,} characters. Nothing was saved.")
    return found


async def read_form(request: Request, *texts: str) -> dict[str, str]:
    """The fields of a form, trimmed; control characters become spaces, line breaks too but in the fields `texts`, those of a textarea."""
    return {name: (_without_controls(value) if name in texts else re.sub(r"[\x00-\x1f\x7f]", " ", value)).strip()
            for name, value in await read_pairs(request)}


async def read_text(request: Request, name: str) -> str:
    """A field that may have several lines, of which the first may be indented; trailing blanks go."""
    return _without_controls(dict(await read_pairs(request)).get(name, "")).rstrip()


def _without_controls(text: str) -> str:
    """Control characters but line breaks and tabs become spaces."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", text)


async def too_long(request: Request, error: HTTPException) -> Response:
    """The page that answers a form of which a field is too long."""
    return make_page(request, "base.html", "Too long", 413, error.detail, site_name=request.url.hostname)


def number(text: str, low: int, high: int) -> int | None:
    """`text` as a whole number from `low` to `high`, or None."""
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) and low <= int(text) <= high else None


def is_date(text: str) -> bool:
    """Is `text` a day such as ``2026-04-01``?"""
    try:
        return bool(re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) and datetime.date.fromisoformat(text))
    except ValueError:
        return False


def wrong_field(fields: dict, form: dict[str, str]) -> str:
    """The message for the first field that does not hold what it should, or an empty text. `fields`: name → label, pattern, right."""
    for field, (label, pattern, right) in fields.items():
        if not re.fullmatch(pattern, form.get(field, "")):
            return f"{label} must be {right}."
    return ""


def slice_rows(request: Request, rows: list) -> dict:
    """The rows of the page that ``?page=`` asks for, and the links to the pages beside it."""
    pages = max(1, -(-len(rows) // PAGE_SIZE))
    page = number(request.query_params.get("page", "1"), 1, pages) or 1

    def link(page_number: int) -> str:
        return "?" + urlencode({**request.query_params, "page": page_number}) if 1 <= page_number <= pages else ""

    return {"rows": rows[(page - 1) * PAGE_SIZE:page * PAGE_SIZE], "page": page, "pages": pages, "count": len(rows),
            "previous": link(page - 1), "next": link(page + 1)}


# --- login -----------------------------------------------------------------------------------------------------------------------

def to_login(request: Request) -> Response:
    """Leads to the login page, which leads back to the page that was asked for."""
    return go(f"/login?{urlencode({'next': request.url.path if request.method == 'GET' else '/'})}")


def log_in(request: Request, cookie: str, account: int, sessions: str = "sessions") -> Response:
    """Opens a session of `account` in the table `sessions`, and leads to the page of this site that ``?next=`` names."""
    token, target = secrets.token_hex(8), request.query_params.get("next", "/")
    rows(request, f"INSERT INTO {sessions} VALUES (?,?)", token, account)
    response = go(target if re.fullmatch(r"/[A-Za-z0-9_./-]*", target) and "//" not in target else "/", "You are logged in.")
    response.set_cookie(cookie, token, httponly=True, samesite="lax")
    return response


def log_out(request: Request, cookie: str, sessions: str = "sessions") -> Response:
    """Ends the visitor's session."""
    rows(request, f"DELETE FROM {sessions} WHERE token = ?", request.cookies.get(cookie, ""))
    response = go("/login", "You are logged out.")
    response.delete_cookie(cookie)
    return response


# --- routes ----------------------------------------------------------------------------------------------------------------------

def both(path: str, handler) -> Route:
    """A page with a form that is sent to its own address."""
    return Route(path, handler, methods=["GET", "POST"])


def post(path: str, handler) -> Route:
    """An address that only takes a form."""
    return Route(path, handler, methods=["POST"])
