"""The site `shopping_admin`: the back office of the shop, on the same database. What is changed here is changed in the shop.

Every page but the login needs a login. Lists are searched by a keyword, filtered by drop-down lists and sorted by their headings. A
form that does not hold what it should is answered with a message and changes nothing. A disabled product and a review that is not
approved are not shown in the shop. A canceled order gives its items back to the stock.
"""

import sqlite3
from collections.abc import Callable
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from wr1_utils.sites import shopping_admin_reports as reports
from wr1_utils.sites.pages import (
    asked,
    go,
    log_in,
    log_out,
    make_page,
    number,
    one,
    read_form,
    rows,
    slice_rows,
    to_login,
    too_long,
    wrong_field,
)
from wr1_utils.sites.shopping import ACCOUNT, ADDRESS, LISTED
from wr1_utils.sites.shopping_seed import TODAY, money

SESSION_COOKIE = "admin_session"
STATUSES = ("Received", "Packed", "Shipped", "Delivered", "Returned", "On hold")     # of an order; canceling is a step of its own
OPEN = ("Received", "Packed", "On hold")                                             # the order has not left, and may be canceled
VERDICTS = ("Pending", "Approved", "Not approved")                                   # on a review
SWITCH = ("Disabled", "Enabled")                                                     # a product, by its `enabled`
PRODUCT = {                                   # field → label, pattern, what it should be
    "name": ("Name", r".{1,60}", "a name"),
    "price": ("Price", r"\$?(?!0+(\.0*)?$)[0-9]{1,5}(\.[0-9]{1,2})?", "an amount above 0 such as 12.50"),
    "stock": ("Stock", r"[0-9]{1,4}", "a number from 0 to 9999"),
}
CUSTOMER = {"name": ADDRESS["name"], "email": ("Email", r"[^@\s]{1,40}@[^@\s]{1,40}", "an address such as nora@shop.test"), **ACCOUNT}
ALL_CUSTOMERS = """SELECT c.*, coalesce(orders, 0) AS orders, coalesce(spent, 0) AS spent FROM customers c
                   LEFT JOIN (SELECT customer, count(*) AS orders, sum(iif(status = 'Canceled', 0, total)) AS spent
                              FROM all_orders GROUP BY customer) o ON o.customer = c.id"""
ALL_REVIEWS = "SELECT r.*, p.name AS product_name, p.slug FROM all_reviews r JOIN products p ON p.id = r.product"


# --- what every page needs -------------------------------------------------------------------------------------------------------

def _page(request: Request, template: str, title: str, error: str = "", status: int = 200, **content) -> Response:
    return make_page(request, f"shopping_admin/{template}", title, 400 if error else status, error, signed_in=_signed_in(request),
                     query=request.query_params, **content)


def _signed_in(request: Request) -> bool:
    return one(request, "SELECT 1 FROM admin_sessions WHERE token = ?", request.cookies.get(SESSION_COOKIE, "")) is not None


def _guarded(handler):
    """Sends a visitor who is not logged in to the login page instead."""
    async def guarded(request: Request) -> Response:
        if not _signed_in(request):
            return to_login(request)
        return await handler(request)
    return guarded


def _found(row: sqlite3.Row | None) -> sqlite3.Row:
    if row is None:
        raise HTTPException(404)
    return row


def _listing(request: Request, title: str, query: str, searched: str, columns: dict[str, tuple[str, str]], sort: str,
             selects: dict[str, tuple[str, tuple, str]], line: Callable[[sqlite3.Row], tuple]) -> Response:
    """A list that is searched, filtered and sorted.

    `searched` is the SQL text that holds each word of ``?q=``. `columns` maps the value of ``?sort=`` (with a minus: downwards) to
    label and SQL (none: a list is not sorted by it); `selects` maps a parameter to label, options and the SQL that gives the option of
    a row. `line` gives the address that a row's first cell leads to, and the cells.
    """
    words = asked(request, "q").lower().split()
    where, values = [f"instr(lower({searched}), ?)" for _ in words], list(words)
    for name, (_, options, expression) in selects.items():
        if request.query_params.get(name) in map(str, options):
            where.append(f"CAST({expression} AS TEXT) = ?")
            values.append(request.query_params[name])
    chosen = request.query_params.get("sort", sort)
    chosen = chosen if columns.get(chosen.removeprefix("-"), ("", ""))[1] else sort
    downwards = " DESC" if chosen.startswith("-") else ""
    order = f"{columns[chosen.removeprefix('-')][1]}{downwards}, id{downwards}"
    listed = rows(request, f"{query} WHERE {' AND '.join(where) or '1'} ORDER BY {order}", *values)
    kept = {name: value for name, value in request.query_params.items() if name != "page"}
    heads = [(label, sortable and "?" + urlencode({**kept, "sort": f"-{name}" if chosen == name else name}),
              "" if chosen.removeprefix("-") != name else "descending" if downwards else "ascending")
             for name, (label, sortable) in columns.items()]
    part = slice_rows(request, listed)
    return _page(request, "list.html", title, heads=heads, selects=selects, **{**part, "rows": [line(row) for row in part["rows"]]})


