"""The site `reddit`: forums with posts, threaded comments and votes; one can subscribe, post, comment, vote, save and search.

Every page is small (150–500 tokens as the agent reads it) and every label stands for one thing on its page. Looking around needs
no login; taking part does. Scores and numbers of comments are counted from the votes and comments in the world's database. A form
that does not hold what it should is answered with a message and changes nothing.
"""

import re
import sqlite3

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from wr1_utils.sites.pages import asked, both, go, number, one, post, read_form, rows, slice_rows, too_long
from wr1_utils.sites.reddit_chat import CHAT_ROUTES
from wr1_utils.sites.reddit_users import COMMENT_SCORE, LISTED, ROUTES, page, signed_in, user_of
from wr1_utils.sites.shopping_seed import TODAY

SORTS = {                                     # value in the URL → label, ORDER BY; a day of age weighs two points
    "hot": ("Hot", f"score - 2 * (julianday('{TODAY}') - julianday(p.date)) DESC, p.id DESC"),
    "new": ("New", "p.id DESC"),
    "top": ("Top", "score DESC, p.id"),
}
FIELDS = {                                    # field → pattern (also checked in the browser), what a wrong value is answered with
    "title": (r".{1,100}", "Title must be 1 to 100 characters."),
    "link": (r"(https?://\S+)?", "Link must begin with http:// or https://."),
    "name": (r"[a-z][a-z0-9_]{2,19}", "Name must be 3 to 20 small letters, digits or underscores."),
    "description": (r".{1,100}", "Description must be 1 to 100 characters."),
    "text": (r"[\s\S]+", "Comment must not be empty."),
}
DELETED = "[deleted]"
OTHER_SITES = {"shopping": "Pocket Shop", "gitlab": "Pocket Git", "map": "Pocket Map", "wikipedia": "Pocket Wiki"}    # site → its own name


def _wrong(form: dict[str, str], *fields: str) -> str:
    """The message for the first of these fields that does not hold what it should, or an empty text."""
    for field in fields:
        pattern, message = FIELDS[field]
        if not re.fullmatch(pattern, form.get(field, "")):
            return message
    return ""


# --- looking around --------------------------------------------------------------------------------------------------------------

def _listing(request: Request, template: str, title: str, where: str, *values, **content) -> Response:
    chosen = request.query_params.get("sort", "hot")
    chosen = chosen if chosen in SORTS else "hot"
    posts = rows(request, f"{LISTED} WHERE {where} ORDER BY {SORTS[chosen][1]}", *values)
    return page(request, template, title, sorts={value: label for value, (label, _) in SORTS.items()}, sort=chosen,
                **slice_rows(request, posts), **content)


async def _home(request: Request) -> Response:
    others = {name: request.url.replace(hostname=f"{site}.localhost", path="/", query="") for site, name in OTHER_SITES.items()}
    return _listing(request, "home.html", "Front page", "1", others=others)


@signed_in
async def _subscribed(request: Request, user: sqlite3.Row) -> Response:
    return _listing(request, "home.html", "Subscribed forums", "p.forum IN (SELECT forum FROM subscriptions WHERE user = ?)", user["id"])


async def _search(request: Request) -> Response:
    words = asked(request, "q").lower().split()
    if not words:
        return page(request, "search.html", "Search", error="Type a word to search for.", rows=[])
    forums = rows(request, f"SELECT name FROM forums WHERE {' OR '.join('instr(name, ?)' for _ in words)} ORDER BY name LIMIT 5", *words)
    where = " AND ".join("instr(lower(p.title || ' ' || p.body), ?)" for _ in words)
    return _listing(request, "search.html", f"Results for {asked(request, 'q')}", where, *words, forums=forums)


async def _suggest(request: Request) -> Response:
    """The names of up to five forums that hold the text typed so far, as JSON: those that begin with it first."""
    text = asked(request, "q").lower()
    names = rows(request, "SELECT name FROM forums WHERE ? <> '' AND instr(name, ?) ORDER BY instr(name, ?) > 1, name LIMIT 5",
                 text, text, text)
    return JSONResponse([row["name"] for row in names], headers={"Cache-Control": "no-store"})


# --- forums ----------------------------------------------------------------------------------------------------------------------

async def _forums(request: Request) -> Response:
    user = user_of(request)
    forums = rows(request, """SELECT f.*, (SELECT count(*) FROM subscriptions WHERE forum = f.id) AS members,
                                     (SELECT count(*) FROM posts WHERE forum = f.id) AS posts,
                                     (SELECT count(*) FROM subscriptions WHERE forum = f.id AND user = ?) AS subscribed
                              FROM forums f ORDER BY f.name""", user["id"] if user else 0)
    return page(request, "forums.html", "Forums", **slice_rows(request, forums))


