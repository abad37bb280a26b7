"""Scripted experts for the sites `map` and `wikipedia`: one small function a template, each a person's plain way through the sites.

As the shop's experts: an expert sees the observed page and the task's filling, never a site's database; places and articles are always
found the same way: search for the name, click the name (the wiki opens an article at once). What must outlive a page is written down.
"""

from collections.abc import Callable

from wr1_utils.agent.experts import (
    ExpertError,
    cells,
    click,
    exit_with,
    find,
    find_all,
    need,
    page_line,
    reply,
    right_click,
    scroll_down,
    search,
    select,
    type_text,
)
from wr1_utils.web.observation import Element, Observation

DONE = "done"                        # what an expert says at the end of a task that asks for no answer


# --- steps that the experts share ------------------------------------------------------------------------------------------------

def _page(observation: Observation) -> str:
    """The page's name: its title without the site's."""
    return observation.title.partition(": ")[2]


def _on_wiki(observation: Observation) -> bool:
    return observation.title.startswith("Pocket Wiki: ")


def _says(observation: Observation, text: str) -> bool:
    return find(observation, "text", text) is not None


def _done() -> str:
    return exit_with(DONE, DONE)


def _fill(observation: Observation, texts: dict[str, str], choices: dict[str, str]) -> str | None:
    """The next step towards a form with these texts and choices, or None when it holds them."""
    for label, text in texts.items():
        box = need(observation, "textbox", label)
        if box.value != text:
            return type_text(box, text)
    for label, option in choices.items():
        box = need(observation, "select", label)
        if box.value != option:
            return select(box, option)
    return None


def _to_place(place: str, observation: Observation, *notes: str) -> str | None:
    """The next step towards the place's page on the map, or None when it is open."""
    if _page(observation) == place:
        return None
    if _page(observation) == f"Results for {place}":
        return click(need(observation, "link", place))
    return search(need(observation, "textbox", "Search"), place, *notes)


def _to_article(title: str, observation: Observation) -> str | None:
    """The next step towards the article, or None when it is open."""
    return None if _page(observation) == title else search(need(observation, "textbox", "Search"), title)


def _to_way(filling: dict, observation: Observation) -> str | None:
    """The next step towards the way that the filling names, or None when it is shown."""
    if _page(observation) != "Directions":
        return click(need(observation, "link", "Directions"))
    if _says(observation, "Distance"):
        return None
    texts, choices = {"From": filling["first"], "To": filling["second"]}, {"By": filling["mode"].capitalize()}
    return _fill(observation, texts, choices) or click(need(observation, "button", "Show way"))


def _to_nearby(filling: dict, observation: Observation) -> str | None:
    """The next step towards the places of a category around a place, or None when they are shown."""
    if _page(observation) != "Nearby":
        return click(need(observation, "link", "Nearby"))
    if find(observation, "heading", f"Around {filling['place']}"):
        return None
    choices = {"Category": filling["category"], **({"Within": filling["radius"]} if "radius" in filling else {})}
    return _fill(observation, {"Near": filling["place"]}, choices) or click(need(observation, "button", "Show"))


def _to_sorted_list(filling: dict, observation: Observation) -> str | None:
    if _page(observation) != filling["list"]:
        return click(need(observation, "link", filling["list"]))
    if _says(observation, f"Sorted by {filling['column']}, {filling['order']}."):
        return None
    return click(need(observation, "link", filling["column"]))


def _save_note(text: str, observation: Observation) -> str:
    """Types the note on the open page of a place (no text: empties it), saves it, and ends."""
    box = need(observation, "textbox", "Note")
    if box.value != text:
        return type_text(box, text)
    saved = _says(observation, "Your note was saved." if text else "There is no note now.")
    return _done() if saved else click(need(observation, "button", "Save note"))


def _add_favorite(observation: Observation) -> str | None:
    """The next step towards having the open place among the favorites, or None when it is."""
    add = find(observation, "button", "Add to favorites")
    return click(add) if add else None


