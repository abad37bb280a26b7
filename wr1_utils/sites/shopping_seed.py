"""The seed state of the site `shopping`: an invented shop, its customers and one customer's past, from a fixed random seed."""

import datetime
import functools
import random
import sqlite3

SEED = 20250516
CUSTOMER = 1                     # who is logged in where a task requires login
SESSION = "seed-session"         # the session token of CUSTOMER in every fresh world
PAGE_SIZE = 10                   # rows of a listing
TODAY = "2026-03-15"             # the date of every order placed in a world
SHIPPING = {"Standard": 500, "Express": 1200, "Pickup": 0}      # in cents

SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT UNIQUE, password TEXT, name TEXT, phone TEXT, street TEXT, city TEXT,
                        zip TEXT, newsletter INTEGER);
CREATE TABLE sessions (token TEXT PRIMARY KEY, customer INTEGER);
CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT, slug TEXT UNIQUE);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT UNIQUE, slug TEXT UNIQUE, category INTEGER, cents INTEGER, stock INTEGER,
                       description TEXT, option_name TEXT, options TEXT);
CREATE TABLE reviews (id INTEGER PRIMARY KEY, product INTEGER, author TEXT, stars INTEGER, text TEXT);
CREATE TABLE cart (id INTEGER PRIMARY KEY, customer INTEGER, product INTEGER, choice TEXT, quantity INTEGER,
                   UNIQUE (customer, product, choice));
CREATE TABLE wishes (id INTEGER PRIMARY KEY, customer INTEGER, product INTEGER, UNIQUE (customer, product));
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, date TEXT, status TEXT, shipping TEXT, shipping_cents INTEGER,
                     name TEXT, street TEXT, city TEXT, zip TEXT);
CREATE TABLE order_items (id INTEGER PRIMARY KEY, order_id INTEGER, product INTEGER, choice TEXT, quantity INTEGER, cents INTEGER);
CREATE INDEX reviews_of ON reviews (product);
CREATE INDEX products_of ON products (category);
CREATE INDEX items_of ON order_items (order_id);
"""

CATEGORIES = {                   # name → (nouns, option name, options)
    "Lighting": (("Lamp", "Lantern", "Candle", "Torch"), "", ""),
    "Kitchen": (("Mug", "Bowl", "Kettle", "Spoon"), "", ""),
    "Clothing": (("Shirt", "Scarf", "Jacket", "Hat"), "Size", "Small|Medium|Large"),
    "Bags": (("Backpack", "Basket", "Pouch", "Purse"), "Color", "Red|Green|Blue"),
    "Garden": (("Planter", "Shovel", "Bench", "Fence"), "", ""),
    "Office": (("Notebook", "Pencil", "Folder", "Desk"), "", ""),
    "Toys": (("Puzzle", "Kite", "Robot", "Train"), "", ""),
    "Sports": (("Ball", "Racket", "Bottle", "Helmet"), "", ""),
}
LOOKS = ("Amber", "Bright", "Coral", "Crimson", "Quiet", "Gentle", "Golden", "Happy", "Ivory", "Little", "Lucky", "Misty", "Modern",
         "Ocean", "Plain", "Royal", "Rustic", "Silver", "Sunny", "Swift")
MATERIALS = ("Bamboo", "Canvas", "Cedar", "Copper", "Cork", "Cotton", "Glass", "Leather", "Linen", "Marble", "Paper", "Silk", "Steel",
             "Velvet", "Wool")
PRAISE = ("Solid and bright", "Better than expected", "Works every day", "A lovely gift", "Too small for me", "Arrived late",
          "Good value", "Nice color", "Broke after a week", "Would buy again", "Just what I wanted", "A bit heavy", "Soft and warm",
          "Looks cheap", "My kids love it", "Easy to clean", "Not for me", "Sturdy and simple", "Feels well made", "Smaller than shown")
PEOPLE = ("Nora", "Otis", "Petra", "Quinn", "Rosa", "Silas", "Tessa", "Uma", "Vera", "Wade", "Xenia", "Yara", "Zane", "Alma", "Boris",
          "Clara", "Dexter", "Edith", "Felix", "Greta", "Hugo", "Ines", "Jonas", "Kira", "Lars", "Mona", "Nils", "Olga", "Pablo", "Ruth")
STREETS = ("Oak Lane", "Mill Road", "Lake Street", "Hill Avenue", "River Way", "Park Drive", "Elm Court", "Bridge Street")
CITIES = ("Elmton", "Northford", "Lakeview", "Brookdale", "Ashville", "Westbury", "Milford", "Redwood")
STATUSES = ("Delivered", "Shipped", "Packed", "Canceled", "Returned", "On hold")
UNUSED_LOOKS = ("Dusty", "Purple", "Noble", "Frozen")     # never the name of a product: for questions that have no answer


def money(cents: int) -> str:
    """``1250`` gives ``$12.50``."""
    return f"${cents // 100:,}.{cents % 100:02d}"


def slug_of(name: str) -> str:
    return name.lower().replace(" ", "-")


@functools.cache
def seed_database() -> bytes:
    """The serialised seed database; the same bytes' content on every machine."""
    rng = random.Random(SEED)
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA)
    _add_products(database, rng)
    _add_customers(database, rng)
    _add_past(database, rng)
    database.commit()
    database.execute("VACUUM")
    seed = database.serialize()
    database.close()
    return seed


