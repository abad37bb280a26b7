"""The task templates of the Pocket Arena's sites `map` and `wikipedia`. A change of state is compared with all favorites and all
notes, and nothing else of the map may have changed."""

import functools
import json
import math
import random
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from wr1_utils.sites import map_seed, wikipedia_seed
from wr1_utils.sites.map_roads import MODES, Route, duration, find_route, kilometres
from wr1_utils.sites.map_seed import WIKI_ONLY
from wr1_utils.sites.wikipedia import CHANGES_AT_ONCE
from wr1_utils.sites.wikipedia_seed import slug_of
from wr1_utils.sites.world import open_database
from wr1_utils.tasks.templates import Template, answer, only_changed, record, state, url

# What a state is compared by: JavaScript that gives it as one line of text.
FAVORITES = '[...document.querySelectorAll("tr[data-item]")].map(e => e.dataset.item).join("; ")'
NOTES = '[...document.querySelectorAll("tr[data-item]")].map(e => e.dataset.item + ": " + e.cells[1].innerText).join("; ")'

TEXTS = ("Meet Ada at noon", "Bring an umbrella", "Too loud", "Good view", "Ask for Ben", "Park behind it", "Go on Sunday", "No dogs",
         "Very quiet", "Closed in winter", "Buy a ticket first", "Use the back door", "Nice garden", "Come early", "Try the soup")
PLACE_FACTS = ("phone", "hours", "address", "coordinates", "parking", "cuisine", "admission")       # asked for on the map
ARTICLE_FACTS = ("architect", "mayor", "population", "elevation", "area", "length", "depth", "admission", "month", "seat")


@dataclass(frozen=True)
class Land:
    """The seed state of both sites, as records."""
    places: dict[str, dict]          # by name; with `category`, `category_slug`, and the `facts` that its page on the map shows
    changes: dict[str, str]          # title → who changed the article, for the recent changes that its page does not show at first
    favorites: tuple[str, ...]       # names
    notes: dict[str, str]            # name → text
    articles: dict[str, dict]        # title → infobox; the notable ones
    lists: dict[str, dict]           # title → columns and rows
    roads: sqlite3.Connection

    def way(self, filling: dict) -> Route:
        start, end = (self.places[filling[field]]["node"] for field in ("first", "second"))
        return find_route(self.roads, start, end, filling["mode"])

    def around(self, place: str, category: str) -> list[tuple[float, str]]:
        """The places of a category with their distances from a place in km, the nearest first."""
        middle = self.places[place]
        return sorted((_apart(other, middle), name) for name, other in self.places.items()
                      if other["category"] == category and name != place)


def _apart(one: dict, other: dict) -> float:
    return math.dist((one["x"], one["y"]), (other["x"], other["y"]))


@functools.cache
def seed_land() -> Land:
    region, wiki = open_database(map_seed.seed_database()), open_database(wikipedia_seed.seed_database())
    places = {}
    for row in region.execute("SELECT p.*, c.plural, c.slug AS category_slug FROM places p JOIN categories c ON c.id = p.category "
                              "ORDER BY p.id"):
        facts = {"Address": row["address"], "Coordinates": f"{row['latitude']:.4f}, {row['longitude']:.4f}", "Hours": row["hours"],
                 "Phone": row["phone"], **dict(map(tuple, region.execute("SELECT label, value FROM facts WHERE place = ?", (row["id"],))))}
        shown = {label: value for label, value in facts.items() if value and label not in WIKI_ONLY}
        places[row["name"]] = {**dict(row), "category": row["plural"], "facts": shown}
    articles, lists = {}, {}
    for row in wiki.execute("SELECT id, title, listing FROM articles WHERE notable ORDER BY id"):
        articles[row["title"]] = dict(map(tuple, wiki.execute("SELECT label, value FROM infobox WHERE article = ?", (row["id"],))))
        if row["listing"]:
            lists[row["title"]] = json.loads(row["listing"])
    changes = dict(map(tuple, wiki.execute("SELECT title, editor FROM changes ORDER BY id LIMIT -1 OFFSET ?", (CHANGES_AT_ONCE,))))
    wiki.close()
    favorites = region.execute("SELECT p.name FROM favorites f JOIN places p ON p.id = f.place ORDER BY f.id")
    notes = region.execute("SELECT p.name, n.text FROM notes n JOIN places p ON p.id = n.place")
    return Land(places, changes, tuple(name for name, in favorites), dict(map(tuple, notes)), articles, lists, region)


