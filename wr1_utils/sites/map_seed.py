"""The seed state of the site `map`: one invented region with towns, places and a road graph, from a fixed random seed.

The site `wikipedia` takes its facts from here, so that both sites say the same. The plane is measured in kilometres from the
region's south-west corner; latitude and longitude lie in the open ocean, where no such land is.
"""

import functools
import math
import random
import sqlite3

from wr1_utils.sites.shopping_seed import CITIES, LOOKS, MATERIALS, PEOPLE, STREETS, slug_of

SEED = 20250517
REGION = "Silver Vale"
WIDTH, HEIGHT = 60, 44                    # of the region, in km
KM_PER_LATITUDE, KM_PER_LONGITUDE = 111.0, 85.0
SOUTH, WEST = 40.0, 160.0                 # latitude and longitude of the south-west corner

SCHEMA = """
CREATE TABLE nodes (id INTEGER PRIMARY KEY, x REAL, y REAL);
CREATE TABLE roads (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, name TEXT, kind TEXT, metres INTEGER, kmh INTEGER);
CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT UNIQUE, plural TEXT, slug TEXT UNIQUE);
CREATE TABLE places (id INTEGER PRIMARY KEY, name TEXT UNIQUE, slug TEXT UNIQUE, category INTEGER, town TEXT, address TEXT, node INTEGER,
                     x REAL, y REAL, latitude REAL, longitude REAL, hours TEXT, phone TEXT);
CREATE TABLE facts (place INTEGER, label TEXT, value TEXT, PRIMARY KEY (place, label)) WITHOUT ROWID;
CREATE TABLE favorites (id INTEGER PRIMARY KEY, place INTEGER UNIQUE);
CREATE TABLE notes (place INTEGER PRIMARY KEY, text TEXT);
CREATE TABLE homes (place INTEGER);
CREATE INDEX places_of ON places (category);
"""

TOWNS = {                              # name → x, y, population, founded, km between its streets, turned by degrees, km², m above the sea
    "Elmton": (17, 26, 17_450, 1312, 0.34, 12, 31, 175), "Northford": (26, 35, 48_200, 1187, 0.44, -8, 64, 188),
    "Lakeview": (43, 4, 9_830, 1544, 0.28, 20, 18, 62), "Brookdale": (32, 24, 31_700, 1246, 0.40, 0, 47, 141),
    "Ashville": (9, 16, 12_060, 1405, 0.30, -15, 23, 231), "Westbury": (6, 31, 8_290, 1571, 0.27, 25, 35, 262),
    "Milford": (37, 14, 21_940, 1268, 0.36, 8, 29, 96), "Redwood": (21, 7, 6_120, 1633, 0.26, -20, 40, 154),
    "Highmoor": (47, 27, 14_380, 1359, 0.31, 15, 26, 318), "Fairhaven": (55, 9, 10_670, 1498, 0.29, -5, 12, 58),
}
assert set(CITIES) <= set(TOWNS)
POINTS = {                                # places beside the towns, and a junction, through which roads lead
    "Cedar Bridge": (17, 37), "Stone Bridge": (21.5, 30.5), "Mill Bridge": (29.2, 29), "Steel Bridge": (36, 25.2),
    "Marble Bridge": (40.5, 18.5), "Copper Bridge": (44.5, 12.3), "Silver River": (38, 21.4), "Lake Amber": (48.5, 5.9),
    "Misty Viewpoint": (5, 23), "Royal Viewpoint": (37, 34), "Sunny Viewpoint": (29, 9.5), "Three Oaks": (20, 17),
}
RIVER = ((14, 44), (15.5, 41), (17, 37), (18.6, 33.2), (21.5, 30.5), (25, 29.3), (29.2, 29), (33, 27.6), (36, 25.2), (38.2, 21.4),
         (40.5, 18.5), (42.2, 15.2), (44.5, 12.3), (47, 9.5))