def _forum_of(request: Request) -> sqlite3.Row:
    forum = one(request, "SELECT * FROM forums WHERE name = ?", request.path_params["forum"])
    if forum is None:
        raise HTTPException(404)
    return forum


async def _forum(request: Request) -> Response:
    forum, user = _forum_of(request), user_of(request)
    members = [row["user"] for row in rows(request, "SELECT user FROM subscriptions WHERE forum = ?", forum["id"])]
    rules = [rule.strip() for rule in forum["rules"].split(";") if rule.strip()]
    return _listing(request, "forum.html", forum["name"], "p.forum = ?", forum["id"], forum=forum, members=len(members),
                    subscribed=bool(user) and user["id"] in members, rules=rules)


@signed_in
async def _subscribe(request: Request, user: sqlite3.Row) -> Response:
    forum, form = _forum_of(request), await read_form(request)
    rows(request, "DELETE FROM subscriptions WHERE forum = ? AND user = ?", forum["id"], user["id"])
    if form.get("subscribe") != "1":
        return go(f"/f/{forum['name']}", f"You no longer follow {forum['name']}.")
    rows(request, "INSERT INTO subscriptions VALUES (?,?)", forum["id"], user["id"])
    return go(f"/f/{forum['name']}", f"You follow {forum['name']} now.")


@signed_in
async def _new_forum(request: Request, user: sqlite3.Row) -> Response:
    form, error = {}, ""
    if request.method == "POST":
        form = await read_form(request)
        error = _wrong(form, "name", "description")
        if not error and one(request, "SELECT 1 FROM forums WHERE name = ?", form["name"]):
            error = f"There is a forum {form['name']} already."
        if not error:
            forum = rows(request, "INSERT INTO forums (name, description, rules) VALUES (?,?,?) RETURNING id",
                         form["name"], form["description"], form.get("rules", ""))[0]["id"]
            rows(request, "INSERT INTO subscriptions VALUES (?,?)", forum, user["id"])
            return go(f"/f/{form['name']}", "The forum was created.")
    return page(request, "new_forum.html", "Create a forum", 400 if error else 200, error, fields=FIELDS, form=form)


# --- posts -----------------------------------------------------------------------------------------------------------------------

def _post_of(request: Request) -> sqlite3.Row:
    post = one(request, f"{LISTED} WHERE p.id = ? AND f.name = ?", number(request.path_params["number"], 1, 999_999),
               request.path_params["forum"])
    if post is None:
        raise HTTPException(404)
    return post


def _address(post: sqlite3.Row) -> str:
    return f"/f/{post['forum_name']}/{post['id']}"


def _own(row: sqlite3.Row, user: sqlite3.Row) -> sqlite3.Row:
    """The row where it is the user's; what belongs to others cannot be changed, so its page does not exist."""
    if row["author"] != user["id"]:
        raise HTTPException(404)
    return row


def _threads(comments: list[sqlite3.Row]) -> list[tuple[sqlite3.Row, list[tuple[sqlite3.Row, int]]]]:
    """The comments that answer the post, each with all replies below it and their depths, in reading order."""
    answers: dict[int | None, list] = {}
    for comment in comments:
        answers.setdefault(comment["parent"], []).append(comment)
    threads = []
    for first in answers.get(None, []):
        below, waiting = [], [(reply, 1) for reply in reversed(answers.get(first["id"], []))]
        while waiting:
            comment, depth = waiting.pop()
            below.append((comment, depth))
            waiting += [(reply, depth + 1) for reply in reversed(answers.get(comment["id"], []))]
        threads.append((first, below))
    return threads


def _post_page(request: Request, error: str = "") -> Response:
    post, user = _post_of(request), user_of(request)
    viewer = user["id"] if user else 0
    comments = rows(request, f"""SELECT c.*, u.name AS author_name, {COMMENT_SCORE},
                                        (SELECT value FROM comment_votes WHERE item = c.id AND user = ?) AS mine,
                                        coalesce(a.name, '{DELETED}') AS answers
                                 FROM comments c LEFT JOIN users u ON u.id = c.author LEFT JOIN comments b ON b.id = c.parent
                                 LEFT JOIN users a ON a.id = b.author WHERE c.post = ? ORDER BY score DESC, c.id""", viewer, post["id"])
    vote = one(request, "SELECT value FROM post_votes WHERE item = ? AND user = ?", post["id"], viewer)
    saved = one(request, "SELECT 1 FROM saves WHERE post = ? AND user = ?", post["id"], viewer)
    return page(request, "post.html", post["title"], 400 if error else 200, error, post=post, address=_address(post),
                mine=vote["value"] if vote else 0, saved=bool(saved), fields=FIELDS, **slice_rows(request, _threads(comments)))


