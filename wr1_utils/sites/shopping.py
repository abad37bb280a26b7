"""The site `shopping`: a storefront with search, product pages, reviews, cart, wish list, checkout, orders and an account.

Every page is small (150–500 tokens as the agent reads it) and every label stands for one thing on its page. Looking around needs
no login; everything that belongs to a customer does. A form that does not hold what it should is answered with a message and
changes nothing. Passwords are plain text: they are part of the invented data.
"""

import sqlite3

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from wr1_utils.sites.pages import (
    asked,
    both,
    go,
    log_in,
    log_out,
    make_page,
    number,
    one,
    post,
    read_form,
    rows,
    slice_rows,
    to_login,
    too_long,
    wrong_field,
)
from wr1_utils.sites.shopping_seed import SHIPPING, TODAY

SORTS = {                                     # value in the URL → label, ORDER BY
    "name": ("Name", "p.name"),
    "price_low": ("Price low to high", "p.cents, p.name"),
    "price_high": ("Price high to low", "p.cents DESC, p.name"),
    "rating": ("Rating", "rating DESC, p.name"),
}
LISTED = """SELECT p.*, c.name AS category_name, c.slug AS category_slug,
                   (SELECT round(avg(stars), 1) FROM reviews WHERE product = p.id) AS rating
            FROM products p JOIN categories c ON c.id = p.category"""
SESSION_COOKIE = "shop_session"
ADDRESS = {                                   # field → label, pattern, what it should be
    "name": ("Name", r".{1,60}", "a name"),
    "street": ("Street", r".{1,60}", "a street"),
    "city": ("City", r".{1,60}", "a city"),
    "zip": ("Zip", r"[0-9]{5}", "5 digits"),
}
ACCOUNT = {**ADDRESS, "phone": ("Phone", r"[0-9]{3}-[0-9]{4}", "a number such as 555-0123")}


# --- what every page needs -------------------------------------------------------------------------------------------------------

def _page(request: Request, template: str, title: str, status: int = 200, error: str = "", **content) -> Response:
    return make_page(request, f"shopping/{template}", title, status, error, customer=_customer(request),
                     search=request.query_params.get("q", ""), **content)


def _customer(request: Request) -> sqlite3.Row | None:
    token = request.cookies.get(SESSION_COOKIE, "")
    return one(request, "SELECT c.* FROM customers c JOIN sessions s ON s.customer = c.id WHERE s.token = ?", token)


def _signed_in(handler):
    """Sends a visitor who is not logged in to the login page instead."""
    async def guarded(request: Request) -> Response:
        customer = _customer(request)
        if customer is None:
            return to_login(request)
        return await handler(request, customer)
    return guarded


# --- looking around --------------------------------------------------------------------------------------------------------------

async def _home(request: Request) -> Response:
    return _page(request, "home.html", "Home", categories=rows(request, "SELECT * FROM categories ORDER BY id"))


def _listing(request: Request, title: str, where: str, *values) -> Response:
    chosen = request.query_params.get("sort", "name")
    chosen = chosen if chosen in SORTS else "name"
    found = rows(request, f"{LISTED} WHERE p.enabled AND {where} ORDER BY {SORTS[chosen][1]}", *values)
    return _page(request, "listing.html", title, sorts={value: label for value, (label, _) in SORTS.items()}, sort=chosen,
                 **slice_rows(request, found))


async def _category(request: Request) -> Response:
    category = one(request, "SELECT * FROM categories WHERE slug = ?", request.path_params["slug"])
    if category is None:
        raise HTTPException(404)
    return _listing(request, category["name"], "p.category = ?", category["id"])


async def _search(request: Request) -> Response:
    words = asked(request, "q").split()
    if not words:
        return _page(request, "listing.html", "Search", error="Type a word to search for.", count=0, pages=1)
    where, values = " AND ".join("instr(lower(p.name), ?)" for _ in words), [word.lower() for word in words]
    if set(request.query_params) == {"q"}:            # a search, and not its next page or another order
        _count_search(request, " ".join(values), one(request, f"SELECT count(*) FROM products p WHERE p.enabled AND {where}", *values)[0])
    return _listing(request, f"Results for {' '.join(words)}", where, *values)


def _count_search(request: Request, term: str, results: int) -> None:
    """Notes a search for the back office's reports; the latest one has the highest id."""
    uses = one(request, "SELECT coalesce(max(uses), 0) + 1 FROM searches WHERE term = ?", term)[0]
    rows(request, "DELETE FROM searches WHERE term = ?", term)
    rows(request, "INSERT INTO searches (term, uses, results) VALUES (?,?,?)", term, uses, results)


def _product_of(request: Request) -> sqlite3.Row:
    product = one(request, f"{LISTED} WHERE p.enabled AND p.slug = ?", request.path_params["slug"])
    if product is None:
        raise HTTPException(404)
    return product


def _product_page(request: Request, error: str = "") -> Response:
    product = _product_of(request)
    reviews = rows(request, "SELECT * FROM reviews WHERE product = ? ORDER BY id DESC", product["id"])
    return _page(request, "product.html", product["name"], 400 if error else 200, error, product=product, reviews=reviews)


