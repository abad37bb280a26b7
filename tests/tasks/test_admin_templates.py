"""The tasks of the back office: well-formed, nothing of the test set in the training set, and right by the site's own pages."""

import random
import re
from collections import Counter
from html import unescape

import pytest
from starlette.testclient import TestClient

from wr1_utils.sites.changes import LOCATOR
from wr1_utils.sites.server import SESSIONS, WORLD_HEADER, make_app, seeds
from wr1_utils.sites.shopping_admin import STATUSES
from wr1_utils.sites.shopping_admin_reports import SHORTCUTS
from wr1_utils.sites.world import Worlds
from wr1_utils.tasks import shopping_templates
from wr1_utils.tasks.admin_templates import FORM, ORDER, REVIEWS, TEMPLATES, seed_office
from wr1_utils.tasks.templates import make_tasks

TRAIN, TEST = make_tasks(TEMPLATES)
WORLDS = Worlds(seeds())
APP = make_app(WORLDS)
SITE = "__SHOPPING_ADMIN__"
LISTINGS = ("/orders", "/customers", "/products", "/reviews")


def of(name):
    return [task for task in TRAIN + TEST if task.intent_template_id == f"admin_{name}"]


def test_no_intent_and_no_filling_is_in_both_sets():
    def filled(tasks):
        return {(task.intent_template_id, frozenset(map(str, task.instantiation_dict.values()))) for task in tasks}

    assert not filled(TRAIN) & filled(TEST)
    assert len({task.intent for task in TRAIN + TEST}) == len(TRAIN + TEST)


def test_no_intent_is_one_of_the_shop():
    assert not {task.intent for task in TRAIN + TEST} & {task.intent for task in sum(make_tasks(shopping_templates.TEMPLATES), [])}


def test_sizes_and_splits():
    assert (len(TRAIN), len(TEST)) == (137, 35)
    assert {task.split for task in TRAIN} == {"train"}
    trained = {task.intent_template_id for task in TRAIN}
    for task in TEST:
        assert task.split == ("seen_template" if task.intent_template_id in trained else "unseen_template")
    assert {task.intent_template_id for task in TEST} - trained == {
        "admin_order_customer", "admin_revenue_dates", "admin_customer_of_order", "admin_price_stock", "admin_reject_review"}
    assert sum(task.split == "unseen_template" for task in TEST) >= 7
    assert {template.name for template in TEMPLATES} == {task.intent_template_id for task in TEST}


def test_kinds_and_impossible_tasks():
    for tasks in (TRAIN, TEST):
        kinds = Counter(kind for task in tasks for kind in task.eval["eval_types"])
        assert 0.43 < kinds["string_match"] / len(tasks) < 0.53
        assert 0.36 < kinds["program_html"] / len(tasks) < 0.46
        assert 0.18 < kinds["url_match"] / len(tasks) < 0.28
    impossible = sum(task.eval["reference_answers"] == {"exact_match": "N/A"} for task in TRAIN + TEST)
    assert 0.04 < impossible / len(TRAIN + TEST) < 0.06


def test_another_seed_gives_other_tasks():
    assert {task.intent for task in TRAIN} != {task.intent for task in make_tasks(TEMPLATES, 1)[0]}


def test_every_intent_is_filled_and_short():
    for task in TRAIN + TEST:
        assert "{{" not in task.intent and len(task.intent) <= 100, task.intent
        assert task.start_url == f"{SITE}/" and task.sites == ("shopping_admin",) and task.require_login
    assert all(template.name.startswith("admin_") and 1 <= len(template.phrasings) <= 3 for template in TEMPLATES)


# --- a second look: what the pages themselves say --------------------------------------------------------------------------------

@pytest.fixture
def office():
    """A client without scripts, logged in, in a world of its own: ``office("/orders", status="Packed")`` gives a page's HTML."""
    world, (cookie, token) = WORLDS.create(), SESSIONS["shopping_admin"]
    client = TestClient(APP, base_url="http://shopping_admin.localhost", headers={WORLD_HEADER: world.key, "Cookie": f"{cookie}={token}"})

    def get(path, **query):
        response = client.get(path, params=query or None)
        assert response.status_code == 200, path
        return response.text

    get.post = lambda path, **data: client.post(path, data=data).raise_for_status()
    yield get
    WORLDS.discard(world.key)