# --- evaluation records ----------------------------------------------------------------------------------------------------------

def _kept(favorites: list[str] | tuple[str, ...], notes: dict[str, str], home: str = "") -> dict:
    """These are all favorites and all notes, `home` is the user's home, and nothing else of the map has changed."""
    land = seed_land()
    before, after = set(land.notes.items()), set(notes.items())
    reworded = any(name in land.notes for name, _ in after - before)
    only = only_changed(favorites=(len(set(land.favorites) - set(favorites)), len(set(favorites) - set(land.favorites))),
                        notes=(len(before - after), len(after - before), *["text"] * reworded), homes=(0, int(bool(home))))
    return state("map", ("/favorites", FAVORITES, "; ".join([*[f"Home: {home}"] * bool(home), *favorites])),
                 ("/notes", NOTES, "; ".join(f"{name}: {text}" for name, text in sorted(notes.items()))), only)


def _favored(land: Land, place: str) -> dict:
    return _kept([*land.favorites, place], land.notes)


def _unfavored(land: Land, place: str) -> dict:
    return _kept([name for name in land.favorites if name != place], land.notes)


def _noted(land: Land, place: str, text: str) -> dict:
    return _kept(land.favorites, {**land.notes, place: text})


def _unnoted(land: Land, place: str) -> dict:
    return _kept(land.favorites, {name: text for name, text in land.notes.items() if name != place})


def _both(one: dict, other: dict) -> dict:
    """The record that asks for what each of the two asks for."""
    fields = {field: one[field] or other[field] for field in ("reference_answers", "reference_url", "program_html")}
    return {**record("", **fields), "eval_types": one["eval_types"] + other["eval_types"], "url_note": "GOLD in PRED"}


def _page(land: Land, place: str, page: str = "place") -> dict:
    return url("map", f"/{page}/{land.places[place]['slug']}")


def _way_page(land: Land, filling: dict) -> dict:
    return url("map", "/directions?" + urlencode({"from": filling["first"], "to": filling["second"], "mode": filling["mode"]}))


def _category_page(land: Land, filling: dict) -> dict:
    slug = next(place["category_slug"] for place in land.places.values() if place["category"] == filling["category"])
    return url("map", f"/category/{slug}?town={filling['town']}")


def _sorted_page(land: Land, filling: dict) -> dict:
    query = {"sort": filling["column"], "order": filling["order"].removesuffix("wards")}
    return url("wikipedia", f"/wiki/{slug_of(filling['list'])}?{urlencode(query)}")


def _way_fact(land: Land, filling: dict) -> dict:
    way = land.way(filling)
    return answer(kilometres(way.metres) if filling["fact"] == "distance" else duration(way.seconds))


def _first_road(land: Land, filling: dict) -> dict:
    return answer(land.way(filling).steps[0][0].removeprefix("Start on "))


def _geo_address(land: Land, place: str) -> str:
    return "geo:" + land.places[place]["facts"]["Coordinates"].replace(" ", "")


def _nearest(land: Land, filling: dict) -> str:
    return land.around(filling["place"], filling["category"])[0][1]


def _within(land: Land, filling: dict) -> int:
    radius = int(filling["radius"].removesuffix(" km"))
    return sum(distance <= radius for distance, _ in land.around(filling["place"], filling["category"]))


