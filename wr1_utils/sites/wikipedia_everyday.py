"""The short articles of the site `wikipedia`: on the schools, shops, cafes and all other places of the map that stand out less.

All that an article says is read from the map's data or follows from it: ranks, distances, neighbors, the days on which a place is closed.
"""

import math
from collections.abc import Iterable

from wr1_utils.sites.map_roads import kilometres
from wr1_utils.sites.map_seed import FACTS, NOTABLE

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
WINDS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
NEAR = {                                  # category → that of which an article names the nearest place
    "School": "Library", "Cinema": "Restaurant", "Hotel": "Station", "Supermarket": "Park", "Pharmacy": "Hospital",
    "Restaurant": "Hotel", "Cafe": "Museum", "Shop": "Cafe",
}
GOODS = {"Bakery": "bread and cakes", "Bookshop": "books and maps", "Flower Shop": "flowers and pots", "Bike Shop": "bicycles and spare parts",
         "Toy Shop": "toys and games", "Tea Shop": "tea and teapots"}
NEIGHBORS = 3                             # named at most


def everyday_articles(places: dict[str, dict]) -> Iterable[tuple[dict, tuple]]:
    """Each place that is not of a NOTABLE category, in the map's order, with lead, infobox, sections and see also of its article.

    `places` are all places of the map by name: columns of its table, the name of the category, and the facts under their labels.
    """
    for place in places.values():
        if place["category"] not in NOTABLE:
            yield place, _article(place, places)


def _article(place: dict, places: dict[str, dict]) -> tuple:
    alike = sorted((other for other in places.values() if other["category"] == place["category"]), key=lambda other: (other["town"], other["name"]))
    lead, heading, text = _WRITERS[place["category"]](place, alike)
    facts = tuple((label, place[label]) for label, _, _ in FACTS.get(place["category"], ()))
    at = alike.index(place)               # a ring, so that each of these articles is linked
    return (lead, (*facts, ("Address", place["address"]), ("Hours", place["hours"])),
            ((heading, f"{text} {_hours(place['hours'])}"), ("Location", _location(place, places))),
            (alike[at - 1]["name"], alike[(at + 1) % len(alike)]["name"]))


# --- what follows from the map's data --------------------------------------------------------------------------------------------

def _apart(one: dict, other: dict) -> float:
    return math.dist((one["x"], one["y"]), (other["x"], other["y"]))


def _street(place: dict) -> tuple[str, str]:
    """``27 Oak Lane, Elmton 20110`` gives the street and the town."""
    return place["address"].split(",")[0].split(" ", 1)[1], place["town"]


def _location(place: dict, places: dict[str, dict]) -> str:
    town = places[place["town"]]
    wind = WINDS[round(math.degrees(math.atan2(place["x"] - town["x"], place["y"] - town["y"])) / 45) % 8]
    nearest = min((other for other in places.values() if other["category"] == NEAR[place["category"]]), key=lambda other: _apart(place, other))
    text = f"Its address is {place['address']}, {kilometres(1000 * _apart(place, town))} {wind} of where the map marks the town. " \
           f"The nearest {nearest['category'].lower()} is [[{nearest['name']}]], {kilometres(1000 * _apart(place, nearest))} away in a straight line."
    beside = [other for other in places.values() if other is not place and other["category"] != "Town" and _street(other) == _street(place)]
    beside = sorted(beside, key=lambda other: _apart(place, other))[:NEIGHBORS]
    return f"{text} On the same street: {_links(beside)}" if beside else text


def _hours(hours: str) -> str:
    """The opening hours in words, with the days without any where these are one or two."""
    if hours == "Always open":
        return "It is always open."
    short = [day[:3] for day in DAYS]
    ranges = [short if days == "Daily" else short[short.index(days[:3]):short.index(days[-3:]) + 1] for days in
              (part.split(" ")[0] for part in hours.split(", "))]
    closed = [day for day in DAYS if not any(day[:3] in days for days in ranges)]
    return f"It is open {hours}." + (f" It is closed on {' and '.join(closed)}." if 1 <= len(closed) <= 2 else "")


def _links(places: list[dict]) -> str:
    return " · ".join(f"[[{place['name']}]]" for place in places)


