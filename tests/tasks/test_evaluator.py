"""The evaluator in real Chromium: each shape of record, each variant, and what must not happen to the agent's page."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from wr1_utils.tasks.evaluator import score_task
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


PAGE = """<title>Order 7</title><body><h1>Thank you</h1><p id=total>Total:&nbsp;$1,234.50</p><p hidden>secret</p>
<input id=name value=Ann><input type=hidden value=token><input type=radio value=small><select><option>S<option selected>XL</select>
<button onclick="document.querySelector('#total').textContent = 'gone'">Hide</button></body>"""


class Site(BaseHTTPRequestHandler):
    """One page for each path; /broken is a server fault, /none is a page that is not there, /case what a test puts there. Requests are noted."""

    case, asked = "", []

    def do_GET(self):
        self.asked.append(self.path)
        body = (self.case if self.path == "/case" else PAGE).encode()
        self.send_response({"/broken": 500, "/none": 404, "/refused": 403}.get(self.path, 200))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "text/plain" if self.path == "/refused" else "text/html")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Quiet."""


@pytest.fixture(scope="module")
def scored():
    """A function that scores an eval record in real Chromium: scored(eval, answer) -> (score, agent's page after, its address).

    The agent's page is PAGE, or what stands at `path` of a host of that name, after the script `before`.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sites = {"SHOPPING": f"http://shopping.localhost:{server.server_address[1]}"}
    loop = asyncio.new_event_loop()
    playwright = loop.run_until_complete(async_playwright().start())
    browser = loop.run_until_complete(playwright.chromium.launch(executable_path=find_browser("").path))

    async def score(record, answer, path, before, host, options):
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(sites["SHOPPING"].replace("shopping", host) + path)
        if before:
            await page.evaluate(before)
        task = task_from_record({**RECORD, "eval": record})
        try:
            result = await score_task(task, page, context, sites, answer, **options)
            assert len(context.pages) == 1, "the scoring page is closed again"
            return result, await page.content(), page.url
        finally:
            await context.close()

    yield lambda record, answer=None, path="/order", before="", host="shopping", **options: loop.run_until_complete(
        score(record, answer, path, before, host, options)
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
    Site.case = case["answer"]
    assert scored(record, path="/case")[0] == case["score"]


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
        ("last", "document.querySelector('#total').innerText", {"verbatim": "Total:\u00a0$1,234.50"}, 1),
        ("last", "document.querySelector('#total').innerText", {"verbatim": "Total: $1,234.50"}, 0),
        ("last", "document.querySelector('h1').innerText", {"verbatim": "thank you"}, 0),
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
    for path, status in (("broken", 500), ("refused", 403)):
        with pytest.raises(InfrastructureError, match=f"answered {status}"):
            scored(html_check(f"__SHOPPING__/{path}", "", must_include=["x"]))
    with pytest.raises(InfrastructureError, match="opening http://127.0.0.1:9/ for scoring failed"):
        scored(html_check("http://127.0.0.1:9/", "", must_include=["x"]))
    with pytest.raises(TaskError, match="not a JavaScript expression"):
        scored(html_check("last", "document.querySelector(", must_include=["x"]))
    with pytest.raises(TaskError, match="should be empty"):
        scored(html_check("last", "#total", must_include=["x"]))
    with pytest.raises(TaskError, match="should look like"):
        scored(html_check("func:1 +", "", must_include=["x"]))


def test_program_html_runs_once_in_a_page_of_its_own(scored):
    """The agent's page keeps its address, what was typed and its scripts' state, and gets no request; each check opens its page once.

    What was typed and never saved does not count in `wr1`; the published variants read the agent's page, as their authors did.
    """
    typed = "() => { document.querySelector('#name').value = 'Bob'; window.state = 7; document.title = 'typed' }"
    record = html_check("last", "document.querySelector('#name').value", exact_match="Bob")
    record["program_html"] += html_check("__SHOPPING__/other", "document.querySelector('h1').innerText", exact_match="Thank you")["program_html"]
    for variant, score, opened in (("wr1", 0, ["/order"]), ("webarena", 1, ["/other"]), ("browsergym", 1, ["/other"])):
        before = len(Site.asked)
        result, content, url = scored(record, before=typed, variant=variant)
        assert result == score and "<title>typed</title>" in content and url.endswith("/order")
        assert [path for path in Site.asked[before:] if path != "/favicon.ico"] == ["/order", *opened], "the agent's own visit, then one for the check"
    record["program_html"][0]["required_contents"] = {"exact_match": "Ann"}
    assert scored(record, before=typed)[0] == 1


@pytest.mark.parametrize(
    ("check", "wr1", "webarena", "browsergym"),
    [
        (html_check("last", "", must_include=["h1"]), 0, 1, 1),  # a token of the HTML source
        (html_check("last", "", must_include=["secret"]), 0, 1, 1),  # a hidden text stands in the source
        (html_check("last", "document.querySelector('#nothing')", exact_match=""), 1, 0, 0),  # there it is the text "None"
        (html_check("last", "[...document.querySelectorAll('h1')].map(e => e.innerText)", exact_match="thank you"), 1, 0, 0),  # a list's brackets
        (html_check("last", "document.title", must_include=["order |OR| cart"]), 1, 1, 1),
        ({"eval_types": ["url_match"], "reference_url": "__SHOPPING__/ord", "url_note": "GOLD in PRED"}, 0, 1, 1),
        ({"eval_types": ["url_match"], "reference_url": "__SHOPPING__/order"}, 1, 1, 1),
        ({"eval_types": ["string_match"], "reference_answers": {"must_include": ["0"]}}, 1, 1, 1),
    ],
)
def test_variants(scored, check, wr1, webarena, browsergym):
    for variant, score in (("wr1", wr1), ("webarena", webarena), ("browsergym", browsergym)):
        assert scored(check, "the score is 0", variant=variant)[0] == score, variant


def test_browsergym_counts_no_episode_that_left_the_sites(scored):
    record = {"eval_types": ["string_match"], "reference_answers": {"exact_match": "7"}}
    assert scored(record, "7", variant="browsergym")[0] == 1
    assert scored(record, "7", host="elsewhere", variant="browsergym")[0] == 0
    assert scored(record, "7", host="elsewhere")[0] == 1


def test_unknown_variant(scored):
    with pytest.raises(ValueError, match="wr1, webarena, browsergym"):
        scored({"eval_types": ["string_match"], "reference_answers": {"exact_match": "7"}}, "7", variant="strict")


def test_judge_in_an_episode(scored):
    """Asked for the task's own question; with none the task is unscored, not wrong."""
    class Kind:
        def for_task(self, task):
            return lambda reference, answer: float(task.task_id == "1" and reference == "thanks" and answer.strip() == "Thank you")

    record = html_check("last", "document.querySelector('h1').innerText", fuzzy_match=["thanks"])
    for variant in ("wr1", "webarena", "browsergym"):
        assert scored(record, variant=variant)[0] is None
        assert scored(record, variant=variant, judge=Kind())[0] == 1
