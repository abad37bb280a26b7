"""The seed state of the sites `shopping` and `shopping_admin`, which share one database, from a fixed random seed: an invented shop,
its customers, one customer's past, and what only the back office shows.

What only the back office shows stands apart from what the shop reads. `orders` are those placed on the web; those taken by phone have
a table and numbers of their own, and the view `all_orders` holds both. Of `all_reviews` the shop sees the approved ones, as the view
`reviews`; a review that it adds is approved.
"""

import datetime
import functools
import random
import sqlite3

SEED = 20250516
CUSTOMER = 1                     # who is logged in where a task requires login
SESSION = "seed-session"         # the session token of CUSTOMER in every fresh world
PAGE_SIZE = 10                   # rows of a listing
TODAY = "2026-03-15"             # the date of every order placed in a world
ADMIN = ("admin", "admin1234")              # who runs the back office: username, password
ADMIN_SESSION = "seed-admin-session"        # the session token of ADMIN in every fresh world
SHIPPING = {"Standard": 500, "Express": 1200, "Pickup": 0}      # in cents

SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT UNIQUE, password TEXT, name TEXT, phone TEXT, street TEXT, city TEXT,
                        zip TEXT, newsletter INTEGER);
CREATE TABLE sessions (token TEXT PRIMARY KEY, customer INTEGER);
CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT, slug TEXT UNIQUE);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT UNIQUE, slug TEXT UNIQUE, category INTEGER, cents INTEGER, stock INTEGER,
                       description TEXT, option_name TEXT, options TEXT, enabled INTEGER DEFAULT 1);
CREATE TABLE all_reviews (id INTEGER PRIMARY KEY, product INTEGER, author TEXT, stars INTEGER, text TEXT, customer INTEGER,
                          status TEXT DEFAULT 'Approved');
CREATE VIEW reviews AS SELECT id, product, author, stars, text, customer FROM all_reviews WHERE status = 'Approved';
CREATE TRIGGER new_review INSTEAD OF INSERT ON reviews BEGIN
    INSERT INTO all_reviews (product, author, stars, text, customer) VALUES (NEW.product, NEW.author, NEW.stars, NEW.text, NEW.customer);
END;
CREATE TABLE cart (id INTEGER PRIMARY KEY, customer INTEGER, product INTEGER, choice TEXT, quantity INTEGER,
                   UNIQUE (customer, product, choice));
CREATE TABLE wishes (id INTEGER PRIMARY KEY, customer INTEGER, product INTEGER, UNIQUE (customer, product));
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, date TEXT, status TEXT, shipping TEXT, shipping_cents INTEGER,
                     name TEXT, street TEXT, city TEXT, zip TEXT);
CREATE TABLE order_items (id INTEGER PRIMARY KEY, order_id INTEGER, product INTEGER, choice TEXT, quantity INTEGER, cents INTEGER);
CREATE TABLE phone_orders (id INTEGER PRIMARY KEY, customer INTEGER, date TEXT, status TEXT, shipping TEXT, shipping_cents INTEGER,
                           name TEXT, street TEXT, city TEXT, zip TEXT);
CREATE VIEW all_orders AS
    SELECT o.*, c.name AS customer_name,
           shipping_cents + (SELECT coalesce(sum(quantity * cents), 0) FROM order_items WHERE order_id = o.id) AS total
    FROM (SELECT *, 'Web' AS source FROM orders UNION ALL SELECT *, 'Phone' FROM phone_orders) o JOIN customers c ON c.id = o.customer;
CREATE TABLE order_comments (id INTEGER PRIMARY KEY, order_id INTEGER, date TEXT, text TEXT);
CREATE TABLE searches (id INTEGER PRIMARY KEY, term TEXT UNIQUE, uses INTEGER, results INTEGER);
CREATE TABLE admins (id INTEGER PRIMARY KEY, username TEXT UNIQUE, password TEXT);
CREATE TABLE admin_sessions (token TEXT PRIMARY KEY, admin INTEGER);
CREATE INDEX reviews_of ON all_reviews (product);
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
COMMENTS = ("Please ring the bell.", "A gift note was asked for.", "The address was checked by phone.", "Leave it with a neighbor.",
            "The customer asked for a call.", "Packed with extra paper.", "Waiting for the payment.", "The box was damaged.")
SPAM = ("Visit my page", "First", "Cheap watches here", "Call me now", "Test test test", "Nothing to say")
SEARCHES = ("silk lamp", "wool", "mug", "steel bottle", "backpack", "kite", "umbrella", "desk", "cedar", "leather jacket", "puzzle",
            "linen shirt", "garden bench", "notebook", "amber", "copper kettle", "planter", "velvet", "sofa", "robot", "candle",
            "glass bowl", "scarf", "golden train")
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
    _add_office(database, random.Random(SEED + 1))
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


# --- what only the back office shows ---------------------------------------------------------------------------------------------

