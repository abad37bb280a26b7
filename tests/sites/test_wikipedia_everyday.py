"""What the short articles say is so on the map: each number, neighbor, rank and closed day is worked out here from the map's tables anew."""

import math
import re

import pytest

from wr1_utils.sites.map_roads import kilometres
from wr1_utils.sites.map_seed import CATEGORIES, NOTABLE
from wr1_utils.sites.map_seed import seed_database as map_database
from wr1_utils.sites.wikipedia_everyday import NEAR, _hours
from wr1_utils.sites.wikipedia_seed import LINK, seed_database
from wr1_utils.sites.world import open_database

WEST_TO_EAST, SOUTH_TO_NORTH = ("west", "east"), ("south", "north")


@pytest.fixture(scope="module")
def places():
    """All places of the map by name, with their category and facts."""
    region = open_database(map_database())
    rows = region.execute("SELECT p.*, c.name AS kind FROM places p JOIN categories c ON c.id = p.category ORDER BY p.id").fetchall()
    return {row["name"]: {**dict(row), "facts": dict(map(tuple, region.execute("SELECT label, value FROM facts WHERE place = ?", (row["id"],))))}
            for row in rows}


@pytest.fixture(scope="module")
def articles(places):
    """Title → (place, lead, section → text as it is written) of each short article."""
    wiki = open_database(seed_database())
    return {row["title"]: (places[row["title"]], row["lead"], dict(map(tuple, wiki.execute("SELECT heading, text FROM sections WHERE article = ?", (row["id"],)))))
            for row in wiki.execute("SELECT * FROM articles WHERE NOT notable ORDER BY id").fetchall()}


def apart(one, other):
    return math.hypot(one["x"] - other["x"], one["y"] - other["y"])


def number_of(text):
    return int(re.match("[0-9,]+", text)[0].replace(",", ""))


def test_each_place_that_is_not_notable_has_a_short_article_and_each_category_its_own_words(articles, places):
    assert list(articles) == [name for name, place in places.items() if place["kind"] not in NOTABLE] and len(articles) == 142
    headings = {}
    for place, _, sections in articles.values():
        headings.setdefault(place["kind"], set()).add(tuple(sections))
    assert set(headings) == set(CATEGORIES) - set(NOTABLE) == set(NEAR) and all(len(found) == 1 for found in headings.values())
    assert len({found for kinds in headings.values() for found in kinds}) == len(headings)


def test_no_two_articles_differ_by_names_and_numbers_alone(articles):
    """Within a category at least a third of the articles have a wording of their own."""
    wordings = {}
    for place, lead, sections in articles.values():
        text = re.sub(r"\[\[[^\]]*\]\]|[0-9.,:]+", "_", " ".join([lead, *sections.values()]).replace(place["name"], "_").replace(place["address"], "_"))
        wordings.setdefault(place["kind"], []).append(text)
    for kind, texts in wordings.items():
        assert len(set(texts)) >= len(texts) / 3, kind


def test_the_lead_names_category_and_town(articles):
    for name, (place, lead, _) in articles.items():
        kind = name.split(" ", 1)[1] if place["kind"] == "Shop" else place["kind"]
        assert f"{name} is a {kind.lower()} in [[{place['town']}]]" in lead


def test_the_location_is_where_the_place_lies(articles, places):
    for name, (place, _, sections) in articles.items():
        text, town = sections["Location"], places[place["town"]]
        assert f"Its address is {place['address']}, {kilometres(1000 * apart(place, town))} " in text
        wind = re.search(r"km (\w+) of where the map marks the town", text)[1]
        east, north = (place["x"] - town["x"]) / apart(place, town), (place["y"] - town["y"]) / apart(place, town)
        for share, (low, high) in ((east, WEST_TO_EAST), (north, SOUTH_TO_NORTH)):       # a wind is named from 22.5 degrees off the other one
            assert (high in wind, low in wind) == (share > math.sin(math.pi / 8), share < -math.sin(math.pi / 8)), name
        distance, nearest = min((apart(place, other), other["name"]) for other in places.values() if other["kind"] == NEAR[place["kind"]])
        assert f"The nearest {NEAR[place['kind']].lower()} is [[{nearest}]], {kilometres(1000 * distance)} away in a straight line." in text


