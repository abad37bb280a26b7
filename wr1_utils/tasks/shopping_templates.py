"""The task templates of the Pocket Arena's site `shopping`. A change of state is compared with the whole cart, wish list, account, order or list of reviews."""

import functools
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from wr1_utils.sites import shopping_seed
from wr1_utils.sites.shopping import SORTS
from wr1_utils.sites.shopping_seed import CATEGORIES, CUSTOMER, MATERIALS, PRAISE, SHIPPING, TODAY, UNUSED_LOOKS, money, slug_of
from wr1_utils.sites.world import open_database
from wr1_utils.tasks.task import Task
from wr1_utils.tasks.templates import Template, answer, only_changed, state, url

# What a state is compared by: JavaScript that gives it as one line of text.
CART = '[...document.querySelectorAll("input[data-item]")].map(e => e.dataset.item + " x" + e.value).join("; ")'
WISHES = '[...document.querySelectorAll("tr[data-item]")].map(e => e.dataset.item).join("; ")'
ACCOUNT = '[...document.querySelectorAll("form.card input")].map(e => e.type == "checkbox" ? e.checked : e.value).join("; ")'
ORDER = '[...document.querySelectorAll("h1, td")].map(e => e.innerText).join("; ")'
FACTS = '[...document.querySelectorAll("table.facts td")].map(e => e.innerText).join("; ")'
REVIEWS = '[...document.querySelectorAll("tr.review")].map(e => [...e.cells].map(c => c.innerText).join(" | ")).join("; ")'
EMAIL = 'document.querySelector("#email").outerText'


@dataclass(frozen=True)
class Shop:
    """The seed state of the shop, as lists of records."""
    products: tuple[dict, ...]
    orders: tuple[dict, ...]         # with `items` and `total` (text)
    customers: tuple[dict, ...]
    cart: tuple[str, ...]            # "Misty Cork Spoon x3"
    wishes: tuple[str, ...]          # names

    def product(self, name: str) -> dict:
        return next(product for product in self.products if product["name"] == name)

    def order(self, number: int) -> dict:
        return next(order for order in self.orders if order["id"] == number)

    def names(self, *, options: bool = False, in_cart: bool = False) -> list[str]:
        """Names of the products that can be bought, with or without a choice of size or color."""
        held = {name for name, _ in map(_item, self.cart)}
        return [p["name"] for p in self.products
                if p["stock"] and bool(p["options"]) == options and (in_cart or p["name"] not in held)]


@functools.cache
def seed_shop() -> Shop:
    database = open_database(shopping_seed.seed_database())

    def records(query: str, *values) -> list[dict]:
        return [dict(row) for row in database.execute(query, values)]

    products = records("SELECT p.*, c.name AS category_name, (SELECT round(avg(stars), 1) FROM reviews WHERE product = p.id) AS rating "
                       "FROM products p JOIN categories c ON c.id = p.category ORDER BY p.id")
    for product in products:
        product["reviews"] = records("SELECT * FROM reviews WHERE product = ? ORDER BY id DESC", product["id"])
    label = "p.name || iif(i.choice = '', '', ', ' || i.choice) AS label"
    orders = records("SELECT * FROM orders WHERE customer = ? ORDER BY id", CUSTOMER)
    for order in orders:
        order["items"] = records(f"SELECT i.*, {label} FROM order_items i JOIN products p ON p.id = i.product "
                                 "WHERE order_id = ? ORDER BY i.id", order["id"])
        order["cents"] = order["shipping_cents"] + sum(item["quantity"] * item["cents"] for item in order["items"])
    cart = records(f"SELECT i.*, {label} FROM cart i JOIN products p ON p.id = i.product WHERE customer = ? ORDER BY i.id", CUSTOMER)
    wishes = records("SELECT p.name FROM wishes w JOIN products p ON p.id = w.product WHERE customer = ? ORDER BY w.id", CUSTOMER)
    shop = Shop(tuple(products), tuple(orders), tuple(records("SELECT * FROM customers ORDER BY id")),
                tuple(f"{item['label']} x{item['quantity']}" for item in cart), tuple(wish["name"] for wish in wishes))
    database.close()
    return shop


