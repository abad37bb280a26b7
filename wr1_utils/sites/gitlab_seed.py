"""The seed state of the site `gitlab`: invented people, groups and projects with their code, issues and merge requests.

Everything comes from a fixed random seed. A project's commits are played in order, so that its files are what its commits say.
"""

import datetime
import functools
import hashlib
import random
import re
import sqlite3

from wr1_utils.sites.gitlab_words import (
    BIOS,
    COMMENTS,
    GROUPS,
    ISSUES,
    JOBS,
    LABELS,
    MILESTONES,
    PROJECTS,
    REVIEWS,
    STATUSES,
    WORK,
)
from wr1_utils.sites.shopping_seed import CITIES, LOOKS, MATERIALS, PEOPLE, TODAY

SEED = 20250517
USER = 1                         # who is logged in where a task requires login
SESSION = "seed-session"         # the session token of USER in every fresh world
ROLES = {"Guest": 10, "Reporter": 20, "Developer": 30, "Maintainer": 40, "Owner": 50}

SCHEMA = """
CREATE TABLE users (id INTEGER PRIMARY KEY, username TEXT UNIQUE, email TEXT UNIQUE, password TEXT, name TEXT, status TEXT, bio TEXT,
                    location TEXT, token TEXT, joined TEXT, job TEXT, new_email TEXT DEFAULT '', email_requests INTEGER DEFAULT 0);
CREATE TABLE sessions (token TEXT PRIMARY KEY, user INTEGER);
CREATE TABLE follows (follower INTEGER, followed INTEGER, UNIQUE (follower, followed));
CREATE TABLE groups (id INTEGER PRIMARY KEY, path TEXT UNIQUE, name TEXT, description TEXT, visibility TEXT);
CREATE TABLE projects (id INTEGER PRIMARY KEY, space TEXT, path TEXT, name TEXT, description TEXT, visibility TEXT, archived INTEGER,
                       forked_from INTEGER, created TEXT, UNIQUE (space, path));
CREATE TABLE members (id INTEGER PRIMARY KEY, kind TEXT, holder INTEGER, user INTEGER, role TEXT, UNIQUE (kind, holder, user));
CREATE TABLE stars (project INTEGER, user INTEGER, UNIQUE (project, user));
CREATE TABLE branches (id INTEGER PRIMARY KEY, project INTEGER, name TEXT, UNIQUE (project, name));
CREATE TABLE files (id INTEGER PRIMARY KEY, project INTEGER, branch TEXT, path TEXT, text TEXT, UNIQUE (project, branch, path));
CREATE TABLE commits (id INTEGER PRIMARY KEY, project INTEGER, branch TEXT, sha TEXT, author INTEGER, date TEXT, title TEXT);
CREATE TABLE changes (id INTEGER PRIMARY KEY, commit_id INTEGER, path TEXT, old TEXT, new TEXT);
CREATE TABLE labels (id INTEGER PRIMARY KEY, project INTEGER, name TEXT, color TEXT, description TEXT, UNIQUE (project, name));
CREATE TABLE milestones (id INTEGER PRIMARY KEY, project INTEGER, title TEXT, due TEXT, state TEXT, UNIQUE (project, title));
CREATE TABLE issues (id INTEGER PRIMARY KEY, project INTEGER, iid INTEGER, title TEXT, description TEXT, state TEXT, author INTEGER,
                     assignee INTEGER, milestone INTEGER, due TEXT, created TEXT, UNIQUE (project, iid));
CREATE TABLE issue_labels (issue INTEGER, label INTEGER, UNIQUE (issue, label));
CREATE TABLE merge_requests (id INTEGER PRIMARY KEY, project INTEGER, iid INTEGER, title TEXT, description TEXT, state TEXT, source TEXT,
                             target TEXT, author INTEGER, assignee INTEGER, reviewer INTEGER, created TEXT, UNIQUE (project, iid));
CREATE TABLE merged_commits (merge_request INTEGER, commit_id INTEGER);
CREATE TABLE approvals (merge_request INTEGER, user INTEGER, UNIQUE (merge_request, user));
CREATE TABLE comments (id INTEGER PRIMARY KEY, kind TEXT, holder INTEGER, author INTEGER, date TEXT, text TEXT);
CREATE TABLE todos (id INTEGER PRIMARY KEY, user INTEGER, project INTEGER, action TEXT, title TEXT, url TEXT, done INTEGER);
CREATE INDEX members_of ON members (holder, kind);
CREATE INDEX commits_of ON commits (project, branch);
CREATE INDEX changes_of ON changes (commit_id);
CREATE INDEX comments_of ON comments (holder, kind);
"""