def _add_products(database: sqlite3.Connection, rng: random.Random) -> None:
    names: set[tuple[str, str]] = set()
    for number, (category, (nouns, option_name, options)) in enumerate(CATEGORIES.items(), start=1):
        database.execute("INSERT INTO categories VALUES (?, ?, ?)", (number, category, slug_of(category)))
        prices: set[int] = set()
        for index in range(rng.randint(11, 15)):
            while True:          # a look and a material go together once, so two words already name a product
                pair = (rng.choice(LOOKS), rng.choice(MATERIALS))
                if pair not in names:
                    names.add(pair)
                    break
            cents = next(c for c in iter(lambda: rng.randint(3, 89) * 100 + rng.choice((0, 25, 50, 75, 99)), None) if c not in prices)
            prices.add(cents)
            noun = nouns[index % len(nouns)]
            name = f"{pair[0]} {pair[1]} {noun}"
            product = database.execute(
                "INSERT INTO products (name, slug, category, cents, stock, description, option_name, options) VALUES (?,?,?,?,?,?,?,?)",
                (name, slug_of(name), number, cents, 0 if index == 7 else rng.randint(12, 99),
                 f"This {noun.lower()} is made of {pair[1].lower()}.", option_name, options)).lastrowid
            authors = rng.sample(PEOPLE, 4)
            for author, text in zip(authors[:rng.randint(1, 4)], rng.sample(PRAISE, 4)):
                database.execute("INSERT INTO reviews (product, author, stars, text) VALUES (?,?,?,?)",
                                 (product, author, rng.choice((1, 2, 3, 3, 4, 4, 4, 5, 5, 5)), text))


def customer_login() -> tuple[str, str]:
    """E-mail address and password of CUSTOMER, for people who look at the shop themselves."""
    database = sqlite3.connect(":memory:")
    database.deserialize(seed_database())
    return database.execute("SELECT email, password FROM customers WHERE id = ?", (CUSTOMER,)).fetchone()


def _add_customers(database: sqlite3.Connection, rng: random.Random) -> None:
    surnames = [word for word in LOOKS if word not in ("Bright", "Happy", "Plain")]
    names = ["Emma Lane"] + [f"{person} {rng.choice(surnames)}" for person in PEOPLE]
    for name in names:
        first = name.split()[0].lower()
        password = f"{rng.choice(MATERIALS).lower()}{rng.randint(10, 99)}"
        database.execute("INSERT INTO customers (email, password, name, phone, street, city, zip, newsletter) VALUES (?,?,?,?,?,?,?,0)",
                         (f"{first}@shop.test", password, name, f"555-{rng.randint(100, 9999):04d}",
                          f"{rng.randint(1, 99)} {rng.choice(STREETS)}", rng.choice(CITIES), f"{rng.randint(10000, 99999)}"))
    database.execute("INSERT INTO sessions VALUES (?, ?)", (SESSION, CUSTOMER))


def _add_past(database: sqlite3.Connection, rng: random.Random) -> None:
    """What CUSTOMER has in the cart and on the wish list, and 24 old orders."""
    products = database.execute("SELECT id, cents, options FROM products WHERE stock > 0 ORDER BY id").fetchall()
    chosen = rng.sample(products, 12)
    for product, _, options in chosen[:5]:
        choice = rng.choice(options.split("|")) if options else ""
        database.execute("INSERT INTO cart (customer, product, choice, quantity) VALUES (?,?,?,?)",
                         (CUSTOMER, product, choice, rng.randint(1, 3)))
    for product, _, _ in chosen[5:]:
        database.execute("INSERT INTO wishes (customer, product) VALUES (?,?)", (CUSTOMER, product))
    address = database.execute("SELECT name, street, city, zip FROM customers WHERE id = ?", (CUSTOMER,)).fetchone()
    day = datetime.date(2025, 1, 3)
    for number in range(1001, 1025):
        shipping = rng.choice(list(SHIPPING))
        database.execute("INSERT INTO orders VALUES (?,?,?,?,?,?,?,?,?,?)",
                         (number, CUSTOMER, day.isoformat(), rng.choice(STATUSES), shipping, SHIPPING[shipping], *address))
        for product, cents, options in rng.sample(products, rng.randint(1, 3)):
            choice = rng.choice(options.split("|")) if options else ""
            database.execute("INSERT INTO order_items (order_id, product, choice, quantity, cents) VALUES (?,?,?,?,?)",
                             (number, product, choice, rng.randint(1, 4), cents))
        day += datetime.timedelta(days=rng.randint(9, 20))