def text(html):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def lines(html, kind="item"):
    """The cells of each table row of this class."""
    return [[text(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)]
            for row in re.findall(rf'<tr class="{kind}">(.*?)</tr>', html, re.DOTALL)]


def facts(html):
    """Name → value of the page's rows of facts."""
    return {name: text(value) for name, value in re.findall(r"<tr><th>([^<]*)</th><td[^>]*>(.*?)</td></tr>", html, re.DOTALL)}


def link(html, label):
    return re.search(rf'<a href="([^"]*)">{re.escape(label)}</a>', html)[1]


def read_form(html):
    """The values of the form's fields, as the locator FORM gives them."""
    form = re.search(r'<form class="card".*?</form>', html, re.DOTALL)[0]
    fields = re.findall(r'type="text"[^>]* value="([^"]*)"|<option selected>([^<]*)|(type="checkbox"[^>]*>)', form)
    return "; ".join(str("checked>" in box).lower() if box else unescape(typed or chosen) for typed, chosen, box in fields)


def read(html, locator):
    """What a locator finds, without a browser."""
    if locator == FORM:
        return read_form(html)
    if locator == LOCATOR:
        return text(re.search(r'<p id="changes">(.*?)</p>', html)[1])
    if locator == REVIEWS:
        return "; ".join(" | ".join(line) for line in lines(html))
    assert locator == ORDER
    return " | ".join([*facts(html.split("</table>")[0]).values(), *sum(lines(html, "comment"), [])])


def pages(office, path):
    """The rows of all pages of a listing."""
    count = int(re.search(r"Page 1 of ([0-9]+)", office(path))[1])
    return [line for page in range(1, count + 1) for line in lines(office(path, page=page))]


def of_record(office, listing, words, label):
    return office(link(office(listing, q=words), label))


def order_page(office, filling):
    return of_record(office, "/orders", filling["order"], f"Order {filling['order']}")


def of_dates(office, report, first, last):
    return lines(office(f"/reports/{report}", **{"from": first, "to": last}))


def best_of_dates(office, f):
    found = of_dates(office, "best-sellers", f["first"], f["last"])
    assert len(found) == 1 or int(found[0][1]) > int(found[1][1])
    return found[0][0]


def nth_best(office, f):
    found = lines(office("/reports/best-sellers"))
    assert [line[1] for line in found].count(found[f["place"] - 1][1]) == 1
    return found[f["place"] - 1][0]


def top_customer(office, f):
    found = sorted(pages(office, "/customers"), key=lambda line: float(line[4][1:].replace(",", "")), reverse="most" in f["rank"])
    place = ("", "second", "third", "fourth").index(f["rank"].rpartition(" ")[0])
    assert [line[4] for line in found].count(found[place][4]) == 1
    return found[place][0]


def only(values):
    (value,) = values
    return value


ANSWERS = {                          # template → the answer that the pages give
    "dashboard_figure": lambda o, f: facts(o("/"))[f["figure"].removeprefix("number of ").capitalize()],
    "month_revenue": lambda o, f: only([line[3] for line in lines(o("/reports/sales")) if line[0] == f["month"]]),
    "best_seller": nth_best,
    "best_seller_dates": best_of_dates,
    "search_uses": lambda o, f: only([line[1] for line in pages(o, "/reports/search-terms") if line[0] == f["term"]]),
    "customer_contact": lambda o, f: re.search(
        rf'name="{f["field"]}" value="([^"]*)"', of_record(o, "/customers", f["customer"], f["customer"]))[1],
    "order_total": lambda o, f: facts(order_page(o, f))["Total"],
    "order_customer": lambda o, f: facts(order_page(o, f))["Customer"],
    "top_customer": top_customer,
    "review_author": lambda o, f: only([line[1] for line in lines(of_record(o, "/products", f["product"], f["product"]))
                                        if line[2] == f["stars"][0]]),
    "nothing_found": lambda o, f: only({"N/A" if "0 found" in o(listing, q=f["thing"]) else "" for listing in LISTINGS}),
    "count_orders": lambda o, f: re.search(r'<p id="count">([0-9]+) found', o("/orders", **f))[1],
    "sales_report": lambda o, f: of_dates(o, "sales", *SHORTCUTS[f["period"].capitalize()])[-1][
        ("orders", "items", "revenue").index(f["figure"]) + 1],
    "stock_value": lambda o, f: only([line[("items", "value").index(f["figure"]) + 2] for line in lines(o("/reports/stock-figures"))
                                      if line[0] == f["category"]]),
    "revenue_dates": lambda o, f: of_dates(o, "sales", f["first"], f["last"])[-1][3],
}


