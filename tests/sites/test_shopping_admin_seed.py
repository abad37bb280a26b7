"""What the back office shows is the same everywhere, means something in its reports, and leaves alone what the shop shows."""

from wr1_utils.sites.shopping_seed import ADMIN, CUSTOMER, STATUSES, TODAY, seed_database
from wr1_utils.sites.world import open_database


def rows(query):
    return [tuple(row) for row in open_database(seed_database()).execute(query)]


def test_the_same_seed_gives_the_same_state():
    tables = ("phone_orders", "all_orders", "all_reviews", "order_comments", "searches", "admins", "admin_sessions")
    first = [rows(f"SELECT * FROM {table}") for table in tables]
    seed_database.cache_clear()
    assert first == [rows(f"SELECT * FROM {table}") for table in tables]


def test_a_world_stays_small():
    assert len(seed_database()) < 600_000


def test_the_shop_has_its_own_orders_only():
    assert rows("SELECT count(*), min(customer), max(customer), max(id) FROM orders") == [(24, CUSTOMER, CUSTOMER, 1024)]
    assert rows(f"SELECT count(*) FROM phone_orders WHERE customer = {CUSTOMER}") == [(0,)]
    assert rows("SELECT 1 FROM orders JOIN phone_orders USING (id)") == []


def test_all_orders_are_of_customers_with_items_before_today():
    (count, first, last), = rows("SELECT count(*), min(date), max(date) FROM all_orders")
    assert count > 130 and first.startswith("2025-01") and last < TODAY
    assert rows("SELECT 1 FROM all_orders o WHERE NOT EXISTS (SELECT 1 FROM order_items WHERE order_id = o.id)") == []
    assert {status for status, in rows("SELECT DISTINCT status FROM all_orders")} <= {*STATUSES, "Received"}
    assert len(rows("SELECT DISTINCT substr(date, 1, 7) FROM all_orders WHERE status != 'Canceled'")) == 15


def test_the_shop_sees_the_approved_reviews():
    counts = dict(rows("SELECT status, count(*) FROM all_reviews GROUP BY status"))
    assert counts == {"Approved": rows("SELECT count(*) FROM reviews")[0][0], "Pending": 14, "Not approved": 8}


def test_each_review_is_of_the_customer_who_signs_it_and_one_a_product():
    signed = "SELECT count(*) FROM all_reviews JOIN customers c ON c.id = customer WHERE c.name LIKE author || ' %'"
    assert rows(signed) == rows("SELECT count(*) FROM all_reviews")
    assert rows("SELECT 1 FROM all_reviews GROUP BY product, author HAVING count(*) > 1") == []


def test_searches_found_what_they_say():
    assert len(rows("SELECT 1 FROM searches")) > 20 and ("umbrella", 0) in rows("SELECT term, results FROM searches")
    assert rows("SELECT results FROM searches WHERE term = 'wool'") == rows("SELECT count(*) FROM products WHERE name LIKE '%wool%'")
    assert rows("SELECT 1 FROM searches GROUP BY uses HAVING count(*) > 1") == []


def test_every_product_is_enabled_and_there_is_one_admin():
    assert rows("SELECT count(*) FROM products WHERE NOT enabled") == [(0,)]
    assert rows("SELECT username, password FROM admins") == [ADMIN]


def test_every_product_has_an_order_a_review_and_its_stock_in_both_shops(visitor):
    """What is sold out (one product a category) has its stock, 0, too; what is in canceled orders alone is sold 0 times."""
    shop, office = visitor("shopping"), visitor("shopping_admin")
    sold = dict(rows("SELECT product, sum(quantity) FROM order_items i JOIN all_orders o ON o.id = order_id WHERE status != 'Canceled' GROUP BY product"))
    ordered = dict(rows("SELECT product, count(*) FROM order_items i JOIN all_orders o ON o.id = order_id GROUP BY product"))
    products = rows("SELECT id, slug, stock FROM products")
    assert set(ordered) == {product for product, _, _ in products}
    assert sorted(stock for _, _, stock in products)[:9] == [0] * 8 + [12]
    for product, slug, stock in products:
        in_shop, in_office = shop(f"/product/{slug}").text, office(f"/products/{slug}").text
        reviews = rows(f"SELECT author FROM reviews WHERE product = {product}")
        assert f"<th>Stock</th><td>{stock}</td>" in in_shop and f'name="stock" value="{stock}"' in in_office, slug
        assert f"<th>Sold</th><td>{sold.get(product, 0)}</td>" in in_office, slug
        assert reviews and all(f"<td>{author}</td>" in in_shop and f"<td>{author}</td>" in in_office for author, in reviews), slug


def test_orders_that_a_product_was_moved_into_keep_totals_and_prices_near_todays():
    moved = rows("SELECT i.cents, p.cents, options, choice, o.status FROM order_items i JOIN products p ON p.id = i.product "
                 "JOIN all_orders o ON o.id = order_id WHERE i.cents != p.cents")
    assert 0 < len(moved) <= 18 and {status for *_, status in moved} == {"Delivered"}
    assert all(abs(paid - today) <= 400 for paid, today, *_ in moved)
    choices = rows("SELECT options, choice FROM order_items JOIN products p ON p.id = product")
    assert all(choice in options.split("|") for options, choice in choices)
    assert rows("SELECT 1 FROM order_items GROUP BY order_id, product HAVING count(*) > 1") == []
