"""Real records of WebArena, one of each evaluator shape, on pages made for them at the sites' addresses, in real Chromium."""

import dataclasses
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from wr1_utils.settings import load_settings
from wr1_utils.tasks.webarena import SITES, WebArena
from wr1_utils.tasks.webarena_files import webarena_tasks
from wr1_utils.web.browser import Browser, InfrastructureError
from wr1_utils.web.loop import run

ADMIN = ("keeper", "the shop's password")


class Site(BaseHTTPRequestHandler):
    """`pages`: (site, path) → HTML, or for the shop's interface (`/rest/…`) an object that the administrator alone is given."""

    pages, queries = {}, []

    def do_GET(self):
        path = urlsplit(self.path).path
        found = self.pages.get((self.server.site, path))
        if path.startswith("/rest/"):
            self.queries.append(urlsplit(self.path).query)
            allowed = self.headers["Authorization"] == "Bearer a-token"
            self.reply(200 if allowed else 401, "application/json", json.dumps(found if allowed else "no"))
        else:
            self.reply(200 if found is not None else 404, "text/html; charset=utf-8", found or "<p>not found</p>")

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        right = self.path == "/rest/default/V1/integration/admin/token" and (given["username"], given["password"]) == ADMIN
        self.reply(200 if right else 401, "application/json", json.dumps("a-token" if right else "no"))

    def reply(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args):
        """Quiet."""


@pytest.fixture(scope="module")
def scores(webarena_files):
    """scores(number, pages, end, …) → the scores, one by each variant, of an episode that ended at the address `end` of those pages."""
    addresses, servers = {}, []
    for site in SITES:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
        server.site = site
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        addresses[site] = f"http://127.0.0.1:{server.server_address[1]}"
    browser = Browser(load_settings("smoke").browser)
    tasks = {}

    async def open_page():
        context = await browser.open()
        return context, await context.new_page()

    context, page = run(open_page())

    async def play(places, chosen, end, answer):
        await page.goto("about:blank")
        await page.goto(addresses[end[0]] + end[1])
        found = []
        for place, task in zip(places, chosen):
            visit = await place.enter(dataclasses.replace(task, require_login=False), 0)
            try:
                found.append(await place.score(page, context, task, visit, answer))
            finally:
                place.leave(visit)
        return found

    def score(number, pages, end, answer="done", benchmark="webarena", scoring=("webarena", "browsergym")):
        Site.pages = pages
        Site.queries.clear()
        places, chosen = [], []
        for variant in scoring:
            settings = load_settings("smoke", **{"tasks.scoring": variant})
            settings = dataclasses.replace(settings, webarena=dataclasses.replace(webarena_files, **addresses))
            places.append(WebArena(settings, benchmark))
            if (benchmark, variant) not in tasks:
                tasks[benchmark, variant] = {one.task_id: one for one in webarena_tasks(settings.webarena, benchmark, "test", variant)}
            chosen.append(tasks[benchmark, variant][f"{benchmark}.{number}"])
        return run(play(places, chosen, end, answer))

    score.addresses = addresses
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOPPING_ADMIN_USER", ADMIN[0])
        patch.setenv("SHOPPING_ADMIN_PASSWORD", ADMIN[1])
        yield score
    run(browser.stop())
    for server in servers:
        server.shutdown()
        server.server_close()


POST = '<div class="submission__inner">{} <a href="/f/pics">from /f/pics</a><img src="/media/{}"></div>'
PHOTO = "b02113033af32feae9ff147dbbe3764039368d67d193885bd04e65c2e6beea9c.jpg"
MEMBERS = """<table><tr><td data-label="Account"><span class="gl-avatar-labeled-sublabel">@byteblaze</span><td class="col-max-role"><span>Owner</span>
<tr><td data-label="Account"><span class="gl-avatar-labeled-sublabel">@lahwaacz</span><td class="col-max-role"><span>{}</span></table>"""
MERGE = """<div class="detail-page-description">
<a class="gl-font-monospace">{}</a><a class="gl-font-monospace">{}</a></div><div class="block reviewer">Caroline Stewart</div>"""
RULE = """<input name="name" value="spring sale"><select name="website_ids"><option>Main</select>
<select name="customer_group_ids"><option>A<option selected>B</select>
<div data-index="actions"><div class="admin__collapsible-title" onclick="actions.innerHTML = `{}`">Actions</div><div id="actions"></div></div>"""
ACTIONS = "<select name=simple_action><option value=by_percent></select><input name=discount_amount value={}>"
ORDER, REVIEWS = "/rest/V1/orders", "/rest/V1/products/B07HZB38XH/reviews"
NO_LOCATOR_PAGE = "<body><p>{}</p></body>"


