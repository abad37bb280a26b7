"""The region is the same everywhere, each name and fact stands for one thing, and every place can be reached."""

import itertools
import math

import pytest

from wr1_utils.sites import shopping_seed
from wr1_utils.sites.map_roads import MODES, duration, find_route, kilometres
from wr1_utils.sites.map_seed import ARCHITECTS, CATEGORIES, HEIGHT, POINTS, RIVER, TOWNS, WIDTH, plane, position, seed_database
from wr1_utils.sites.world import open_database


def rows(query):
    return [tuple(row) for row in open_database(seed_database()).execute(query)]


def test_the_same_seed_gives_the_same_state():
    tables = ("nodes", "roads", "categories", "places", "facts", "favorites", "notes")
    first = [rows(f"SELECT * FROM {table}") for table in tables]
    seed_database.cache_clear()
    assert first == [rows(f"SELECT * FROM {table}") for table in tables]
    assert len(seed_database()) < 300_000


def test_there_are_220_places_of_all_categories_and_the_towns_of_the_shop():
    assert len(rows("SELECT 1 FROM places")) == 220
    assert {name for name, in rows("SELECT DISTINCT c.name FROM places p JOIN categories c ON c.id = p.category")} == set(CATEGORIES)
    assert set(shopping_seed.CITIES) < set(TOWNS)
    assert min(count for count, in rows("SELECT count(*) FROM places GROUP BY town")) >= 10


def test_names_addresses_phones_and_coordinates_are_unique():
    for column in ("name", "slug", "address", "latitude || longitude", "node"):
        assert len(rows(f"SELECT DISTINCT {column} FROM places")) == 220, column
    assert rows("SELECT count(*) FROM (SELECT phone FROM places WHERE phone != '' GROUP BY phone HAVING count(*) > 1)") == [(0,)]


def test_no_name_is_part_of_another_but_for_towns():
    names = [name for name, in rows("SELECT name FROM places") if name not in TOWNS]
    assert not [pair for pair in itertools.permutations(names, 2) if pair[0] in pair[1]]


def test_numbers_within_a_category_differ():
    for label, category in (("Opened", "Museum"), ("Exhibits", "Museum"), ("Length", "Bridge"), ("Seats", "Theater"), ("Rooms", "Hotel"),
                            ("Population", "Town"), ("Books", "Library")):
        values = rows("SELECT f.value FROM facts f JOIN places p ON p.id = f.place JOIN categories c ON c.id = p.category "
                      f"WHERE f.label = '{label}' AND c.name = '{category}'")
        assert len(values) == len(set(values)) > 1, label


def test_architects_were_grown_up_and_alive_when_their_buildings_opened():
    works = rows("SELECT a.value, o.value FROM facts a JOIN facts o USING (place) WHERE a.label = 'Architect' AND o.label = 'Opened'")
    assert len(works) == 35 and {name for name, _ in works} == set(ARCHITECTS)
    for name, year in works:
        born, died = ARCHITECTS[name]
        assert born + 25 <= int(year) <= (died or 2026)


def test_coordinates_lie_in_the_region_and_lead_back():
    for x, y, latitude, longitude in rows("SELECT x, y, latitude, longitude FROM places"):
        assert 0 < x < WIDTH and 0 < y < HEIGHT and position(x, y) == (latitude, longitude)
        assert math.dist(plane(latitude, longitude), (x, y)) < 0.02


def test_bridges_stand_on_the_river():
    assert all(POINTS[name] in RIVER for name in POINTS if name.endswith("Bridge"))


def test_a_road_is_no_shorter_than_the_straight_line():
    ends = "FROM roads r JOIN nodes a ON a.id = r.a JOIN nodes b ON b.id = r.b"
    for metres, x1, y1, x2, y2 in rows(f"SELECT metres, a.x, a.y, b.x, b.y {ends}"):
        assert metres >= 1 and abs(metres - 1000 * math.dist((x1, y1), (x2, y2))) < 1


@pytest.mark.parametrize("mode", MODES)
def test_every_place_can_be_reached(mode):
    database = open_database(seed_database())
    start, *others = [node for node, in rows("SELECT node FROM places ORDER BY id")]
    for goal in others:
        route = find_route(database, start, goal, mode)
        assert route and route.metres == sum(metres for _, metres in route.steps) and len(route.steps) <= 20


def _small_graph():
    database = open_database(seed_database())
    database.execute("DELETE FROM roads")
    database.execute("DELETE FROM nodes")
    database.executemany("INSERT INTO nodes VALUES (?,?,?)", [(1, 0, 0), (2, 1, 0), (3, 1, 1), (4, 0, 1), (5, 9, 9)])
    database.executemany("INSERT INTO roads (a, b, name, kind, metres, kmh) VALUES (?,?,?,?,?,?)", [
        (1, 2, "South", "street", 1000, 30), (2, 3, "East", "street", 1000, 30), (1, 4, "West", "trunk", 1000, 90),
        (4, 3, "North", "trunk", 1000, 90), (1, 3, "Diagonal", "footpath", 1414, 5)])
    return database


def test_the_quickest_way_on_a_small_graph():
    database = _small_graph()
    car, bicycle, foot = (find_route(database, 1, 3, mode) for mode in MODES)
    assert car.steps == (("Start on West", 1000), ("Turn right onto North", 1000)) and car.seconds == pytest.approx(86)
    assert bicycle.steps == (("Start on South", 1000), ("Turn left onto East", 1000)) and bicycle.nodes == (1, 2, 3)
    assert foot.steps == (("Start on Diagonal", 1414),) and foot.metres == 1414
    assert find_route(database, 1, 5, "car") is None and find_route(database, 2, 2, "car").metres == 0


def test_how_distances_and_times_are_written():
    assert [kilometres(metres) for metres in (40, 350, 994, 996, 12_340)] == ["0.04 km", "0.35 km", "0.99 km", "1.0 km", "12.3 km"]
    assert [duration(seconds) for seconds in (0, 89, 90, 3580, 7260)] == ["1 min", "1 min", "2 min", "1 h 0 min", "2 h 1 min"]