# --- evaluation records ----------------------------------------------------------------------------------------------------------

def _url(path: str) -> dict:
    return url("shopping", path)


def _state(path: str, **wanted_by_locator: str) -> dict:
    locators = {"cart": CART, "wishes": WISHES, "account": ACCOUNT, "reviews": REVIEWS, "email": EMAIL}
    return state("shopping", *((path, locators[name], wanted) for name, wanted in wanted_by_locator.items()))


def _cart_state(items: list[str]) -> dict:
    return _state("/cart", cart="; ".join(items))


def _item(text: str) -> tuple[str, int]:
    """``"Ocean Steel Backpack, Red x2"`` gives the product's name and the quantity."""
    label, quantity = text.rsplit(" x", 1)
    return label.split(", ")[0], int(quantity)


def _account_state(shop: Shop, newsletter: bool = False, **changes: str) -> dict:
    customer = {**shop.customers[CUSTOMER - 1], **changes}
    fields = [customer[field] for field in ("name", "street", "city", "zip", "phone")]
    return _state("/account", account="; ".join([*fields, str(newsletter).lower()]))


def and_nothing_else(task: Task) -> dict:
    """The task's evaluation record, and for a change of the shop's state that nothing else of it has changed."""
    checks = task.eval["program_html"]
    if not checks:
        return task.eval
    only = state("shopping", only_changed(**_tables_changed(seed_shop(), task.intent_template_id, task.instantiation_dict)))
    return {**task.eval, "program_html": checks + only["program_html"]}


def _tables_changed(shop: Shop, template: str, filling: dict) -> dict[str, tuple]:
    """What has changed of each table once the task is solved, as `only_changed` takes it."""
    if template == "place_order":                # what was in the cart is ordered too, and all of it leaves the stock
        bought = {_item(item)[0] for item in shop.cart} | {filling["product"]}
        return {"cart": (len(shop.cart), 0), "orders": (0, 1), "order_items": (0, len(shop.cart) + 1), "products": (len(bought), len(bought), "stock")}
    if template == "remove_item":
        return {"cart" if filling["place"] == "cart" else "wishes": (1, 0)}
    return {
        "cart_add": {"cart": (0, 1)}, "cart_add_quantity": {"cart": (0, 1)}, "cart_add_option": {"cart": (0, 1)}, "cart_add_two": {"cart": (0, 2)},
        "cart_quantity": {"cart": (1, 1, "quantity")}, "wish_add": {"wishes": (0, 1)}, "change_phone": {"customers": (1, 1, "phone")},
        "newsletter_zip": {"customers": (1, 1, "newsletter", "zip")}, "write_review": {"all_reviews": (0, 1)}, "log_in": {},
    }[template]


# --- fillings --------------------------------------------------------------------------------------------------------------------

def _products(shop, rng):
    return [{"product": product["name"]} for product in shop.products]


def _buyable(shop, rng):
    return [{"product": name} for name in shop.names()]


def _order_numbers(shop, rng):
    return [{"order": order["id"]} for order in shop.orders]


def _pairs(values: list, rng: random.Random, count: int = 60) -> list[dict]:
    """Random pairs; no two hold the same values, in whatever order."""
    pairs = {frozenset(pair): pair for pair in (rng.sample(values, 2) for _ in range(count))}
    return [{"first": first, "second": second} for first, second in pairs.values()]


def _priced_pairs(shop, rng):
    pairs = _pairs([product["name"] for product in shop.products], rng)
    return [pair for pair in pairs if shop.product(pair["first"])["cents"] != shop.product(pair["second"])["cents"]]


def _order_pairs(shop, rng):
    pairs = _pairs([order["id"] for order in shop.orders], rng)
    return [pair for pair in pairs if shop.order(pair["first"])["cents"] != shop.order(pair["second"])["cents"]]