def _listed(observation: Observation) -> list[Element]:
    """The links that the rows of the page's table begin with."""
    links = [element for element in find_all(observation, "link") if element.row is not None]
    if not links:
        raise ExpertError(f"no rows on the page {observation.title!r}")
    return links


def _answer_from_row(observation: Observation, name: str) -> str:
    """Ends with the value in the row `name` of the page's facts."""
    line = page_line(observation, f"row {name} | ")
    return exit_with(cells(line)[1], line)


def _answer_from_link(observation: Observation, link: Element) -> str:
    return exit_with(link.label, page_line(observation, f"link {link.label} ["))


# --- questions -------------------------------------------------------------------------------------------------------------------

def _map_fact(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_place(filling["place"], observation) or _answer_from_row(observation, filling["fact"].capitalize())


def _map_no_fact(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_place(filling["place"], observation)
    if step:
        return step
    if _says(observation, filling["fact"].capitalize()):
        raise ExpertError(f"the page {observation.title!r} has the fact {filling['fact']!r}")
    return exit_with("N/A", "N/A")


def _map_way(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_way(filling, observation) or _answer_from_row(observation, filling["fact"].capitalize())


def _map_first_road(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_way(filling, observation)
    if step:
        return step
    line = page_line(observation, "row Start on ")
    return exit_with(cells(line)[0].removeprefix("Start on "), line)


def _map_nearest(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_nearby(filling, observation) or _answer_from_link(observation, _listed(observation)[0])


def _map_count(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_nearby(filling, observation)
    if step:
        return step
    found = _listed(observation)
    return exit_with(str(len(found)), str(len(found)), *(f"{number} {link.label}" for number, link in enumerate(found, start=1)))


def _map_at(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) != "Coordinates":
        return click(need(observation, "link", "Coordinates"))
    if find(observation, "heading", "Places here"):
        return _answer_from_link(observation, _listed(observation)[0])
    texts = {"Latitude": filling["latitude"], "Longitude": filling["longitude"]}
    return _fill(observation, texts, {}) or click(need(observation, "button", "Look up"))


def _wiki_fact(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_article(filling["article"], observation) or _answer_from_row(observation, filling["fact"].capitalize())


def _wiki_number(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_sorted_list(filling, observation)
    if step:
        return step
    heads = {element.row for element in find_all(observation, "link", filling["column"])}
    rows = [link for link in _listed(observation) if link.row not in heads]
    return _answer_from_link(observation, rows[filling["number"] - 1])


def _wiki_born(filling: dict, observation: Observation, memory: dict) -> str:
    if "architect" not in memory:
        step = _to_article(filling["place"], observation)
        if step:
            return step
        line = page_line(observation, "row Architect | ")
        memory["architect"] = cells(line)[1]
        return click(need(observation, "link", memory["architect"]), line)
    return _answer_from_row(observation, "Born")


def _wiki_changes(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) != "Recent changes":
        return click(need(observation, "link", "Recent changes"))
    return _answer_from_row(observation, filling["article"]) if _says(observation, filling["article"]) else scroll_down(
        page_line(observation, "scroll the list"))


# --- navigation ------------------------------------------------------------------------------------------------------------------

def _map_open_way(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_way(filling, observation) or _done()


def _map_open_category(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) == filling["category"]:
        return _fill(observation, {}, {"Town": filling["town"]}) or _done()
    category = find(observation, "link", filling["category"])
    return click(category or need(observation, "link", "Categories"))


def _wiki_open_sorted(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_sorted_list(filling, observation) or _done()


def _map_share(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) == f"Share {filling['place']}":
        return exit_with(need(observation, "textbox", "Geo address").value, page_line(observation, "textbox Geo address"))
    return _to_place(filling["place"], observation) or click(need(observation, "link", "Share"))


def _map_open_nearest(filling: dict, observation: Observation, memory: dict) -> str:
    if "nearest" in memory:
        return _done()
    return _to_nearby(filling, observation) or _open_nearest(observation, memory)


def _open_nearest(observation: Observation, memory: dict) -> str:
    link = _listed(observation)[0]
    memory["nearest"] = link.label
    return click(link)


# --- changes of state ------------------------------------------------------------------------------------------------------------

def _map_favorite(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_place(filling["place"], observation) or _add_favorite(observation) or _done()


def _map_favorite_show(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) == "Favorites":
        return _done()
    return _to_place(filling["place"], observation) or _add_favorite(observation) or click(need(observation, "link", "Favorites"))


def _map_home(filling: dict, observation: Observation, memory: dict) -> str:
    place = filling["place"]
    if _page(observation) == "Favorites":
        return _done()
    if _says(observation, f"{place} is your home now."):
        return click(need(observation, "link", "Favorites"))
    if _page(observation) != f"Results for {place}":
        return search(need(observation, "textbox", "Search"), place)
    choice = find(observation, "menuitem", "Set as home")
    return click(choice) if choice else right_click(need(observation, "link", place))


def _map_favorite_nearest(filling: dict, observation: Observation, memory: dict) -> str:
    if "nearest" in memory:
        return _add_favorite(observation) or _done()
    return _to_nearby(filling, observation) or _open_nearest(observation, memory)


def _map_unfavorite(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) != "Favorites":
        return click(need(observation, "link", "Favorites"))
    remove = find(observation, "button", f"Remove {filling['place']}")
    return click(remove) if remove else _done()


def _wiki_favorite(filling: dict, observation: Observation, memory: dict) -> str:
    if _on_wiki(observation):
        return _to_article(filling["place"], observation) or click(need(observation, "link", "Show on map"))
    return _add_favorite(observation) or _done()


def _map_note(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_place(filling["place"], observation) or _save_note(filling.get("text", ""), observation)


def _map_note_fact(filling: dict, observation: Observation, memory: dict) -> str:
    if "line" not in memory:
        step = _to_place(filling["first"], observation)
        if step:
            return step
        memory["line"] = page_line(observation, f"row {filling['fact'].capitalize()} | ")
        return _to_place(filling["second"], observation, memory["line"])
    return _to_place(filling["second"], observation) or _save_note(cells(memory["line"])[1], observation)


def _map_note_article(filling: dict, observation: Observation, memory: dict) -> str:
    if "line" in memory:
        return _save_note(cells(memory["line"])[1], observation)
    if not _on_wiki(observation):
        return _to_place(filling["place"], observation) or click(need(observation, "link", "Article"))
    memory["line"] = page_line(observation, f"row {filling['fact'].capitalize()} | ")
    return reply('do(action="Switch Tab", argument="0")', f"# Note: {memory['line']}")


def _map_note_time(filling: dict, observation: Observation, memory: dict) -> str:
    if "line" not in memory:
        step = _to_way(filling, observation)
        if step:
            return step
        memory["line"] = page_line(observation, "row Time | ")
        return _to_place(filling["second"], observation, memory["line"])
    return _to_place(filling["second"], observation) or _save_note(cells(memory["line"])[1], observation)


EXPERTS: dict[str, Callable[[dict, Observation, dict], str]] = {
    "map_fact": _map_fact, "map_no_fact": _map_no_fact, "map_way": _map_way, "map_first_road": _map_first_road, "map_nearest": _map_nearest,
    "map_count": _map_count, "map_at": _map_at, "wiki_fact": _wiki_fact, "wiki_number": _wiki_number, "wiki_born": _wiki_born,
    "wiki_changes": _wiki_changes, "map_home": _map_home,
    "map_open_way": _map_open_way, "map_open_category": _map_open_category, "wiki_open_sorted": _wiki_open_sorted, "map_share": _map_share,
    "map_open_nearest": _map_open_nearest, "map_favorite": _map_favorite, "map_favorite_show": _map_favorite_show,
    "map_favorite_nearest": _map_favorite_nearest, "map_unfavorite": _map_unfavorite, "wiki_favorite": _wiki_favorite,
    "map_note": _map_note, "map_remove_note": _map_note, "map_note_fact": _map_note_fact, "map_note_article": _map_note_article,
    "map_note_time": _map_note_time,
}
