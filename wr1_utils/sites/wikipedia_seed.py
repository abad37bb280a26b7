"""The seed state of the site `wikipedia`: articles on the region of the site `map`. All facts on places come from its seed."""

import datetime
import functools
import json
import math
import random
import re
import sqlite3

from wr1_utils.sites import map_seed
from wr1_utils.sites.map_roads import find_route, kilometres
from wr1_utils.sites.map_seed import ARCHITECTS, CATEGORIES, HEIGHT, NOTABLE, POINTS, REGION, ROADS, TOWNS, WIDTH
from wr1_utils.sites.shopping_seed import TODAY
from wr1_utils.sites.wikipedia_everyday import everyday_articles
from wr1_utils.sites.wikipedia_words import MATERIALS_TEXT, TOPICS
from wr1_utils.sites.world import open_database

SEED = 20250517
CHANGES = 32
EDITORS = ("Owlet", "Pagemaker", "Riverside", "Footnote", "Marginal", "Quill", "Inkwell", "Bookend")

SCHEMA = """
CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT UNIQUE, slug TEXT UNIQUE, lead TEXT, place TEXT, x REAL, y REAL, listing TEXT,
                       notable INTEGER);
CREATE TABLE infobox (article INTEGER, label TEXT, value TEXT);
CREATE TABLE sections (article INTEGER, heading TEXT, text TEXT);
CREATE TABLE see_also (article INTEGER, title TEXT);
CREATE TABLE changes (id INTEGER PRIMARY KEY, title TEXT, editor TEXT, date TEXT);
"""
LISTS = {                                 # category → columns beside the name; the list of a category is called "List of ..."
    "Town": ("Population", "Founded", "Area", "Elevation"), "Museum": ("Town", "Opened", "Exhibits"),
    "Bridge": ("Length", "Opened", "Architect"), "Park": ("Town", "Opened", "Area"), "Library": ("Opened", "Books"),
    "Station": ("Opened", "Platforms"), "Theater": ("Town", "Opened", "Seats"),
}
LINK = re.compile(r"\[\[([^\]|]+)(?:\|([^\]]+))?\]\]")         # [[Title]] or [[Title|words]]


def slug_of(title: str) -> str:
    return title.replace(" ", "_")


def list_title(category: str) -> str:
    return f"List of {CATEGORIES[category][0].lower()}"


@functools.cache
def seed_database() -> bytes:
    """The serialised seed database; the same bytes' content on every machine."""
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA)
    region = open_database(map_seed.seed_database())
    everywhere = _read_places(region)
    places = {name: place for name, place in everywhere.items() if place["category"] in NOTABLE}
    writers = {"Town": _town, "Water": _water, "Bridge": _bridge, "Viewpoint": _viewpoint, "Station": _station, "Museum": _museum,
               "Park": _park, "Theater": _theater, "Hospital": _hospital, "Library": _library}
    _add(database, REGION, *_region(places))
    for place in places.values():
        _add(database, place["name"], *writers[place["category"]](place, places, region), place=place)
    for name in ARCHITECTS:
        _add(database, name, *_architect(name, places))
    for name, kind, _, through in ROADS:
        if kind != "local":
            _add(database, name, *_road(name, kind, through, region))
    _add(database, "Silver Vale Railway", *_railway(places))
    for material in MATERIALS_TEXT:
        _add(database, material, *_material(material, places))
    for title, *content in TOPICS:
        _add(database, title, *content)
    for category, columns in LISTS.items():
        rows = [[place["name"], *(place[column] for column in columns)] for place in places.values() if place["category"] == category]
        _add(database, list_title(category), f"All {CATEGORIES[category][0].lower()} of [[{REGION}]]", (), (), (),
             listing={"columns": [category, *columns], "rows": sorted(rows)})
    _add_changes(database)
    for place, content in everyday_articles(everywhere):      # last, and in no list: what tasks ask about is above
        _add(database, place["name"], *content, place=place, notable=False)
    region.close()
    database.commit()
    database.execute("VACUUM")
    seed = database.serialize()
    database.close()
    return seed


def _add_changes(database: sqlite3.Connection) -> None:
    """Who changed which article last, for some of them; the newest change has the lowest id."""
    rng = random.Random(SEED)
    titles = [title for title, in database.execute("SELECT title FROM articles WHERE listing = '' AND length(title) < 20 ORDER BY id")]
    day = datetime.date.fromisoformat(TODAY)
    for title in rng.sample(titles, CHANGES):
        database.execute("INSERT INTO changes (title, editor, date) VALUES (?,?,?)", (title, rng.choice(EDITORS), day.isoformat()))
        day -= datetime.timedelta(days=rng.randint(0, 2))