def slug_of(text: str) -> str:
    """``Frost warning: 3!`` gives ``frost-warning-3``."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def commit_sha(project: int, commit: int, title: str) -> str:
    """The short id of a commit, the same in every world."""
    return hashlib.sha1(f"{project}/{commit}/{title}".encode()).hexdigest()[:8]


@functools.cache
def seed_database() -> bytes:
    """The serialised seed database; the same bytes' content on every machine."""
    rng = random.Random(SEED)
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA)
    _add_people(database, rng)
    users = dict(database.execute("SELECT username, id FROM users ORDER BY id").fetchall())
    for number, (path, (name, description, visibility, roles)) in enumerate(GROUPS.items(), start=1):
        database.execute("INSERT INTO groups VALUES (?,?,?,?,?)", (number, path, name, description, visibility))
        _add_members(database, "group", number, roles, users)
    star_counts = rng.sample(range(2, len(users)), len(PROJECTS))
    for place, star_count in zip(PROJECTS, star_counts):
        _add_project(database, rng, place, star_count, users)
    for name, username in (("recipe-box", "yara"), ("lantern-web", "kira"), ("puzzle-solver", "nils"), ("puzzle-solver", "uma")):
        project = database.execute("SELECT id FROM projects WHERE path = ? ORDER BY id", (name,)).fetchone()[0]
        fork_project(database, project, username)
    _add_todos(database)
    database.commit()
    database.execute("VACUUM")
    seed = database.serialize()
    database.close()
    return seed


def user_login() -> tuple[str, str]:
    """User name and password of USER, for people who look at the site themselves."""
    database = sqlite3.connect(":memory:")
    database.deserialize(seed_database())
    return database.execute("SELECT username, password FROM users WHERE id = ?", (USER,)).fetchone()


def fork_project(database: sqlite3.Connection, project: int, space: str) -> int:
    """Copies a project with its main branch to `space`; gives the number of the copy. The owner of a user's space is that user."""
    copy = database.execute("INSERT INTO projects (space, path, name, description, visibility, archived, forked_from, created) "
                            "SELECT ?, path, name, description, visibility, 0, id, ? FROM projects WHERE id = ?",
                            (space, TODAY, project)).lastrowid
    database.execute("INSERT INTO branches (project, name) VALUES (?, 'main')", (copy,))
    database.execute("INSERT INTO files (project, branch, path, text) SELECT ?, branch, path, text FROM files "
                     "WHERE project = ? AND branch = 'main' ORDER BY id", (copy, project))
    for commit, *fields in database.execute("SELECT id, sha, author, date, title FROM commits WHERE project = ? AND branch = 'main' "
                                            "ORDER BY id", (project,)).fetchall():
        made = database.execute("INSERT INTO commits (project, branch, sha, author, date, title) VALUES (?,'main',?,?,?,?)",
                                (copy, *fields)).lastrowid
        database.execute("INSERT INTO changes (commit_id, path, old, new) SELECT ?, path, old, new FROM changes WHERE commit_id = ? "
                         "ORDER BY id", (made, commit))
    add_labels(database, copy)
    database.execute("INSERT INTO members (kind, holder, user, role) SELECT 'project', ?, id, 'Owner' FROM users WHERE username = ?",
                     (copy, space))
    return copy


