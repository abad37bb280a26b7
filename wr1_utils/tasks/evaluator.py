"""The evaluator: a finished episode against its task's record, in one of three named variants of scoring.

What is compared with what is WebArena's: `string_match` looks at the answer, `url_match` at the address of the agent's page, `program_html` at what
pages hold. How it is compared is the variant's: `wr1` (scoring.py), `webarena` or `browsergym` (scoring_published.py).

program_html runs once, after the end, in a page of its own. In `wr1` "last" is the address that the agent ended on, opened anew: what was typed and
not saved does not count, and nothing that a check does reaches the agent's page. The published variants read the agent's page where it is "last".
A missing judge model or helper gives None: the task cannot be scored, which is not 0.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Page

from wr1_utils.tasks import scoring, scoring_published
from wr1_utils.tasks.judge import Judge
from wr1_utils.tasks.scoring import combine, fill_placeholders
from wr1_utils.tasks.scoring_published import Ask
from wr1_utils.tasks.task import Task, TaskError
from wr1_utils.web.browser import InfrastructureError, limited

VARIANTS = ("wr1", "webarena", "browsergym")
JUDGE_S = 40.0  # for all that one part of a task asks the judge model
LIMIT_S = 15.0  # for each thing asked of a page
PAGE_TEXT = """() => {
  const values = [...document.querySelectorAll("input, textarea, select")]
    .filter(field => !["hidden", "submit", "button", "image", "reset"].includes(field.type))
    .filter(field => !["checkbox", "radio"].includes(field.type) || field.checked)
    .map(field => field.tagName === "SELECT" ? [...field.selectedOptions].map(o => o.label).join(" ") : field.value);
  return [document.body ? document.body.innerText : "", ...values].join("\\n");
}"""
Helper = Callable[..., Awaitable[str]]


async def score_task(
    task: Task,
    page: Page,
    context: BrowserContext,
    site_urls: dict[str, str],
    answer: str | None,
    helpers: Mapping[str, Helper] | None = None,
    *,
    variant: str = "wr1",
    judge: Judge | None = None,
) -> float | None:
    """1.0 or 0.0 for a finished episode, None where it cannot be scored (a judge model or a helper is missing).

    The parts named in `eval_types` are multiplied. `page` is the agent's and is only read; what must be opened is opened
    in a page of its own in `context`. `helpers` are the functions that `func:name(...)` may name, called as
    `await helper(page, *arguments)`, where `page` is the scoring page; they return a URL or a text.
    Raises InfrastructureError when a page or the judge cannot be asked, TaskError or ValueError when the task's record or
    the variant is faulty.
    """
    if variant not in VARIANTS:
        raise ValueError(f"There is no variant of scoring called {variant!r}; there are {', '.join(VARIANTS)}.")
    if variant == "browsergym" and not _on_sites(context, site_urls):
        return 0.0
    ask = judge.for_task(task) if judge else None
    parts: list[float | None] = []
    for kind in task.eval["eval_types"]:
        if combine(parts) == 0.0:
            break
        if kind == "string_match":
            match = {"wr1": scoring.string_match, "webarena": scoring_published.webarena_string_match,
                     "browsergym": scoring_published.browsergym_string_match}[variant]
            parts.append(await _judged(match, task.eval["reference_answers"], answer, ask))
        elif kind == "url_match":
            parts.append(_url_match(variant, task, page.url, site_urls))
        elif kind == "program_html":
            parts.append(await _program_html(task, page, context, site_urls, helpers or {}, variant, ask))
        else:
            raise TaskError(f"Task {task.task_id}: {kind!r} in eval_types cannot be scored from outside the page.")
    return combine(parts)


def _on_sites(context: BrowserContext, site_urls: dict[str, str]) -> bool:
    """BrowserGym's rule: every tab is blank or on one of the sites."""
    allowed = {"", *(urlsplit(url).netloc for url in site_urls.values())}
    return all(urlsplit(tab.url).netloc in allowed for tab in context.pages)


async def _judged(match, references: dict, text: str | None, ask: Ask | None) -> float | None:
    """A comparison, in a thread where it may ask the judge model."""
    decided = match(references, text, None)
    if decided is not None or ask is None:
        return decided
    return await limited(asyncio.to_thread(match, references, text, ask), JUDGE_S, "asking the judge model")