async def _post(request: Request) -> Response:
    return _post_page(request)


async def _link(request: Request) -> Response:
    """The last page before a link leads out of the site; it does not go further, since the net is not part of this world."""
    post = _post_of(request)
    if not post["link"]:
        raise HTTPException(404)
    return page(request, "link.html", "You are leaving the forum", post=post, address=_address(post))


@signed_in
async def _submit(request: Request, user: sqlite3.Row) -> Response:
    form, error = {"forum": request.query_params.get("forum", "")}, ""
    if request.method == "POST":
        form = await read_form(request, "body")
        forum = one(request, "SELECT id, name FROM forums WHERE name = ?", form.get("forum", ""))
        error = _wrong(form, "title") or ("" if forum else "Forum must be chosen.") or _wrong(form, "link")
        if not error:
            post = rows(request, "INSERT INTO posts (forum, author, date, title, body, link) VALUES (?,?,?,?,?,?) RETURNING id",
                        forum["id"], user["id"], TODAY, form["title"], form.get("body", ""), form.get("link", ""))[0]["id"]
            return go(f"/f/{forum['name']}/{post}", "Your post was added.")
    return page(request, "submit.html", "New post", 400 if error else 200, error, fields=FIELDS, form=form, button="Submit post",
                forums=rows(request, "SELECT name FROM forums ORDER BY name"))


@signed_in
async def _edit(request: Request, user: sqlite3.Row) -> Response:
    post = _own(_post_of(request), user)
    form, error = dict(post), ""
    if request.method == "POST":
        form = await read_form(request, "body")
        error = _wrong(form, "title", "link")
        if not error:
            rows(request, "UPDATE posts SET title = ?, body = ?, link = ? WHERE id = ?",
                 form["title"], form.get("body", ""), form.get("link", ""), post["id"])
            return go(_address(post), "Your post was saved.")
    return page(request, "submit.html", "Edit post", 400 if error else 200, error, fields=FIELDS, form=form, button="Save post", forums=[])


@signed_in
async def _delete(request: Request, user: sqlite3.Row) -> Response:
    post = _own(_post_of(request), user)
    rows(request, "DELETE FROM comment_votes WHERE item IN (SELECT id FROM comments WHERE post = ?)", post["id"])
    rows(request, "DELETE FROM post_votes WHERE item = ?", post["id"])
    for table in ("comments", "saves"):
        rows(request, f"DELETE FROM {table} WHERE post = ?", post["id"])
    rows(request, "DELETE FROM posts WHERE id = ?", post["id"])
    return go(f"/f/{post['forum_name']}", "Your post was deleted.")


@signed_in
async def _save(request: Request, user: sqlite3.Row) -> Response:
    post, form = _post_of(request), await read_form(request)
    if form.get("save") == "1":
        rows(request, "INSERT OR IGNORE INTO saves (user, post) VALUES (?,?)", user["id"], post["id"])
        return go(_address(post), "The post was saved.")
    rows(request, "DELETE FROM saves WHERE user = ? AND post = ?", user["id"], post["id"])
    return go(_address(post), "The post is no longer saved.")


# --- votes -----------------------------------------------------------------------------------------------------------------------

async def _vote(request: Request, table: str, row: sqlite3.Row, user: sqlite3.Row, back: str) -> Response:
    """Counts an up or down vote; the same vote once more takes it back."""
    value = {"up": 1, "down": -1}.get((await read_form(request)).get("vote", ""))
    if value is None or row["author"] == user["id"]:
        return go(back, "Vote must be up or down." if value is None else "You cannot vote on what you wrote.")
    held = one(request, f"SELECT value FROM {table} WHERE item = ? AND user = ?", row["id"], user["id"])
    rows(request, f"DELETE FROM {table} WHERE item = ? AND user = ?", row["id"], user["id"])
    if held and held["value"] == value:
        return go(back, "Your vote was taken back.")
    rows(request, f"INSERT INTO {table} VALUES (?,?,?)", row["id"], user["id"], value)
    return go(back, "Your vote was counted.")


@signed_in
async def _vote_post(request: Request, user: sqlite3.Row) -> Response:
    post = _post_of(request)
    return await _vote(request, "post_votes", post, user, _address(post))


@signed_in
async def _vote_comment(request: Request, user: sqlite3.Row) -> Response:
    comment = _comment_of(request)
    return await _vote(request, "comment_votes", comment, user, _place(comment))