def add_labels(database: sqlite3.Connection, project: int) -> None:
    """The labels that every project begins with."""
    for name, (color, description) in LABELS.items():
        database.execute("INSERT INTO labels (project, name, color, description) VALUES (?,?,?,?)", (project, name, color, description))


def add_commit(database: sqlite3.Connection, project: int, branch: str, author: int, date: str, title: str,
               changes: list[tuple[str, str, str]]) -> int:
    """One commit; `changes` are (path, old lines, new lines). The files themselves are left alone."""
    number = database.execute("SELECT coalesce(max(id), 0) + 1 FROM commits").fetchone()[0]
    database.execute("INSERT INTO commits VALUES (?,?,?,?,?,?,?)",
                     (number, project, branch, commit_sha(project, number, title), author, date, title))
    database.executemany("INSERT INTO changes (commit_id, path, old, new) VALUES (?,?,?,?)", [(number, *change) for change in changes])
    return number


def _add_people(database: sqlite3.Connection, rng: random.Random) -> None:
    surnames = [word for word in LOOKS if word not in ("Bright", "Happy", "Plain")]
    names = ["Emma Lane"] + [f"{person} {rng.choice(surnames)}" for person in PEOPLE]
    for index, name in enumerate(names):
        username = name.split()[0].lower()
        database.execute(
            "INSERT INTO users (username, email, password, name, status, bio, location, token, joined, job) VALUES (?,?,?,?,?,?,?,?,?,?)",
            (username, f"{username}@git.test", f"{rng.choice(MATERIALS).lower()}{rng.randint(10, 99)}", name,
             rng.choice(STATUSES) if index else "", rng.choice(BIOS) if index else "", rng.choice(CITIES),
             f"{rng.randrange(16 ** 12):012x}", f"2024-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}", JOBS[7 * index % len(JOBS)]))
    database.execute("INSERT INTO sessions VALUES (?, ?)", (SESSION, USER))
    database.executemany("INSERT INTO follows VALUES (?, ?)", [(USER, 3), (USER, 5), (4, USER), (9, USER)])


def _add_members(database, kind: str, holder: int, roles: dict[str, str], users: dict[str, int]) -> None:
    database.executemany("INSERT INTO members (kind, holder, user, role) VALUES (?,?,?,?)",
                         [(kind, holder, users[username], role) for username, role in roles.items()])


def _add_project(database, rng: random.Random, place: str, star_count: int, users: dict[str, int]) -> None:
    name, visibility, description, roles, things = PROJECTS[place]
    space, path = place.split("/")
    start = datetime.date(2025, 3, 20) + datetime.timedelta(days=rng.randint(0, 40))
    project = database.execute("INSERT INTO projects (space, path, name, description, visibility, archived, created) "
                               "VALUES (?,?,?,?,?,0,?)", (space, path, name, description, visibility, start.isoformat())).lastrowid
    _add_members(database, "project", project, roles, users)
    add_labels(database, project)
    for title, due, state in MILESTONES:
        day = datetime.date.fromisoformat(due) - datetime.timedelta(days=2 * project)          # each project has days of its own
        database.execute("INSERT INTO milestones (project, title, due, state) VALUES (?,?,?,?)", (project, title, day.isoformat(), state))
    roles = {**(GROUPS[space][3] if space in GROUPS else {}), **roles}
    members = [users[username] for username in roles]
    readers = members if visibility == "Private" else list(users.values())
    for user in sorted(rng.sample(readers, min(star_count, len(readers) - 1))):
        database.execute("INSERT INTO stars VALUES (?, ?)", (project, user))
    developers = [users[username] for username, role in roles.items() if ROLES[role] >= ROLES["Developer"]]
    _add_work(database, rng, project, start, name, description, things, developers)
    _add_issues(database, rng, project, things, members, developers, readers[:6])


# --- code ------------------------------------------------------------------------------------------------------------------------