def _add_office(database: sqlite3.Connection, rng: random.Random) -> None:
    """Who wrote which review, reviews that wait or were turned down, orders by phone, comments, searches, and who runs the office."""
    database.execute("UPDATE all_reviews SET customer = (SELECT id FROM customers WHERE name LIKE author || ' %')")
    _add_held_reviews(database, rng)
    _add_phone_orders(database, rng)
    _order_every_product(database)
    for order, date in database.execute("SELECT id, date FROM all_orders ORDER BY id").fetchall():
        if rng.random() < 0.2:
            database.execute("INSERT INTO order_comments (order_id, date, text) VALUES (?,?,?)", (order, date, rng.choice(COMMENTS)))
    for term, uses in zip(rng.sample(SEARCHES, len(SEARCHES)), rng.sample(range(2, 60), len(SEARCHES))):
        where = " AND ".join("instr(lower(name), ?)" for _ in term.split())
        results = database.execute(f"SELECT count(*) FROM products WHERE {where}", term.split()).fetchone()[0]
        database.execute("INSERT INTO searches (term, uses, results) VALUES (?,?,?)", (term, uses, results))
    database.execute("INSERT INTO admins VALUES (1, ?, ?)", ADMIN)
    database.execute("INSERT INTO admin_sessions VALUES (?, 1)", (ADMIN_SESSION,))


def _add_held_reviews(database: sqlite3.Connection, rng: random.Random) -> None:
    """14 pending reviews and 8 that were not approved, each by someone who wrote none about the product yet."""
    products = [product for product, in database.execute("SELECT id FROM products ORDER BY id")]
    for index, product in enumerate(rng.sample(products, 22)):
        written = {author for author, in database.execute("SELECT author FROM all_reviews WHERE product = ?", (product,))}
        author = rng.choice([person for person in PEOPLE if person not in written])
        pending = index % 11 < 7
        database.execute("INSERT INTO all_reviews (product, author, stars, text, customer, status) VALUES (?,?,?,?,?,?)",
                         (product, author, rng.randint(1, 5), rng.choice(PRAISE if pending else SPAM), PEOPLE.index(author) + 2,
                          "Pending" if pending else "Not approved"))


def _add_phone_orders(database: sqlite3.Connection, rng: random.Random) -> None:
    """The orders that all customers but CUSTOMER placed by phone, up to the day before TODAY; some customers and products stand out."""
    products = database.execute("SELECT id, cents, options FROM products WHERE stock > 0 ORDER BY id").fetchall()
    customers = database.execute("SELECT id, name, street, city, zip FROM customers WHERE id != ? ORDER BY id", (CUSTOMER,)).fetchall()
    popular, regular = rng.sample(products, 10), rng.sample(customers, 6)
    day, today = datetime.date(2025, 1, 2), datetime.date.fromisoformat(TODAY)
    number = 5001
    while day < today:
        customer, *address = rng.choice(regular if rng.random() < 0.4 else customers)
        recent = (today - day).days < 30
        status = rng.choice(("Received", "Received", "Packed", "Shipped", "On hold") if recent else
                            ("Delivered",) * 8 + ("Canceled", "Returned"))
        shipping = rng.choice(list(SHIPPING))
        database.execute("INSERT INTO phone_orders VALUES (?,?,?,?,?,?,?,?,?,?)",
                         (number, customer, day.isoformat(), status, shipping, SHIPPING[shipping], *address))
        for product, cents, options in rng.sample(popular if rng.random() < 0.4 else products, rng.randint(1, 4)):
            choice = rng.choice(options.split("|")) if options else ""
            database.execute("INSERT INTO order_items (order_id, product, choice, quantity, cents) VALUES (?,?,?,?,?)",
                             (number, product, choice, rng.randint(1, 4), cents))
        number += 1
        day += datetime.timedelta(days=rng.randint(1, 6))


def _order_every_product(database: sqlite3.Connection) -> None:
    """Each product that is in no order takes the place of one that sells now and then, in a delivered phone order of 2025.

    The line keeps its quantity and its price, which is what was paid that day and the nearest there is to today's price: no total of an
    order, a customer or a period depends on this, nor do the ten best sellers.
    """
    never = database.execute("SELECT id, cents, options FROM products WHERE id NOT IN (SELECT product FROM order_items) ORDER BY id").fetchall()
    for product, cents, options in never:
        line, = database.execute("""SELECT i.id FROM order_items i JOIN phone_orders o ON o.id = i.order_id WHERE o.status = 'Delivered'
                                    AND o.date < '2026' AND (SELECT count(*) FROM order_items WHERE product = i.product) BETWEEN 2 AND 5
                                    ORDER BY abs(i.cents - ?), i.id LIMIT 1""", (cents,)).fetchone()
        choices = options.split("|")          # of a product without options: the empty choice
        database.execute("UPDATE order_items SET product = ?, choice = ? WHERE id = ?", (product, choices[line % len(choices)], line))