def _number(land: Land, filling: dict) -> dict:
    rows = land.lists[filling["list"]]["rows"]
    at = land.lists[filling["list"]]["columns"].index(filling["column"])
    return answer(sorted(rows, key=lambda row: _amount(row[at]), reverse=filling["order"] == "downwards")[filling["number"] - 1][0])


def _amount(cell: str) -> int | None:
    found = re.match("[0-9,]+", cell)
    return int(found[0].replace(",", "")) if found else None


# --- fillings --------------------------------------------------------------------------------------------------------------------

def _places(land, rng):
    return [{"place": name} for name in land.places]


def _place_facts(land, rng):
    return [{"fact": fact, "place": name} for name, place in land.places.items() for fact in PLACE_FACTS
            if fact.capitalize() in place["facts"]]


def _missing_facts(land, rng):
    return [{"fact": fact, "place": name} for name, place in land.places.items() for fact in ("phone", "hours")
            if fact.capitalize() not in place["facts"]]


def _article_facts(land, rng):
    return [{"fact": fact, "article": title} for title, infobox in land.articles.items() for fact in ARTICLE_FACTS
            if fact.capitalize() in infobox]


def _ways(land, rng, modes=tuple(MODES)):
    """Random ways; no two have the same ends, in whatever direction."""
    pairs = {frozenset(pair): pair for pair in (rng.sample(list(land.places), 2) for _ in range(80))}
    return [{"first": first, "second": second, "mode": rng.choice(modes)} for first, second in pairs.values()]


def _way_facts(land, rng):
    return [{"fact": rng.choice(("distance", "time")), **way} for way in _ways(land, rng)]


def _ways_to_note(land, rng):
    return [way for way in _ways(land, rng, ("bicycle", "foot")) if way["second"] not in land.notes]


def _categories(land):
    return sorted({place["category"] for place in land.places.values()} - {"Water"})


def _nearests(land, rng):
    """A place and a category of which exactly one place is the nearest, within what the page shows at first."""
    pairs = [(rng.choice(list(land.places)), rng.choice(_categories(land))) for _ in range(200)]
    found = [(place, category, [distance for distance, _ in land.around(place, category)]) for place, category in pairs]
    return [{"category": category, "place": place} for place, category, far in found if far[0] < 1.95 and far[1] > far[0] + 0.02]


def _nearests_to_add(land, rng):
    return [filling for filling in _nearests(land, rng) if _nearest(land, filling) not in land.favorites]


def _radii(land, rng):
    """From one to five places within a radius, each number as often."""
    fillings = [{"category": rng.choice(_categories(land)), "radius": rng.choice(("1 km", "5 km", "10 km")), "place": place}
                for place in land.places]
    counts = [_within(land, filling) for filling in fillings]
    return [filling for count in range(1, 6) for filling in [f for f, n in zip(fillings, counts) if n == count][:6]]


def _points(land, rng):
    """Coordinates with one place at them."""
    alone = [place for place in land.places.values() if sum(_apart(place, other) < 0.05 for other in land.places.values()) == 1]
    return [{"latitude": f"{place['latitude']:.4f}", "longitude": f"{place['longitude']:.4f}"} for place in alone]


def _at(land: Land, filling: dict) -> str:
    wanted = f"{filling['latitude']}, {filling['longitude']}"
    return next(name for name, place in land.places.items() if place["facts"]["Coordinates"] == wanted)


def _categories_in_towns(land, rng):
    return [dict(pair) for pair in sorted({(("category", place["category"]), ("town", place["town"])) for place in land.places.values()
                                           if place["category"] not in ("Towns", "Water")})]


def _sorts(land, rng):
    """Columns of numbers."""
    return [{"list": title, "column": column, "order": order} for title, listing in land.lists.items()
            for at, column in enumerate(listing["columns"]) if all(_amount(row[at]) for row in listing["rows"])
            for order in ("upwards", "downwards")]


