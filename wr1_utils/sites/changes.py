"""What has changed in a world since it was made, counted by table: a page of every site that no link leads to, for whoever scores an episode.

It sees what no page of the site lists as a whole: a second review of another product, a vote on a comment somewhere else, another customer's phone,
another field of the record that was to be changed.
"""

import functools
import sqlite3
from collections import Counter

PATH = "/changed-records"
LOCATOR = 'document.querySelector("#changes").innerText'
TRACES = ("sessions", "admin_sessions", "searches")      # tables in which looking around leaves traces
SEEN = ("unread",)                                       # columns in which it does


Changes = dict[str, tuple]       # table → (rows that are gone, rows that are new, the columns in which a row of the same key has changed …)


def changed_rows(database: sqlite3.Connection, seed: bytes) -> Changes:
    """What has changed since `database` was filled from `seed`; a changed row is both gone and new. Only tables that changed."""
    before, now = _seed_rows(seed), _rows(database)
    changes = {}
    for table, rows in now.items():
        gone, new = before[table] - rows, rows - before[table]
        if gone or new:
            changes[table] = gone.total(), new.total(), *_changed_columns(database, table, gone, new)
    return changes


def as_text(changes: Changes) -> str:
    """``{"orders": (0, 1), "cart": (2, 1, "quantity")}`` gives ``cart -2 +1 (quantity); orders -0 +1``; no changes give ``nothing``."""
    return "; ".join(f"{table} -{gone} +{new}" + f" ({', '.join(sorted(columns))})" * bool(columns)
                     for table, (gone, new, *columns) in sorted(changes.items())) or "nothing"


def as_page(changes: Changes) -> str:
    return f'<!doctype html><title>Changed records</title><p id="changes">{as_text(changes)}</p>'


def _rows(database: sqlite3.Connection) -> dict[str, Counter]:
    found = {}
    for table, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        if table not in TRACES:
            found[table] = Counter(map(tuple, database.execute(f"SELECT {', '.join(_columns(database, table))} FROM {table}")))
    return found


def _columns(database: sqlite3.Connection, table: str) -> dict[str, bool]:
    """The columns that count, each with whether it is part of the table's primary key."""
    return {name: key > 0 for _, name, *_, key in database.execute(f"PRAGMA table_info({table})") if name not in SEEN}


def _changed_columns(database: sqlite3.Connection, table: str, gone: Counter, new: Counter) -> set[str]:
    """In which columns a row that is gone and a new one of the same primary key differ. Without such a key none."""
    columns = _columns(database, table)

    def key(row: tuple) -> tuple:
        return tuple(value for value, is_key in zip(row, columns.values()) if is_key)

    before = {key(row): row for row in gone if key(row)}
    pairs = [(before[key(row)], row) for row in new if key(row) in before]
    return {name for old, row in pairs for name, was, now in zip(columns, old, row) if was != now}


@functools.cache
def _seed_rows(seed: bytes) -> dict[str, Counter]:
    database = sqlite3.connect(":memory:")
    database.deserialize(seed)
    found = _rows(database)
    database.close()
    return found
