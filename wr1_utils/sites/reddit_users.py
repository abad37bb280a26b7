"""Who visits the site `reddit`, and the pages about people: profiles, what one saved, settings, messages, login."""

import re
import sqlite3

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from wr1_utils.sites.pages import both, go, log_in, log_out, make_page, number, one, post, read_form, rows, slice_rows, to_login
from wr1_utils.sites.shopping_seed import TODAY

SESSION_COOKIE = "forum_session"
LISTED = """SELECT p.*, f.name AS forum_name, u.name AS author_name,
                   (SELECT coalesce(sum(value), 0) FROM post_votes WHERE item = p.id) AS score,
                   (SELECT count(*) FROM comments WHERE post = p.id) AS comments
            FROM posts p JOIN forums f ON f.id = p.forum JOIN users u ON u.id = p.author"""
COMMENT_SCORE = "(SELECT coalesce(sum(value), 0) FROM comment_votes WHERE item = c.id) AS score"


# --- who is there ----------------------------------------------------------------------------------------------------------------

def page(request: Request, template: str, title: str, status: int = 200, error: str = "", **content) -> Response:
    """A page of this site, with what its navigation needs."""
    return make_page(request, f"reddit/{template}", title, status, error, user=user_of(request),
                     search=request.query_params.get("q", ""), **content)


def user_of(request: Request) -> sqlite3.Row | None:
    """Who is logged in."""
    token = request.cookies.get(SESSION_COOKIE, "")
    return one(request, "SELECT u.* FROM users u JOIN sessions s ON s.user = u.id WHERE s.token = ?", token)


def signed_in(handler):
    """Sends a visitor who is not logged in to the login page instead."""
    async def guarded(request: Request) -> Response:
        user = user_of(request)
        if user is None:
            return to_login(request)
        return await handler(request, user)
    return guarded


# --- profiles --------------------------------------------------------------------------------------------------------------------

def person_of(request: Request) -> sqlite3.Row:
    """The user that the address names; 404 if there is none."""
    person = one(request, "SELECT * FROM users WHERE name = ?", request.path_params["name"])
    if person is None:
        raise HTTPException(404)
    return person


async def _posts(request: Request) -> Response:
    person = person_of(request)
    posts = rows(request, f"{LISTED} WHERE p.author = ? ORDER BY p.id DESC", person["id"])
    return page(request, "profile.html", person["name"], person=person, tab="posts", **slice_rows(request, posts))


async def _comments(request: Request) -> Response:
    person = person_of(request)
    comments = rows(request, f"""SELECT c.*, p.title, f.name AS forum_name, {COMMENT_SCORE}
                                 FROM comments c JOIN posts p ON p.id = c.post JOIN forums f ON f.id = p.forum
                                 WHERE c.author = ? ORDER BY c.id DESC""", person["id"])
    return page(request, "profile.html", person["name"], person=person, tab="comments", **slice_rows(request, comments))


@signed_in
async def _bio(request: Request, user: sqlite3.Row) -> Response:
    if request.method == "POST":
        rows(request, "UPDATE users SET bio = ? WHERE id = ?", (await read_form(request, "bio")).get("bio", ""), user["id"])
        return go(f"/user/{user['name']}", "Your bio was saved.")
    return page(request, "bio.html", "Edit bio")


@signed_in
async def _saved(request: Request, user: sqlite3.Row) -> Response:
    posts = rows(request, f"{LISTED} JOIN saves s ON s.post = p.id WHERE s.user = ? ORDER BY s.id DESC", user["id"])
    return page(request, "saved.html", "Saved posts", **slice_rows(request, posts))


@signed_in
async def _settings(request: Request, user: sqlite3.Row) -> Response:
    values, error = dict(user), ""
    if request.method == "POST":
        form = await read_form(request)
        values.update(email=form.get("email", ""), notify=int("notify" in form), hide_votes=int("hide_votes" in form))
        if re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", values["email"]):
            rows(request, "UPDATE users SET email = ?, notify = ?, hide_votes = ? WHERE id = ?",
                 values["email"], values["notify"], values["hide_votes"], user["id"])
            return go("/settings", "Your settings were saved.")
        error = "Email must be an address such as name@forum.test."
    return page(request, "settings.html", "Settings", 400 if error else 200, error, values=values)


# --- messages --------------------------------------------------------------------------------------------------------------------

@signed_in
async def _inbox(request: Request, user: sqlite3.Row) -> Response:
    messages = rows(request, """SELECT m.*, u.name AS other FROM messages m JOIN users u ON u.id = m.sender
                                WHERE m.recipient = ? ORDER BY m.id DESC""", user["id"])
    return page(request, "inbox.html", "Inbox", tab="received", unread=any(row["unread"] for row in messages),
                **slice_rows(request, messages))


@signed_in
async def _sent(request: Request, user: sqlite3.Row) -> Response:
    messages = rows(request, """SELECT m.*, u.name AS other FROM messages m JOIN users u ON u.id = m.recipient
                                WHERE m.sender = ? ORDER BY m.id DESC""", user["id"])
    return page(request, "inbox.html", "Sent messages", tab="sent", unread=False, **slice_rows(request, messages))


@signed_in
async def _message(request: Request, user: sqlite3.Row) -> Response:
    message = one(request, """SELECT m.*, s.name AS sender_name, r.name AS recipient_name
                              FROM messages m JOIN users s ON s.id = m.sender JOIN users r ON r.id = m.recipient
                              WHERE m.id = ? AND ? IN (m.sender, m.recipient)""",
                  number(request.path_params["number"], 1, 999_999), user["id"])
    if message is None:
        raise HTTPException(404)
    if message["recipient"] == user["id"]:
        rows(request, "UPDATE messages SET unread = 0 WHERE id = ?", message["id"])
    return page(request, "message.html", f"Message from {message['sender_name']}", post=message)


@signed_in
async def _read_all(request: Request, user: sqlite3.Row) -> Response:
    rows(request, "UPDATE messages SET unread = 0 WHERE recipient = ?", user["id"])
    return go("/inbox", "All messages are marked as read.")


@signed_in
async def _write(request: Request, user: sqlite3.Row) -> Response:
    person, error = person_of(request), ""
    if request.method == "POST":
        text = (await read_form(request, "text")).get("text", "")
        if text:
            rows(request, "INSERT INTO messages (sender, recipient, date, text) VALUES (?,?,?,?)", user["id"], person["id"], TODAY, text)
            return go("/inbox/sent", f"Your message to {person['name']} was sent.")
        error = "Message must not be empty."
    return page(request, "write.html", f"Message to {person['name']}", 400 if error else 200, error, person=person)


# --- login -----------------------------------------------------------------------------------------------------------------------

async def _login(request: Request) -> Response:
    error, form = "", {}
    if request.method == "POST":
        form = await read_form(request)
        found = one(request, "SELECT id FROM users WHERE name = ? AND password = ?", form.get("name", ""), form.get("password", ""))
        if found:
            return log_in(request, SESSION_COOKIE, found["id"])
        error = "The username or the password is wrong."
    return page(request, "login.html", "Log in", 400 if error else 200, error, form=form)


async def _logout(request: Request) -> Response:
    return log_out(request, SESSION_COOKIE)


ROUTES = [
    Route("/user/{name}", _posts), Route("/user/{name}/comments", _comments), both("/user/{name}/message", _write), both("/bio", _bio),
    Route("/saved", _saved), both("/settings", _settings), Route("/inbox", _inbox), Route("/inbox/sent", _sent),
    post("/inbox/read", _read_all), Route("/inbox/{number}", _message), both("/login", _login), post("/logout", _logout),
]
