"""How others scored the tasks of WebArena, as pure functions: the variants `webarena` and `browsergym`, beside `wr1` in scoring.py.

`webarena` are the rules of the evaluators that the authors of WebAgent-R1 trained and tested with; `browsergym` are those of BrowserGym's
WebArena-Lite. Both are written anew from what those evaluators do, faults included, so that scores can be compared with published ones:

- Text is compared in small letters, without the quotes around it; `browsergym` also drops the blanks around it. Numbers are texts.
- `must_include` takes a reference of a single token as a token of the text, anything else as a part of it. `webarena` does so always;
  `browsergym` only for a reference of one character that is alone in its list, and not for pages.
- `|OR|` parts alternatives in `webarena`; in `browsergym` only those of URLs and pages, in answers it is a part of the reference.
- `webarena` wants the whole URL, where `url_note` does not say "GOLD in PRED": then the reference is a part of it. `browsergym` knows the second
  alone, on host with path, and wants one value of each query name that any of the alternatives has.
- Of several kinds in `required_contents` only the first known one counts. `verbatim`, which only the Pocket Arena's own tasks have, counts as
  `exact_match`, as these tasks would be scored there.
- A check without a locator looks at the page's HTML source.

Deviations from both: no answer is wrong (the authors' code takes it as "N/A"); tokens are those of NLTK's word tokenizer but for sentences,
which end here at each full stop before a blank; kinds of reference that no record of WebArena has are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

Ask = Callable[[str, str], float | None]  # (reference, answer) -> 1.0, 0.0 or None: what a judge model says; see judge.py
_APART = re.compile(r"""[;@#$%&?!()\[\]{}<>"“”«»…’]|\.{2,}|--+|[,:](?![0-9])|\.(?=[)\]}>"'’]*(?:\s|$))"""
                    r"""|n't\b|'(?:s|m|d|ll|re|ve)\b|(?<!\S)'|'(?=\s|$)""")


def words(text: str) -> list[str]:
    """The tokens of a text: words, numbers with their points and commas, each mark of punctuation."""
    return _APART.sub(r" \g<0> ", text).split()


def _clean(text: object) -> str:
    text = str(text)
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return (text[1:-1] if quoted else text).lower()


def _kinds(references: dict, known: tuple[str, ...], variant: str) -> None:
    unknown = [kind for kind in references if kind not in known]
    if unknown:
        raise ValueError(f"The variant {variant} has no way to compare called {unknown[0]!r}; it has {', '.join(known)}.")


def _page_kinds(required: dict, known: tuple[str, ...], variant: str) -> dict:
    """`required_contents` with an `exact_match` for what the Pocket Arena calls `verbatim`."""
    required = {"exact_match" if kind == "verbatim" else kind: value for kind, value in required.items()}
    _kinds(required, known, variant)
    return required


def _combined(parts: list[float | None]) -> float | None:
    return 0.0 if 0.0 in parts else None if None in parts else 1.0


# ---- webarena


def _webarena_includes(reference: object, text: str) -> bool:
    wanted, text = _clean(reference), _clean(text)
    if len(words(wanted)) != 1:
        return wanted in text
    tokens = words(text)
    return wanted in tokens or any(wanted in token.split("/") for token in tokens)


def _webarena_excludes(reference: object, text: str) -> bool:
    wanted, text = _clean(reference), _clean(text)
    return wanted not in (words(text) if len(words(wanted)) == 1 else text)


def webarena_string_match(reference_answers: dict, answer: str | None, ask: Ask | None = None) -> float | None:
    """1.0, 0.0, or None where only a judge can tell and there is none. Raises ValueError for an unknown kind of reference."""
    _kinds(reference_answers, ("exact_match", "must_include", "must_exclude", "fuzzy_match"), "webarena")
    if answer is None:
        return 0.0
    answer, parts = _clean(answer), []
    for kind, value in reference_answers.items():
        if value in (None, "", "None"):
            continue
        if kind == "exact_match":
            parts.append(float(_clean(value) == _clean(answer)))
        elif kind == "must_include":
            parts += [float(any(_webarena_includes(one, answer) for one in str(each).split(" |OR| "))) for each in _list(value)]
        elif kind == "must_exclude":
            parts += [float(_webarena_excludes(each, answer)) for each in _list(value)]
        elif value == "N/A":
            parts.append(1.0 if _clean(value) == _clean(answer) else _asked(ask, "N/A", answer))
        else:
            parts.append(_asked(ask, ", ".join(_list(value)), answer))
    return _combined(parts)


