"""The task templates of the Pocket Arena that need two or three sites; a site is left by the links that it has to another.

The map and the wiki link each place and its article to each other, the back office opens a product in the shop, and the forum's front
page opens the other sites, these two in a new tab.
"""

import functools
from collections.abc import Callable

from wr1_utils.sites import gitlab_seed, map_seed, wikipedia_seed
from wr1_utils.sites.map_seed import NOTABLE, WIKI_ONLY
from wr1_utils.sites.shopping_seed import CATEGORIES, MATERIALS, UNUSED_LOOKS, money, slug_of
from wr1_utils.sites.world import open_database
from wr1_utils.tasks import reddit_templates
from wr1_utils.tasks.reddit_state import seed_forum
from wr1_utils.tasks.shopping_templates import seed_shop
from wr1_utils.tasks.templates import Template, answer, only_changed, state, url

FAVORITES = '[...document.querySelectorAll("tr[data-item]")].map(e => e.dataset.item).join("; ")'
NOTES = '[...document.querySelectorAll("tr[data-item]")].map(e => [...e.cells].map(c => c.innerText).join(" | ")).join("; ")'
PROJECTS = """SELECT name, (SELECT count(*) FROM stars WHERE project = p.id) AS stars FROM projects p
              WHERE visibility = 'Public' GROUP BY name HAVING count(*) = 1 AND name NOT IN (SELECT name FROM projects WHERE id != p.id)"""


@functools.cache
def _records(seed: Callable[[], bytes], query: str) -> tuple[dict, ...]:
    database = open_database(seed())
    found = tuple(dict(row) for row in database.execute(query))
    database.close()
    return found


def _places() -> tuple[dict, ...]:
    """The notable places of the map."""
    query = "SELECT p.*, c.name AS kind FROM places p JOIN categories c ON c.id = p.category ORDER BY p.id"
    return tuple(place for place in _records(map_seed.seed_database, query) if place["kind"] in NOTABLE)


def _article_facts() -> dict[tuple[str, str], str]:
    """(notable place, label) → what the infobox of its article says."""
    query = "SELECT title, label, value FROM infobox JOIN articles ON id = article WHERE place <> '' AND notable"
    return {(row["title"], row["label"]): row["value"] for row in _records(wikipedia_seed.seed_database, query)}


def _town(post: str) -> str:
    """Where the author of the post lives."""
    forum = seed_forum()
    return forum.user(forum.post(post)["author_name"])["bio"].split("Lives in ")[1].rstrip(".")


# --- evaluation records ----------------------------------------------------------------------------------------------------------

def _favorite_added(place: str) -> dict:
    notes = [f"{name} | {text}" for name, text in sorted(map_seed.NOTES.items())]
    return state("map", ("/favorites", FAVORITES, "; ".join([*map_seed.FAVORITES, place])), ("/notes", NOTES, "; ".join(notes)), only_changed(favorites=(0, 1)))


def _commented(post: str, text: str) -> dict:
    return reddit_templates.said(seed_forum(), {"post": post, "text": text})


def _stars(project: str) -> str:
    return str(next(row["stars"] for row in _records(gitlab_seed.seed_database, PROJECTS) if row["name"] == project))


# --- fillings --------------------------------------------------------------------------------------------------------------------

def _article_fillings(rng):
    return [{"place": place, "fact": label} for place, label in _article_facts() if label in WIKI_ONLY]


def _phone_fillings(rng):
    return [{"place": place["name"]} for place in _places() if place["phone"]]


def _place_fillings(rng):
    return [{"place": place["name"]} for place in _places() if place["name"] not in map_seed.FAVORITES]


def _post_fillings(rng):
    return reddit_templates.posts_by_others(seed_forum(), rng)


def _unknown_products(rng):
    return [{"product": f"{look} {material} {noun}"} for look in UNUSED_LOOKS for material in MATERIALS
            for nouns, _, _ in CATEGORIES.values() for noun in nouns]


def _priced_comments(rng):
    return [{"product": rng.choice(seed_shop().products)["name"], **filling} for filling in _post_fillings(rng)]


def _starred_comments(rng):
    projects = [row["name"] for row in _records(gitlab_seed.seed_database, PROJECTS)]
    return [{"project": rng.choice(projects), **filling} for filling in _post_fillings(rng)]


def _multi(name: str, sites: tuple[str, ...], phrasings: tuple[str, ...], fillings: Callable, evaluation: Callable[[dict], dict],
           train: int, test: int) -> Template:
    return Template(f"multi_{name}", phrasings, fillings, evaluation, train, test, sites=sites,
                    login="map" != sites[0] != "wikipedia")


TEMPLATES = (
    # questions
    _multi("article_fact", ("map", "wikipedia"), ("What does the article on {{place}} say under {{fact}}?",), _article_fillings,
           lambda f: answer(_article_facts()[f["place"], f["fact"]]), 6, 1),
    _multi("phone", ("wikipedia", "map"), ("What is the phone number of {{place}} on the map?",), _phone_fillings,
           lambda f: answer(next(place["phone"] for place in _places() if place["name"] == f["place"])), 5, 1),
    _multi("author_town", ("reddit", "wikipedia"), ('What is the {{fact}} of the town where the author of "{{post}}" lives?',),
           lambda rng: [{"fact": rng.choice(("population", "elevation")), **filling} for filling in _post_fillings(rng)],
           lambda f: answer(_article_facts()[_town(f["post"]), f["fact"].capitalize()]), 5, 1),
    _multi("no_such_product", ("reddit", "shopping"), ("What does {{product}} cost in Pocket Shop?",), _unknown_products,
           lambda f: answer("N/A"), 3, 0),
    # navigation
    _multi("open_article", ("map", "wikipedia"), ("Find {{place}} on the map and open its article.",), _place_fillings,
           lambda f: url("wikipedia", f"/wiki/{wikipedia_seed.slug_of(f['place'])}"), 3, 1),
    _multi("view_in_shop", ("shopping_admin", "shopping"), ("Find {{product}} in the back office and view it in the shop.",),
           lambda rng: [{"product": product["name"]} for product in seed_shop().products if product["enabled"]],
           lambda f: url("shopping", f"/product/{slug_of(f['product'])}"), 5, 1),
    # changes of state
    _multi("favorite", ("wikipedia", "map"), ("Find {{place}} in the wiki and add it to the favorites on the map.",), _place_fillings,
           lambda f: _favorite_added(f["place"]), 5, 1),
    _multi("comment_price", ("reddit", "shopping"), ('Find the price of {{product}} in Pocket Shop and comment it on "{{post}}".',),
           _priced_comments, lambda f: _commented(f["post"], money(seed_shop().product(f["product"])["cents"])), 4, 1),
    _multi("comment_stars", ("reddit", "gitlab"), ('Find the stars of {{project}} in Pocket Git and comment their number on "{{post}}".',),
           _starred_comments, lambda f: _commented(f["post"], _stars(f["project"])), 3, 1),
    # never trained on: what author_town and favorite teach, put together
    _multi("town_favorite", ("reddit", "map"), ('Add the town where the author of "{{post}}" lives to the favorites on Pocket Map.',),
           _post_fillings, lambda f: _favorite_added(_town(f["post"])), 0, 2),
)
