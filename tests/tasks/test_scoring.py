"""The rules of scoring, variant `wr1`: the shared cases, and for each fault that they show the rest of its kind."""

import json
from pathlib import Path

import pytest

from wr1_utils.tasks.scoring import combine, fill_placeholders, html_match, string_match, url_match

CASES = json.loads((Path(__file__).parents[1] / "cases" / "scoring.json").read_text(encoding="utf-8"))
SITES = {"SHOPPING": "http://h:1/", "SHOPPING_ADMIN": "http://h:2/admin"}


@pytest.mark.parametrize("case", [case for case in CASES if case["kind"] != "program_html"], ids=lambda case: case["id"])
def test_shared_case(case):
    """The case scores what it says (the case with a page is scored in test_evaluator.py)."""
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
        ("0.5", "about .5 km", 1),
        (".5", "0.50", 1),
        ("5", "about .5 km", 0),
        ("-0.5", "(-.5)", 1),
        ("$.50", "0.5", 1),
        ("5", "+5", 1),
        ("+5", "rated 5", 1),
        ("+5", "-5", 0),
        ("5", "3 + 5", 1),
        ("1000", "1 000 people", 1),
        ("1000.5", "€1 000.50", 1),
        ("1 234 567", "1,234,567", 1),
        ("1000", "1\u202f000", 1),
        ("1000", "1&nbsp;000", 1),
        ("102", "101 102 103", 1),
        ("1000", "1 0000", 0),
        ("1555", "+1 555 0100", 0),
        ("0", "-0", 1),
        ("0", "-0.00", 1),
        ("0", "-0.5", 0),
        ("-5", "5", 0),
        ("0.5", "It is .5.", 1),
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
        ("0.5", ".5", 1),
        ("5", "+5", 1),
        ("0.5", '".5"', 1),
        ("-5", '"-5"', 1),
        ("1000", "1 000", 1),
        ("1000", "1\u202f000.00", 1),
        ("10", "1 0", 0),
        ("10000", "1 0000", 0),
        ("0", "-0", 1),
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
        ("http://h:1/a", "http://[bad", 0),
        ("http://h:1/a", "http://h:99999/a", 0),
        ("http://h:1/a", "http://h:port/a", 0),
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
    assert html_match({"exact_match": "Paints small |OR| boats"}, " Paints\u00a0small\n") == 1
    assert html_match({"exact_match": "Total: 1234.5"}, "total: $1,234.50") == 1
    for other in ('"Paints small"', "Paints small.", "'Paints small'", "Paint small"):
        assert html_match({"exact_match": "Paints small"}, other) == 0
    assert html_match({"exact_match": "red", "must_include": ["blue"]}, "red") == 0
    assert html_match({"must_include": ["None"]}, None) == 0
    assert html_match({"must_include": "red"}, "a red mug") == 1
    assert html_match({"fuzzy_match": ["red"]}, "a red mug") is None


@pytest.mark.parametrize("text", [
    "paints small boats; 1; $1,234.50", "Paints small\u200b boats; 1; $1,234.50", "\ufeffPaints small boats; 1; $1,234.50",
    "Paints\u00a0small boats; 1; $1,234.50", "Paints  small boats; 1; $1,234.50", "Paints small boats; 1; $1,234.50 ",
    "Paints small boats; 1; $1,234.50.", "'Paints small boats; 1; $1,234.50'", "Paints small boats; 1.0; $1,234.50",
    "Paints small boats; 1; $1234.50", "Paints small boats; １; $1,234.50", "", None,
])
def test_verbatim_is_to_the_letter(text):
    """Case, numbers, blanks and what cannot be seen count, unlike in `exact_match`, which takes most of these as the same."""
    assert html_match({"verbatim": "Paints small boats; 1; $1,234.50"}, "Paints small boats; 1; $1,234.50") == 1
    assert html_match({"verbatim": "Paints small boats; 1; $1,234.50"}, text) == 0


def test_verbatim_has_no_alternatives_and_goes_with_other_kinds():
    assert html_match({"verbatim": "red |OR| blue"}, "red") == 0 and html_match({"verbatim": "red |OR| blue"}, "red |OR| blue") == 1
    assert html_match({"verbatim": ""}, None) == 1
    assert html_match({"verbatim": "a red mug", "must_include": ["blue"]}, "a red mug") == 0
    assert html_match({"verbatim": "a red mug", "fuzzy_match": ["red"]}, "a red mug") is None
    assert html_match({"verbatim": "A red mug", "fuzzy_match": ["red"]}, "a red mug") == 0


def test_verbatim_is_no_kind_of_answer():
    with pytest.raises(ValueError, match="no way to compare called 'verbatim'"):
        string_match({"verbatim": "red"}, "red")


def test_a_judge_is_asked_only_where_nothing_else_decides():
    """What a judge says of each reference counts; where another part has failed, or "N/A" was answered as wanted, it is not asked."""
    asked = []

    def ask(reference, answer):
        asked.append(reference)
        return float(reference == "ten minutes")

    assert string_match({"fuzzy_match": ["ten minutes"]}, "10 min", ask) == 1
    assert string_match({"fuzzy_match": ["ten minutes", "a mile"]}, "10 min", ask) == 0
    assert html_match({"fuzzy_match": "ten minutes", "must_include": ["min"]}, "10 min", ask) == 1
    assert asked == ["ten minutes", "ten minutes", "a mile", "ten minutes"]
    assert string_match({"fuzzy_match": ["ten minutes"], "must_include": ["mile"]}, "10 min", ask) == 0
    assert string_match({"fuzzy_match": "N/A"}, "N/A", ask) == 1
    assert string_match({"fuzzy_match": ["ten minutes"]}, None, ask) == 0 and len(asked) == 4
    assert string_match({"fuzzy_match": ["ten minutes"]}, "10 min", lambda *_: None) is None