def _rank(place: dict, alike: list[dict], label: str) -> str:
    """``number 2 of 14``, the largest first."""
    def amount(one: dict) -> int:
        return int(one[label].split()[0].replace(",", ""))
    return f"number {sum(amount(other) > amount(place) for other in alike) + 1} of {len(alike)}"


# --- one kind of place each: lead, heading and text of the first section ---------------------------------------------------------

def _school(place: dict, alike: list[dict]) -> tuple[str, str, str]:
    older = [other for other in alike if other["Founded"] < place["Founded"]]
    age = f"{len(older)} of the {len(alike)} schools of the region {'is' if len(older) == 1 else 'are'} older" if older else "No school of the region is older"
    return (f"{place['name']} is a school in [[{place['town']}]] with {place['Students']} students.", "History",
            f"The school was founded in {place['Founded']}. {age}; it is {_rank(place, alike, 'Students')} by students.")


def _cinema(place: dict, alike: list[dict]) -> tuple[str, str, str]:
    one = place["Screens"] == "1"
    return (f"The {place['name']} is a cinema in [[{place['town']}]].", "Screens",
            f"Films are shown on {place['Screens']} screen{'' if one else 's'}. It is {_rank(place, alike, 'Screens')} by screens.")


def _hotel(place: dict, alike: list[dict]) -> tuple[str, str, str]:
    equal = [other for other in alike if other["Stars"] == place["Stars"] and other["town"] == place["town"] and other is not place]
    also = f"As many stars in the same town: {_links(equal)}." if equal else f"No other hotel in the town has {place['Stars']} stars."
    return (f"The {place['name']} is a hotel in [[{place['town']}]] with {place['Stars']} stars.", "Rooms",
            f"It has {place['Rooms']} rooms and is {_rank(place, alike, 'Rooms')} by rooms. {also}")


def _supermarket(place: dict, alike: list[dict]) -> tuple[str, str, str]:
    return (f"{place['name']} is a supermarket in [[{place['town']}]].", "Parking",
            f"The car park has {place['Parking']}. It is {_rank(place, alike, 'Parking')} by that.")


def _pharmacy(place: dict, alike: list[dict]) -> tuple[str, str, str]:
    others = [other for other in alike if other["town"] == place["town"] and other is not place]
    also = f"Other pharmacies in the town: {_links(others)}." if others else "It is the only pharmacy in the town."
    return f"{place['name']} is a pharmacy in [[{place['town']}]].", "Service", f"Medicine is sold, also on prescription. {also}"


def _restaurant(place: dict, alike: list[dict]) -> tuple[str, str, str]:
    cuisine = place["Cuisine"].lower()
    others = [other for other in alike if other["Cuisine"] == place["Cuisine"] and other is not place][:NEIGHBORS]
    also = f"So do {_links(others)}." if len(others) > 1 else f"So does {_links(others)}." if others else "No other restaurant of the region does."
    seats = "One can sit outside." if place["Outdoor seating"] == "yes" else "There are no seats outside."
    return f"The {place['name']} is a restaurant in [[{place['town']}]].", "Kitchen", f"It serves {cuisine}. {also} {seats}"


def _cafe(place: dict, alike: list[dict]) -> tuple[str, str, str]:
    seats = "One can sit inside and outside" if place["Outdoor seating"] == "yes" else "All seats are inside"
    net = "there is internet for guests" if place["Internet"] == "yes" else "there is no internet"
    near = min((other for other in alike if other is not place), key=lambda other: _apart(place, other))
    return f"The {place['name']} is a cafe in [[{place['town']}]].", "Guests", f"{seats}, and {net}. The nearest other cafe is [[{near['name']}]]."


def _shop(place: dict, alike: list[dict]) -> tuple[str, str, str]:
    noun = place["name"].split(" ", 1)[1]
    others = [other for other in alike if other["name"].endswith(f" {noun}") and other is not place]
    return (f"{place['name']} is a {noun.lower()} in [[{place['town']}]].", "Goods",
            f"It sells {GOODS[noun]}. The others of its kind in the region: {_links(others)}.")


_WRITERS = {"School": _school, "Cinema": _cinema, "Hotel": _hotel, "Supermarket": _supermarket, "Pharmacy": _pharmacy,
            "Restaurant": _restaurant, "Cafe": _cafe, "Shop": _shop}