def webarena_html_match(required_contents: dict, text: str, ask: Ask | None = None) -> float | None:
    """The same for text from a page: only the first kind of reference counts."""
    required_contents = _page_kinds(required_contents, ("exact_match", "must_include", "must_exclude", "fuzzy_match"), "webarena")
    for kind in ("exact_match", "must_include", "must_exclude", "fuzzy_match"):
        value = required_contents.get(kind)
        if value is None:
            continue
        if kind == "exact_match":
            return float(_clean(value) == _clean(text))
        if kind == "must_include":
            return float(all(any(_webarena_includes(one, text) for one in str(each).split(" |OR| ")) for each in _list(value)))
        if kind == "must_exclude":
            return float(all(_webarena_excludes(each, text) for each in _list(value)))
        return _asked(ask, ", ".join(_list(value)), text)
    return 1.0


def webarena_url_match(reference_url: str, url: str, url_note: str | None = None) -> float:
    """1.0 or 0.0; `localhost` and 127.0.0.1 are one. Raises ValueError for an unknown `url_note`."""
    def clean(one: str) -> str:
        return one.replace("localhost", "127.0.0.1").removesuffix("/")

    url, references = clean(url), [clean(one) for one in reference_url.split(" |OR| ")]
    if url_note in (None, "EXACT"):
        return float(url in references)
    if url_note != "GOLD in PRED":
        raise ValueError(f'The variant webarena has no URL rule called {url_note!r}; it has "EXACT" and "GOLD in PRED".')
    return float(any(one in url for one in references))


# ---- browsergym


def _browsergym_includes(reference: object, text: str, tokens: bool) -> bool:
    wanted, text = _clean(str(reference).strip()), _clean(text.strip())
    return wanted in (words(text) if tokens and len(wanted) == 1 else text)


def browsergym_string_match(reference_answers: dict, answer: str | None, ask: Ask | None = None) -> float | None:
    """1.0, 0.0, or None where only a judge can tell and there is none. Raises ValueError for an unknown kind of reference."""
    _kinds(reference_answers, ("exact_match", "must_include", "fuzzy_match"), "browsergym")
    if answer is None:
        return 0.0
    answer, parts = _clean(answer.strip()), []
    for kind, value in reference_answers.items():
        if kind == "exact_match":
            parts.append(float(_clean(str(value).strip()) == _clean(answer.strip())))
        elif kind == "must_include":
            parts += [float(_browsergym_includes(each, answer, len(_list(value)) == 1)) for each in _list(value)]
        elif value == "N/A":
            parts.append(1.0 if _clean(value) == _clean(answer.strip()) else _asked(ask, "N/A", answer))
        else:
            parts += [_asked(ask, each, answer) for each in _list(value)]
    return _combined(parts)


def browsergym_html_match(required_contents: dict, text: str, ask: Ask | None = None) -> float | None:
    """The same for text from a page: only the first kind of reference counts."""
    required_contents = _page_kinds(required_contents, ("exact_match", "must_include", "fuzzy_match"), "browsergym")
    if "exact_match" in required_contents:
        return float(_clean(str(required_contents["exact_match"]).strip()) == _clean(text.strip()))
    if "must_include" in required_contents:
        each_or = [str(each).split(" |OR| ") for each in _list(required_contents["must_include"])]
        return float(all(any(_browsergym_includes(one, text, False) for one in alternatives) for alternatives in each_or))
    return _asked(ask, ", ".join(_list(required_contents["fuzzy_match"])), text)


def browsergym_url_match(reference_url: str, url: str, url_note: str | None = "GOLD in PRED") -> float:
    """1.0 or 0.0. Raises ValueError for another `url_note` than "GOLD in PRED" (none at all is that one)."""
    if url_note not in (None, "GOLD in PRED"):
        raise ValueError(f'The variant browsergym has no URL rule called {url_note!r}; its one rule is "GOLD in PRED".')
    references = [urlsplit(one.rstrip("/")) for one in reference_url.split(" |OR| ")]
    try:
        found = urlsplit(url.rstrip("/"))
    except ValueError:  # no address of anything
        return 0.0
    wanted: dict[str, set[str]] = {}
    for one in references:
        for name, values in parse_qs(one.query).items():
            wanted.setdefault(name, set()).update(values)
    values = parse_qs(found.query)
    here = any(one.netloc + one.path in found.netloc + found.path for one in references)
    return float(here and all(allowed & set(values.get(name, ())) for name, allowed in wanted.items()))


def _asked(ask: Ask | None, reference: str, answer: str) -> float | None:
    """A blank answer needs no judge."""
    if not answer.strip():
        return 0.0
    return ask(reference, answer) if ask else None


def _list(value: object) -> list:
    """A task file may hold a text where a list is meant."""
    return list(value) if isinstance(value, (list, tuple)) else [value]