def _numbers(land, rng):
    """Rows whose value no other row has."""
    fillings = []
    for sort in _sorts(land, rng):
        listing = land.lists[sort["list"]]
        at = listing["columns"].index(sort["column"])
        values = sorted((_amount(row[at]) for row in listing["rows"]), reverse=sort["order"] == "downwards")
        fillings += [{"number": n, **sort} for n in range(1, 6) if values.count(values[n - 1]) == 1]
    return fillings


def _new_favorites(land, rng):
    return [{"place": name} for name in land.places if name not in land.favorites]


def _new_notes(land, rng):
    return [{"text": rng.choice(TEXTS), "place": name} for name in land.places if name not in land.notes]


def _facts_to_note(land, rng):
    """A fact of one place for the note of another one."""
    known = [filling for filling in _place_facts(land, rng) if filling["fact"] in ("phone", "hours", "address")]
    free = [name for name in land.places if name not in land.notes]
    pairs = [(filling, rng.choice(free)) for filling in rng.sample(known, 80)]
    return [{"fact": known["fact"], "first": known["place"], "second": second} for known, second in pairs if known["place"] != second]


def _article_facts_to_note(land, rng):
    """Facts that the map does not show."""
    return [{"fact": label.lower(), "place": name} for name in land.places if name in land.articles and name not in land.notes
            for label in WIKI_ONLY if label in land.articles[name]]


def _articles_to_add(land, rng):
    return [{"place": name} for name in land.places if name in land.articles and name not in land.favorites]


def _buildings(land, rng):
    return [{"place": title} for title, infobox in land.articles.items() if "Architect" in infobox]


def _map(name: str, phrasings: tuple[str, ...], fillings: Callable[[Land, random.Random], list[dict]],
         evaluation: Callable[[Land, dict], dict], train: int, test: int, sites: tuple[str, ...] = ("map",)) -> Template:
    return Template(name, phrasings, lambda rng: fillings(seed_land(), rng), lambda filling: evaluation(seed_land(), filling), train, test,
                    sites, login=False)


WIKI, MAP_AND_WIKI, WIKI_AND_MAP = ("wikipedia",), ("map", "wikipedia"), ("wikipedia", "map")

