"""The site `map`: search, places, directions on the road graph, what is nearby, coordinates, favorites and notes of an invented region.

There is no login: favorites and notes belong to the world. A name that is not that of one place is answered with suggestions.
"""

import difflib
import math
import re
import sqlite3
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from wr1_utils.sites.map_drawing import ACROSS, UP, ZOOMS, draw, draw_way
from wr1_utils.sites.map_roads import MODES, duration, find_route, kilometres
from wr1_utils.sites.map_seed import (HEIGHT, KM_PER_LATITUDE, KM_PER_LONGITUDE, REGION, SOUTH, TOWNS, WEST, WIDTH, WIKI_ONLY, plane,
                                      position)
from wr1_utils.sites.pages import asked, go, make_page, number, one, post, read_form, rows, slice_rows, templates, too_long

RADII = (1, 2, 5, 10, 20)                 # km around a place
SUGGESTIONS = 6
_PLACES = "SELECT p.*, c.name AS category_name, c.plural, c.slug AS category_slug FROM places p JOIN categories c ON c.id = p.category"
_EDGES = (SOUTH, round(SOUTH + HEIGHT / KM_PER_LATITUDE, 1)), (WEST, round(WEST + WIDTH / KM_PER_LONGITUDE, 1))

templates.filters.update(kilometres=kilometres, duration=duration, degrees=lambda value: f"{value:.4f}")


# --- what every page needs -------------------------------------------------------------------------------------------------------

def _page(request: Request, template: str, title: str, status: int = 200, error: str = "", **content) -> Response:
    return make_page(request, f"map/{template}", title, status, error, search=asked(request, "q"), **content)


def _degrees(text: str, low: float, high: float) -> float | None:
    """`text` as a number from `low` to `high`, or None."""
    return float(text) if re.fullmatch(r"-?[0-9]{1,3}(\.[0-9]{1,9})?", text) and low <= float(text) <= high else None


def _find(request: Request, text: str) -> tuple[sqlite3.Row | None, list[str]]:
    """The one place that has this name or address, or whose name alone holds all its words; else None and names to choose from."""
    low = text.lower()
    found = one(request, f"{_PLACES} WHERE lower(p.name) = ? OR lower(p.name || ', ' || p.town) = ? OR lower(p.address) = ? "
                         "OR lower(substr(p.address, 1, length(p.address) - 6)) = ? ORDER BY lower(p.name) != ?, p.id", *[low] * 5)
    if found or not low:
        return found, []
    names = _names_with(request, low)
    if len(names) == 1:
        return one(request, f"{_PLACES} WHERE p.name = ?", names[0]), []
    every = {row["name"].lower(): row["name"] for row in rows(request, "SELECT name FROM places ORDER BY id")}
    return None, (names or [every[name] for name in difflib.get_close_matches(low, every, SUGGESTIONS, 0.5)])[:SUGGESTIONS]


def _names_with(request: Request, text: str) -> list[str]:
    """Names that hold all words; first those that begin with the text."""
    words = text.lower().split()
    where = " AND ".join("instr(lower(name), ?)" for _ in words) or "false"
    found = rows(request, f"SELECT name FROM places WHERE {where} ORDER BY instr(lower(name), ?) != 1, category, name",
                 *words, text.lower())
    return [row["name"] for row in found]


def _unknown(text: str, names: list[str]) -> str:
    several = names and all(word in names[0].lower() for word in text.lower().split())
    return f'There are several places with "{text}" in their name.' if several else f'No place is called "{text}".'


def _place_of(request: Request) -> sqlite3.Row:
    place = one(request, f"{_PLACES} WHERE p.slug = ?", request.path_params["slug"])
    if place is None:
        raise HTTPException(404)
    return place


# --- looking around --------------------------------------------------------------------------------------------------------------

async def _home(request: Request) -> Response:
    zoom = number(asked(request, "zoom"), 1, max(ZOOMS)) or 1
    latitude, longitude = (_degrees(asked(request, field), *edges) for field, edges in zip(("lat", "lon"), _EDGES))
    x, y = plane(latitude, longitude) if latitude is not None and longitude is not None else (WIDTH / 2, HEIGHT / 2)

    def link(zoom: int, east: float = 0, north: float = 0) -> str:
        step = ZOOMS[zoom] / 2
        there = position(min(max(x + east * step, 0), WIDTH), min(max(y + north * step * UP / ACROSS, 0), HEIGHT))
        return "/?" + urlencode({"zoom": zoom, "lat": f"{there[0]:.4f}", "lon": f"{there[1]:.4f}"})

    moves = {"Zoom in": link(zoom + 1) if zoom < max(ZOOMS) else "", "Zoom out": link(zoom - 1) if zoom > 1 else "",
             "North": link(zoom, north=1), "South": link(zoom, north=-1), "West": link(zoom, -1), "East": link(zoom, 1)}
    return _page(request, "home.html", REGION, picture=draw(request.state.db, x, y, ZOOMS[zoom], links=True), moves=moves, zoom=zoom)


