"""The dashboard and the reports of the site `shopping_admin`: each function gives what its page shows, as `_page` there takes it.

Canceled orders count in no sum of money or items.
"""

import datetime

from starlette.requests import Request

from wr1_utils.sites.pages import is_date, number, one, rows, slice_rows
from wr1_utils.sites.shopping_seed import TODAY, money

FIRST_DAY = "2025-01-01"                     # a period begins here where none is asked for
SHORTCUTS = {                                # label → from, to
    "This month": ("2026-03-01", TODAY),
    "Last month": ("2026-02-01", "2026-02-28"),
    "Last year": ("2025-01-01", "2025-12-31"),
}
SOLD = """SELECT p.name, p.slug, sum(quantity) AS items, sum(quantity * i.cents) AS cents
          FROM order_items i JOIN products p ON p.id = i.product JOIN all_orders o ON o.id = i.order_id
          WHERE o.status != 'Canceled' AND o.date BETWEEN ? AND ? GROUP BY p.id ORDER BY items DESC, p.name"""


def heads(*labels: str) -> list[tuple[str, str, str]]:
    """The heads of a table that is not sorted by them: label, no address, no direction."""
    return [(label, "", "") for label in labels]


def _product_line(product, *cells) -> tuple:
    return (f"/products/{product['slug']}", product["name"], *cells)


def dashboard(request: Request) -> dict:
    """Totals, and five rows of each: orders, products, searches."""
    total = one(request, "SELECT coalesce(sum(total), 0) AS cents, count(*) AS orders FROM all_orders WHERE status != 'Canceled'")
    pending = one(request, "SELECT count(*) FROM all_reviews WHERE status = 'Pending'")[0]
    facts = {
        "Revenue": money(total["cents"]), "Valid orders": total["orders"],
        "Average order": money(total["cents"] // max(1, total["orders"])),
        "Customers": one(request, "SELECT count(*) FROM customers")[0],
        "Products": one(request, "SELECT count(*) FROM products WHERE enabled")[0], "Pending reviews": pending,
    }
    orders = rows(request, "SELECT * FROM all_orders ORDER BY date DESC, id DESC LIMIT 5")
    sold = rows(request, f"{SOLD} LIMIT 5", FIRST_DAY, TODAY)
    lists = {                                # the label of a tab → heads, rows (address of the first cell, cells)
        "Last orders": (("Order", "Customer", "Total", "Status"),
                        [(f"/orders/{o['id']}", f"Order {o['id']}", o["customer_name"], money(o["total"]), o["status"]) for o in orders]),
        "Top products": (("Product", "Sold", "Revenue"), [_product_line(p, p["items"], money(p["cents"])) for p in sold]),
        "Last searches": (("Term", "Uses", "Results"), _searches(request, "id DESC")),
        "Top searches": (("Term", "Uses", "Results"), _searches(request, "uses DESC, term")),
    }
    return {"template": "dashboard.html", "title": "Dashboard", "facts": facts,
            "lists": {label: (heads(*labels), lines) for label, (labels, lines) in lists.items()}}


def _searches(request: Request, order: str) -> list[tuple]:
    return [("", s["term"], s["uses"], s["results"]) for s in rows(request, f"SELECT * FROM searches ORDER BY {order} LIMIT 5")]


def _period(request: Request) -> tuple[dict[str, str], str]:
    """The dates that the page asks for, and what is wrong with them. Wrong dates give the usual period."""
    usual = {"from": FIRST_DAY, "to": TODAY}
    asked = {name: request.query_params.get(name, day) for name, day in usual.items()}
    for name, text in asked.items():
        if not is_date(text):
            return usual, f"{name.capitalize()} must be a date such as {TODAY}."
    return (asked, "") if asked["from"] <= asked["to"] else (usual, "From must not be after To.")


def _report(title: str, labels: tuple, error: str = "", **content) -> dict:
    return {"template": "report.html", "title": title, "error": error, "heads": heads(*labels),
            "shortcuts": SHORTCUTS, "page": 1, "pages": 1, **content}


def sales(request: Request) -> dict:
    """Orders, items and revenue of each month of a period."""
    period, error = _period(request)
    months = rows(request, """SELECT substr(date, 1, 7) AS month, count(*) AS orders, sum(total) AS cents,
                                     sum((SELECT sum(quantity) FROM order_items WHERE order_id = o.id)) AS items
                              FROM all_orders o WHERE status != 'Canceled' AND date BETWEEN ? AND ? GROUP BY month ORDER BY month""",
                  period["from"], period["to"])
    lines = [("", f"{datetime.date.fromisoformat(m['month'] + '-01'):%B %Y}", m["orders"], m["items"], money(m["cents"])) for m in months]
    if lines:
        orders, items, cents = (sum(m[column] for m in months) for column in ("orders", "items", "cents"))
        lines.append(("", "Total", orders, items, money(cents)))
    return _report("Sales by month", ("Month", "Orders", "Items", "Revenue"), error, period=period, rows=lines, count=len(months))


def best_sellers(request: Request) -> dict:
    """The ten products that sold most in a period."""
    period, error = _period(request)
    sold = rows(request, f"{SOLD} LIMIT 10", period["from"], period["to"])
    return _report("Best sellers", ("Product", "Sold", "Revenue"), error, period=period, count=len(sold),
                   rows=[_product_line(p, p["items"], money(p["cents"])) for p in sold])


def low_stock(request: Request) -> dict:
    """Products of which there are fewer than ``?below=``."""
    asked = request.query_params.get("below", "20")
    below = number(asked, 1, 9999)
    scarce = rows(request, "SELECT * FROM products WHERE stock < ? ORDER BY stock, name", below or 20)
    part = slice_rows(request, scarce)
    return _report("Low stock", ("Product", "Stock", "Price"), "" if below else "Stock below must be a number from 1 to 9999.",
                   below=below or 20, **{**part, "rows": [_product_line(p, p["stock"], money(p["cents"])) for p in part["rows"]]})


def stock_value(request: Request) -> dict:
    """A page whose figures come some seconds later."""
    return {"template": "stock_value.html", "title": "Stock value"}


def stock_figures(request: Request) -> dict:
    """What is in stock of each category: a piece of that page."""
    found = rows(request, """SELECT c.name, count(*) AS products, sum(stock) AS items, sum(stock * cents) AS cents
                             FROM products p JOIN categories c ON c.id = p.category GROUP BY c.id ORDER BY c.id""")
    return {"template": "figures.html", "title": "", "heads": heads("Category", "Products", "Items", "Value"),
            "rows": [("", c["name"], c["products"], c["items"], money(c["cents"])) for c in found]}


def search_terms(request: Request) -> dict:
    """What was searched for in the shop, the most frequent first."""
    part = slice_rows(request, rows(request, "SELECT * FROM searches ORDER BY uses DESC, term"))
    return _report("Search terms", ("Term", "Uses", "Results"),
                   **{**part, "rows": [("", s["term"], s["uses"], s["results"]) for s in part["rows"]]})


REPORTS = {"sales": sales, "best-sellers": best_sellers, "low-stock": low_stock, "search-terms": search_terms,
           "stock-value": stock_value, "stock-figures": stock_figures}      # name in the URL
