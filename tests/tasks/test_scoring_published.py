"""The published variants of scoring, on cases whose score was worked out by hand from what those evaluators do."""

import pytest

from wr1_utils.tasks.scoring_published import (
    browsergym_html_match,
    browsergym_string_match,
    browsergym_url_match,
    webarena_html_match,
    webarena_string_match,
    webarena_url_match,
    words,
)


@pytest.mark.parametrize("text, tokens", [
    ("it is 557m away.", ["it", "is", "557m", "away", "."]),
    ("$1,234.50, or 5%!", ["$", "1,234.50", ",", "or", "5", "%", "!"]),
    ("open 9:00: (yes)", ["open", "9:00", ":", "(", "yes", ")"]),
    ("don't, it's n/a", ["do", "n't", ",", "it", "'s", "n/a"]),
    ("the score is 0. method", ["the", "score", "is", "0", ".", "method"]),
    ("version 1.2.3 ... c++", ["version", "1.2.3", "...", "c++"]),
    ("a@b.co 'so' e-mail--now", ["a", "@", "b.co", "'", "so", "'", "e-mail", "--", "now"]),
])
def test_words(text, tokens):
    """As NLTK's word tokenizer parts them (compared with it once, sentence by sentence)."""
    assert words(text) == tokens


@pytest.mark.parametrize("kind, reference, answer, webarena, browsergym", [
    ("exact_match", "Quest", "quest", 1, 1),
    ("exact_match", "Quest", "quest ", 0, 1),                       # blanks around it
    ("exact_match", "Quest", '"Quest"', 1, 1),
    ("exact_match", "A & B", "A &amp; B", 0, 0),
    ("exact_match", "N/A", "n/a.", 0, 0),
    ("exact_match", "N/A", None, 0, 0),                             # the authors took no answer as "N/A"; nobody here does
    ("exact_match", "12.50", "$12.50", 0, 0),
    ("must_include", ["0"], "10", 0, 0),
    ("must_include", ["0"], "$0.00", 0, 0),
    ("must_include", ["10"], "110", 0, 1),                          # two characters are a part of the text there
    ("must_include", ["0", "x"], "10 x", 0, 1),                     # as is a single one in a longer list
    ("must_include", ["blue"], "bluetooth", 0, 1),
    ("must_include", ["557m"], "It is 557m away", 1, 1),
    ("must_include", ["red mug"], "two red mugs", 1, 1),            # of several words: a part
    ("must_include", ["red mug"], "two red  mugs", 0, 0),
    ("must_include", ["65 |OR| 3"], "there are 3", 1, 0),           # no alternatives in answers there
    ("must_include", ["a"], "a/b", 1, 0),                           # tokens are parted at strokes too
    ("must_include", "blue", "a blue one", 1, 1),
    ("must_include", ["1234.5"], "$1,234.50", 0, 0),
    ("fuzzy_match", "N/A", "n/a", 1, 1),
    ("fuzzy_match", "N/A", "there is none", None, None),
    ("fuzzy_match", ["ten"], "10", None, None),
    ("fuzzy_match", ["ten"], " ", 0, 0),
])
def test_string_match(kind, reference, answer, webarena, browsergym):
    assert webarena_string_match({kind: reference}, answer) == webarena
    assert browsergym_string_match({kind: reference}, answer) == browsergym


def test_what_the_judge_is_asked():
    """All references at once for answers in `webarena`, each by itself in `browsergym`; for pages both ask once."""
    asked = []

    def ask(reference, answer):
        asked.append(reference)
        return 1.0

    assert webarena_string_match({"fuzzy_match": ["a", "b"]}, "x", ask) == 1 and asked == ["a, b"]
    assert browsergym_string_match({"fuzzy_match": ["a", "b"]}, "x", ask) == 1 and asked[1:] == ["a", "b"]
    assert webarena_html_match({"fuzzy_match": ["a", "b"]}, "x", ask) == browsergym_html_match({"fuzzy_match": ["a", "b"]}, "x", ask) == 1
    assert asked[3:] == ["a, b", "a, b"]


@pytest.mark.parametrize("required, text, webarena, browsergym", [
    ({"exact_match": "Mug"}, "mug", 1, 1),
    ({"exact_match": "Mug"}, "mug ", 0, 1),
    ({"verbatim": "Mug"}, "mug", 1, 1),                                # as exact_match
    ({"verbatim": "Mug"}, "mug ", 0, 1),
    ({"verbatim": "Mug"}, "cup", 0, 0),
    ({"must_include": ["0"]}, "10", 0, 1),
    ({"must_include": ["a |OR| b"]}, "b", 1, 1),
    ({"must_include": ["a", "c"]}, "a b", 0, 0),
    ({"exact_match": "mug", "must_include": ["cup"]}, "mug", 1, 1),   # the second kind is not looked at
])
def test_html_match(required, text, webarena, browsergym):
    assert webarena_html_match(required, text) == webarena
    assert browsergym_html_match(required, text) == browsergym


@pytest.mark.parametrize("reference, url, note, webarena, browsergym", [
    ("http://h:1/a", "http://h:1/a/", None, 1, 1),
    ("http://h:1/a", "http://h:1/ab", None, 0, 1),                           # whole there, a part here
    ("http://h:1/a", "http://h:1/ab", "GOLD in PRED", 1, 1),
    ("http://localhost:1/a", "http://127.0.0.1:1/a", None, 1, 0),
    ("http://h:1/c?a=1&b=2", "http://h:1/c?b=2&a=1", "GOLD in PRED", 0, 1),  # text there, parts here
    ("http://h:1/c?a=1", "http://h:1/c?a=1&utm=9", "GOLD in PRED", 1, 1),
    ("http://h:1/c?a=1", "http://h:1/c?a=12", "GOLD in PRED", 1, 0),
    ("http://h:1/c?a=1 |OR| http://h:1/d?a=2", "http://h:1/c?a=2", "GOLD in PRED", 0, 1),   # the alternatives' values are pooled
    ("http://h:1/a |OR| http://h:1/b", "http://h:1/b", None, 1, 1),
])
def test_url_match(reference, url, note, webarena, browsergym):
    assert webarena_url_match(reference, url, note) == webarena
    assert browsergym_url_match(reference, url, note) == browsergym


def test_faults_of_a_record_are_said():
    with pytest.raises(ValueError, match="webarena has no way"):
        webarena_string_match({"fuzy_match": ["x"]}, "x")
    with pytest.raises(ValueError, match="browsergym has no way"):
        browsergym_html_match({"must_exclude": ["x"]}, "x")
    with pytest.raises(ValueError, match="no URL rule"):
        webarena_url_match("a", "a", "PRED in GOLD")
    with pytest.raises(ValueError, match="no URL rule"):
        browsergym_url_match("a", "a", "EXACT")
