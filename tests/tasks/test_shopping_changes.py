"""A change of state in the shop scores for just what was asked for, a near miss nothing. The changes are made by the shop's own forms."""

import random
from urllib.parse import urlencode

import pytest

from wr1_utils.settings import load_settings

from wr1_utils.sites.shopping_seed import CUSTOMER, SHIPPING, slug_of
from wr1_utils.tasks.arena import make_arena
from wr1_utils.tasks.pocket import PocketArena
from wr1_utils.tasks.shopping_templates import TEMPLATES, seed_shop
from wr1_utils.web.browser import Browser
from wr1_utils.web.loop import run

TASKS = {task.intent_template_id: task for tasks in make_arena() for task in tasks if task.sites == ("shopping",)}
CHANGING = [name for name, task in TASKS.items() if task.eval["program_html"] and task.require_login]
SHOP = seed_shop()
PLAIN = SHOP.names()[0]                          # a product without options that is neither in the cart nor asked for below
NUMBERS = {name: at for at, name in enumerate((item.rsplit(" x", 1)[0].split(", ")[0] for item in SHOP.cart), start=1)}


def add(product, quantity=1, choice=""):
    return f"/product/{slug_of(product)}/cart", {"quantity": quantity, "choice": choice}


def wish(product):
    return f"/product/{slug_of(product)}/wish", {}


def account(**changes):
    customer = SHOP.customers[CUSTOMER - 1]
    return "/account", {**{field: customer[field] for field in ("name", "street", "city", "zip", "phone")}, **changes}


def checkout(shipping):
    return "/checkout", {**account()[1], "shipping": shipping}


def take_out(product):
    return "/cart/remove", {"item": NUMBERS[product]}


def review(product, stars, text):
    return f"/product/{slug_of(product)}/review", {"stars": stars, "text": text}


def quantity(product, number):
    return "/cart/update", {f"quantity-{NUMBERS[product]}": number}


def cart_quantity(product):
    return next(int(item.rsplit(" x", 1)[1]) for item in SHOP.cart if item.startswith(product))


def nearly(text):
    """The text in another case, with an invisible character in it, and with other blanks."""
    return text.swapcase(), f"{text[:2]}\u200b{text[2:]}", text.replace(" ", "\u00a0")


NEW = len(SHOP.cart) + 1                         # the number of what is put into the cart first


# Each gives the forms that solve the task, then wrong ones by name: another record, another value, the change undone.

def cart_add(f):
    right = [add(f["product"])]
    return right, {"another": [add(PLAIN)], "two of it": [add(f["product"], 2)], "undone": [*right, ("/cart/remove", {"item": NEW})],
                   "another too": [*right, add(PLAIN)], "a wish": [wish(f["product"])]}


def cart_add_quantity(f):
    right, number = [add(f["product"], f["quantity"])], int(f["quantity"])
    return right, {"another": [add(PLAIN, number)], "one more": [add(f["product"], number + 1)], "twice": right * 2 if number > 1 else [],
                   "undone": [*right, ("/cart/remove", {"item": NEW})], "another too": [*right, add(PLAIN)]}


def cart_add_option(f):
    choices = SHOP.product(f["product"])["options"].split("|")
    right, other = [add(f["product"], 1, f["choice"])], next(choice for choice in choices if choice != f["choice"])
    same = next(name for name in SHOP.names(options=True) if name != f["product"] and f["choice"] in SHOP.product(name)["options"].split("|"))
    return right, {"another": [add(same, 1, f["choice"])], "another choice": [add(f["product"], 1, other)], "two of it": [add(f["product"], 2, f["choice"])],
                   "undone": [*right, ("/cart/remove", {"item": NEW})], "the other choice too": [*right, add(f["product"], 1, other)]}


def cart_add_two(f):
    first, second = add(f["first"]), add(f["second"])
    return [first, second], {"one": [first], "the other": [second], "one of them twice": [first, second, first], "a third": [first, second, add(PLAIN)],
                             "undone": [first, second, ("/cart/remove", {"item": NEW + 1})]}


