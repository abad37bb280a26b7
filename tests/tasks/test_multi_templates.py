"""The tasks over several sites: well-formed, nothing of the test set in the training set, and what they want stands on the sites' pages."""

import html
import re

import pytest
from starlette.testclient import TestClient

from wr1_utils.sites.server import SESSIONS, WORLD_HEADER, make_app, seeds
from wr1_utils.sites.world import Worlds
from wr1_utils.tasks.multi_templates import TEMPLATES
from wr1_utils.tasks.reddit_templates import TEMPLATES as REDDIT
from wr1_utils.tasks.shopping_templates import TEMPLATES as SHOPPING
from wr1_utils.tasks.templates import make_tasks

TRAIN, TEST = make_tasks(TEMPLATES, 0)


@pytest.fixture(scope="module")
def read():
    """Gives the HTML of a site's page in a fresh world, as its main user sees it."""
    worlds = Worlds(seeds())
    app, world = make_app(worlds), worlds.create().key

    def get(site, path, **query):
        client = TestClient(app, base_url=f"http://{site}.localhost", cookies=dict([SESSIONS[site]] if site in SESSIONS else []),
                            headers={WORLD_HEADER: world})
        response = client.get(path, params=query or None)
        assert response.status_code == 200, path
        return html.unescape(response.text)
    return get


def tasks_of(*templates):
    return [task for task in TRAIN + TEST if task.intent_template_id.removeprefix("multi_") in templates]


def fact(page, label):
    return re.search(rf"<th>{label}</th><td[^>]*>([^<]*)<", page)[1]


def city(read, post):
    """Where the author of the post lives, by the pages of the forum."""
    address = re.search(rf'<a href="(/f/\w+/\d+)">{re.escape(post)}</a>', read("reddit", "/search", q=post))[1]
    author = re.search(r'by <a\s+href="/user/(\w+)"', read("reddit", address))[1]
    return re.search(r"Lives in (\w+)\.", read("reddit", f"/user/{author}"))[1]


def test_sizes_and_splits():
    assert (len(TRAIN), len(TEST)) == (39, 10) and len(TEMPLATES) >= 5
    unseen = [task for task in TEST if task.split == "unseen_template"]
    assert len(unseen) == 2 and {task.intent_template_id for task in unseen} == {"multi_town_favorite"}
    for task in TRAIN + TEST:
        assert len(task.sites) >= 2 and task.start_url == f"__{task.sites[0].upper()}__/"
        assert task.require_login == any(site in SESSIONS for site in task.sites)
    kinds = [kind for task in TRAIN + TEST for kind in task.eval["eval_types"]]
    assert set(kinds) == {"string_match", "url_match", "program_html"}


def test_no_intent_and_no_filling_is_in_both_sets():
    every = sum(make_tasks((*SHOPPING, *REDDIT, *TEMPLATES), 0), [])
    assert len({task.intent for task in every}) == len(every)

    def filled(tasks):
        return {(task.intent_template_id, frozenset(map(str, task.instantiation_dict.values()))) for task in tasks}

    assert not filled(TRAIN) & filled(TEST)


def test_another_seed_gives_other_tasks():
    assert {task.intent for task in TRAIN} != {task.intent for task in make_tasks(TEMPLATES, 1)[0]}
    assert make_tasks(TEMPLATES, 0) == (TRAIN, TEST)


def test_every_intent_is_filled_and_short():
    for task in TRAIN + TEST:
        assert "{{" not in task.intent and len(task.intent) <= 120, task.intent
        for value in task.instantiation_dict.values():
            assert str(value) in task.intent


def test_the_sites_lead_to_each_other_where_a_task_needs_it(read):
    """Each step over the border of a site is a link on the page where the expert looks for it."""
    for task in tasks_of("article_fact", "open_article"):
        place = task.instantiation_dict["place"]
        path = re.search(rf'href="(/place/[^"]+)">{place}<', read("map", "/search", q=place))[1]
        assert re.search(rf'//wikipedia.localhost/wiki/{place.replace(" ", "_")}"[^>]*>Article<', read("map", path))
    for task in tasks_of("phone", "favorite"):
        assert ">Show on map</a>" in read("wikipedia", f"/wiki/{task.instantiation_dict['place'].replace(' ', '_')}")
    for task in tasks_of("view_in_shop"):
        path = task.eval["reference_url"].removeprefix("__SHOPPING__/product/")
        assert ">View in shop</a>" in read("shopping_admin", f"/products/{path}")
        assert f"<h1>{task.instantiation_dict['product']}</h1>" in read("shopping", f"/product/{path}")


def test_answers_stand_on_the_pages(read):
    for task in tasks_of("article_fact", "phone", "author_town", "no_such_product"):
        filling, wanted = task.instantiation_dict, task.eval["reference_answers"]["exact_match"]
        if "product" in filling:
            assert wanted == "N/A" and "No products found." in read("shopping", "/search", q=filling["product"])
        elif task.sites == ("wikipedia", "map"):
            assert fact(read("map", f"/place/{filling['place'].lower().replace(' ', '-')}"), "Phone") == wanted
        else:
            title = filling.get("place") or city(read, filling["post"])
            assert fact(read("wikipedia", f"/wiki/{title.replace(' ', '_')}"), filling["fact"].capitalize()) == wanted


def test_what_the_map_does_not_say_must_be_read_in_the_article(read):
    for task in tasks_of("article_fact"):
        place, wanted = task.instantiation_dict["place"], task.eval["reference_answers"]["exact_match"]
        assert wanted not in read("map", f"/place/{place.lower().replace(' ', '-')}")


def test_changes_want_what_the_pages_say(read):
    for task in tasks_of("comment_price", "comment_stars"):
        post, filling = task.eval["program_html"][0]["required_contents"]["verbatim"], task.instantiation_dict
        if "product" in filling:
            found = re.search(rf">{filling['product']}</a></td>\s*<td[^>]*>([^<]+)<", read("shopping", "/search", q=filling["product"]))[1]
        else:
            found = re.findall(rf"/ {filling['project']}</a></td>\s*<td[^>]*>[^<]*</td>\s*<td[^>]*>(\d+)<",
                               read("gitlab", "/search", search=filling["project"]))
            assert len(found) == 1
            found = found[0]
        assert post.endswith(f"| {found}")
    for task in tasks_of("town_favorite"):
        assert task.eval["program_html"][0]["required_contents"]["verbatim"].endswith(f"; {city(read, task.instantiation_dict['post'])}")
    for task in tasks_of("favorite", "town_favorite"):
        for check in task.eval["program_html"]:
            site, path = re.fullmatch("__([A-Z]+)__(/.*)", check["url"]).groups()
            assert read(site.lower(), path)