async def _search(request: Request) -> Response:
    text = asked(request, "q").lower()
    if not text:
        return _page(request, "results.html", "Search", error="Type a name, a category or an address.", count=0, pages=1, suggestions=[])
    words = text.split()
    where = " AND ".join("instr(lower(p.name || ' ' || c.name || ' ' || c.plural || ' ' || p.address), ?)" for _ in words)
    found = rows(request, f"{_PLACES} WHERE {where} ORDER BY lower(p.name) != ?, instr(lower(p.name), ?) != 1, "
                          "instr(lower(p.address), ?) != 1, p.category, p.name", *words, text, text, text)
    suggestions = [] if found else _find(request, text)[1]
    return _page(request, "results.html", f"Results for {asked(request, 'q')}", suggestions=suggestions, **slice_rows(request, found))


async def _suggest(request: Request) -> Response:
    return JSONResponse(_names_with(request, asked(request, "q"))[:SUGGESTIONS], headers={"Cache-Control": "no-store"})


async def _categories(request: Request) -> Response:
    return _page(request, "categories.html", "Categories", categories=rows(request, "SELECT * FROM categories ORDER BY plural"))


async def _category(request: Request) -> Response:
    category = one(request, "SELECT * FROM categories WHERE slug = ?", request.path_params["slug"])
    if category is None:
        raise HTTPException(404)
    town = asked(request, "town")
    town = town if town in TOWNS else ""
    found = rows(request, f"{_PLACES} WHERE p.category = ? AND ? IN ('', p.town) ORDER BY p.name", category["id"], town)
    return _page(request, "category.html", category["plural"], towns=sorted(TOWNS), town=town, **slice_rows(request, found))


async def _nearby(request: Request) -> Response:
    text, slug = asked(request, "place"), asked(request, "category")
    radius = number(asked(request, "km"), 1, max(RADII)) or 2
    content = {"categories": rows(request, "SELECT * FROM categories ORDER BY plural"), "category": slug, "radius": radius, "radii": RADII,
               "text": text, "place": None, "suggestions": []}
    if "place" not in request.query_params:
        return _page(request, "nearby.html", "Nearby", **content)
    place, content["suggestions"] = _find(request, text)
    if place is None:
        error = _unknown(text, content["suggestions"]) if text else "Near must not be empty."
        return _page(request, "nearby.html", "Nearby", 400, error, **content)
    others = rows(request, f"{_PLACES} WHERE p.id != ? AND ? IN ('', c.slug)", place["id"], slug)
    within = [pair for pair in _by_distance(others, place["x"], place["y"]) if pair[0] <= radius]
    return _page(request, "nearby.html", "Nearby", **{**content, "place": place}, **slice_rows(request, within))


def _by_distance(places: list[sqlite3.Row], x: float, y: float) -> list[tuple[float, sqlite3.Row]]:
    """Each place with its distance from a point in km, the nearest first."""
    return sorted(((math.dist((row["x"], row["y"]), (x, y)), row) for row in places), key=lambda pair: (pair[0], pair[1]["name"]))


async def _lookup(request: Request) -> Response:
    texts = {field: asked(request, field) for field in ("lat", "lon")}
    if not set(texts) & set(request.query_params):
        return _page(request, "lookup.html", "Coordinates", texts=texts, edges=_EDGES, found=[])
    values = []
    for label, field, edges in zip(("Latitude", "Longitude"), texts, _EDGES):
        values.append(_degrees(texts[field], *edges))
        if values[-1] is None:
            error = f"{label} must be a number from {edges[0]:.1f} to {edges[1]:.1f}."
            return _page(request, "lookup.html", "Coordinates", 400, error, texts=texts, edges=_EDGES, found=[])
    point = plane(*values)
    return _page(request, "lookup.html", "Coordinates", texts=texts, edges=_EDGES, found=_by_distance(rows(request, _PLACES), *point)[:5],
                 picture=draw(request.state.db, *point, ZOOMS[4]))


# --- one place -------------------------------------------------------------------------------------------------------------------

async def _place(request: Request) -> Response:
    place = _place_of(request)
    zoom = number(asked(request, "zoom"), 1, max(ZOOMS)) or 4
    facts = rows(request, "SELECT * FROM facts WHERE place = ? ORDER BY label", place["id"])
    note = one(request, "SELECT text FROM notes WHERE place = ?", place["id"])
    port = f":{request.url.port}" if request.url.port else ""
    article = f"//wikipedia.localhost{port}/wiki/{place['name'].replace(' ', '_')}"
    return _page(request, "place.html", place["name"], place=place, facts=[fact for fact in facts if fact["label"] not in WIKI_ONLY],
                 note=note["text"] if note else "", favorite=one(request, "SELECT * FROM favorites WHERE place = ?", place["id"]),
                 article=article, zoom=zoom, zooms=ZOOMS, picture=draw(request.state.db, place["x"], place["y"], ZOOMS[zoom], place["id"]))