def _add_work(database, rng, project: int, start: datetime.date, name: str, description: str, things, developers: list[int]) -> None:
    """Commits on main, two merged requests among them, then closed and open ones on branches of their own."""
    files = {"README.md": [f"# {name}", description, f"Ask {'us' if len(developers) > 3 else 'the owner'} before large changes."],
             "LICENSE": ["Free to use, at your own risk."], "VERSION": ["0.1.0"]}
    add_commit(database, project, "main", developers[0], start.isoformat(), "Initial commit",
               [(path, "", "\n".join(lines)) for path, lines in files.items()])
    work = [(thing, kind) for thing in things for kind in WORK]
    rng.shuffle(work)
    weights = [8, 5, 3, 2, 1, 1, 1][:len(developers)]
    rng.shuffle(weights)
    day, version, pieces = start, 1, rng.randint(19, 23)
    for index in range(pieces):
        day += datetime.timedelta(days=rng.randint(9, 17))
        author = rng.choices(developers, weights)[0]
        if index in (6, 14):
            _add_merge_request(database, rng, project, files, work, day, author, developers, "merged")
        elif index in (9, 18):
            version += 1
            old, files["VERSION"] = files["VERSION"][0], [f"0.{version}.0"]
            add_commit(database, project, "main", author, day.isoformat(), f"Release 0.{version}.0", [("VERSION", old, f"0.{version}.0")])
        else:
            _do_work(database, rng, project, "main", files, work.pop(), day, author)
    while _top_is_shared(database, project):
        day += datetime.timedelta(days=3)
        _do_work(database, rng, project, "main", files, work.pop(), day, developers[0])
    _keep_files(database, project, "main", files)
    for state in ["closed"] * (project % 2) + ["opened"] * (2 if project <= 10 else 1):
        day += datetime.timedelta(days=rng.randint(2, 6))
        _add_merge_request(database, rng, project, files, work, day, rng.choice(developers), developers, state)
    thing, kind = work.pop()
    branch, files = slug_of(f"try {thing}"), {path: list(lines) for path, lines in files.items()}
    _do_work(database, rng, project, branch, files, (thing, kind), day, rng.choice(developers))
    _keep_files(database, project, branch, files)


def _do_work(database, rng, project: int, branch: str, files: dict, piece: tuple, day: datetime.date, author: int) -> str:
    """One commit that does one piece of work; gives its title."""
    thing, (title, path, line) = piece
    words = {"thing": thing, "Thing": thing.capitalize(), "key": thing.replace(" ", "_"), "number": rng.randint(2, 90)}
    title, line = title.format(**words), line.format(**words)
    lines = files.setdefault(path, [])
    same = [old for old in lines if path == "settings.ini" and old.split(" = ")[0] == words["key"]]
    if same:
        lines[lines.index(same[0])] = line
    else:
        lines.append(line)
    add_commit(database, project, branch, author, day.isoformat(), title, [(path, same[0] if same else "", line)])
    return title


def _keep_files(database, project: int, branch: str, files: dict) -> None:
    database.execute("INSERT INTO branches (project, name) VALUES (?,?)", (project, branch))
    database.executemany("INSERT INTO files (project, branch, path, text) VALUES (?,?,?,?)",
                         [(project, branch, path, "\n".join(lines)) for path, lines in sorted(files.items())])


def _top_is_shared(database, project: int) -> bool:
    counts = database.execute("SELECT count(*) FROM commits WHERE project = ? AND branch = 'main' GROUP BY author ORDER BY 1 DESC",
                              (project,)).fetchall()
    return len(counts) > 1 and counts[0] == counts[1]


