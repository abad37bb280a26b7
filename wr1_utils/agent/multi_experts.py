"""Scripted experts for the tasks over several sites, made of the steps that the sites' own experts take.

What is read on one site and needed on another is written down as ``# Note:``. An expert is called with (filling, observation, memory)
and gives its reply to one page; `memory` is its own for one episode, {} at the start.
"""

from wr1_utils.agent.experts import cells, click, exit_with, find, need, page_line, reply, search
from wr1_utils.agent.reddit_experts import author_city, city_in, comment, done, page_name, press, says
from wr1_utils.web.observation import Observation


# --- steps that the experts share ------------------------------------------------------------------------------------------------

def _on(site: str, observation: Observation) -> bool:
    """Is this a page of the site? It is called by its own name: ``Pocket Map``."""
    return observation.title.startswith(f"{site}: ")


def _search(observation: Observation, words: str, *notes: str) -> str:
    return search(need(observation, "textbox", "Search"), words, *notes)


def _results(words: str, observation: Observation) -> bool:
    return page_name(observation).lower() == f"results for {words}".lower()


def _from_forum(site: str, observation: Observation, *notes: str) -> str | None:
    """The next step from the forum to another site, or None when it is reached."""
    if _on(site, observation):
        return None
    return click(find(observation, "link", site) or need(observation, "link", "Home"), *notes)


def _to_place(place: str, observation: Observation) -> str | None:
    """The next step on the map towards the page of the place, or None when it is open."""
    if observation.title == f"Pocket Map: {place}":
        return None
    return click(need(observation, "link", place)) if _results(place, observation) else _search(observation, place)


def _to_article(title: str, observation: Observation) -> str | None:
    """The next step in the wiki towards the article, whose title leads straight to it; None when it is open."""
    return None if observation.title == f"Pocket Wiki: {title}" else _search(observation, title)


def _to_its_article(place: str, observation: Observation) -> str | None:
    """The next step from the map to the article on the place, or None when it is open."""
    if _on("Pocket Wiki", observation):
        return None
    return _to_place(place, observation) or click(need(observation, "link", "Article"))


def _to_its_place(title: str, observation: Observation) -> str | None:
    """The next step from the wiki to the place on the map that the article is on, or None when it is open."""
    if _on("Pocket Map", observation):
        return None
    return _to_article(title, observation) or click(need(observation, "link", "Show on map"))


def _switch_tab(number: int, *notes: str) -> str:
    return reply(f'do(action="Switch Tab", argument="{number}")', *(f"# Note: {note}" for note in notes))


def _row(observation: Observation, label: str) -> str:
    """Ends with the value in the row `label` of the page's facts."""
    line = page_line(observation, f"row {label} | ")
    return exit_with(cells(line)[1], line)


def _favorite(observation: Observation) -> str:
    return done() if find(observation, "button", "Remove from favorites") else press(observation, "Add to favorites")


def _note_town(filling: dict, observation: Observation, memory: dict, site: str) -> str | None:
    """The next step until the other site is open and ``memory["town"]`` holds where the author of the post lives; then None."""
    if "town" in memory:
        return _from_forum(site, observation)
    step, line = author_city(filling, observation, memory)
    if step:
        return step
    memory["town"] = city_in(line)
    return _from_forum(site, observation, line)


# --- one expert a template -------------------------------------------------------------------------------------------------------

def _article_fact(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_its_article(filling["place"], observation) or _row(observation, filling["fact"])


def _open_article(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_its_article(filling["place"], observation) or done()


def _phone(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_its_place(filling["place"], observation) or _row(observation, "Phone")


def _favorite_of_article(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_its_place(filling["place"], observation) or _favorite(observation)


def _author_town(filling: dict, observation: Observation, memory: dict) -> str:
    step = _note_town(filling, observation, memory, "Pocket Wiki")
    return step or _to_article(memory["town"], observation) or _row(observation, filling["fact"].capitalize())


def _town_favorite(filling: dict, observation: Observation, memory: dict) -> str:
    step = _note_town(filling, observation, memory, "Pocket Map")
    return step or _to_place(memory["town"], observation) or _favorite(observation)


def _no_such_product(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "No products found."):
        return exit_with("N/A", page_line(observation, "No products found."))
    return _from_forum("Pocket Shop", observation) or _search(observation, filling["product"])


def _view_in_shop(filling: dict, observation: Observation, memory: dict) -> str:
    if _on("Pocket Shop", observation):
        return done()
    if page_name(observation) == filling["product"]:
        return click(need(observation, "link", "View in shop"))
    if page_name(observation) != "Products":
        return click(find(observation, "link", "Products") or need(observation, "button", "Catalog"))
    keyword = need(observation, "textbox", "Keyword")
    if keyword.value != filling["product"]:
        return search(keyword, filling["product"])
    return click(need(observation, "link", filling["product"]))


def _comment_cell(site: str, words: str, link: str, cell: int, filling: dict, observation: Observation, memory: dict) -> str:
    """Searches the other site for `words`, notes the row of `link`, and comments what its cell says on the forum's post."""
    if "text" not in memory:
        step = _from_forum(site, observation)
        if step or not _results(words, observation):
            return step or _search(observation, words)
        line = page_line(observation, link)
        memory["text"] = cells(line)[cell]
        return _switch_tab(0, line)
    return comment({"post": filling["post"], "text": memory["text"]}, observation, memory)


def _comment_price(filling: dict, observation: Observation, memory: dict) -> str:
    product = filling["product"]
    return _comment_cell("Pocket Shop", product, f"link {product} [", 1, filling, observation, memory)


def _comment_stars(filling: dict, observation: Observation, memory: dict) -> str:
    project = filling["project"]
    return _comment_cell("Pocket Git", project, f" / {project} [", 2, filling, observation, memory)


EXPERTS = {
    "multi_article_fact": _article_fact, "multi_phone": _phone, "multi_author_town": _author_town,
    "multi_no_such_product": _no_such_product, "multi_open_article": _open_article, "multi_view_in_shop": _view_in_shop,
    "multi_favorite": _favorite_of_article, "multi_comment_price": _comment_price, "multi_comment_stars": _comment_stars,
    "multi_town_favorite": _town_favorite,
}