def test_neighbors_have_the_same_street_in_their_addresses(articles, places):
    for name, (place, _, sections) in articles.items():
        street = re.fullmatch(r"[0-9]+ (.*)", place["address"])[1]
        beside = {other for other, its in places.items() if re.fullmatch(rf"[0-9]+ {street}", its["address"])} - {name}
        named = set(re.findall(r"\[\[(.*?)\]\]", sections["Location"].partition("On the same street")[2]))
        assert named <= beside and len(named) == min(3, len(beside)), name


@pytest.mark.parametrize("kind, label, heading", [("School", "Students", "History"), ("Cinema", "Screens", "Screens"), ("Hotel", "Rooms", "Rooms"),
                                                  ("Supermarket", "Parking", "Parking")])
def test_ranks(articles, kind, label, heading):
    order = sorted((number_of(place["facts"][label]), name) for name, (place, _, _) in articles.items() if place["kind"] == kind)[::-1]
    for rank, (_, name) in enumerate(order, start=1):
        place, lead, sections = articles[name]
        assert f"number {rank} of {len(order)} by " in sections[heading] and place["facts"][label] in lead + sections[heading]


def test_what_is_said_of_the_others_of_its_kind(articles):
    def linked(text):
        return set(re.findall(r"\[\[(.*?)\]\]", text))

    def alike(place, *columns):
        return {name for name, (other, _, _) in articles.items() if other["kind"] == place["kind"] and name != place["name"] and
                all({**other, **other["facts"]}[column] == {**place, **place["facts"]}[column] for column in columns)}

    for name, (place, _, sections) in articles.items():
        text, facts = next(iter(sections.values())), place["facts"]
        if place["kind"] == "School":
            older = sum(its["facts"].get("Founded", "9999") < facts["Founded"] for its, _, _ in articles.values())
            assert text.startswith(f"The school was founded in {facts['Founded']}. {older or 'No'} ")
        elif place["kind"] == "Hotel":
            assert linked(text) == alike(place, "Stars", "town") and ("No other" in text) == (not linked(text))
        elif place["kind"] == "Pharmacy":
            assert linked(text) == alike(place, "town") and ("only" in text) == (not linked(text))
        elif place["kind"] == "Restaurant":
            others = alike(place, "Cuisine")
            assert linked(text) <= others and len(linked(text)) == min(3, len(others)) and f"It serves {facts['Cuisine'].lower()}." in text
            assert ("One can sit outside." in text, "There are no seats outside." in text) == (facts["Outdoor seating"] == "yes", facts["Outdoor seating"] == "no")
        elif place["kind"] == "Cafe":
            assert ("One can sit inside and outside" in text, "there is no internet" in text) == (facts["Outdoor seating"] == "yes", facts["Internet"] == "no")
            assert linked(text) == {min((apart(articles[other][0], place), other) for other in alike(place))[1]}
        elif place["kind"] == "Shop":
            noun = name.split(" ", 1)[1]
            assert linked(text) == {other for other in alike(place) if other.endswith(f" {noun}")} and len(linked(text)) == 4


@pytest.mark.parametrize("hours, words", [
    ("Always open", "It is always open."), ("Daily 7:00-22:00", "It is open Daily 7:00-22:00."),
    ("Mon-Sat 8:00-20:00", "It is open Mon-Sat 8:00-20:00. It is closed on Sunday."),
    ("Tue-Sat 10:00-17:00", "It is open Tue-Sat 10:00-17:00. It is closed on Monday and Sunday."),
    ("Mon-Fri 8:30-18:00, Sat 9:00-12:00", "It is open Mon-Fri 8:30-18:00, Sat 9:00-12:00. It is closed on Sunday."),
    ("Fri-Sun 13:00-0:00", "It is open Fri-Sun 13:00-0:00.")])
def test_hours_in_words(articles, hours, words):
    assert _hours(hours) == words
    texts = [next(iter(sections.values())) for place, _, sections in articles.values() if place["hours"] == hours]
    assert texts and all(text.endswith(f" {words}") for text in texts)


def test_links_lead_to_articles(articles):
    titles = {row["title"] for row in open_database(seed_database()).execute("SELECT title FROM articles")}
    for _, lead, sections in articles.values():
        assert {name for text in (lead, *sections.values()) for name, _ in LINK.findall(text)} <= titles