def wish_add(f):
    right, other = [wish(f["product"])], next(p["name"] for p in SHOP.products if p["name"] not in (*SHOP.wishes, f["product"]))
    return right, {"another": [wish(other)], "another too": [*right, wish(other)], "undone": [*right, ("/wishlist/remove", {"item": len(SHOP.wishes) + 1})],
                   "bought": [add(PLAIN)], "another wish removed": [*right, ("/wishlist/remove", {"item": 1})]}


def cart_quantity_changed(f):
    right, other = [quantity(f["product"], f["quantity"])], next(name for name in NUMBERS if name != f["product"])
    wrong = next(number for number in range(2, 9) if number not in (int(f["quantity"]), cart_quantity(f["product"])))
    return right, {"another": [quantity(other, cart_quantity(other) + 1)], "wrong": [quantity(f["product"], wrong)],
                   "undone": [*right, quantity(f["product"], cart_quantity(f["product"]))], "another too": [*right, quantity(other, cart_quantity(other) + 1)]}


def remove_item(f):
    held = list(NUMBERS) if f["place"] == "cart" else list(SHOP.wishes)
    path = "/cart/remove" if f["place"] == "cart" else "/wishlist/remove"
    at, other = held.index(f["product"]) + 1, next(n for n, name in enumerate(held, start=1) if name != f["product"])
    right = [(path, {"item": at})]
    return right, {"another": [(path, {"item": other})], "another too": [*right, (path, {"item": other})],
                   "from the other list": [("/wishlist/remove" if f["place"] == "cart" else "/cart/remove", {"item": 1})],
                   "put back": [*right, wish(f["product"]) if f["place"] == "wish list" else add(PLAIN)]}


def office(name, **changes):
    """The form of a product in the back office; what stands there now but for the stock and these changes."""
    product = SHOP.product(name)
    values = {"name": name, "price": f"{product['cents'] / 100:.2f}", "stock": product["stock"], "status": "Enabled", **changes}
    return f"/products/{product['slug']}", values, "shopping_admin"


def place_order(f):
    buy, other = add(f["product"]), next(name for name in SHIPPING if name != f["shipping"])
    right, held, number = [buy, checkout(f["shipping"])], next(iter(NUMBERS)), max(order["id"] for order in SHOP.orders) + 1
    left = SHOP.product(f["product"])["stock"] - 1
    return right, {
        "its stock as it was": [*right, office(f["product"])], "its stock set": [*right, office(f["product"], stock=9)],
        "the stock of what was in the cart": [*right, office(held)], "the stock of another": [*right, office(PLAIN, stock=9)],
        "cheaper for a while": [office(f["product"], price="0.01"), *right, office(f["product"], stock=left)],
        "with another status": [*right, (f"/orders/{number}/status", {"status": "Packed"}, "shopping_admin")],
        "not ordered": [buy], "another": [add(PLAIN), checkout(f["shipping"])], "other shipping": [buy, checkout(other)],
        "without it": [checkout(f["shipping"])], "to another place": [buy, ("/checkout", {**checkout(f["shipping"])[1], "city": "Nowhere"})],
        "and one more": [buy, checkout(f["shipping"]), add(PLAIN), checkout(f["shipping"])], "two of it": [buy, buy, checkout(f["shipping"])]}


def change_phone(f):
    right = [account(phone=f["phone"])]
    return right, {"wrong": [account(phone="555-0001")], "zip": [account(zip="11111")], "the zip too": [account(phone=f["phone"], zip="11111")],
                   "newsletter too": [account(phone=f["phone"], newsletter="on")], "undone": [*right, account()]}


def newsletter_zip(f):
    right = [account(zip=f["zip"], newsletter="on")]
    return right, {"no newsletter": [account(zip=f["zip"])], "no zip": [account(newsletter="on")], "wrong": [account(zip="11111", newsletter="on")],
                   "undone": [*right, account(zip=f["zip"])], "the phone too": [account(zip=f["zip"], newsletter="on", phone="555-0001")]}


