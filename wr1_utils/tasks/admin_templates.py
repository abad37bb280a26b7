"""The task templates of the Pocket Arena's site `shopping_admin`.

A change of state is compared with the whole record (order, product, customer, all reviews of a product), and with the number of records that
have changed in any table.
"""

import datetime
import functools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from wr1_utils.sites import shopping_seed
from wr1_utils.sites.shopping_admin import OPEN, STATUSES, SWITCH, VERDICTS
from wr1_utils.sites.shopping_admin_reports import SHORTCUTS
from wr1_utils.sites.shopping_seed import (
    CATEGORIES,
    CITIES,
    COMMENTS,
    LOOKS,
    MATERIALS,
    PEOPLE,
    STREETS,
    TODAY,
    UNUSED_LOOKS,
    money,
    slug_of,
)
from wr1_utils.sites.world import open_database
from wr1_utils.tasks.templates import Template, answer, only_changed, state, url

# What a state is compared by: JavaScript that gives it as one line of text.
FORM = '[...document.querySelectorAll("form.card input, form.card select")].map(e => e.type == "checkbox" ? e.checked : e.value).join("; ")'
ORDER = '[...document.querySelectorAll("table.facts td, tr.comment td")].map(e => e.innerText).join(" | ")'
REVIEWS = '[...document.querySelectorAll("#tab-2 tr.item")].map(e => [...e.cells].map(c => c.textContent).join(" | ")).join("; ")'

RANKS = ("most", "second most", "third most", "fourth most")
PERIODS = tuple(label.lower() for label in SHORTCUTS)


@dataclass(frozen=True)
class Office:
    """The seed state of the back office, as lists of records."""
    products: tuple[dict, ...]
    orders: tuple[dict, ...]         # with `items`, `comments` and `customer_name`
    customers: tuple[dict, ...]      # with `cents`, which is what they spent
    reviews: tuple[dict, ...]        # with `product_name`, the last first
    searches: tuple[dict, ...]

    def product(self, name: str) -> dict:
        return next(product for product in self.products if product["name"] == name)

    def order(self, number: int) -> dict:
        return next(order for order in self.orders if order["id"] == number)

    def customer(self, name: str) -> dict:
        return next(customer for customer in self.customers if customer["name"] == name)

    def reviews_of(self, product: str) -> list[dict]:
        return [review for review in self.reviews if review["product_name"] == product]

    def valid_orders(self, first: str = "", last: str = TODAY) -> list[dict]:
        """Orders of a period that were not canceled."""
        return [order for order in self.orders if order["status"] != "Canceled" and first <= order["date"] <= last]

    def totals(self, first: str = "", last: str = TODAY) -> dict[str, str]:
        """What the sales report sums up for a period."""
        orders = self.valid_orders(first, last)
        items = sum(item["quantity"] for order in orders for item in order["items"])
        return {"orders": str(len(orders)), "items": str(items), "revenue": money(sum(order["cents"] for order in orders))}

    def stock_figures(self, category: str) -> dict[str, str]:
        """What the stock value report says of a category."""
        products = [product for product in self.products if product["category_name"] == category]
        return {"items": str(sum(product["stock"] for product in products)),
                "value": money(sum(product["stock"] * product["cents"] for product in products))}

    def best_seller(self, place: int = 1, first: str = "", last: str = TODAY) -> str | None:
        """The product in this place of the best sellers of a period, None where there is none or another sold as often."""
        sold: Counter[str] = Counter()
        for order in self.valid_orders(first, last):
            for item in order["items"]:
                sold[item["product_name"]] += item["quantity"]
        name, count = sold.most_common(place)[-1]
        return name if len(sold) >= place and list(sold.values()).count(count) == 1 else None


