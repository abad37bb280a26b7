"""The wiki shows its articles, finds and sorts them, and never answers with a fault of its own."""

import re

import pytest

from wr1_utils.sites.wikipedia_seed import LISTS, list_title, slug_of

ODD = ["%", "_", "'; DROP TABLE articles; --", '"><script>alert(1)</script>', "\\", "{{7*7}}", "[[Elmton]]", "é\u202e漢😀", "\x00\x01",
       "a" * 5000, "<b>&", "None", "9" * 400]


@pytest.fixture
def visit(visitor):
    return visitor("wikipedia")


def all_titles(visit):
    return [row["title"] for row in visit.db.execute("SELECT title FROM articles ORDER BY id")]


def links(response):
    """The labels of the links to articles, in their order."""
    return re.findall(r'<a href="/wiki/[^":]*">([^<]*)</a>', response.text)


def column(response, number):
    rows = [re.findall(r"<td>(.*?)</td>", line) for line in response.text.split("<tr>")]
    return [re.sub(r"<[^>]+>", "", row[number]) for row in rows if row]


def test_the_main_page(visit):
    response = visit("/")
    assert response.headers["cache-control"] == "no-store" and "265 articles" in response.text
    lists = [list_title(category) for category in LISTS]
    assert links(response) == ["Silver Vale", "Lake Amber", "Great Flood of 1893", "Lantern Festival", *lists]


def test_an_article_has_infobox_contents_sections_and_links(visit):
    response = visit("/wiki/Glass_Museum")
    assert "<th>Architect</th>" in response.text and '<a href="#Building">Building</a>' in response.text
    assert 'id="Building"' in response.text and ">See also</h2>" in response.text and "List of museums" in links(response)
    assert '"//map.localhost/place/glass-museum" target="_blank"' in response.text
    assert "map.localhost" not in visit("/wiki/Glass").text


def test_every_article_is_shown_and_links_to_another_once(visit):
    for title in all_titles(visit):
        response = visit(f"/wiki/{slug_of(title)}")
        assert response.status_code == 200 and f"<h1>{title}</h1>" in response.text and "[[" not in response.text
        assert len(links(response)) == len(set(links(response))) and title not in links(response), title


def test_no_link_leads_nowhere_and_every_article_is_linked(visit):
    titles, linked = set(all_titles(visit)), {"Main page"}
    for title in titles:
        for page in ("", "?page=2"):
            linked |= set(re.findall(r'href="/wiki/([^":#?]*)"', visit(f"/wiki/{slug_of(title)}{page}").text))
    assert linked - {"Main page"} <= {slug_of(title) for title in titles}
    assert not {slug_of(title) for title in titles if "List" not in title} - linked - {
        slug_of(title) for title in titles if title.endswith(("Festival", "Flood of 1893", "Marathon"))}


def test_titles_are_found_in_any_case_and_with_spaces(visit):
    for slug in ("glass_museum", "Glass museum", "GLASS_MUSEUM"):
        assert visit(f"/wiki/{slug}").url.path == "/wiki/Glass_Museum"


def test_search(visit):
    assert visit("/search?q=lake+amber").url.path == "/wiki/Lake_Amber"
    response = visit("/search?q=MUSEUM+glass")
    assert links(response)[0] == "Glass Museum"
    royal = ["Edith Royal", "Royal Park", "Royal Theater", "Royal Viewpoint", "Royal Hotel", "Royal Market"]
    assert links(visit("/search?q=royal"))[:6] == royal
    assert "Kite Day" in links(visit("/search?q=kites"))
    assert "Page 1 of" in visit("/search?q=park").text and "q=park&amp;page=2" in visit("/search?q=park").text
    assert "No articles found." in visit("/search?q=zebra").text
    assert "Type a word" in visit("/search?q=+").text and "Type a word" in visit("/search").text


def test_suggestions(visit):
    assert visit("/suggest?q=glass").json() == ["Glass", "Glass Museum", "Glass Bench Restaurant"]       # the notable ones first
    assert len(visit("/suggest?q=e").json()) == 6 and visit("/suggest").json() == visit("/suggest?q=zzz").json() == []


def test_a_list_is_sorted_by_any_column_up_and_down(visit):
    def numbers(order):
        return [int(cell.replace(",", "")) for cell in column(visit(f"/wiki/List_of_towns?sort=Population&order={order}"), 1)]

    assert len(numbers("up")) == 10 and numbers("up") == sorted(numbers("up")) == numbers("down")[::-1]
    names = column(visit("/wiki/List_of_towns"), 0)
    assert names == sorted(names)
    response = visit("/wiki/List_of_towns?sort=Population&order=up")
    assert "?sort=Population&amp;order=down" in response.text and "?sort=Area&amp;order=up" in response.text
    assert "Sorted by Population, upwards." in response.text
    areas = [int(cell.split()[0]) for cell in column(visit("/wiki/List_of_parks?sort=Area&order=down"), 3)]
    assert areas == sorted(areas, reverse=True)


def test_a_long_list_is_paged_and_keeps_its_order(visit):
    first = visit("/wiki/List_of_museums?sort=Opened&order=down")
    assert "sort=Opened&amp;order=down&amp;page=2" in first.text and len(column(first, 0)) == 10
    second = visit("/wiki/List_of_museums?sort=Opened&order=down&page=2")
    assert len(column(second, 0)) == 4 and max(column(second, 2)) < min(column(first, 2))


def test_all_pages(visit):
    seen = []
    for page in range(1, 28):
        seen += links(visit("/wiki/Special:AllPages", page=page))
    assert sorted(seen, key=str.lower) == seen and set(seen) == set(all_titles(visit))
    assert links(visit("/wiki/Special:AllPages?from=northford"))[0] == "Northford"
    assert "No pages found." in visit("/wiki/Special:AllPages?from=zz").text


@pytest.mark.parametrize("text", ODD)
def test_any_text_is_taken_as_text(visit, text):
    for response in (visit("/search", q=text), visit("/suggest", q=text), visit("/wiki/Special:AllPages", **{"from": text, "page": text}),
                     visit("/wiki/List_of_towns", sort=text, order=text, page=text)):
        assert response.status_code == 200 and "<script>alert" not in response.text
    assert len(all_titles(visit)) == 265


def test_pages_that_do_not_exist_say_so(visit):
    for path in ("/nowhere", "/wiki/Nothing", "/wiki/", "/wiki/%00", "/wiki/%FF", "/wiki/Special:Random", "/wiki/Elmton/x"):
        response = visit(path)
        assert response.status_code == 404 and "There is no such page." in response.text


def test_pages_are_served_within_milliseconds(visit):
    """Each kind of page, the app alone."""
    for path in ("/", "/wiki/Northford", "/search?q=park", "/wiki/List_of_museums", "/wiki/Special:AllPages"):
        assert visit.milliseconds(path) < 30, path


def test_recent_changes_go_on(visit):
    first, more = visit("/wiki/Special:RecentChanges"), visit("/changes?from=8")
    assert len(column(first, 0)) == len(column(more, 0)) == 8 and not set(column(first, 0)) & set(column(more, 0))
    assert column(visit("/changes?from=0"), 1) == column(first, 1) and set(column(first, 0) + column(more, 0)) <= set(all_titles(visit))
    assert column(visit("/changes?from=32"), 0) == [] == column(visit("/changes?from=999999"), 0)
    assert [len(column(visit("/changes", **{"from": odd}), 0)) for odd in ODD] == [8] * (len(ODD) - 1) + [8]
    assert "<a " not in more.text