async def _product(request: Request) -> Response:
    return _product_page(request)


@_signed_in
async def _review(request: Request, customer: sqlite3.Row) -> Response:
    product, form, error = _product_of(request), {}, ""
    if request.method == "POST":
        form = await read_form(request)
        stars, text = number(form.get("stars", ""), 1, 5), form.get("text", "")
        if stars and text:
            rows(request, "INSERT INTO reviews (product, author, stars, text, customer) VALUES (?,?,?,?,?)",
                 product["id"], customer["name"].split()[0], stars, text, customer["id"])
            return go(f"/product/{product['slug']}", "Your review was added.")
        error = "Review must not be empty." if stars else "Stars must be chosen."
    return _page(request, "review.html", f"Review {product['name']}", 400 if error else 200, error, product=product, form=form)


# --- cart and wish list ----------------------------------------------------------------------------------------------------------

def _cart_rows(request: Request, customer: sqlite3.Row) -> list[sqlite3.Row]:
    return rows(request, """SELECT i.*, p.name, p.slug, p.cents, p.stock, p.name || iif(i.choice = '', '', ', ' || i.choice) AS label
                            FROM cart i JOIN products p ON p.id = i.product
                            WHERE i.customer = ? AND p.enabled ORDER BY i.id""", customer["id"])


def _cart_page(request: Request, customer: sqlite3.Row, error: str = "") -> Response:
    items = _cart_rows(request, customer)
    return _page(request, "cart.html", "Cart", 400 if error else 200, error, rows=items,
                 total=sum(row["quantity"] * row["cents"] for row in items))


@_signed_in
async def _cart(request: Request, customer: sqlite3.Row) -> Response:
    return _cart_page(request, customer)


@_signed_in
async def _cart_add(request: Request, customer: sqlite3.Row) -> Response:
    product, form = _product_of(request), await read_form(request)
    choice = form.get("choice", "")
    if product["options"] and choice not in product["options"].split("|"):
        return _product_page(request, f"{product['option_name']} must be chosen.")
    choice = choice if product["options"] else ""
    quantity = number(form.get("quantity", ""), 1, 99)
    if quantity is None:
        return _product_page(request, "Quantity must be a number from 1 to 99.")
    held = one(request, "SELECT coalesce(sum(quantity), 0) FROM cart WHERE customer = ? AND product = ?", customer["id"], product["id"])
    if held[0] + quantity > product["stock"]:
        return _product_page(request, f"There are only {product['stock']} in stock.")
    rows(request, """INSERT INTO cart (customer, product, choice, quantity) VALUES (?,?,?,?)
                     ON CONFLICT (customer, product, choice) DO UPDATE SET quantity = quantity + excluded.quantity""",
         customer["id"], product["id"], choice, quantity)
    return go("/cart", f"Added {product['name']}.")


@_signed_in
async def _cart_update(request: Request, customer: sqlite3.Row) -> Response:
    form, wanted = await read_form(request), {}
    items = _cart_rows(request, customer)
    for row in items:
        wanted[row["id"]] = number(form.get(f"quantity-{row['id']}", str(row["quantity"])), 1, 99)
        if wanted[row["id"]] is None:
            return _cart_page(request, customer, "Quantity must be a number from 1 to 99.")
    for row in items:
        if sum(wanted[other["id"]] for other in items if other["product"] == row["product"]) > row["stock"]:
            return _cart_page(request, customer, f"There are only {row['stock']} {row['name']} in stock.")
    for row_id, quantity in wanted.items():
        rows(request, "UPDATE cart SET quantity = ? WHERE id = ?", quantity, row_id)
    return go("/cart", "The cart was updated.")


@_signed_in
async def _cart_remove(request: Request, customer: sqlite3.Row) -> Response:
    item = number((await read_form(request)).get("item", ""), 1, 999_999)
    rows(request, "DELETE FROM cart WHERE id = ? AND customer = ?", item, customer["id"])
    return go("/cart", "The item was removed.")


@_signed_in
async def _wishlist(request: Request, customer: sqlite3.Row) -> Response:
    found = rows(request, "SELECT w.id, p.name, p.slug, p.cents FROM wishes w JOIN products p ON p.id = w.product "
                          "WHERE w.customer = ? AND p.enabled ORDER BY w.id", customer["id"])
    return _page(request, "wishlist.html", "Wish list", rows=found)


@_signed_in
async def _wishlist_add(request: Request, customer: sqlite3.Row) -> Response:
    product = _product_of(request)
    rows(request, "INSERT OR IGNORE INTO wishes (customer, product) VALUES (?,?)", customer["id"], product["id"])
    return go("/wishlist", f"Added {product['name']}.")


@_signed_in
async def _wishlist_remove(request: Request, customer: sqlite3.Row) -> Response:
    item = number((await read_form(request)).get("item", ""), 1, 999_999)
    rows(request, "DELETE FROM wishes WHERE id = ? AND customer = ?", item, customer["id"])
    return go("/wishlist", "The item was removed.")


# --- checkout and orders ---------------------------------------------------------------------------------------------------------

