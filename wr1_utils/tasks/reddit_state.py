"""The seed state of the site `reddit`, and what a task's change of state is compared with: whole posts, comments and listings."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

from wr1_utils.sites import reddit_seed
from wr1_utils.sites.reddit import SORTS
from wr1_utils.sites.reddit_chat import LINES_AT_ONCE, beginning
from wr1_utils.sites.reddit_seed import USER, USER_NAME
from wr1_utils.sites.reddit_users import COMMENT_SCORE, LISTED
from wr1_utils.sites.shopping_seed import PAGE_SIZE, TODAY
from wr1_utils.sites.world import open_database
from wr1_utils.tasks.templates import only_changed, state, url

# What a state is compared by: JavaScript that gives it as one line of text.
ROWS = '[...document.querySelectorAll("table.list tr")].slice(1).map(r => [...r.cells].map(c => c.innerText).join(" | ")).join("; ")'
POST = ('[...document.querySelectorAll("h1, #body, #post a[href$=\'/link\'], #score, #post [aria-pressed=true], #post .plain")]'
        '.map(e => e.ariaLabel || e.textContent).join("; ") + " / " + '
        '[...document.querySelectorAll("tr.comment")].sort((a, b) => a.id.slice(8) - b.id.slice(8))'
        '.map(r => [r.id.slice(8), r.cells[0].style.getPropertyValue("--depth"), ...[...r.querySelectorAll('
        '".soft, .text, [aria-pressed=true]")].map(e => e.ariaLabel || e.textContent)].join(" | ")).join("; ")')
FORUM = '[...document.querySelectorAll("h1, #description, #members, #rules, button[name=subscribe]")].map(e => e.innerText).join("; ")'
ACCOUNT = '[...document.querySelectorAll("form.card input")].map(e => e.type == "checkbox" ? e.checked : e.value).join("; ")'
CHAT = ('[...document.querySelectorAll("tr.line")].map(r => [...r.cells].map(c => c.innerText).join(" | ")).join("; ")'
        ' + " / " + document.querySelector("[data-draft]").value')
BIO = 'document.querySelector("#bio").innerText'


@dataclass(frozen=True)
class Forum:
    """The seed state of the forum, as lists of records; the user's own marks on posts and comments are in `mine` and `saved`."""
    forums: tuple[dict, ...]         # with `members` and `subscribed`
    posts: tuple[dict, ...]          # with `score`, `comments` (their number), `mine` (the user's vote) and `saved`
    comments: tuple[dict, ...]       # with `score`, `depth`, `answers` (whom), `replies` and `votes` (their numbers) and `mine`
    users: tuple[dict, ...]
    messages: tuple[dict, ...]       # to the user
    front: tuple[str, ...]           # titles on the first page
    saves: tuple[str, ...]           # titles, the latest first
    chats: dict[str, list[dict]]     # name of whom the user chats with → lines, the earliest first
    drafts: dict[str, str]           # name → what the user began to write

    def post(self, title: str) -> dict:
        return next(post for post in self.posts if post["title"] == title)

    def user(self, name: str) -> dict:
        return next(user for user in self.users if user["name"] == name)

    def forum(self, name: str) -> dict:
        return next(forum for forum in self.forums if forum["name"] == name)

    def posts_in(self, forum: str) -> list[dict]:
        """The newest first."""
        return sorted((post for post in self.posts if post["forum_name"] == forum), key=lambda post: -post["id"])

    def best(self, forum: str) -> dict:
        return max(self.posts_in(forum), key=lambda post: post["score"])

    def comments_on(self, post: dict) -> list[dict]:
        return [comment for comment in self.comments if comment["post"] == post["id"]]

    def own_comment(self, title: str) -> dict:
        return next(comment for comment in self.comments_on(self.post(title)) if comment["author"] == USER)


@functools.cache
def seed_forum() -> Forum:
    database = open_database(reddit_seed.seed_database())

    def records(query: str, *values) -> list[dict]:
        return [dict(row) for row in database.execute(query, values)]

    forums = records("SELECT f.*, (SELECT count(*) FROM subscriptions WHERE forum = f.id) AS members, "
                     "(SELECT count(*) FROM subscriptions WHERE forum = f.id AND user = ?) AS subscribed FROM forums f ORDER BY name", USER)
    front = [post["title"] for post in records(f"{LISTED} ORDER BY {SORTS['hot'][1]} LIMIT ?", PAGE_SIZE)]
    saved = records("SELECT title FROM saves s JOIN posts p ON p.id = s.post WHERE user = ? ORDER BY s.id DESC", USER)
    saves = [post["title"] for post in saved]
    posts = records(f"{LISTED} ORDER BY p.id")
    votes = {row["item"]: row["value"] for row in records("SELECT * FROM post_votes WHERE user = ?", USER)}
    for post in posts:
        post.update(mine=votes.get(post["id"], 0), saved=post["title"] in saves)
    comments = records("SELECT c.*, u.name AS author_name, a.name AS answers, p.title, coalesce(v.value, 0) AS mine, "
                       "(SELECT count(*) FROM comments WHERE parent = c.id) AS replies, "
                       f"(SELECT count(*) FROM comment_votes WHERE item = c.id) AS votes, {COMMENT_SCORE} FROM comments c "
                       "JOIN posts p ON p.id = c.post JOIN users u ON u.id = c.author LEFT JOIN comments b ON b.id = c.parent "
                       "LEFT JOIN users a ON a.id = b.author LEFT JOIN comment_votes v ON v.item = c.id AND v.user = ? ORDER BY c.id", USER)
    depths: dict[int, int] = {}
    for comment in comments:
        comment["depth"] = depths[comment["id"]] = depths[comment["parent"]] + 1 if comment["parent"] else 0
    messages = records("SELECT m.*, u.name AS sender_name FROM messages m JOIN users u ON u.id = m.sender WHERE recipient = ?", USER)
    users = records("SELECT * FROM users ORDER BY id")
    names = {user["id"]: user["name"] for user in users}
    chats: dict[str, list[dict]] = {}
    for line in records("SELECT * FROM chat_lines ORDER BY id"):
        chats.setdefault(names[line["other"]], []).append(line)
    drafts = {names[draft["other"]]: draft["text"] for draft in records("SELECT * FROM drafts")}
    database.close()
    return Forum(*map(tuple, (forums, posts, comments, users, messages, front, saves)), chats, drafts)


