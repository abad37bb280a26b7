"""Is a task solved? WebArena's three rules (string_match, url_match, program_html), with their faults mended.

Scoring variant `wr1`. Deviations from the evaluators of WebArena (arXiv 2307.13854):
- No answer (the episode ended without `exit`) is wrong for every string_match, a reference of "N/A" included.
- Text is compared after NFKC, HTML entities, curly quotes, dashes and blanks are made alike. Numbers compare as numbers
  ("$1,234.50" is 1234.5), and a number never matches inside a longer one.
- A reference without a blank in it must stand as a token ("0" is not in "10"); there it was so for one character only.
- URLs are compared part by part: host, whole path (not a prefix of it), and each query pair, blank values included.
  Alternatives (`|OR|`) are tried one by one instead of pooling their query values.
- An empty or null locator is the text of the page with the values of its fields, not its HTML source.
- What needs a judge model (fuzzy_match) or a helper that the place does not have gives None: it cannot be scored.
- program_html looks at pages of its own; the agent's page is only read.
"""

from __future__ import annotations

import ast
import contextlib
import html
import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from playwright.async_api import BrowserContext, Page

from wr1_utils.tasks.task import Task, TaskError
from wr1_utils.web.browser import InfrastructureError, limited

SAME_CHARACTER = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "\u2044": "/",
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
    }
)
MINUS = "−"  # stands for a sign in canonical text, where "-" is a hyphen
LOOPBACK = ("localhost", "127.0.0.1", "::1")
LIMIT_S = 15.0  # for each thing asked of a page
PAGE_TEXT = """() => {
  const values = [...document.querySelectorAll("input, textarea, select")]
    .filter(field => !["hidden", "submit", "button", "image", "reset"].includes(field.type))
    .filter(field => !["checkbox", "radio"].includes(field.type) || field.checked)
    .map(field => field.tagName === "SELECT" ? [...field.selectedOptions].map(o => o.label).join(" ") : field.value);
  return [document.body ? document.body.innerText : "", ...values].join("\\n");
}"""
Helper = Callable[..., Awaitable[str]]
OR = re.compile(r"\s*\|OR\|\s*")


def canonical(text: str) -> str:
    """`text` in the form that is compared: one case, one kind of quote, dash and blank, numbers as 1234.5."""
    text = html.unescape(text).translate(SAME_CHARACTER)
    text = re.sub("(?<=[0-9])(?=[²³¹⁰-⁹₀-₉¼-¾⅐-⅞])", " ", text)  # 1½ is not 11/2
    text = unicodedata.normalize("NFKC", text).translate(SAME_CHARACTER).casefold()
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"(?<![^\s(=:$€£¥])-(?=[$€£¥]? ?[0-9])", MINUS, text)
    text = re.sub(r"(?<=\w)[$€£¥] ?(?=−?[0-9])", " ", text)
    text = re.sub(r"[$€£¥] ?(?=−?[0-9])", "", text)
    return re.sub(
        r"(?<![\w.,])([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(\.[0-9]+)?(?!\.?[0-9])",
        lambda number: _plain_number(number[1], number[2] or ""),
        text,
    )


def _plain_number(whole: str, fraction: str) -> str:
    whole = whole.replace(",", "").lstrip("0") or "0"
    return whole + fraction.rstrip("0").rstrip(".")


def _unquoted(text: str) -> str:
    """Canonical text without the quotes around it and the full stop after it."""
    text = canonical(text)
    bare = text.rstrip(".").rstrip()
    while len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"":
        bare = bare[1:-1].strip().rstrip(".").rstrip()
    return bare or text


def exact_match(reference: str, text: str) -> bool:
    """Is `text` the reference (or one of its `|OR|` alternatives)?"""
    return any(_unquoted(part) == _unquoted(text) for part in OR.split(str(reference)))


def must_include(reference: str, text: str) -> bool:
    """Does `text` hold the reference (or one of its `|OR|` alternatives)?"""
    return any(_holds(part, text) for part in OR.split(str(reference)))