def test_every_question_is_answered_by_the_pages(office):
    questions = [task for task in TRAIN + TEST if "string_match" in task.eval["eval_types"]]
    assert {task.intent_template_id for task in questions} == {f"admin_{name}" for name in ANSWERS}
    for task in questions:
        found = ANSWERS[task.intent_template_id.removeprefix("admin_")](office, task.instantiation_dict)
        assert task.eval["reference_answers"] == {"exact_match": found}, task.intent


def test_every_address_exists(office):
    for task in TRAIN + TEST:
        if "url_match" in task.eval["eval_types"]:
            assert "There is no such page." not in office(task.eval["reference_url"].removeprefix(SITE))


def test_sorted_products_are_sorted(office):
    for task in of("sorted_products"):
        extreme, column = task.instantiation_dict["order"].split()
        found = lines(office(task.eval["reference_url"].removeprefix(SITE)))
        assert {line[1] for line in found} == {task.instantiation_dict["category"]}
        values = [float(line[2 if column == "price" else 3].removeprefix("$")) for line in found]
        assert values == sorted(values, reverse=extreme == "highest")


def test_the_customer_of_an_order_is_the_one_that_it_leads_to(office):
    for task in of("customer_of_order"):
        page = order_page(office, task.instantiation_dict)
        assert task.eval["reference_url"] == SITE + link(page, facts(page)["Customer"])


# --- changes of state, done by forms ---------------------------------------------------------------------------------------------

def save_product(office, name, **changes):
    product = seed_office().product(name)
    values = {"name": name, "price": f"{product['cents'] / 100:.2f}", "stock": product["stock"], "status": "Enabled", **changes}
    office.post(f"/products/{product['slug']}", **values)


def save_customer(office, name, **changes):
    customer = seed_office().customer(name)
    values = {**{name: value for name, value in customer.items() if name != "newsletter"}, **changes}
    office.post(f"/customers/{customer['id']}", **values)


def save_address(office, number, **changes):
    office.post(f"/orders/{number}/address", name=seed_office().order(number)["name"], **changes)


def judge(office, f, verdict):
    review = only([review for review in seed_office().reviews_of(f["product"]) if review["author"] == f["author"]])
    office.post(f"/reviews/{review['id']}/status", status=verdict)


def set_status(office, f, **data):
    office.post(f"/orders/{f['order']}/status", status=f["status"])


def subtotal(office, number):
    return facts(office(f"/orders/{number}/invoice"))["Subtotal"]


CHANGES = {                          # template → what its task wants, by a form
    "change_product": lambda o, f: save_product(o, f["product"], **{f["field"]: f["value"]}),
    "price_stock": lambda o, f: save_product(o, f["product"], price=f["price"], stock=f["stock"]),
    "disable_product": lambda o, f: save_product(o, f["product"], status="Disabled"),
    "cancel_order": lambda o, f: o.post(f"/orders/{f['order']}/cancel"),
    "order_status": set_status, "status_invoice": set_status,
    "order_comment": lambda o, f: o.post(f"/orders/{f['order']}/comment", comment=f["comment"]),
    "comment_subtotal": lambda o, f: o.post(f"/orders/{f['order']}/comment", comment=subtotal(o, f["order"])),
    "order_address": lambda o, f: save_address(o, f["order"], street=f["street"], city=f["city"], zip=f["zip"]),
    "approve_review": lambda o, f: judge(o, f, "Approved"),
    "reject_review": lambda o, f: judge(o, f, "Not approved"),
    "customer_phone": lambda o, f: save_customer(o, f["customer"], phone=f["phone"]),
}
STATES = [task for task in TRAIN + TEST if "program_html" in task.eval["eval_types"]]


def reached(office, task):
    return all(read(office(check["url"].removeprefix(SITE)), check["locator"]) == check["required_contents"]["verbatim"]
               for check in task.eval["program_html"])


def test_every_change_of_state_has_a_form():
    assert {task.intent_template_id for task in STATES} == {f"admin_{name}" for name in CHANGES}