# --- login -----------------------------------------------------------------------------------------------------------------------

async def _login(request: Request) -> Response:
    error, form = "", {}
    if request.method == "POST":
        form = await read_form(request)
        given = form.get("username", ""), form.get("password", "")
        found = one(request, "SELECT id FROM admins WHERE username = ? AND password = ?", *given)
        if found:
            return log_in(request, SESSION_COOKIE, found["id"], "admin_sessions")
        error = "The username or the password is wrong."
    return _page(request, "login.html", "Log in", error, form=form)


async def _logout(request: Request) -> Response:
    return log_out(request, SESSION_COOKIE, "admin_sessions")


# --- products --------------------------------------------------------------------------------------------------------------------

async def _products(request: Request) -> Response:
    categories = tuple(row["name"] for row in rows(request, "SELECT name FROM categories ORDER BY id"))
    columns = {"name": ("Name", "name"), "category": ("Category", ""), "price": ("Price", "cents"), "stock": ("Stock", "stock"),
               "status": ("Status", "")}
    return _listing(
        request, "Products", LISTED, "p.name", columns, sort="name",
        selects={"category": ("Category", categories, "c.name"), "status": ("Status", SWITCH[::-1], "iif(enabled, 'Enabled', 'Disabled')")},
        line=lambda p: (f"/products/{p['slug']}", p["name"], p["category_name"], money(p["cents"]), p["stock"], SWITCH[p["enabled"]]))


async def _product(request: Request) -> Response:
    product = _found(one(request, f"{LISTED} WHERE p.slug = ?", request.path_params["slug"]))
    values, error = {"price": f"{product['cents'] / 100:.2f}", "name": product["name"], "stock": product["stock"],
                     "status": SWITCH[product["enabled"]]}, ""
    if request.method == "POST":
        form = await read_form(request)
        values.update(form)
        error = wrong_field(PRODUCT, form) or ("" if form.get("status") in SWITCH else "Status must be chosen.")
        if not error and one(request, "SELECT 1 FROM products WHERE lower(name) = lower(?) AND id != ?", form["name"], product["id"]):
            error = "Another product has this name."
        if not error:
            rows(request, "UPDATE products SET name = ?, cents = ?, stock = ?, enabled = ? WHERE id = ?",
                 form["name"], _cents(form["price"]), int(form["stock"]), SWITCH.index(form["status"]), product["id"])
            return go(f"/products/{product['slug']}", "The product was saved.")
    sold = one(request, """SELECT coalesce(sum(quantity), 0) AS items, coalesce(sum(quantity * i.cents), 0) AS cents FROM order_items i
                           JOIN all_orders o ON o.id = order_id WHERE product = ? AND status != 'Canceled'""", product["id"])
    in_shop = request.url.replace(hostname="shopping.localhost", path=f"/product/{product['slug']}", query="")
    written = rows(request, "SELECT * FROM all_reviews WHERE product = ? ORDER BY id DESC", product["id"])
    return _page(request, "product.html", product["name"], error, product=product, fields=PRODUCT, values=values, sold=sold,
                 in_shop=in_shop, switch=SWITCH[::-1], heads=reports.heads("Review", "Author", "Stars", "Text", "Status"),
                 reviews=[_review_line(r, r["author"], r["stars"], r["text"], r["status"]) for r in written])


def _cents(amount: str) -> int:
    """``$12.5`` gives 1250."""
    whole, _, part = amount.removeprefix("$").partition(".")
    return int(whole) * 100 + int((part + "00")[:2])


# --- orders ----------------------------------------------------------------------------------------------------------------------

async def _orders(request: Request) -> Response:
    columns = {"order": ("Order", "id"), "date": ("Date", "date"), "customer": ("Customer", "customer_name"), "total": ("Total", "total"),
               "status": ("Status", "")}
    return _listing(
        request, "Orders", "SELECT * FROM all_orders", "'order ' || id || ' ' || customer_name", columns, sort="-date",
        selects={"status": ("Status", (*STATUSES, "Canceled"), "status"), "source": ("Source", ("Web", "Phone"), "source")},
        line=lambda o: _order_line(o, o["date"], o["customer_name"], money(o["total"]), o["status"]))


