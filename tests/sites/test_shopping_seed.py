"""The seed state is the same everywhere, and such that every question about it has one answer."""

from collections import Counter

from wr1_utils.sites.shopping_seed import CATEGORIES, LOOKS, UNUSED_LOOKS, money, seed_database
from wr1_utils.sites.world import open_database


def rows(query):
    return [tuple(row) for row in open_database(seed_database()).execute(query)]


def test_the_same_seed_gives_the_same_state():
    tables = ("products", "reviews", "customers", "orders", "order_items", "cart", "wishes")
    first = [rows(f"SELECT * FROM {table}") for table in tables]
    seed_database.cache_clear()
    assert first == [rows(f"SELECT * FROM {table}") for table in tables]


def test_names_are_unique_and_no_name_is_part_of_another():
    names = [name for name, in rows("SELECT name FROM products")]
    assert 90 <= len(names) == len(set(names))
    pairs = Counter(tuple(name.split()[:2]) for name in names)
    assert max(pairs.values()) == 1


def test_prices_are_unique_within_a_category():
    for count, distinct in rows("SELECT count(*), count(DISTINCT cents) FROM products GROUP BY category"):
        assert count == distinct
    assert len(rows("SELECT 1 FROM categories")) == len(CATEGORIES) == 8


def test_unused_words_name_no_product():
    assert not set(UNUSED_LOOKS) & set(LOOKS)


def test_each_product_has_one_to_four_reviews_by_different_people():
    for count, authors in rows("SELECT count(r.id), count(DISTINCT author) FROM products p LEFT JOIN reviews r ON r.product = p.id GROUP BY p.id"):
        assert 1 <= count <= 4 and count == authors


def test_money():
    assert [money(cents) for cents in (0, 5, 1250, 123456)] == ["$0.00", "$0.05", "$12.50", "$1,234.56"]
