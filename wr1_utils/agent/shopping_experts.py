"""Scripted experts for the site `shopping`: one small function a template, each a person's plain way through the site.

An expert sees the observed page and the task's filling, never the site's database; where it stands, it reads off the page. Products
are always found the same way: search for the name, click the name, act. What must outlive a page is written down as ``# Note:``.

An expert is called with (filling, observation, memory) and gives its reply to one page; `memory` is its own for one episode, {} at the start.
"""

from collections.abc import Callable

from wr1_utils.agent.experts import ExpertError, cells, click, exit_with, find, find_all, need, page_line, search, select, type_text
from wr1_utils.web.observation import Observation

DONE = "done"                        # what an expert says at the end of a task that asks for no answer


# --- steps that the experts share ------------------------------------------------------------------------------------------------

def _page(observation: Observation) -> str:
    """The page's name: its title without the site's."""
    return observation.title.removeprefix("Pocket Shop: ")


def _says(observation: Observation, text: str) -> bool:
    return find(observation, "text", text) is not None


def _done() -> str:
    return exit_with(DONE, DONE)


def _search(observation: Observation, words: str, *notes: str) -> str:
    return search(need(observation, "textbox", "Search"), words, *notes)


def _to_product(product: str, observation: Observation, *notes: str) -> str | None:
    """The next step towards the product's page, or None when it is open."""
    if _page(observation) == product:
        return None
    if _page(observation) == f"Results for {product}":
        return click(need(observation, "link", product))
    return _search(observation, product, *notes)


def _to_order(number: int, observation: Observation, *notes: str) -> str | None:
    """The next step towards the order's page, or None when it is open."""
    if _page(observation) == f"Order {number}":
        return None
    if _page(observation) != "Orders":
        return click(need(observation, "link", "Orders"), *notes)
    order = find(observation, "link", f"Order {number}")
    return click(order or need(observation, "link", "Next page"))


def _answer_from_row(observation: Observation, name: str) -> str:
    """Ends with the value in the row `name` of the page's facts."""
    line = page_line(observation, f"row {name} | ")
    return exit_with(cells(line)[1], line)


def _cents(price: str) -> int:
    return round(100 * float(price.replace("$", "").replace(",", "")))


# --- questions -------------------------------------------------------------------------------------------------------------------

def _product_fact(row: str) -> Callable:
    return lambda filling, observation, memory: _to_product(filling["product"], observation) or _answer_from_row(observation, row)


def _order_fact(row: str) -> Callable:
    return lambda filling, observation, memory: _to_order(filling["order"], observation) or _answer_from_row(observation, row)


