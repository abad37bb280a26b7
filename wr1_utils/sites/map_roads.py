"""The quickest way on the road graph of the site `map`, and how distances and times are written."""

import heapq
import math
import sqlite3
from dataclasses import dataclass

MODES = {                                 # value in the URL → label, kinds of road, highest speed in km/h
    "car": ("Car", ("trunk", "local", "street"), 130),
    "bicycle": ("Bicycle", ("local", "street"), 16),
    "foot": ("Foot", ("local", "street", "footpath"), 5),
}
TURN = 6                                  # seconds that a change of road takes


@dataclass(frozen=True)
class Route:
    """A way found: its length, its time, what to do with how many metres each, and the nodes it passes."""
    metres: int
    seconds: float
    steps: tuple[tuple[str, int], ...]
    nodes: tuple[int, ...]


def find_route(database: sqlite3.Connection, start: int, goal: int, mode: str) -> Route | None:
    """The quickest way between two nodes by Dijkstra's algorithm; of equally quick ones always the same. None if there is none."""
    _, kinds, most = MODES[mode]
    marks = ",".join("?" * len(kinds))
    ways: dict[int, list] = {}
    query = f"SELECT a, b, name, metres, kmh FROM roads WHERE kind IN ({marks}) ORDER BY id"
    for a, b, name, metres, kmh in database.execute(query, kinds):
        seconds = metres * 3.6 / (5 if mode == "foot" else min(kmh, most))
        ways.setdefault(a, []).append((b, name, metres, seconds))
        ways.setdefault(b, []).append((a, name, metres, seconds))
    best, came, queue, done = {(start, ""): 0.0}, {}, [(0.0, start, "")], set()      # a state is a node and the road that led to it
    while queue:
        seconds, node, road = heapq.heappop(queue)
        if node == goal:
            break
        if (node, road) in done:
            continue
        done.add((node, road))
        for other, name, metres, more in ways.get(node, ()):
            total = seconds + more + (TURN if road not in ("", name) else 0)
            if total < best.get((other, name), math.inf):
                best[other, name] = total
                came[other, name] = (node, road, metres)
                heapq.heappush(queue, (total, other, name))
    else:
        return None
    legs = []                             # (from, to, road, metres), from the start on
    while node != start:
        previous, before, metres = came[node, road]
        legs.insert(0, (previous, node, road, metres))
        node, road = previous, before
    at = {number: (x, y) for number, x, y in database.execute("SELECT id, x, y FROM nodes")}
    return Route(sum(leg[3] for leg in legs), seconds, tuple(_steps(legs, at)), (start, *(leg[1] for leg in legs)))


def _steps(legs: list, at: dict) -> list[tuple[str, int]]:
    """One step for each stretch of the same road."""
    steps: list[tuple[str, int]] = []
    road = before = None
    for a, b, name, metres in legs:
        heading = math.atan2(at[b][1] - at[a][1], at[b][0] - at[a][0])
        if name == road:
            steps[-1] = (steps[-1][0], steps[-1][1] + metres)
        elif before is None:
            steps.append((f"Start on {name}", metres))
        else:
            turn = math.degrees((heading - before + math.pi) % (2 * math.pi) - math.pi)      # to the left is positive
            word = "Continue on" if abs(turn) < 30 else "Turn left onto" if turn > 0 else "Turn right onto"
            steps.append((f"{word} {name}", metres))
        road, before = name, heading
    return steps


def kilometres(metres: float) -> str:
    """``350`` gives ``0.35 km``, ``12340`` gives ``12.3 km``."""
    return f"{metres / 1000:.2f} km" if metres < 995 else f"{metres / 1000:.1f} km"


def duration(seconds: float) -> str:
    """Whole minutes, at least one: ``24 min``, ``1 h 5 min``."""
    minutes = max(1, math.floor(seconds / 60 + 0.5))
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
