"""What has changed in a world since it was made, counted by table: a page of every site that no link leads to, for whoever scores an episode.

It sees what no page of the site lists as a whole: a second review of another product, a vote on a comment somewhere else, another customer's phone.
"""

import functools
import sqlite3
from collections import Counter

PATH = "/changed-records"
LOCATOR = 'document.querySelector("#changes").innerText'
TRACES = ("sessions", "admin_sessions", "searches")      # tables in which looking around leaves traces
SEEN = ("unread",)                                       # columns in which it does


def changed_rows(database: sqlite3.Connection, seed: bytes) -> dict[str, tuple[int, int]]:
    """Table → (rows that are gone, rows that are new) since `database` was filled from `seed`; a changed row is both. Only tables that changed."""
    before, now = _seed_rows(seed), _rows(database)
    counts = {table: ((before[table] - now[table]).total(), (now[table] - before[table]).total()) for table in now}
    return {table: count for table, count in counts.items() if count != (0, 0)}


def as_text(changes: dict[str, tuple[int, int]]) -> str:
    """``{"orders": (0, 1), "cart": (5, 0)}`` gives ``cart -5 +0; orders -0 +1``; no changes give ``nothing``."""
    return "; ".join(f"{table} -{gone} +{new}" for table, (gone, new) in sorted(changes.items())) or "nothing"


def as_page(changes: dict[str, tuple[int, int]]) -> str:
    return f'<!doctype html><title>Changed records</title><p id="changes">{as_text(changes)}</p>'


def _rows(database: sqlite3.Connection) -> dict[str, Counter]:
    found = {}
    for table, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        if table not in TRACES:
            columns = [column[1] for column in database.execute(f"PRAGMA table_info({table})") if column[1] not in SEEN]
            found[table] = Counter(map(tuple, database.execute(f"SELECT {', '.join(columns)} FROM {table}")))
    return found


@functools.cache
def _seed_rows(seed: bytes) -> dict[str, Counter]:
    database = sqlite3.connect(":memory:")
    database.deserialize(seed)
    found = _rows(database)
    database.close()
    return found