def reviews(author, percent):
    return [{"nickname": "Earlier", "ratings": [{"rating_name": "Rating", "percent": 20}]},
            {"nickname": author, "ratings": [{"rating_name": "Rating", "percent": percent}]}]


@pytest.mark.parametrize("number, right, wrong, end", [
    # `last`, whole page, must_include of several texts
    (118, {("shopping", "/guard.html"): NO_LOCATOR_PAGE.format("A mouth guard against jaw bruxism")},
     {("shopping", "/guard.html"): NO_LOCATOR_PAGE.format("A mouth guard")}, ("shopping", "/guard.html")),
    # fixed URL, querySelector, exact_match
    (505, {("shopping_admin", "/catalog/product/edit/id/1861/"): '<select name="product[quantity_and_stock_status][is_in_stock]"><option value=1><option value=0 selected>'},
     {("shopping_admin", "/catalog/product/edit/id/1861/"): '<select name="product[quantity_and_stock_status][is_in_stock]"><option value=1>'}, ("shopping_admin", "/")),
    # fixed URL, whole page
    (389, {("gitlab", "/primer/design/-/merge_requests/450"): NO_LOCATOR_PAGE.format("Thanks, working on reviews")},
     {("gitlab", "/primer/design/-/merge_requests/450"): NO_LOCATOR_PAGE.format("Thanks")}, ("gitlab", "/")),
    # fixed URL, querySelector, must_include
    (466, {("shopping", "/wishlist/"): "<ol class='products-grid wishlist'><li>2 Hawaiian Bamboo Orchid Roots #zc50 - by Discount Hawaiian Gifts</ol>"},
     {("shopping", "/wishlist/"): "<ol class='products-grid wishlist'></ol><p>2 Hawaiian Bamboo Orchid Roots #zc50 - by Discount Hawaiian Gifts"}, ("shopping", "/")),
    # url_match with program_html, `last`, querySelectorAll
    (666, {("gitlab", "/primer/design/-/merge_requests/7"): MERGE.format("dialog-component", "dialog")},
     {("gitlab", "/primer/design/-/merge_requests/7"): MERGE.format("dialog", "dialog-component")}, ("gitlab", "/primer/design/-/merge_requests/7")),
    # func: in the URL, of the address where the agent ended; url_match by the beginning of the address
    (600, {("reddit", "/f/consoles/7/"): POST.format("What is the recommended console to buy these days?", ""), ("reddit", "/f/consoles/7/what/-/comment/1"): ""},
     {("reddit", "/f/consoles/7/"): POST.format("Which console?", ""), ("reddit", "/f/consoles/7/what/-/comment/1"): ""}, ("reddit", "/f/consoles/7/what/-/comment/1")),
    # [...querySelectorAll], two checks
    (615, {("reddit", "/f/earthporn/9/"): POST.format("A view,", PHOTO), ("reddit", "/f/earthporn/9/a-view"): ""},
     {("reddit", "/f/earthporn/9/"): POST.format("A view,", "other.jpg"), ("reddit", "/f/earthporn/9/a-view"): ""}, ("reddit", "/f/earthporn/9/a-view")),
    # |OR| in what a page must hold
    (431, {("shopping", "/checkout/cart"): NO_LOCATOR_PAGE.format("10 Inch Tall Candles, Scent-Free Premium Wax Candle Sticks")},
     {("shopping", "/checkout/cart"): NO_LOCATOR_PAGE.format("10 Inch Tall Candles")}, ("shopping", "/")),
    # |OR| in the address
    (604, {("reddit", "/f/singularity/5/"): POST.format("what is the SOTA web navigation agent repo", ""), ("reddit", "/f/singularity/5/what"): ""},
     {("reddit", "/f/singularity/5/"): POST.format("what is the SOTA repo", ""), ("reddit", "/f/singularity/5/what"): ""}, ("reddit", "/f/singularity/5/what")),
    # func: as the locator, on a page
    (484, {("gitlab", "/byteblaze/dotfiles/-/project_members"): MEMBERS.format("Guest")},
     {("gitlab", "/byteblaze/dotfiles/-/project_members"): MEMBERS.format("Developer")}, ("gitlab", "/")),
    # func: as the URL, by the shop's interface
    (436, {("shopping", ORDER): {"items": [{"increment_id": "000000190"}]},
           ("shopping", "/sales/order/view/order_id/190/"): "<div class='order-details-items ordered'>SKU B07DFJ5XKH</div>"},
     {("shopping", ORDER): {"items": [{"increment_id": "000000191"}]},
      ("shopping", "/sales/order/view/order_id/190/"): "<div class='order-details-items ordered'>SKU B07DFJ5XKH</div>"}, ("shopping", "/")),
    # func: as the locator, by the shop's interface, two checks
    (586, {("shopping", REVIEWS): reviews("ShoppingEmma", 80)}, {("shopping", REVIEWS): reviews("Somebody", 80)}, ("shopping", "/")),
    # prep_actions
    (699, {("shopping_admin", "/sales_rule/promo_quote/edit"): RULE.format(ACTIONS.format(20))},
     {("shopping_admin", "/sales_rule/promo_quote/edit"): RULE.format(ACTIONS.format(30))}, ("shopping_admin", "/sales_rule/promo_quote/edit")),
])
def test_pages(scores, number, right, wrong, end):
    """As the authors scored and as BrowserGym does."""
    assert scores(number, right, end) == [1.0, 1.0]
    assert scores(number, wrong, end) == [0.0, 0.0]


