"""The wiki says what the map says: facts come from one source and stand on the pages of both sites alike."""

import asyncio
import html
import json
import re

import httpx
import pytest

from wr1_utils.sites.map_roads import find_route, kilometres
from wr1_utils.sites.map_seed import NOTABLE, ROADS, TOWNS, WIKI_ONLY
from wr1_utils.sites.map_seed import seed_database as map_database
from wr1_utils.sites.server import WORLD_HEADER, make_app, seeds
from wr1_utils.sites.wikipedia_seed import LINK, LISTS, list_title, seed_database, slug_of
from wr1_utils.sites.world import Worlds, open_database


@pytest.fixture(scope="module")
def wiki():
    return open_database(seed_database())


@pytest.fixture(scope="module")
def region():
    return open_database(map_database())


@pytest.fixture(scope="module")
def visit():
    """Gives the HTML of a site's page."""
    worlds = Worlds(seeds())
    world, app = worlds.create(), make_app(worlds)

    async def send(site, path):
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=f"http://{site}.localhost",
                                     headers={WORLD_HEADER: world.key}) as client:
            return (await client.get(path)).text

    return lambda site, path: asyncio.run(send(site, path))


@pytest.fixture(scope="module")
def read(visit):
    """Gives the fact tables of pages: label → value."""
    def facts(site, path):
        text = visit(site, path)
        return {label: html.unescape(value) for label, value in re.findall(r"<tr><th>([^<]*)</th><td[^>]*>([^<]*)</td></tr>", text)}

    return facts


def every_place(region):
    return [dict(row) for row in region.execute("SELECT p.*, c.name AS kind FROM places p JOIN categories c ON c.id = p.category ORDER BY p.id")]


def notable(region):
    return [place for place in every_place(region) if place["kind"] in NOTABLE]


def infobox_of(wiki, title):
    rows = wiki.execute("SELECT label, value FROM infobox JOIN articles a ON a.id = article WHERE title = ?", (title,))
    return dict(map(tuple, rows))


def words_of(wiki, title):
    number, lead = wiki.execute("SELECT id, lead FROM articles WHERE title = ?", (title,)).fetchone()
    texts = [lead, *(row["text"] for row in wiki.execute("SELECT text FROM sections WHERE article = ?", (number,)))]
    return LINK.sub(lambda found: found[2] or found[1], " ".join(texts))


def test_the_same_seed_gives_the_same_state():
    def state():
        return [tuple(row) for table in ("articles", "infobox", "sections", "see_also")
                for row in open_database(seed_database()).execute(f"SELECT * FROM {table}")]

    first = state()
    seed_database.cache_clear()
    assert first == state() and len(seed_database()) < 300_000


def test_every_place_has_an_article_and_each_leads_to_the_other(visit, region):
    for place in every_place(region):
        on_map, article = f"/place/{place['slug']}", f"/wiki/{slug_of(place['name'])}"
        assert f'href="//wikipedia.localhost{article}" target="_blank"' in visit("map", on_map), place["name"]
        page = visit("wikipedia", article)
        assert f"<h1>{place['name']}</h1>" in page and f'href="//map.localhost{on_map}" target="_blank"' in page, place["name"]


def test_pages_of_both_sites_show_the_same_facts(read, region):
    shared = set()
    for place in every_place(region):
        on_map, on_wiki = read("map", f"/place/{place['slug']}"), read("wikipedia", f"/wiki/{slug_of(place['name'])}")
        for label in set(on_map) & set(on_wiki):
            assert on_map[label] == on_wiki[label], (place["name"], label)
            shared.add(label)
        assert set(on_wiki) - set(on_map) <= set(WIKI_ONLY), place["name"]
        assert set(on_map) - set(on_wiki) <= {"Address", "Hours", "Phone"}, place["name"]
    assert {"Population", "Founded", "Architect", "Length", "Opened", "Coordinates", "Area", "Seats", "Admission"} <= shared


