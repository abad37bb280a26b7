"""The back office shows and changes what the shop shows, refuses what its forms must not hold, and never fails by itself."""

import random
import re

import httpx
import pytest

from wr1_utils.sites.shopping import SESSION_COOKIE as SHOP_COOKIE
from wr1_utils.sites.shopping_admin import SESSION_COOKIE
from wr1_utils.sites.shopping_seed import ADMIN, SESSION, TODAY

LAMP = "/products/silver-silk-lamp"
GOOD = {"name": "Silver Silk Lamp", "price": "50.25", "stock": "56", "status": "Enabled"}
ADDRESS = {"name": "Ann Hill", "street": "1 Oak Lane", "city": "Elmton", "zip": "12345"}
PERSON = {**ADDRESS, "email": "ann@shop.test", "phone": "555-0123"}


@pytest.fixture
def visit(visitor):
    return visitor("shopping_admin")


def shop(visit, path, data=None):
    return visit(path, data, site="shopping")


def words(response):
    """The text of a page, without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text))


def table(response):
    """The cells of each row that stands for one thing."""
    lines = re.findall(r'<tr class="item">(.*?)</tr>', response.text, re.DOTALL)
    return [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td>(.*?)</td>", line)] for line in lines]


# --- login -----------------------------------------------------------------------------------------------------------------------

def test_log_in_and_out(visitor):
    visit = visitor("shopping_admin", logged_in=False)
    for path in ("/", "/products", LAMP, "/orders", "/orders/1005", "/orders/1005/invoice", "/customers/1", "/reviews", "/reports/sales"):
        response = visit(path)
        assert response.url.path == "/login" and "Reports" not in response.text
    assert "is wrong" in visit("/login", {"username": ADMIN[0], "password": "guess"}).text
    response = visit("/login?next=/reports/sales", dict(zip(("username", "password"), ADMIN)))
    assert response.url.path == "/reports/sales" and "You are logged in." in response.text
    assert visit("/logout", {}).url.path == "/login"
    assert visit("/").url.path == "/login"


def test_nothing_is_changed_without_a_login(visitor):
    visit = visitor("shopping_admin", logged_in=False)
    for path, data in ((LAMP, {**GOOD, "price": "1.00"}), ("/orders/1024/cancel", {}), ("/reviews/1/delete", {}), ("/customers/1", PERSON)):
        assert visit(path, data).url.path == "/login"
    assert visit.value("SELECT cents FROM products WHERE id = 1") == 5025
    assert visit.value("SELECT status FROM orders WHERE id = 1024") == "On hold"
    assert visit.value("SELECT count(*) FROM all_reviews WHERE id = 1") == 1


def test_log_in_never_leads_to_another_host(visitor):
    for target in ("//evil.example", "http://evil.example", "/\\evil.example"):
        visit = visitor("shopping_admin", logged_in=False)
        response = visit(f"/login?{httpx.QueryParams({'next': target})}", dict(zip(("username", "password"), ADMIN)))
        assert response.url.host == "shopping_admin.localhost" and response.url.path == "/"


def test_a_session_of_the_shop_is_none_of_the_office(visit):
    visit.cookies["shopping_admin"] = {SESSION_COOKIE: SESSION, SHOP_COOKIE: SESSION}
    assert visit("/").url.path == "/login"


# --- products --------------------------------------------------------------------------------------------------------------------

def test_products_are_searched_filtered_and_sorted(visit):
    assert "104 found" in visit("/products").text and len(table(visit("/products"))) == 10
    found = table(visit("/products?q=SILK+lamp"))
    assert found == [["Silver Silk Lamp", "Lighting", "$50.25", "56", "Enabled"]]
    toys = table(visit("/products?category=Toys&sort=-stock"))
    assert {row[1] for row in toys} == {"Toys"}
    assert [int(row[3]) for row in toys] == sorted((int(row[3]) for row in toys), reverse=True)
    names = [row[0] for row in table(visit("/products?sort=-name"))]
    assert names == sorted(names, reverse=True)
    assert "0 found" in visit("/products?status=Disabled").text


def test_a_heading_sorts_and_the_links_keep_the_filter(visit):
    text = visit("/products?category=Toys&q=o&page=2&sort=price").text
    assert "?category=Toys&amp;q=o&amp;sort=-price" in text and "?category=Toys&amp;q=o&amp;sort=name" in text
    assert 'aria-sort="ascending"' in text and 'aria-sort="descending"' not in text
    assert "category=Toys&amp;page=2" in visit("/products?category=Toys").text


@pytest.mark.parametrize("path", ["/products", "/orders", "/customers", "/reviews", "/reports/low-stock", "/reports/search-terms"])
@pytest.mark.parametrize("query", ["page=999", "page=x", "sort=nonsense", "sort=-", "sort=--name", "sort=status", "status=nonsense", "q=",
                                   "stars=x"])
def test_odd_queries_give_the_usual_page(visit, path, query):
    assert "Page 1 of" in visit(f"{path}?{query}").text


@pytest.mark.parametrize("text", ["%", "_", "'; DROP TABLE products; --", '"><script>alert(1)</script>', "\\", "{{7*7}}", "é\u202e",
                                  "x" * 3000])
def test_lists_take_any_text_as_text(visit, text):
    for path in ("/products", "/orders", "/customers", "/reviews"):
        response = visit(f"{path}?{httpx.QueryParams({'q': text})}")
        assert response.status_code == 200 and "0 found" in response.text and "<script>alert" not in response.text


def test_what_is_saved_is_what_the_shop_sells(visit):
    response = visit(LAMP, {"name": 'Silver "Silk" <Lamp> & Co', "price": "$1234.5", "stock": "0", "status": "Enabled"})
    assert response.url.path == LAMP and "The product was saved." in response.text
    page = shop(visit, "/product/silver-silk-lamp")
    assert "Silver &#34;Silk&#34; &lt;Lamp&gt; &amp; Co" in page.text and "$1,234.50" in page.text and "Stock 0" in words(page)
    assert 'value="1234.50"' in visit(LAMP).text


@pytest.mark.parametrize("change, message", [
    *(({"price": price}, "Price must be") for price in ("", "0", "0.00", "-5", "12.345", "1e3", "100000", "٣", "$", ".5")),
    *(({"stock": stock}, "Stock must be") for stock in ("", "-1", "1.5", "many", "10000")),
    *(({"name": name}, "Name must be a name.") for name in (" ", "x" * 61)), ({"name": "modern copper LANTERN"}, "Another product"),
    ({"status": "Hidden"}, "Status must be chosen."), ({"status": ""}, "Status must be chosen."),
])
def test_a_wrong_product_is_refused_as_a_whole(visit, change, message):
    before = tuple(visit.db.execute("SELECT * FROM products WHERE id = 1").fetchone())
    response = visit(LAMP, {**GOOD, "name": "Other", "price": "1.00", **change})
    assert response.status_code == 400 and message in response.text
    assert tuple(visit.db.execute("SELECT * FROM products WHERE id = 1").fetchone()) == before


def test_the_same_checks_stand_in_the_page(visit):
    checks = re.findall(r'name="(price|stock)"[^>]*data-check="([^"]*)"', visit(LAMP).text)
    assert [name for name, _ in checks] == ["price", "stock"]
    assert re.fullmatch(checks[0][1], "12.50") and not re.fullmatch(checks[0][1], "0") and not re.fullmatch(checks[1][1], "-1")


def test_a_disabled_product_is_hidden_in_the_shop(visit):
    slug, name = visit.db.execute(
        "SELECT slug, name FROM products WHERE id = (SELECT product FROM cart ORDER BY id LIMIT 1)").fetchone()
    shop(visit, f"/product/{slug}/wish", {})
    pages = ("/cart", "/wishlist", f"/search?q={name.replace(' ', '+')}")
    assert all(name in shop(visit, path).text for path in pages)
    values = visit.db.execute(
        "SELECT name, printf('%.2f', cents / 100.0) AS price, stock FROM products WHERE slug = ?", (slug,)).fetchone()
    visit(f"/products/{slug}", {**dict(values), "status": "Disabled"})
    assert [row[4] for row in table(visit("/products?status=Disabled"))] == ["Disabled"]
    assert not any(f">{name}" in shop(visit, path).text for path in pages)
    assert shop(visit, f"/product/{slug}").status_code == shop(visit, f"/product/{slug}/cart", {"quantity": "1"}).status_code == 404
    assert "View in shop" not in visit(f"/products/{slug}").text
    visit(f"/products/{slug}", {**dict(values), "status": "Enabled"})
    assert all(name in shop(visit, path).text for path in pages)


def test_the_link_to_the_shop_leads_there(visit):
    assert 'href="http://shopping.localhost/product/silver-silk-lamp" target="_blank"' in visit(LAMP).text


# --- orders ----------------------------------------------------------------------------------------------------------------------

def test_orders_are_searched_filtered_and_sorted(visit):
    assert "148 found" in visit("/orders").text and table(visit("/orders"))[0][0] == "Order 5124"
    assert [row[0] for row in table(visit("/orders?q=1007"))] == ["Order 1007"]
    assert {row[2] for row in table(visit("/orders?q=emma&sort=total"))} == {"Emma Lane"}
    assert {row[4] for row in table(visit("/orders?status=On+hold"))} == {"On hold"}
    assert "24 found" in visit("/orders?source=Web").text and "124 found" in visit("/orders?source=Phone").text
    assert table(visit("/orders?sort=date"))[0][1] == "2025-01-02"


def test_an_order_of_the_shop_is_in_the_office(visit):
    shop(visit, "/checkout", {**ADDRESS, "shipping": "Express"})
    assert table(visit("/orders"))[0][:3] == ["Order 1025", TODAY, "Emma Lane"]
    page = visit("/orders/1025")
    assert "Ann Hill, 1 Oak Lane, Elmton 12345" in page.text and "Express $12.00" in page.text and "Status Received" in words(page)
    total = re.search(r"Total</th><td>([^<]*)", shop(visit, "/orders/1025").text).group(1)
    assert f"Total {total}" in words(page) and f"Total {total}" in words(visit("/orders/1025/invoice"))


@pytest.mark.parametrize("number, source", [(1024, "orders"), (5120, "phone_orders")])
def test_the_status_is_changed(visit, number, source):
    response = visit(f"/orders/{number}/status", {"status": "Shipped"})
    assert "The status was updated." in response.text and "Status Shipped" in words(response)
    assert visit.value(f"SELECT status FROM {source} WHERE id = ?", number) == "Shipped"
    assert visit.value("SELECT count(*) FROM all_orders WHERE status = 'Shipped'") == visit.value(
        "SELECT (SELECT count(*) FROM orders WHERE status = 'Shipped') + (SELECT count(*) FROM phone_orders WHERE status = 'Shipped')")
    for status in ("Canceled", "Lost", ""):
        response = visit(f"/orders/{number}/status", {"status": status})
        assert response.status_code == 400 and "New status must be chosen." in response.text
    assert visit.value(f"SELECT status FROM {source} WHERE id = ?", number) == "Shipped"


def test_the_shop_shows_the_new_status(visit):
    visit("/orders/1024/status", {"status": "Delivered"})
    assert "Status Delivered" in words(shop(visit, "/orders/1024"))


def test_cancel_gives_the_items_back(visit):
    items = visit.db.execute("SELECT product, quantity FROM order_items WHERE order_id = 1024").fetchall()
    before = {product: visit.value("SELECT stock FROM products WHERE id = ?", product) for product, _ in items}
    assert 'data-confirm="Cancel order 1024?"' in visit("/orders/1024").text
    response = visit("/orders/1024/cancel", {})
    assert "The order was canceled." in response.text and "Cancel order" not in response.text and "Invoice" not in response.text
    assert all(visit.value("SELECT stock FROM products WHERE id = ?", product) == before[product] + quantity for product, quantity in items)
    assert visit("/orders/1024/cancel", {}).status_code == 400
    assert all(visit.value("SELECT stock FROM products WHERE id = ?", product) == before[product] + quantity for product, quantity in items)
    assert "cannot be changed" in visit("/orders/1024/status", {"status": "Packed"}).text
    assert visit("/orders/1024/invoice").status_code == 404
    assert "Status Canceled" in words(shop(visit, "/orders/1024"))


def test_an_order_that_has_left_cannot_be_canceled(visit):
    assert "Cancel order" not in visit("/orders/1003").text
    assert "cannot be canceled any more" in visit("/orders/1003/cancel", {}).text
    assert visit.value("SELECT status FROM orders WHERE id = 1003") == "Shipped"


def test_a_comment_is_added(visit):
    response = visit("/orders/1005/comment", {"comment": "<b>Call & wait</b>"})
    assert "The comment was added." in response.text and f"<td>{TODAY}</td><td>&lt;b&gt;Call &amp; wait&lt;/b&gt;</td>" in response.text
    count = visit.value("SELECT count(*) FROM order_comments")
    assert "Comment must not be empty." in visit("/orders/1005/comment", {"comment": " "}).text
    assert visit.value("SELECT count(*) FROM order_comments") == count
    for number in range(15):
        visit("/orders/1005/comment", {"comment": f"Note {number}"})
    assert "Note 14" in visit("/orders/1005").text and "Note 0" not in visit("/orders/1005").text


def test_the_address_of_an_order(visit):
    assert "Zip must be 5 digits." in visit("/orders/1005/address", {**ADDRESS, "zip": "1"}).text
    assert "Emma Lane" in visit.value("SELECT name FROM orders WHERE id = 1005")
    assert visit("/orders/1005/address", ADDRESS).url.path == "/orders/1005"
    assert "Ann Hill, 1 Oak Lane, Elmton 12345" in shop(visit, "/orders/1005").text
    assert "14 Elm Court" in shop(visit, "/orders/1006").text


def test_the_invoice_adds_up_and_opens_in_a_new_tab(visit):
    assert 'href="/orders/5121/invoice" target="_blank"' in visit("/orders/5121").text
    page = visit("/orders/5121/invoice")
    amounts = [round(float(row[3][1:].replace(",", "")) * 100) for row in table(page)]
    total = visit.value("SELECT total FROM all_orders WHERE id = 5121")
    assert sum(amounts) + visit.value("SELECT shipping_cents FROM all_orders WHERE id = 5121") == total
    assert "Log out" not in page.text and 'class="office paper"' in page.text


# --- customers and reviews -------------------------------------------------------------------------------------------------------

def test_customers_are_searched_and_sorted(visit):
    assert "31 found" in visit("/customers").text
    assert table(visit("/customers?sort=-orders"))[0][::3] == ["Emma Lane", "24"]
    assert [row[0] for row in table(visit("/customers?q=NORA@shop"))] == ["Nora Ivory"]
    assert "0 found" in visit("/customers?newsletter=Yes").text


def test_a_customer_has_orders_and_reviews(visit):
    page = visit("/customers/2")
    assert "Nora Ivory" in page.text and "nora@shop.test" in page.text and "steel92" not in page.text
    assert len(re.findall('href="/reviews/', page.text)) == min(10, visit.value("SELECT count(*) FROM all_reviews WHERE author = 'Nora'"))
    assert "The last 10 are shown." in visit("/customers/1").text
    shop(visit, "/product/silver-silk-lamp/review", {"stars": "4", "text": "Fine"})
    assert "Fine" in visit("/customers/1").text


def test_a_customer_is_saved_or_refused_as_a_whole(visit):
    for change, message in (({"phone": "call me"}, "Phone must be"), ({"email": "nobody"}, "Email must be"), ({"name": ""}, "Name must be"),
                            ({"email": "NORA@shop.test"}, "Another customer has this email.")):
        response = visit("/customers/1", {**PERSON, **change})
        assert response.status_code == 400 and message in response.text
    assert visit.value("SELECT name || email FROM customers WHERE id = 1") == "Emma Laneemma@shop.test"
    assert "The customer was saved." in visit("/customers/1", {**PERSON, "newsletter": "on"}).text
    assert "Ann Hill" in shop(visit, "/account").text and "ann@shop.test" in shop(visit, "/account").text
    assert [row[0] for row in table(visit("/customers?newsletter=Yes"))] == ["Ann Hill"]
    visit("/customers/1", PERSON)
    assert "0 found" in visit("/customers?newsletter=Yes").text


def test_reviews_are_filtered(visit):
    assert "14 found" in visit("/reviews?status=Pending").text and "8 found" in visit("/reviews?status=Not+approved").text
    assert {row[3] for row in table(visit("/reviews?stars=1"))} == {"1"}
    assert all("Broke after a week" in row for row in table(visit("/reviews?q=broke")))


def test_a_review_is_shown_in_the_shop_when_approved(visit):
    slug, text = visit.db.execute(
        "SELECT slug, text FROM all_reviews r JOIN products p ON p.id = product WHERE r.id = 289").fetchone()
    visit.db.execute("UPDATE all_reviews SET text = 'Waited long' WHERE id = 289")
    assert "Waited long" not in shop(visit, f"/product/{slug}").text
    assert "The review is approved." in visit("/reviews/289/status", {"status": "Approved"}).text
    assert "Waited long" in shop(visit, f"/product/{slug}").text
    assert "The review is not approved." in visit("/reviews/289/status", {"status": "Not approved"}).text
    assert "Waited long" not in shop(visit, f"/product/{slug}").text
    assert "Status must be chosen." in visit("/reviews/289/status", {"status": "Great"}).text
    assert visit.value("SELECT status FROM all_reviews WHERE id = 289") == "Not approved"


def test_a_review_is_deleted(visit):
    assert 'data-confirm="Delete review 1?"' in visit("/reviews/1").text
    response = visit("/reviews/1/delete", {})
    assert response.url.path == "/reviews" and "Review 1 was deleted." in response.text
    assert visit("/reviews/1").status_code == visit("/reviews/1/delete", {}).status_code == 404
    assert "Reviews 3" in words(shop(visit, "/product/silver-silk-lamp"))


def test_a_product_whose_reviews_are_all_gone_still_has_its_pages(visit):
    visit.db.execute("DELETE FROM all_reviews WHERE product = 1")
    shown = visit(LAMP), shop(visit, "/product/silver-silk-lamp"), shop(visit, "/category/lighting?sort=rating")
    assert all(response.status_code == 200 for response in shown)


# --- all pages -------------------------------------------------------------------------------------------------------------------

PAGES = ("/", "/login", "/products", LAMP, "/orders", "/orders/1005", "/orders/5001/address", "/orders/1005/invoice", "/customers",
         "/customers/1", "/reviews", "/reviews/285", "/reports/sales", "/reports/best-sellers", "/reports/low-stock",
         "/reports/search-terms")


def test_pages_are_small_and_not_kept(visit):
    for path in PAGES:
        response = visit(path)
        assert response.status_code == 200 and response.headers["cache-control"] == "no-store"
        assert len(words(response)) < 2400, path


def test_pages_that_do_not_exist_say_so(visit):
    for path in ("/nowhere", "/products/nothing", "/orders/1", "/orders/x", "/orders/999999999999", "/orders/1/invoice",
                 "/orders/x/address", "/customers/0", "/customers/99", "/customers/x", "/reviews/9999", "/reports/nothing"):
        response = visit(path)
        assert response.status_code == 404 and "There is no such page." in response.text


def test_one_world_does_not_see_the_other(visitor):
    first = visitor("shopping_admin")
    second = visitor("shopping_admin", worlds=first.worlds)
    before = [second(path).text for path in PAGES]
    first(LAMP, {**GOOD, "price": "1.00"})
    first("/orders/1024/cancel", {})
    first("/reviews/285/status", {"status": "Approved"})
    first("/customers/1", PERSON)
    assert [second(path).text for path in PAGES] == before
    assert "$50.25" in shop(second, "/product/silver-silk-lamp").text and "$1.00" in shop(first, "/product/silver-silk-lamp").text


def test_no_form_makes_a_fault(visit):
    """Random fields and values in every form: an answer below 500, whatever was sent."""
    rng = random.Random(0)
    changes = ("status", "cancel", "comment", "address")
    order_forms = [f"/orders/{number}/{change}" for number in ("1020", "5120", "7", "x") for change in changes]
    paths = [LAMP, "/products/none", "/login", "/logout", "/customers/2", "/customers/0", "/reviews/290/status", "/reviews/291/delete"]
    fields = ["name", "price", "stock", "status", "comment", "street", "city", "zip", "phone", "email", "newsletter", "username",
              "password"]
    values = ["", "1", "-5", "9" * 40, "a" * 5000, "\x00\x01", "'\";--", "<b>", "é漢😀", "\ud800".encode("utf-8", "replace").decode(),
              "Packed"]
    for _ in range(200):
        data = {rng.choice(fields): rng.choice(values) for _ in range(rng.randint(0, 8))}
        visit.log_in()
        assert visit(rng.choice(paths + order_forms), data).status_code < 500


def test_odd_names_are_shown_as_text(visit):
    odd = '"><script>alert(1)</script> & \'x\''
    for table_name, column in (("all_reviews", "text"), ("customers", "city"), ("orders", "city"), ("order_comments", "text")):
        visit.db.execute(f"UPDATE {table_name} SET {column} = ?", (odd,))
    visit.db.execute("UPDATE products SET name = ? WHERE id = 1", (odd,))
    visit.db.execute("UPDATE customers SET name = ? WHERE id = 1", (odd,))
    for path in PAGES:
        response = visit(path)
        assert response.status_code == 200 and "<script>alert" not in response.text


def test_pages_are_served_within_milliseconds(visit):
    """Each kind of page, the app alone."""
    for path in PAGES:
        assert visit.milliseconds(path) < 25, path