# --- evaluation records ----------------------------------------------------------------------------------------------------------

Check = tuple[str, str, str]                   # path, JavaScript, wanted text


def changed(*checks: list[Check], **tables: tuple) -> dict:
    """All of these checks, and that so much of these tables, as `only_changed` takes it, and nothing else has changed."""
    return state("reddit", *(check for several in checks for check in several), only_changed(**tables))


def at(path: str, record: dict) -> dict:
    """The record, and the episode must end at `path`."""
    end = url("reddit", path)
    return {**end, **record, "reference_url": end["reference_url"], "eval_types": ["url_match", *record["eval_types"]]}


def _rows(path: str, rows: list[str]) -> list[Check]:
    """The whole of a listing, page by page."""
    mark = "&" if "?" in path else "?"
    pages = [rows[start:start + PAGE_SIZE] for start in range(0, len(rows), PAGE_SIZE)]
    return [(path if number == 1 else f"{path}{mark}page={number}", ROWS, "; ".join(page)) for number, page in enumerate(pages, start=1)]


def address(post: dict) -> str:
    return f"/f/{post['forum_name']}/{post['id']}"


def points(score: int) -> str:
    return f"{score} point{'s' if score != 1 else ''}"


def _voted(mine: int, name: str) -> list[str]:
    return [f"{'Upvote' if mine == 1 else 'Downvote'} {name}"] if mine else []


def whole_post(post: dict, comments: list[dict]) -> list[Check]:
    """The post's page: what it says, its points, the user's marks on it, and all its comments."""
    own = post["author"] == USER
    texts = [post["title"], post["body"], post["link"], points(post["score"]), *_voted(post["mine"], "post"), "Delete post" if own else "",
             "Unsave post" if post["saved"] else "Save post"]
    lines = []
    for c in comments:
        to = f", to {c['answers']}" if c["depth"] > 1 else ""
        who = f"{c['author_name']} {points(c['score'])}, {c['date']}{to}"
        lines.append(" | ".join([str(c["id"]), str(min(c["depth"], 5)), who, c["text"], *_voted(c["mine"], c["author_name"])]))
    return [(address(post), POST, f"{'; '.join(filter(None, texts))} / {'; '.join(lines)}")]


def own_comments(forum: Forum, change: Callable[[list[dict]], list[dict]]) -> list[Check]:
    own = change([comment for comment in forum.comments if comment["author"] == USER])
    return _rows(f"/user/{USER_NAME}/comments", [f"{c['score']} | {c['text']} | {c['title']}" for c in reversed(own)])


def _posts_row(post: dict, beside: str) -> str:
    return f"{post['score']} | {post['title']} | {post[beside]} | {post['comments']}"


def own_posts(forum: Forum, *new: dict) -> list[Check]:
    own = [*(post for post in forum.posts if post["author"] == USER), *new]
    return _rows(f"/user/{USER_NAME}", [_posts_row(post, "forum_name") for post in reversed(own)])


def saves(titles: list[str], forum: Forum) -> list[Check]:
    return _rows("/saved", [_posts_row(forum.post(title), "forum_name") for title in titles])


def forum_list(forum: Forum, *new: dict, **subscribed: bool) -> list[Check]:
    """The list of forums; `subscribed` says which ones the user has joined or left."""
    rows = []
    for one in sorted([*forum.forums, *new], key=lambda one: one["name"]):
        joined = subscribed.get(one["name"], bool(one["subscribed"]))
        members, posts = one["members"] + joined - bool(one["subscribed"]), one.get("posts", len(forum.posts_in(one["name"])))
        rows.append(f"{one['name']} | {members} | {posts} | {'subscribed' if joined else ''}")
    return _rows("/forums", rows)


def chatted(forum: Forum, name: str, *sent: str, draft: str = "") -> dict:
    """The user's chat with `name` after these messages and with this draft, and the list of all chats."""
    lines = [*forum.chats[name], *({"mine": 1, "text": text, "date": TODAY} for text in sent)]
    shown = "; ".join(f"{USER_NAME if line['mine'] else name} | {line['text']} | {line['date']}" for line in lines[-LINES_AT_ONCE:])
    counts = {**{other: len(chat) for other, chat in forum.chats.items()}, name: len(lines)}
    drafts = {**forum.drafts, name: draft}
    rows = [f"{other} | {counts[other]} | {beginning(drafts.get(other, ''))}" for other in sorted(counts)]
    had = int(name in forum.drafts)
    return changed([(f"/chat/{name}", CHAT, f"{shown} / {draft}")], _rows("/chat", rows), chat_lines=(0, len(sent)), drafts=(had, int(bool(draft)), *["text"] * bool(had and draft)))


def sent(text: str, to: str) -> dict:
    return changed([("/inbox/sent", ROWS, f" | {text} | {to} | {TODAY}")], messages=(0, 1))
