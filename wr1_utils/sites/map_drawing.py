"""Pictures of the site `map`: what of the region lies in a rectangle, in pixels, for an inline SVG.

Names stand in the picture as they do in the tiles of a real map: for the eye, not as text of the page.
"""

import math
import sqlite3

from wr1_utils.sites.map_seed import LAKE, RIVER

ZOOMS = {1: 70.0, 2: 28.0, 3: 9.0, 4: 3.2, 5: 1.4}          # zoom → km from the left edge to the right
ACROSS, UP = 560, 362                                       # pixels of a picture
_ROADS_SHOWN = {1: ("trunk",), 2: ("local", "trunk")}       # from zoom 3 on all kinds
_PINS_SHOWN = {1: 1, 2: 4, 3: 11}                           # the last category (they stand in order) that has pins; from zoom 4 on all
LINKS = 10                                                  # pins that are links, so that a page stays small


def draw(database: sqlite3.Connection, x: float, y: float, wide: float, chosen: int | None = None, nodes: tuple[int, ...] = (),
         links: bool = False) -> dict:
    """The picture, `wide` km across, around a point of the plane: roads, water, pins with names, the place `chosen`, the way
    through `nodes`. With `links` some pins lead to the pages of their places."""
    detail = next((level for level in ZOOMS if ZOOMS[level] <= wide), max(ZOOMS))
    scale, high = ACROSS / wide, wide * UP / ACROSS

    def pixel(point_x: float, point_y: float) -> tuple[float, float]:
        return round((point_x - x) * scale + ACROSS / 2, 1), round((y - point_y) * scale + UP / 2, 1)

    def path(points) -> str:
        return "M" + "L".join(f"{px} {py}" for px, py in (pixel(*point) for point in points))

    at = {row["id"]: (row["x"], row["y"]) for row in database.execute("SELECT * FROM nodes")}
    roads: dict[str, list[str]] = {"footpath": [], "street": [], "local": [], "trunk": []}
    longest: dict[str, tuple] = {}                          # road → its longest piece in sight
    for row in database.execute("SELECT * FROM roads ORDER BY id"):
        a, b = at[row["a"]], at[row["b"]]
        away = (max(a[0], b[0]) < x - wide / 2 or min(a[0], b[0]) > x + wide / 2 or
                max(a[1], b[1]) < y - high / 2 or min(a[1], b[1]) > y + high / 2)
        if away or row["kind"] not in _ROADS_SHOWN.get(detail, roads):
            continue
        roads[row["kind"]].append(path((a, b)))
        if detail > 3 or row["kind"] in ("local", "trunk"):
            longest[row["name"]] = max(longest.get(row["name"], (0,)), (row["metres"], a, b))
    return {
        "across": ACROSS, "up": UP, "roads": {kind: "".join(pieces) for kind, pieces in roads.items()}, "river": path(RIVER),
        "river_width": max(3, round(0.06 * scale, 1)), "lake": (*pixel(*LAKE[:2]), round(LAKE[2] * scale, 1), round(LAKE[3] * scale, 1)),
        "way": path(at[node] for node in nodes) if nodes else "", "ends": [pixel(*at[node]) for node in (*nodes[:1], *nodes[-1:])],
        "road_names": [_road_name(name, pixel(*a), pixel(*b)) for name, (_, a, b) in longest.items()],
        "pins": _pins(database, pixel, detail, chosen, links),
    }


def draw_way(database: sqlite3.Connection, nodes: tuple[int, ...]) -> dict:
    """The picture of a whole way."""
    at = {row["id"]: (row["x"], row["y"]) for row in database.execute("SELECT * FROM nodes")}
    xs, ys = [at[node][0] for node in nodes], [at[node][1] for node in nodes]
    wide = max(1.2 * (max(xs) - min(xs)), 1.2 * (max(ys) - min(ys)) * ACROSS / UP, ZOOMS[max(ZOOMS)])
    return draw(database, (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2, wide, nodes=nodes)


def _road_name(name: str, a: tuple[float, float], b: tuple[float, float]) -> dict:
    angle = math.degrees(math.atan2(b[1] - a[1], b[0] - a[0]))
    angle = angle - 180 if angle > 90 else angle + 180 if angle < -90 else angle
    return {"name": name, "x": round((a[0] + b[0]) / 2, 1), "y": round((a[1] + b[1]) / 2, 1), "angle": round(angle)}


def _pins(database: sqlite3.Connection, pixel, detail: int, chosen: int | None, links: bool) -> list[dict]:
    """The pins in sight; a name is left out where it would cover another, the rarer category goes first."""
    pins, boxes = [], []
    for row in database.execute("SELECT * FROM places WHERE category <= ? OR id = ? ORDER BY id != ?, category, id",
                                (_PINS_SHOWN.get(detail, 99), chosen, chosen)):
        px, py = pixel(row["x"], row["y"])
        if not (8 < px < ACROSS - 8 and 8 < py < UP - 8):
            continue
        left = px + 7 if px + 7 + 6.3 * len(row["name"]) < ACROSS else px - 7 - 6.3 * len(row["name"])
        box = (min(left - 5, px - 6), py - 8, max(left + 6.3 * len(row["name"]) + 5, px + 6), py + 8)
        free = not any(box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in boxes)
        if free:
            boxes.append(box)
        pins.append({"name": row["name"], "slug": row["slug"], "x": px, "y": py, "left": round(left, 1), "named": free,
                     "chosen": row["id"] == chosen, "link": links and free and len(boxes) <= LINKS})
    return sorted(pins, key=lambda pin: pin["link"])        # the links lie on top
