"""Experts for small sites: what they do on pages made by hand."""

import pytest

from wr1_utils.agent.experts import ExpertError
from wr1_utils.agent.miniwob_site_experts import SITE_EXPERTS, mail_order, minutes
from wr1_utils.web.actions import parse_reply


def act(name, intent, observation, memory=None):
    """(action, element, argument) of the expert's reply."""
    action = parse_reply(SITE_EXPERTS[name](intent, observation, {} if memory is None else memory))
    return action.action, action.element, action.argument


@pytest.mark.parametrize("intent, order", [
    ('Find the email by Ann and reply to them with the text "No. To Bob.".', ("Ann", "reply", "No. To Bob.")),
    ("Find the email by Ann and forward that email to Bob.", ("Ann", "forward", "Bob")),
    ("Find the email by Ann and click the trash icon to delete it.", ("Ann", "delete", "")),
    ("Find the email by Ann and click the star icon to mark it as important.", ("Ann", "important", "")),
    ("Locate the email by Ann. Forward that email to Bob.", ("Ann", "forward", "Bob")),
    ("Send Bob the email you got from Ann.", ("Ann", "forward", "Bob")),
    ("Send to Bob the email you got from Ann.", ("Ann", "forward", "Bob")),
    ("Bob wants the email Ann sent to you.", ("Ann", "forward", "Bob")),
    ("Bob is waiting for the email by Ann.", ("Ann", "forward", "Bob")),
    ("Ann wants his or her message to be sent to Bob.", ("Ann", "forward", "Bob")),
    ("Give Bob the message you received from Ann,", ("Ann", "forward", "Bob"))])
def test_who_wrote_and_who_gets_it(intent, order):
    assert mail_order(intent, ["Primary", "Bob", "Carl", "Ann", "An"]) == order


def test_an_order_that_is_not_understood_is_said():
    with pytest.raises(ExpertError, match="not clear"):
        mail_order("Do something with the mail of Ann.", ["Ann", "Bob"])


INBOX = [("heading", "Primary"), ("clickable", ""), ("clickable", "Bob"), ("text", "Hello"), ("clickable", "Ann"), ("text", "News")]
MAIL = [("clickable", ""), ("clickable", ""), ("clickable", ""), ("text", "News"), ("text", "Ann"), ("clickable", "Reply"), ("clickable", "Forward")]


@pytest.mark.parametrize("what, element", [("click the trash icon to delete it", "1"), ("click the star icon to mark it as important", "2")])
def test_the_icons_of_a_mail(observed, what, element):
    """The arrow back, the bin, the star; the arrow may come late, the others are waited for."""
    memory, intent = {}, f"Find the email by Ann and {what}."
    assert act("email-inbox", intent, observed(*INBOX), memory) == ("Click", "2", None)
    assert act("email-inbox", intent, observed(*MAIL[2:]), memory)[0] == "Wait"
    assert act("email-inbox", intent, observed(*MAIL), memory) == ("Click", element, None)


def test_a_mail_is_answered(observed):
    memory, intent = {}, 'Find the email by Ann and reply to them with the text "Fine.".'
    assert act("email-inbox", intent, observed(*INBOX), memory)[1] == "2"
    assert act("email-inbox", intent, observed(*MAIL), memory)[1] == "3"

    def answer(text):
        return observed(("clickable", ""), ("clickable", ""), ("text", "to: Ann"), ("textbox", "", {"value": text}))

    assert act("email-inbox", intent, answer(""), memory) == ("Type", "2", "Fine.")
    assert act("email-inbox", intent, answer("Fine."), memory) == ("Click", "1", None)


POSTS = [part for user in ("@ann", "@bob", "@ann") for part in (("text", f"Name {user}"), ("text", "Words."), *[("clickable", "")] * 4)]


