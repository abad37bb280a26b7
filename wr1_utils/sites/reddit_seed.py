"""The seed state of the site `reddit`: an invented forum, its people, posts, comments and votes, from a fixed random seed."""

import datetime
import functools
import random
import sqlite3

from wr1_utils.sites.reddit_words import ANSWERS, CHAT, DRAFTS, FORUMS, GREETINGS, HOBBIES, MESSAGES, REACTIONS, REPLIES
from wr1_utils.sites.shopping_seed import CITIES, MATERIALS, PEOPLE, TODAY

SEED = 20250517
USER = 1                         # who is logged in where a task requires login
USER_NAME = "emma"
SESSION = "seed-session"         # the session token of USER in every fresh world
MORE_PEOPLE = ("Anton", "Bella", "Cyrus", "Dora", "Elias", "Flora", "Gus", "Hanna", "Ivo")

SCHEMA = """
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT UNIQUE, password TEXT, email TEXT, bio TEXT, since TEXT, notify INTEGER DEFAULT 1,
                    hide_votes INTEGER DEFAULT 0);
CREATE TABLE sessions (token TEXT PRIMARY KEY, user INTEGER);
CREATE TABLE forums (id INTEGER PRIMARY KEY, name TEXT UNIQUE, description TEXT, rules TEXT);
CREATE TABLE subscriptions (forum INTEGER, user INTEGER, PRIMARY KEY (forum, user)) WITHOUT ROWID;
CREATE TABLE posts (id INTEGER PRIMARY KEY, forum INTEGER, author INTEGER, date TEXT, title TEXT, body TEXT, link TEXT);
CREATE TABLE comments (id INTEGER PRIMARY KEY, post INTEGER, parent INTEGER, author INTEGER, date TEXT, text TEXT);
CREATE TABLE post_votes (item INTEGER, user INTEGER, value INTEGER, PRIMARY KEY (item, user)) WITHOUT ROWID;
CREATE TABLE comment_votes (item INTEGER, user INTEGER, value INTEGER, PRIMARY KEY (item, user)) WITHOUT ROWID;
CREATE TABLE saves (id INTEGER PRIMARY KEY, user INTEGER, post INTEGER, UNIQUE (user, post));
CREATE TABLE messages (id INTEGER PRIMARY KEY, sender INTEGER, recipient INTEGER, date TEXT, text TEXT, unread INTEGER DEFAULT 1);
CREATE TABLE chat_lines (id INTEGER PRIMARY KEY, other INTEGER, mine INTEGER, date TEXT, text TEXT);
CREATE TABLE drafts (other INTEGER PRIMARY KEY, text TEXT);
CREATE INDEX comments_of ON comments (post);
CREATE INDEX posts_of ON posts (forum);
"""


@functools.cache
def seed_database() -> bytes:
    """The serialised seed database; the same bytes' content on every machine."""
    rng = random.Random(SEED)
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA)
    _add_people(database, rng)
    _add_forums(database, rng)
    _add_posts(database, rng)
    _add_comments(database, rng)
    _add_own_things(database, rng)
    _add_chats(database, random.Random(SEED + 1))
    database.commit()
    database.execute("VACUUM")
    seed = database.serialize()
    database.close()
    return seed


def user_login() -> tuple[str, str]:
    """Name and password of USER, for people who look at the forum themselves."""
    database = sqlite3.connect(":memory:")
    database.deserialize(seed_database())
    return database.execute("SELECT name, password FROM users WHERE id = ?", (USER,)).fetchone()


def _add_people(database: sqlite3.Connection, rng: random.Random) -> None:
    for name in (USER_NAME, *(person.lower() for person in PEOPLE + MORE_PEOPLE)):
        since = datetime.date(2022, 1, 1) + datetime.timedelta(days=rng.randint(0, 1200))
        database.execute("INSERT INTO users (name, password, email, bio, since) VALUES (?,?,?,?,?)",
                         (name, f"{rng.choice(MATERIALS).lower()}{rng.randint(10, 99)}", f"{name}@forum.test",
                          f"{rng.choice(HOBBIES)}. Lives in {rng.choice(CITIES)}.", since.isoformat()))
    database.execute("INSERT INTO sessions VALUES (?, ?)", (SESSION, USER))


def _people(database: sqlite3.Connection) -> list[int]:
    return [number for number, in database.execute("SELECT id FROM users ORDER BY id")]


def _add_forums(database: sqlite3.Connection, rng: random.Random) -> None:
    others = [person for person in _people(database) if person != USER]
    members = rng.sample(range(6, 30), len(FORUMS))               # no two forums have the same number of members
    for number, ((name, (description, rules, _, _)), count) in enumerate(zip(FORUMS.items(), members), start=1):
        database.execute("INSERT INTO forums VALUES (?,?,?,?)", (number, name, description, "; ".join(rules)))
        joined = [USER] * (number % 3 == 1)
        joined += rng.sample(others, count - len(joined))
        database.executemany("INSERT INTO subscriptions VALUES (?,?)", [(number, person) for person in joined])