@functools.cache
def seed_office() -> Office:
    database = open_database(shopping_seed.seed_database())

    def records(query: str, *values) -> list[dict]:
        return [dict(row) for row in database.execute(query, values)]

    orders = records("SELECT o.*, c.name AS customer_name FROM (SELECT *, 'Web' AS source FROM orders UNION ALL "
                     "SELECT *, 'Phone' FROM phone_orders) o JOIN customers c ON c.id = o.customer ORDER BY o.id")
    for order in orders:
        order["items"] = records("SELECT i.*, p.name AS product_name FROM order_items i JOIN products p ON p.id = i.product "
                                 "WHERE order_id = ?", order["id"])
        order["comments"] = records("SELECT date, text FROM order_comments WHERE order_id = ? ORDER BY id DESC", order["id"])
        order["subtotal"] = sum(item["quantity"] * item["cents"] for item in order["items"])
        order["cents"] = order["subtotal"] + order["shipping_cents"]
    customers = records("SELECT * FROM customers ORDER BY id")
    for customer in customers:
        customer["cents"] = sum(o["cents"] for o in orders if o["customer"] == customer["id"] and o["status"] != "Canceled")
    products = records("SELECT p.*, c.name AS category_name FROM products p JOIN categories c ON c.id = p.category ORDER BY p.id")
    reviews = records("SELECT r.*, p.name AS product_name FROM all_reviews r JOIN products p ON p.id = r.product ORDER BY r.id DESC")
    office = Office(tuple(products), tuple(orders), tuple(customers), tuple(reviews), tuple(records("SELECT * FROM searches ORDER BY id")))
    database.close()
    return office


# --- evaluation records ----------------------------------------------------------------------------------------------------------

def _url(path: str, **query: str) -> dict:
    return url("shopping_admin", f"{path}?{urlencode(query)}" if query else path)


def _all(*records: dict) -> dict:
    """One record that wants all of these, each of another kind."""
    merged = {"eval_types": [kind for record in records for kind in record["eval_types"]]}
    for record in records:
        merged |= {name: value for name, value in record.items() if name not in merged or value and name != "eval_types"}
    return merged


def _product_state(office: Office, name: str, **changes: str) -> dict:
    """The product with these changes, and no other record changed."""
    product = office.product(name)
    columns = [{"price": "cents", "status": "enabled"}.get(field, field) for field in changes]
    return state("shopping_admin", _product_form(product, **changes), only_changed(products=(1, 1, *columns)))


def _product_form(product: dict, **changes: str) -> tuple[str, str, str]:
    """A check for `state`: the product's form, with these changes."""
    values = {"name": product["name"], "price": f"{product['cents'] / 100:.2f}", "stock": str(product["stock"]), "status": "Enabled", **changes}
    return f"/products/{product['slug']}", FORM, "; ".join(values.values())


def _order_state(office: Office, number: int, comment: str = "", **changes: str) -> dict:
    """The order after the changes and with a new comment, and no other record changed but the stock of what a canceled order gives back."""
    before = office.order(number)
    order = {**before, **changes}
    shipping, address = f"{order['shipping']} {money(order['shipping_cents'])}", "{name}, {street}, {city} {zip}".format(**order)
    facts = [order["date"], order["source"], order["status"], order["customer_name"], shipping, address, money(order["cents"])]
    comments = [{"date": TODAY, "text": comment}] * bool(comment) + order["comments"]
    facts += [cell for line in comments for cell in (line["date"], line["text"])]
    table, changed = "orders" if order["source"] == "Web" else "phone_orders", [field for field in order if order[field] != before[field]]
    own = int(bool(changed))
    returned: Counter[str] = Counter()
    if order["status"] == "Canceled" != before["status"]:
        for item in order["items"]:
            returned[item["product_name"]] += item["quantity"]
    restocked = [(office.product(name), quantity) for name, quantity in returned.items()]
    return state("shopping_admin", (f"/orders/{number}", ORDER, " | ".join(facts)),
                 *(_product_form(product, stock=str(product["stock"] + quantity)) for product, quantity in restocked),
                 only_changed(**{table: (own, own, *changed)}, order_comments=(0, int(bool(comment))), products=(len(restocked), len(restocked), "stock")))


def _review_state(office: Office, filling: dict, verdict: str) -> dict:
    """All reviews of the product after the verdict on one, and no other record changed."""
    lines = [(r["id"], r["author"], r["stars"], r["text"], verdict if r["author"] == filling["author"] else r["status"])
             for r in office.reviews_of(filling["product"])]
    return state("shopping_admin", (f"/products/{slug_of(filling['product'])}", REVIEWS,
                                    "; ".join(f"Review {' | '.join(map(str, line))}" for line in lines)), only_changed(all_reviews=(1, 1, "status")))


def _customer_state(office: Office, name: str, phone: str) -> dict:
    """The customer with another phone, and no other record changed."""
    customer = {**office.customer(name), "phone": phone}
    fields = [customer[field] for field in ("name", "email", "street", "city", "zip", "phone")]
    return state("shopping_admin", (f"/customers/{customer['id']}", FORM, "; ".join([*fields, "false"])), only_changed(customers=(1, 1, "phone")))