LAKE = (48.5, 8.6, 4.0, 2.4)              # x, y of its middle, half its width and height
ROADS = (                                 # name, kind, km/h, through
    ("Route 1", "trunk", 90, ("Northford", "Mill Bridge", "Brookdale", "Milford", "Lakeview")),
    ("Route 2", "trunk", 90, ("Westbury", "Elmton", "Brookdale", "Steel Bridge", "Highmoor")),
    ("Route 3", "trunk", 90, ("Ashville", "Redwood", "Lakeview")),
    ("Route 4", "trunk", 90, ("Highmoor", "Fairhaven")),
    ("Cedar Road", "local", 60, ("Westbury", "Cedar Bridge", "Northford")),
    ("Linen Road", "local", 60, ("Elmton", "Stone Bridge", "Northford")),
    ("Paper Road", "local", 60, ("Northford", "Royal Viewpoint", "Highmoor")),
    ("Cork Road", "local", 60, ("Westbury", "Misty Viewpoint", "Ashville")),
    ("Glass Road", "local", 60, ("Ashville", "Elmton")),
    ("Wool Road", "local", 50, ("Ashville", "Three Oaks", "Brookdale")),
    ("Velvet Road", "local", 50, ("Redwood", "Three Oaks", "Elmton")),
    ("Cotton Road", "local", 60, ("Elmton", "Brookdale")),
    ("Bamboo Road", "local", 60, ("Brookdale", "Silver River", "Milford")),
    ("Marble Road", "local", 60, ("Milford", "Marble Bridge", "Highmoor")),
    ("Copper Road", "local", 60, ("Milford", "Copper Bridge", "Fairhaven")),
    ("Canvas Road", "local", 60, ("Redwood", "Sunny Viewpoint", "Milford")),
    ("Leather Road", "local", 60, ("Milford", "Lakeview")),
    ("Shore Road", "local", 50, ("Lakeview", "Lake Amber", "Fairhaven")),
    ("Ivory Road", "local", 50, ("Brookdale", "Mill Bridge", "Northford")),
    ("Steel Road", "local", 50, ("Brookdale", "Steel Bridge", "Royal Viewpoint")),
    ("River Path", "footpath", 5, ("Steel Bridge", "Silver River", "Marble Bridge", "Copper Bridge")),
    ("Forest Path", "footpath", 5, ("Redwood", "Three Oaks", "Stone Bridge")),
)
STREET_KMH = 30
ARCHITECTS = {                            # name → born, died (None: alive); each building is by one who was 25 to 60 when it opened
    "Greta Ivory": (1822, 1897), "Hugo Swift": (1844, 1921), "Edith Royal": (1866, 1938), "Lars Quiet": (1888, 1969),
    "Clara Modern": (1910, 1994), "Boris Rustic": (1932, 2011), "Mona Gentle": (1954, None), "Nils Golden": (1976, None),
}
_SHOPS = ("Bakery", "Bookshop", "Flower Shop", "Bike Shop", "Toy Shop", "Tea Shop")
_PARKS = tuple(look for look in LOOKS if look not in ("Amber", "Swift", "Modern", "Plain"))
CATEGORIES = {                            # name → plural, names of its places; the rarer a category, the more it stands out on a map
    "Town": ("Towns", tuple(TOWNS)),
    "Water": ("Water", ("Silver River", "Lake Amber")),
    "Bridge": ("Bridges", tuple(name for name in POINTS if name.endswith("Bridge"))),
    "Viewpoint": ("Viewpoints", tuple(name for name in POINTS if name.endswith("Viewpoint"))),
    "Station": ("Stations", tuple(f"{town} Station" for town in TOWNS if town not in ("Redwood", "Fairhaven"))),
    "Museum": ("Museums", tuple(f"{material} Museum" for material in MATERIALS if material != "Cork")),
    "Park": ("Parks", tuple(f"{look} Park" for look in _PARKS)),
    "Theater": ("Theaters", tuple(f"{look} Theater" for look in ("Royal", "Little", "Crimson", "Ocean", "Velvet"))),
    "Hospital": ("Hospitals", tuple(f"{town} Hospital" for town in ("Northford", "Brookdale", "Milford", "Elmton"))),
    "Library": ("Libraries", tuple(f"{town} Library" for town in TOWNS)),
    "School": ("Schools", tuple(f"{town} School" for town in TOWNS) + ("Oak Academy", "Hill Academy", "River Academy", "Lake Academy")),
    "Cinema": ("Cinemas", tuple(f"{look} Cinema" for look in ("Bright", "Golden", "Lucky", "Silver", "Sunny", "Modern"))),
    "Hotel": ("Hotels", tuple(f"{look} Hotel" for look in LOOKS[:16])),
    "Supermarket": ("Supermarkets", tuple(f"{look} Market" for look in LOOKS[6:20])),
    "Pharmacy": ("Pharmacies", tuple(f"{town} Pharmacy" for town in TOWNS) + ("Oak Pharmacy", "Hill Pharmacy")),
    "Restaurant": ("Restaurants", ()),    # these three have names drawn by chance
    "Cafe": ("Cafes", ()),
    "Shop": ("Shops", ()),
}
NOTABLE = ("Town", "Water", "Bridge", "Viewpoint", "Station", "Museum", "Park", "Theater", "Hospital", "Library")   # tasks ask about their articles
FACTS = {                                 # category → label, values, how one is written; the values of a range differ within a category
    "Bridge": (("Length", range(64, 410, 2), "{} m"), ("Opened", range(1852, 2015), "{}")),
    "Viewpoint": (("Elevation", range(340, 720), "{} m"),),
    "Station": (("Opened", range(1861, 1912), "{}"), ("Platforms", (2, 3, 4, 5, 6), "{}")),
    "Museum": (("Opened", range(1868, 2018), "{}"), ("Exhibits", range(300, 9000, 10), "{:,}"), ("Admission", range(3, 18), "${}")),
    "Park": (("Opened", range(1810, 2010), "{}"), ("Area", range(2, 60), "{} ha")),
    "Theater": (("Opened", range(1870, 2010), "{}"), ("Seats", range(120, 1400, 10), "{:,}")),
    "Hospital": (("Opened", range(1880, 2000), "{}"), ("Beds", range(60, 800, 5), "{}")),
    "Library": (("Opened", range(1870, 2015), "{}"), ("Books", range(8000, 240_000, 500), "{:,}")),
    "School": (("Founded", range(1850, 2005), "{}"), ("Students", range(90, 1300, 5), "{:,}")),
    "Cinema": (("Screens", range(1, 9), "{}"),),
    "Hotel": (("Rooms", range(12, 180), "{}"), ("Stars", (2, 3, 3, 4, 5), "{}")),
    "Restaurant": (("Cuisine", ("Noodles", "Soup", "Pizza", "Salad", "Dumplings", "Curry", "Fish"), "{}"),
                   ("Outdoor seating", ("yes", "no"), "{}")),
    "Cafe": (("Internet", ("yes", "no"), "{}"), ("Outdoor seating", ("yes", "no"), "{}")),
    "Supermarket": (("Parking", range(20, 200), "{} spaces"),),
}
DESIGNED = ("Bridge", "Museum", "Theater", "Library")     # have an architect
WIKI_ONLY = ("Mayor", "Elevation", "Exhibits", "Books", "Students", "Depth", "Beds")    # facts that the map does not show
WATER_FACTS = {"Silver River": (("Length", "58 km"),), "Lake Amber": (("Area", "30 km²"), ("Depth", "41 m"))}
HOURS = {                                 # category → the opening hours that occur; a category without has none, and no phone
    "Station": ("Daily 5:00-23:30", "Daily 4:30-0:30"), "Park": ("Daily 6:00-21:00", "Daily 7:00-20:00", "Always open"),
    "Museum": ("Tue-Sun 10:00-17:00", "Wed-Mon 9:00-18:00", "Thu-Sun 11:00-19:00"), "Hospital": ("Always open",),
    "Theater": ("Wed-Sun 17:00-23:00", "Thu-Sat 18:00-23:00"), "Cinema": ("Daily 14:00-23:30", "Fri-Sun 13:00-0:00"),
    "Library": ("Mon-Fri 9:00-18:00", "Mon-Sat 10:00-19:00", "Tue-Fri 10:00-17:00, Sat 9:00-13:00"),
    "School": ("Mon-Fri 7:30-16:00", "Mon-Fri 8:00-15:30"), "Hotel": ("Always open", "Daily 6:00-23:00"),
    "Supermarket": ("Mon-Sat 7:00-21:00", "Mon-Sat 8:00-20:00", "Daily 7:00-22:00"),
    "Pharmacy": ("Mon-Fri 8:00-18:30", "Mon-Fri 8:30-18:00, Sat 9:00-12:00", "Daily 8:00-20:00"),
    "Restaurant": ("Tue-Sun 11:30-22:00", "Daily 12:00-23:00", "Mon-Fri 11:00-14:30"),
    "Cafe": ("Daily 7:00-18:00", "Mon-Fri 7:30-17:00", "Tue-Sun 9:00-19:00"),
    "Shop": ("Mon-Fri 9:00-18:00", "Mon-Sat 9:30-18:30", "Tue-Sat 10:00-17:00"),
}
FAVORITES = ("Glass Museum", "Lake Amber", "Elmton Library", "Royal Theater", "Mill Bridge", "Sunny Viewpoint")
NOTES = {"Lake Amber": "Bring a kite", "Glass Museum": "Closed on Tuesday last time", "Milford Library": "Return the atlas",
         "Ocean Theater": "Sit in row 4", "Steel Bridge": "Windy", "Redwood School": "Enter from the yard"}


