"""Is a task solved? WebArena's rules for answers, URLs and texts of pages, with their faults mended, as pure functions.

This is the scoring variant `wr1`, the default; scoring_published.py has two that others used, and evaluator.py applies
one to an episode. Deviations from the evaluators of WebArena (arXiv 2307.13854):
- No answer (the episode ended without `exit`) is wrong for every string_match, a reference of "N/A" included.
- Text is compared after NFKC, HTML entities, curly quotes, dashes and blanks are made alike. Numbers compare as numbers
  ("$1,234.50" is 1234.5, ".5" is 0.5, "+5" is 5), and a number never matches inside a longer one. "1 000" is read both as
  one number and as two.
- What a page must hold exactly has no other quotes around it and no full stop more: "1.4.8." in a field is not "1.4.8". An answer may have them.
- `verbatim`, a kind for pages that WebArena has not: the text is the reference to the letter, case, blanks and invisible characters included.
  The changes of state of the Pocket Arena's own tasks are compared so.
- A reference without a blank in it must stand as a token ("0" is not in "10"); there it was so for one character only.
- URLs are compared part by part: host, whole path (not a prefix of it), and each query pair, blank values included.
  Alternatives (`|OR|`) are tried one by one instead of pooling their query values.
- What needs a judge model (fuzzy_match) gives None where there is none: it cannot be scored.
"""

from __future__ import annotations

import html
import re
import unicodedata
from urllib.parse import parse_qsl, unquote, urlsplit

from wr1_utils.tasks.scoring_published import Ask

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
OR = re.compile(r"\s*\|OR\|\s*")


def canonical(text: str) -> str:
    """`text` in the form that is compared: one case, one kind of quote, dash and blank, numbers as 1234.5."""
    text = html.unescape(text).translate(SAME_CHARACTER)
    text = re.sub("(?<=[0-9])(?=[²³¹⁰-⁹₀-₉¼-¾⅐-⅞])", " ", text)  # 1½ is not 11/2
    text = unicodedata.normalize("NFKC", text).translate(SAME_CHARACTER).casefold()
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"(?<![^\s(=:\"'$€£¥])-(?=[$€£¥]? ?\.?[0-9])", MINUS, text)
    text = re.sub(r"(?<![^\s(=:\"'$€£¥])\+(?=(?:[$€£¥] ?)?\.?[0-9])", "", text)
    text = re.sub(r"(?<=\w)[$€£¥] ?(?=−?\.?[0-9])", " ", text)
    text = re.sub(r"[$€£¥] ?(?=−?\.?[0-9])", "", text)
    text = re.sub(rf"(?<![^\s(=:\"'{MINUS}])(?=\.[0-9]+(?!\w|\.[0-9]))", "0", text)  # .5 is 0.5
    text = re.sub(
        r"(?<![\w.,])([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(\.[0-9]+)?(?!\.?[0-9])",
        lambda number: _plain_number(number[1], number[2] or ""),
        text,
    )
    return re.sub(rf"{MINUS}(?=0(?!\w|[.,:][0-9]))", "", text)  # -0 is 0


def _readings(text: str) -> tuple[str, str]:
    """`text` as it stands, and with the blanks between groups of three digits left out: 1 000 may be one number or two."""
    groups = r"(?<![\w.,])[0-9]{1,3}(?:\s[0-9]{3})+(?:\.[0-9]+)?(?!\w|[.,]?[0-9]|\s[0-9])"
    return text, re.sub(groups, lambda number: re.sub(r"\s", "", number[0]), html.unescape(text))


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
    texts = {_unquoted(reading) for reading in _readings(text)}
    return any(_unquoted(reading) in texts for part in OR.split(str(reference)) for reading in _readings(part))


def must_include(reference: str, text: str) -> bool:
    """Does `text` hold the reference (or one of its `|OR|` alternatives)?"""
    texts = set(_readings(text))
    return any(_holds(wanted, reading) for part in OR.split(str(reference)) for wanted in set(_readings(part)) for reading in texts)


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


def string_match(reference_answers: dict, answer: str | None, ask: Ask | None = None) -> float | None:
    """1.0 or 0.0 for the agent's answer, or None where only a judge model could tell.

    `reference_answers` holds `exact_match` (text), `must_include` (texts, all of them) or `fuzzy_match`; all of its
    kinds must hold. `answer` is the message of `exit`, None when the episode ended without one (always 0.0). `ask` is
    the judge model, where there is one.
    """
    if answer is None:
        return 0.0
    return _contents(reference_answers, answer, ask)


def html_match(required_contents: dict, text: str | None, ask: Ask | None = None) -> float | None:
    """1.0 or 0.0 for text taken from a page (None, nothing found, is empty text); None where only a judge could tell.

    `required_contents` holds `verbatim`, `exact_match`, `must_include`, `must_exclude` or `fuzzy_match`; all must hold. `verbatim` forgives
    nothing; `exact_match` forgives no quotes around the text and no full stop after it, as it does in an answer.
    """
    required, text = dict(required_contents), text or ""
    if required.pop("verbatim", text) != text:
        return 0.0
    if "exact_match" in required and not all(_same_text(reference, text) for reference in _as_list(required.pop("exact_match"))):
        return 0.0
    return _contents(required, text, ask)


def _same_text(reference: str, text: str) -> bool:
    texts = {canonical(reading) for reading in _readings(text)}
    return any(canonical(reading) in texts for part in OR.split(str(reference)) for reading in _readings(part))


def _contents(required: dict, text: str, ask: Ask | None) -> float | None:
    decided = combine([_one_kind(kind, _as_list(value), text, None) for kind, value in required.items()])
    if decided is not None or ask is None:
        return decided
    return combine([_one_kind(kind, _as_list(value), text, ask) for kind, value in required.items()])


def _one_kind(kind: str, references: list, text: str, ask: Ask | None) -> float | None:
    if kind == "exact_match":
        return float(all(exact_match(reference, text) for reference in references))
    if kind == "must_include":
        return float(all(must_include(reference, text) for reference in references))
    if kind == "must_exclude":
        return float(not any(must_include(reference, text) for reference in references))
    if kind == "fuzzy_match":
        if not text.strip():
            return 0.0
        if references == ["N/A"] and exact_match("N/A", text):
            return 1.0
        return combine([ask(str(reference), text) for reference in references]) if ask else None
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
    which may have more. Scheme, fragment and a slash at the end do not count. What is no URL (port 99999) is none of them.
    Raises ValueError for another `url_note`.
    """
    if url_note not in (None, "", "GOLD in PRED"):
        raise ValueError(f"There is no URL rule called {url_note!r}; the one rule is \"GOLD in PRED\".")
    try:
        place, pairs = _url_parts(url)
    except ValueError:
        return 0.0
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
