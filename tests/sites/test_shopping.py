"""The storefront does what its forms say, refuses what they must not hold, and never answers with a fault of its own."""

import random
import re

import httpx
import pytest


PLAIN = "/product/silver-silk-lamp"                # a product without a choice
CHOICE = "/product/amber-leather-jacket"           # a product with sizes


@pytest.fixture
def visit(visitor):
    return visitor("shopping")


def words(response):
    """The text of a page, without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text))


def test_the_first_page_lists_the_categories(visit):
    assert all(name in words(visit("/")) for name in ("Lighting", "Kitchen", "Sports"))


def test_a_category_is_sorted_and_paged(visit):
    low = re.findall(r"\$([0-9.]+)", visit("/category/toys?sort=price_low").text)
    assert len(low) == 10 and low == sorted(low, key=float)
    second = visit("/category/toys?sort=price_low&page=2")
    assert float(re.findall(r"\$([0-9.]+)", second.text)[0]) > float(low[-1])
    assert "Previous page" in second.text and "Next page" not in second.text
    ratings = re.findall(r"<td>([0-9]\.[0-9])</td>", visit("/category/toys?sort=rating").text)
    assert ratings == sorted(ratings, reverse=True)


def test_links_to_other_pages_keep_sort_and_search(visit):
    assert "?sort=price_low&amp;page=2" in visit("/category/toys?sort=price_low").text
    assert "q=o" in re.search(r'href="(\?[^"]*page=2)', visit("/search?q=o").text).group(1)


@pytest.mark.parametrize("query", ["page=0", "page=-1", "page=99999999999", "page=x", "sort=nonsense", "page=%F0%9F%98%80", "sort=&page="])
def test_odd_queries_give_the_usual_page(visit, query):
    response = visit(f"/category/toys?{query}")
    assert response.status_code == 200 and "Page 1 of 2" in response.text


def test_search_finds_by_all_words_in_any_case(visit):
    assert "Silver Silk Lamp" in visit("/search?q=LAMP+silk").text
    assert "No products found." in visit("/search?q=silk+zebra").text
    assert "Type a word" in visit("/search?q=+").text


@pytest.mark.parametrize("text", ["%", "_", "'; DROP TABLE products; --", '"><script>alert(1)</script>', "\\", "{{7*7}}", "é\u202e"])
def test_search_takes_any_text_as_text(visit, text):
    response = visit(f"/search?{httpx.QueryParams({'q': text})}")
    assert response.status_code == 200 and "No products found." in response.text
    assert "<script>alert" not in response.text
    assert visit.value("SELECT count(*) FROM products") > 90


def test_add_to_cart(visit):
    response = visit(f"{PLAIN}/cart", {"quantity": "3"})
    assert response.url.path == "/cart" and "Added Silver Silk Lamp." in response.text
    assert visit.value("SELECT quantity FROM cart JOIN products p ON p.id = product WHERE slug = 'silver-silk-lamp'") == 3
    visit(f"{PLAIN}/cart", {"quantity": "2"})
    assert visit.value("SELECT quantity FROM cart JOIN products p ON p.id = product WHERE slug = 'silver-silk-lamp'") == 5


def test_a_message_is_shown_once(visit):
    assert "Added Silver Silk Lamp." in visit(f"{PLAIN}/cart", {"quantity": "1"}).text
    assert "Added Silver Silk Lamp." not in visit("/cart").text


@pytest.mark.parametrize("quantity", ["0", "-1", "1.5", "many", "", "100", "999999999999999999999999", "٣", "1e3"])
def test_a_wrong_quantity_is_refused(visit, quantity):
    response = visit(f"{PLAIN}/cart", {"quantity": quantity})
    assert response.status_code == 400 and "Quantity must be a number from 1 to 99." in response.text
    assert visit.value("SELECT count(*) FROM cart") == 5


def test_more_than_the_stock_is_refused(visit):
    stock = visit.value("SELECT stock FROM products WHERE slug = 'silver-silk-lamp'")
    assert "only" in visit(f"{PLAIN}/cart", {"quantity": str(stock + 1)}).text
    assert visit(f"{PLAIN}/cart", {"quantity": str(stock)}).status_code == 200
    assert "only" in visit(f"{PLAIN}/cart", {"quantity": "1"}).text


def test_a_choice_must_be_one_of_the_options(visit):
    assert "Size must be chosen." in visit(f"{CHOICE}/cart", {"quantity": "1"}).text
    assert "Size must be chosen." in visit(f"{CHOICE}/cart", {"quantity": "1", "choice": "Huge"}).text
    assert "Amber Leather Jacket, Large" in visit(f"{CHOICE}/cart", {"quantity": "1", "choice": "Large"}).text


def test_change_and_remove_in_the_cart(visit):
    visit("/cart/update", {"quantity-2": "7"})
    assert visit.value("SELECT quantity FROM cart WHERE id = 2") == 7
    assert "Quantity must be" in visit("/cart/update", {"quantity-1": "4", "quantity-2": "no"}).text
    assert visit.value("SELECT quantity FROM cart WHERE id = 1") == 3
    visit("/cart/remove", {"item": "2"})
    assert visit.value("SELECT count(*) FROM cart WHERE id = 2") == 0


def test_one_customer_cannot_touch_anothers_things(visit):
    visit.db.execute("UPDATE cart SET customer = 2")
    visit("/cart/remove", {"item": "2"})
    assert visit.value("SELECT count(*) FROM cart") == 5
    visit.db.execute("UPDATE orders SET customer = 2 WHERE id = 1005")
    assert visit("/orders/1005").status_code == 404


def test_wish_list(visit):
    assert "Added Silver Silk Lamp." in visit(f"{PLAIN}/wish", {}).text
    visit(f"{PLAIN}/wish", {})
    assert visit.value("SELECT count(*) FROM wishes") == 8
    visit("/wishlist/remove", {"item": "8"})
    assert visit.value("SELECT count(*) FROM wishes") == 7


ADDRESS = {"name": "Ann Hill", "street": "1 Oak Lane", "city": "Elmton", "zip": "12345"}


def test_place_an_order(visit):
    response = visit("/checkout", {**ADDRESS, "shipping": "Express"})
    assert response.url.path == "/orders/1025" and "Thank you for your order." in response.text
    assert "Ann Hill, 1 Oak Lane, Elmton 12345" in response.text and "Express" in response.text
    assert "The cart is empty." in visit("/cart").text
    assert "Order 1025" in visit("/orders").text and "Order 1025" in visit("/orders/latest").text


@pytest.mark.parametrize("change, message", [({"zip": "1234"}, "Zip must be 5 digits."), ({"name": ""}, "Name must be a name."),
                                             ({"shipping": "Balloon"}, "Shipping must be chosen.")])
def test_a_wrong_checkout_places_no_order(visit, change, message):
    response = visit("/checkout", {**ADDRESS, "shipping": "Express", **change})
    assert response.status_code == 400 and message in response.text
    assert visit.value("SELECT count(*) FROM orders") == 24


def test_the_account_is_saved_or_refused_as_a_whole(visit):
    good = {**ADDRESS, "phone": "555-0123", "newsletter": "on"}
    assert "Phone must be" in visit("/account", {**good, "phone": "call me"}).text
    assert visit.value("SELECT name FROM customers WHERE id = 1") == "Emma Lane"
    assert "Your account was saved." in visit("/account", good).text
    assert visit.value("SELECT phone || newsletter FROM customers WHERE id = 1") == "555-01231"


def test_a_review_is_added_under_the_customers_name(visit):
    assert "Stars must be chosen." in visit(f"{PLAIN}/review", {"text": "Fine"}).text
    assert "Review must not be empty." in visit(f"{PLAIN}/review", {"text": " ", "stars": "4"}).text
    response = visit(f"{PLAIN}/review", {"text": "<b>Fine</b>", "stars": "4"})
    assert "Your review was added." in response.text and "&lt;b&gt;Fine&lt;/b&gt;" in response.text and "Emma" in response.text


def test_log_in_and_out(visitor):
    visit = visitor("shopping", logged_in=False)
    for path in ("/cart", "/wishlist", "/orders", "/orders/1005", "/account", "/checkout", f"{PLAIN}/review"):
        assert visit(path).url.path == "/login"
    email, password = visit.db.execute("SELECT email, password FROM customers WHERE id = 2").fetchone()
    assert "is wrong" in visit("/login", {"email": email, "password": "guess"}).text
    response = visit("/login?next=/orders", {"email": email, "password": password})
    assert response.url.path == "/orders" and "You have no orders." in response.text
    assert "The cart is empty." in visit("/cart").text
    assert visit("/logout", {}).url.path == "/login"
    assert visit("/orders").url.path == "/login"


def test_log_in_never_leads_to_another_host(visitor):
    visit = visitor("shopping", logged_in=False)
    email, password = visit.db.execute("SELECT email, password FROM customers WHERE id = 2").fetchone()
    for target in ("//evil.example", "http://evil.example", "/\\evil.example"):
        assert visit(f"/login?{httpx.QueryParams({'next': target})}", {"email": email, "password": password}).url.host == "shopping.localhost"


def test_pages_that_do_not_exist_say_so(visit):
    for path in ("/nowhere", "/product/nothing", "/category/nothing", "/orders/1", "/orders/999999999999", "/orders/x"):
        response = visit(path)
        assert response.status_code == 404 and "There is no such page." in response.text


def test_no_form_makes_a_fault(visit):
    """Random fields and values in every form: an answer below 500, whatever was sent."""
    rng = random.Random(0)
    paths = [f"{PLAIN}/cart", f"{PLAIN}/wish", f"{PLAIN}/review", "/cart/update", "/cart/remove", "/wishlist/remove", "/checkout", "/account",
             "/login", "/logout", f"{CHOICE}/cart", "/product/none/cart"]
    fields = ["quantity", "choice", "stars", "text", "item", "quantity-1", "name", "street", "city", "zip", "phone", "shipping", "email",
              "password", "newsletter", "q"]
    values = ["", "1", "-5", "9" * 40, "a" * 5000, "\x00\x01", "'\";--", "<b>", "é漢😀", "\ud800".encode("utf-8", "replace").decode(), "Large", "None"]
    for _ in range(150):
        data = {rng.choice(fields): rng.choice(values) for _ in range(rng.randint(0, 6))}
        visit.log_in()
        assert visit(rng.choice(paths), data).status_code < 500


def test_pages_are_served_within_milliseconds(visit):
    """Each kind of page, the app alone."""
    for path in ("/", "/category/toys", "/search?q=silk", PLAIN, "/cart", "/orders", "/checkout", "/account"):
        assert visit.milliseconds(path) < 15, path
