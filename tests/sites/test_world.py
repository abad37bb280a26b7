"""Worlds are isolated, cheap, and gone once discarded."""

import statistics
import threading
import time

import pytest

from wr1_utils.bench import world_megabytes
from wr1_utils.sites.server import seeds
from wr1_utils.sites.shopping_seed import seed_database
from wr1_utils.sites.world import UnknownWorld, Worlds


@pytest.fixture
def worlds():
    return Worlds({"shopping": seed_database()})


def quantity(world):
    return world.database("shopping").execute("SELECT sum(quantity) FROM cart").fetchone()[0]


def test_a_change_in_one_world_is_seen_in_no_other(worlds):
    first, second = worlds.create(), worlds.create()
    before = quantity(second)
    first.database("shopping").execute("DELETE FROM cart")
    assert quantity(first) is None
    assert quantity(second) == before == quantity(worlds.create())


def test_a_world_grows_as_needed(worlds):
    database = worlds.create().database("shopping")
    for number in range(2000):
        database.execute("INSERT INTO reviews (product, author, stars, text) VALUES (1, 'Nora', 5, ?)", ("x" * 200 + str(number),))
    assert database.execute("SELECT count(*) FROM reviews").fetchone()[0] > 2000


def test_a_discarded_world_is_refused(worlds):
    world = worlds.create()
    world.database("shopping")
    worlds.discard(world.key)
    worlds.discard(world.key)
    with pytest.raises(UnknownWorld):
        worlds.get(world.key)
    with pytest.raises(UnknownWorld):
        world.database("shopping")
    assert len(worlds) == 0


def test_worlds_are_made_and_discarded_from_many_threads(worlds):
    wrong = []

    def use():
        for _ in range(20):
            world = worlds.create()
            world.database("shopping").execute("DELETE FROM cart")
            if quantity(worlds.get(world.key)) is not None:
                wrong.append(world.key)
            worlds.discard(world.key)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(worlds) == 0


def test_hundreds_of_worlds_take_milliseconds_and_megabytes_each():
    """With the databases of all sites, each read from end to end. Allowed are 20 ms and 5 MB; a busy machine may take three times as long."""
    worlds, seconds = Worlds(seeds()), []
    for _ in range(200):
        start = time.perf_counter()
        world = worlds.create()
        for site in seeds():
            world.database(site)
        seconds.append(time.perf_counter() - start)
    assert statistics.median(seconds) < 3 * 0.020
    assert 0.1 < world_megabytes(seeds(), 200) < 5


@pytest.mark.parametrize("site", seeds())
def test_worlds_share_nothing_on_any_site(site):
    """Every table of one world is emptied; another one, older or newer, is as the seed is."""
    worlds = Worlds(seeds())
    older, emptied = worlds.create().database(site), worlds.create().database(site)
    before = list(older.iterdump())
    for name, in emptied.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        emptied.execute(f"DELETE FROM {name}")
    assert list(older.iterdump()) == list(worlds.create().database(site).iterdump()) == before != list(emptied.iterdump())