def _holds(reference: str, text: str) -> bool:
    wanted, text = _unquoted(reference), canonical(text)
    if not wanted:
        return True
    pattern = re.escape(wanted)
    one_token = " " not in wanted
    if wanted[0].isdigit():
        pattern = rf"(?<![0-9]\.)(?<![0-9{MINUS}])" + pattern
    if wanted[-1].isdigit():
        pattern += r"(?!\.?[0-9])"
    if one_token and wanted[0].isalnum():
        pattern = r"(?<!\w)" + pattern
    if one_token and wanted[-1].isalnum():
        pattern += r"(?!\w)"
    return re.search(pattern, text) is not None


def string_match(reference_answers: dict, answer: str | None) -> float | None:
    """1.0 or 0.0 for the agent's answer, or None where only a judge model could tell.

    `reference_answers` holds `exact_match` (text), `must_include` (texts, all of them) or `fuzzy_match`; all of its
    kinds must hold. `answer` is the message of `exit`, None when the episode ended without one (always 0.0).
    """
    if answer is None:
        return 0.0
    return _contents(reference_answers, answer)


def html_match(required_contents: dict, text: str | None) -> float | None:
    """1.0 or 0.0 for text taken from a page (None, nothing found, is empty text); None where only a judge could tell.

    `required_contents` holds `exact_match`, `must_include`, `must_exclude` or `fuzzy_match`; all must hold.
    """
    return _contents(required_contents, text or "")


def _contents(required: dict, text: str) -> float | None:
    return combine([_one_kind(kind, _as_list(value), text) for kind, value in required.items()])


def _one_kind(kind: str, references: list, text: str) -> float | None:
    if kind == "exact_match":
        return float(all(exact_match(reference, text) for reference in references))
    if kind == "must_include":
        return float(all(must_include(reference, text) for reference in references))
    if kind == "must_exclude":
        return float(not any(must_include(reference, text) for reference in references))
    if kind == "fuzzy_match":
        if not text.strip():
            return 0.0
        return 1.0 if references == ["N/A"] and exact_match("N/A", text) else None
    raise ValueError(
        f"There is no way to compare called {kind!r}; use exact_match, must_include, must_exclude or fuzzy_match."
    )


def _as_list(value: object) -> list:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def combine(parts: list[float | None]) -> float | None:
    """The product of the parts: 0.0 as soon as one is 0.0, else None if one cannot be scored."""
    if any(part == 0.0 for part in parts):
        return 0.0
    return None if None in parts else 1.0


def fill_placeholders(url: str, site_urls: dict[str, str]) -> str:
    """`__SHOPPING__/cart` with the address of the site; `site_urls` maps "SHOPPING" to it.

    Raises ValueError for a site that has no address.
    """

    def address(placeholder: re.Match) -> str:
        if placeholder[1] not in site_urls:
            raise ValueError(
                f"{url!r} names the site {placeholder[0]}, which has no address here; there are: "
                f"{', '.join(sorted(site_urls)) or 'none'}."
            )
        base = site_urls[placeholder[1]].rstrip("/")
        return base if placeholder.end() == len(url) or url[placeholder.end()] in "/?# " else base + "/"

    return re.sub(r"__([A-Z]+(?:_[A-Z]+)*)__", address, url)


def url_match(reference_url: str, url: str, site_urls: dict[str, str], url_note: str | None = None) -> float:
    """1.0 if `url` is the reference or one of its `|OR|` alternatives; WebArena's rule "GOLD in PRED".

    Host (loopback names are one), port and path must be equal, and each query pair of the reference must be in `url`,
    which may have more. Scheme, fragment and a slash at the end do not count. Raises ValueError for another `url_note`.
    """
    if url_note not in (None, "", "GOLD in PRED"):
        raise ValueError(f"There is no URL rule called {url_note!r}; the one rule is \"GOLD in PRED\".")
    place, pairs = _url_parts(url)
    for reference in OR.split(reference_url):
        wanted_place, wanted_pairs = _url_parts(fill_placeholders(reference.strip(), site_urls))
        if wanted_place == place and all(pairs.count(pair) >= wanted_pairs.count(pair) for pair in wanted_pairs):
            return 1.0
    return 0.0


