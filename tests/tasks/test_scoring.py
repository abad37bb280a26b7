"""The judge: the shared cases, and for each fault that they show the rest of its kind."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from wr1_utils.tasks.scoring import combine, fill_placeholders, html_match, score_task, string_match, url_match
from wr1_utils.tasks.task import TaskError, task_from_record
from wr1_utils.web.browser import InfrastructureError, find_browser

CASES = json.loads((Path(__file__).parents[1] / "cases" / "scoring.json").read_text(encoding="utf-8"))
RECORD = {
    "task_id": 1,
    "sites": ["shopping"],
    "start_url": "__SHOPPING__",
    "intent": "",
    "intent_template": "",
    "intent_template_id": 1,
    "instantiation_dict": {},
    "require_login": False,
    "require_reset": False,
    "split": "train",
}
SITES = {"SHOPPING": "http://h:1/", "SHOPPING_ADMIN": "http://h:2/admin"}


@pytest.mark.parametrize("case", [case for case in CASES if case["kind"] != "program_html"], ids=lambda case: case["id"])
def test_shared_case(case):
    """The case scores what it says (the case with a page is scored in the browser below)."""
    if case["kind"] == "url_match":
        assert url_match(case["reference"], case["answer"], SITES) == case["score"]
    else:
        assert string_match({case["kind"]: case["reference"]}, case["answer"]) == case["score"]


@pytest.mark.parametrize(
    ("reference", "answer", "score"),
    [
        ("12.50", "$12.5", 1),
        ("$12.50", "12.5", 1),
        ("$0.00", "0", 1),
        ("5", "5.5", 0),
        ("5", "1.5", 0),
        ("5", "-5", 0),
        ("-5", "−5.0", 1),
        ("5", "3-5 days", 1),
        ("3", "1,2,3", 1),
        ("1234", "1,234", 1),
        ("234", "1,234", 0),
        ("1,234", "US$1234.00.", 1),
        ("170", "order #000000170", 1),
        ("12:30", "at 12:30.", 1),
        ("1.2", "version 1.2.3", 0),
        ("4 stars", "14 stars", 0),
        ("costs 5", "it costs 50", 0),
        ("blue", "bluetooth", 0),
        ("blue", "Blue, red", 1),
        ("557m", "1557m", 0),
        ("c++", "C++ and Go", 1),
        ("red mug", "two RED\u00a0\n mugs", 1),
        ("1/2", "½", 1),
        ("11", "1½ litres, 1¹", 0),
        ("１２", "12", 1),
        ("fish & chips", "fish &amp;&nbsp;chips", 1),
        ("well-known", "well–known", 1),
        ('the "Sun"', "the “Sun”", 1),
        ("co\u00adop", "coop", 1),
        ("cafe\u0301", "CAFÉ", 1),
        (["a", "b|OR|c"], "a and c", 1),
        (["a", "b|OR|c"], "b and c", 0),
        (7, "it is 7", 1),
    ],
)
def test_must_include(reference, answer, score):
    """Numbers are numbers, words are words, and spelling of the same character is no difference."""
    assert string_match({"must_include": reference}, answer) == score


@pytest.mark.parametrize(
    ("reference", "answer", "score"),
    [
        ("Quest", "“Quest”.", 1),
        ("12.50", "$12.5", 1),
        ("N/A", "N/A because it is closed", 0),
        ("N/A", "", 0),
        ("N/A", "NA", 0),
        ("Mug |OR| Cup", "cup", 1),
        ("Mug |OR| Cup", "mug cup", 0),
        (["Mug"], "mug", 1),
        ("0", "", 0),
        ("", "", 1),
        ("'", "'", 1),
    ],
)
def test_exact_match(reference, answer, score):
    """Quotes around an answer and a full stop after it do not count; anything more does."""
    assert string_match({"exact_match": reference}, answer) == score


def test_what_needs_a_judge_cannot_be_scored_unless_it_is_already_decided():
    """fuzzy_match is None, but 0 where another part failed or nothing was answered, and N/A is compared."""
    assert string_match({"fuzzy_match": "N/A"}, "n/a") == 1
    assert string_match({"fuzzy_match": "N/A"}, "there is none") is None
    assert string_match({"fuzzy_match": ["x"], "must_include": ["y"]}, "z") == 0
    assert string_match({"fuzzy_match": ["x"], "must_include": ["y"]}, "y") is None
    assert string_match({"fuzzy_match": ["x"]}, " ") == 0
    assert string_match({"fuzzy_match": ["N/A"]}, None) == 0
    assert combine([1.0, None]) is None and combine([None, 0.0]) == 0 and combine([1.0, 1.0]) == 1
    with pytest.raises(ValueError, match="exact_match, must_include"):
        string_match({"fuzy_match": ["x"]}, "x")


@pytest.mark.parametrize(
    ("reference", "url", "score"),
    [
        ("__SHOPPING__", "http://h:1/", 1),
        ("__SHOPPING__c", "http://h:1/c", 1),
        ("__SHOPPING_ADMIN__/a b", "http://h:2/admin/a%20b/", 1),
        ("__SHOPPING__/a/b", "http://h:1/a", 0),
        ("__SHOPPING__/a", "http://h:1/x/a", 0),
        ("__SHOPPING__/a", "http://h:12/a", 0),
        ("http://h/a", "https://H:443/a", 0),
        ("http://h:80/a", "http://H./a", 1),
        ("http://h:1/c?q=red+mug", "http://h:1/c?q=red%20mug", 1),
        ("http://h:1/c?q=mug", "http://h:1/c?q=mugs", 0),
        ("http://h:1/c?q=a&q=b", "http://h:1/c?q=b&q=a", 1),
        ("http://h:1/c?q=a&q=a", "http://h:1/c?q=a", 0),
        ("http://h:1/c?a=", "http://h:1/c?a=", 1),
        ("http://h:1/c?a=1 |OR| http://h:1/d?a=2", "http://h:1/c?a=2", 0),
        ("http://[::1]:1/a", "http://localhost:1/a", 1),
        ("http://h:1/a", "about:blank", 0),
    ],
)
def test_url_match(reference, url, score):
    """URLs are compared part by part; only the query may have more than the reference."""
    assert url_match(reference, url, SITES) == score


def test_url_faults_of_the_task_are_errors():
    """An unknown site or rule is the task's fault and is said, not scored."""
    with pytest.raises(ValueError, match="__MAP__"):
        url_match("__MAP__/x", "http://h:1/x", SITES)
    with pytest.raises(ValueError, match="GOLD in PRED"):
        url_match("http://h:1/x", "http://h:1/x", SITES, "PRED in GOLD")
    assert fill_placeholders("__SHOPPING__?q=1", SITES) == "http://h:1?q=1"