def position(x: float, y: float) -> tuple[float, float]:
    """Latitude and longitude of a point of the plane."""
    return round(SOUTH + y / KM_PER_LATITUDE, 4), round(WEST + x / KM_PER_LONGITUDE, 4)


def plane(latitude: float, longitude: float) -> tuple[float, float]:
    """The point of the plane that has this latitude and longitude."""
    return (longitude - WEST) * KM_PER_LONGITUDE, (latitude - SOUTH) * KM_PER_LATITUDE


@functools.cache
def seed_database() -> bytes:
    """The serialised seed database; the same bytes' content on every machine."""
    rng = random.Random(SEED)
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA)
    nodes = _Nodes(database)
    slots = {town: _town_streets(nodes, rng, town) for town in TOWNS}
    points = _country_roads(nodes, rng, slots)
    names = _names(rng)
    for number, (category, (plural, _)) in enumerate(CATEGORIES.items(), start=1):
        database.execute("INSERT INTO categories VALUES (?,?,?,?)", (number, category, plural, slug_of(plural)))
        _add_places(database, rng, number, category, names[category], slots, points, nodes)
    for slot in slots.values():
        slot.build(nodes)
    for name in FAVORITES:
        database.execute("INSERT INTO favorites (place) SELECT id FROM places WHERE name = ?", (name,))
    for name, text in NOTES.items():
        database.execute("INSERT INTO notes SELECT id, ? FROM places WHERE name = ?", (text, name))
    database.commit()
    database.execute("VACUUM")
    seed = database.serialize()
    database.close()
    return seed