def _order_line(order: sqlite3.Row, *cells) -> tuple:
    return (f"/orders/{order['id']}", f"Order {order['id']}", *cells)


def _order_of(request: Request) -> sqlite3.Row:
    return _found(one(request, "SELECT * FROM all_orders WHERE id = ?", number(request.path_params["number"], 1, 999_999)))


def _change_order(request: Request, order: sqlite3.Row, changes: dict[str, str]) -> None:
    table = "orders" if order["source"] == "Web" else "phone_orders"
    rows(request, f"UPDATE {table} SET {', '.join(f'{field} = ?' for field in changes)} WHERE id = ?", *changes.values(), order["id"])


def _order_page(request: Request, template: str, title: str, error: str = "", **content) -> Response:
    order = _order_of(request)
    items = rows(request, """SELECT i.*, p.slug, p.name || iif(i.choice = '', '', ', ' || i.choice) AS label
                             FROM order_items i JOIN products p ON p.id = i.product WHERE order_id = ? ORDER BY i.id""", order["id"])
    comments = rows(request, "SELECT * FROM order_comments WHERE order_id = ? ORDER BY id DESC LIMIT 10", order["id"])
    return _page(request, template, f"{title} {order['id']}", error, order=order, items=items, comments=comments,
                 statuses=STATUSES, may_cancel=order["status"] in OPEN, **content)


async def _order(request: Request) -> Response:
    return _order_page(request, "order.html", "Order")


async def _invoice(request: Request) -> Response:
    if _order_of(request)["status"] == "Canceled":
        raise HTTPException(404)
    return _order_page(request, "invoice.html", "Invoice")


async def _order_status(request: Request) -> Response:
    order, status = _order_of(request), (await read_form(request)).get("status")
    if order["status"] == "Canceled":
        return _order_page(request, "order.html", "Order", "A canceled order cannot be changed.")
    if status not in STATUSES:
        return _order_page(request, "order.html", "Order", "New status must be chosen.")
    _change_order(request, order, {"status": status})
    return go(f"/orders/{order['id']}", "The status was updated.")


async def _order_cancel(request: Request) -> Response:
    order = _order_of(request)
    if order["status"] not in OPEN:
        return _order_page(request, "order.html", "Order", "This order cannot be canceled any more.")
    _change_order(request, order, {"status": "Canceled"})
    for item in rows(request, "SELECT product, quantity FROM order_items WHERE order_id = ?", order["id"]):
        rows(request, "UPDATE products SET stock = min(9999, stock + ?) WHERE id = ?", item["quantity"], item["product"])
    return go(f"/orders/{order['id']}", "The order was canceled.")


async def _order_comment(request: Request) -> Response:
    order, text = _order_of(request), (await read_form(request)).get("comment", "")
    if not text:
        return _order_page(request, "order.html", "Order", "Comment must not be empty.")
    rows(request, "INSERT INTO order_comments (order_id, date, text) VALUES (?,?,?)", order["id"], TODAY, text)
    return go(f"/orders/{order['id']}", "The comment was added.")


async def _order_address(request: Request) -> Response:
    order, error = _order_of(request), ""
    values = dict(order)
    if request.method == "POST":
        form = await read_form(request)
        values.update(form)
        error = wrong_field(ADDRESS, form)
        if not error:
            _change_order(request, order, {field: form[field] for field in ADDRESS})
            return go(f"/orders/{order['id']}", "The address was saved.")
    return _page(request, "address.html", f"Address of order {order['id']}", error, order=order, fields=ADDRESS, values=values)


# --- customers and reviews -------------------------------------------------------------------------------------------------------

async def _customers(request: Request) -> Response:
    columns = {"name": ("Name", "name"), "email": ("Email", "email"), "city": ("City", "city"), "orders": ("Orders", "orders"),
               "spent": ("Spent", "spent")}
    return _listing(request, "Customers", ALL_CUSTOMERS, "name || ' ' || email || ' ' || city || ' ' || zip || ' ' || phone", columns,
                    sort="name", selects={"newsletter": ("Newsletter", ("Yes", "No"), "iif(newsletter, 'Yes', 'No')")},
                    line=lambda c: (f"/customers/{c['id']}", c["name"], c["email"], c["city"], c["orders"], money(c["spent"])))


