"""Experts for forms: what they do on pages made by hand."""

import pytest

from wr1_utils.agent.experts import ExpertError
from wr1_utils.agent.miniwob_form_experts import FORM_EXPERTS
from wr1_utils.web.actions import parse_reply

SUBMIT = ("button", "Submit")


def act(name, intent, observation, memory=None):
    """(action, element, argument) of the expert's reply."""
    action = parse_reply(FORM_EXPERTS[name](intent, observation, {} if memory is None else memory))
    return action.action, action.element, action.argument


def box(value="", label="", *state):
    return "textbox", label, {"value": value, "state": state}


@pytest.mark.parametrize("name, intent, typed, held", [
    ("enter-text-2", 'Type "anna" in all upper case letters in the text input and press Submit.', "ANNA", "ANNA"),
    ("enter-date", "Enter 02/09/2017 as the date and hit submit.", "02/09/2017", "2017-02-09"),
    ("enter-time", "Enter 2:06\u202fPM as the time and press submit.", "2:06 PM", "14:06")])
def test_what_is_typed_and_when_it_is_there(observed, name, intent, typed, held):
    """A field may show a value in another form than it takes it."""
    assert act(name, intent, observed(box("old"), SUBMIT)) == ("Type", "0", typed)
    assert act(name, intent, observed(box(held), SUBMIT)) == ("Click", "1", None)


def test_the_colour_wheel_covers_the_button(observed):
    intent = "Select navy with the color picker and hit Submit."
    assert act("use-colorwheel", intent, observed(box("old"), SUBMIT)) == ("Type", "0", "000080")
    assert act("use-colorwheel", intent, observed(box("000080"), SUBMIT)) == ("Press Enter", "1", None)


def test_a_date_is_turned_to_and_picked(observed):
    """Opened, turned back from January to December, picked, submitted."""
    intent = "Select 12/03/2016 as the date and hit submit."

    def calendar(month):
        return observed(box("", "Date:"), SUBMIT, ("link", "Prev"), ("link", "Next"), ("text", month), ("link", "2"), ("link", "3"))

    assert act("choose-date", intent, observed(box("", "Date:"), SUBMIT)) == ("Click", "0", None)
    assert act("choose-date", intent, calendar("January 2017")) == ("Click", "2", None)
    assert act("choose-date", intent, calendar("November 2016")) == ("Click", "3", None)
    assert act("choose-date", intent, calendar("December 2016")) == ("Click", "5", None)
    assert act("choose-date", intent, observed(box("12/03/2016", "Date:"), SUBMIT)) == ("Click", "1", None)


def test_a_word_of_a_paragraph_goes_without_its_punctuation(observed):
    page = observed(("text", "Donec eget, rhoncus. Nunc"), box(), SUBMIT)
    intent = 'Find the 2nd word in the paragraph, type that into the textbox and press "Submit".'
    assert act("find-word", intent, page) == ("Type", "0", "eget")


def test_a_number_is_found_by_halving(observed):
    """0 to 9: 4 is too low, then 7 is too high, so 5."""
    memory, said = {}, [("text", "The number is higher than 4.")]
    assert act("guess-number", "", observed(box(), SUBMIT), memory) == ("Type", "0", "4")
    assert act("guess-number", "", observed(*said, box("4"), SUBMIT), memory) == ("Type", "0", "7")
    assert act("guess-number", "", observed(("text", "The number is lower than 7."), box("7"), SUBMIT), memory) == ("Type", "0", "5")
    assert act("guess-number", "", observed(box("5"), SUBMIT), memory) == ("Click", "1", None)


@pytest.mark.parametrize("name, problem, answer", [
    ("simple-arithmetic", "7 x 8 =", "56"), ("simple-arithmetic", "2 - 9 =", "-7"), ("simple-arithmetic", "2 + 9 =", "11"),
    ("simple-algebra", "x + 3 = 10", "7"), ("simple-algebra", "x - 3 = 10", "13"), ("simple-algebra", "3 + x = 10", "7"),
    ("simple-algebra", "3 - x = 10", "-7")])
def test_sums(observed, name, problem, answer):
    assert act(name, "", observed(("text", problem), box("", "x ="), SUBMIT)) == ("Type", "0", answer)


def test_a_problem_that_cannot_be_read_is_said(observed):
    with pytest.raises(ExpertError, match="nothing on the page"):
        act("simple-algebra", "", observed(box(), SUBMIT))


def test_twisted_letters_are_put_together(observed):
    assert act("text-transform", "", observed(("text", "6 g H"), box(), SUBMIT)) == ("Type", "0", "6gH")


def test_a_suggestion_is_waited_for_and_taken(observed):
    intent, memory = 'Enter an item that starts with "Ch" and ends with "na".', {}
    assert act("use-autocomplete", intent, observed(box(), SUBMIT), memory) == ("Type", "0", "Ch")
    assert act("use-autocomplete", intent, observed(box("Ch"), SUBMIT), memory)[0] == "Wait"
    assert act("use-autocomplete", intent, observed(box("Ch"), SUBMIT, ("clickable", "Chad"), ("clickable", "China")), memory) == ("Click", "3", None)
    assert act("use-autocomplete", intent, observed(box("China"), SUBMIT), memory) == ("Click", "1", None)


FILMS = "Search for crime movies directed by Bowen from year 1998."


@pytest.mark.parametrize("elements, typed", [
    ([("text", "Director Name"), box("Bowen"), ("text", "Movie Genre"), box(), ("text", "Released Date"), box(), ("button", "Go!")], ("1", "crime")),
    ([box("", "Year:"), box("crime", "Genre:"), box("Bowen", "Director:"), ("button", "Submit")], ("0", "1998")),
    ([box("1998"), ("text", "Year"), box(), ("text", "Director"), box("crime"), ("text", "Genre"), ("clickable", "Search")], ("1", "Bowen"))])
def test_fields_are_told_by_what_stands_before_or_after_them(observed, elements, typed):
    assert act("multi-layouts", FILMS, observed(*elements)) == ("Type", *typed)


def test_the_button_comes_last_whatever_it_is_called(observed):
    page = observed(box("1998"), ("text", "Year"), box("Bowen"), ("text", "Director"), box("crime"), ("text", "Genre"), ("clickable", "Search"))
    assert act("multi-layouts", FILMS, page) == ("Click", "3", None)


def test_an_agreement_is_scrolled_before_it_is_signed(observed):
    intent = 'Scroll to the bottom of the textarea, enter the name "Anna" then press "Agree"'

    def page(name, *state):
        return observed(box("long", "", "disabled"), box(name, "Name", *state), ("button", "Cancel"), ("button", "Agree", {"state": state}))

    assert act("sign-agreement", intent, page("", "disabled"))[0] == "Scroll Down"
    assert act("sign-agreement", intent, page("")) == ("Type", "1", "Anna")
    assert act("sign-agreement", intent, page("Anna")) == ("Click", "3", None)
    assert act("sign-agreement", "Click the cancel button.", page("", "disabled")) == ("Click", "2", None)
