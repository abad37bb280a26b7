"""The map finds, measures and keeps what it is asked to, and never answers with a fault of its own."""

import random
import re

import pytest

from wr1_utils.sites.map_roads import MODES
from wr1_utils.sites.map_seed import FAVORITES, NOTES

ODD = ["%", "_", "'; DROP TABLE places; --", '"><script>alert(1)</script>', "\\", "{{7*7}}", "é\u202e漢😀", "\x00\x01", "a" * 5000, "<b>&",
       "None", "9" * 400]


@pytest.fixture
def visit(visitor):
    return visitor("map")


def directions(visit, start, goal, mode="car"):
    return visit("/directions", **{"from": start, "to": goal, "mode": mode})


def words(response):
    """The text of a page, without its markup and pictures."""
    text = re.sub(r"<svg.*?</svg>", " ", response.text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def links(response, kind="place"):
    """The labels of the links in tables and lists that lead to pages of one kind, in their order."""
    return re.findall(rf'<t[dr]>(?:<td>)?<a href="/{kind}/[^"]*">([^<]*)</a>', response.text)


def fact(response, name):
    return re.search(rf'id="{name}">([^<]*)<', response.text).group(1)


# --- looking around --------------------------------------------------------------------------------------------------------------

def test_the_first_page_shows_the_region_with_its_towns(visit):
    response = visit("/")
    assert response.headers["cache-control"] == "no-store"
    assert re.findall(r"<title>([A-Z][a-z]+)</title></circle></a>", response.text)[:2] == ["Elmton", "Northford"]
    assert "Zoom in" in response.text and "Zoom out" not in response.text


def test_zoom_and_move(visit):
    closer = visit(re.search(r'href="([^"]*)">Zoom in', visit("/").text).group(1).replace("&amp;", "&"))
    assert "Zoom 2" in closer.text and "Zoom out" in closer.text
    east = visit(re.search(r'href="([^"]*)">East', closer.text).group(1).replace("&amp;", "&"))
    assert float(east.url.params["lon"]) > float(closer.url.params["lon"]) and east.url.params["lat"] == closer.url.params["lat"]
    assert "Zoom in" not in visit("/?zoom=5").text
    assert visit("/?zoom=4&lat=40.2325&lon=160.1982").text.count("</circle></a>") <= 10


@pytest.mark.parametrize("query", ["zoom=0", "zoom=9", "zoom=x", "lat=1&lon=2", "lat=NaN&lon=inf", "zoom=&lat=&lon=", "lat=40.1"])
def test_odd_views_give_a_page(visit, query):
    assert visit(f"/?{query}").status_code == 200


def test_search_puts_the_best_first_and_takes_words_of_address_and_category(visit):
    response = visit("/search?q=GLASS+museum")
    assert links(response)[0] == "Glass Museum" and 'class="scroller"' in response.text
    assert all(name.endswith("Cafe") for name in links(visit("/search?q=cafes+elmton")))
    address = visit.value("SELECT address FROM places WHERE name = 'Glass Museum'")
    assert links(visit("/search", q=address))[0] == "Glass Museum"


def test_a_long_result_is_paged(visit):
    first, second = visit("/search?q=cafe"), visit("/search?q=cafe&page=2")
    assert len(links(first)) == 10 and not set(links(first)) & set(links(second))
    assert "Previous page" in second.text and "q=cafe&amp;page=3" in second.text
    for page in ("0", "999", "-1", "x", "9" * 30):
        assert "Page 1 of 3" in visit("/search", q="cafe", page=page).text


def test_a_search_without_result_suggests(visit):
    response = visit("/search?q=glas+musem")
    assert "No places found." in response.text and ">Glass Museum</a>" in response.text
    assert "Type a name" in visit("/search?q=+").text and "Type a name" in visit("/search").text


def test_suggestions(visit):
    assert visit("/suggest?q=elm").json()[0] == "Elmton"
    assert len(visit("/suggest?q=e").json()) == 6
    assert visit("/suggest?q=park+golden").json() == ["Golden Park"]
    assert visit("/suggest?q=").json() == visit("/suggest").json() == visit("/suggest?q=zzz").json() == []


def test_categories_and_their_places_by_town(visit):
    assert ">Museums</a>" in visit("/categories").text
    names = links(visit("/category/museums")) + links(visit("/category/museums?page=2"))
    assert names == sorted(names) and len(names) == 14
    in_elmton = links(visit("/category/cafes?town=Elmton"))
    assert in_elmton and all(visit.value("SELECT town FROM places WHERE name = ?", name) == "Elmton" for name in in_elmton)
    assert "There are none in Redwood." in visit("/category/stations?town=Redwood").text
    assert len(links(visit("/category/museums?town=Atlantis"))) == 10


# --- one place -------------------------------------------------------------------------------------------------------------------

def test_a_place_has_its_facts_and_a_picture(visit):
    response = visit("/place/glass-museum")
    row = visit.db.execute("SELECT * FROM places WHERE slug = 'glass-museum'").fetchone()
    for text in (row["address"], row["hours"], row["phone"], f"{row['latitude']:.4f}, {row['longitude']:.4f}", "Architect", "Admission"):
        assert text in words(response)
    assert "Exhibits" not in words(response)
    assert "<svg" in response.text and 'class="pin chosen"' in response.text and "road street" in response.text
    assert '"//wikipedia.localhost/wiki/Glass_Museum" target="_blank"' in response.text
    assert '"//wikipedia.localhost/wiki/Elmton_School" target="_blank"' in visit("/place/elmton-school").text
    assert "Zoom in" not in visit("/place/glass-museum?zoom=5").text and "Zoom out" not in visit("/place/glass-museum?zoom=1").text


def test_favorites(visit):
    assert "Remove from favorites" in visit("/place/glass-museum").text
    response = visit("/place/golden-park/favorite", {})
    assert response.url.path == "/place/golden-park" and "Added Golden Park to favorites." in response.text
    visit("/place/golden-park/favorite", {})
    assert links(visit("/favorites")) == [*FAVORITES, "Golden Park"]
    assert "The favorite was removed." in visit("/favorites/remove", {"item": "7"}).text
    for item in ("1", "2", "3", "4", "5", "6", "77", "", "x"):
        visit("/favorites/remove", {"item": item})
    assert "There are no favorites." in visit("/favorites").text
    assert visit("/place/nowhere/favorite", {}).status_code == 404


def test_notes(visit):
    response = visit("/place/golden-park/note", {"note": ' <b>"Picnic" & kite</b> '})
    assert response.url.path == "/place/golden-park" and "Your note was saved." in response.text
    assert 'value="&lt;b&gt;&#34;Picnic&#34; &amp; kite&lt;/b&gt;"' in response.text
    visit("/place/golden-park/note", {"note": "Picnic"})
    assert links(visit("/notes")) == sorted([*NOTES, "Golden Park"]) and "Picnic" in words(visit("/notes"))
    assert "There is no note now." in visit("/place/golden-park/note", {"note": " "}).text
    assert visit.value("SELECT count(*) FROM notes") == len(NOTES)
    visit("/place/golden-park/note", {"note": "x" * 999})
    assert visit.value("SELECT max(length(text)) FROM notes") == 999


def test_share(visit):
    response = visit("/share/glass-museum")
    number = visit.value("SELECT id FROM places WHERE slug = 'glass-museum'")
    assert "http://map.localhost/place/glass-museum" in response.text and f"http://map.localhost/p/{number}" in response.text
    assert visit(f"/p/{number}").url.path == "/place/glass-museum"


# --- what is nearby, and coordinates ---------------------------------------------------------------------------------------------

def test_nearby_is_sorted_and_within(visit):
    response = visit("/nearby?place=elmton&category=cafes&km=2")
    far = [float(text) for text in re.findall(r"<td>([0-9.]+) km</td>", response.text)]
    assert far and far == sorted(far) and far[-1] <= 2 and all(name.endswith("Cafe") for name in links(response))
    more = visit("/nearby?place=elmton&km=20&page=2")
    assert len(links(more)) == 10 and "place=elmton" in re.search(r'href="(\?[^"]*page=3)', more.text).group(1)
    assert "There are none within 1 km." in visit("/nearby?place=misty+viewpoint&km=1").text


def test_nearby_refuses_with_suggestions(visit):
    assert visit("/nearby").status_code == 200
    assert "Near must not be empty." in visit("/nearby?place=").text
    response = visit("/nearby?place=elmtn&category=cafes&km=5")
    assert response.status_code == 400 and "No place is called &#34;elmtn&#34;." in response.text
    assert "/nearby?place=Elmton&amp;category=cafes&amp;km=5" in response.text
    assert visit("/nearby?place=elmton&category=nonsense&km=x").status_code == 200


def test_look_up_coordinates(visit):
    row = visit.db.execute("SELECT * FROM places WHERE slug = 'glass-museum'").fetchone()
    response = visit("/lookup", lat=f"{row['latitude']:.4f}", lon=f"{row['longitude']:.4f}")
    assert links(response)[0] == "Glass Museum" and len(links(response)) == 5
    assert visit("/lookup").status_code == 200


@pytest.mark.parametrize("lat, lon, label", [
    ("", "160.1", "Latitude"), ("39", "160.1", "Latitude"), ("40.1", "x", "Longitude"), ("40.1", "1e2", "Longitude"),
    ("nan", "160", "Latitude"), ("40.1", "161", "Longitude"), ("٤٠", "160.1", "Latitude")])
def test_wrong_coordinates_are_refused(visit, lat, lon, label):
    response = visit("/lookup", lat=lat, lon=lon)
    assert response.status_code == 400 and f"{label} must be a number from" in words(response)


# --- directions ------------------------------------------------------------------------------------------------------------------

def test_directions_say_how_far_how_long_and_which_way(visit):
    response = directions(visit, "Elmton", "glass museum")
    steps = re.findall(r"<tr><td>([^<]*)</td><td>([0-9.]*)[^<]*</td></tr>", response.text)
    assert steps[0][0].startswith("Start on ") and steps[-1][0] == "Arrive at Glass Museum"
    total = float(fact(response, "distance").removesuffix(" km"))
    assert abs(total - sum(float(far or 0) for _, far in steps)) < 0.5
    assert re.fullmatch(r"[0-9]+ min", fact(response, "time")) and 'class="way"' in response.text
    assert 'value="Glass Museum"' in response.text


def test_ways_differ_by_the_way_of_travel(visit):
    pages = {mode: directions(visit, "Ashville", "Lakeview", mode) for mode in MODES}
    assert "Route 3" in words(pages["car"])
    assert "Route" not in words(pages["foot"]) and "Route" not in words(pages["bicycle"]) and "Path" not in words(pages["bicycle"])

    def minutes(page):
        hours, rest = re.fullmatch(r"(?:(\d+) h )?(\d+) min", fact(page, "time")).groups()
        return 60 * int(hours or 0) + int(rest)

    assert minutes(pages["car"]) < minutes(pages["bicycle"]) < minutes(pages["foot"])
    assert directions(visit, "Ashville", "Lakeview", "balloon").text.count(' selected') == 1


def test_addresses_are_places_too(visit):
    address = visit.value("SELECT address FROM places WHERE name = 'Glass Museum'")
    town = visit.value("SELECT town FROM places WHERE name = 'Glass Museum'")
    for text in (address, address[:-6].upper(), "museum glass", f"Glass Museum, {town}"):
        assert fact(directions(visit, text, "elmton"), "distance") == fact(directions(visit, "Glass Museum", "Elmton"), "distance")


def test_swap(visit):
    response = visit("/directions?from=Elmton&to=Redwood&mode=foot&swap=1")
    assert dict(response.url.params) == {"from": "Redwood", "to": "Elmton", "mode": "foot"} and "Arrive at Elmton" in response.text


def test_a_way_has_one_address_however_its_ends_were_typed(visit):
    assert dict(directions(visit, "elmton", "museum glass", "foot").url.params) == {"from": "Elmton", "to": "Glass Museum", "mode": "foot"}


def test_directions_refuse_with_suggestions(visit):
    assert "Distance" not in visit("/directions").text and "Distance" not in visit("/directions?to=Elmton").text
    assert "From must not be empty." in directions(visit, "", "Elmton").text
    assert "To must not be empty." in directions(visit, "Elmton", " ").text
    assert "From and To are the same place." in directions(visit, "Elmton", "elmton").text
    response = directions(visit, "elmtn", "Redwood", "foot")
    assert response.status_code == 400 and "No place is called &#34;elmtn&#34;." in response.text
    assert "/directions?from=Elmton&amp;to=Redwood&amp;mode=foot" in response.text
    assert "There are several places with &#34;library&#34; in their name." in directions(visit, "Elmton", "library").text
    assert "Did you mean" not in directions(visit, "Elmton", "qqqqqqqq").text


# --- robustness ------------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("text", ODD)
def test_any_text_is_taken_as_text(visit, text):
    for response in (visit("/search", q=text), visit("/suggest", q=text), visit("/nearby", place=text, category=text, km=text),
                     visit("/lookup", lat=text, lon=text), directions(visit, text, text, text), visit("/", zoom=text, lat=text, lon=text),
                     visit("/category/cafes", town=text, page=text), visit("/place/elmton", zoom=text),
                     visit("/place/elmton/note", {"note": text})):
        assert response.status_code in (200, 400) and "<script>alert" not in response.text
    assert visit.value("SELECT count(*) FROM places") == 220


def test_pages_that_do_not_exist_say_so(visit):
    for path in ("/nowhere", "/place/nothing", "/category/nothing", "/share/nothing", "/p/999", "/p/x", "/p/0", "/place/%00", "/place/%FF"):
        response = visit(path)
        assert response.status_code == 404 and "There is no such page." in response.text


def test_no_form_makes_a_fault(visit):
    rng = random.Random(0)
    paths = ["/place/elmton/note", "/place/elmton/favorite", "/favorites/remove", "/place/none/note"]
    for _ in range(60):
        data = {rng.choice(["note", "item", "place", "q"]): rng.choice(ODD) for _ in range(rng.randint(0, 3))}
        assert visit(rng.choice(paths), data).status_code < 500


def test_worlds_do_not_see_each_other(visit):
    visit("/place/golden-park/note", {"note": "Picnic"})
    visit("/place/golden-park/favorite", {})
    visit.world = visit.worlds.create()
    assert "Picnic" not in visit("/place/golden-park").text and "Golden Park" not in visit("/favorites").text


def test_the_same_requests_give_the_same_pages(visitor):
    paths = ("/", "/search?q=park", "/place/elmton", "/nearby?place=elmton&km=5", "/directions?from=Elmton&to=Fairhaven&mode=foot")
    assert [visitor("map")(path).text for path in paths] == [visitor("map")(path).text for path in paths]


def test_pages_are_served_within_milliseconds(visit):
    """Each kind of page, the app alone."""
    for path in ("/", "/search?q=park", "/place/elmton", "/nearby?place=elmton&km=20", "/directions?from=Westbury&to=Fairhaven&mode=foot",
                 "/directions?from=elmtn&to=x", "/lookup?lat=40.1&lon=160.1"):
        assert visit.milliseconds(path) < 30, path


def test_a_home_is_set_and_set_anew(visit):
    assert "Home" not in words(visit("/favorites")).split("Favorites")[-1]
    assert "data-place=\"/place/mill-bridge\"" in visit("/search", q="Mill Bridge").text and "Set as home" not in visit("/place/mill-bridge").text
    for slug, name in (("mill-bridge", "Mill Bridge"), ("ocean-park", "Ocean Park")):
        assert f"{name} is your home now." in visit(f"/place/{slug}/home", {}).text
        assert re.findall(r'<tr data-item="Home: ([^"]*)"', visit("/favorites").text) == [name]
    assert visit("/place/nowhere/home", {}).status_code == 404 and visit("/place/ocean-park/home").status_code == 404
