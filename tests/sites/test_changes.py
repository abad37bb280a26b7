"""What has changed in a world is counted row by row, whoever changed it and on whatever page."""

import sqlite3

import pytest

from wr1_utils.sites.changes import PATH, as_text, changed_rows
from wr1_utils.sites.server import SITES
from wr1_utils.sites.shopping_seed import slug_of

SCHEMA = """CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, unread INTEGER); CREATE TABLE names (name TEXT);
            CREATE TABLE votes (item INTEGER, user INTEGER, value INTEGER, PRIMARY KEY (item, user)) WITHOUT ROWID; INSERT INTO votes VALUES (1, 1, 1), (1, 2, 1);
            CREATE TABLE sessions (token TEXT); CREATE VIEW all_names AS SELECT name FROM items;
            INSERT INTO items VALUES (1, 'mug', 1), (2, 'bowl', 1); INSERT INTO names VALUES ('mug'), ('mug')"""


@pytest.fixture
def database():
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.executescript(SCHEMA)
    yield database
    database.close()


@pytest.mark.parametrize("change, wanted", [
    ("SELECT 1", {}),
    ("INSERT INTO items VALUES (3, 'desk', 1)", {"items": (0, 1)}),
    ("DELETE FROM items", {"items": (2, 0)}),
    ("UPDATE items SET name = 'lamp' WHERE id = 1", {"items": (1, 1, "name")}),
    ("UPDATE votes SET value = -1 WHERE user = 2", {"votes": (1, 1, "value")}),
    ("DELETE FROM items WHERE id = 1; INSERT INTO items VALUES (3, 'mug', 1)", {"items": (1, 1)}),       # another row, not a changed one
    ("DELETE FROM names WHERE rowid = 2", {"names": (1, 0)}),                  # of two rows that say the same
    ("INSERT INTO names VALUES ('mug')", {"names": (0, 1)}),
    ("UPDATE items SET unread = 0", {}),                                       # reading is no change,
    ("INSERT INTO sessions VALUES ('a')", {}),                                 # nor is logging in
    ("UPDATE items SET name = 'lamp'; DELETE FROM names", {"items": (2, 2, "name"), "names": (2, 0)}),
])
def test_rows_gone_and_new(database, change, wanted):
    seed = database.serialize()
    database.executescript(change)
    assert changed_rows(database, seed) == wanted


def test_as_text():
    assert as_text({"orders": (0, 1), "cart": (5, 0)}) == "cart -5 +0; orders -0 +1" and as_text({}) == "nothing"
    assert as_text({"users": (2, 1, "status", "bio")}) == "users -2 +1 (bio, status)"


@pytest.mark.parametrize("site", SITES)
def test_every_site_says_what_has_changed_and_looking_around_changes_nothing(visitor, site):
    someone = visitor(site)
    someone("/"), someone("/search", q="silk")
    assert '<p id="changes">nothing</p>' in someone(PATH).text


def test_the_shop_and_its_office_see_each_other_and_another_world_nothing(visitor):
    someone = visitor("shopping")
    product = someone.value("SELECT name FROM products")
    someone(f"/product/{slug_of(product)}/review", {"stars": "4", "text": "Fine."})
    for site in ("shopping", "shopping_admin"):
        assert '<p id="changes">all_reviews -0 +1</p>' in someone(PATH, site=site).text
    assert ">nothing<" in visitor("shopping", worlds=someone.worlds)(PATH).text


def test_a_change_on_another_site_is_seen_from_every_site(visitor):
    someone = visitor("shopping")
    someone("/place/elmton/favorite", {}, site="map")
    assert '<p id="changes">favorites -0 +1</p>' in someone(PATH, site="map").text
    for site in sorted(set(SITES) - {"map"}):
        assert '<p id="changes">map.favorites -0 +1</p>' in someone(PATH, site=site).text
