"""Scripted experts for the site `shopping_admin`: one small function a template, each a person's plain way through the back office.

Things are always found the same way: open the menu, open the list, search for the name, click the name, act. An expert is called with
(filling, observation, memory), as those of the shop are, and sees nothing but the page.
"""

from collections.abc import Callable

from wr1_utils.agent.experts import (
    ExpertError,
    cells,
    click,
    exit_with,
    find,
    find_all,
    need,
    page_line,
    reply,
    search,
    select,
    type_text,
    wait,
)
from wr1_utils.web.observation import Observation

DONE = "done"                        # what an expert says at the end of a task that asks for no answer


# --- steps that the experts share ------------------------------------------------------------------------------------------------

def _page(observation: Observation) -> str:
    """The page's name: its title without the site's."""
    return observation.title.removeprefix("Shop Admin: ")


def _says(observation: Observation, text: str) -> bool:
    return find(observation, "text", text) is not None


def _done() -> str:
    return exit_with(DONE, DONE)


def _to_page(menu: str, page: str, observation: Observation) -> str | None:
    """The next step towards a page of a menu, or None when it is open."""
    if _page(observation) == page:
        return None
    button = need(observation, "button", menu)
    return click(need(observation, "link", page) if "expanded" in button.state else button)


def _to_record(menu: str, page: str, name: str, observation: Observation, words: str = "") -> str | None:
    """The next step towards the page `name` of something in a list, which is searched for `words`; None when it is open."""
    if _page(observation) == name:
        return None
    step = _to_page(menu, page, observation)
    if step:
        return step
    keyword, words = need(observation, "textbox", "Keyword"), words or name
    return search(keyword, words) if keyword.value != words else click(need(observation, "link", name))


def _to_order(filling: dict, observation: Observation) -> str | None:
    return _to_record("Sales", "Orders", f"Order {filling['order']}", observation, str(filling["order"]))


def _to_product(filling: dict, observation: Observation) -> str | None:
    return _to_record("Catalog", "Products", filling["product"], observation)


def _to_customer(filling: dict, observation: Observation) -> str | None:
    return _to_record("Sales", "Customers", filling["customer"], observation)


def _to_review(filling: dict, observation: Observation) -> str | None:
    """The next step towards the page of the author's review of the product."""
    if _page(observation).startswith("Review "):
        return None
    step = _to_page("Catalog", "Reviews", observation)
    if step:
        return step
    keyword = need(observation, "textbox", "Keyword")
    if keyword.value != filling["product"]:
        return search(keyword, filling["product"])
    row = next((e.row for e in observation.elements if e.row is not None and e.label == filling["author"]), None)
    if row is None:
        raise ExpertError(f"no review by {filling['author']!r} on the page {observation.title!r}")
    return click(need(observation, "link", row=row))


def _fill(observation: Observation, values: dict[str, str], button: str) -> str:
    """Types or selects the first value that its field does not have yet; clicks the button when all have theirs."""
    for label, value in values.items():
        dropdown = find(observation, "select", label)
        field = dropdown or need(observation, "textbox", label)
        if field.value != value:
            return select(field, value) if dropdown else type_text(field, value)
    return click(need(observation, "button", button))


def _change(to_record: Callable, message: str, values: Callable[[dict], dict[str, str]], button: str) -> Callable:
    """An expert that opens a record, fills in `values` of the filling, and is done when the page says `message`."""
    def expert(filling: dict, observation: Observation, memory: dict) -> str:
        step = to_record(filling, observation)
        if step:
            return step
        return _done() if _says(observation, message) else _fill(observation, values(filling), button)
    return expert


def _answer_from_row(observation: Observation, name: str, cell: int = 1) -> str:
    """Ends with a cell of the row `name`."""
    line = page_line(observation, f"row {name} | ")
    return exit_with(cells(line)[cell], line)


def _products_of_report(observation: Observation) -> list:
    return [element for element in find_all(observation, "link") if element.row is not None]


# --- questions -------------------------------------------------------------------------------------------------------------------

def _dashboard_figure(filling: dict, observation: Observation, memory: dict) -> str:
    return _answer_from_row(observation, filling["figure"].removeprefix("number of ").capitalize())


