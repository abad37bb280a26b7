"""The site `wikipedia`: a small encyclopedia on the region of the site `map`: articles, search, sortable lists, a list of all pages.

Nothing on it can be changed. Of articles that a search or a suggestion finds alike, the notable ones come first. Each article links to another one once, where it names it first.
"""

import json
import re
import sqlite3
from urllib.parse import urlencode

from markupsafe import Markup, escape
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from wr1_utils.sites.map_seed import HEIGHT, LAKE, REGION, RIVER, TOWNS, WIDTH
from wr1_utils.sites.pages import asked, go, make_page, number, one, rows, slice_rows
from wr1_utils.sites.wikipedia_seed import LINK, LISTS, list_title, slug_of

SUGGESTIONS = 6
CHANGES_AT_ONCE = 8
FEATURED = "Lake Amber"
KNOWN = ("Great Flood of 1893", "Lantern Festival")          # two titles that the main page points to


def _page(request: Request, template: str, title: str, status: int = 200, error: str = "", **content) -> Response:
    return make_page(request, f"wikipedia/{template}", title, status, error, search=asked(request, "q"), slug_of=slug_of, **content)


def _linked(text: str, seen: set[str]) -> Markup:
    """The HTML of a text; a title in `seen` is not linked again."""
    parts, end = [], 0
    for found in LINK.finditer(text):
        title, words = found[1], found[2] or found[1]
        parts.append(escape(text[end:found.start()]))
        parts.append(escape(words) if title in seen else Markup('<a href="/wiki/{}">{}</a>').format(slug_of(title), words))
        seen.add(title)
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def _plain(text: str) -> str:
    return LINK.sub(lambda found: found[2] or found[1], text)


async def _main(request: Request) -> Response:
    leads = {row["title"]: _plain(row["lead"]) for row in rows(request, "SELECT title, lead FROM articles")}
    return _page(request, "main.html", "Main page", count=len(leads), region=REGION, featured=FEATURED, lead=leads[FEATURED],
                 known=[(title, leads[title]) for title in KNOWN], lists=[list_title(category) for category in LISTS])


async def _article(request: Request) -> Response:
    slug = request.path_params["slug"].replace(" ", "_")
    article = one(request, "SELECT * FROM articles WHERE lower(slug) = lower(?)", slug)
    if article is None:
        raise HTTPException(404)
    if article["slug"] != request.path_params["slug"]:
        return go(f"/wiki/{article['slug']}")
    if article["listing"]:
        return _list(request, article)
    seen = {article["title"]}
    lead = _linked(article["lead"], seen)
    sections = [(row["heading"], slug_of(row["heading"]), _linked(row["text"], seen))
                for row in rows(request, "SELECT * FROM sections WHERE article = ? ORDER BY rowid", article["id"])]
    port = f":{request.url.port}" if request.url.port else ""
    return _page(request, "article.html", article["title"], article=article, lead=lead, sections=sections,
                 region=(WIDTH, HEIGHT, RIVER, LAKE, TOWNS),
                 map_link=f"//map.localhost{port}/place/{article['place']}" if article["place"] else "",
                 infobox=rows(request, "SELECT * FROM infobox WHERE article = ? ORDER BY rowid", article["id"]),
                 see_also=rows(request, "SELECT title FROM see_also WHERE article = ? ORDER BY rowid", article["id"]))


def _list(request: Request, article: sqlite3.Row) -> Response:
    listing = json.loads(article["listing"])
    columns = listing["columns"]
    chosen = asked(request, "sort")
    column = chosen if chosen in columns else columns[0]
    down = asked(request, "order") == "down"
    found = sorted(listing["rows"], key=lambda row: _sort_key(row[columns.index(column)]), reverse=down)
    heads = [(name, "?" + urlencode({"sort": name, "order": "down" if name == column and not down else "up"})) for name in columns]
    return _page(request, "list.html", article["title"], lead=_linked(article["lead"], set()), heads=heads, column=column, down=down,
                 **slice_rows(request, found))


def _sort_key(cell: str) -> tuple[float, str]:
    """Numbers by their value (``17,450``, ``$12``, ``60 km²``), anything else by its letters."""
    amount = re.match(r"\$?([0-9][0-9,]*)", cell)
    return (float(amount[1].replace(",", "")) if amount else 0, cell)


async def _all_pages(request: Request) -> Response:
    start = asked(request, "from")
    found = rows(request, "SELECT title, slug FROM articles WHERE lower(title) >= lower(?) ORDER BY lower(title)", start)
    return _page(request, "all_pages.html", "All pages", start=start, **slice_rows(request, found))


def _changes(request: Request, start: int) -> list[sqlite3.Row]:
    return rows(request, "SELECT * FROM changes ORDER BY id LIMIT ? OFFSET ?", CHANGES_AT_ONCE, start)


async def _recent(request: Request) -> Response:
    return _page(request, "recent.html", "Recent changes", rows=_changes(request, 0))


async def _more_changes(request: Request) -> Response:
    """The lines that follow the first ``?from=`` ones: a piece of a page."""
    return _page(request, "changes.html", "", rows=_changes(request, number(asked(request, "from"), 0, 999_999) or 0))


async def _search(request: Request) -> Response:
    text = asked(request, "q")
    if not text:
        return _page(request, "results.html", "Search", error="Type a word to search for.", count=0, pages=1)
    exact = one(request, "SELECT slug FROM articles WHERE lower(title) = lower(?)", text)
    if exact:
        return go(f"/wiki/{exact['slug']}")
    words = text.lower().split()
    body = "lower(title || ' ' || lead || ' ' || coalesce((SELECT group_concat(text, ' ') FROM sections WHERE article = articles.id), ''))"
    where = " AND ".join(f"instr({body}, ?)" for _ in words)
    in_title = " AND ".join("instr(lower(title), ?)" for _ in words)
    found = rows(request, f"SELECT title, slug, lead FROM articles WHERE {where} ORDER BY NOT ({in_title}), NOT notable, title", *words, *words)
    return _page(request, "results.html", f"Results for {text}",
                 **slice_rows(request, [(row["title"], row["slug"], _plain(row["lead"])) for row in found]))


async def _suggest(request: Request) -> Response:
    text = asked(request, "q").lower()
    found = rows(request, "SELECT title FROM articles WHERE instr(lower(title), ?) ORDER BY instr(lower(title), ?) != 1, NOT notable, title "
                          "LIMIT ?", text, text, SUGGESTIONS) if text else []
    return JSONResponse([row["title"] for row in found], headers={"Cache-Control": "no-store"})


async def _missing(request: Request, error: Exception) -> Response:
    return _page(request, "missing.html", "Page not found", 404)


def make_app() -> Starlette:
    """The site as an ASGI app; each request brings its world's database in ``request.state.db``."""
    return Starlette(exception_handlers={404: _missing, 405: _missing}, routes=[
        Route("/", _main), Route("/wiki/Special:AllPages", _all_pages), Route("/wiki/Special:RecentChanges", _recent),
        Route("/changes", _more_changes), Route("/wiki/{slug}", _article), Route("/search", _search),
        Route("/suggest", _suggest),
    ])
