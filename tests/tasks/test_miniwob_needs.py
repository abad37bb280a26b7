"""What the pages ask of an agent: all that the package registers, in words that mean something."""

import re

from wr1_utils.tasks.miniwob import ALL_PAGES, PAGES, html_folder
from wr1_utils.tasks.miniwob_needs import ACTIONS, GRAMMAR, NEEDS, SIGHTS, beyond_grammar, unseen
from wr1_utils.web import actions


def test_every_registered_page_stands_here_and_no_other():
    """The package registers three sites of another benchmark (FlightWoB) too."""
    registered = re.findall(r'id="miniwob/([\w.-]+)-v1"', (html_folder().parent / "registration.py").read_text(encoding="utf-8"))
    assert set(ALL_PAGES) == {name for name in registered if not name.startswith("flight.")} and len(ALL_PAGES) == 125
    assert all((html_folder() / "miniwob" / f"{name}.html").is_file() for name in ALL_PAGES)


def test_the_words_are_known_and_the_grammar_has_those_that_it_is_said_to_have():
    assert {need for needs in NEEDS.values() for need in needs} == set(ACTIONS) | set(SIGHTS)
    assert all(any(need in ACTIONS for need in needs) for needs in NEEDS.values())
    assert set(GRAMMAR) < set(ACTIONS) and set(GRAMMAR.values()) <= set(actions.ACTIONS)


def test_what_is_lacking_is_told_apart():
    assert (beyond_grammar("click-button"), unseen("click-button")) == ((), ())
    assert (beyond_grammar("draw-line"), unseen("draw-line")) == (("drag",), ("picture",))
    assert (beyond_grammar("copy-paste"), unseen("copy-paste")) == ((), ("long text",))
    assert (beyond_grammar("use-slider"), unseen("use-slider")) == (("keys",), ())


def test_the_standard_pages_lack_nothing():
    assert not [page for page in PAGES if beyond_grammar(page) or unseen(page)]