def write_review(f):
    right, other = [review(**f)], next(p["name"] for p in SHOP.products if p["name"] != f["product"])
    return right, {"another product": [review(**{**f, "product": other})], "other stars": [review(**{**f, "stars": 1})],
                   "another text": [review(**{**f, "text": "Fine."})], "twice": right * 2,
                   **{f"text {text!r}": [review(**{**f, "text": text})] for text in nearly(f["text"])}}


CASES = {"cart_add": cart_add, "cart_add_quantity": cart_add_quantity, "cart_add_option": cart_add_option, "cart_add_two": cart_add_two, "wish_add": wish_add,
         "cart_quantity": cart_quantity_changed, "remove_item": remove_item, "place_order": place_order, "change_phone": change_phone,
         "newsletter_zip": newsletter_zip, "write_review": write_review}
BESIDE = {"cart": ("/cart", add(PLAIN)), "wish": ("/wishlist", wish(next(p["name"] for p in SHOP.products if p["name"] not in SHOP.wishes))),
          "account": ("/account", account(phone="555-0001")),
          "review": ("/review", review(SHOP.products[-1]["name"], 3, "Fine."))}       # of a product that no task here asks to review


SEND = """([path, body]) => fetch(path, {method: "POST", body, headers: {"Content-Type": "application/x-www-form-urlencoded"}})"""


@pytest.fixture(scope="module")
def log_in_score():
    """Scores an episode whose own page sent the forms, so that the cookies of a login are the page's."""
    arena, browser = PocketArena(), Browser(load_settings("smoke").browser)
    arena.start()
    run(browser.start())

    async def play(task, forms):
        visit = arena.enter(task, 0)
        context = await browser.open(headers=visit.headers, cookies=visit.cookies, viewport=arena.viewport)
        try:
            page = await context.new_page()
            await page.goto(visit.start_url)
            for path, fields in forms:
                await page.evaluate(f"async form => {{ await ({SEND})(form) }}", [path, urlencode(fields)])
            return await arena.score(page, context, task, visit, "done")
        finally:
            await browser.close(context)
            arena.leave(visit)

    yield lambda task, *forms: run(play(task, forms))
    run(browser.stop())
    arena.stop()


def test_every_change_has_its_case():
    assert TASKS["write_review"].instantiation_dict["product"] != SHOP.products[-1]["name"]
    assert set(CASES) == set(CHANGING) == {t.name for t in TEMPLATES if t.evaluation(t.fillings(random.Random(0))[0])["program_html"]} - {"log_in"}


QUICK = ("cart_add", "remove_item", "write_review", "place_order")  # the other templates are played in the slow tier


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in CASES])
def test_just_what_was_asked_for(scores, name):
    task = TASKS[name]
    right, misses = CASES[name](task.instantiation_dict)
    first = {check["url"].removeprefix("__SHOPPING__") for check in task.eval["program_html"][:1]}
    beside = {f"{what} too": [*right, form] for what, (path, form) in BESIDE.items() if path not in first}
    misses = {"nothing": [], **misses, **beside, "a favorite on the map too": [*right, ("/place/elmton/favorite", {}, "map")]}
    found = scores(task, right, *misses.values())
    assert dict(zip(["right", *misses], found)) == {"right": 1.0, **dict.fromkeys(misses, 0.0)}


def test_who_is_logged_in_at_the_end_is_who_was_asked_for(log_in_score):
    filling = TASKS["log_in"].instantiation_dict
    other = next(customer for customer in SHOP.customers if customer["email"] != filling["email"])
    right = "/login", {"email": filling["email"], "password": filling["password"]}
    wrong = "/login", {"email": other["email"], "password": other["password"]}
    refused = "/login", {**right[1], "password": "wrong"}
    assert [log_in_score(TASKS["log_in"], *forms) for forms in ([right], [], [wrong], [refused], [right, ("/logout", {})])] == [1, 0, 0, 0, 0]