def test_an_icon_of_a_post_and_an_entry_of_its_menu(observed):
    assert act("social-media", 'For the user @bob, click on the "Like" button.', observed(*POSTS))[1] == "6"
    assert act("social-media", 'For the user @bob, click on the "Mute" button.', observed(*POSTS))[1] == "7"
    opened = [*POSTS[:12], ("clickable", "Copy link to Tweet"), ("clickable", "Mute @bob")]
    assert act("social-media", 'For the user @bob, click on the "Mute" button.', observed(*opened))[1] == "9"
    assert act("social-media", 'For the user @ann, click on the "Mute" button.', observed(*POSTS[:5]))[0] == "Wait"
    with pytest.raises(ExpertError, match="@carl"):
        act("social-media", 'For the user @carl, click on the "Like" button.', observed(*POSTS))


@pytest.mark.parametrize("count, clicked", [("all posts", ["3", "11", "12"]), ("1 post", ["3", "12"]), ("2 posts", ["3", "11", "12"])])
def test_the_same_icon_of_several_posts(observed, count, clicked):
    page, memory = observed(*POSTS, ("button", "Submit")), {}
    intent = f'Click the "Share" button on {count} by @ann and then click Submit.'
    assert [act("social-media-some", intent, page, memory)[1] for _ in clicked] == clicked


@pytest.mark.parametrize("wanted, element", [("cheapest cost", "1"), ("most expensive cost", "2"), ("shortest duration", "2"), ("longest duration", "0")])
def test_the_best_ticket(observed, wanted, element):
    offers = [part for duration, price in (("11h 30m", 900), ("10h 2m", 800), ("2h 59m", 1000))
              for part in (("text", "Duration:"), ("text", duration), ("button", f"Book for ${price}"))]
    assert act("buy-ticket", f"Buy the ticket with the {wanted}.", observed(*offers))[1] == element
    assert minutes("2h 59m") == 179


def test_a_flight_is_searched_for(observed):
    intent = "Book the cheapest one-way flight from: Anvik, AK to: MOT on 12/23/2016."

    def form(start, end, date, *more):
        return observed(*[("textbox", "", {"value": value}) for value in (start, end, date)], ("button", "Search"), *more)

    assert act("book-flight", intent, form("", "", "")) == ("Type", "0", "Anvik, AK")
    assert act("book-flight", intent, form("Anvik, AK", "", ""))[0] == "Wait"
    assert act("book-flight", intent, form("Anvik, AK", "", "", ("clickable", "Anvik, AK (ANV)"))) == ("Click", "4", None)
    assert act("book-flight", intent, form("Anvik, AK (ANV)", "MOT", "", ("clickable", "Motley (MTL)"), ("clickable", "Minot, ND (MOT)"))) == ("Click", "5", None)
    assert act("book-flight", intent, form("Anvik, AK (ANV)", "Minot, ND (MOT)", "")) == ("Click", "2", None)
    assert act("book-flight", intent, form("Anvik, AK (ANV)", "Minot, ND (MOT)", "12/23/2016")) == ("Click", "3", None)
    assert act("book-flight", intent, observed(("text", "1h 5m"), ("button", "Book flight for $70"), ("text", "1h 4m"), ("button", "Book flight for $90")))[1] == "0"


def menu(soup, bread, *kinds):
    def dish(name, count, *pictures):
        return [("text", name), *[("image", kind) for kind in pictures], ("clickable", "-"), *[("text", str(count))] * bool(count), ("clickable", "+")]

    return [("heading", "Appetizers"), *dish("Soup", soup, *kinds), *dish("Garlic bread", bread, "vegan"), ("button", "Order!")]


@pytest.mark.parametrize("intent, counts, element", [
    ("Order one of each item: Garlic bread, Soup", (0, 0), "1"), ("Order one of each item: Garlic bread, Soup", (1, 0), "3"),
    ("Order one of each item: Garlic bread, Soup", (1, 1), "4"), ("Order 2 items that are vegan", (0, 1), "3"), ("Order 2 items that are vegan", (0, 2), "4")])
def test_dishes_are_ordered(observed, intent, counts, element):
    assert act("order-food", intent, observed(*menu(*counts, "meat")))[:2] == ("Click", element)


def test_pictures_that_say_what_a_dish_is_are_waited_for(observed):
    assert act("order-food", "Order 2 items that are dairy", observed(*menu(0, 0)))[0] == "Wait"