# --- fillings --------------------------------------------------------------------------------------------------------------------

def _figures(office: Office) -> dict[str, str]:
    """What the dashboard sums up: how a question names it → value."""
    orders = office.valid_orders()
    cents = sum(order["cents"] for order in orders)
    return {"revenue": money(cents), "average order": money(cents // len(orders)), "number of valid orders": str(len(orders)),
            "number of customers": str(len(office.customers)), "number of products": str(len(office.products)),
            "number of pending reviews": str(sum(review["status"] == "Pending" for review in office.reviews))}


def _months(office: Office) -> dict[str, str]:
    """Each month with orders, as the report names it → its first seven characters in a date."""
    months = sorted({order["date"][:7] for order in office.valid_orders()})
    return {f"{datetime.date.fromisoformat(month + '-01'):%B %Y}": month for month in months}


def _dates(office, rng):
    """Random periods of 20 to 90 days with at least one order."""
    periods = []
    for _ in range(60):
        first = datetime.date(2025, 1, 1) + datetime.timedelta(days=rng.randrange(330))
        periods.append({"first": first.isoformat(), "last": (first + datetime.timedelta(days=rng.randint(20, 90))).isoformat()})
    return [period for period in periods if office.valid_orders(period["first"], period["last"])]


def _numbers(office, rng):
    return [{"order": order["id"]} for order in office.orders]


def _not_canceled(office, rng):
    return [{"order": order["id"]} for order in office.orders if order["status"] != "Canceled"]


def _new_statuses(office, rng):
    return [{**filling, "status": rng.choice([status for status in STATUSES if status != office.order(filling["order"])["status"]])}
            for filling in _not_canceled(office, rng)]


def _star_counts(office, rng):
    return [{"product": product["name"], "stars": f"{review['stars']} star{'s' if review['stars'] != 1 else ''}"}
            for product in office.products for review in office.reviews_of(product["name"])
            if sum(other["stars"] == review["stars"] for other in office.reviews_of(product["name"])) == 1]


def _nothing(office, rng):
    """Facts of customers, orders and products that do not exist."""
    names = {customer["name"] for customer in office.customers}
    people = [f"{person} {look}" for person in PEOPLE for look in LOOKS if f"{person} {look}" not in names]
    nouns = [noun for nouns, _, _ in CATEGORIES.values() for noun in nouns]
    things = [f"{rng.choice(UNUSED_LOOKS)} {rng.choice(MATERIALS)} {rng.choice(nouns)}" for _ in range(40)]
    return [{"fact": rng.choice(("phone", "email")), "thing": name} for name in rng.sample(people, 40)] + \
           [{"fact": "total", "thing": f"order {number}"} for number in range(1040, 1080)] + \
           [{"fact": "revenue", "thing": name} for name in things]


def _counts(office, rng):
    return [{"source": source, "status": status} for source, status in sorted({(o["source"], o["status"]) for o in office.orders})]


def _product_changes(office, rng):
    changes = []
    for product in office.products:
        price, stock = f"{rng.randint(3, 89)}.{rng.choice((25, 50, 75, 99))}", str(rng.randint(20, 400))
        changes += [{"product": product["name"], "field": field, "value": value} for field, value in (("price", price), ("stock", stock))
                    if value not in (str(product["stock"]), f"{product['cents'] / 100:.2f}")]
    return changes


def _addresses(office, rng):
    return [{**filling, "street": f"{rng.randint(100, 199)} {rng.choice(STREETS)}", "zip": str(rng.randint(10000, 99999)),
             "city": rng.choice([city for city in CITIES if city != office.order(filling["order"])["city"]])}
            for filling in _not_canceled(office, rng)]


def _reviews(*statuses: str) -> Callable:
    return lambda office, rng: [{"product": r["product_name"], "author": r["author"]} for r in office.reviews if r["status"] in statuses]


# --- evaluations that take more than a line --------------------------------------------------------------------------------------

def _top_customer(office: Office, filling: dict) -> dict:
    rank = filling["rank"].replace("least", "most")
    customers = sorted(office.customers, key=lambda customer: customer["cents"], reverse=rank == filling["rank"])
    return answer(customers[RANKS.index(rank)]["name"])


def _counted(office: Office, filling: dict) -> dict:
    count = sum(order["source"] == filling["source"] and order["status"] == filling["status"] for order in office.orders)
    return _all(answer(str(count)), _url("/orders", q="", **filling))


def _reported(office: Office, filling: dict) -> dict:
    first, last = SHORTCUTS[filling["period"].capitalize()]
    return _all(answer(office.totals(first, last)[filling["figure"]]), url("shopping_admin", f"/reports/sales?from={first}&to={last}"))


def _sorted(office: Office, filling: dict) -> dict:
    extreme, column = filling["order"].split()
    sort = f"-{column}" if extreme == "highest" else column
    return _url("/products", q="", category=filling["category"], status="", sort=sort)


def _admin(name: str, phrasings: tuple[str, ...], fillings: Callable[[Office, random.Random], list[dict]],
           evaluation: Callable[[Office, dict], dict], train: int, test: int) -> Template:
    return Template(f"admin_{name}", phrasings, lambda rng: fillings(seed_office(), rng),
                    lambda filling: evaluation(seed_office(), filling), train, test, sites=("shopping_admin",))


TEMPLATES = (
    # questions
    _admin("dashboard_figure", ("What is the {{figure}}?", "Tell me the {{figure}}."),
           lambda office, rng: [{"figure": figure} for figure in _figures(office)],
           lambda office, f: answer(_figures(office)[f["figure"]]), 5, 1),
    _admin("month_revenue", ("What was the revenue in {{month}}?", "How much revenue was there in {{month}}?"),
           lambda office, rng: [{"month": month} for month in _months(office)],
           lambda office, f: answer(office.totals(_months(office)[f["month"]], _months(office)[f["month"]] + "-31")["revenue"]), 6, 1),
    _admin("best_seller", ("Which product is number {{place}} among the best sellers?",),
           lambda office, rng: [{"place": place} for place in range(1, 11) if office.best_seller(place)],
           lambda office, f: answer(office.best_seller(f["place"])), 5, 1),
    _admin("best_seller_dates", ("Which product sold best from {{first}} to {{last}}?",),
           lambda office, rng: [dates for dates in _dates(office, rng) if office.best_seller(**dates)],
           lambda office, f: answer(office.best_seller(**f)), 5, 1),
    _admin("search_uses", ("How often was {{term}} searched for?", "How many times was {{term}} searched for?"),
           lambda office, rng: [{"term": search["term"]} for search in office.searches],
           lambda office, f: answer(str(next(search["uses"] for search in office.searches if search["term"] == f["term"]))), 6, 1),
    _admin("customer_contact", ("What is the {{field}} of {{customer}}?", "Find the {{field}} of {{customer}}."),
           lambda office, rng: [{"field": field, "customer": c["name"]} for c in office.customers for field in ("phone", "email")],
           lambda office, f: answer(office.customer(f["customer"])[f["field"]]), 6, 1),
    _admin("order_total", ("How much is order {{order}}?", "Tell me the total of order {{order}}."), _numbers,
           lambda office, f: answer(money(office.order(f["order"])["cents"])), 5, 1),
    _admin("top_customer", ("Which customer spent the {{rank}}?",),
           lambda office, rng: [{"rank": rank.replace("most", extreme)} for rank in RANKS for extreme in ("most", "least")],
           _top_customer, 4, 1),
    _admin("review_author", ("Who reviewed {{product}} with {{stars}}?",), _star_counts,
           lambda office, f: answer(next(r["author"] for r in office.reviews_of(f["product"]) if r["stars"] == int(f["stars"][0]))), 5, 1),
    _admin("nothing_found", ("What is the {{fact}} of {{thing}}?", "Find the {{fact}} of {{thing}}."), _nothing,
           lambda office, f: answer("N/A"), 6, 2),
    # questions whose answer is to be shown, too
    _admin("count_orders", ("Show the {{source}} orders with the status {{status}} and count them.",), _counts, _counted, 7, 1),
    _admin("sales_report", ("Show the sales of {{period}} and tell me the total {{figure}}.",),
           lambda office, rng: [{"period": period, "figure": figure} for period in PERIODS for figure in ("orders", "items", "revenue")],
           _reported, 5, 1),
    # needed: Wait (the figures come after some seconds)
    _admin("stock_value", ("Show the stock value report and tell me the {{figure}} of {{category}}.",),
           lambda office, rng: [{"figure": figure, "category": category} for category in CATEGORIES for figure in ("items", "value")],
           lambda office, f: _all(answer(office.stock_figures(f["category"])[f["figure"]]), _url("/reports/stock-value")), 4, 1),
    # navigation
    _admin("sorted_products", ("Show {{category}} with the {{order}} first.", "List {{category}} with the {{order}} first."),
           lambda office, rng: [{"category": category, "order": f"{extreme} {column}"} for category in CATEGORIES
                                for extreme in ("lowest", "highest") for column in ("price", "stock")], _sorted, 7, 1),
    _admin("open_invoice", ("Open the invoice of order {{order}}.", "Show me the invoice of order {{order}}."), _not_canceled,
           lambda office, f: _url(f"/orders/{f['order']}/invoice"), 6, 1),
    # changes of state
    _admin("change_product", ("Change the {{field}} of {{product}} to {{value}}.", "Set the {{field}} of {{product}} to {{value}}."),
           _product_changes,
           lambda office, f: _product_state(office, f["product"], **{f["field"]: f["value"]}), 9, 1),
    _admin("disable_product", ("Disable {{product}}.",), lambda office, rng: [{"product": product["name"]} for product in office.products],
           lambda office, f: _product_state(office, f["product"], status=SWITCH[0]), 5, 1),
    _admin("cancel_order", ("Cancel order {{order}}.",),
           lambda office, rng: [{"order": o["id"]} for o in office.orders if o["status"] in OPEN],
           lambda office, f: _order_state(office, f["order"], status="Canceled"), 6, 1),
    _admin("order_status", ("Change the status of order {{order}} to {{status}}.", "Set the status of order {{order}} to {{status}}."),
           _new_statuses,
           lambda office, f: _order_state(office, f["order"], status=f["status"]), 6, 1),
    _admin("order_comment", ("Comment on order {{order}}: {{comment}}",),
           lambda office, rng: [{**filling, "comment": rng.choice(COMMENTS)} for filling in _numbers(office, rng)],
           lambda office, f: _order_state(office, f["order"], f["comment"]), 5, 1),
    _admin("comment_subtotal", ("Comment on order {{order}} with the subtotal of its invoice.",),
           lambda office, rng: [filling for filling in _not_canceled(office, rng) if office.order(filling["order"])["shipping_cents"]],
           lambda office, f: _order_state(office, f["order"], money(office.order(f["order"])["subtotal"])), 4, 1),
    _admin("order_address", ("Send order {{order}} to {{street}}, {{city}} {{zip}}.",), _addresses,
           lambda office, f: _order_state(office, f["order"], street=f["street"], city=f["city"], zip=f["zip"]), 5, 1),
    _admin("approve_review", ("Approve the review of {{product}} by {{author}}.",), _reviews("Pending", "Not approved"),
           lambda office, f: _review_state(office, f, VERDICTS[1]), 6, 1),
    _admin("customer_phone", ("Change the phone of {{customer}} to {{phone}}.", "Set the phone of {{customer}} to {{phone}}."),
           lambda office, rng: [{"customer": c["name"], "phone": f"555-{rng.randint(100, 9999):04d}"} for c in office.customers],
           lambda office, f: _customer_state(office, f["customer"], phone=f["phone"]), 5, 1),
    _admin("status_invoice", ("Change the status of order {{order}} to {{status}} and open its invoice.",), _new_statuses,
           lambda office, f: _all(_order_state(office, f["order"], status=f["status"]), _url(f"/orders/{f['order']}/invoice")), 4, 1),
    # never trained on: skills that other templates teach, put together or turned to something else
    _admin("order_customer", ("Who placed order {{order}}?",), _numbers,
           lambda office, f: answer(office.order(f["order"])["customer_name"]), 0, 2),
    _admin("revenue_dates", ("What was the revenue from {{first}} to {{last}}?",), _dates,
           lambda office, f: answer(office.totals(f["first"], f["last"])["revenue"]), 0, 2),
    _admin("customer_of_order", ("Open the page of the customer who placed order {{order}}.",), _numbers,
           lambda office, f: _url(f"/customers/{office.order(f['order'])['customer']}"), 0, 2),
    _admin("price_stock", ("Change the price of {{product}} to {{price}} and the stock to {{stock}}.",),
           lambda office, rng: [{"product": p["name"], "price": f"{rng.randint(3, 89)}.{rng.choice((25, 50, 75, 99))}",
                                 "stock": str(rng.randint(100, 400))} for p in office.products],
           lambda office, f: _product_state(office, f["product"], price=f["price"], stock=f["stock"]), 0, 2),
    _admin("reject_review", ("Reject the review of {{product}} by {{author}}.",), _reviews("Pending", "Approved"),
           lambda office, f: _review_state(office, f, VERDICTS[2]), 0, 1),
)