# --- roads -----------------------------------------------------------------------------------------------------------------------

class _Nodes:
    """The graph as it grows."""

    def __init__(self, database: sqlite3.Connection):
        self.database, self.at = database, {}

    def add(self, x: float, y: float) -> int:
        number = len(self.at) + 1
        self.at[number] = (round(x, 3), round(y, 3))
        self.database.execute("INSERT INTO nodes VALUES (?,?,?)", (number, *self.at[number]))
        return number

    def join(self, a: int, b: int, name: str, kind: str, kmh: int) -> None:
        metres = max(1, round(1000 * math.dist(self.at[a], self.at[b])))
        self.database.execute("INSERT INTO roads (a, b, name, kind, metres, kmh) VALUES (?,?,?,?,?,?)", (a, b, name, kind, metres, kmh))


class _Streets:
    """The streets of one town: a grid of four by four, and the free building plots along them."""

    def __init__(self, grid: dict, edges: list, plots: list):
        self.grid, self.edges, self.plots = grid, edges, plots
        self.taken: dict[tuple[int, int], list[tuple[float, int]]] = {}

    def build(self, nodes: _Nodes) -> None:
        """Joins the crossings to each other through the doors of the places between them."""
        for a, b, name in self.edges:
            chain = [a, *(node for _, node in sorted(self.taken.get((a, b), ()))), b]
            for one, two in zip(chain, chain[1:]):
                nodes.join(one, two, name, "street", STREET_KMH)


