"""Experts for the MiniWoB++ pages that are small sites: search, contacts, mail, posts, flights, food."""

import re

from wr1_utils.agent.experts import ExpertError, click, find, find_all, need, type_text, wait
from wr1_utils.agent.miniwob_form_experts import pick_date
from wr1_utils.agent.miniwob_parts import asked, listed, nameless, need_named, quoted, submit, textboxes
from wr1_utils.web.observation import Element, Observation

POST_ICONS = {"Reply": 0, "Retweet": 1, "Like": 2, "Share": 3}  # of a post, from left to right; the fourth may open a menu instead


def search_engine(intent: str, observation: Observation, memory: dict) -> str:
    """Three results a page; the page does not show which of its three pages it is, the memory does."""
    (box,) = textboxes(observation, 1)
    text = quoted(intent)[0]
    if box.value != text:
        return type_text(box, text)
    links = find_all(observation, "link")
    if not links:
        memory["page"] = 1
        return click(need(observation, "button", "Search"))
    number = int(re.search(r"the (\d)(?:st|nd|rd|th) search result", intent)[1]) - 1
    page = number // 3 + 1
    if memory["page"] != page:
        memory["page"] = page
        return click(next(link for link in reversed(links) if link.label == str(page)))
    return click(links[number % 3])


def phone_book(intent: str, observation: Observation, memory: dict) -> str:
    """Turns pages with `>` until the name shows, then the value after Phone:, Email: or Address:."""
    name, kind = re.fullmatch(r"Find (.*) in the contact book and click on their (phone|email|address).*", intent).groups()
    if find(observation, "heading", name) is None:
        return click(need_named(observation, ">"))
    elements = observation.elements
    for before, after in zip(elements, elements[1:]):
        if before.label == f"{kind.capitalize()}:" and after.id is not None:
            return click(after)
    raise ExpertError(f"the contact has no {kind} to click")


# ---- mail


def email(intent: str, observation: Observation, memory: dict) -> str:
    """Opens the mail by its sender; there the icons before the text are the bin and the star, and at its end stand Reply and Forward."""
    sender, what, detail = mail_order(intent, [e.label for e in observation.elements] + memory.setdefault("names", []))
    if not memory.get("opened"):
        memory["opened"] = True
        memory["names"] += [e.label for e in observation.elements]
        return click(need_named(observation, sender))
    if what in ("delete", "important"):
        icons = nameless(observation.elements[:position(observation, "text")])
        return wait(1) if len(icons) < 2 else click(icons[-2 if what == "delete" else -1])
    boxes = find_all(observation, "textbox")
    if not boxes:
        return click(need_named(observation, what.capitalize()))
    if boxes[0].value != detail:
        return type_text(boxes[0], detail)
    icons = nameless(observation.elements)
    return wait(1) if not icons else click(icons[-1])


def mail_order(intent: str, names: list[str]) -> tuple[str, str, str]:
    """(sender, what to do, text or recipient). `names`: what the page has shown; in free language it tells which words are names."""
    plain = (r"Find the email by (.*) and (?:(reply) to them with the text \"(.*)\"|(forward) that email to (.*)"
             r"|click the (?:trash icon to (delete) it|star icon to mark it as (important)))\.")
    found = re.fullmatch(plain, intent)
    if found:
        sender, reply, text, forward, recipient, delete, star = found.groups()
        return sender, reply or forward or delete or star, text or recipient or ""
    people = sorted((name for name in set(names) if name and re.search(rf"\b{re.escape(name)}\b", intent)), key=len)[-2:]
    recipients = [name for name in people if re.search(rf"\bto {name}\b|(?:Send|Forward|Give) {name} the|^{name} (?:wants the|is waiting)", intent)]
    if len(people) != 2 or len(recipients) != 1:
        raise ExpertError(f"it is not clear who wrote and who gets the mail: {intent!r}")
    return next(name for name in people if name not in recipients), "forward", recipients[0]


def position(observation: Observation, role: str) -> int:
    """Where in the page's elements the first of this role stands."""
    return observation.elements.index(need(observation, role))


# ---- posts


def posts(observation: Observation) -> list[tuple[str, list[Element]]]:
    """(user, what can be clicked) of each post; a post begins with a line that names its user by @."""
    found: list[tuple[str, list[Element]]] = []
    for element in observation.elements:
        user = re.search(r"@\w+", element.label) if element.role == "text" else None
        if user:
            found.append((user[0], []))
        elif found and element.role == "clickable":
            found[-1][1].append(element)
    return found


def social_media(intent: str, observation: Observation, memory: dict) -> str:
    """One thing of one post: an icon, or an entry of the menu behind the fourth. Icons may come late."""
    user, action = asked(r'For the user (@\w+), click on the "(.*)" button\.', intent)
    things = next((things for name, things in posts(observation) if name == user), None)
    if things is None:
        raise ExpertError(f"there is no post by {user}")
    entry = next((e for e in things if e.label in (action, f"{action} {user}")), None)
    if entry is not None:
        return click(entry)
    icons = nameless(things)
    return wait(1) if len(icons) < len(POST_ICONS) else click(icons[POST_ICONS.get(action, 3)])


