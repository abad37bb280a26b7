"""The tasks of the sites `map` and `wikipedia`: well-formed, none in both sets, and what they want is what the pages say."""

import html
import re
from collections import Counter

import pytest
from starlette.testclient import TestClient

from wr1_utils.sites.map_seed import CATEGORIES, NOTABLE
from wr1_utils.sites.server import WORLD_HEADER, make_app, seeds
from wr1_utils.sites.world import Worlds
from wr1_utils.tasks.map_templates import TEMPLATES, seed_land
from wr1_utils.tasks.templates import make_tasks

TRAIN, TEST = make_tasks(TEMPLATES, 0)
UNSEEN = {"map_first_road", "wiki_born", "map_open_nearest", "map_favorite_nearest", "map_note_time"}


def of(*templates):
    found = [task for task in TRAIN + TEST if task.intent_template_id in templates]
    return pytest.mark.parametrize("task", found, ids=[task.task_id for task in found])


# --- well-formed -----------------------------------------------------------------------------------------------------------------

def test_sizes_splits_and_kinds():
    assert (len(TRAIN), len(TEST)) == (102, 26)
    assert {task.split for task in TRAIN} == {"train"}
    assert {task.intent_template_id for task in TEST if task.split == "unseen_template"} == UNSEEN
    assert not {task.intent_template_id for task in TRAIN} & UNSEEN
    assert Counter(task.split for task in TEST) == {"seen_template": 20, "unseen_template": 6}
    for tasks, string, html_, url in ((TRAIN, 48, 41, 30), (TEST, 12, 10, 8)):
        kinds = Counter(kind for task in tasks for kind in task.eval["eval_types"])
        assert kinds == {"string_match": string, "program_html": html_, "url_match": url}
        impossible = [task for task in tasks if task.eval["reference_answers"] == {"exact_match": "N/A"}]
        assert 0.03 <= len(impossible) / len(tasks) <= 0.06


def test_no_intent_and_no_filling_is_in_both_sets():
    def filled(tasks):
        return {(task.intent_template_id, frozenset(map(str, task.instantiation_dict.values()))) for task in tasks}

    assert not {task.intent for task in TRAIN} & {task.intent for task in TEST} and not filled(TRAIN) & filled(TEST)
    assert len({task.intent for task in TRAIN + TEST}) == len(TRAIN + TEST)


def test_tasks_ask_about_notable_articles_alone():
    land = seed_land()
    notable = {CATEGORIES[category][0] for category in NOTABLE}
    assert len(land.articles) == 123 and {land.places[name]["category"] for name in land.articles if name in land.places} == notable


def test_another_seed_gives_other_tasks():
    assert {task.intent for task in TRAIN} != {task.intent for task in make_tasks(TEMPLATES, 1)[0]}


def test_names_sites_and_intents():
    for template in TEMPLATES:
        site = {"map": "map", "wiki": "wikipedia"}[template.name.split("_")[0]]
        assert template.sites[0] == site and set(template.sites) <= {"map", "wikipedia"} and not template.login
        assert 1 <= len(template.phrasings) <= 3
    for task in TRAIN + TEST:
        assert "{{" not in task.intent and len(task.intent) <= 100, task.intent
        assert task.start_url == f"__{task.sites[0].upper()}__/"


def test_places_are_counted_to_different_numbers():
    assert len({wanted(task) for task in TRAIN if task.intent_template_id == "map_count"}) > 2


# --- what the pages say ----------------------------------------------------------------------------------------------------------

@pytest.fixture
def client():
    """A browser without scripts in a world of its own; called with a path of the map, or with an address."""
    worlds = Worlds(seeds())
    return TestClient(make_app(worlds), base_url="http://map.localhost", headers={WORLD_HEADER: worlds.create().key})


def text_of(markup):
    return html.unescape(re.sub(r"<[^>]+>", " ", markup)).strip()


def rows(page):
    """The cells of the page's table rows, without header rows."""
    assert page.status_code == 200
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in re.findall(r"<tr.*?</tr>", page.text, re.DOTALL)
             if not row.count("<th") > 1]
    return [[text_of(cell) for cell in cells] for cells in found]


def place_page(client, name):
    """Found as a visitor finds it."""
    results = client.get("/search", params={"q": name})
    return client.get(re.search(rf'href="(/place/[^"]*)">{name}</a>', results.text)[1])


def article(client, title):
    page = client.get("http://wikipedia.localhost/search", params={"q": title})
    assert f"<h1>{title}</h1>" in page.text
    return page


def way(client, filling):
    return client.get("/directions", params={"from": filling["first"], "to": filling["second"], "mode": filling["mode"]})


def nearby(client, filling, radius=2):
    categories = client.get("/nearby").text
    slug = re.search(rf'<option value="([^"]*)">{filling["category"]}</option>', categories)[1]
    return rows(client.get("/nearby", params={"place": filling["place"], "category": slug, "km": radius}))


def wanted(task):
    return task.eval["reference_answers"]["exact_match"]


def page_at(client, task):
    return client.get(re.sub("__([A-Z]+)__", lambda site: f"http://{site[1].lower()}.localhost", task.eval["reference_url"]))


@of("map_fact", "map_no_fact")
def test_facts_of_places(client, task):
    filling, facts = task.instantiation_dict, dict(rows(place_page(client, task.instantiation_dict["place"])))
    assert facts.get(filling["fact"].capitalize(), "N/A") == wanted(task)
    assert (wanted(task) == "N/A") == (task.intent_template_id == "map_no_fact")


@of("map_way", "map_first_road")
def test_facts_of_ways(client, task):
    found = rows(way(client, task.instantiation_dict))
    fact = task.instantiation_dict.get("fact")
    assert wanted(task) == (dict(found)[fact.capitalize()] if fact else found[2][0].removeprefix("Start on "))