def _add_merge_request(database, rng, project: int, files: dict, work: list, day, author: int, developers: list[int],
                       state: str) -> None:
    """A request with one or two commits; one that was merged changes `files`, the main branch."""
    first = database.execute("SELECT coalesce(max(id), 0) + 1 FROM commits").fetchone()[0]
    changed = files if state == "merged" else {path: list(lines) for path, lines in files.items()}
    pieces = [work.pop() for _ in range(rng.randint(1, 2))]
    titles = [_do_work(database, rng, project, "main", changed, piece, day, author) for piece in pieces]
    branch = slug_of(titles[0])
    others = [user for user in developers if user != author] or developers
    reviewer = rng.choice([None, *others])
    number = database.execute("SELECT count(*) + 1 FROM merge_requests WHERE project = ?", (project,)).fetchone()[0]
    request = database.execute(
        "INSERT INTO merge_requests (project, iid, title, description, state, source, target, author, assignee, reviewer, created) "
        "VALUES (?,?,?,?,?,?,'main',?,?,?,?)",
        (project, number, titles[0], f"{titles[-1]}, as agreed.", state, branch, author, rng.choice([None, author]), reviewer,
         day.isoformat())).lastrowid
    if state == "merged":
        database.execute("INSERT INTO merged_commits SELECT ?, id FROM commits WHERE id >= ?", (request, first))
        database.execute("INSERT INTO approvals VALUES (?, ?)", (request, rng.choice(others)))
    else:
        database.execute("UPDATE commits SET branch = ? WHERE id >= ?", (branch, first))
    if state == "opened":
        _keep_files(database, project, branch, changed)
    for text in rng.sample(REVIEWS, rng.randint(0, 2)):
        _add_comment(database, "merge", request, rng.choice(others), day, text)


# --- issues ----------------------------------------------------------------------------------------------------------------------

def _add_issues(database, rng, project: int, things, members: list[int], developers: list[int], others: list[int]) -> None:
    labels = dict(database.execute("SELECT name, id FROM labels WHERE project = ?", (project,)).fetchall())
    milestones = [row[0] for row in database.execute("SELECT id FROM milestones WHERE project = ? ORDER BY id", (project,))]
    kinds = rng.sample([(thing, kind) for thing in things for kind in ISSUES], 18)
    days = sorted(rng.sample(range(330), len(kinds)))
    dues = rng.sample(range(5, 120), len(kinds))
    for number, ((thing, (title, label, description)), day, due) in enumerate(zip(kinds, days, dues), start=1):
        words = {"thing": thing, "Thing": thing.capitalize(), "number": rng.randint(3, 30)}
        created = datetime.date(2025, 4, 14) + datetime.timedelta(days=day)
        issue = database.execute(
            "INSERT INTO issues (project, iid, title, description, state, author, assignee, milestone, due, created) "
            "VALUES (?,?,?,?,?,?,?,?,?,?)",
            (project, number, title.format(**words), description.format(**words), rng.choice(("opened", "opened", "opened", "closed")),
             rng.choice(members + others), rng.choice([None, *developers]), rng.choice([None, *milestones]),
             (datetime.date.fromisoformat(TODAY) + datetime.timedelta(days=due)).isoformat() if rng.random() < 0.3 else "",
             created.isoformat())).lastrowid
        for name in [label] + ["urgent"] * (rng.random() < 0.2):
            database.execute("INSERT INTO issue_labels VALUES (?, ?)", (issue, labels[name]))
        for text in rng.sample(COMMENTS, rng.choice((0, 0, 1, 1, 2, 3))):
            _add_comment(database, "issue", issue, rng.choice(members), created + datetime.timedelta(days=1), text)


def _add_comment(database, kind: str, holder: int, author: int, day: datetime.date, text: str) -> None:
    database.execute("INSERT INTO comments (kind, holder, author, date, text) VALUES (?,?,?,?,?)",
                     (kind, holder, author, day.isoformat(), text))


def _add_todos(database: sqlite3.Connection) -> None:
    """What USER has to look at: five assigned issues and the merge requests to review."""
    for kind, action, person, limit in (("issues", "Assigned", "assignee", 5), ("merge_requests", "Review requested", "reviewer", 9)):
        database.execute(f"""INSERT INTO todos (user, project, action, title, url, done)
                             SELECT {USER}, p.id, ?, t.title, '/' || p.space || '/' || p.path || '/-/{kind}/' || t.iid, 0
                             FROM {kind} t JOIN projects p ON p.id = t.project
                             WHERE t.{person} = {USER} AND t.state = 'opened' AND t.author <> {USER}
                             ORDER BY t.created DESC, t.id LIMIT {limit}""", (action,))