def _review_author(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_product(filling["product"], observation)
    if step:
        return step
    line = page_line(observation, f" | {filling['stars']} | ")
    return exit_with(cells(line)[0], line)


def _category_extreme(filling: dict, observation: Observation, memory: dict) -> str:
    order = "Price low to high" if filling["extreme"] == "cheapest" else "Price high to low"
    step = _to_sorted_category(filling["category"], order, observation)
    if step:
        return step
    first = next(e for e in observation.elements if e.role == "link" and e.row is not None)
    return exit_with(first.label, page_line(observation, first.label))


def _compare_price(filling: dict, observation: Observation, memory: dict) -> str:
    first, second = filling["first"], filling["second"]
    if _page(observation) == f"Results for {first}":
        memory["first"] = page_line(observation, f"link {first} ")
        return _search(observation, second, memory["first"])
    if _page(observation) == f"Results for {second}":
        lines = [memory["first"], page_line(observation, f"link {second} ")]
        cheaper = min((0, 1), key=lambda i: _cents(cells(lines[i])[1]))
        return exit_with((first, second)[cheaper], lines[cheaper])
    return _search(observation, first)


def _order_compare(filling: dict, observation: Observation, memory: dict) -> str:
    first, second = filling["first"], filling["second"]
    if "first" not in memory:
        step = _to_order(first, observation)
        if step:
            return step
        memory["first"] = page_line(observation, "row Total | ")
        return _to_order(second, observation, f"heading Order {first}", memory["first"])
    step = _to_order(second, observation)
    if step:
        return step
    lines = [memory["first"], page_line(observation, "row Total | ")]
    dearer = (first, second)[max((0, 1), key=lambda i: _cents(cells(lines[i])[1]))]
    return exit_with(str(dearer), f"heading Order {dearer}", lines[1])


def _order_quantity(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_order(filling["order"], observation)
    if step:
        return step
    line = page_line(observation, f"link {filling['item']} [")
    return exit_with(cells(line)[1], line)


def _no_such_product(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, "No products found."):
        return exit_with("N/A", page_line(observation, "No products found."))
    return _search(observation, filling["product"])


# --- navigation ------------------------------------------------------------------------------------------------------------------

def _to_sorted_category(category: str, order: str, observation: Observation) -> str | None:
    if _page(observation) != category:
        return click(need(observation, "link", category))
    sort = need(observation, "select", "Sort by")
    return select(sort, order) if sort.value != order else None


def _open_category(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_sorted_category(filling["category"], filling["sort"], observation) or _done()


def _open_product(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_product(filling["product"], observation) or _done()


def _open_search(filling: dict, observation: Observation, memory: dict) -> str:
    return _done() if _page(observation) == f"Results for {filling['words']}" else _search(observation, filling["words"])


def _open_order(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_order(filling["order"], observation) or _done()


# --- changes of state ------------------------------------------------------------------------------------------------------------

def _cart_add(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) == "Cart":
        return _done()
    step = _to_product(filling["product"], observation)
    if step:
        return step
    choice, quantity = filling.get("choice"), str(filling.get("quantity", 1))
    if choice:
        options = need(observation, "select", filling["option"].capitalize())
        if options.value != choice:
            return select(options, choice)
    box = need(observation, "textbox", "Quantity")
    if box.value != quantity:
        return type_text(box, quantity)
    return click(need(observation, "button", "Add to cart"))


def _cart_add_two(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) != "Cart":
        product = memory.get("product", filling["first"])
        return _to_product(product, observation) or click(need(observation, "button", "Add to cart"))
    if find(observation, "link", filling["second"]):
        return _done()
    memory["product"] = filling["second"]
    return _to_product(filling["second"], observation)


def _wish_add(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) == "Wish list":
        return _done()
    return _to_product(filling["product"], observation) or click(need(observation, "button", "Add to wish list"))


def _cart_quantity(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) != "Cart":
        return click(need(observation, "link", "Cart"))
    if _says(observation, "The cart was updated."):
        return _done()
    box = need(observation, "textbox", f"Quantity of {filling['product']}")
    if box.value != str(filling["quantity"]):
        return type_text(box, str(filling["quantity"]))
    return click(need(observation, "button", "Update cart"))


def _remove_item(filling: dict, observation: Observation, memory: dict) -> str:
    place = filling["place"].capitalize()
    if _page(observation) != place:
        return click(need(observation, "link", place))
    if _says(observation, "The item was removed."):
        return _done()
    return click(need(observation, "button", f"Remove {filling['product']}"))


def _place_order(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, "Thank you for your order."):
        return _done()
    if _page(observation) == "Cart":
        return click(need(observation, "link", "Checkout"))
    if _page(observation) != "Checkout":
        return _to_product(filling["product"], observation) or click(need(observation, "button", "Add to cart"))
    radio = next((e for e in find_all(observation, "radio") if e.label.startswith(filling["shipping"])), None)
    if radio is None:
        raise ExpertError(f"no shipping {filling['shipping']!r} on the page {observation.title!r}")
    return click(need(observation, "button", "Place order") if "checked" in radio.state else radio)


def _change_account(filling: dict, observation: Observation, memory: dict) -> str:
    """Types each field of the filling, checks the newsletter where it is asked for, and saves."""
    if _says(observation, "Your account was saved."):
        return _done()
    if _page(observation) != "Account":
        return click(need(observation, "link", "Account"))
    for field, value in filling.items():
        box = need(observation, "textbox", field.capitalize())
        if box.value != value:
            return type_text(box, value)
    return click(need(observation, "button", "Save"))


def _newsletter_zip(filling: dict, observation: Observation, memory: dict) -> str:
    box = find(observation, "checkbox", "Newsletter")
    if box and "checked" not in box.state and need(observation, "textbox", "Zip").value == filling["zip"]:
        return click(box)
    return _change_account(filling, observation, memory)


def _write_review(filling: dict, observation: Observation, memory: dict) -> str:
    product, stars = filling["product"], str(filling["stars"])
    if _page(observation) != f"Review {product}":
        if _says(observation, "Your review was added."):
            return _done()
        return _to_product(product, observation) or click(need(observation, "link", "Write a review"))
    choice, box = need(observation, "select", "Stars"), need(observation, "textbox", "Review")
    if choice.value != stars:
        return select(choice, stars)
    if box.value != filling["text"]:
        return type_text(box, filling["text"])
    return click(need(observation, "button", "Submit review"))


def _log_in(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, "You are logged in."):
        return _done()
    if _page(observation) != "Log in":
        return click(need(observation, "link", "Log in"))
    for label, value in (("Email", filling["email"]), ("Password", filling["password"])):
        box = need(observation, "textbox", label)
        if box.value != value:
            return type_text(box, value)
    return click(need(observation, "button", "Submit"))


EXPERTS = {
    "product_price": _product_fact("Price"), "product_rating": _product_fact("Rating"), "product_stock": _product_fact("Stock"),
    "review_author": _review_author, "category_extreme": _category_extreme, "compare_price": _compare_price,
    "order_status": _order_fact("Status"), "order_total": _order_fact("Total"), "order_shipping": _order_fact("Shipping"),
    "order_quantity": _order_quantity, "order_compare": _order_compare, "no_such_product": _no_such_product,
    "open_category": _open_category, "open_product": _open_product, "open_search": _open_search, "open_order": _open_order,
    "cart_add": _cart_add, "cart_add_quantity": _cart_add, "cart_add_option": _cart_add, "cart_add_two": _cart_add_two,
    "wish_add": _wish_add, "cart_quantity": _cart_quantity, "remove_item": _remove_item, "place_order": _place_order,
    "change_phone": _change_account, "newsletter_zip": _newsletter_zip, "write_review": _write_review, "log_in": _log_in,
}