def test_the_address_counts_too(scores):
    """What 604 wants, posted to a forum that is none of the three."""
    page = POST.format("what is the SOTA web navigation agent repo", "")
    assert scores(604, {("reddit", "/f/pics/5/"): page, ("reddit", "/f/pics/5/what"): ""}, ("reddit", "/f/pics/5/what")) == [0.0, 0.0]


@pytest.mark.parametrize("number, path, score", [
    (103, "/kkroening/ffmpeg-python/-/issues/?label_name%5B%5D=question", 1), (103, "/kkroening/ffmpeg-python/-/issues/?label_name%5B%5D=bug", 0),
    (103, "/kkroening/ffmpeg-python/-/issues/", 0),
])
def test_addresses_alone(scores, number, path, score):
    assert scores(number, {}, ("gitlab", path)) == [score, score]


@pytest.mark.parametrize("number, answer, score", [
    (0, "Quest Lumaflex™ Band", 1), (0, "The Quest Lumaflex™ Band", 0),                                    # exact_match
    (4, "Impulse Duffle, Overnight Duffle and Hawkeye Yoga Short-32-Blue", 1), (4, "Impulse Duffle", 0),    # must_include
    (144, "$0.00", 1), (144, "0", 1), (144, "$10.00", 0), (144, None, 0),                                   # patched
    (37, "yes", None),                                                                                      # fuzzy_match, and no judge
])
def test_answers(scores, number, answer, score):
    assert scores(number, {}, ("map", "/"), answer, "webarena" if number == 0 else "webarena-lite", ["webarena"]) == [score]


def test_what_a_page_must_hold_may_name_a_site(scores):
    """681 wants GitLab's address in a post; the record has its placeholder."""
    for address, score in ((scores.addresses["gitlab"], 1.0), ("http://elsewhere", 0.0)):
        page = POST.format(f"gan implementation: {address}/eriklindernoren/PyTorch-GAN", "")
        assert scores(681, {("reddit", "/f/technology/5/gan"): page}, ("reddit", "/f/technology/5/gan")) == [score, score]


def test_the_shops_interface_must_answer(scores):
    """It is no failure of the agent when it does not."""
    with pytest.raises(InfrastructureError, match="named no newest order"):
        scores(436, {("shopping", ORDER): {"items": []}}, ("shopping", "/"))
    assert Site.queries and "sortOrders" in Site.queries[0]
    assert scores(586, {("shopping", REVIEWS): []}, ("shopping", "/")) == [0.0, 0.0]


def test_without_the_administrators_account_its_tasks_are_unscored(scores, monkeypatch):
    monkeypatch.delenv("SHOPPING_ADMIN_PASSWORD")
    assert scores(586, {("shopping", REVIEWS): reviews("ShoppingEmma", 80)}, ("shopping", "/")) == [None, None]
