"""Worlds: isolated copies of the state of all sites.

A site's state is one SQLite database. Its seed is made once and kept as bytes (`sqlite3.Connection.serialize`); a world gives
each site that is visited a database in memory of its own, filled from those bytes (`deserialize`). Nothing that happens in one
world can be seen in another, and a world that was discarded, or never made, is an error and never some other world.
"""

import secrets
import sqlite3
import threading
from collections.abc import Mapping

from wr1_utils.sites.changes import Changes, changed_rows


class UnknownWorld(KeyError):
    """No world has this key."""


class World:
    """One isolated copy of the state of all sites. Databases may be made and closed from different threads."""

    def __init__(self, key: str, seeds: Mapping[str, bytes]):
        self.key = key
        self._lock = threading.Lock()
        self._seeds = seeds
        self._databases: dict[str, sqlite3.Connection] = {}
        self._closed = False

    @property
    def closed(self) -> bool:
        return self._closed

    def database(self, site: str) -> sqlite3.Connection:
        """This world's database of `site`, made on first use. Raises UnknownWorld once the world is discarded."""
        with self._lock:
            if self._closed:
                raise UnknownWorld(self.key)
            if site not in self._databases:
                self._databases[site] = open_database(self._seeds[site])
            return self._databases[site]

    def changes(self, site: str) -> Changes:
        """What has changed since this world was made: the tables of `site`, and those of every other site as ``map.favorites``.

        Raises UnknownWorld once it is discarded.
        """
        found = changed_rows(self.database(site), self._seeds[site])
        for other in self._seeds:
            if other != site and other in self._databases:       # a site that was never visited is as it was
                found |= {f"{other}.{table}": change for table, change in changed_rows(self.database(other), self._seeds[other]).items()}
        return found

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for database in self._databases.values():
                database.close()
            self._databases.clear()


class Worlds:
    """All living worlds. `seeds` maps the name of a site to its serialised seed database."""

    def __init__(self, seeds: Mapping[str, bytes]):
        self._seeds = dict(seeds)
        self._worlds: dict[str, World] = {}

    def __len__(self) -> int:
        return len(self._worlds)

    def create(self) -> World:
        world = World(secrets.token_hex(8), self._seeds)
        self._worlds[world.key] = world
        return world

    def get(self, key: str) -> World:
        """Raises UnknownWorld for a key that was never made, or whose world was discarded."""
        try:
            return self._worlds[key]
        except KeyError:
            raise UnknownWorld(key) from None

    def discard(self, key: str) -> None:
        """Forgets a world; discarding it twice does no harm."""
        world = self._worlds.pop(key, None)
        if world is not None:
            world.close()


def open_database(seed: bytes) -> sqlite3.Connection:
    """A database in memory filled from serialised bytes; rows are `sqlite3.Row`, each statement commits by itself."""
    database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    database.deserialize(seed)
    database.row_factory = sqlite3.Row
    return database