def _add(database: sqlite3.Connection, title: str, lead: str, infobox, sections, see_also, place: dict | None = None, listing=None,
         notable: bool = True) -> None:
    at = (place["slug"], place["x"], place["y"]) if place else ("", None, None)
    number = database.execute("INSERT INTO articles (title, slug, lead, place, x, y, listing, notable) VALUES (?,?,?,?,?,?,?,?)",
                              (title, slug_of(title), lead, *at, json.dumps(listing) if listing else "", notable)).lastrowid
    if place:
        infobox = (*infobox, ("Coordinates", f"{place['latitude']:.4f}, {place['longitude']:.4f}"))
    linked = {name for text in (lead, *(text for _, text in sections)) for name, _ in LINK.findall(text)}
    database.executemany("INSERT INTO infobox VALUES (?,?,?)", [(number, *row) for row in infobox])
    database.executemany("INSERT INTO sections VALUES (?,?,?)", [(number, *row) for row in sections])
    database.executemany("INSERT INTO see_also VALUES (?,?)", [(number, other) for other in see_also if other not in linked])


def _read_places(region: sqlite3.Connection) -> dict[str, dict]:
    """All places by name: columns of the map's table, and the facts under their labels."""
    places = {}
    for row in region.execute("SELECT p.*, c.name AS kind FROM places p JOIN categories c ON c.id = p.category ORDER BY p.id"):
        facts = region.execute("SELECT label, value FROM facts WHERE place = ?", (row["id"],)).fetchall()
        places[row["name"]] = {**dict(row), "category": row["kind"], "Town": row["town"], **dict(map(tuple, facts))}
    return places


def _in(places: dict, town: str, *categories: str) -> list[str]:
    return [place["name"] for place in places.values() if place["category"] in categories and place["town"] == town]


def _links(names) -> str:
    """``[[A]] · [[B]]``: dots, which are no words, keep a page short for who reads it as text."""
    return " · ".join(f"[[{name}]]" for name in names)


def _facts(place: dict, *labels: str) -> tuple:
    return tuple((label, place[label]) for label in labels)


def _number(text: str) -> int:
    return int(text.split()[0].replace(",", ""))


# --- one kind of article each: lead, infobox, sections, see also -----------------------------------------------------------------

def _region(places: dict) -> tuple:
    people = sum(town[2] for town in TOWNS.values())
    largest = max(TOWNS, key=lambda town: TOWNS[town][2])
    longest = max((place for place in places.values() if place["category"] == "Bridge"), key=lambda place: _number(place["Length"]))
    return (f"{REGION} is a region with {len(TOWNS)} towns and {people:,} inhabitants.",
            (("Area", f"{WIDTH * HEIGHT:,} km²"), ("Population", f"{people:,}"), ("Largest town", largest)),
            (("Geography", f"The [[Silver River]] flows into [[Lake Amber]] in the south. Its longest bridge: "
              f"[[{longest['name']}]]"),
             ("Government", f"The [[Silver Vale Council]] sits in [[{largest}]] and has done so since 1848."),
             ("Transport", "There are four trunk roads. The [[Silver Vale Railway]] has its trains in most towns.")),
            (list_title("Town"), list_title("Museum"), "Lantern Festival"))


def _town(place: dict, places: dict, region: sqlite3.Connection) -> tuple:
    name = place["name"]
    rank = sorted(TOWNS, key=lambda town: -TOWNS[town][2]).index(name) + 1
    where = f"{'north' if place['y'] > HEIGHT / 2 else 'south'}{'east' if place['x'] > WIDTH / 2 else 'west'}"
    sights = _in(places, name, "Museum", "Theater", "Park")[:5]
    routes = [road for road, kind, _, through in ROADS if kind == "trunk" and name in through]
    by_car = {other: find_route(region, place["node"], places[other]["node"], "car").metres for other in TOWNS if other != name}
    next_town = min(by_car, key=by_car.get)
    station = _in(places, name, "Station")
    transport = f"Trunk roads: {_links(routes)} "
    transport += f"· [[{station[0]}]] opened in {places[station[0]]['Opened']}. " if station else f"· {name} has no station. "
    history = f"{name} was founded in {place['Founded']}. [[{name} Library]] opened in {places[f'{name} Library']['Opened']}."
    return (f"{name} is a town in the {where} of [[{REGION}]]. It is number {rank} of {len(TOWNS)} by population.",
            _facts(place, "Population", "Founded", "Area", "Elevation", "Mayor"),
            (("History", history), ("Sights", f"Sights in {name}: {_links(sights)}"),
             ("Transport", f"{transport}The nearest town by car is [[{next_town}]], {kilometres(by_car[next_town])} away.")),
            (list_title("Town"),))