def _url_parts(url: str) -> tuple[tuple[str, int | None, str], list[tuple[str, str]]]:
    """((host, port, path), query pairs) of a URL, alike for URLs that mean the same place."""
    parts = urlsplit(url.strip())
    host = (parts.hostname or "").rstrip(".")
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    path = re.sub(r"/+", "/", unquote(parts.path)).rstrip("/")
    return ("localhost" if host in LOOPBACK else host, port, path), parse_qsl(parts.query, keep_blank_values=True)


async def score_task(
    task: Task,
    page: Page,
    context: BrowserContext,
    site_urls: dict[str, str],
    answer: str | None,
    helpers: Mapping[str, Helper] | None = None,
) -> float | None:
    """1.0 or 0.0 for a finished episode, None where it cannot be scored (a judge model or a helper is missing).

    The parts named in `eval_types` are multiplied. `page` is the agent's and is only read; what must be opened is opened
    in a page of its own in `context`. `helpers` are the functions that `func:name(...)` may name, called as
    `await helper(page, *arguments)`, where `page` is the scoring page; they return a URL or a text.
    Raises InfrastructureError when a page cannot be asked, TaskError or ValueError when the task's record is faulty.
    """
    parts: list[float | None] = []
    for kind in task.eval["eval_types"]:
        if kind == "string_match":
            parts.append(string_match(task.eval["reference_answers"], answer))
        elif kind == "url_match":
            parts.append(url_match(task.eval["reference_url"], page.url, site_urls, task.eval.get("url_note")))
        elif kind == "program_html":
            if combine(parts) != 0.0:
                parts.append(await _program_html(task, page, context, site_urls, helpers or {}))
        else:
            raise TaskError(f"Task {task.task_id}: {kind!r} in eval_types cannot be scored from outside the page.")
    return combine(parts)


async def _program_html(task, page, context, site_urls, helpers) -> float | None:
    own = await limited(context.new_page(), LIMIT_S, "opening a page for scoring")
    try:
        parts: list[float | None] = []
        for check in task.eval["program_html"]:
            if combine(parts) != 0.0:
                text = await _checked_text(task, check, page, own, site_urls, helpers)
                parts.append(None if text is None else html_match(check["required_contents"], text))
        return combine(parts)
    finally:
        with contextlib.suppress(InfrastructureError):
            await limited(own.close(), LIMIT_S, "closing the page for scoring")


async def _checked_text(task, check, page, own, site_urls, helpers) -> str | None:
    """The text that one check of program_html looks at; None when it names a helper that there is not."""
    url, locator, preparations = check["url"], (check.get("locator") or "").strip(), check.get("prep_actions") or []
    if url.startswith("func:"):
        url = await _call(task, url, page, own, site_urls, helpers)
        if url is None:
            return None
    if url != "last":
        await _open(own, fill_placeholders(url, site_urls))
        page = own
    elif preparations:  # these change the page, so not the agent's
        await _open(own, page.url)
        page = own
    for preparation in preparations:
        await _ask(task, page, preparation)
    if locator.startswith("func:"):
        return await _call(task, locator, page, own, site_urls, helpers)
    if not locator:
        return await limited(page.evaluate(PAGE_TEXT), LIMIT_S, f"reading the text of {page.url} for scoring")
    if not locator.startswith(("document.", "[...document.")):
        raise TaskError(
            f"Task {task.task_id}: the locator {locator!r} should be empty, \"document...\" or \"func:...\"."
        )
    return await _ask(task, page, locator)


async def _open(page: Page, url: str) -> None:
    response = await limited(page.goto(url, timeout=LIMIT_S * 1000), LIMIT_S + 1, f"opening {url} for scoring")
    if response is not None and response.status >= 500:
        raise InfrastructureError(f"opening {url} for scoring failed: the site answered {response.status}")


async def _ask(task: Task, page: Page, expression: str) -> str:
    """The text of a JavaScript expression; empty where it finds nothing or fails on this page."""
    script = (
        f"async () => {{ try {{ const found = await ({expression.rstrip().rstrip(';')}); "
        "return found == null ? '' : String(found) } catch (error) { return '' } }"
    )
    try:
        return await limited(page.evaluate(script), LIMIT_S, f"asking {page.url} for {expression!r}")
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