def _town_streets(nodes: _Nodes, rng: random.Random, town: str) -> _Streets:
    x, y, _, _, gap, degrees, _, _ = TOWNS[town]
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    grid = {}
    for column in range(4):
        for row in range(4):
            across, up = (column - 1.5) * gap + rng.uniform(-0.03, 0.03), (row - 1.5) * gap + rng.uniform(-0.03, 0.03)
            grid[column, row] = nodes.add(x + across * cos - up * sin, y + across * sin + up * cos)
    names = rng.sample(STREETS, 8)
    edges, plots = [], []
    for line in range(4):
        for step in range(3):
            for name, a, b in ((names[line], grid[step, line], grid[step + 1, line]),
                               (names[4 + line], grid[line, step], grid[line, step + 1])):
                edges.append((a, b, name))
                plots += [(a, b, share, name, 4 * (3 * step + place) + rng.randint(1, 4)) for place, share in enumerate((0.25, 0.5, 0.75))]
    rng.shuffle(plots)
    for corner, opposite in (((0, 0), (1, 1)), ((2, 2), (3, 3))):
        nodes.join(grid[corner], grid[opposite], "Garden Walk", "footpath", 5)
    return _Streets(grid, edges, plots)


def _country_roads(nodes: _Nodes, rng: random.Random, streets: dict[str, _Streets]) -> dict[str, tuple[int, str]]:
    """Joins towns and POINTS; a road meets a town at the crossing next to where it comes from. Point → its node and road."""
    found: dict[str, tuple[int, str]] = {}

    def stop(name: str, towards: str, road: str) -> int:
        if name in TOWNS:
            to = (TOWNS.get(towards) or POINTS[towards])[:2]
            return min(streets[name].grid.values(), key=lambda node: math.dist(nodes.at[node], to))
        if name not in found:
            found[name] = (nodes.add(*POINTS[name]), road)
        return found[name][0]

    for name, kind, kmh, through in ROADS:
        for here, there in zip(through, through[1:]):
            start, end = stop(here, there, name), stop(there, here, name)
            (x1, y1), (x2, y2) = nodes.at[start], nodes.at[end]
            pieces = max(2, round(math.dist((x1, y1), (x2, y2)) / 3))
            previous = start
            for piece in range(1, pieces):
                share, aside = piece / pieces, rng.uniform(-0.035, 0.035)
                node = nodes.add(x1 + (x2 - x1) * share - (y2 - y1) * aside, y1 + (y2 - y1) * share + (x2 - x1) * aside)
                nodes.join(previous, node, name, kind, kmh)
                previous = node
            nodes.join(previous, end, name, kind, kmh)
    return found