def test_html_match():
    """All kinds must hold; nothing found is empty text, never the word None."""
    assert html_match({"must_include": ["red"], "must_exclude": ["blue"]}, "a red mug") == 1
    assert html_match({"must_include": ["red"], "must_exclude": ["mug"]}, "a red mug") == 0
    assert html_match({"exact_match": ""}, None) == 1
    assert html_match({"must_include": ["None"]}, None) == 0
    assert html_match({"must_include": "red"}, "a red mug") == 1
    assert html_match({"fuzzy_match": ["red"]}, "a red mug") is None


PAGE = """<title>Order 7</title><body><h1>Thank you</h1><p id=total>Total:&nbsp;$1,234.50</p><p hidden>secret</p>
<input id=name value=Ann><input type=hidden value=token><input type=radio value=small><select><option>S<option selected>XL</select>
<button onclick="document.querySelector('#total').textContent = 'gone'">Hide</button></body>"""


class Site(BaseHTTPRequestHandler):
    """One page for each path; /broken is a server fault, /none is a page that is not there."""

    def do_GET(self):
        body = PAGE.encode()
        self.send_response({"/broken": 500, "/none": 404}.get(self.path, 200))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Quiet."""


@pytest.fixture(scope="module")
def scored():
    """A function that scores an eval record on PAGE in real Chromium: scored(eval, answer) -> (score, agent's page after)."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sites = {"SHOPPING": f"http://shopping.localhost:{server.server_address[1]}"}
    loop = asyncio.new_event_loop()
    playwright = loop.run_until_complete(async_playwright().start())
    browser = loop.run_until_complete(playwright.chromium.launch(executable_path=find_browser("").path))

    async def score(record, answer, content, helpers):
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(sites["SHOPPING"] + "/order")
        if content is not None:
            await page.set_content(content)
        task = task_from_record({**RECORD, "eval": record})
        try:
            result = await score_task(task, page, context, sites, answer, helpers)
            assert len(context.pages) == 1, "the scoring page is closed again"
            return result, await page.content(), page.url
        finally:
            await context.close()

    yield lambda record, answer=None, content=None, helpers=None: loop.run_until_complete(
        score(record, answer, content, helpers)
    )
    loop.run_until_complete(browser.close())
    loop.run_until_complete(playwright.stop())
    loop.close()
    server.shutdown()
    server.server_close()


def html_check(url, locator, **contents):
    return {"eval_types": ["program_html"], "program_html": [{"url": url, "locator": locator, "required_contents": contents}]}


@pytest.mark.parametrize("case", [case for case in CASES if case["kind"] == "program_html"], ids=lambda case: case["id"])
def test_shared_case_in_the_browser(scored, case):
    """The case's HTML is the page that the agent ended on."""
    contents = dict(case["reference"])
    record = html_check("last", contents.pop("locator"), **contents)
    assert scored(record, content=case["answer"])[0] == case["score"]


@pytest.mark.parametrize(
    ("url", "locator", "contents", "score"),
    [
        ("last", "", {"must_include": ["Thank you", "1234.5", "Ann", "XL"]}, 1),
        ("last", None, {"must_exclude": ["secret", "token", "small", "None"]}, 1),
        ("last", "document.querySelector('#total').innerText", {"exact_match": "Total: 1234.5"}, 1),
        ("__SHOPPING__/order", "document.querySelector('#total').innerText;", {"must_include": "$1,234.50"}, 1),
        ("__SHOPPING__/order", "document.querySelector('#nothing').innerText", {"must_include": ["x"]}, 0),
        ("__SHOPPING__/order", "document.querySelector('#nothing')", {"exact_match": ""}, 1),
        ("__SHOPPING__/none", "[...document.querySelectorAll('h1')].map(e => e.innerText)", {"exact_match": "thank you"}, 1),
        ("last", "", {"fuzzy_match": ["thanks"]}, None),
        ("func:latest_order('a')", "document.title", {"exact_match": "Order 7"}, 1),
        ("last", "func:title(__page__)", {"exact_match": "Order 7"}, 1),
        ("func:no_such_helper()", "", {"must_include": ["x"]}, None),
    ],
)
def test_program_html(scored, url, locator, contents, score):
    """Each form of URL and locator that WebArena's records have, looked at in real Chromium."""

    async def latest_order(page, which):
        assert which == "a" and page.url == "about:blank"
        return "__SHOPPING__/order"

    async def title(page):
        return await page.title()

    helpers = {"latest_order": latest_order, "title": title}
    assert scored(html_check(url, locator, **contents), helpers=helpers)[0] == score


def test_parts_are_multiplied_and_the_agents_page_is_left_alone(scored):
    """All of eval_types must hold; prep_actions run on a page of the judge's own."""
    record = {
        **html_check("last", "document.querySelector('#total').innerText", exact_match="gone"),
        "eval_types": ["string_match", "url_match", "program_html"],
        "reference_answers": {"must_include": ["7"]},
        "reference_url": "__SHOPPING__/order",
    }
    record["program_html"][0]["prep_actions"] = ["document.querySelector('button').click()"]
    score, content, url = scored(record, "order 7")
    assert score == 1 and "1,234.50" in content and url.endswith("/order")
    assert scored(record, "order 8")[0] == 0
    assert scored(record)[0] == 0
    assert scored({**record, "reference_url": "__SHOPPING__/cart"}, "order 7")[0] == 0


def test_trouble_of_the_site_is_not_the_agents_failure(scored):
    """A site that does not answer or fails is an InfrastructureError; a faulty record is a TaskError."""
    with pytest.raises(InfrastructureError, match="answered 500"):
        scored(html_check("__SHOPPING__/broken", "", must_include=["x"]))
    with pytest.raises(InfrastructureError, match="opening http://127.0.0.1:9/ for scoring failed"):
        scored(html_check("http://127.0.0.1:9/", "", must_include=["x"]))
    with pytest.raises(TaskError, match="not a JavaScript expression"):
        scored(html_check("last", "document.querySelector(", must_include=["x"]))
    with pytest.raises(TaskError, match="should be empty"):
        scored(html_check("last", "#total", must_include=["x"]))
    with pytest.raises(TaskError, match="should look like"):
        scored(html_check("func:1 +", "", must_include=["x"]))