def _star_counts(shop, rng):
    return [{"product": product["name"], "stars": f"{review['stars']} star{'s' if review['stars'] != 1 else ''}"}
            for product in shop.products for review in product["reviews"]
            if sum(other["stars"] == review["stars"] for other in product["reviews"]) == 1 and len(product["reviews"]) > 1]


def _unknown_products(shop, rng):
    nouns = [noun for nouns, _, _ in CATEGORIES.values() for noun in nouns]
    return [{"fact": rng.choice(("price", "rating", "stock")), "product": f"{look} {material} {noun}"}
            for look in UNUSED_LOOKS for material in MATERIALS for noun in nouns]


def _searches(shop, rng):
    return [{"words": f"{product['name'].split()[0]} {product['name'].split()[-1]}".lower()} for product in shop.products]


def _options(shop, rng):
    return [{"product": name, "option": shop.product(name)["option_name"].lower(), "choice": choice}
            for name in shop.names(options=True) for choice in shop.product(name)["options"].split("|")]


def _held(shop, rng):
    return [{"place": "cart", "product": _item(item)[0]} for item in shop.cart] + \
           [{"place": "wish list", "product": name} for name in shop.wishes]


def _fresh_logins(shop, rng):
    return [{"email": customer["email"], "password": customer["password"]} for customer in shop.customers[CUSTOMER:]]


# --- evaluations that take more than a line --------------------------------------------------------------------------------------

def _extreme(shop: Shop, filling: dict) -> dict:
    products = [product for product in shop.products if product["category_name"] == filling["category"]]
    choose = min if filling["extreme"] == "cheapest" else max
    return answer(choose(products, key=lambda product: product["cents"])["name"])


def _dearer_order(shop: Shop, filling: dict) -> dict:
    number = max(filling["first"], filling["second"], key=lambda number: shop.order(number)["cents"])
    return answer(f"{number} |OR| Order {number}")


def _removed(shop: Shop, filling: dict) -> dict:
    if filling["place"] == "cart":
        return _cart_state([item for item in shop.cart if _item(item)[0] != filling["product"]])
    return _state("/wishlist", wishes="; ".join(name for name in shop.wishes if name != filling["product"]))


def _changed_quantity(shop: Shop, filling: dict) -> dict:
    return _cart_state([re.sub(r" x[0-9]+$", f" x{filling['quantity']}", item) if _item(item)[0] == filling["product"] else item
                        for item in shop.cart])


def _reviewed(shop: Shop, filling: dict) -> dict:
    product = shop.product(filling["product"])
    author = shop.customers[CUSTOMER - 1]["name"].split()[0]
    rows = [(author, filling["stars"], filling["text"])] + [(r["author"], r["stars"], r["text"]) for r in product["reviews"]]
    return _state(f"/product/{product['slug']}", reviews="; ".join(
        f"{who} | {stars} star{'s' if stars != 1 else ''} | {text}" for who, stars, text in rows))


def _ordered(shop: Shop, filling: dict) -> dict:
    """The whole order, and of each product in it what is in stock then: what was in the cart is ordered too."""
    number, shipping = max(order["id"] for order in shop.orders) + 1, filling["shipping"]
    items = [(label, *_item(label)) for label in (*shop.cart, f"{filling['product']} x1")]
    bought = Counter()
    for _, name, quantity in items:
        bought[name] += quantity
    total = SHIPPING[shipping] + sum(shop.product(name)["cents"] * quantity for name, quantity in bought.items())
    facts = [TODAY, "Received", shipping, "{name}, {street}, {city} {zip}".format(**shop.customers[CUSTOMER - 1]), money(total)]
    cells = [(label.rsplit(" x", 1)[0], str(quantity), money(shop.product(name)["cents"])) for label, name, quantity in items]
    return state("shopping", ("/orders/latest", ORDER, "; ".join([f"Order {number}", *facts, *sum(cells, ())])),
                 *(_product_facts(shop.product(name), quantity) for name, quantity in bought.items()))