# --- places ----------------------------------------------------------------------------------------------------------------------

def _names(rng: random.Random) -> dict[str, list[str]]:
    """The places' names by category; no two pairs of the first words are the same."""
    names = {category: list(fixed) for category, (_, fixed) in CATEGORIES.items()}
    pairs = [f"{material} {noun}" for material in MATERIALS for noun in ("Lantern", "Candle", "Basket", "Bench")]
    names["Restaurant"] = [f"{pair} Restaurant" for pair in rng.sample(pairs, 22)]
    pairs = [f"{look} {noun}" for look in LOOKS for noun in ("Mug", "Kettle", "Spoon", "Bowl")]
    names["Cafe"] = [f"{pair} Cafe" for pair in rng.sample(pairs, 28)]
    names["Shop"] = [f"{person} {_SHOPS[index % len(_SHOPS)]}" for index, person in enumerate(PEOPLE)]
    return names


def _town_of(rng: random.Random, name: str, index: int, order: list[str]) -> str:
    """The town in its name, or each town once, then the larger ones more often."""
    named = name.split()[0]
    if named in TOWNS:
        return named
    return order[index] if index < len(order) else rng.choices(list(TOWNS), [town[2] for town in TOWNS.values()])[0]


def _add_places(database: sqlite3.Connection, rng: random.Random, number: int, category: str, names: list[str], streets: dict, points: dict,
                nodes: _Nodes) -> None:
    facts = {label: rng.sample(values, len(names)) if isinstance(values, range) and len(values) >= len(names)
             else rng.choices(values, k=len(names)) for label, values, _ in FACTS.get(category, ())}
    order = rng.sample(list(TOWNS), len(TOWNS))
    for index, name in enumerate(names):
        if category == "Town":
            town, node = name, streets[name].grid[1, 1]
            address = f"{name} {_zip(name)}"
        elif name in points:
            node, road = points[name]
            town = min(TOWNS, key=lambda one: math.dist(TOWNS[one][:2], POINTS[name]))
            address = f"{road}, {town} {_zip(town)}"
        else:
            town = _town_of(rng, name, index, order)
            a, b, share, street, house = streets[town].plots.pop()
            (x1, y1), (x2, y2) = nodes.at[a], nodes.at[b]
            node = nodes.add(x1 + (x2 - x1) * share, y1 + (y2 - y1) * share)
            streets[town].taken.setdefault((a, b), []).append((share, node))
            address = f"{house} {street}, {town} {_zip(town)}"
        hours = rng.choice(HOURS[category]) if category in HOURS else ""
        phone = "" if category == "Park" or not hours else f"555-{1000 + 31 * node % 9000:04d}"
        at = nodes.at[node]
        place = database.execute("INSERT INTO places (name, slug, category, town, address, node, x, y, latitude, longitude, hours, phone) "
                                 "VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                                 (name, slug_of(name), number, town, address, node, *at, *position(*at), hours, phone)).lastrowid
        rows = [(label, how.format(facts[label][index])) for label, _, how in FACTS.get(category, ())]
        if category == "Town":
            population, founded, area, elevation = (TOWNS[name][column] for column in (2, 3, 6, 7))
            rows = [("Population", f"{population:,}"), ("Founded", str(founded)), ("Area", f"{area} km²"), ("Elevation", f"{elevation} m"),
                    ("Mayor", f"{PEOPLE[index]} {LOOKS[index + 7]}")]
        if category in DESIGNED:
            able = [architect for architect, (born, _) in ARCHITECTS.items() if born + 25 <= facts["Opened"][index] <= born + 60]
            rows.append(("Architect", rng.choice(able)))
        rows += WATER_FACTS.get(name, ())
        database.executemany("INSERT INTO facts VALUES (?,?,?)", [(place, label, value) for label, value in rows])


def _zip(town: str) -> str:
    return str(20110 + 130 * list(TOWNS).index(town))