async def _customer(request: Request) -> Response:
    customer = _found(one(request, f"{ALL_CUSTOMERS} WHERE c.id = ?", number(request.path_params["number"], 1, 999_999)))
    values, error = dict(customer), ""
    if request.method == "POST":
        form = await read_form(request)
        values.update({**form, "newsletter": int("newsletter" in form)})
        error = wrong_field(CUSTOMER, form)
        if not error and one(request, "SELECT 1 FROM customers WHERE lower(email) = lower(?) AND id != ?", form["email"], customer["id"]):
            error = "Another customer has this email."
        if not error:
            rows(request, f"UPDATE customers SET {', '.join(f'{field} = ?' for field in CUSTOMER)}, newsletter = ? WHERE id = ?",
                 *(form[field] for field in CUSTOMER), values["newsletter"], customer["id"])
            return go(f"/customers/{customer['id']}", "The customer was saved.")
    latest = rows(request, "SELECT * FROM all_orders WHERE customer = ? ORDER BY date DESC, id DESC LIMIT 10", customer["id"])
    written = rows(request, f"{ALL_REVIEWS} WHERE customer = ? ORDER BY r.id DESC LIMIT 10", customer["id"])
    return _page(request, "customer.html", customer["name"], error, customer=customer, fields=CUSTOMER, values=values,
                 order_heads=reports.heads("Order", "Date", "Total", "Status"),
                 orders=[_order_line(o, o["date"], money(o["total"]), o["status"]) for o in latest],
                 review_heads=reports.heads("Review", "Product", "Stars", "Text", "Status"),
                 reviews=[_review_line(r, r["product_name"], r["stars"], r["text"], r["status"]) for r in written])


def _review_line(review: sqlite3.Row, *cells) -> tuple:
    return (f"/reviews/{review['id']}", f"Review {review['id']}", *cells)


async def _reviews(request: Request) -> Response:
    columns = {"review": ("Review", "id"), "product": ("Product", "product_name"), "author": ("Author", "author"), "stars": ("Stars", ""),
               "text": ("Text", ""), "status": ("Status", "")}
    return _listing(
        request, "Reviews", ALL_REVIEWS, "p.name || ' ' || author || ' ' || text", columns, sort="-review",
        selects={"status": ("Status", VERDICTS, "status"), "stars": ("Stars", (1, 2, 3, 4, 5), "stars")},
        line=lambda r: _review_line(r, r["product_name"], r["author"], r["stars"], r["text"], r["status"]))


def _review_of(request: Request) -> sqlite3.Row:
    return _found(one(request, f"{ALL_REVIEWS} WHERE r.id = ?", number(request.path_params["number"], 1, 999_999)))


def _review_page(request: Request, error: str = "") -> Response:
    review = _review_of(request)
    return _page(request, "review.html", f"Review {review['id']}", error, review=review)


async def _review(request: Request) -> Response:
    return _review_page(request)


async def _review_status(request: Request) -> Response:
    review, status = _review_of(request), (await read_form(request)).get("status")
    if status not in VERDICTS:
        return _review_page(request, "Status must be chosen.")
    rows(request, "UPDATE all_reviews SET status = ? WHERE id = ?", status, review["id"])
    return go(f"/reviews/{review['id']}", f"The review is {status.lower()}.")


async def _review_delete(request: Request) -> Response:
    review = _review_of(request)
    rows(request, "DELETE FROM all_reviews WHERE id = ?", review["id"])
    return go("/reviews", f"Review {review['id']} was deleted.")


async def _missing(request: Request, error: Exception) -> Response:
    return _page(request, "missing.html", "Page not found", status=404)


def make_app() -> Starlette:
    """The site as an ASGI app; each request brings its world's database, that of the shop, in ``request.state.db``."""
    def get(path, handler):
        return Route(path, _guarded(handler))

    def both(path, handler):
        return Route(path, _guarded(handler), methods=["GET", "POST"])

    def post(path, handler):
        return Route(path, _guarded(handler), methods=["POST"])

    async def report(request: Request) -> Response:
        make = reports.REPORTS.get(request.path_params["name"])
        if make is None:
            raise HTTPException(404)
        return _page(request, **make(request))

    async def dashboard(request: Request) -> Response:
        return _page(request, **reports.dashboard(request))

    return Starlette(exception_handlers={404: _missing, 405: _missing, 413: too_long}, routes=[
        Route("/login", _login, methods=["GET", "POST"]), Route("/logout", _logout, methods=["POST"]), get("/", dashboard),
        get("/products", _products), both("/products/{slug}", _product),
        get("/orders", _orders), get("/orders/{number}", _order), get("/orders/{number}/invoice", _invoice),
        both("/orders/{number}/address", _order_address), post("/orders/{number}/status", _order_status),
        post("/orders/{number}/cancel", _order_cancel), post("/orders/{number}/comment", _order_comment),
        get("/customers", _customers), both("/customers/{number}", _customer),
        get("/reviews", _reviews), get("/reviews/{number}", _review), post("/reviews/{number}/status", _review_status),
        post("/reviews/{number}/delete", _review_delete), get("/reports/{name}", report),
    ])