async def _share(request: Request) -> Response:
    place = _place_of(request)
    return _page(request, "share.html", f"Share {place['name']}", place=place, base=f"{request.url.scheme}://{request.url.netloc}")


async def _short(request: Request) -> Response:
    place = one(request, "SELECT slug FROM places WHERE id = ?", number(request.path_params["number"], 1, 999_999))
    if place is None:
        raise HTTPException(404)
    return go(f"/place/{place['slug']}")


async def _note(request: Request) -> Response:
    place, text = _place_of(request), (await read_form(request)).get("note", "")
    if text:
        rows(request, "INSERT INTO notes VALUES (?,?) ON CONFLICT (place) DO UPDATE SET text = excluded.text", place["id"], text)
    else:
        rows(request, "DELETE FROM notes WHERE place = ?", place["id"])
    return go(f"/place/{place['slug']}", "Your note was saved." if text else "There is no note now.")


async def _notes(request: Request) -> Response:
    found = rows(request, "SELECT n.text, p.name, p.slug FROM notes n JOIN places p ON p.id = n.place ORDER BY p.name")
    return _page(request, "notes.html", "Notes", **slice_rows(request, found))


async def _favorites(request: Request) -> Response:
    found = rows(request, "SELECT f.id, p.name, p.slug, p.town FROM favorites f JOIN places p ON p.id = f.place ORDER BY f.id")
    home = one(request, "SELECT p.name, p.slug, p.town FROM homes h JOIN places p ON p.id = h.place")
    return _page(request, "favorites.html", "Favorites", home=home, **slice_rows(request, found))


async def _home_set(request: Request) -> Response:
    place = _place_of(request)
    rows(request, "DELETE FROM homes")
    rows(request, "INSERT INTO homes VALUES (?)", place["id"])
    return go(f"/place/{place['slug']}", f"{place['name']} is your home now.")


async def _favorites_add(request: Request) -> Response:
    place = _place_of(request)
    rows(request, "INSERT OR IGNORE INTO favorites (place) VALUES (?)", place["id"])
    return go(f"/place/{place['slug']}", f"Added {place['name']} to favorites.")


async def _favorites_remove(request: Request) -> Response:
    item = number((await read_form(request)).get("item", ""), 1, 999_999)
    rows(request, "DELETE FROM favorites WHERE id = ?", item)
    return go("/favorites", "The favorite was removed.")


# --- directions ------------------------------------------------------------------------------------------------------------------

async def _directions(request: Request) -> Response:
    texts = {field: asked(request, field) for field in ("from", "to")}
    mode = asked(request, "mode")
    mode = mode if mode in MODES else "car"
    if "swap" in request.query_params:
        return go("/directions?" + urlencode({"from": texts["to"], "to": texts["from"], "mode": mode}))
    content = {"texts": texts, "modes": MODES, "mode": mode, "route": None, "suggestions": []}
    if not (texts["from"] and texts["to"]):
        half_empty = len({"from", "to"} & set(request.query_params)) == 2
        error = f"{'To' if texts['from'] else 'From'} must not be empty." if half_empty else ""
        return _page(request, "directions.html", "Directions", 400 if error else 200, error, **content)
    ends = []
    for field, text in texts.items():
        place, names = _find(request, text)
        if place is None:
            suggestions = [(name, "/directions?" + urlencode({**texts, field: name, "mode": mode})) for name in names]
            return _page(request, "directions.html", "Directions", 400, _unknown(text, names), **{**content, "suggestions": suggestions})
        ends.append(place)
    route = find_route(request.state.db, ends[0]["node"], ends[1]["node"], mode)
    error = "From and To are the same place." if ends[0]["id"] == ends[1]["id"] else "" if route else f"There is no way by {mode}."
    if error:
        return _page(request, "directions.html", "Directions", 400, error, **content)
    names = {"from": ends[0]["name"], "to": ends[1]["name"]}
    if names != texts:                    # one way has one address, however its ends were typed
        return go("/directions?" + urlencode({**names, "mode": mode}))
    return _page(request, "directions.html", "Directions", **{**content, "route": route}, picture=draw_way(request.state.db, route.nodes))


async def _missing(request: Request, error: Exception) -> Response:
    return _page(request, "missing.html", "Page not found", 404)


def make_app() -> Starlette:
    """The site as an ASGI app; each request brings its world's database in ``request.state.db``."""
    return Starlette(exception_handlers={404: _missing, 405: _missing, 413: too_long}, routes=[
        Route("/", _home), Route("/search", _search), Route("/suggest", _suggest), Route("/categories", _categories),
        Route("/category/{slug}", _category), Route("/nearby", _nearby), Route("/lookup", _lookup), Route("/directions", _directions),
        Route("/place/{slug}", _place), post("/place/{slug}/note", _note), post("/place/{slug}/favorite", _favorites_add),
        post("/place/{slug}/home", _home_set),
        Route("/share/{slug}", _share), Route("/p/{number}", _short), Route("/notes", _notes), Route("/favorites", _favorites),
        post("/favorites/remove", _favorites_remove),
    ])