def _product_facts(product: dict, sold: int) -> tuple[str, str, str]:
    """A check for `state`: the product's page once so many were sold."""
    facts = money(product["cents"]), product["rating"], product["stock"] - sold, len(product["reviews"])
    return f"/product/{product['slug']}", FACTS, "; ".join(map(str, facts))


def _shop(name: str, phrasings: tuple[str, ...], fillings: Callable[[Shop, random.Random], list[dict]], evaluation: Callable[[Shop, dict], dict],
          train: int, test: int, login: bool = True) -> Template:
    return Template(name, phrasings, lambda rng: fillings(seed_shop(), rng), lambda filling: evaluation(seed_shop(), filling), train, test, login=login)


TEMPLATES = (
    # questions
    _shop("product_price", ("What is the price of {{product}}?", "How much does {{product}} cost?"), _products,
             lambda shop, f: answer(money(shop.product(f["product"])["cents"])), 14, 3),
    _shop("product_rating", ("What is the rating of {{product}}?",), _products,
             lambda shop, f: answer(str(shop.product(f["product"])["rating"])), 12, 3),
    _shop("product_stock", ("How many {{product}} are in stock?", "What is the stock of {{product}}?"), _products,
             lambda shop, f: answer(str(shop.product(f["product"])["stock"])), 12, 3),
    _shop("review_author", ("Who gave {{product}} {{stars}}?", "Who rated {{product}} with {{stars}}?"), _star_counts,
             lambda shop, f: answer(next(r["author"] for r in shop.product(f["product"])["reviews"]
                                          if r["stars"] == int(f["stars"][0]))), 12, 3),
    _shop("category_extreme", ("Which product in {{category}} is the {{extreme}}?", "What is the {{extreme}} product in {{category}}?"),
             lambda shop, rng: [{"category": c, "extreme": e} for c in CATEGORIES for e in ("cheapest", "most expensive")],
             _extreme, 12, 4),
    _shop("compare_price", ("Which is cheaper, {{first}} or {{second}}?",), _priced_pairs,
             lambda shop, f: answer(min(f["first"], f["second"], key=lambda name: shop.product(name)["cents"])), 14, 3),
    _shop("order_status", ("What is the status of order {{order}}?",), _order_numbers,
             lambda shop, f: answer(shop.order(f["order"])["status"]), 12, 3),
    _shop("order_total", ("What is the total of order {{order}}?", "How much did order {{order}} cost?"), _order_numbers,
             lambda shop, f: answer(money(shop.order(f["order"])["cents"])), 12, 3),
    _shop("order_quantity", ("How many {{item}} are in order {{order}}?",),
             lambda shop, rng: [{"item": item["label"], "order": order["id"]} for order in shop.orders for item in order["items"]],
             lambda shop, f: answer(str(next(item["quantity"] for item in shop.order(f["order"])["items"]
                                              if item["label"] == f["item"]))), 12, 3),
    _shop("order_compare", ("Which order cost more, {{first}} or {{second}}?",), _order_pairs, _dearer_order, 12, 3),
    _shop("no_such_product", ("What is the {{fact}} of {{product}}?",), _unknown_products, lambda shop, f: answer("N/A"), 14, 3),
    # navigation
    _shop("open_category", ("Open {{category}} sorted by {{sort}}.", "Show {{category}} sorted by {{sort}}."),
             lambda shop, rng: [{"category": c, "sort": SORTS[s][0]} for c in CATEGORIES for s in SORTS if s != "name"],
             lambda shop, f: _url(f"/category/{slug_of(f['category'])}?sort=" + next(s for s in SORTS if SORTS[s][0] == f["sort"])), 14, 4),
    _shop("open_product", ("Open the page of {{product}}.", "Show me {{product}}."), _products,
             lambda shop, f: _url(f"/product/{slug_of(f['product'])}"), 12, 3),
    _shop("open_search", ("Search for {{words}}.", "Show the results for {{words}}."), _searches,
             lambda shop, f: _url(f"/search?q={f['words'].replace(' ', '+')}"), 10, 3),
    _shop("open_order", ("Open order {{order}}.", "Show me order {{order}}."), _order_numbers,
             lambda shop, f: _url(f"/orders/{f['order']}"), 10, 3),
    # changes of state
    _shop("cart_add", ("Add {{product}} to the cart.", "Put {{product}} in the cart."), _buyable,
             lambda shop, f: _cart_state([*shop.cart, f"{f['product']} x1"]), 16, 4),
    _shop("cart_add_quantity", ("Add {{quantity}} {{product}} to the cart.",),
             lambda shop, rng: [{"quantity": rng.randint(2, 9), **filling} for filling in _buyable(shop, rng)],
             lambda shop, f: _cart_state([*shop.cart, f"{f['product']} x{f['quantity']}"]), 14, 3),
    _shop("cart_add_option", ("Add {{product}} in {{option}} {{choice}} to the cart.",), _options,
             lambda shop, f: _cart_state([*shop.cart, f"{f['product']}, {f['choice']} x1"]), 14, 3),
    _shop("wish_add", ("Add {{product}} to the wish list.", "Put {{product}} on the wish list."),
             lambda shop, rng: [{"product": p["name"]} for p in shop.products if p["name"] not in shop.wishes],
             lambda shop, f: _state("/wishlist", wishes="; ".join([*shop.wishes, f["product"]])), 14, 3),
    _shop("cart_quantity", ("Change the quantity of {{product}} in the cart to {{quantity}}.",),
             lambda shop, rng: [{"product": _item(item)[0], "quantity": q} for item in shop.cart for q in range(2, 10) if q != _item(item)[1]],
             _changed_quantity, 12, 3),
    _shop("remove_item", ("Remove {{product}} from the {{place}}.",), _held, _removed, 9, 3),
    _shop("place_order", ("Add {{product}} to the cart and place the order with {{shipping}} shipping.",),
             lambda shop, rng: [{**filling, "shipping": rng.choice(list(SHIPPING))} for filling in _buyable(shop, rng)], _ordered, 12, 3),
    _shop("change_phone", ("Change my phone to {{phone}}.", "Set my phone number to {{phone}}."),
             lambda shop, rng: [{"phone": f"555-{rng.randint(100, 9999):04d}"} for _ in range(40)],
             lambda shop, f: _account_state(shop, phone=f["phone"]), 12, 3),
    _shop("newsletter_zip", ("Change my zip to {{zip}} and subscribe to the newsletter.",),
             lambda shop, rng: [{"zip": str(rng.randint(10000, 99999))} for _ in range(40)],
             lambda shop, f: _account_state(shop, newsletter=True, zip=f["zip"]), 12, 3),
    _shop("write_review", ("Give {{product}} {{stars}} stars with the review {{text}}.",),
             lambda shop, rng: [{**filling, "stars": rng.randint(2, 5), "text": rng.choice(PRAISE)} for filling in _products(shop, rng)],
             _reviewed, 12, 3),
    _shop("log_in", ("Log in as {{email}} with the password {{password}}.",), _fresh_logins,
             lambda shop, f: _state("/account", email=f["email"]), 10, 3, login=False),
    # never trained on: skills that other templates teach, put together or turned to something else
    _shop("order_shipping", ("What is the shipping of order {{order}}?",), _order_numbers,
             lambda shop, f: answer(shop.order(f["order"])["shipping"]), 0, 8),
    _shop("cart_add_two", ("Add {{first}} and {{second}} to the cart.",),
             lambda shop, rng: _pairs(shop.names(), rng),
             lambda shop, f: _cart_state([*shop.cart, f"{f['first']} x1", f"{f['second']} x1"]), 0, 8),
)