def _water(place: dict, places: dict, region: sqlite3.Connection) -> tuple:
    if place["name"] == "Silver River":
        bridges = [name for name in POINTS if name.endswith("Bridge")]
        return (f"The Silver River is the largest river in [[{REGION}]] and its longest.", _facts(place, "Length"),
                (("Course", f"The river is {place['Length']} long. It comes from the north and ends in [[Lake Amber]] in the south."),
                 ("Bridges", f"From the north to the south: {_links(bridges)}"),
                 ("Floods", "The [[Great Flood of 1893]] was the worst.")), ("River Path", list_title("Bridge")))
    return (f"Lake Amber is the largest lake in [[{REGION}]] and lies in its south.", _facts(place, "Area", "Depth"),
            (("Geography", "The lake lies between [[Lakeview]] and [[Fairhaven]] in a basin. The [[Silver River]] flows into it. "
              f"The lake covers {place['Area']} and is up to {place['Depth']} deep."),
             ("Leisure", "Each spring [[Kite Day]] brings thousands of people to its shore.")), (REGION,))


def _bridge(place: dict, places: dict, region: sqlite3.Connection) -> tuple:
    name = place["name"]
    roads = [road for road, kind, _, through in ROADS if name in through and kind != "footpath"]
    bridges = [other for other in POINTS if other.endswith("Bridge")]
    following = bridges[bridges.index(name) + 1:][:1]
    down = f"Next bridge downstream: [[{following[0]}]]" if following else "The next water downstream: [[Lake Amber]]"
    return (f"{name} is a bridge in [[{REGION}]]. Across the [[Silver River]] it carries {' and '.join(roads)}.",
            _facts(place, "Length", "Opened", "Architect"),
            (("Construction", f"The bridge was designed by [[{place['Architect']}]] and opened in {place['Opened']}. "
              f"It is {place['Length']} long."),
             ("Location", f"The nearest town: [[{place['town']}]] · {down}")), (list_title("Bridge"),))


def _viewpoint(place: dict, places: dict, region: sqlite3.Connection) -> tuple:
    road = place["address"].split(",")[0]
    return (f"{place['name']} is a viewpoint in [[{REGION}]] with a bench.", _facts(place, "Elevation"),
            (("Location", f"It lies on {road}, {place['Elevation']} above the sea. Nearest town: [[{place['town']}]]"),
             ("View", "One sees [[Lake Amber]] on a clear day.")),
            [name for name, other in places.items() if other["category"] == "Viewpoint" and name != place["name"]])


def _building(place: dict) -> str:
    return f"The building was designed by [[{place['Architect']}]] and opened in {place['Opened']}. Its address is {place['address']}."


def _museum(place: dict, places: dict, region: sqlite3.Connection) -> tuple:
    material = place["name"].split()[0]
    return (f"The {place['name']} is a museum in [[{place['town']}]]. It shows [[{material}|{material.lower()}]] in all its forms.",
            _facts(place, "Opened", "Architect", "Exhibits", "Admission"),
            (("Building", _building(place)), ("Collection", f"The museum shows {place['Exhibits']} exhibits made of {material.lower()}."),
             ("Visit", f"It is open {place['hours']}. Admission is {place['Admission']}.")),
            (*(name for name in _in(places, place["town"], "Museum") if name != place["name"]), list_title("Museum")))


def _theater(place: dict, places: dict, region: sqlite3.Connection) -> tuple:
    return (f"The {place['name']} is a theater in [[{place['town']}]] with {place['Seats']} seats.",
            _facts(place, "Opened", "Architect", "Seats"),
            (("Building", _building(place)), ("Stage", f"Plays and concerts are given. It is open {place['hours']}.")),
            (list_title("Theater"),))


def _library(place: dict, places: dict, region: sqlite3.Connection) -> tuple:
    return (f"The {place['name']} is the public library of [[{place['town']}]] and opened in {place['Opened']}.",
            _facts(place, "Opened", "Architect", "Books"),
            (("Building", _building(place)), ("Collection", f"It lends {place['Books']} books. It is open {place['hours']}.")),
            (list_title("Library"),))