def test_every_fact_of_the_map_stands_in_the_infobox_and_no_other(wiki, region):
    for place in every_place(region):
        facts = dict(map(tuple, region.execute("SELECT label, value FROM facts WHERE place = ?", (place["id"],))))
        infobox = infobox_of(wiki, place["name"])
        if place["kind"] not in NOTABLE:
            facts |= {"Address": place["address"], "Hours": place["hours"]}
        assert infobox.pop("Coordinates") and infobox == facts, place["name"]


def test_numbers_in_the_text_are_facts_of_the_place(wiki, region):
    """Years, hours, addresses and sums of a place's own article are those of the map."""
    for place in notable(region):
        text = words_of(wiki, place["name"])
        facts = [row["value"] for row in region.execute("SELECT value FROM facts WHERE place = ?", (place["id"],))]
        if place["kind"] in ("Museum", "Library", "Theater", "Bridge", "Park", "Station", "Hospital"):
            assert all(value in text for value in facts), place["name"]
        if place["kind"] in ("Museum", "Library", "Theater"):
            assert place["address"] in text and place["hours"] in text, place["name"]


def test_distances_and_ranks_of_towns(wiki, region):
    node = {row["name"]: row["node"] for row in region.execute("SELECT name, node FROM places")}
    by_population = sorted(TOWNS, key=lambda town: -TOWNS[town][2])
    for town in TOWNS:
        text = words_of(wiki, town)
        metres, nearest = min((find_route(region, node[town], node[other], "car").metres, other) for other in TOWNS if other != town)
        assert f"The nearest town by car is {nearest}, {kilometres(metres)} away." in text
        assert f"number {by_population.index(town) + 1} of 10" in text


def test_works_of_architects_and_lengths_of_roads(wiki, region):
    works = region.execute("SELECT p.name, a.value AS architect, o.value AS year FROM places p JOIN facts a ON a.place = p.id AND "
                           "a.label = 'Architect' JOIN facts o ON o.place = p.id AND o.label = 'Opened'").fetchall()
    for work in works:
        assert f"{work['name']} ({work['year']})" in words_of(wiki, work["architect"])
    for name, kind, _, _ in ROADS:
        if kind != "local":
            metres = region.execute("SELECT sum(metres) FROM roads WHERE name = ?", (name,)).fetchone()[0]
            assert infobox_of(wiki, name)["Length"] == kilometres(metres)


def test_lists_hold_all_places_of_their_category_with_their_facts(wiki, region):
    for category, columns in LISTS.items():
        listing = json.loads(wiki.execute("SELECT listing FROM articles WHERE title = ?", (list_title(category),)).fetchone()[0])
        assert listing["columns"] == [category, *columns]
        places = {place["name"]: place for place in notable(region) if place["kind"] == category}
        assert {row[0] for row in listing["rows"]} == set(places)
        for name, *cells in listing["rows"]:
            facts = dict(map(tuple, region.execute("SELECT label, value FROM facts WHERE place = ?", (places[name]["id"],))))
            assert cells == [{"Town": places[name]["town"], **facts}[column] for column in columns]


def test_there_are_265_articles_all_short(wiki):
    titles = [row["title"] for row in wiki.execute("SELECT title FROM articles")]
    assert len(titles) == len(set(titles)) == len({slug_of(title).lower() for title in titles}) == 265
    for title in titles:
        assert len(words_of(wiki, title)) < 600, title


def test_short_articles_come_after_all_others_and_change_neither_lists_nor_changes(wiki, region):
    short = [row["title"] for row in wiki.execute("SELECT title FROM articles WHERE NOT notable ORDER BY id")]
    assert set(short) == {place["name"] for place in every_place(region)} - {place["name"] for place in notable(region)}
    assert [row["title"] for row in wiki.execute("SELECT title FROM articles ORDER BY id")][-len(short):] == short
    listed = {row[0] for listing, in wiki.execute("SELECT listing FROM articles WHERE listing <> ''") for row in json.loads(listing)["rows"]}
    assert not set(short) & (listed | {title for title, in wiki.execute("SELECT title FROM changes")})