# --- comments --------------------------------------------------------------------------------------------------------------------

def _comment_of(request: Request) -> sqlite3.Row:
    comment = one(request, """SELECT c.*, u.name AS author_name, p.title, f.name AS forum_name
                              FROM comments c JOIN users u ON u.id = c.author JOIN posts p ON p.id = c.post
                              JOIN forums f ON f.id = p.forum WHERE c.id = ?""", number(request.path_params["number"], 1, 999_999))
    if comment is None:
        raise HTTPException(404)
    return comment


def _place(comment: sqlite3.Row) -> str:
    return f"/f/{comment['forum_name']}/{comment['post']}#comment-{comment['id']}"


def _add_comment(request: Request, user: sqlite3.Row, forum: str, post: int, parent: int | None, text: str) -> Response:
    comment = rows(request, "INSERT INTO comments (post, parent, author, date, text) VALUES (?,?,?,?,?) RETURNING id",
                   post, parent, user["id"], TODAY, text)[0]["id"]
    return go(f"/f/{forum}/{post}#comment-{comment}", "Your comment was added.")


@signed_in
async def _comment(request: Request, user: sqlite3.Row) -> Response:
    post, form = _post_of(request), await read_form(request, "text")
    error = _wrong(form, "text")
    return _post_page(request, error) if error else _add_comment(request, user, post["forum_name"], post["id"], None, form["text"])


@signed_in
async def _reply(request: Request, user: sqlite3.Row) -> Response:
    comment, form, error = _comment_of(request), {}, ""
    if request.method == "POST":
        form = await read_form(request, "text")
        error = _wrong(form, "text")
        if not error:
            return _add_comment(request, user, comment["forum_name"], comment["post"], comment["id"], form["text"])
    return page(request, "comment.html", f"Reply to {comment['author_name']}", 400 if error else 200, error, fields=FIELDS,
                comment=comment, text=form.get("text", ""), place=_place(comment), button="Submit reply")


@signed_in
async def _edit_comment(request: Request, user: sqlite3.Row) -> Response:
    comment = _own(_comment_of(request), user)
    text, error = comment["text"], ""
    if request.method == "POST":
        form = await read_form(request, "text")
        text, error = form.get("text", ""), _wrong(form, "text")
        if not error:
            rows(request, "UPDATE comments SET text = ? WHERE id = ?", text, comment["id"])
            return go(_place(comment), "Your comment was saved.")
    return page(request, "comment.html", "Edit comment", 400 if error else 200, error, fields=FIELDS, comment=comment, text=text,
                place=_place(comment), button="Save comment")


@signed_in
async def _delete_comment(request: Request, user: sqlite3.Row) -> Response:
    """Removes a comment with its votes; where others have replied to it, a mark stays in its place."""
    comment = _own(_comment_of(request), user)
    rows(request, "DELETE FROM comment_votes WHERE item = ?", comment["id"])
    if one(request, "SELECT 1 FROM comments WHERE parent = ?", comment["id"]):
        rows(request, "UPDATE comments SET author = NULL, text = ? WHERE id = ?", DELETED, comment["id"])
    else:
        rows(request, "DELETE FROM comments WHERE id = ?", comment["id"])
    return go(_place(comment).split("#")[0], "Your comment was deleted.")


async def _missing(request: Request, error: Exception) -> Response:
    return page(request, "missing.html", "Page not found", 404)


def make_app() -> Starlette:
    """The site as an ASGI app; each request brings its world's database in ``request.state.db``."""
    return Starlette(exception_handlers={404: _missing, 405: _missing, 413: too_long}, routes=[
        Route("/", _home), Route("/subscribed", _subscribed), Route("/search", _search), Route("/suggest", _suggest),
        Route("/forums", _forums), both("/forums/new", _new_forum), both("/submit", _submit), Route("/f/{forum}", _forum),
        post("/f/{forum}/subscribe", _subscribe), Route("/f/{forum}/{number}", _post), Route("/f/{forum}/{number}/link", _link),
        both("/f/{forum}/{number}/edit", _edit), post("/f/{forum}/{number}/delete", _delete), post("/f/{forum}/{number}/save", _save),
        post("/f/{forum}/{number}/vote", _vote_post), post("/f/{forum}/{number}/comment", _comment),
        both("/comment/{number}/reply", _reply), both("/comment/{number}/edit", _edit_comment),
        post("/comment/{number}/delete", _delete_comment), post("/comment/{number}/vote", _vote_comment), *ROUTES, *CHAT_ROUTES,
    ])