@pytest.mark.parametrize("task", STATES, ids=lambda task: task.task_id)
def test_the_change_of_state_is_what_the_form_does_and_not_there_before(office, task):
    change = CHANGES[task.intent_template_id.removeprefix("admin_")]
    assert not reached(office, task)
    change(office, task.instantiation_dict)
    assert reached(office, task)
    if task.intent_template_id in ("admin_order_comment", "admin_comment_subtotal"):          # a second time is once too often
        change(office, task.instantiation_dict)
        assert not reached(office, task)


OTHERS = {                           # template → the like of it on a second record
    "change_product": lambda o, f, other: save_product(o, other["product"], **{f["field"]: "77"}),
    "price_stock": lambda o, f, other: save_product(o, other["product"], stock="77"),
    "disable_product": lambda o, f, other: save_product(o, other["product"], stock="77"),
    "cancel_order": lambda o, f, other: set_status(o, {**other, "status": "Returned"}),
    "order_status": lambda o, f, other: set_status(o, {**other, "status": f["status"]}),
    "status_invoice": lambda o, f, other: set_status(o, {**other, "status": f["status"]}),
    "approve_review": lambda o, f, other: judge(o, other, "Not approved"), "reject_review": lambda o, f, other: judge(o, other, "Approved"),
    "customer_phone": lambda o, f, other: save_customer(o, other["customer"], phone=f["phone"]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_second_record_changed_as_well_is_seen(office, name):
    """Orders: where the other one had the first one's status before, or has its status after."""
    task = of(name)[0]
    filling, template = task.instantiation_dict, next(template for template in TEMPLATES if template.name == f"admin_{name}")
    status = seed_office().order(filling["order"])["status"] if "order" in filling else None

    def fits(one):
        if "order" in one:
            return one["order"] != filling["order"] and seed_office().order(one["order"])["status"] == status
        if "customer" in one:
            return one["customer"] != filling["customer"]
        if "author" in one:
            return one != filling and next(r for r in seed_office().reviews_of(one["product"]) if r["author"] == one["author"])["status"] == "Pending"
        return one["product"] != filling["product"] and seed_office().product(one["product"])["stock"] > 0

    other = next(filter(fits, template.fillings(random.Random(3))))
    CHANGES[name](office, filling)
    assert reached(office, task)
    OTHERS[name](office, filling, other)
    assert not reached(office, task)


def test_the_stock_that_a_canceled_order_gives_back_is_what_it_took(office):
    task = of("cancel_order")[0]
    CHANGES["cancel_order"](office, task.instantiation_dict)
    assert reached(office, task)
    name = seed_office().order(task.instantiation_dict["order"])["items"][0]["product_name"]
    save_product(office, name, stock="9000")
    assert not reached(office, task)


def another_order(f):
    """An order that has neither the status that the task's order has nor the one that it is to get, and a status that is neither of all these."""
    statuses = {f.get("status"), seed_office().order(f["order"])["status"]} if "order" in f else set()
    order = next(o for o in seed_office().orders if o["id"] != f.get("order") and o["status"] not in statuses | {"Canceled"})
    return order["id"], next(status for status in STATUSES if status not in statuses | {order["status"]})


ELSEWHERE = {                        # one change more, on a record that the task does not name
    "an order between other statuses": lambda o, f: set_status(o, dict(zip(("order", "status"), another_order(f)))),
    "a comment on an order": lambda o, f: o.post(f"/orders/{another_order(f)[0]}/comment", comment="Fine."),
    "an order's address": lambda o, f: save_address(o, another_order(f)[0], street="1 Mill Road", city="Elmton", zip="11111"),
    "a customer's phone": lambda o, f: save_customer(
        o, next(c["name"] for c in seed_office().customers[1:] if c["name"] != f.get("customer")), phone="555-0001"),
    "a review deleted": lambda o, f: o.post(f"/reviews/{next(r for r in seed_office().reviews if r['product_name'] != f.get('product'))['id']}/delete"),
    "a product's price": lambda o, f: save_product(o, next(p["name"] for p in seed_office().products if p["name"] != f.get("product")), price="0.77"),
}


@pytest.mark.parametrize("beside", ELSEWHERE)
@pytest.mark.parametrize("name", CHANGES)
def test_one_change_more_elsewhere_is_seen(office, name, beside):
    task = of(name)[0]
    CHANGES[name](office, task.instantiation_dict)
    assert reached(office, task)
    ELSEWHERE[beside](office, task.instantiation_dict)
    assert not reached(office, task)