def social_media_some(intent: str, observation: Observation, memory: dict) -> str:
    """The same icon of several posts by one user; the page's text does not show which were clicked, the memory does."""
    action, count, user = asked(r'Click the "(.*)" button on (all posts|\d+ posts?) by (@\w+) and then click Submit\.', intent)
    mine = [things for name, things in posts(observation) if name == user]
    wanted = len(mine) if count == "all posts" else int(count.split()[0])
    done = memory.setdefault("done", 0)
    if done == wanted:
        return submit(observation)
    icons = nameless(mine[done])
    if len(icons) < len(POST_ICONS):
        return wait(1)
    memory["done"] += 1
    return click(icons[POST_ICONS[action]])


# ---- flights and food


def minutes(duration: str) -> int:
    """`11h 30m` as minutes."""
    hours, rest = re.fullmatch(r"(\d+)h (\d+)m", duration).groups()
    return int(hours) * 60 + int(rest)


def best_offer(observation: Observation, wanted: str) -> Element:
    """The button of the offer that is cheapest, most expensive, shortest or longest; above each button stands its duration."""
    offers, duration = [], ""
    for element in observation.elements:
        if re.fullmatch(r"\d+h \d+m", element.label):
            duration = element.label
        price = re.search(r"\$(\d+)$", element.label) if element.role == "button" else None
        if price:
            offers.append((int(price[1]), minutes(duration), element))
    if not offers:
        raise ExpertError("the page offers nothing to book")
    by = 0 if wanted.startswith(("cheapest", "most")) else 1
    choose = min if wanted.startswith(("cheapest", "shortest")) else max
    return choose(offers, key=lambda offer: offer[by])[2]


def buy_ticket(intent: str, observation: Observation, memory: dict) -> str:
    return click(best_offer(observation, *asked(r"Buy the ticket with the (.*)\.", intent)))


def book_flight(intent: str, observation: Observation, memory: dict) -> str:
    """Both places are taken from the suggestions that typing brings up; then the date, the search, and the best of what is found."""
    wanted, start, end, date = asked(r"Book the (\w+) one-way flight from: (.*) to: (.*) on (\S+)\.", intent)
    boxes = find_all(observation, "textbox")
    if not boxes:
        return click(best_offer(observation, wanted))
    for box, place in zip(boxes, (start, end)):
        if re.search(r" \(\w+\)$", box.value):
            continue
        if box.value != place:
            return type_text(box, place)
        fitting = [e for e in observation.elements if e.role in ("clickable", "menuitem", "option")
                   and (e.label.startswith(f"{place} (") or e.label.endswith(f"({place})"))]
        return click(fitting[0]) if fitting else wait(1)
    return pick_date(observation, boxes[2], date) or submit(observation, "Search")


def dishes(observation: Observation) -> list[tuple[str, set[str], Element, int]]:
    """(name, what it is, its plus sign, how many are ordered) of each dish."""
    found, name, kinds, count = [], "", set(), 0
    for element in observation.elements:
        if element.role == "text" and element.label.isdecimal():
            count = int(element.label)
        elif element.role == "text":
            name, kinds, count = element.label, set(), 0
        elif element.role == "image":
            kinds.add(element.label)
        elif element.label == "+":
            found.append((name, kinds, element, count))
    return found


def order_food(intent: str, observation: Observation, memory: dict) -> str:
    """Dishes by name, or a number of one that is of a kind; what each is, its pictures say once they have come."""
    menu = dishes(observation)
    by_name = re.fullmatch(r"Order one of each item: (.*)", intent)
    if by_name:
        missing = [plus for name, _, plus, count in menu if listed(name, by_name[1]) and not count]
        return click(missing[0]) if missing else submit(observation, "Order!")
    number, kind = asked(r"Order (\d+) items that are (.*)", intent)
    fitting = [(plus, count) for _, kinds, plus, count in menu if kind in kinds]
    if not fitting:
        return wait(1)
    plus, count = max(fitting, key=lambda dish: dish[1])
    return submit(observation, "Order!") if count == int(number) else click(plus)


SITE_EXPERTS = {
    "book-flight": book_flight,
    "book-flight-nodelay": book_flight,
    "buy-ticket": buy_ticket,
    "email-inbox": email,
    "email-inbox-delete": email,
    "email-inbox-forward": email,
    "email-inbox-forward-nl": email,
    "email-inbox-important": email,
    "email-inbox-noscroll": email,
    "email-inbox-reply": email,
    "email-inbox-star-reply": email,
    "order-food": order_food,
    "phone-book": phone_book,
    "search-engine": search_engine,
    "social-media": social_media,
    "social-media-all": social_media_some,
    "social-media-some": social_media_some,
}