@_signed_in
async def _checkout(request: Request, customer: sqlite3.Row) -> Response:
    items = _cart_rows(request, customer)
    if not items:
        return go("/cart", "The cart is empty.")
    values, error = dict(customer), ""
    if request.method == "POST":
        form = await read_form(request)
        values.update(form)
        error = wrong_field(ADDRESS, form) or ("" if form.get("shipping") in SHIPPING else "Shipping must be chosen.")
        if not error:
            return go(f"/orders/{_place_order(request, customer, items, form)}", "Thank you for your order.")
    return _page(request, "checkout.html", "Checkout", 400 if error else 200, error, fields=ADDRESS, values=values, shipping=SHIPPING,
                 total=sum(row["quantity"] * row["cents"] for row in items))


def _place_order(request: Request, customer: sqlite3.Row, items: list[sqlite3.Row], form: dict[str, str]) -> int:
    order = one(request, "SELECT max(id) + 1 FROM orders")[0]
    rows(request, "INSERT INTO orders VALUES (?,?,?,?,?,?,?,?,?,?)", order, customer["id"], TODAY, "Received", form["shipping"],
         SHIPPING[form["shipping"]], *(form[field] for field in ADDRESS))
    for row in items:
        rows(request, "INSERT INTO order_items (order_id, product, choice, quantity, cents) VALUES (?,?,?,?,?)",
             order, row["product"], row["choice"], row["quantity"], row["cents"])
        rows(request, "UPDATE products SET stock = max(0, stock - ?) WHERE id = ?", row["quantity"], row["product"])
    rows(request, "DELETE FROM cart WHERE customer = ?", customer["id"])
    return order


@_signed_in
async def _orders(request: Request, customer: sqlite3.Row) -> Response:
    found = rows(request, "SELECT * FROM orders WHERE customer = ? ORDER BY id DESC", customer["id"])
    return _page(request, "orders.html", "Orders", **slice_rows(request, found))


@_signed_in
async def _order(request: Request, customer: sqlite3.Row) -> Response:
    name = request.path_params["number"]
    order_id = one(request, "SELECT max(id) FROM orders")[0] if name == "latest" else number(name, 1, 999_999)
    order = one(request, "SELECT * FROM orders WHERE id = ? AND customer = ?", order_id, customer["id"])
    if order is None:
        raise HTTPException(404)
    items = rows(request, """SELECT i.*, p.name, p.slug, p.name || iif(i.choice = '', '', ', ' || i.choice) AS label
                             FROM order_items i JOIN products p ON p.id = i.product WHERE order_id = ? ORDER BY i.id""", order["id"])
    return _page(request, "order.html", f"Order {order['id']}", order=order, items=items,
                 total=order["shipping_cents"] + sum(item["quantity"] * item["cents"] for item in items))


# --- account ---------------------------------------------------------------------------------------------------------------------

@_signed_in
async def _account(request: Request, customer: sqlite3.Row) -> Response:
    values, error = dict(customer), ""
    if request.method == "POST":
        form = await read_form(request)
        values.update({**form, "newsletter": int("newsletter" in form)})
        error = wrong_field(ACCOUNT, form)
        if not error:
            changes = ", ".join(f"{field} = ?" for field in ACCOUNT)
            rows(request, f"UPDATE customers SET {changes}, newsletter = ? WHERE id = ?",
                 *(form[field] for field in ACCOUNT), values["newsletter"], customer["id"])
            return go("/account", "Your account was saved.")
    return _page(request, "account.html", "Account", 400 if error else 200, error, fields=ACCOUNT, values=values)


async def _login(request: Request) -> Response:
    error, form = "", {}
    if request.method == "POST":
        form = await read_form(request)
        found = one(request, "SELECT id FROM customers WHERE email = ? AND password = ?", form.get("email", ""), form.get("password", ""))
        if found:
            return log_in(request, SESSION_COOKIE, found["id"])
        error = "The email or the password is wrong."
    return _page(request, "login.html", "Log in", 400 if error else 200, error, form=form)


async def _logout(request: Request) -> Response:
    return log_out(request, SESSION_COOKIE)


async def _missing(request: Request, error: Exception) -> Response:
    return _page(request, "missing.html", "Page not found", 404)


def make_app() -> Starlette:
    """The site as an ASGI app; each request brings its world's database in ``request.state.db``."""
    return Starlette(exception_handlers={404: _missing, 405: _missing, 413: too_long}, routes=[
        Route("/", _home), Route("/category/{slug}", _category), Route("/search", _search), Route("/product/{slug}", _product),
        both("/product/{slug}/review", _review), post("/product/{slug}/cart", _cart_add), post("/product/{slug}/wish", _wishlist_add),
        Route("/cart", _cart), post("/cart/update", _cart_update), post("/cart/remove", _cart_remove),
        Route("/wishlist", _wishlist), post("/wishlist/remove", _wishlist_remove), both("/checkout", _checkout),
        Route("/orders", _orders), Route("/orders/{number}", _order), both("/account", _account), both("/login", _login),
        post("/logout", _logout),
    ])
