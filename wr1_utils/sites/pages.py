"""What the pages of every site need: templates, a message that is shown once, forms, and rows of the world's database."""

import re
import sqlite3
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode

from jinja2 import Environment, FileSystemLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from wr1_utils.sites.shopping_seed import PAGE_SIZE, money

MESSAGE_COOKIE = "site_message"

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
        response.set_cookie(MESSAGE_COOKIE, quote(message), httponly=True, samesite="lax")
    return response


def local_path(text: str) -> str:
    """`text` where it is a path of the same site, else ``/``: where a login may lead to."""
    return text if re.fullmatch(r"/[A-Za-z0-9_./-]*", text) and "//" not in text else "/"


def one(request: Request, query: str, *values) -> sqlite3.Row | None:
    """The first row of a query to the world's database, or None."""
    return request.state.db.execute(query, values).fetchone()


def rows(request: Request, query: str, *values) -> list[sqlite3.Row]:
    """All rows of a query to the world's database; also for changes, which give none."""
    return request.state.db.execute(query, values).fetchall()


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a URL-encoded form, trimmed; control characters become spaces, over-long values are cut."""
    body = (await request.body())[:20_000].decode("utf-8", "replace")
    return {name: re.sub(r"[\x00-\x1f\x7f]", " ", value).strip()[:200] for name, value in parse_qsl(body, keep_blank_values=True)}


def number(text: str, low: int, high: int) -> int | None:
    """`text` as a whole number from `low` to `high`, or None."""
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) and low <= int(text) <= high else None


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
