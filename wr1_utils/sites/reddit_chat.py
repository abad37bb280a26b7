"""The chats of the site `reddit`: a chat begins with its last lines, Enter sends what is written, and what was not sent is kept as a draft."""

import sqlite3

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from wr1_utils.sites.pages import asked, both, go, number, one, post, read_form, rows, slice_rows
from wr1_utils.sites.reddit_users import page, person_of, signed_in
from wr1_utils.sites.shopping_seed import TODAY

LINES_AT_ONCE = 8


def _lines(request: Request, other: int, shown: int) -> dict:
    """The lines before the last `shown` ones, and whether the chat begins with them."""
    found = rows(request, "SELECT * FROM chat_lines WHERE other = ? ORDER BY id DESC LIMIT ? OFFSET ?", other, LINES_AT_ONCE + 1, shown)
    return {"lines": found[:LINES_AT_ONCE][::-1], "first": 0 < len(found) <= LINES_AT_ONCE}


def beginning(draft: str) -> str:
    """How the list of chats shows a draft."""
    return f"Draft: {draft[:20].strip()}" if draft else ""


def _other(request: Request) -> sqlite3.Row:
    """The user whom the chat is with; a chat that nobody has begun does not exist."""
    other = person_of(request)
    if one(request, "SELECT 1 FROM chat_lines WHERE other = ?", other["id"]) is None:
        raise HTTPException(404)
    return other


@signed_in
async def _chats(request: Request, user: sqlite3.Row) -> Response:
    found = rows(request, """SELECT u.name, count(*) AS lines, coalesce((SELECT text FROM drafts WHERE other = u.id), '') AS draft
                             FROM chat_lines l JOIN users u ON u.id = l.other GROUP BY u.id ORDER BY u.name""")
    return page(request, "chats.html", "Chats", beginning=beginning, **slice_rows(request, found))


@signed_in
async def _chat(request: Request, user: sqlite3.Row) -> Response:
    other, error = _other(request), ""
    draft = one(request, "SELECT text FROM drafts WHERE other = ?", other["id"])
    if request.method == "POST":
        text = (await read_form(request)).get("text", "")
        if text:
            rows(request, "INSERT INTO chat_lines (other, mine, date, text) VALUES (?,1,?,?)", other["id"], TODAY, text)
            rows(request, "DELETE FROM drafts WHERE other = ?", other["id"])
            return go(f"/chat/{other['name']}", "Your message was sent.")
        error = "Message must not be empty."
    return page(request, "chat.html", f"Chat with {other['name']}", 400 if error else 200, error, other=other,
                draft=draft["text"] if draft else "", **_lines(request, other["id"], 0))


@signed_in
async def _earlier(request: Request, user: sqlite3.Row) -> Response:
    """The lines before the last ``?shown=`` ones: a piece of a page."""
    other = _other(request)
    return page(request, "chat_lines.html", "", other=other, **_lines(request, other["id"], number(asked(request, "shown"), 0, 999_999) or 0))


@signed_in
async def _draft(request: Request, user: sqlite3.Row) -> Response:
    rows(request, "INSERT OR REPLACE INTO drafts VALUES (?,?)", _other(request)["id"], (await read_form(request)).get("text", ""))
    return Response(status_code=204)


CHAT_ROUTES = [
    Route("/chat", _chats), both("/chat/{name}", _chat), Route("/chat/{name}/earlier", _earlier), post("/chat/{name}/draft", _draft),
]