def _park(place: dict, places: dict, region: sqlite3.Connection) -> tuple:
    station = min((other for other in places.values() if other["category"] == "Station"), key=lambda other: _apart(place, other))
    away = kilometres(1000 * _apart(place, station))
    return (f"{place['name']} is a park in [[{place['town']}]] with an area of {place['Area']}.", _facts(place, "Opened", "Area"),
            (("History", f"The park was opened in {place['Opened']} on the grounds of an old farm."),
             ("Description", f"It has a pond and a playground. Its hours: {place['hours']}."),
             ("Location", f"The nearest station is [[{station['name']}]], {away} away in a straight line.")),
            (*(name for name in _in(places, place["town"], "Park") if name != place["name"]), list_title("Park")))


def _apart(one: dict, other: dict) -> float:
    return math.dist((one["x"], one["y"]), (other["x"], other["y"]))


def _station(place: dict, places: dict, region: sqlite3.Connection) -> tuple:
    return (f"{place['name']} is a station of the [[Silver Vale Railway]] in [[{place['town']}]] with {place['Platforms']} platforms.",
            _facts(place, "Opened", "Platforms"),
            (("History", f"The station was opened in {place['Opened']}."),
             ("Trains", f"Trains run every hour. The hall is open: {place['hours']}.")),
            (list_title("Station"),))


def _hospital(place: dict, places: dict, region: sqlite3.Connection) -> tuple:
    return (f"{place['name']} is a hospital in [[{place['town']}]] with {place['Beds']} beds.", _facts(place, "Opened", "Beds"),
            (("History", f"It was opened in {place['Opened']}."),
             ("Today", f"It is always open. Its address is {place['address']}.")),
            [name for name, other in places.items() if other["category"] == "Hospital" and name != place["name"]])


def _architect(name: str, places: dict) -> tuple:
    born, died = ARCHITECTS[name]
    works = sorted((place["Opened"], place["name"]) for place in places.values() if place.get("Architect") == name)
    born_in = list(TOWNS)[list(ARCHITECTS).index(name)]
    listed = " · ".join(f"[[{work}]] ({year})" for year, work in works)
    return (f"{name} {'was' if died else 'is'} an architect in [[{REGION}]] with {len(works)} known works.",
            (("Born", str(born)), *((("Died", str(died)),) if died else ()), ("Works", str(len(works)))),
            (("Life", f"{name} was born in [[{born_in}]] in {born}" + (f" and died in {died}." if died else ".")),
             ("Works", f"In the order of their opening: {listed}")), ())


def _road(name: str, kind: str, through: tuple[str, ...], region: sqlite3.Connection) -> tuple:
    metres = region.execute("SELECT sum(metres) FROM roads WHERE name = ?", (name,)).fetchone()[0]
    middle = [stop for stop in through[1:-1] if stop in TOWNS or stop in POINTS and stop != "Three Oaks"]
    length = kilometres(metres)
    ends = f"from [[{through[0]}]] to [[{through[-1]}]] over {length}"
    use = "It is open to cars only." if kind == "trunk" else "It is open to walkers only."
    return (f"{name} is a {'trunk road' if kind == 'trunk' else 'footpath'} in [[{REGION}]]. It leads {ends}.",
            (("Length", length), ("Kind", "Trunk road" if kind == "trunk" else "Footpath")),
            (("Course", f"On its way it passes: {_links(middle)}" if middle else "It passes no other town."), ("Use", use)),
            [road for road, other, _, _ in ROADS if other == kind and road != name])


def _railway(places: dict) -> tuple:
    stations = sorted((place["Opened"], place["name"]) for place in places.values() if place["category"] == "Station")
    (first_year, first), (last_year, last) = stations[0], stations[-1]
    return (f"The Silver Vale Railway is the railway of [[{REGION}]] and opened in {first_year}.",
            (("Opened", first_year), ("Stations", str(len(stations)))),
            (("History", f"The first station, [[{first}]], opened in {first_year}. The last one was [[{last}]] in {last_year}."),
             ("Stations", f"There are {len(stations)} stations. [[Redwood]] and [[Fairhaven]] have none.")), (list_title("Station"),))


def _material(material: str, places: dict) -> tuple:
    what, use, how = MATERIALS_TEXT[material]
    museum = places.get(f"{material} Museum")
    local = (f"The [[{museum['name']}]] in [[{museum['town']}]] shows {museum['Exhibits']} exhibits." if museum
             else f"There is no museum of {material.lower()} in the region.")
    others = list(MATERIALS_TEXT)
    at = others.index(material)
    return (f"{material} is {what}.", (), (("Use", use), ("Making", how), (f"In {REGION}", local)),
            (others[at - 1], others[(at + 1) % len(others)]))