@of("map_nearest", "map_open_nearest")
def test_the_nearest_place(client, task):
    first, *others = nearby(client, task.instantiation_dict)
    assert not others or float(first[2].split()[0]) < float(others[0][2].split()[0])
    if task.intent_template_id == "map_nearest":
        assert first[0] == wanted(task)
    else:
        assert f"<h1>{first[0]}</h1>" in page_at(client, task).text


@of("map_count")
def test_the_number_of_places(client, task):
    assert str(len(nearby(client, task.instantiation_dict, task.instantiation_dict["radius"].split()[0]))) == wanted(task)


@of("map_at")
def test_the_place_at_coordinates(client, task):
    filling = task.instantiation_dict
    first, second = rows(client.get("/lookup", params={"lat": filling["latitude"], "lon": filling["longitude"]}))[:2]
    assert first[0] == wanted(task) and float(first[2].split()[0]) <= 0.01 and float(second[2].split()[0]) >= 0.04


@of("wiki_fact", "wiki_born")
def test_facts_of_articles(client, task):
    filling = task.instantiation_dict
    if task.intent_template_id == "wiki_fact":
        assert dict(rows(article(client, filling["article"])))[filling["fact"].capitalize()] == wanted(task)
    else:
        architect = dict(rows(article(client, filling["place"])))["Architect"]
        assert dict(rows(article(client, architect)))["Born"] == wanted(task)


@of("wiki_number", "wiki_open_sorted")
def test_sorted_lists(client, task):
    filling = task.instantiation_dict
    query = {"sort": filling["column"], "order": filling["order"].removesuffix("wards")}
    page = client.get(f"http://wikipedia.localhost/wiki/{filling['list'].replace(' ', '_')}", params=query)
    assert f"Sorted by {filling['column']}, {filling['order']}." in page.text
    if task.intent_template_id == "wiki_number":
        assert rows(page)[filling["number"] - 1][0] == wanted(task)
    else:
        assert page_at(client, task).text == page.text


@of("wiki_changes")
def test_recent_changes_that_come_when_one_scrolls(client, task):
    title, shown, found = task.instantiation_dict["article"], 0, []
    assert title not in re.sub(r"<[^>]*>", " ", page_at(client, task).text) and "Recent changes" in page_at(client, task).text
    while lines := rows(client.get(f"http://wikipedia.localhost/changes?from={shown}")):
        found, shown = found + lines, shown + len(lines)
    assert [line[1] for line in found if line[0] == title] == [wanted(task)]


@of("map_open_way", "map_open_category", "map_share")
def test_pages_to_open(client, task):
    filling, page = task.instantiation_dict, page_at(client, task)
    assert page.status_code == 200
    if task.intent_template_id == "map_open_way":
        assert [f"Arrive at {filling['second']}", ""] in rows(page)
    elif task.intent_template_id == "map_open_category":
        assert f"<h1>{filling['category']}</h1>" in page.text
        assert rows(page) and all(re.search(rf"\b{filling['town']} [0-9]+$", address) for _, address in rows(page))
    else:
        assert f'value="{wanted(task)}"' in page.text and f"<h1>Share {filling['place']}</h1>" in page.text


# --- changes of state ------------------------------------------------------------------------------------------------------------

def kept(client):
    """What the three checks of a state look at, read without scripts."""
    favorites = re.findall(r'<tr data-item="([^"]*)"', client.get("/favorites").text)
    return ["; ".join(favorites), "; ".join(f"{name}: {text}" for name, text in rows(client.get("/notes"))),
            re.search(r'id="changes">(.*?)<', client.get("/changed-records").text)[1]]


def change(client, task):
    """Does what the task asks for, with values read off the pages."""
    name, filling = task.intent_template_id, task.instantiation_dict
    place = filling.get("place") or filling["second"]
    if name == "map_unfavorite":
        item = re.search(rf'value="([0-9]+)"\s+aria-label="Remove {place}"', client.get("/favorites").text)[1]
        return client.post("/favorites/remove", data={"item": item})
    if name == "map_home":
        return client.post(f"{place_page(client, place).url.path}/home")
    if "favorite" in name:
        place = nearby(client, filling)[0][0] if name == "map_favorite_nearest" else place
        return client.post(f"{place_page(client, place).url.path}/favorite")
    fact = filling.get("fact", "").capitalize()
    text = {"map_note": lambda: filling["text"], "map_remove_note": lambda: "",
            "map_note_fact": lambda: dict(rows(place_page(client, filling["first"])))[fact],
            "map_note_article": lambda: dict(rows(article(client, place)))[fact],
            "map_note_time": lambda: dict(rows(way(client, filling)))["Time"]}[name]()
    return client.post(f"{place_page(client, place).url.path}/note", data={"note": text})


STATES = sorted({task.intent_template_id for task in TRAIN + TEST if task.eval["program_html"]})


@of(*STATES)
def test_the_state_wanted_is_that_after_the_change_and_not_before(client, task):
    checks = task.eval["program_html"]
    assert [check["url"] for check in checks] == ["__MAP__/favorites", "__MAP__/notes", "__MAP__/changed-records"]
    texts = [check["required_contents"]["verbatim"] for check in checks]
    assert kept(client) != texts
    assert change(client, task).status_code == 200
    assert kept(client) == texts
    client.post("/place/milford/home")
    assert kept(client) != texts or task.instantiation_dict["place"] == "Milford"


def test_the_lists_compared_stay_on_one_page():
    assert len(seed_land().favorites) < 10 and len(seed_land().notes) < 10