def _url_match(variant: str, task: Task, url: str, site_urls: dict[str, str]) -> float:
    reference, note = task.eval["reference_url"], task.eval.get("url_note") or None
    if variant == "wr1":
        return scoring.url_match(reference, url, site_urls, note)
    match = scoring_published.webarena_url_match if variant == "webarena" else scoring_published.browsergym_url_match
    return match(fill_placeholders(reference, site_urls), url, note)


async def _program_html(task, page, context, site_urls, helpers, variant, ask) -> float | None:
    match = {"wr1": scoring.html_match, "webarena": scoring_published.webarena_html_match,
             "browsergym": scoring_published.browsergym_html_match}[variant]
    own = await limited(context.new_page(), LIMIT_S, "opening a page for scoring")
    try:
        parts: list[float | None] = []
        for check in task.eval["program_html"]:
            if combine(parts) != 0.0:
                text = await _checked_text(task, check, page, own, site_urls, helpers, variant)
                parts.append(None if text is None else await _judged(match, check["required_contents"], text, ask))
        return combine(parts)
    finally:
        with contextlib.suppress(InfrastructureError):
            await limited(own.close(), LIMIT_S, "closing the page for scoring")


async def _checked_text(task, check, page, own, site_urls, helpers, variant) -> str | None:
    """The text that one check of program_html looks at; None when it names a helper that there is not."""
    url, locator, preparations = check["url"], (check.get("locator") or "").strip(), check.get("prep_actions") or []
    if url.startswith("func:"):
        url = await _call(task, url, page, own, site_urls, helpers)
        if url is None:
            return None
    if url != "last":
        await _open(own, fill_placeholders(url, site_urls))
        page = own
    elif preparations or variant == "wr1":  # the first change the page, so not the agent's
        await _open(own, page.url)
        page = own
    for preparation in preparations:
        await _ask(task, page, preparation, variant)
    if locator.startswith("func:"):
        return await _call(task, locator, page, own, site_urls, helpers)
    if not locator:
        look = page.evaluate(PAGE_TEXT) if variant == "wr1" else page.content()
        return await limited(look, LIMIT_S, f"reading the text of {page.url} for scoring")
    if not locator.startswith(("document.", "[...document.")):
        raise TaskError(
            f"Task {task.task_id}: the locator {locator!r} should be empty, \"document...\" or \"func:...\"."
        )
    return await _ask(task, page, locator, variant)


async def _open(page: Page, url: str) -> None:
    response = await limited(page.goto(url, timeout=LIMIT_S * 1000), LIMIT_S + 1, f"opening {url} for scoring")
    if response is None:
        return
    html = response.headers.get("content-type", "").startswith("text/html")
    if response.status >= 500 or (response.status >= 400 and not html):  # the second: a refusal, not a page that says what is missing
        raise InfrastructureError(f"opening {url} for scoring failed: the site answered {response.status}")


async def _ask(task: Task, page: Page, expression: str, variant: str) -> str:
    """The text of a JavaScript expression; empty where it fails on this page, and in `wr1` also where it finds nothing.

    The published variants take a value as Python writes it: nothing is "None", a list is "['a', 'b']".
    """
    text = "found == null ? '' : String(found)" if variant == "wr1" else "found"
    script = (
        f"async () => {{ try {{ const found = await ({expression.rstrip().rstrip(';')}); "
        f"return {text} }} catch (error) {{ return '' }} }}"
    )
    try:
        return str(await limited(page.evaluate(script), LIMIT_S, f"asking {page.url} for {expression!r}"))
    except InfrastructureError as error:
        if "SyntaxError" in str(error.__cause__):
            raise TaskError(f"Task {task.task_id}: {expression!r} is not a JavaScript expression.") from error
        raise


async def _call(task, source: str, page, own, site_urls, helpers) -> str | None:
    """Calls the helper of `func:name('argument', __page__)`; None when there is none of that name."""
    code = fill_placeholders(source.removeprefix("func:").strip().replace("__last_url__", page.url), site_urls)
    try:
        call = ast.parse(code, mode="eval").body
        name = call.func.id
        values = [node for node in call.args if not (isinstance(node, ast.Name) and node.id == "__page__")]
        arguments = [ast.literal_eval(node) for node in values]
    except (SyntaxError, AttributeError, ValueError):
        raise TaskError(
            f"Task {task.task_id}: {source!r} should look like \"func:name('text', __page__)\"."
        ) from None
    if name not in helpers:
        return None
    looked_at = page if len(values) < len(call.args) else own
    return await limited(helpers[name](looked_at, *arguments), LIMIT_S, f"the scoring helper {name}")