TEMPLATES = (
    # questions
    _map("map_fact", ("Tell me the {{fact}} of {{place}}.", "Look up the {{fact}} of {{place}}."), _place_facts,
         lambda land, f: answer(land.places[f["place"]]["facts"][f["fact"].capitalize()]), 7, 1),
    _map("map_no_fact", ("Tell me the {{fact}} of {{place}}.", "Look up the {{fact}} of {{place}}."), _missing_facts,
         lambda land, f: answer("N/A"), 5, 1),
    _map("map_way", ("What is the {{fact}} from {{first}} to {{second}} by {{mode}}?",), _way_facts, _way_fact, 7, 1),
    _map("map_nearest", ("Which of the {{category}} is nearest to {{place}}?",), _nearests,
         lambda land, f: answer(_nearest(land, f)), 5, 1),
    _map("map_count", ("How many {{category}} are within {{radius}} of {{place}}?",), _radii,
         lambda land, f: answer(str(_within(land, f))), 4, 1),
    _map("map_at", ("Which place is at latitude {{latitude}} and longitude {{longitude}}?",), _points,
         lambda land, f: answer(_at(land, f)), 2, 0),
    _map("wiki_fact", ("Find the {{fact}} of {{article}}.", "Give the {{fact}} of {{article}}."), _article_facts,
         lambda land, f: answer(land.articles[f["article"]][f["fact"].capitalize()]), 6, 1, WIKI),
    _map("wiki_number", ("What is number {{number}} of the {{list}} sorted by {{column}}, {{order}}?",), _numbers, _number, 5, 1, WIKI),
    # navigation, with a question or a change of state, too
    _map("map_open_way", ("Show the way from {{first}} to {{second}} by {{mode}}.",), _ways, _way_page, 4, 1),
    _map("map_open_category", ("Show the {{category}} in {{town}}.", "Open the list of {{category}} in {{town}}."), _categories_in_towns,
         _category_page, 5, 1),
    _map("wiki_open_sorted", ("Show the {{list}} sorted by {{column}}, {{order}}.",), _sorts, _sorted_page, 4, 1, WIKI),
    _map("map_share", ("Open the share page of {{place}} and tell me the geo address.",), _places,
         lambda land, f: _both(answer(_geo_address(land, f["place"])), _page(land, f["place"], "share")), 4, 1),
    _map("map_favorite_show", ("Add {{place}} to my favorites and show all favorites.",), _new_favorites,
         lambda land, f: _both(_favored(land, f["place"]), url("map", "/favorites")), 6, 1),
    # needed: Scroll Down (the list goes on when one scrolls it)
    _map("wiki_changes", ("Open the recent changes. Who changed {{article}}?", "Show the recent changes and tell me who changed {{article}}."),
         lambda land, rng: [{"article": title} for title in land.changes],
         lambda land, f: _both(answer(land.changes[f["article"]]), url("wikipedia", "/wiki/Special:RecentChanges")), 3, 1, WIKI),
    # changes of state
    # needed: Right Click (nothing but the menu that it opens sets a home)
    _map("map_home", ("Make {{place}} my home and show my favorites.", "Set {{place}} as my home and show my favorites."), _places,
         lambda land, f: _both(_kept(land.favorites, land.notes, f["place"]), url("map", "/favorites")), 4, 1),
    _map("map_favorite", ("Add {{place}} to my favorites.", "Make {{place}} a favorite."), _new_favorites,
         lambda land, f: _favored(land, f["place"]), 4, 0),
    _map("map_unfavorite", ("Remove {{place}} from my favorites.",), lambda land, rng: [{"place": name} for name in land.favorites],
         lambda land, f: _unfavored(land, f["place"]), 5, 1),
    _map("map_note", ("Write the note {{text}} on {{place}}.", "Add the note {{text}} to {{place}}."), _new_notes,
         lambda land, f: _noted(land, f["place"], f["text"]), 6, 1),
    _map("map_remove_note", ("Remove the note on {{place}}.", "Delete my note on {{place}}."),
         lambda land, rng: [{"place": name} for name in land.notes], lambda land, f: _unnoted(land, f["place"]), 4, 1),
    _map("map_note_fact", ("Note the {{fact}} of {{first}} on {{second}}.",), _facts_to_note,
         lambda land, f: _noted(land, f["second"], land.places[f["first"]]["facts"][f["fact"].capitalize()]), 5, 1),
    _map("map_note_article", ("Read the {{fact}} of {{place}} in its article and note it on the map.",), _article_facts_to_note,
         lambda land, f: _noted(land, f["place"], land.articles[f["place"]][f["fact"].capitalize()]), 4, 1, MAP_AND_WIKI),
    _map("wiki_favorite", ("Add {{place}} to my favorites on the map.",), _articles_to_add,
         lambda land, f: _favored(land, f["place"]), 3, 1, WIKI_AND_MAP),
    # never trained on: skills that other templates teach, put together or turned to something else
    _map("map_first_road", ("On which road does the way from {{first}} to {{second}} by {{mode}} start?",), _ways, _first_road, 0, 2),
    _map("wiki_born", ("When was the architect of {{place}} born?",), _buildings,
         lambda land, f: answer(land.articles[land.articles[f["place"]]["Architect"]]["Born"]), 0, 1, WIKI),
    _map("map_open_nearest", ("Find which of the {{category}} is nearest to {{place}} and open its page.",), _nearests,
         lambda land, f: _page(land, _nearest(land, f)), 0, 1),
    _map("map_favorite_nearest", ("Find which of the {{category}} is nearest to {{place}} and add it to my favorites.",), _nearests_to_add,
         lambda land, f: _favored(land, _nearest(land, f)), 0, 1),
    _map("map_note_time", ("Note the time from {{first}} to {{second}} by {{mode}} on {{second}}.",), _ways_to_note,
         lambda land, f: _noted(land, f["second"], duration(land.way(f).seconds)), 0, 1),
)
