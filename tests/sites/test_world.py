"""Worlds are isolated, cheap, and gone once discarded."""

import statistics
import threading
import time

import pytest

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


def test_making_a_world_takes_milliseconds_and_little_memory(worlds):
    seconds = []
    for _ in range(50):
        start = time.perf_counter()
        world = worlds.create()
        world.database("shopping")
        seconds.append(time.perf_counter() - start)
    assert statistics.median(seconds) < 0.020
    assert len(world.database("shopping").serialize()) < 5_000_000