def _month_revenue(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_page("Reports", "Sales by month", observation) or _answer_from_row(observation, filling["month"], 3)


def _best_seller(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_page("Reports", "Best sellers", observation)
    if step:
        return step
    product = _products_of_report(observation)[filling.get("place", 1) - 1]
    return exit_with(product.label, page_line(observation, product.label))


def _in_period(page: str, answer: Callable) -> Callable:
    """An expert that asks a report for a period, then answers."""
    def expert(filling: dict, observation: Observation, memory: dict) -> str:
        step = _to_page("Reports", page, observation)
        if step:
            return step
        if memory.get("shown"):
            return answer(filling, observation, memory)
        period = {"From": filling["first"], "To": filling["last"]}
        memory["shown"] = all(need(observation, "textbox", label).value == day for label, day in period.items())
        return _fill(observation, period, "Show report")
    return expert


def _search_uses(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_page("Reports", "Search terms", observation)
    if step:
        return step
    if _says(observation, filling["term"]):
        return _answer_from_row(observation, filling["term"])
    return click(need(observation, "link", "Next page"))


def _customer_contact(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_customer(filling, observation)
    if step:
        return step
    field = need(observation, "textbox", filling["field"].capitalize())
    return exit_with(field.value, page_line(observation, f"textbox {field.label} = "))


def _order_total(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_order(filling, observation) or _answer_from_row(observation, "Total")


def _order_customer(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_order(filling, observation)
    if step:
        return step
    customer = _customer_link(observation)
    return exit_with(customer.label, page_line(observation, f"row Customer | link {customer.label}"))


def _customer_link(observation: Observation):
    return need(observation, "link", row=next(e.row for e in observation.elements if e.row is not None and e.label == "Customer"))


def _top_customer(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_page("Sales", "Customers", observation)
    if step:
        return step
    places = ("most", "second most", "third most", "fourth most")
    rank = filling["rank"].replace("least", "most")
    if memory.setdefault("clicks", 0) < (2 if rank == filling["rank"] else 1):      # the first sorts upwards, the second downwards
        memory["clicks"] += 1
        return click(need(observation, "link", "Spent"))
    heads = need(observation, "link", "Spent").row
    rows = [e for e in find_all(observation, "link") if e.row is not None and e.row > heads]
    customer = rows[places.index(rank)]
    return exit_with(customer.label, page_line(observation, f"link {customer.label} "))


def _review_author(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_product(filling, observation)
    if step:
        return step
    tab = need(observation, "tab", "Product reviews")
    if "selected" not in tab.state:
        return click(tab)
    line = page_line(observation, f" | {filling['stars'].split()[0]} | ")
    return exit_with(cells(line)[1], line)


def _nothing_found(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, "0 found"):
        return exit_with("N/A", page_line(observation, "0 found"))
    thing = filling["thing"]
    if filling["fact"] == "total":
        return _to_order({"order": thing.removeprefix("order ")}, observation)
    return _to_product({"product": thing}, observation) if filling["fact"] == "revenue" else _to_customer({"customer": thing}, observation)


def _count_orders(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_page("Sales", "Orders", observation)
    if step:
        return step
    for field in ("source", "status"):
        dropdown = need(observation, "select", field.capitalize())
        if dropdown.value != filling[field]:
            return select(dropdown, filling[field])
    line = page_line(observation, " found")
    return exit_with(line.split()[1], line)


def _sales_report(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_page("Reports", "Sales by month", observation)
    if step:
        return step
    if "shown" not in memory:
        memory["shown"] = True
        return click(need(observation, "button", filling["period"].capitalize()))
    return _answer_from_row(observation, "Total", ("orders", "items", "revenue").index(filling["figure"]) + 1)


def _stock_value(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_page("Reports", "Stock value", observation)
    if step:
        return step
    if any("is being prepared" in text.label for text in find_all(observation, "text")):
        return wait(5, page_line(observation, "is being prepared"))
    return _answer_from_row(observation, filling["category"], ("items", "value").index(filling["figure"]) + 2)


# --- navigation ------------------------------------------------------------------------------------------------------------------

def _sorted_products(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_page("Catalog", "Products", observation)
    if step:
        return step
    category = need(observation, "select", "Category")
    if category.value != filling["category"]:
        return select(category, filling["category"])
    extreme, column = filling["order"].split()
    if memory.setdefault("clicks", 0) < (2 if extreme == "highest" else 1):
        memory["clicks"] += 1
        return click(need(observation, "link", column.capitalize()))
    return _done()


def _open_invoice(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) == f"Invoice {filling['order']}":
        return _done()
    return _to_order(filling, observation) or click(need(observation, "link", "Invoice"))


def _customer_of_order(filling: dict, observation: Observation, memory: dict) -> str:
    if find(observation, "tab", "Account"):
        return _done()
    return _to_order(filling, observation) or click(_customer_link(observation))


# --- changes of state ------------------------------------------------------------------------------------------------------------

def _cancel_order(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_order(filling, observation)
    if step:
        return step
    return _done() if _says(observation, "The order was canceled.") else click(need(observation, "button", "Cancel order"))


def _comment_subtotal(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) == f"Invoice {filling['order']}":
        memory["subtotal"] = page_line(observation, "row Subtotal | ")
        return reply('do(action="Switch Tab", argument="0")', f"# Note: {memory['subtotal']}")
    step = _to_order(filling, observation)
    if step:
        return step
    if "subtotal" not in memory:
        return click(need(observation, "link", "Invoice"))
    return _comment({**filling, "comment": cells(memory["subtotal"])[1]}, observation, memory)


def _order_address(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) == f"Address of order {filling['order']}":
        return _fill(observation, {field.capitalize(): filling[field] for field in ("street", "city", "zip")}, "Save")
    step = _to_order(filling, observation)
    if step:
        return step
    return _done() if _says(observation, "The address was saved.") else click(need(observation, "link", "Edit address"))


def _judge_review(button: str, message: str) -> Callable:
    def expert(filling: dict, observation: Observation, memory: dict) -> str:
        step = _to_review(filling, observation)
        if step:
            return step
        return _done() if _says(observation, message) else click(need(observation, "button", button))
    return expert


def _status_invoice(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) == f"Invoice {filling['order']}":
        return _done()
    if _says(observation, "The status was updated."):
        return click(need(observation, "link", "Invoice"))
    return _order_status(filling, observation, memory)


_change_product = _change(_to_product, "The product was saved.", lambda f: {f["field"].capitalize(): f["value"]}, "Save")
_order_status = _change(_to_order, "The status was updated.", lambda f: {"New status": f["status"]}, "Update status")
_comment = _change(_to_order, "The comment was added.", lambda f: {"Comment": f["comment"]}, "Add comment")

EXPERTS = {
    "admin_dashboard_figure": _dashboard_figure, "admin_month_revenue": _month_revenue, "admin_best_seller": _best_seller,
    "admin_best_seller_dates": _in_period("Best sellers", _best_seller), "admin_search_uses": _search_uses,
    "admin_revenue_dates": _in_period("Sales by month", lambda filling, observation, memory: _answer_from_row(observation, "Total", 3)),
    "admin_customer_contact": _customer_contact, "admin_order_total": _order_total, "admin_order_customer": _order_customer,
    "admin_top_customer": _top_customer, "admin_review_author": _review_author, "admin_nothing_found": _nothing_found,
    "admin_count_orders": _count_orders, "admin_sales_report": _sales_report, "admin_stock_value": _stock_value,
    "admin_sorted_products": _sorted_products,
    "admin_open_invoice": _open_invoice, "admin_customer_of_order": _customer_of_order,
    "admin_change_product": _change_product,
    "admin_price_stock": _change(_to_product, "The product was saved.", lambda f: {"Price": f["price"], "Stock": f["stock"]}, "Save"),
    "admin_disable_product": _change(_to_product, "The product was saved.", lambda f: {"Status": "Disabled"}, "Save"),
    "admin_customer_phone": _change(_to_customer, "The customer was saved.", lambda f: {"Phone": f["phone"]}, "Save"),
    "admin_cancel_order": _cancel_order, "admin_order_status": _order_status, "admin_order_comment": _comment,
    "admin_comment_subtotal": _comment_subtotal, "admin_order_address": _order_address, "admin_status_invoice": _status_invoice,
    "admin_approve_review": _judge_review("Approve", "The review is approved."),
    "admin_reject_review": _judge_review("Reject", "The review is not approved."),
}