def _add_posts(database: sqlite3.Connection, rng: random.Random) -> None:
    """All posts, mixed over the forums, the oldest first. Within a forum no two have the same score, nor have the best of two forums."""
    people = _people(database)
    best = rng.sample(range(23, 35), len(FORUMS))
    posts = []
    for number, (_, _, _, texts) in enumerate(FORUMS.values(), start=1):
        scores = rng.sample(range(-2, 22), len(texts) - 1) + [best[number - 1]]
        rng.shuffle(scores)
        posts += [(number, *text.split(" | "), score) for text, score in zip(texts, scores)]
    rng.shuffle(posts)
    day = datetime.date(2025, 10, 18)
    own = set(rng.sample(range(1, len(posts) + 1), 5))
    for number, (forum, title, body, score) in enumerate(posts, start=1):
        day = min(day + datetime.timedelta(days=rng.choice((0, 1, 1, 2))), datetime.date(2026, 3, 14))
        author = USER if number in own else rng.choice(people[1:])
        is_link = body.startswith("https://")
        database.execute("INSERT INTO posts VALUES (?,?,?,?,?,?,?)",
                         (number, forum, author, day.isoformat(), title, "" if is_link else body, body if is_link else ""))
        _add_votes(database, rng, "post_votes", number, author, score)


def _add_votes(database: sqlite3.Connection, rng: random.Random, table: str, item: int, author: int, score: int) -> None:
    """Votes that add up to `score`; USER is rarely among the voters, and nobody votes on what is theirs."""
    down = rng.randint(0, 2) + max(0, -score)
    voters = rng.sample([person for person in _people(database) if person not in (author, USER)], score + 2 * down)
    if voters and author != USER and rng.random() < 0.12:
        voters[rng.randrange(len(voters))] = USER
    values = [-1] * down + [1] * (score + down)
    database.executemany(f"INSERT INTO {table} VALUES (?,?,?)", [(item, voter, value) for voter, value in zip(voters, values)])


def _add_comments(database: sqlite3.Connection, rng: random.Random) -> None:
    """One to eight comments to each post, by different people and with different scores, the oldest first over all posts."""
    people, drafts, said = _people(database), [], set()
    posts = database.execute("SELECT p.id, p.title, p.date, f.name FROM posts p JOIN forums f ON f.id = p.forum ORDER BY p.id").fetchall()
    busy = {rng.choice([post[0] for post in posts if post[3] == forum]) for forum in FORUMS}      # the most discussed post of each forum
    for post, title, date, forum in posts:
        things, first, count = list(FORUMS[forum][2]), len(drafts), 8 if post in busy else rng.randint(1, 5)
        rng.shuffle(things)
        for author, score in zip(rng.sample(people, count), rng.sample(range(-2, 13), count)):
            before = list(range(first, len(drafts)))
            parent = rng.choice(before) if before and rng.random() < 0.45 else None
            pattern = REPLIES if parent is not None else ANSWERS if title.endswith("?") else REACTIONS
            thing = things.pop() if pattern is ANSWERS else ""
            text = next(text for text in iter(lambda: rng.choice(pattern).format(thing=thing, n=rng.randint(2, 30)), None)
                        if (author, text) not in said and (post, text) not in said)
            said |= {(author, text), (post, text)}
            start = datetime.date.fromisoformat(date if parent is None else drafts[parent][0])
            day = min(start + datetime.timedelta(days=rng.randint(0, 2)), datetime.date(2026, 3, 14))
            drafts.append((day.isoformat(), len(drafts), post, parent, author, text, score))
    ids = {draft[1]: number for number, draft in enumerate(sorted(drafts), start=1)}
    for date, draft, post, parent, author, text, score in sorted(drafts):
        database.execute("INSERT INTO comments VALUES (?,?,?,?,?,?)", (ids[draft], post, ids.get(parent), author, date, text))
        _add_votes(database, rng, "comment_votes", ids[draft], author, score)


def _add_own_things(database: sqlite3.Connection, rng: random.Random) -> None:
    """What USER has saved and what others wrote to her; the last three messages are unread."""
    posts = [post for post, in database.execute("SELECT id FROM posts WHERE author <> ? ORDER BY id", (USER,))]
    database.executemany("INSERT INTO saves (user, post) VALUES (?,?)", [(USER, post) for post in rng.sample(posts, 6)])
    day = datetime.date.fromisoformat(TODAY) - datetime.timedelta(days=3 * len(MESSAGES))
    for number, (text, sender) in enumerate(zip(MESSAGES, rng.sample(_people(database)[1:], len(MESSAGES))), start=1):
        database.execute("INSERT INTO messages VALUES (?,?,?,?,?,?)",
                         (number, sender, USER, day.isoformat(), text, int(number > len(MESSAGES) - 3)))
        day += datetime.timedelta(days=rng.randint(1, 3))


def _add_chats(database: sqlite3.Connection, rng: random.Random) -> None:
    """USER's chats: each begins with another greeting, and most hold the draft of a longer message."""
    for number, (other, greeting) in enumerate(zip(rng.sample(_people(database)[1:], len(GREETINGS)), GREETINGS)):
        lines = [greeting, *rng.sample(CHAT, rng.randint(13, 19))]
        day = datetime.date.fromisoformat(TODAY) - datetime.timedelta(days=rng.randint(60, 90))
        for at, text in enumerate(lines):
            database.execute("INSERT INTO chat_lines (other, mine, date, text) VALUES (?,?,?,?)", (other, at % 2, day.isoformat(), text))
            day += datetime.timedelta(days=rng.randint(0, 3))
        if number < len(DRAFTS):
            database.execute("INSERT INTO drafts VALUES (?,?)", (other, DRAFTS[number]))
